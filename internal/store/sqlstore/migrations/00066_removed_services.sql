-- What was used of a service that was removed, so that its bounds hold when one of its name is
-- declared again. The conventions are those of 00001_start.sql.

-- +goose Up

create table removed_services (
    name      text primary key,
    next_call bigint not null, -- as in services
    calls_end bigint not null
);
