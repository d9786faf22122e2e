-- What came to the database of version2.sql from a server that knew the first sixteen
-- migrations: a run of two items whose batch does not tell who answered, one that took
-- the rows of its step over, one that goes on from that and took over a label, too,
-- and one that is under way.
update counters set last = 6 where name = 'batch';
update counters set last = 4 where name = 'run';
update counters set last = 8 where name = 'log';

insert into runs (id, tenant, name, state, budget, deadline, parent, from_step, created_by, created_at, started_at, ended_at, penalty, ended, late, items) values
    (1, 1, 'first', 'done', 0, 0, 0, '', 1, 1767225600000000, 1767225600000000, 1767225600000000, 0, 0, 0, 2),
    (2, 1, 'second', 'done', 0, 0, 1, 'review', 1, 1767225600000000, 1767225600000000, 1767225600000000, 0, 0, 0, 2),
    (3, 1, 'third', 'done', 0, 0, 2, 'review', 1, 1767225600000000, 1767225600000000, 1767225600000000, 0, 0, 0, 2),
    (4, 1, 'fourth', 'running', 0, 0, 0, '', 1, 1767225600000000, 1767225600000000, 0, 0, 0, 0, 1);
insert into run_texts (run, body) values (1, ''), (2, ''), (3, ''), (4, '');
insert into run_nodes (run, node, log, name, state, error, headers, batch, cursors, sealed, started_at, ended_at, served, busy_ns, last, ok, skipped, failed, faults) values
    (1, 0, 1, 'items', 'done', '', '["id"]', 0, '[0]', false, 0, 0, 0, 0, 2, 2, 0, 0, 0),
    (1, 1, 2, 'draft', 'done', '', '', 5, '[2,0]', true, 0, 0, 0, 0, 2, 2, 0, 0, 0),
    (2, 0, 3, 'items', 'done', '', '["id"]', 0, '[0]', false, 0, 0, 0, 0, 2, 2, 0, 0, 0),
    (2, 1, 4, 'draft', 'done', '', '', 0, '[2,0]', true, 0, 0, 0, 0, 2, 2, 0, 0, 0),
    (3, 0, 5, 'items', 'done', '', '["id"]', 0, '[0]', false, 0, 0, 0, 0, 2, 2, 0, 0, 0),
    (3, 1, 6, 'draft', 'done', '', '', 0, '[2,0]', true, 0, 0, 0, 0, 2, 2, 0, 0, 0),
    (4, 0, 7, 'items', 'done', '', '["id"]', 0, '[0]', false, 0, 0, 0, 0, 1, 1, 0, 0, 0),
    (4, 1, 8, 'draft', 'running', '', '', 6, '[1,0]', true, 0, 0, 0, 0, 0, 0, 0, 0, 0);
insert into run_rows (id, log, item, origin, born_at, made_at, state, body) values
    (4294967297, 1, 1, 0, 1767225600000000, 1767225600000000, 'ok', '["1"]'), (4294967298, 1, 2, 0, 1767225600000000, 1767225600000000, 'ok', '["2"]'),
    (8589934593, 2, 2, 0, 1767225600000000, 1767225660000000, 'ok', '["a"]'), (8589934594, 2, 1, 0, 1767225600000000, 1767225670000000, 'ok', '["b"]'),
    (12884901889, 3, 1, 0, 1767225600000000, 1767225600000000, 'ok', '["1"]'), (12884901890, 3, 2, 0, 1767225600000000, 1767225600000000, 'ok', '["2"]'),
    (17179869185, 4, 2, 0, 1767225600000000, 1767225660000000, 'ok', '["a"]'), (17179869186, 4, 1, 0, 1767225600000000, 1767225670000000, 'ok', '["b"]'),
    (21474836481, 5, 1, 0, 1767225600000000, 1767225600000000, 'ok', '["1"]'), (21474836482, 5, 2, 0, 1767225600000000, 1767225600000000, 'ok', '["2"]'),
    (25769803777, 6, 2, 0, 1767225600000000, 1767225660000000, 'ok', '["a"]'), (25769803778, 6, 1, 0, 1767225600000000, 1767225690000000, 'ok', '["b"]'),
    (30064771073, 7, 1, 0, 1767225600000000, 1767225600000000, 'ok', '["1"]');

insert into batches (id, tenant, pool, name, tasks, directed, created_by, created_at, rule, reward, budget, production,
    lease_ns, task_time_ns, ends_at, small_crowd_ok, training, requirements, headers, template, run, node, open) values
    (5, 1, 1, 'first: draft', 2, false, 1, 1767225600000000, '{"count":2}', 50000, 1000000, false, 3600000000000, 60000000000, 0, true, false, '', '["id"]', '{}', 1, 1, true),
    (6, 1, 1, 'fourth: draft', 1, false, 1, 1767225600000000, '{"count":1}', 50000, 1000000, false, 3600000000000, 60000000000, 0, true, false, '', '["id"]', '{}', 4, 1, true);
insert into progress (batch, state, stopped, priority, deadline, fresh, issued, oldest_open, planned, completed, labelled,
    escrow, spent, worked_ns, launched_at, ended_at, first_started) values
    (5, 'done', false, 1, 0, 3, 5, 0, 4, 4, 2, 0, 0, 0, 1767225600000000, 1767225600000000, 1767225600000000),
    (6, 'running', false, 1, 0, 1, 0, 1, 1, 0, 0, 0, 0, 0, 1767225600000000, 0, 0);
insert into tasks (id, gold, cells, item, born_at) values
    (21474836481, '', '["1"]', 1, 1767225600000000), (21474836482, '', '["2"]', 2, 1767225600000000), (25769803777, '', '["1"]', 1, 1767225600000000);
insert into assignments (id, task, worker, state, assigned_at, expires_at) values
    (21474836481, 21474836481, 1, 'assigned', 1767225600000000, 1767229200000000), (21474836482, 21474836482, 2, 'assigned', 1767225600000000, 1767229200000000),
    (21474836483, 21474836481, 3, 'assigned', 1767225600000000, 1767229200000000), (21474836484, 21474836482, 3, 'returned', 1767225600000000, 1767229200000000),
    (21474836485, 21474836482, 2, 'assigned', 1767225600000000, 1767229200000000);
insert into answers (id, answered_at, late, counted, paid, prev_answer, answer_key, body) values
    (21474836481, 1767225660000000, false, true, 0, 0, 'b', '"b"'), (21474836482, 1767225660000000, false, true, 0, 0, 'a', '"a"'),
    (21474836483, 1767225660000000, true, false, 0, 0, 'b', '"b"'), (21474836485, 1767225660000000, false, true, 0, 0, 'a', '"a"');
