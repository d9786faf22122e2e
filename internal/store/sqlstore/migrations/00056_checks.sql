-- Tasks with known answers that are handed out as checks. The conventions are those of
-- 00001_start.sql.

-- +goose Up

alter table batches add column checks text not null default ''; -- '': there are none
alter table progress add column known bigint not null default 0; -- tasks that are there to check people
