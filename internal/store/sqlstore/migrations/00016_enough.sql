-- Batches that end by themselves, bounds on the answers of one person, and tasks that are
-- by somebody else. The conventions are those of 00001_start.sql.

-- +goose Up

alter table batches add column enough text not null default ''; -- '': only its end
alter table batches add column per_worker bigint not null default 0; -- 0: any number
alter table batches add column not_by text not null default '';
alter table batches add column tells_who boolean not null default false;

alter table progress add column certainty double precision not null default 0; -- sum of the labels' confidence
alter table progress add column had_enough boolean not null default false;
update progress set certainty = coalesce((select sum(l.confidence) from labels l
    where l.task > progress.batch * 4294967296 and l.task < (progress.batch + 1) * 4294967296), 0)
    where state in ('running', 'paused');

alter table tasks add column not_by text not null default ''; -- workers
alter table tasks add column bound_at bigint not null default 0; -- when the other branches of its item were expected to end

alter table run_rows add column people text not null default ''; -- who answered, of a row that people made
