-- From where tokens may be used, and when they last were. The conventions are those of
-- 00001_start.sql.

-- +goose Up

alter table tokens add column networks text not null default ''; -- from which it may be used; '': any
alter table tokens add column used_at bigint not null default 0;
