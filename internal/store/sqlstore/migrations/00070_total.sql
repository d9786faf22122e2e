-- An open batch that will have a known number of tasks, of which some wait to be paid, judges by
-- all of them whether it has enough.
-- The conventions are those of 00001_start.sql.

-- +goose Up

alter table progress add column total bigint not null default 0; -- tasks without a known answer; 0: not known
