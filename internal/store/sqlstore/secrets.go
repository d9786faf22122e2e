package sqlstore

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/keyring"
	"github.com/throng-dev/throng/internal/store"
)

// keptSecret is a secret as the database has it.
type keptSecret struct {
	tenant crowd.TenantID // 0: of none
	name   string
	factor int64 // the second factor that it is of; 0: none
	sealed keyring.Sealed
}

// place is to where a secret is bound: who moves a row by hand cannot have it opened. The
// name of a second factor's is that of its owner.
func (k *keptSecret) place() string {
	if k.factor != 0 {
		return fmt.Sprintf("factor\x00%d\x00%s", k.factor, k.name)
	}
	return fmt.Sprintf("%s\x00%s", k.tenant, k.name)
}

func scanSecret(r row, k *keptSecret) error {
	return r.Scan(&k.tenant, &k.name, &k.sealed.Text, &k.sealed.Key, &k.factor)
}

const (
	installationSecrets = `select 0, name, secret, sealed_with, 0 from secrets`
	allSecrets          = installationSecrets + ` union all select tenant, name, secret, sealed_with, 0 from tenant_secrets
		union all select 0, 'u' || user_id, secret, sealed_with, id from factors order by 1, 5, 2`
	oneSecret = installationSecrets + ` where name = $1`
)

