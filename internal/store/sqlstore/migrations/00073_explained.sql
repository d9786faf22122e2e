-- Tasks with a known answer that teach. The conventions are those of 00001_start.sql.

-- +goose Up

alter table tasks add column explain text not null default ''; -- why the known answer is right; '': the task checks people, or its answer is not known
