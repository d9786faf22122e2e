-- When what lets people act as somebody ended last, so that a sign-in that was begun before lets
-- nobody in. The conventions are those of 00001_start.sql.

-- +goose Up

alter table users add column ended_at bigint not null default 0; -- 0: never
