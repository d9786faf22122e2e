-- Items of several classes in one run, each with an SLA of its own. The conventions are
-- those of 00001_start.sql.

-- +goose Up

alter table run_rows add column class bigint not null default 0; -- of the item
alter table tasks add column class bigint not null default 0; -- of its item
alter table runs add column classes text not null default ''; -- what has ended, by class
