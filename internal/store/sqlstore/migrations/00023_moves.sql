-- The log of a pool lists who came from others, too. The conventions are those of
-- 00001_start.sql.

-- +goose Up

create index pool_actions_by_receiver on pool_actions (to_pool, id) where to_pool <> 0;
