-- Services that are declared for the workflows of several tenants. The conventions are
-- those of 00001_start.sql.

-- +goose Up

create table services (
    name        text primary key,
    url         text not null,
    concurrency bigint not null,
    rate_calls  bigint not null, -- 0: no limit
    rate_per    bigint not null, -- nanoseconds
    all_tenants boolean not null,
    tenants     text not null, -- a list in JSON
    created_at  bigint not null,
    next_call   bigint not null, -- no call was begun that the rate allows only after it
    calls_end   bigint not null -- no call that was begun goes on after it
);
