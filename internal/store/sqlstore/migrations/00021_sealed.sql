-- Secrets are sealed, and bound to hosts. The conventions are those of 00001_start.sql.

-- +goose Up

alter table secrets add column sealed_with text not null default ''; -- id of a key; '': in the clear
alter table tenant_secrets add column sealed_with text not null default '';
alter table tenant_secrets add column hosts text not null default '[]'; -- it may be sent to; none: to any
