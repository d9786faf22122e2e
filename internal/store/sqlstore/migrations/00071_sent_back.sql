-- Labels that their reviewers send back, with a comment. The conventions are those of
-- 00001_start.sql.

-- +goose Up

create table sent_back (
    review  bigint  not null primary key, -- the task of the batch of reviews
    task    bigint  not null,             -- whose label it is
    worker  bigint  not null,             -- who sent it back
    sent_at bigint  not null,             -- when that came to count
    acts    boolean not null,             -- false: the label could not be sent back any more, and stays
    body    text    not null              -- the comment
);
create index sent_back_by_task on sent_back (task);
create index sent_back_by_worker on sent_back (worker);

alter table replies add column by_reviewer boolean not null default false; -- it is the comment of a reviewer, not of staff

alter table provisional_answers add column send_back text not null default ''; -- the comment with which a label is sent back; '': it is an answer
