-- Who changed what, as a chain of hashes. The conventions are those of 00001_start.sql.

-- +goose Up

create table audit (
    number    bigint primary key,
    at        bigint not null,
    tenant    bigint not null, -- whose the thing is; 0: the installation's
    actor     bigint not null, -- 0: the server itself
    token     bigint not null, -- of a program, or 0
    operation text not null,
    kind      text not null,
    object    text not null,
    address   text not null,
    before    text not null, -- JSON of what differs
    after     text not null,
    salt      text not null,
    previous  text not null,
    hash      text not null
);
create index audit_by_tenant on audit (tenant, number);
create index audit_by_object on audit (kind, object, number);
insert into counters (name, last) values ('audit', 0);

alter table ledger add column author bigint not null default 0; -- 0: nobody in particular
