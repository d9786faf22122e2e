-- What tenants may have and what they have. The conventions are those of 00001_start.sql.

-- +goose Up

create table quotas ( -- those that are not the default
    tenant bigint not null references tenants (id),
    quota  text   not null,
    value  bigint not null,
    primary key (tenant, quota)
);

create table usage ( -- what is counted along
    tenant bigint not null references tenants (id),
    quota  text   not null,
    used   bigint not null,
    primary key (tenant, quota)
);

create table daily_usage (
    tenant bigint not null, -- 0: of all who are of none
    quota  text   not null,
    day    bigint not null, -- since 1970
    used   bigint not null,
    primary key (tenant, quota)
);

create index tokens_by_tenant on tokens (tenant, id) where tenant <> 0;
create index invitations_open on invitations (tenant, id) where state = 'open';
create index users_by_serves on users (serves, id) where serves <> '';

insert into usage (tenant, quota, used) select tenant, 'stored-bytes', sum(n) from (
    select b.tenant as tenant, octet_length(t.cells) + octet_length(t.gold) as n from tasks t join batches b on b.id = t.id >> 32
    union all select b.tenant, octet_length(a.body) from answers a join batches b on b.id = a.id >> 32
    union all select b.tenant, octet_length(l.value) from labels l join batches b on b.id = l.task >> 32
    union all select b.tenant, octet_length(b.template) + octet_length(b.headers) from batches b
    union all select r.tenant, octet_length(t.body) from run_texts t join runs r on r.id = t.run
    union all select r.tenant, octet_length(x.body) from run_rows x join run_nodes n on n.log = x.log join runs r on r.id = n.run
    union all select t.tenant, octet_length(t.template) + octet_length(t.columns) from tests t where t.tenant <> 0
    union all select t.tenant, octet_length(q.cells) + octet_length(q.gold) from test_questions q join tests t on t.id = q.test where t.tenant <> 0
) x group by tenant;

insert into usage (tenant, quota, used) select b.tenant, 'open-batches', count(*)
    from batches b join progress p on p.batch = b.id where p.state in ('draft', 'running', 'paused') group by b.tenant;

insert into usage (tenant, quota, used) select b.tenant, 'open-tasks', count(*)
    from tasks t join batches b on b.id = t.id >> 32 join progress p on p.batch = b.id
    where p.state in ('draft', 'running', 'paused') or t.id & 4294967295 > b.tasks group by b.tenant;
