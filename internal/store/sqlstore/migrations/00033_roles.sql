-- Roles that people make, who holds which, and what tokens are limited to. The conventions
-- are those of 00001_start.sql.

-- +goose Up

create table roles (
    tenant      bigint not null, -- whose it is; 0: the installation's
    name        text not null,
    text        text not null,
    permissions text not null, -- a list in JSON
    created_at  bigint not null,
    primary key (tenant, name)
);

create table user_roles ( -- besides admins, who are marked so, and requesters
    user_id bigint not null references users (id),
    tenant  bigint not null, -- for which; 0: for the installation
    role    text not null,
    primary key (user_id, tenant, role)
);
create index user_roles_by_tenant on user_roles (tenant, user_id);

alter table tokens add column scopes text not null default ''; -- permissions; '': all of its owner
