-- Second factors of people. The conventions are those of 00001_start.sql.

-- +goose Up

insert into counters (name, last) values ('factor', 0);

create table factors (
    id           bigint primary key,
    user_id      bigint not null references users (id),
    kind         text   not null,
    name         text   not null,
    secret       text   not null, -- sealed
    sealed_with  text   not null, -- '': it lies in the clear
    counter      bigint not null, -- of what was used last: a step of time, or what a passkey counts
    created_at   bigint not null,
    confirmed_at bigint not null, -- 0: not yet
    used_at      bigint not null  -- 0: never
);
create index factors_by_user on factors (user_id);

create table recovery_codes (
    user_id bigint not null references users (id),
    hash    text   not null,
    primary key (user_id, hash)
);

alter table tokens add column factor_elsewhere boolean not null default false; -- the provider has asked for a second factor
