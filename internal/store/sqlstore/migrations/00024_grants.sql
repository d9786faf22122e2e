-- Pools are granted to tenants, and people serve the tenants that brought them. What is
-- there stays as open as it was: every pool to every tenant, every worker to all tasks.
-- The conventions are those of 00001_start.sql.

-- +goose Up

alter table users add column serves text not null default ''; -- a list in JSON; empty: every tenant

alter table pools add column grants text not null default ''; -- a list in JSON
update pools set grants = case when requesters_invite then '[{"invite":true}]' else '[{}]' end;
alter table pools drop column requesters_invite;
