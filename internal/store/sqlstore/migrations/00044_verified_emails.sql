-- An address reserves nothing and gets no mail of calls before it is known to be its owner's.
-- Those that are there were entered by administrators and providers, or invited, and go on.
-- The conventions are those of 00001_start.sql.

-- +goose Up

alter table users add column email_verified boolean not null default false;
update users set email_verified = true where email <> '';
