package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

var (
	provisioned = newTable("provisioned_users", "p", `id, provider, user_id, external_id, user_name, name_key, profile, created_at, changed_at, deleted_at`, func(r *store.Provisioned) []any {
		return []any{
			&r.ID, &r.Provider, &r.User, &r.ExternalID, &r.UserName, computed{nameKey(r.UserName)}, encoded{&r.Profile},
			instant{&r.CreatedAt}, instant{&r.ChangedAt}, instant{&r.DeletedAt}, &r.Suspended,
		}
	}).joined("u.suspended", "join users u on u.id = p.user_id")
	keepProvisioned = provisioned.update(2).when("deleted_at = 0")

	groups = newTable("provisioned_groups", "p", `id, provider, external_id, name, name_key, created_at, changed_at`, func(g *store.ProvisionedGroup) []any {
		return []any{&g.ID, &g.Provider, &g.ExternalID, &g.Name, computed{nameKey(g.Name)}, instant{&g.CreatedAt}, instant{&g.ChangedAt}}
	})
	keepGroup = groups.update(2)
)

// CreateProvisioned implements store.Provisioning.
func (s *Store) CreateProvisioned(ctx context.Context, r store.Provisioned, u store.User) (store.Provisioned, error) {
	err := s.change(ctx, "create provisioned user", func(ctx context.Context, tx transaction) error {
		if u.ID == 0 {
			if err := s.insertUser(ctx, tx, &u); err != nil {
				return err
			}
		}
		r.User = u.ID
		err := addNew(ctx, tx, provisioned, &r, "provisioned", &r.ID)
		return s.missing(s.takenAtProvider(err, "userName", r.UserName), "there is no user %s", u.ID)
	})
	return r, err
}

// takenAtProvider is taken of what is unique at a provider.
func (s *Store) takenAtProvider(err error, field, name string) error {
	return s.taken(err, field, "the provider has somebody or something called %q, or with this external id, already", name)
}

// UpdateProvisioned implements store.Provisioning.
func (s *Store) UpdateProvisioned(ctx context.Context, r store.Provisioned) error {
	return s.change(ctx, "update provisioned user", func(ctx context.Context, tx transaction) error {
		none := crowd.Errorf(crowd.NotFound, "the provider %s has nobody with the id %d", r.Provider, r.ID)
		if err := keepProvisioned.must(ctx, tx, &r, none); err != nil || r.DeletedAt.IsZero() {
			return s.takenAtProvider(err, "userName", r.UserName)
		}
		if _, err := tx.exec(ctx, `update provisioned_groups set changed_at = $1 where id in
			(select group_id from provisioned_members where member = $2)`, micros(r.ChangedAt), r.ID); err != nil {
			return err
		}
		_, err := tx.exec(ctx, `delete from provisioned_members where member = $1`, r.ID)
		return err
	})
}

// conditions are the where of a list, and its arguments.
func conditions(f *store.ProvisionedFilter, people bool) (string, []any) {
	where, args := []string{"p.provider = $1"}, []any{f.Provider}
	add := func(ask bool, condition string, arg any) {
		if ask {
			args = append(args, arg)
			where = append(where, fmt.Sprintf(condition, len(args)))
		}
	}
	add(f.ID != 0, "p.id = $%d", f.ID)
	add(f.Name != "", "p.name_key = $%d", nameKey(f.Name))
	add(f.ExternalID != "", "p.external_id = $%d", f.ExternalID)
	if people {
		add(f.User != 0, "p.user_id = $%d", f.User)
		where = append(where, "(p.deleted_at <> 0) = "+fmt.Sprint(f.Deleted))
	}
	args = append(args, f.Limit, f.Offset)
	return fmt.Sprintf("where %s order by p.id limit $%d offset $%d", strings.Join(where, " and "), len(args)-1, len(args)), args
}

// ListProvisioned implements store.Provisioning.
func (s *Store) ListProvisioned(ctx context.Context, f store.ProvisionedFilter) ([]store.Provisioned, error) {
	where, args := conditions(&f, true)
	return listed(ctx, s, provisioned, where, args...)
}

// onceProvisioned begins a statement that keeps, of rows which are deleted then, when a provider
// has changed them last. Nobody comes in by a provider that has ever provisioned anybody, unless
// it has provisioned them: see CountProvisioned. The end of the statement is orLater.
const (
	onceProvisioned = `insert into counters (name, last) select 'provisioned by ' || provider, max(changed_at) from `
	orLater         = ` on conflict (name) do update set last = case when excluded.last > counters.last then excluded.last else counters.last end`
)

