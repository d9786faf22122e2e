-- What the control of pools has learnt, so that it goes on from there after a
-- restart. The conventions are those of 00001_start.sql.

-- +goose Up

create table pool_states (
    pool    bigint primary key references pools (id),
    kept_at bigint not null,
    state   text not null -- JSON of package pool
);
