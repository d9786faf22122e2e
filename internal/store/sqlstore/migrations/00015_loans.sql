-- Who is lent to another pool, and since when. Nobody was before.
-- The conventions are those of 00001_start.sql.

-- +goose Up

alter table users add column home bigint not null default 0; -- pool that has lent them; 0: none
alter table users add column moved_at bigint not null default 0;
