-- On whose word an address counts as its owner's, and the external id that a provider of
-- accounts tells of who signs in. The conventions are those of 00001_start.sql.

-- +goose Up

alter table users add column email_by text not null default ''; -- the provider that says so, by its name or issuer; '': the server
alter table identities add column external_id text not null default ''; -- '': not told yet
create index identities_by_external_id on identities (issuer, external_id) where external_id <> '';

-- Who was made by a sign-in has their address from there, and who is provisioned has it from
-- there if the provider says it.
update users set email_by = coalesce((select min(i.issuer) from identities i where i.user_id = users.id and i.created_at = users.created_at), '') where email_verified;
update users set email_by = coalesce((select min(p.provider) from provisioned_users p where p.user_id = users.id
    and (lower(p.user_name) = lower(users.email) or lower(p.profile) like '%"' || lower(users.email) || '"%')), email_by) where email_verified;
