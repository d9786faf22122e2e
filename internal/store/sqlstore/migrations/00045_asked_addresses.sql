-- Who has said that an address is theirs is asked there, by a link, before it counts. The
-- conventions are those of 00001_start.sql.

-- +goose Up

create table asked_addresses (
    user_id    bigint not null primary key references users (id),
    address    text not null,
    hash       text not null, -- of the secret in the last link that was sent; '': none was
    asked_at   bigint not null,
    expires_at bigint not null
);
create index asked_addresses_by_end on asked_addresses (expires_at);

alter table messages add column asks boolean not null default false; -- it carries such a link
