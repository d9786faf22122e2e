-- A tenant's weight could be kept that is less than a pool takes, which then did
-- not start.

-- +goose Up

update tenants set weight = 0.000001 where weight < 0.000001;
