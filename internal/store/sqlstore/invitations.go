package sqlstore

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/store"
)

// addressKey is what addresses are looked for by. Earlier versions kept all letters of it in
// lower case, not A to Z only: see InvitationsTo.
func addressKey(address string) string { return format.AddressKey(address) }

var (
	// invited is the invitations, with how the last mail about each fared.
	invited = newTable("invitations", "i", `id, tenant, pool, test, address, address_key, note, invited_by, created_at, expires_at,
		state, opened_at, answered_at, worker`, func(i *store.Invitation) []any {
		return []any{
			&i.ID, &i.Tenant, &i.Pool, &i.Test, &i.Address, computed{addressKey(i.Address)}, &i.Note, &i.InvitedBy, instant{&i.CreatedAt}, instant{&i.ExpiresAt},
			&i.State, instant{&i.OpenedAt}, instant{&i.AnsweredAt}, &i.Worker, &i.Mail.State, instant{&i.Mail.At}, &i.Mail.Error,
		}
	}).joined(`coalesce(m.state, ''), coalesce(case when m.sent_at <> 0 then m.sent_at else m.next_at end, 0), coalesce(m.error, '')`,
		`left join messages m on m.id = (select max(x.id) from messages x where x.invitation = i.id and x.invitation <> 0)`)
	// keepInvited replaces what may change of an open invitation.
	keepInvited = invited.update(2, "pool", "test", "address", "address_key", "invited_by", "created_at").when("state = 'open'")
)

// CreateInvitations implements store.Invitations.
func (s *Store) CreateInvitations(ctx context.Context, in []store.Invitation, mail func(store.Invitation) store.Message) ([]store.Invitation, error) {
	out := make([]store.Invitation, 0, len(in))
	err := s.change(ctx, "create invitations", func(ctx context.Context, tx transaction) error {
		for _, i := range in {
			if err := addNew(ctx, tx, invited, &i, "invitation", &i.ID); err != nil {
				return s.missing(err, "there is no user %s, or no pool %s", i.InvitedBy, i.Pool)
			}
			if mail != nil {
				m := mail(i)
				m.Invitation = i.ID
				if err := s.addMessage(ctx, tx, m); err != nil {
					return err
				}
				i.Mail = mailed(&m)
			}
			out = append(out, i)
		}
		added := make(map[crowd.TenantID]int64)
		for _, i := range in {
			added[i.Tenant]++
		}
		for _, tenant := range slices.Sorted(maps.Keys(added)) {
			if err := s.chargeCounted(ctx, tx, tenant, store.OpenInvitations, added[tenant], in[0].CreatedAt); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func mailed(m *store.Message) store.Mailed {
	at := m.SentAt
	if at.IsZero() {
		at = m.NextAt
	}
	return store.Mailed{State: m.State, At: at, Error: m.Error}
}

// UpdateInvitation implements store.Invitations.
func (s *Store) UpdateInvitation(ctx context.Context, i store.Invitation, mail *store.Message, now time.Time) error {
	return s.change(ctx, "update invitation", func(ctx context.Context, tx transaction) error {
		again := i.State == store.InvitationOpen && now.Before(i.ExpiresAt)
		if again {
			var err error
			if _, again, err = one(ctx, tx, number[int64], `select id from invitations where id = $1 and state = 'open' and expires_at <= $2`, i.ID, micros(now)); err != nil {
				return err
			}
		}
		if err := updateInvitation(ctx, tx, &i); err != nil {
			return err
		}
		if again {
			if err := s.chargeCounted(ctx, tx, i.Tenant, store.OpenInvitations, 1, now); err != nil {
				return err
			}
		}
		if mail == nil {
			return nil
		}
		m := *mail
		m.Invitation = i.ID
		return s.addMessage(ctx, tx, m)
	})
}

// updateInvitation replaces what may change of an open invitation.
func updateInvitation(ctx context.Context, tx transaction, i *store.Invitation) error {
	n, err := keepInvited.exec(ctx, tx, i)
	if err != nil || n > 0 {
		return err
	}
	_, there, err := one(ctx, tx, number[int64], `select id from invitations where id = $1 and tenant = $2`, i.ID, i.Tenant)
	switch {
	case err != nil:
		return err
	case there:
		return crowd.Errorf(crowd.Conflict, "this invitation has been answered or withdrawn already")
	}
	return noInvitation(i.ID)
}

func noInvitation(id int64) error {
	return crowd.Errorf(crowd.NotFound, "there is no invitation %d", id)
}

// AcceptInvitation implements store.Invitations.
func (s *Store) AcceptInvitation(ctx context.Context, i store.Invitation, u store.User, a *store.Asking) (crowd.WorkerID, error) {
	return create(ctx, s, "accept invitation", &u.ID, func(ctx context.Context, tx transaction) (err error) {
		if u.ID == 0 {
			err = s.insertUser(ctx, tx, &u)
		} else {
			err = s.updateUser(ctx, tx, &u)
		}
		if err != nil {
			return err
		}
		if a != nil {
			if err := s.ask(ctx, tx, u.ID, *a); err != nil {
				return err
			}
		}
		i.State, i.Worker = store.InvitationAccepted, u.ID
		return updateInvitation(ctx, tx, &i)
	})
}

// Invitation implements store.Invitations.
func (s *Store) Invitation(ctx context.Context, tenant crowd.TenantID, id int64) (store.Invitation, error) {
	return got(ctx, s, invited, noInvitation(id), `where i.id = $1 and (i.tenant = $2 or $2 = 0)`, id, tenant)
}

// ListInvitations implements store.Invitations.
func (s *Store) ListInvitations(ctx context.Context, tenant crowd.TenantID, before int64, limit int) ([]store.Invitation, error) {
	return paged(ctx, s, invited, page{column: "i.tenant", of: int64(tenant), before: before, limit: limit})
}

// InvitationsTo implements store.Invitations.
func (s *Store) InvitationsTo(ctx context.Context, tenant crowd.TenantID, address string) ([]store.Invitation, error) {
	all, err := listed(ctx, s, invited, `where i.address_key in ($1, $3) and (i.tenant = $2 or $2 = 0) order by i.id desc`, addressKey(address), tenant, strings.ToLower(address))
	return slices.DeleteFunc(all, func(i store.Invitation) bool { return !format.SameAddress(i.Address, address) }), err
}

// AcceptedInvitations implements store.Invitations.
func (s *Store) AcceptedInvitations(ctx context.Context, worker crowd.WorkerID) ([]store.Invitation, error) {
	return listed(ctx, s, invited, `where i.worker = $1 and i.worker <> 0 order by i.id desc`, worker)
}

// UsersByEmail implements store.Invitations.
func (s *Store) UsersByEmail(ctx context.Context, address string) ([]store.User, error) {
	// By its locale, PostgreSQL may take letters for the same that are not.
	all, err := s.users(ctx, `where lower(u.email) = lower($1) and u.email <> '' and u.email_verified order by u.id`, address)
	return slices.DeleteFunc(all, func(u store.User) bool { return !format.SameAddress(u.Email, address) }), s.failed("list users", err)
}