// Secret implements store.Outbox.
func (s *Store) Secret(ctx context.Context, name, made string) (string, error) {
	k, ok, err := one(ctx, s.read, scanSecret, oneSecret, name)
	if err != nil {
		return "", s.failed("read secret", err)
	}
	if !ok {
		k.name = name
		sealed := s.keys.Seal(k.place(), made)
		err = s.change(store.Preparing(ctx), "keep secret", func(ctx context.Context, tx transaction) (err error) {
			if _, err = tx.exec(ctx, `insert into secrets (name, secret, sealed_with) values ($1, $2, $3) on conflict (name) do nothing`, name, sealed.Text, sealed.Key); err != nil {
				return err
			}
			k, _, err = one(ctx, tx, scanSecret, oneSecret, name)
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return s.keys.Open(k.place(), k.sealed)
}

// PutTenantSecret implements store.Flows.
func (s *Store) PutTenantSecret(ctx context.Context, tenant crowd.TenantID, t store.TenantSecret) error {
	k := keptSecret{tenant: tenant, name: t.Name}
	k.sealed = s.keys.Seal(k.place(), t.Value)
	return s.change(ctx, "put tenant secret", func(ctx context.Context, tx transaction) error {
		_, known, err := one(ctx, tx, number[int64], `select 1 from tenant_secrets where tenant = $1 and name = $2`, tenant, t.Name)
		if err != nil {
			return err
		}
		_, err = tx.exec(ctx, `insert into tenant_secrets (tenant, name, hosts, secret, sealed_with) values ($1, $2, $3, $4, $5)
			on conflict (tenant, name) do update set hosts = excluded.hosts, secret = excluded.secret, sealed_with = excluded.sealed_with`,
			tenant, t.Name, encoded{&t.Hosts}, k.sealed.Text, k.sealed.Key)
		if err != nil || known {
			return s.missing(err, "there is no tenant %s", tenant)
		}
		return s.chargeCounted(ctx, tx, tenant, store.SecretsKept, 1, time.Time{})
	})
}

func noSecret(tenant crowd.TenantID, name string) error {
	return crowd.Errorf(crowd.NotFound, "%s has no secret named %q", tenant, name)
}

const tenantSecrets = `select name, hosts, secret, sealed_with from tenant_secrets where tenant = $1`

// listedSecret is a secret of a tenant that is not opened yet.
type listedSecret struct {
	store.TenantSecret
	sealed keyring.Sealed
}

func scanTenantSecret(r row, l *listedSecret) error {
	return r.Scan(&l.Name, encoded{&l.Hosts}, &l.sealed.Text, &l.sealed.Key)
}

// TenantSecret implements store.Flows.
func (s *Store) TenantSecret(ctx context.Context, tenant crowd.TenantID, name string) (store.TenantSecret, error) {
	l, err := first(ctx, s.read, noSecret(tenant, name), scanTenantSecret, tenantSecrets+` and name = $2`, tenant, name)
	if err != nil {
		return store.TenantSecret{}, s.failed("read tenant secret", err)
	}
	k := keptSecret{tenant: tenant, name: name, sealed: l.sealed}
	l.Value, err = s.keys.Open(k.place(), k.sealed)
	return l.TenantSecret, err
}

// TenantSecrets implements store.Flows.
func (s *Store) TenantSecrets(ctx context.Context, tenant crowd.TenantID) ([]store.TenantSecret, error) {
	all, err := list(ctx, s.read, func(r row, t *store.TenantSecret) error {
		var l listedSecret
		err := scanTenantSecret(r, &l)
		*t = l.TenantSecret
		return err
	}, tenantSecrets+` order by name`, tenant)
	return all, s.failed("list tenant secrets", err)
}

// DeleteTenantSecret implements store.Flows.
func (s *Store) DeleteTenantSecret(ctx context.Context, tenant crowd.TenantID, name string) error {
	return s.change(ctx, "delete tenant secret", func(ctx context.Context, tx transaction) error {
		return tx.must(ctx, noSecret(tenant, name), `delete from tenant_secrets where tenant = $1 and name = $2`, tenant, name)
	})
}

// The row of counters that is there while the files of the database have what secrets were
// before they were sealed anew. It comes in the transaction that seals them, so that a crash
// before the files were written anew is known.
const (
	noteResealed   = `insert into counters (name, last) values ('resealed', 1) on conflict (name) do nothing`
	resealedBefore = `select last from counters where name = 'resealed'`
	noMoreResealed = `delete from counters where name = 'resealed'`
)

// Reseal seals with the first key of the ring what is sealed with another one or lies
// in the clear, and writes the files of the database anew if there was any, or if that was
// not done before. It fails, and changes nothing, if one of the secrets cannot be opened.
// Files that cannot be written anew now, since somebody reads them or there is no room, are
// no error: Unscrubbed has them written anew later.
func (s *Store) Reseal(ctx context.Context) error {
	var pending bool
	err := s.change(ctx, "seal secrets", func(ctx context.Context, tx transaction) (err error) {
		if _, pending, err = one(ctx, tx, number[int64], resealedBefore); err != nil {
			return err
		}
		n := 0
		err = s.eachSecret(ctx, tx, func(k *keptSecret) error {
			if k.sealed.Key == s.keys.Current() {
				return nil
			}
			plain, err := s.keys.Open(k.place(), k.sealed)
			if err != nil {
				return err
			}
			n++
			again := s.keys.Seal(k.place(), plain)
			return k.change(ctx, tx, `update secrets set secret = $2, sealed_with = $3`, again.Text, again.Key)
		})
		if err != nil || n == 0 {
			return err
		}
		pending = true
		_, err = tx.exec(ctx, noteResealed)
		return err
	})
	if err != nil {
		return fmt.Errorf("%w: give that key, too (throng serve --key-file), or delete what it sealed (throng key forget)", err)
	}
	if !pending || s.scrub(ctx, "resealed") != nil {
		return nil
	}
	return s.change(ctx, "end sealing secrets", func(ctx context.Context, tx transaction) error {
		_, err := tx.exec(ctx, noMoreResealed)
		return err
	})
}

// SealedWith counts the secrets by the id of the key that they are sealed with; "": they
// lie in the clear.
func (s *Store) SealedWith(ctx context.Context) (map[string]int, error) {
	all, err := list(ctx, s.read, scanSecret, allSecrets)
	counts := make(map[string]int)
	for i := range all {
		counts[all[i].sealed.Key]++
	}
	return counts, s.failed("list secrets", err)
}

// ForgetSealed deletes the secrets that none of the keys opens, and returns their names,
// a tenant's with the tenant: for keys that are lost.
func (s *Store) ForgetSealed(ctx context.Context, keys *keyring.Ring) (forgotten []string, err error) {
	err = s.change(ctx, "forget secrets", func(ctx context.Context, tx transaction) error {
		return s.eachSecret(ctx, tx, func(k *keptSecret) error {
			if _, err := keys.Open(k.place(), k.sealed); err == nil {
				return nil
			}
			name := k.name
			switch {
			case k.tenant != 0:
				name = k.tenant.String() + " " + name
			case k.factor != 0:
				name = "second factor of " + name
			}
			forgotten = append(forgotten, name)
			return k.change(ctx, tx, `delete from secrets`)
		})
	})
	return forgotten, err
}

func (s *Store) eachSecret(ctx context.Context, tx transaction, do func(*keptSecret) error) error {
	all, err := list(ctx, tx, scanSecret, allSecrets)
	for i := range all {
		if err == nil {
			err = do(&all[i])
		}
	}
	return err
}

// change makes a statement on secrets, whose parameters begin with $2, on the row.
func (k *keptSecret) change(ctx context.Context, tx transaction, statement string, args ...any) error {
	if k.factor != 0 {
		_, err := tx.exec(ctx, strings.Replace(statement, "secrets", "factors", 1)+` where id = $1`, append([]any{k.factor}, args...)...)
		return err
	}
	args = append([]any{k.name}, args...)
	where := ` where name = $1`
	if k.tenant != 0 {
		args = append(args, k.tenant)
		statement = strings.Replace(statement, "secrets", "tenant_secrets", 1)
		where += fmt.Sprintf(` and tenant = $%d`, len(args))
	}
	_, err := tx.exec(ctx, statement+where, args...)
	return err
}
