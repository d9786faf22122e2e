-- Whether a run that goes on from another asks people again where labels are there.

-- +goose Up

alter table runs add column ask_again boolean not null default false;
