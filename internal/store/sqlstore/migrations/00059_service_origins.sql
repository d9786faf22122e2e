-- Where the declared services of a run stood when it began. The conventions are those of
-- 00001_start.sql.

-- +goose Up

alter table runs add column service_origins text not null default ''; -- by name; '': of none
