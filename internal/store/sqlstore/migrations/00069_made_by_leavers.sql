-- What those who have left had made for others ends, as it does now when they leave: tokens for
-- programs, one-time links, and what was made with these.

-- +goose Up
with recursive ended (id) as (
	select t.id from tokens t join users u on u.id = t.made_by and u.suspended
		where t.user_id <> t.made_by and t.kind in ('api', 'setup')
	union
	select t.id from tokens t join tokens w on w.id = t.made_with and w.kind = 'api' join users u on u.id = w.user_id and u.suspended
		where t.user_id <> w.user_id and t.kind in ('api', 'setup')
	union
	select t.id from tokens t join ended e on t.made_with = e.id where t.kind in ('api', 'setup')
)
delete from tokens where id in (select id from ended);

-- +goose Down
select 1;
