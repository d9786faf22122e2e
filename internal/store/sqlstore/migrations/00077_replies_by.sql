-- Who said what whoever gets a task is told. The conventions are those of 00001_start.sql.

-- +goose Up

alter table replies add column author bigint not null default 0; -- 0: nobody knows
create index replies_by_author on replies (author) where author <> 0;
