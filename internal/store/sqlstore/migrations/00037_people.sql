-- People's data: who was erased. The conventions are those of 00001_start.sql.

-- +goose Up

alter table users add column erased_at bigint not null default 0; -- 0: they are there

create table erasures (
    person    bigint primary key references users (id),
    asked_by  bigint not null,
    asked_at  bigint not null,
    free_text text not null, -- what becomes of what they wrote
    but       text not null, -- those texts of which the other holds, a list in JSON
    state     text not null,
    done_at   bigint not null
);
