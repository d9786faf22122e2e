package sqlstore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

var (
	erasures = newTable("erasures", "e", `person, asked_by, asked_at, free_text, but, state, done_at`, func(e *store.Erasure) []any {
		return []any{&e.Person, &e.AskedBy, instant{&e.AskedAt}, freeText{&e.Keep}, encoded{&e.But}, &e.State, instant{&e.DoneAt}}
	})
	keepErasure = erasures.update(1)
)

// BeginErasure implements store.PersonalData.
func (s *Store) BeginErasure(ctx context.Context, e store.Erasure) (store.Erasure, error) {
	err := s.change(ctx, "begin an erasure", func(ctx context.Context, tx transaction) error {
		before, there, err := one(ctx, tx, erasures.scan, erasures.read+`where e.person = $1`, e.Person)
		switch {
		case err != nil:
			return err
		case there && before.State == store.ErasureDone:
			return crowd.Errorf(crowd.Conflict, "%s was erased already", e.Person)
		case there:
			e = before
			return nil
		}
		e.State, e.DoneAt = store.ErasureBegun, time.Time{}
		return s.missing(erasures.add(ctx, tx, &e), "there is no user %s", e.Person)
	})
	return e, err
}

// Erasures implements store.PersonalData.
func (s *Store) Erasures(ctx context.Context) ([]store.Erasure, error) {
	return listed(ctx, s, erasures, `where e.state <> 'done' order by e.person`)
}

