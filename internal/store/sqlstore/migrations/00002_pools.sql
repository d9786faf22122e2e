-- Pools that people are called to: who is on duty, calls and the messages that
-- carry them, what controllers saw and did. The conventions are those of
-- 00001_start.sql. A pool's account has kind 4: 14 is pool p1. A struct in a
-- column is JSON text, too; where all of it is zero, the column is ''.

-- +goose Up

insert into counters (name, last) values ('call', 0), ('message', 0), ('subscription', 0), ('action', 0);

alter table pools add column retainer text not null default '';
alter table pools add column control text not null default '';
alter table pools add column calling text not null default '';

alter table users add column prefers text not null default '';
alter table users add column away boolean not null default false;
alter table users add column no_mail boolean not null default false;
alter table users add column moves_to bigint not null default 0; -- pool; 0: he stays
create index users_by_pool on users (pool, id);

alter table batches add column training boolean not null default false;

-- The last change of each person's duty in each pool.
create table duties (
    pool       bigint not null references pools (id),
    worker     bigint not null references users (id),
    is_on      boolean not null,
    changed_at bigint not null,
    since      bigint not null,
    why        text not null,
    training   bigint not null,
    primary key (pool, worker)
);

create table calls (
    id        bigint primary key,
    pool      bigint not null references pools (id),
    called_at bigint not null,
    ends_at   bigint not null,
    wanted    bigint not null,
    came      bigint not null,
    state     text not null,
    ended_at  bigint not null
);
create index calls_open on calls (id) where state = 'open';

create table call_notices (
    call        bigint not null references calls (id),
    worker      bigint not null references users (id),
    state       text not null,
    asked_at    bigint not null,
    answered_at bigint not null,
    primary key (call, worker)
);
create index call_notices_by_worker on call_notices (worker, asked_at, call);

create table messages (
    id         bigint primary key,
    worker     bigint not null references users (id),
    channel    text not null,
    target     text not null,
    subject    text not null,
    body       text not null,
    link       text not null,
    call       bigint not null, -- 0: none
    state      text not null,
    created_at bigint not null,
    useless_at bigint not null,
    next_at    bigint not null,
    sent_at    bigint not null,
    tries      bigint not null,
    error      text not null,
    turn_at    bigint not null -- of a queued one next_at; of others when they were sent or failed
);
create index messages_by_turn on messages (state, turn_at, id);
create index messages_by_call on messages (call, id);

create table push_subscriptions (
    id         bigint primary key,
    worker     bigint not null references users (id),
    endpoint   text not null unique,
    p256dh     text not null,
    auth       text not null,
    created_at bigint not null
);
create index push_subscriptions_by_worker on push_subscriptions (worker, id);

create table secrets ( -- of the installation
    name   text primary key,
    secret text not null
);

create table pool_actions (
    id       bigint primary key,
    pool     bigint not null references pools (id),
    acted_at bigint not null,
    acted_by bigint not null, -- 0: a controller
    kind     text not null,
    people   bigint not null,
    worker   bigint not null, -- of a transfer, else 0
    to_pool  bigint not null, -- of a transfer, else 0
    advice   boolean not null,
    why      text not null,
    saw      text not null,
    failed   text not null
);
create index pool_actions_by_pool on pool_actions (pool, id);

create table pool_samples (
    pool     bigint not null references pools (id),
    taken_at bigint not null,
    metrics  text not null,
    funds    bigint not null,
    waiting  bigint not null,
    primary key (pool, taken_at)
);
