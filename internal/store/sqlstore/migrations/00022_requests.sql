-- Requests that came under a key, so that one that is sent again has no effect again. The
-- conventions are those of 00001_start.sql.

-- +goose Up

create table requests (
    person       bigint not null references users (id),
    tenant       bigint not null, -- of their token; 0: any
    request_key  text not null,
    digest       text not null, -- of what was asked
    asked_at     bigint not null,
    status       bigint not null, -- of the answer; 0: it had an effect, and no answer yet
    withheld     text not null, -- why the answer is not kept
    content_type text not null,
    location     text not null,
    body         text not null,
    primary key (person, tenant, request_key)
);
create index requests_by_age on requests (asked_at);
