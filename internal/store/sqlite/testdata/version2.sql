-- What came to the database of version1.sql from a server that knew the first two
-- migrations: a batch that has ended and one that was cancelled as a draft,
-- somebody on duty, and a call.
update counters set last = 4 where name = 'batch';
update counters set last = 1 where name = 'call';
update pools set retainer = '{"called":true}' where id = 1;

insert into batches (id, tenant, pool, name, tasks, directed, created_by, created_at, rule, reward, budget, production,
    lease_ns, task_time_ns, ends_at, small_crowd_ok, training, requirements, headers, template) values
    (3, 1, 1, 'done', 2, false, 1, 1767225600000000, '{"count":1}', 50000, 1000000, false, 3600000000000, 60000000000, 0, true, true, '', '["url"]', '{}'),
    (4, 1, 1, 'never', 1, false, 1, 1767225600000000, '{"count":1}', 50000, 1000000, false, 3600000000000, 60000000000, 0, true, false, '', '', '{}');
insert into progress (batch, state, stopped, priority, deadline, fresh, issued, oldest_open, planned, completed, labelled,
    escrow, spent, worked_ns, launched_at, ended_at, first_started) values
    (3, 'done', false, 1, 0, 3, 0, 1, 2, 2, 2, 0, 0, 0, 1767225600000000, 1767225600000000, 1767225600000000),
    (4, 'cancelled', false, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1767225600000000, 0);
insert into tasks (id, gold, cells) values (12884901889, '', '["d"]'), (12884901890, '', '["e"]'), (17179869185, '', '');
insert into duties (pool, worker, is_on, changed_at, since, why, training) values (1, 2, true, 1767225600000000, 1767225600000000, '', 0);
insert into calls (id, pool, called_at, ends_at, wanted, came, state, ended_at) values (1, 1, 1767225600000000, 1767229200000000, 2, 0, 'open', 0);
