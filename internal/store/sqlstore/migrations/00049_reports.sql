-- What workers say is wrong with tasks, and what requesters answer. The conventions are
-- those of 00001_start.sql.

-- +goose Up

create table reports (
    assignment  bigint primary key, -- which ended as reported
    task        bigint not null,
    worker      bigint not null,
    reported_at bigint not null,
    body        text   not null
);
create index reports_by_worker on reports (worker);
create index reports_by_task on reports (task);

create table replies ( -- shown to whoever gets the task later
    task       bigint primary key,
    replied_at bigint not null,
    body       text   not null
);
