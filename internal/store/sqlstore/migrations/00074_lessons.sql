-- Quality rules that train people. The conventions are those of 00001_start.sql.

-- +goose Up

alter table quality_actions add column lessons bigint not null default 0; -- tasks to train with that the person is given by it, or was when it was undone
