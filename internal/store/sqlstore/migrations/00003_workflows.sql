-- Runs of workflows: their nodes, the logs of rows that the nodes append to,
-- and what tenants' services need. The conventions are those of the migrations
-- before.

-- +goose Up

insert into counters (name, last) values ('run', 0), ('log', 0);

-- A batch may be the job of a node of a run.
alter table batches add column run bigint not null default 0; -- 0: none
alter table batches add column node bigint not null default 0;
alter table batches add column open boolean not null default false;
alter table batches add column sla text not null default '';

-- Of a batch that was launched, the tasks that the engine has been told of.
alter table progress add column tasks bigint not null default 0;
alter table progress add column open boolean not null default false;
update progress set tasks = (select b.tasks from batches b where b.id = progress.batch) where launched_at <> 0;

alter table tasks add column item bigint not null default 0; -- of the batch's run
alter table tasks add column born_at bigint not null default 0;

create table runs (
    id         bigint primary key,
    tenant     bigint not null references tenants (id),
    name       text not null,
    state      text not null,
    budget     bigint not null,
    deadline   bigint not null,
    parent     bigint not null, -- 0: none
    from_step  text not null,
    created_by bigint not null,
    created_at bigint not null,
    started_at bigint not null,
    ended_at   bigint not null,
    penalty    bigint not null,
    ended      bigint not null, -- items
    late       bigint not null, -- of those
    items      bigint not null -- the last item's number
);
create index runs_by_tenant on runs (tenant, id);
create index runs_open on runs (id) where state not in ('done', 'cancelled');

-- The workflow's file: apart, because it is large and never changes.
create table run_texts (
    run  bigint primary key references runs (id),
    body text not null
);

create table run_nodes (
    run        bigint not null references runs (id),
    node       bigint not null,
    log        bigint not null, -- upper half of the ids of its rows
    name       text not null,
    state      text not null,
    error      text not null,
    headers    text not null, -- of an input: the file's columns
    batch      bigint not null, -- 0: none
    cursors    text not null,
    sealed     boolean not null,
    started_at bigint not null,
    ended_at   bigint not null,
    served     bigint not null,
    busy_ns    bigint not null,
    last       bigint not null, -- number of the last row in its log
    ok         bigint not null,
    skipped    bigint not null,
    failed     bigint not null,
    faults     bigint not null,
    primary key (run, node)
);

-- The logs. The upper half of an id is the log's number, the lower half the
-- row's number in it, so that a range of ids is a part of a log in order. An
-- item has one row in a log at most.
create table run_rows (
    id      bigint primary key,
    log     bigint not null,
    item    bigint not null,
    origin  bigint not null, -- 0: none
    born_at bigint not null,
    made_at bigint not null,
    state   text not null,
    body    text not null -- of an ok one its cells, of a failed one its error
);
create unique index run_rows_by_item on run_rows (log, item);

create table run_faults ( -- items that a node holds with an error
    run     bigint not null references runs (id),
    item    bigint not null,
    node    bigint not null,
    n       bigint not null,
    held_at bigint not null,
    tries   bigint not null,
    error   text not null,
    primary key (run, item, node)
);
create index run_faults_by_node on run_faults (run, node, item);

create table tenant_secrets (
    tenant bigint not null references tenants (id),
    name   text not null,
    secret text not null,
    primary key (tenant, name)
);
