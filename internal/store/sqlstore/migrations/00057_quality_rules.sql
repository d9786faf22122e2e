-- Rules that act on people by what their answers show. The conventions are those of
-- 00001_start.sql.

-- +goose Up

alter table batches add column quality text not null default ''; -- its rules; '': it has none

create table quality_actions (
    batch       bigint not null references batches (id),
    number      bigint not null, -- among those in the batch, from 1
    worker      bigint not null,
    acted_at    bigint not null,
    rule        bigint not null, -- from 1
    holds       text   not null, -- the rule's condition
    kind        text   not null,
    body        text   not null, -- of a warning
    figures     text   not null, -- that the condition was of
    seen_at     bigint not null default 0, -- by the worker
    undone_at   bigint not null default 0,
    undone_by   bigint not null default 0,
    counts_from bigint not null default 0, -- assignments of the worker from this number on count from then on
    acts_after  bigint not null default 0, -- and actions after this number
    primary key (batch, number)
);
create index quality_actions_by_worker on quality_actions (worker);
