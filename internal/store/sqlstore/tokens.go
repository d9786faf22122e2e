package sqlstore

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

var tokens = newTable("tokens", "t", `id, hash, kind, user_id, tenant, roles, name, created_at, expires_at, networks, used_at, address, factor_elsewhere, scopes, provider, made_by, made_with`, func(t *store.Token) []any {
	return []any{&t.ID, &t.Hash, &t.Kind, &t.User, &t.Tenant, encoded{&t.Roles}, &t.Name, instant{&t.CreatedAt}, instant{&t.ExpiresAt}, encoded{&t.Networks}, instant{&t.UsedAt}, &t.Address, &t.FactorElsewhere, encoded{&t.Scopes}, &t.Provider, &t.MadeBy, &t.MadeWith}
})

// CreateToken implements store.Tokens.
func (s *Store) CreateToken(ctx context.Context, t store.Token) (int64, error) {
	return create(ctx, s, "create token", &t.ID, func(ctx context.Context, tx transaction) error { return s.addToken(ctx, tx, &t) })
}

func (s *Store) addToken(ctx context.Context, tx transaction, t *store.Token) error {
	if err := s.stands(ctx, tx, t.User, t.Basis, t.Kind == store.SessionToken); err != nil {
		return err
	}
	err := addNew(ctx, tx, tokens, t, "token", &t.ID)
	if err == nil && t.Kind == store.SessionToken {
		_, err = tx.exec(ctx, `delete from tokens where user_id = $1 and kind = 'session' and id <= (
			select id from tokens where user_id = $1 and kind = 'session' order by id desc limit 1 offset $2)`, t.User, store.MaxSessions)
		return err
	}
	if err != nil || t.Kind != store.APIToken {
		return s.taken(err, "hash", "this token exists already")
	}
	n, err := scalar(ctx, tx, `select count(*) from tokens where user_id = $1 and kind = 'api' and (expires_at = 0 or expires_at > $2)`, t.User, micros(t.CreatedAt))
	if err != nil {
		return err
	}
	if n > store.MaxTokens {
		return crowd.Errorf(crowd.QuotaExceeded, "%s has %d tokens for programs that are good, and nobody has more: end one that is not in use", t.User, store.MaxTokens)
	}
	return s.chargeToken(ctx, tx, t)
}

// stands locks a person, so that nothing of theirs ends before the transaction does, and
// refuses a basis that has ended. Who enters must not be suspended.
func (s *Store) stands(ctx context.Context, tx transaction, id crowd.WorkerID, b store.Basis, enters bool) error {
	owner := id // of the token
	if b.Token != 0 {
		var err error
		if owner, err = first(ctx, tx, store.ErrLapsed, number[crowd.WorkerID], `select user_id from tokens where id = $1`, b.Token); err != nil {
			return err
		}
	}
	type person struct {
		store.User
		endedAt time.Time
	}
	locked, err := list(ctx, tx, func(r row, u *person) error {
		return r.Scan(&u.ID, &u.PasswordHash, &u.Suspended, instant{&u.ErasedAt}, instant{&u.endedAt})
	},
		`select id, password_hash, suspended, erased_at, ended_at from users where id in ($1, $2) order by id`+s.dialect.RowLock, id, owner)
	if err != nil {
		return err
	}
	at := func(id crowd.WorkerID) int {
		return slices.IndexFunc(locked, func(u person) bool { return u.ID == id })
	}
	i := at(id)
	switch {
	case i < 0, !enters && !locked[i].ErasedAt.IsZero():
		return noUser(id)
	case enters && locked[i].Suspended, b.Password != "" && b.Password != locked[i].PasswordHash, !b.Since.IsZero() && micros(locked[i].endedAt) > micros(b.Since):
		return store.ErrLapsed
	}
	if b.Token != 0 {
		if j := at(owner); j < 0 || locked[j].Suspended {
			return store.ErrLapsed
		}
		if _, err := first(ctx, tx, store.ErrLapsed, number[int64], `select id from tokens where id = $1`+s.dialect.RowLock, b.Token); err != nil { // nobody can end it until what rests on it is kept
			return err
		}
	}
	if b.Factor == 0 {
		return nil
	}
	_, err = first(ctx, tx, store.ErrLapsed, number[int64], `select id from factors where id = $1 and user_id = $2 and confirmed_at <> 0`, b.Factor, id)
	return err
}

// EndAccess implements store.Tokens.
func (s *Store) EndAccess(ctx context.Context, e store.Ending) error {
	return s.change(ctx, "end access", func(ctx context.Context, tx transaction) error {
		if err := s.stands(ctx, tx, e.User, e.Basis, false); err != nil {
			return err
		}
		if e.Password != "" {
			if _, err := tx.exec(ctx, `update users set password_hash = $1 where id = $2`, e.Password, e.User); err != nil {
				return err
			}
		}
		if slices.Contains(e.Kinds, store.SessionToken) {
			if _, err := tx.exec(ctx, `update users set ended_at = $1 where id = $2 and ended_at < $1`, micros(e.At), e.User); err != nil {
				return err
			}
		}
		for _, kind := range e.Kinds {
			if kind == store.APIToken {
				_, with, err := endPrograms(ctx, tx, `user_id = $1 and kind = 'api' and id <> $2`, e.User, e.But)
				if err != nil {
					return err
				}
				store.TellEnded(ctx, with, "with those that ended")
				continue
			}
			if _, err := tx.exec(ctx, `delete from tokens where user_id = $1 and kind = $2 and id <> $3`, e.User, kind, e.But); err != nil {
				return err
			}
		}
		if e.Factors {
			if err := deleteFactors(ctx, tx, e.User); err != nil {
				return err
			}
		}
		if e.Begin == nil {
			return nil
		}
		return s.addToken(ctx, tx, e.Begin)
	})
}

