-- Whether the items that a run takes over from another one start anew.
-- The conventions are those of 00001_start.sql.

-- +goose Up

alter table runs add column renew_ages boolean not null default false;
