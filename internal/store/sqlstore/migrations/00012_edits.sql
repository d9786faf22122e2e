-- What a running batch was changed to: tasks that were taken out, and the rewards that
-- were in force before that of its row. The conventions are those of 00001_start.sql.

-- +goose Up

alter table progress add column removed bigint not null default 0;

create table removals (
    task       bigint primary key,
    removed_at bigint not null
);

create table past_rewards (
    batch  bigint not null references batches (id),
    last   bigint not null, -- the last assignment that pays it
    reward bigint not null,
    primary key (batch, last)
);

-- What batches gave back that ended before that was kept (10 times the id, and 2, is a
-- batch's account), so that the budget of all is known.
update progress set released = r.amount
    from (select source, sum(amount) as amount from ledger where kind = 'release' group by source) r
    where progress.released = 0 and r.source = 10 * progress.batch + 2;
