-- Answers that their workers revise after they have counted. The conventions are those of
-- 00001_start.sql.

-- +goose Up

alter table answers add column revised_at bigint not null default 0; -- when it was revised last; 0: it was not
alter table answers add column revised bigint not null default 0;    -- how often

drop view annotations;

-- An assignment with its answer, if there is one. One that is disregarded does not count.
create view annotations as
    select a.id, a.task, a.worker, case when n.id is null then a.state else 'submitted' end as state,
        a.assigned_at, a.expires_at, coalesce(n.answered_at, a.ended_at) as ended_at, n.id is not null as answered,
        coalesce(n.late, false) as late, coalesce(n.counted and n.disregarded_at = 0, false) as counted, coalesce(n.paid, 0) as paid,
        coalesce(n.answer_key, '') as answer_key, coalesce(n.body, '') as body, coalesce(n.disregarded_at, 0) as disregarded_at,
        coalesce(n.revised_at, 0) as revised_at, coalesce(n.revised, 0) as revised
    from assignments a left join answers n on n.id = a.id;

-- What was answered in the course of revisions and does not count: the answers before the last one, and
-- of a check, of which the first one counts, those after it. The one that counts is in answers.
create table revisions (
    id         bigint not null, -- of the assignment
    number     bigint not null, -- 0: it was the first answer; n: revision n
    given_at   bigint not null,
    answer_key text   not null,
    body       text   not null,
    primary key (id, number)
);

-- All answers but the last one of each assignment that was revised, whichever of them counts.
create view revised_answers as
    select v.id, v.number, v.given_at, v.answer_key, v.body
        from revisions v join answers n on n.id = v.id where v.number < n.revised
    union all
    select n.id, 0, n.answered_at, n.answer_key, n.body
        from answers n where n.revised > 0 and exists (select 1 from revisions v where v.id = n.id and v.number = n.revised);

alter table batches add column revise_ns bigint not null default 0; -- for how long after they have counted answers are revised; 0: they are not
