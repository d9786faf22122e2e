package sqlstore

import (
	"context"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// rightsOf returns what lets somebody do anything: roles, and what counts as such.
func rightsOf(ctx context.Context, tx transaction, id crowd.WorkerID) ([]store.HeldRole, error) {
	return list(ctx, tx, func(r row, h *store.HeldRole) error { return r.Scan(&h.Tenant, &h.Role) },
		`select 0, '(admin)' from users where id = $1 and admin union all select 0, '(pool)' from users where id = $1 and pool <> 0
		union all select tenant, '(requester)' from user_tenants where user_id = $1 union all select tenant, role from user_roles where user_id = $1`, id)
}

// madeByOthers are tokens for programs and one-time links that neither their owner made, nor
// an administrator, who may give anything.
const madeByOthers = `kind in ('api', 'setup') and made_by <> user_id and made_by not in (select id from users where admin and not suspended)`

// rise ends what others made for a person who has got rights that they did not have before:
// who made it might not give these. What was made by who gives them stays. The act tells how
// many ended.
func (s *Store) rise(ctx context.Context, tx transaction, id crowd.WorkerID, before []store.HeldRole) error {
	now, err := rightsOf(ctx, tx, id)
	if err != nil || !slices.ContainsFunc(now, func(h store.HeldRole) bool { return !slices.Contains(before, h) }) {
		return err
	}
	return endMade(ctx, tx, `user_id = $1 and `+madeByOthers+` and (made_by = 0 or made_by <> $2)`, id, store.AuthorOf(ctx))
}

// riseHolders is rise of all who hold a role that permits more than before.
func (s *Store) riseHolders(ctx context.Context, tx transaction, r *store.Role) error {
	before, err := first(ctx, tx, store.NoRole(r.Tenant, r.Name), func(r row, p *[]string) error { return r.Scan(encoded{p}) },
		`select permissions from roles where tenant = $1 and name = $2`, r.Tenant, r.Name)
	if err != nil || !slices.ContainsFunc(r.Permissions, func(p string) bool { return !slices.Contains(before, p) }) {
		return err
	}
	return endMade(ctx, tx, `user_id in (select user_id `+heldRole+`) and `+madeByOthers+` and (made_by = 0 or made_by <> $3)`, r.Name, r.Tenant, store.AuthorOf(ctx))
}

// endMade ends what a condition holds for, of what others made, with what was made with that.
func endMade(ctx context.Context, tx transaction, where string, args ...any) error {
	ended, with, err := endPrograms(ctx, tx, where, args...)
	store.TellEnded(ctx, ended+with, "by others")
	return err
}

// endMadeBy ends the tokens for programs and one-time links that somebody made for others, who
// has left, with what was made with those: they had the secrets in their hands. Tokens of
// providers of accounts stay, as nobody would be deactivated any more. The act tells how many ended, and of whom.
func endMadeBy(ctx context.Context, tx transaction, id crowd.WorkerID) error {
	const theirs = `user_id <> $1 and kind in ('api', 'setup') and (made_by = $1 or made_with in (select id from tokens where user_id = $1 and kind = 'api'))`
	of, err := list(ctx, tx, number[crowd.WorkerID], `select distinct user_id from tokens where `+theirs+` order by user_id`, id)
	if err != nil || len(of) == 0 {
		return err
	}
	ended, with, err := endPrograms(ctx, tx, theirs, id)
	store.TellEnded(ctx, ended+with, "by them for others", of...)
	return err
}
