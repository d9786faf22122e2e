-- One text for SQLite and PostgreSQL. Ids are made by the program, times are
-- microseconds since 1970 in UTC (0: none), durations nanoseconds, money
-- micro-units, lists and maps JSON text. Where a column may be empty, it is 0
-- or '', never null. "bigint primary key" becomes the rowid in SQLite.

-- +goose Up

-- The last id given out, by kind. An id is never given out twice. The ledger's
-- ids follow from its last row; its counter is a lock, where one is needed.
create table counters (
    name text primary key,
    last bigint not null
);
insert into counters (name, last) values
    ('tenant', 0), ('pool', 0), ('user', 0), ('token', 0), ('batch', 0), ('ledger', 0);

create table tenants (
    id         bigint primary key,
    name       text not null unique,
    weight     double precision not null,
    stopped    boolean not null,
    created_at bigint not null
);

create table pools (
    id         bigint primary key,
    name       text not null unique,
    policy     text not null,
    stopped    boolean not null,
    created_at bigint not null
);

create table users (
    id             bigint primary key,
    name           text not null,
    name_key       text not null unique, -- lower case
    full_name      text not null,
    email          text not null,
    password_hash  text not null,
    admin          boolean not null,
    pool           bigint not null, -- 0: not a worker
    suspended      boolean not null,
    created_at     bigint not null,
    qualifications text not null
);

create table user_tenants ( -- requesters
    user_id bigint not null references users (id),
    tenant  bigint not null references tenants (id),
    primary key (user_id, tenant)
);
create index user_tenants_by_tenant on user_tenants (tenant, user_id);

create table user_blocks ( -- tenants who do not want the worker
    user_id bigint not null references users (id),
    tenant  bigint not null references tenants (id),
    primary key (user_id, tenant)
);

create table tokens (
    id         bigint primary key,
    hash       text not null unique,
    kind       text not null,
    user_id    bigint not null references users (id),
    tenant     bigint not null, -- 0: any
    roles      text not null,
    name       text not null,
    created_at bigint not null,
    expires_at bigint not null
);
create index tokens_by_user on tokens (user_id, id);

-- What a requester defines. The upper half of the ids of its tasks and
-- assignments is the batch's id, so that ranges of ids give them in order.
create table batches (
    id             bigint primary key,
    tenant         bigint not null references tenants (id),
    pool           bigint not null references pools (id),
    name           text not null,
    tasks          bigint not null,
    directed       boolean not null,
    created_by     bigint not null,
    created_at     bigint not null,
    rule           text not null,
    reward         bigint not null,
    budget         bigint not null,
    production     boolean not null,
    lease_ns       bigint not null,
    task_time_ns   bigint not null,
    ends_at        bigint not null,
    small_crowd_ok boolean not null,
    requirements   text not null,
    headers        text not null, -- the file's columns
    template       text not null
);
create index batches_by_tenant on batches (tenant, id);

-- What changes while a batch runs: apart, because it is written with nearly
-- every commit and the definition is large.
create table progress (
    batch         bigint primary key references batches (id),
    state         text not null,
    stopped       boolean not null,
    priority      double precision not null,
    deadline      bigint not null,
    fresh         bigint not null,
    issued        bigint not null,
    oldest_open   bigint not null,
    planned       bigint not null,
    completed     bigint not null,
    labelled      bigint not null,
    escrow        bigint not null,
    spent         bigint not null,
    worked_ns     bigint not null,
    launched_at   bigint not null,
    ended_at      bigint not null,
    first_started bigint not null
);

create table tasks (
    id    bigint primary key,
    gold  text not null,
    cells text not null -- by the batch's headers
);

create table task_workers ( -- who may do a task of a directed batch
    task   bigint not null,
    worker bigint not null,
    primary key (task, worker)
);

-- Written on every cycle: no index but the key, and no references, which the
-- engine vouches for. An answer is a row of its own beside its assignment's,
-- rather than a change to it: both tables then only grow at their end, and no
-- page has to be split to make room for an answer.
create table assignments (
    id          bigint primary key,
    task        bigint not null,
    worker      bigint not null,
    state       text not null, -- until it is answered
    assigned_at bigint not null,
    expires_at  bigint not null,
    ended_at    bigint not null default 0
);

create table answers (
    id          bigint primary key, -- of the assignment
    answered_at bigint not null,
    late        boolean not null,
    counted     boolean not null,
    paid        bigint not null,
    prev_answer bigint not null, -- the same worker's answer before this one
    answer_key  text not null,
    body        text not null
);

-- An assignment with its answer, if there is one.
create view annotations as
    select a.id, a.task, a.worker, case when n.id is null then a.state else 'submitted' end as state,
        a.assigned_at, a.expires_at, coalesce(n.answered_at, a.ended_at) as ended_at, n.id is not null as answered,
        coalesce(n.late, false) as late, coalesce(n.counted, false) as counted, coalesce(n.paid, 0) as paid,
        coalesce(n.answer_key, '') as answer_key, coalesce(n.body, '') as body
    from assignments a left join answers n on n.id = a.id;

create table labels (
    task        bigint primary key,
    labelled_at bigint not null,
    value       text not null,
    confidence  double precision not null,
    answers     bigint not null,
    tie         boolean not null,
    undecided   boolean not null
);

-- An account is ten times its owner's id plus its kind: 0 outside, 1 tenant,
-- 2 batch, 3 worker; so 423 is worker u42. From last_entry and last_answer
-- chains of prev lead back in time; they stand in for indexes, which would
-- cost each payment another page.
create table accounts (
    account     bigint primary key,
    balance     bigint not null,
    last_entry  bigint not null,
    last_answer bigint not null -- of a worker: his last answered assignment
);

create table ledger (
    id          bigint primary key,
    entered_at  bigint not null,
    kind        text not null,
    source      bigint not null,
    target      bigint not null,
    amount      bigint not null,
    assignment  bigint not null, -- of a reward, else 0
    source_prev bigint not null, -- the source account's entry before this one
    target_prev bigint not null,
    note        text not null default ''
);
