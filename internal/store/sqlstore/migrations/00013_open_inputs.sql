-- Inputs to which rows are added while their run goes. The conventions are those of
-- 00001_start.sql.

-- +goose Up

alter table run_nodes add column open boolean not null default false;

-- How many rows an open input has from a feed, such as a file that grows: a request that
-- is repeated adds none of them again.
create table run_feeds (
    run  bigint not null references runs (id),
    node bigint not null,
    name text not null,
    rows bigint not null,
    primary key (run, node, name)
);
