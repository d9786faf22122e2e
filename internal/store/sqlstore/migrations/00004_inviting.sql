-- Inviting people by e-mail, and the tests by which they qualify. The
-- conventions are those of 00001_start.sql.

-- +goose Up

insert into counters (name, last) values ('invitation', 0), ('test', 0), ('try', 0);

create index users_by_email on users (lower(email)) where email <> '';

create table tests (
    id         bigint primary key,
    tenant     bigint not null, -- 0: of the installation
    name       text not null,
    template   text not null,
    columns    text not null,
    questions  bigint not null,
    draw       bigint not null,
    pass_mark  bigint not null,
    tries      bigint not null,
    wait       bigint not null,
    time_limit bigint not null, -- 0: none
    qualifies  text not null,
    is_open    boolean not null,
    retired    boolean not null,
    created_by bigint not null references users (id),
    created_at bigint not null,
    unique (tenant, name)
);

create table test_questions (
    test   bigint not null references tests (id),
    n      bigint not null,
    cells  text not null,
    gold   text not null,
    primary key (test, n)
);

create table test_tries (
    id           bigint primary key,
    test         bigint not null references tests (id),
    worker       bigint not null references users (id),
    n            bigint not null,
    started_at   bigint not null,
    ends_at      bigint not null,
    submitted_at bigint not null,
    answers      text not null,
    correct      bigint not null,
    score        bigint not null,
    late         boolean not null,
    passed       boolean not null,
    unique (test, worker, n)
);
create index test_tries_by_test on test_tries (test, id);

create table invitations (
    id          bigint primary key,
    tenant      bigint not null, -- 0: an admin's
    pool        bigint not null references pools (id),
    test        bigint not null, -- 0: none
    address     text not null,
    address_key text not null, -- lower case
    note        text not null,
    invited_by  bigint not null references users (id),
    created_at  bigint not null,
    expires_at  bigint not null,
    state       text not null,
    opened_at   bigint not null,
    answered_at bigint not null,
    worker      bigint not null -- who accepted, else 0
);
create index invitations_by_tenant on invitations (tenant, id);
create index invitations_by_address on invitations (address_key, id);
create index invitations_by_worker on invitations (worker, id) where worker <> 0;

alter table messages add column invitation bigint not null default 0;
create index messages_by_invitation on messages (invitation, id) where invitation <> 0;
