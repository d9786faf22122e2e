-- From where somebody has signed in. The conventions are those of 00001_start.sql.

-- +goose Up

alter table tokens add column address text not null default ''; -- from which the session was begun; '': not known
