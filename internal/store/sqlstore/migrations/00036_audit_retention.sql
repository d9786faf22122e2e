-- Details of entries of the audit log can be erased: their digests then stand for them.
-- The conventions are those of 00001_start.sql.

-- +goose Up

alter table audit add column address_salt   text not null default ''; -- '': the address is part of the other details
alter table audit add column address_digest text not null default '';
alter table audit add column change_digest  text not null default '';
drop index audit_by_object;
create index audit_by_object on audit (object, kind, number);
create index audit_by_actor on audit (actor, number);
