-- Labels that a batch of a step has from earlier runs count when it is to end by itself.
-- The conventions are those of 00001_start.sql.

-- +goose Up

alter table progress add column taken_over bigint not null default 0;
alter table progress add column taken_certainty double precision not null default 0; -- sum of their confidence
