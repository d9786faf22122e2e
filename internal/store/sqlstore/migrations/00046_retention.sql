-- How long tenants keep answers, files and logs, and what was deleted since that time was
-- over. The conventions are those of 00001_start.sql.

-- +goose Up

create table retention ( -- what tenants have set
    tenant bigint not null references tenants (id),
    kind   text   not null,
    days   bigint not null, -- 0: for ever
    primary key (tenant, kind)
);

create table deletions (
    kind     text   not null,
    tenant   bigint not null references tenants (id),
    batch    bigint not null, -- 0: of a run, or of none of both
    run      bigint not null,
    state    text   not null,
    begun_at bigint not null,
    last     bigint not null, -- id of the last row that was dealt with
    until    bigint not null, -- id of the last one that is to be
    gone_at  bigint not null, -- when the rows were gone; 0: they are not
    primary key (kind, tenant, batch, run)
);
create index deletions_open on deletions (state, begun_at) where state <> 'done';

alter table batches add column answers_deleted_at bigint not null default 0;
alter table batches add column files_deleted_at bigint not null default 0;
alter table runs add column answers_deleted_at bigint not null default 0;
alter table runs add column files_deleted_at bigint not null default 0;
