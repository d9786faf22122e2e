-- What a tenant's test grants counts for that tenant only, and requesters invite
-- only to pools that are open to that. The conventions are those of 00001_start.sql.

-- +goose Up

alter table users add column granted text not null default '';

alter table pools add column requesters_invite boolean not null default false;
update pools set requesters_invite = true where id = (select min(id) from pools);
