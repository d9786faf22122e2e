-- How much text the queries of a step have given that run item by item, for its limit.
-- The conventions are those of 00001_start.sql.

-- +goose Up

alter table run_nodes add column text bigint not null default 0;
