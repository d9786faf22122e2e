-- Pay that waits for approval. The conventions are those of 00001_start.sql.

-- +goose Up

alter table batches add column approval text not null default ''; -- how pay is approved; '': it is paid when an answer counts
alter table batches add column pay_paid bigint not null default 0; -- of what was held: what was paid
alter table batches add column pay_returned bigint not null default 0; -- of what was held: what was refused and went back

create table held_pay ( -- of an answer that counts, in a batch whose pay is approved
    id        bigint not null primary key, -- of the assignment
    worker    bigint not null,
    tenant    bigint not null,
    amount    bigint not null,
    state     text   not null,
    held_at   bigint not null,
    due_at    bigint not null, -- when it is decided by itself; 0: it is paid, or has gone back
    closed_at bigint not null, -- when it was
    closed_by bigint not null  -- 0: by itself
);
create index held_pay_by_state on held_pay (state, id);
create index held_pay_by_worker on held_pay (worker, id);
create index held_pay_open on held_pay (worker, state) where due_at <> 0;
create index held_pay_due on held_pay (due_at, id) where due_at <> 0;

create table pay_texts ( -- what was said about held pay
    assignment bigint not null,
    kind       text   not null, -- refusal, appeal or decision
    author     bigint not null,
    said_at    bigint not null,
    body       text   not null,
    primary key (assignment, kind)
);
create index pay_texts_by_author on pay_texts (author);
