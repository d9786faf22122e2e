-- Reviews of labels, each a task of a second batch. The conventions are those of
-- 00001_start.sql.

-- +goose Up

alter table batches add column review text not null default ''; -- which labels are reviewed, and how; '': none
alter table batches add column review_of bigint not null default 0; -- the batch whose labels the tasks review; 0: they are no reviews
create unique index batches_by_review on batches (review_of) where review_of <> 0;

create table reviews (
    task       bigint not null primary key, -- whose label is reviewed
    review     bigint not null unique,      -- the task of the batch of reviews
    asked_at   bigint not null,
    why        bigint not null, -- a bit for each reason
    answers    text   not null, -- numbers of the assignments that the label was made of
    verdict    text   not null, -- '': nobody has reviewed it
    decided_at bigint not null,
    decided_by bigint not null
);
create index reviews_by_person on reviews (decided_by);

alter table corrections add column review bigint not null default 0; -- the task of the batch of reviews that it is from; 0: it is from staff
