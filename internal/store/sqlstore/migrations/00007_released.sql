-- What a batch gave back at its end, so that its budget with all that was added to it
-- is known after that, too. Of one that ended before it is not.

-- +goose Up

alter table progress add column released bigint not null default 0;
