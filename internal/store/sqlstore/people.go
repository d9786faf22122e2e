package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

var (
	users = newTable("users", "u", `id, name, name_key, full_name, email, email_verified, email_by, password_hash, admin, pool, suspended, created_at,
		qualifications, granted, serves, prefers, away, no_mail, moves_to, home, moved_at, suspended_by, erased_at`, func(u *store.User) []any {
		return []any{
			&u.ID, &u.Name, computed{nameKey(u.Name)}, &u.FullName, &u.Email, &u.EmailVerified, &u.EmailBy, &u.PasswordHash, &u.Admin, &u.Pool, &u.Suspended, instant{&u.CreatedAt},
			encoded{&u.Qualifications}, encoded{&u.Granted}, encoded{&u.Serves}, encoded{&u.Prefers}, &u.Away, &u.NoMail, &u.MovesTo, &u.Home, instant{&u.MovedAt}, &u.SuspendedBy, instant{&u.ErasedAt},
		}
	})
	keepUser = users.update(1)
)

// CreateUser implements store.People.
func (s *Store) CreateUser(ctx context.Context, u store.User) (crowd.WorkerID, error) {
	return create(ctx, s, "create user", &u.ID, func(ctx context.Context, tx transaction) error { return s.insertUser(ctx, tx, &u) })
}

// insertUser keeps u under a new id, which it sets.
func (s *Store) insertUser(ctx context.Context, tx transaction, u *store.User) error {
	if err := addNew(ctx, tx, users, u, "user", &u.ID); err != nil {
		return s.taken(err, "name", "there is a user named %q already", u.Name)
	}
	if err := s.tie(ctx, tx, u); err != nil {
		return err
	}
	return s.chargePerson(ctx, tx, u, nil, 0)
}

// UpdateUser implements store.People.
func (s *Store) UpdateUser(ctx context.Context, u store.User) error {
	return s.change(ctx, "update user", func(ctx context.Context, tx transaction) error { return s.updateUser(ctx, tx, &u) })
}

func (s *Store) updateUser(ctx context.Context, tx transaction, u *store.User) error {
	acted, err := actsFor(ctx, tx, u.ID)
	if err != nil {
		return err
	}
	served, err := servesAlone(ctx, tx, u.ID)
	if err != nil {
		return err
	}
	rights, err := rightsOf(ctx, tx, u.ID)
	if err != nil {
		return err
	}
	if _, err := tx.exec(ctx, `delete from asked_addresses where user_id = $1
		and exists (select 1 from users where id = $1 and (email <> $2 or email_verified <> $3))`, u.ID, u.Email, u.EmailVerified); err != nil {
		return err
	}
	if err := keepUser.must(ctx, tx, u, crowd.Errorf(crowd.NotFound, "there is no user %s", u.ID)); err != nil {
		return s.taken(err, "name", "there is a user named %q already", u.Name)
	}
	for _, table := range tieTables {
		if _, err := tx.exec(ctx, `delete from `+table+` where user_id = $1`, u.ID); err != nil {
			return err
		}
	}
	if _, err := tx.exec(ctx, `delete from user_roles where user_id = $1`, u.ID); err != nil {
		return err
	}
	if err := s.tie(ctx, tx, u); err != nil {
		return err
	}
	if err := s.rise(ctx, tx, u.ID, rights); err != nil {
		return err
	}
	if u.Suspended {
		if err := endMadeBy(ctx, tx, u.ID); err != nil {
			return err
		}
	}
	return s.chargePerson(ctx, tx, u, acted, served)
}

// chargePerson refuses what passes the quotas of tenants for which somebody acts now, and
// of the one that they serve alone, but did not before.
func (s *Store) chargePerson(ctx context.Context, tx transaction, u *store.User, acted []crowd.TenantID, served crowd.TenantID) error {
	now, err := actsFor(ctx, tx, u.ID)
	if err != nil {
		return err
	}
	for _, t := range now {
		if slices.Contains(acted, t) {
			continue
		}
		if err := s.chargeCounted(ctx, tx, t, store.Members, 1, u.CreatedAt); err != nil {
			return err
		}
	}
	if len(u.Serves) != 1 || u.Serves[0] == served {
		return nil
	}
	return s.chargeCounted(ctx, tx, u.Serves[0], store.OwnWorkers, 1, u.CreatedAt)
}

// actsFor returns the tenants for which somebody holds a role.
func actsFor(ctx context.Context, q querier, id crowd.WorkerID) ([]crowd.TenantID, error) {
	return list(ctx, q, number[crowd.TenantID], `select tenant from user_tenants where user_id = $1
		union select tenant from user_roles where user_id = $1 and tenant <> 0 order by tenant`, id)
}