// CountProvisioned implements store.Provisioning.
func (s *Store) CountProvisioned(ctx context.Context, provider string) (store.ProvisionedCount, error) {
	c, _, err := one(ctx, s.read, func(r row, c *store.ProvisionedCount) error {
		var people, groups, gone time.Time
		err := r.Scan(&c.People, &c.Suspended, &c.Groups, instant{&people}, instant{&groups}, instant{&gone})
		c.ChangedAt = slices.MaxFunc([]time.Time{people, groups, gone}, time.Time.Compare)
		return err
	}, `select (select count(*) from provisioned_users where provider = $1 and deleted_at = 0),
			(select count(*) from provisioned_users p join users u on u.id = p.user_id where p.provider = $1 and p.deleted_at = 0 and u.suspended),
			(select count(*) from provisioned_groups where provider = $1),
			(select coalesce(max(changed_at), 0) from provisioned_users where provider = $1),
			(select coalesce(max(changed_at), 0) from provisioned_groups where provider = $1),
			(select coalesce(max(last), 0) from counters where name = 'provisioned by ' || $1)`, provider)
	return c, s.failed("count provisioned users", err)
}

// CreateGroup implements store.Provisioning.
func (s *Store) CreateGroup(ctx context.Context, g store.ProvisionedGroup, members []int64) (int64, error) {
	return create(ctx, s, "create group", &g.ID, func(ctx context.Context, tx transaction) error {
		if err := addNew(ctx, tx, groups, &g, "provisioned", &g.ID); err != nil {
			return s.takenAtProvider(err, "displayName", g.Name)
		}
		return addMembers(ctx, tx, &g, members)
	})
}

// addMembers adds members of the group's provider to it.
func addMembers(ctx context.Context, tx transaction, g *store.ProvisionedGroup, members []int64) error {
	for _, id := range members {
		none := &crowd.Error{Code: crowd.NotFound, Field: "members", Message: fmt.Sprintf("the provider has nobody with the id %d", id)}
		if err := tx.must(ctx, none, `insert into provisioned_members (group_id, member)
			select $1, id from provisioned_users where id = $2 and provider = $3 and deleted_at = 0
			on conflict (group_id, member) do update set member = excluded.member`, g.ID, id, g.Provider); err != nil {
			return err
		}
	}
	return nil
}

// UpdateGroup implements store.Provisioning.
func (s *Store) UpdateGroup(ctx context.Context, g store.ProvisionedGroup, add, drop []int64) error {
	return s.change(ctx, "update group", func(ctx context.Context, tx transaction) error {
		if err := keepGroup.must(ctx, tx, &g, noGroup(g.Provider, g.ID)); err != nil {
			return s.takenAtProvider(err, "displayName", g.Name)
		}
		for _, id := range drop {
			if _, err := tx.exec(ctx, `delete from provisioned_members where group_id = $1 and member = $2`, g.ID, id); err != nil {
				return err
			}
		}
		return addMembers(ctx, tx, &g, add)
	})
}

func noGroup(provider string, id int64) error {
	return crowd.Errorf(crowd.NotFound, "the provider %s has no group with the id %d", provider, id)
}

// DeleteGroup implements store.Provisioning.
func (s *Store) DeleteGroup(ctx context.Context, provider string, id int64) error {
	return s.change(ctx, "delete group", func(ctx context.Context, tx transaction) error {
		if _, err := tx.exec(ctx, `delete from provisioned_members where group_id in
			(select id from provisioned_groups where id = $1 and provider = $2)`, id, provider); err != nil {
			return err
		}
		if _, err := tx.exec(ctx, onceProvisioned+`provisioned_groups where id = $1 and provider = $2 group by provider`+orLater, id, provider); err != nil {
			return err
		}
		return tx.must(ctx, noGroup(provider, id), `delete from provisioned_groups where id = $1 and provider = $2`, id, provider)
	})
}

// ListGroups implements store.Provisioning.
func (s *Store) ListGroups(ctx context.Context, f store.ProvisionedFilter) ([]store.ProvisionedGroup, error) {
	where, args := conditions(&f, false)
	return listed(ctx, s, groups, where, args...)
}

// GroupMembers implements store.Provisioning.
func (s *Store) GroupMembers(ctx context.Context, group int64) ([]store.Member, error) {
	all, err := list(ctx, s.read, func(r row, m *store.Member) error { return r.Scan(&m.ID, &m.Name) },
		`select p.id, p.user_name from provisioned_members m join provisioned_users p on p.id = m.member where m.group_id = $1 order by p.id`, group)
	return all, s.failed("list members", err)
}

// GroupsOf implements store.Provisioning.
func (s *Store) GroupsOf(ctx context.Context, people []int64) (map[int64][]store.ProvisionedGroup, error) {
	all := make(map[int64][]store.ProvisionedGroup)
	for _, id := range people {
		of, err := groups.list(ctx, s.read, `join provisioned_members m on m.group_id = p.id where m.member = $1 order by p.id`, id)
		if err != nil {
			return nil, s.failed("list groups", err)
		}
		if len(of) > 0 {
			all[id] = of
		}
	}
	return all, nil
}

// ProviderTokens implements store.Provisioning.
func (s *Store) ProviderTokens(ctx context.Context, provider string) ([]store.Token, error) {
	return listed(ctx, s, tokens, `where t.provider = $1 order by t.id`, provider)
}
