package sqlstore

import (
	"context"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/keyring"
	"github.com/throng-dev/throng/internal/store"
)

// keptFactor is a factor as the database has it.
type keptFactor struct {
	store.Factor
	sealed keyring.Sealed
}

var factors = newTable("factors", "f", `id, user_id, kind, name, secret, sealed_with, credential, counter, created_at, confirmed_at, used_at`, func(f *keptFactor) []any {
	return []any{&f.ID, &f.User, &f.Kind, &f.Name, &f.sealed.Text, &f.sealed.Key, &f.Credential, &f.Counter, instant{&f.CreatedAt}, instant{&f.ConfirmedAt}, instant{&f.UsedAt}}
})

func (f *keptFactor) place() string {
	k := keptSecret{factor: f.ID, name: f.User.String()}
	return k.place()
}

// CreateFactor implements store.Factors.
func (s *Store) CreateFactor(ctx context.Context, f store.Factor, codes []string) (int64, error) {
	k := keptFactor{Factor: f}
	return create(ctx, s, "create factor", &k.ID, func(ctx context.Context, tx transaction) (err error) {
		if _, err := tx.exec(ctx, `delete from factors where user_id = $1 and confirmed_at = 0`, f.User); err != nil {
			return err
		}
		if k.ID, err = newID(ctx, tx, "factor"); err != nil {
			return err
		}
		k.sealed = s.keys.Seal(k.place(), f.Secret)
		if err := factors.add(ctx, tx, &k); err != nil {
			return s.missing(err, "there is no user %s", f.User)
		}
		return replaceCodes(ctx, tx, f.User, codes)
	})
}

// replaceCodes replaces somebody's recovery codes, if there are any new ones.
func replaceCodes(ctx context.Context, tx transaction, user crowd.WorkerID, hashes []string) error {
	if len(hashes) == 0 {
		return nil
	}
	if _, err := tx.exec(ctx, `delete from recovery_codes where user_id = $1`, user); err != nil {
		return err
	}
	for _, h := range hashes {
		if _, err := tx.exec(ctx, `insert into recovery_codes (user_id, hash) values ($1, $2)`, user, h); err != nil {
			return err
		}
	}
	return nil
}

func noFactor(user crowd.WorkerID, id int64) error {
	return crowd.Errorf(crowd.NotFound, "%s has no second factor %d", user, id)
}

// ConfirmFactor implements store.Factors.
func (s *Store) ConfirmFactor(ctx context.Context, f store.Factor, codes []string) error {
	return s.change(ctx, "confirm factor", func(ctx context.Context, tx transaction) error {
		k := keptFactor{Factor: f}
		k.sealed = s.keys.Seal(k.place(), f.Secret)
		if err := tx.must(ctx, noFactor(f.User, f.ID), `update factors set secret = $1, sealed_with = $2, credential = $3, counter = $4, confirmed_at = $5
			where id = $6 and user_id = $7 and confirmed_at = 0`, k.sealed.Text, k.sealed.Key, f.Credential, f.Counter, micros(f.ConfirmedAt), f.ID, f.User); err != nil {
			return s.taken(err, "passkey", "somebody has this passkey already")
		}
		return replaceCodes(ctx, tx, f.User, codes)
	})
}

// Factors implements store.Factors.
func (s *Store) Factors(ctx context.Context, user crowd.WorkerID) ([]store.Factor, error) {
	kept, err := listed(ctx, s, factors, `where f.user_id = $1 order by f.id`, user)
	var all []store.Factor
	for i := range kept {
		k := &kept[i]
		if k.Secret, err = s.keys.Open(k.place(), k.sealed); err != nil {
			return nil, err
		}
		all = append(all, k.Factor)
	}
	return all, err
}

// FactorByCredential implements store.Factors.
func (s *Store) FactorByCredential(ctx context.Context, credential string) (store.Factor, error) {
	kept, err := listed(ctx, s, factors, `where f.credential = $1 and f.credential <> ''`, credential)
	if err != nil {
		return store.Factor{}, err
	}
	if len(kept) == 0 {
		return store.Factor{}, crowd.Errorf(crowd.NotFound, "there is no such passkey")
	}
	k := &kept[0]
	k.Secret, err = s.keys.Open(k.place(), k.sealed)
	return k.Factor, err
}