// servesAlone returns the tenant that somebody serves and no other, or 0.
func servesAlone(ctx context.Context, q querier, id crowd.WorkerID) (crowd.TenantID, error) {
	serves, _, err := one(ctx, q, func(r row, list *[]crowd.TenantID) error { return r.Scan(encoded{list}) }, `select serves from users where id = $1`, id)
	if err != nil || len(serves) != 1 {
		return 0, err
	}
	return serves[0], nil
}

// The tables that tie users to tenants: as requesters, and as unwanted.
var tieTables = [...]string{"user_tenants", "user_blocks"}

func (s *Store) tie(ctx context.Context, tx transaction, u *store.User) error {
	for i, tenants := range [...][]crowd.TenantID{u.Tenants, u.BlockedBy} {
		for _, t := range tenants {
			if _, err := tx.exec(ctx, `insert into `+tieTables[i]+` (user_id, tenant) values ($1, $2) on conflict do nothing`, u.ID, t); err != nil {
				return s.missing(err, "there is no tenant %s", t)
			}
		}
	}
	for _, h := range u.Roles {
		if _, err := tx.exec(ctx, `insert into user_roles (user_id, tenant, role) values ($1, $2, $3) on conflict do nothing`, u.ID, h.Tenant, h.Role); err != nil {
			return err
		}
	}
	return nil
}

// nameKey is what names are compared by.
func nameKey(name string) string { return strings.ToLower(name) }

// User implements store.People.
func (s *Store) User(ctx context.Context, id crowd.WorkerID) (store.User, error) {
	return s.user(ctx, id.String(), `where u.id = $1`, id)
}

// UserByName implements store.People.
func (s *Store) UserByName(ctx context.Context, name string) (store.User, error) {
	return s.user(ctx, fmt.Sprintf("named %q", name), `where u.name_key = $1`, nameKey(name))
}

func (s *Store) user(ctx context.Context, who, where string, arg any) (store.User, error) {
	found, err := s.users(ctx, where, arg)
	if err == nil && len(found) == 0 {
		err = crowd.Errorf(crowd.NotFound, "there is no user %s", who)
	}
	if err != nil {
		return store.User{}, s.failed("read user", err)
	}
	return found[0], nil
}

// ListUsers implements store.People.
func (s *Store) ListUsers(ctx context.Context, tenant crowd.TenantID, after crowd.WorkerID, limit int) ([]store.User, error) {
	var all []store.User
	var err error
	if tenant == 0 {
		all, err = s.users(ctx, `where u.id > $1 order by u.id limit $2`, after, limit)
	} else {
		all, err = s.users(ctx, `where u.id in (select user_id from user_tenants where tenant = $1 union select user_id from user_roles where tenant = $1)
			and u.id > $2 order by u.id limit $3`, tenant, after, limit)
	}
	return all, s.failed("list users", err)
}

// UserNames implements store.People.
func (s *Store) UserNames(ctx context.Context, ids []crowd.WorkerID) (map[crowd.WorkerID]string, error) {
	return namesOf(ctx, s, "people", readUserNames, ids)
}

// PoolUsers implements store.People.
func (s *Store) PoolUsers(ctx context.Context, pool crowd.PoolID) ([]store.User, error) {
	all, err := s.users(ctx, `where u.pool = $1 order by u.id`, pool)
	return all, s.failed("list users", err)
}

// users reads users and their tenants.
func (s *Store) users(ctx context.Context, where string, args ...any) ([]store.User, error) {
	found, err := users.list(ctx, s.read, where, args...)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	index := make(map[crowd.WorkerID]*store.User, len(found))
	first, last := found[0].ID, found[0].ID
	for i := range found {
		index[found[i].ID] = &found[i]
		first, last = min(first, found[i].ID), max(last, found[i].ID)
	}
	for i, table := range tieTables {
		err := each(ctx, s.read, func(r row) error {
			var id crowd.WorkerID
			var tenant crowd.TenantID
			if err := r.Scan(&id, &tenant); err != nil {
				return err
			}
			u := index[id]
			switch {
			case u == nil: // between two that were asked for
			case i == 0:
				u.Tenants = append(u.Tenants, tenant)
			default:
				u.BlockedBy = append(u.BlockedBy, tenant)
			}
			return nil
		}, `select user_id, tenant from `+table+` where user_id >= $1 and user_id <= $2 order by user_id, tenant`, first, last)
		if err != nil {
			return nil, err
		}
	}
	err = each(ctx, s.read, func(r row) error {
		var id crowd.WorkerID
		var h store.HeldRole
		err := r.Scan(&id, &h.Tenant, &h.Role)
		if u := index[id]; err == nil && u != nil {
			u.Roles = append(u.Roles, h)
		}
		return err
	}, `select user_id, tenant, role from user_roles where user_id >= $1 and user_id <= $2 order by user_id, tenant, role`, first, last)
	return found, err
}
