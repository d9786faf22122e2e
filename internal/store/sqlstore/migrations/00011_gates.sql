-- Whether a pool has a gate, and whether it is open. No pool had one before.
-- The conventions are those of 00001_start.sql.

-- +goose Up

alter table pools add column gate boolean not null default false;
alter table pools add column gate_open boolean not null default false;
