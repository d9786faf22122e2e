-- What a server left behind that knew only the first migration: two tenants, two
-- pools with three workers in one, a running batch of three tasks with one answer and
-- one task in hand, a draft, and the money.
update counters set last = 2 where name = 'tenant';
update counters set last = 2 where name = 'pool';
update counters set last = 3 where name = 'user';
update counters set last = 1 where name = 'token';
update counters set last = 2 where name = 'batch';

insert into tenants (id, name, weight, stopped, created_at) values
    (1, 'mine', 2, false, 1767225600000000), (2, 'other', 0.0000001, true, 1767225600000000);
insert into pools (id, name, policy, stopped, created_at) values (1, 'crowd', 'wfs', false, 1767225600000000), (2, 'night', 'wfs', false, 1767225600000000);
insert into users (id, name, name_key, full_name, email, password_hash, admin, pool, suspended, created_at, qualifications) values
    (1, 'Ada', 'ada', 'Ada L', 'ada@example.org', '$argon2$', true, 1, false, 1767225600000000, '{"birds":90}'),
    (2, 'bob', 'bob', '', '', '', false, 1, false, 1767225600000000, ''),
    (3, 'cid', 'cid', '', '', '', false, 1, true, 1767225600000000, '');
insert into user_tenants (user_id, tenant) values (1, 1), (1, 2);
insert into user_blocks (user_id, tenant) values (2, 2);
insert into tokens (id, hash, kind, user_id, tenant, roles, name, created_at, expires_at) values
    (1, 'aa', 'api', 1, 1, '["requester"]', 'laptop', 1767225600000000, 0);

insert into batches (id, tenant, pool, name, tasks, directed, created_by, created_at, rule, reward, budget, production,
    lease_ns, task_time_ns, ends_at, small_crowd_ok, requirements, headers, template) values
    (1, 1, 1, 'birds', 3, false, 1, 1767225600000000, '{"count":2}', 50000, 1000000, false, 3600000000000, 60000000000, 0, true, '', '["url"]', '{}'),
    (2, 1, 1, 'draft', 0, false, 1, 1767225600000000, '{"count":1}', 50000, 1000000, true, 3600000000000, 60000000000, 0, false, '', '', '{}');
insert into progress (batch, state, stopped, priority, deadline, fresh, issued, oldest_open, planned, completed, labelled,
    escrow, spent, worked_ns, launched_at, ended_at, first_started) values
    (1, 'running', false, 1, 0, 3, 2, 1, 6, 1, 0, 950000, 50000, 60000000000, 1767225600000000, 0, 1767225600000000),
    (2, 'draft', false, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
insert into tasks (id, gold, cells) values (4294967297, '', '["a"]'), (4294967298, '', '["b"]'), (4294967299, '', '["c"]');
insert into assignments (id, task, worker, state, assigned_at, expires_at) values
    (4294967297, 4294967297, 1, 'assigned', 1767225600000000, 1767229200000000),
    (4294967298, 4294967298, 2, 'assigned', 1767225660000000, 1767229260000000);
insert into answers (id, answered_at, late, counted, paid, prev_answer, answer_key, body) values
    (4294967297, 1767225660000000, false, true, 50000, 0, 'cat', '{"is":"cat"}');
insert into ledger (id, entered_at, kind, source, target, amount, assignment, source_prev, target_prev, note) values
    (1, 1767225600000000, 'deposit', 0, 11, 5000000, 0, 0, 0, 'cash'),
    (2, 1767225600000000, 'reserve', 11, 12, 1000000, 0, 1, 0, ''),
    (3, 1767225660000000, 'reward', 12, 13, 50000, 4294967297, 2, 0, '');
insert into accounts (account, balance, last_entry, last_answer) values
    (0, -5000000, 1, 0), (11, 4000000, 2, 0), (12, 950000, 3, 0), (13, 50000, 3, 4294967297);
