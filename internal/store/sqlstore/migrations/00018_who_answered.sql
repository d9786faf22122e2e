-- Who answered the items of runs whose batches were made before that was kept, by what they
-- answered. The conventions are those of 00001_start.sql.

-- +goose Up

update run_rows set people = w.people
    from (select g.log, g.item, '[' || string_agg('"u' || g.worker || '"', ',') || ']' as people
        from (select distinct n.log, t.item, a.worker from batches b
            join run_nodes n on n.run = b.run and n.node = b.node
            join assignments a on a.id > b.id * 4294967296 and a.id < (b.id + 1) * 4294967296
            join answers s on s.id = a.id
            join tasks t on t.id = a.task
            where b.run > 0 and not b.tells_who) g
        group by g.log, g.item) w
    where run_rows.log = w.log and run_rows.item = w.item and run_rows.state = 'ok' and run_rows.people = '';

-- The rows that later runs took over, which are the same in all of them.
with recursive ancestors (run, ancestor) as (
    select id, parent from runs where parent > 0
    union all
    select x.run, r.parent from ancestors x join runs r on r.id = x.ancestor where r.parent > 0)
update run_rows set people = w.people
    from (select distinct n.log, o.item, o.made_at, o.people from ancestors x
        join run_nodes n on n.run = x.run
        join run_nodes p on p.run = x.ancestor and p.name = n.name
        join run_rows o on o.log = p.log
        where o.people <> '') w
    where run_rows.log = w.log and run_rows.item = w.item and run_rows.made_at = w.made_at
        and run_rows.state = 'ok' and run_rows.people = '';

update batches set tells_who = true where run > 0;
