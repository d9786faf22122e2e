-- Quality rules that lower the weight of answers. The conventions are those of 00001_start.sql.

-- +goose Up

alter table quality_actions add column weight bigint not null default 0; -- in hundredths, that the person's answers count at most by it; 0: it lowers none
