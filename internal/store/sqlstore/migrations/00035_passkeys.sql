-- Passkeys, the challenges that were answered with one, and whose addresses are verified.
-- The conventions are those of 00001_start.sql.

-- +goose Up

alter table factors add column credential text not null default ''; -- of a passkey, its id as the browser tells it
create unique index factors_by_credential on factors (credential) where credential <> '';

create table spent_challenges (
    hash       text   primary key,
    expires_at bigint not null
);
create index spent_challenges_by_expiry on spent_challenges (expires_at);

alter table users add column email_verified_at bigint not null default 0; -- 0: it was typed in, and nobody has shown that it is theirs
