-- Runs that are made of the corrected labels of others, and from where labels were taken over.
-- The conventions are those of 00001_start.sql.

-- +goose Up

alter table runs add column redo_labels bigint not null default 0; -- of the parent, that were corrected when the run was made of them; 0: it is not made of any
alter table runs add column redo_due boolean not null default false; -- it is to be looked at whether a run is made of its corrected labels
alter table runs add column redo_error text not null default ''; -- why none could be begun

create unique index runs_redone on runs (parent) where redo_labels > 0 and state <> 'cancelled';
create index runs_to_redo on runs (id) where redo_due;

alter table run_rows add column source bigint not null default 0; -- the task of an earlier run whose label it has; 0: it is no such label
alter table run_rows add column correction bigint not null default 0; -- of that task, by number; 0: the label is what was answered
create index run_rows_by_source on run_rows (source, log) where source <> 0;
