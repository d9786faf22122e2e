-- People and groups that providers of accounts keep here by SCIM. The conventions are those
-- of 00001_start.sql.

-- +goose Up

insert into counters (name, last) values ('provisioned', 0);

create table provisioned_users (
    id          bigint primary key,
    provider    text   not null,
    user_id     bigint not null references users (id),
    external_id text   not null, -- who they are there; '': not said
    user_name   text   not null,
    name_key    text   not null,
    profile     text   not null, -- names and addresses, as JSON
    created_at  bigint not null,
    changed_at  bigint not null,
    deleted_at  bigint not null  -- 0: not
);
create unique index provisioned_users_by_name on provisioned_users (provider, name_key) where deleted_at = 0;
create unique index provisioned_users_by_external_id on provisioned_users (provider, external_id) where deleted_at = 0 and external_id <> '';
create unique index provisioned_users_by_user on provisioned_users (user_id, provider) where deleted_at = 0;
create index provisioned_users_by_provider on provisioned_users (provider, id);

create table provisioned_groups (
    id          bigint primary key,
    provider    text   not null,
    external_id text   not null, -- what it is there; '': not said
    name        text   not null,
    name_key    text   not null,
    created_at  bigint not null,
    changed_at  bigint not null
);
create unique index provisioned_groups_by_name on provisioned_groups (provider, name_key);
create unique index provisioned_groups_by_external_id on provisioned_groups (provider, external_id) where external_id <> '';

create table provisioned_members (
    group_id bigint not null references provisioned_groups (id),
    member   bigint not null references provisioned_users (id),
    primary key (group_id, member)
);
create index provisioned_members_by_member on provisioned_members (member);

alter table users add column suspended_by text not null default ''; -- the provider that has; '': an administrator, or nobody
alter table tokens add column provider text not null default ''; -- not '': it only keeps this provider's people and groups