// chargeToken refuses a new token for programs that passes the quota of its tenant, or,
// if it is for all that its owner may do, of one for which they act.
func (s *Store) chargeToken(ctx context.Context, tx transaction, t *store.Token) error {
	tenants := []crowd.TenantID{t.Tenant}
	if t.Tenant == 0 {
		var err error
		if tenants, err = actsFor(ctx, tx, t.User); err != nil {
			return err
		}
	}
	for _, tenant := range tenants {
		if err := s.chargeCounted(ctx, tx, tenant, store.APITokens, 1, t.CreatedAt); err != nil {
			return err
		}
	}
	return nil
}

// TokenByHash implements store.Tokens.
func (s *Store) TokenByHash(ctx context.Context, hash string) (store.Token, error) {
	return got(ctx, s, tokens, crowd.Errorf(crowd.NotFound, "there is no such token"), `where t.hash = $1`, hash)
}

// ListTokens implements store.Tokens.
func (s *Store) ListTokens(ctx context.Context, user crowd.WorkerID) ([]store.Token, error) {
	return listed(ctx, s, tokens, `where t.user_id = $1 and t.kind <> $2 order by t.id`, user, store.ProviderToken)
}

// ProgramTokens implements store.Tokens.
func (s *Store) ProgramTokens(ctx context.Context, user crowd.WorkerID, before int64, limit int) ([]store.Token, error) {
	return listed(ctx, s, tokens, `where t.kind = $1 and t.id < $2 and (t.user_id = $3 or $3 = 0) order by t.id desc limit $4`,
		store.APIToken, cmp.Or(before, math.MaxInt64), user, limit)
}

// DeleteToken implements store.Tokens.
func (s *Store) DeleteToken(ctx context.Context, user crowd.WorkerID, id int64) (with []store.Token, err error) {
	err = s.change(ctx, "delete token", func(ctx context.Context, tx transaction) error {
		none := crowd.Errorf(crowd.NotFound, "there is no token %d of %s", id, user)
		if err := tx.must(ctx, none, `delete from tokens where id = $1 and user_id = $2`, id, user); err != nil {
			return err
		}
		with, err = endTokens(ctx, tx, []int64{id}, true)
		store.TellEnded(ctx, len(with), "with it")
		return err
	})
	if err != nil {
		return nil, err
	}
	return with, nil
}

// endPrograms ends the tokens that a condition holds for, which are for programs or one-time
// links, and what was made with them. It returns how many of both there were.
func endPrograms(ctx context.Context, tx transaction, where string, args ...any) (ended, with int, err error) {
	ids, err := list(ctx, tx, number[int64], `select id from tokens where `+where+` order by id`, args...)
	if err != nil {
		return 0, 0, err
	}
	made, err := endTokens(ctx, tx, ids, false)
	return len(ids), len(made), err
}

// endTokens deletes tokens, and what was made with them, and so on, and returns the latter.
//
// It goes by ascending ids: what is made with a token has a higher one. So two transactions
// never wait for each other. A token is deleted before what was made with it is looked for, as
// who makes something with it holds its row (see stands): it is there then, or is refused.
func endTokens(ctx context.Context, tx transaction, ids []int64, providers bool) (with []store.Token, err error) {
	kinds := []store.TokenKind{store.APIToken, store.SetupToken, store.APIToken}
	if providers {
		kinds[2] = store.ProviderToken
	}
	for len(ids) > 0 {
		if _, err := tx.exec(ctx, `delete from tokens where id = $1`, ids[0]); err != nil {
			return nil, err
		}
		made, err := tokens.list(ctx, tx, `where t.made_with = $1 and t.kind in ($2, $3, $4) order by t.id`, ids[0], kinds[0], kinds[1], kinds[2])
		if err != nil {
			return nil, err
		}
		ids = ids[1:]
		for _, t := range made {
			if at, there := slices.BinarySearch(ids, t.ID); !there {
				ids = slices.Insert(ids, at, t.ID)
				with = append(with, t)
			}
		}
	}
	return with, nil
}

// UseTokens implements store.Tokens.
func (s *Store) UseTokens(ctx context.Context, at map[int64]time.Time) error {
	return s.change(ctx, "keep when tokens were used", func(ctx context.Context, tx transaction) error {
		for _, id := range slices.Sorted(maps.Keys(at)) {
			if _, err := tx.exec(ctx, `update tokens set used_at = $1 where id = $2`, micros(at[id]), id); err != nil {
				return err
			}
		}
		return nil
	})
}

// DeleteExpiredTokens implements store.Tokens.
func (s *Store) DeleteExpiredTokens(ctx context.Context, now time.Time) error {
	return s.change(ctx, "delete expired tokens", func(ctx context.Context, tx transaction) error {
		_, err := tx.exec(ctx, `delete from tokens where expires_at <> 0 and expires_at < $1`, micros(now))
		return err
	})
}
