-- Since when something of a batch waits for people, so that after a restart the oldest wait of its pool is what it was before.
-- The conventions are those of 00001_start.sql.

-- +goose Up

alter table progress add column waits_from bigint not null default 0; -- 0: not known, of a version before