// Erase implements store.PersonalData.
func (s *Store) Erase(ctx context.Context, id crowd.WorkerID, now time.Time) error {
	return s.change(ctx, "erase a person", func(ctx context.Context, tx transaction) error {
		e, err := erasures.get(ctx, tx, crowd.Errorf(crowd.NotFound, "no erasure of %s was begun", id), `where e.person = $1`, id)
		if err != nil || e.State != store.ErasureBegun {
			return err
		}
		who, err := tracesOf(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := withhold(ctx, tx, who.forms); err != nil {
			return err
		}
		if err := eraseAudit(ctx, tx, store.AuditErasure{Person: id, Addresses: who.addresses, Invited: who.invited}); err != nil {
			return err
		}
		if err := endMadeBy(ctx, tx, id); err != nil {
			return err
		}
		for _, t := range personal {
			for _, text := range t.erase {
				if err := erase(ctx, tx, text, &who); err != nil {
					return err
				}
			}
		}
		if _, err := tx.exec(ctx, `update users set erased_at = $2 where id = $1`, id, micros(now)); err != nil {
			return err
		}
		e.State = store.ErasureRows
		_, err = keepErasure.exec(ctx, tx, &e)
		return err
	})
}

// erase carries out a statement of an erasure, once for each of what the person was called if
// it asks for a name.
func erase(ctx context.Context, tx transaction, text string, who *traces) error {
	names := who.called
	if !strings.Contains(text, "$3") {
		names = []string{""}
	}
	for _, name := range names {
		if _, err := tx.exec(ctx, text, arguments(text, int64(who.id), who.addressesAsText(), name)...); err != nil {
			return err
		}
	}
	return nil
}

// withheldAtOnce is how many answers are read at a time.
const withheldAtOnce = 1000

// withhold takes away the answers to requests that have one of the texts, in lower case, that there
// are for the tenant of the request. Of keys that have one it keeps a digest, so that they are known
// when they come again.
func withhold(ctx context.Context, tx transaction, formsFor func(crowd.TenantID) []string) error {
	forms := make(map[crowd.TenantID][]string)
	after := store.Request{}
	for {
		list, err := requests.list(ctx, tx, `where (r.person, r.tenant, r.request_key) > ($1, $2, $3)
			order by r.person, r.tenant, r.request_key limit $4`, after.Person, after.Tenant, after.Key, withheldAtOnce)
		if err != nil {
			return err
		}
		for _, r := range list {
			after = r
			if forms[r.Tenant] == nil {
				forms[r.Tenant] = formsFor(r.Tenant)
			}
			if !strings.HasPrefix(r.Key, erasedPrefix) && containsAny(r.Key, forms[r.Tenant]) {
				if _, err := tx.exec(ctx, `update requests set request_key = $4 where person = $1 and tenant = $2 and request_key = $3`,
					r.Person, r.Tenant, r.Key, erasedKey(r.Key)); err != nil {
					return err
				}
				r.Key = erasedKey(r.Key)
			}
			if !containsAny(r.Body, forms[r.Tenant]) {
				continue
			}
			if _, err := tx.exec(ctx, `update requests set body = '', location = '', withheld = $4 where person = $1 and tenant = $2 and request_key = $3`,
				r.Person, r.Tenant, r.Key, store.Erased); err != nil {
				return err
			}
		}
		if len(list) < withheldAtOnce {
			return nil
		}
	}
}

// erasedPrefix begins what is kept of a key that named somebody who was erased.
const erasedPrefix = "erased:"

func erasedKey(key string) string {
	sum := sha256.Sum256([]byte(key))
	return erasedPrefix + hex.EncodeToString(sum[:])
}

// deletedRows are rows that were deleted, and are in the files of the database until these are
// written anew.
type deletedRows struct {
	table         string
	of            string // kind of a deletion
	id, tenant, x int64  // of an erasure the person, of a deletion its batch, tenant and run
	at            int64
}

func scanDeletedRows(r row, d *deletedRows) error {
	return r.Scan(&d.table, &d.of, &d.id, &d.tenant, &d.x, &d.at)
}

const allDeletedRows = `select 'erasures', '', person, 0, 0, asked_at from erasures where state = 'rows'
	union all select 'deletions', kind, batch, tenant, run, gone_at from deletions where state = 'rows' and gone_at <= $1
	union all select 'counters', name, 0, 0, 0, last from counters where name = 'resealed'
	order by 1, 2, 3, 4, 5`

// done keeps that they are in no file any more.
func (d *deletedRows) done(ctx context.Context, tx transaction, now time.Time) (err error) {
	switch d.table {
	case "erasures":
		_, err = tx.exec(ctx, `update erasures set state = 'done', done_at = $2 where person = $1 and state = 'rows'`, d.id, micros(now))
	case "deletions":
		_, err = tx.exec(ctx, `update deletions set state = 'done' where kind = $1 and batch = $2 and tenant = $3 and run = $4 and gone_at = $5 and state = 'rows'`,
			d.of, d.id, d.tenant, d.x, d.at)
	default:
		_, err = tx.exec(ctx, noMoreResealed)
	}
	return err
}

// Scrub implements store.PersonalData.
func (s *Store) Scrub(ctx context.Context, now time.Time) error {
	deleted, err := list(ctx, s.read, scanDeletedRows, allDeletedRows, micros(now)) // what is deleted later may stay
	if err == nil {
		known := ""
		if len(deleted) > 0 {
			known = fmt.Sprint(deleted)
		}
		err = s.scrub(ctx, known)
	}
	if err != nil {
		return s.failed("scrub the database", err)
	}
	return s.change(ctx, "end erasures", func(ctx context.Context, tx transaction) error {
		for i := range deleted {
			if err := deleted[i].done(ctx, tx, now); err != nil {
				return err
			}
		}
		return nil
	})
}

// scrub has the files of the database written anew, once no long read goes on, or is cut off.
func (s *Store) scrub(ctx context.Context, deleted string) error {
	if s.dialect.Scrub == nil {
		return nil
	}
	s.scrubbing.Lock()
	defer s.scrubbing.Unlock()
	reopen, err := s.long.clear(ctx, cmp.Or(s.dialect.ReadsEnd, readsEnd))
	if err != nil {
		return err
	}
	defer reopen()
	return s.dialect.Scrub(ctx, deleted)
}

// there is the error about somebody who was erased, about whom nothing new is kept, and
// about who was never there.
func there(ctx context.Context, tx transaction, id crowd.WorkerID) error {
	_, err := first(ctx, tx, noUser(id), number[int64], `select 1 from users where id = $1 and erased_at = 0`, id)
	return err
}