// UseFactor implements store.Factors.
func (s *Store) UseFactor(ctx context.Context, f store.Factor) error {
	return s.change(ctx, "use factor", func(ctx context.Context, tx transaction) error { return useFactor(ctx, tx, f) })
}

func useFactor(ctx context.Context, tx transaction, f store.Factor) error {
	return tx.must(ctx, store.ErrUsed, `update factors set counter = $1, used_at = $2
		where id = $3 and user_id = $4 and confirmed_at <> 0 and (counter < $1 or counter = 0 and $1 = 0)`, f.Counter, micros(f.UsedAt), f.ID, f.User)
}

// UsePasskey implements store.Factors.
func (s *Store) UsePasskey(ctx context.Context, f store.Factor, challenge string, expires time.Time) error {
	return s.change(ctx, "use passkey", func(ctx context.Context, tx transaction) error {
		return usePasskey(ctx, tx, f, challenge, expires)
	})
}

func usePasskey(ctx context.Context, tx transaction, f store.Factor, challenge string, expires time.Time) error {
	if _, err := tx.exec(ctx, `delete from spent_challenges where expires_at <= $1`, micros(f.UsedAt)); err != nil {
		return err
	}
	if err := tx.must(ctx, store.ErrAnswered, `insert into spent_challenges (hash, expires_at) values ($1, $2) on conflict do nothing`, challenge, micros(expires)); err != nil {
		return err
	}
	return useFactor(ctx, tx, f)
}

// useShown uses up what somebody has shown for the change that the transaction makes.
func (s *Store) useShown(ctx context.Context, tx transaction, x *store.Shown) error {
	if err := s.stands(ctx, tx, x.User, x.Basis, false); err != nil {
		return err
	}
	switch {
	case x.Challenge != "":
		return usePasskey(ctx, tx, x.Factor, x.Challenge, x.Expires)
	case x.Factor.ID != 0:
		return useFactor(ctx, tx, x.Factor)
	case x.Recovery != "":
		return useRecovery(ctx, tx, x.User, x.Recovery)
	}
	return nil
}

func useRecovery(ctx context.Context, tx transaction, user crowd.WorkerID, hash string) error {
	return tx.must(ctx, store.ErrUsed, `delete from recovery_codes where user_id = $1 and hash = $2`, user, hash)
}

// DeleteFactor implements store.Factors.
func (s *Store) DeleteFactor(ctx context.Context, user crowd.WorkerID, id int64) error {
	return s.change(ctx, "delete factor", func(ctx context.Context, tx transaction) error {
		if err := tx.must(ctx, noFactor(user, id), `delete from factors where id = $1 and user_id = $2`, id, user); err != nil {
			return err
		}
		_, err := tx.exec(ctx, `delete from recovery_codes where user_id = $1
			and not exists (select 1 from factors where user_id = $1 and confirmed_at <> 0)`, user)
		return err
	})
}

// deleteFactors takes all of a person's factors and recovery codes away.
func deleteFactors(ctx context.Context, tx transaction, user crowd.WorkerID) error {
	_, err := tx.exec(ctx, `delete from factors where user_id = $1`, user)
	if err == nil {
		_, err = tx.exec(ctx, `delete from recovery_codes where user_id = $1`, user)
	}
	return err
}

// PutRecoveryCodes implements store.Factors.
func (s *Store) PutRecoveryCodes(ctx context.Context, user crowd.WorkerID, hashes []string) error {
	return s.change(ctx, "put recovery codes", func(ctx context.Context, tx transaction) error {
		return s.missing(replaceCodes(ctx, tx, user, hashes), "there is no user %s", user)
	})
}

// UseRecoveryCode implements store.Factors.
func (s *Store) UseRecoveryCode(ctx context.Context, user crowd.WorkerID, hash string, session *store.Token) error {
	return s.change(ctx, "use recovery code", func(ctx context.Context, tx transaction) error {
		err := useRecovery(ctx, tx, user, hash)
		if err != nil || session == nil {
			return err
		}
		return s.addToken(ctx, tx, session)
	})
}

// RecoveryCodes implements store.Factors.
func (s *Store) RecoveryCodes(ctx context.Context, user crowd.WorkerID) (int, error) {
	n, _, err := one(ctx, s.read, number[int64], `select count(*) from recovery_codes where user_id = $1`, user)
	return int(n), s.failed("count recovery codes", err)
}
