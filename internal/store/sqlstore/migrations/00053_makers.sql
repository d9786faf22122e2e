-- Who made tokens and one-time links. The conventions are those of 00001_start.sql.

-- +goose Up

alter table tokens add column made_by bigint not null default 0; -- 0: not known
