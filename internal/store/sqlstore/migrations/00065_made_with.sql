-- With which token for programs tokens and one-time links were made, and what who sent a request
-- under a key could do, so that its answer is told to who can do that. The conventions are those
-- of 00001_start.sql.

-- +goose Up

alter table tokens add column made_with bigint not null default 0; -- 0: with none, or not known
create index tokens_by_made_with on tokens (made_with) where made_with <> 0;
alter table requests add column rights text not null default ''; -- as access.Principal.Rights has them
