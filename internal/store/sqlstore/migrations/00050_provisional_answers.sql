-- Answers that their workers may take back before they count. The conventions are those of
-- 00001_start.sql.

-- +goose Up

create table provisional_answers ( -- until they count, or are taken back
    id          bigint primary key, -- of the assignment, which is provisional
    answered_at bigint not null,
    answer_key  text not null,
    body        text not null
);

alter table batches add column grace_ns bigint not null default 0; -- 0: answers count at once
