-- Passkeys, and the challenges that were answered with one.
-- The conventions are those of 00001_start.sql.

-- +goose Up

alter table factors add column credential text not null default ''; -- of a passkey, its id as the browser tells it
create unique index factors_by_credential on factors (credential) where credential <> '';

create table spent_challenges (
    hash       text   primary key,
    expires_at bigint not null
);
create index spent_challenges_by_expiry on spent_challenges (expires_at);
