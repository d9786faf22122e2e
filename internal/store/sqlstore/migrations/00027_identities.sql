-- Accounts that people have at providers of OpenID Connect. The conventions are those of
-- 00001_start.sql.

-- +goose Up

create table identities (
    issuer     text not null,
    subject    text not null, -- who they are there
    user_id    bigint not null references users (id),
    created_at bigint not null,
    primary key (issuer, subject)
);
create index identities_by_user on identities (user_id);
