-- Answers that are taken out of their batches after they counted. The conventions are those of
-- 00001_start.sql.

-- +goose Up

alter table answers add column disregarded_at bigint not null default 0; -- since when no label is made of it; 0: it is not disregarded

drop view annotations;

-- An assignment with its answer, if there is one. One that is disregarded does not count.
create view annotations as
    select a.id, a.task, a.worker, case when n.id is null then a.state else 'submitted' end as state,
        a.assigned_at, a.expires_at, coalesce(n.answered_at, a.ended_at) as ended_at, n.id is not null as answered,
        coalesce(n.late, false) as late, coalesce(n.counted and n.disregarded_at = 0, false) as counted, coalesce(n.paid, 0) as paid,
        coalesce(n.answer_key, '') as answer_key, coalesce(n.body, '') as body, coalesce(n.disregarded_at, 0) as disregarded_at
    from assignments a left join answers n on n.id = a.id;
