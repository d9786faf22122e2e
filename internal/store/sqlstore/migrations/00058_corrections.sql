-- What people say that labels are, whatever was answered. The conventions are those of
-- 00001_start.sql.

-- +goose Up

create table corrections (
    task         bigint  not null,
    number       bigint  not null, -- among those of the task, from 1
    corrected_at bigint  not null,
    corrected_by bigint  not null,
    value        text    not null, -- the label
    withdrawn    boolean not null, -- no correction holds from then on
    body         text    not null, -- the note
    superseded   boolean not null, -- there is a later one
    primary key (task, number)
);
create index corrections_by_person on corrections (corrected_by);
