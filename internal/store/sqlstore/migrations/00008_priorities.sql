-- The highest priority that a tenant may give its batches. Tenants that are there
-- keep what they could do.

-- +goose Up

alter table tenants add column max_priority double precision not null default 1000000;
