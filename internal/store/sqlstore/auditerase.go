package sqlstore

import (
	"context"
	"strings"

	"github.com/throng-dev/throng/internal/store"
)

// EraseAudit implements store.Audit.
func (s *Store) EraseAudit(ctx context.Context, who store.AuditErasure) (n int, err error) {
	err = s.change(ctx, "erase details of the audit log", func(ctx context.Context, tx transaction) error {
		n, err = eraseAudit(ctx, tx, who)
		return err
	})
	return n, err
}

// eraseAudit erases first the entries by the person and about them, which may say what they
// were called at the time, and then those that name them.
func eraseAudit(ctx context.Context, tx transaction, who store.AuditErasure) (int, error) {
	x := auditEraser{ctx: ctx, tx: tx, who: who, erased: make(map[int64]bool)}
	err := x.erase(`a.actor = $3 or a.object = $4 or a.kind = 'token'`, who.Person, who.Person.String())
	escape := strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)
	for i := 0; err == nil && i < len(x.who.Texts); i++ {
		err = x.erase(`lower(a.before || a.after) like '%' || lower($3) || '%' escape '\'`, escape.Replace(store.AuditText(x.who.Texts[i])))
	}
	return len(x.erased), err
}

type auditEraser struct {
	ctx    context.Context
	tx     transaction
	who    store.AuditErasure
	erased map[int64]bool
}

// eraseAtOnce is how many entries are read at a time.
const eraseAtOnce = 1000

// erase erases what tells of the person in the entries that a condition holds for.
func (x *auditEraser) erase(condition string, args ...any) error {
	for after := int64(0); ; {
		entries, err := audit.list(x.ctx, x.tx, `where a.number > $1 and (`+condition+`) order by a.number limit $2`, append([]any{after, eraseAtOnce}, args...)...)
		if err != nil {
			return err
		}
		for _, e := range entries {
			after = e.Number
			if !x.who.Erase(&e) {
				continue
			}
			x.erased[e.Number] = true
			if err := keepErased(x.ctx, x.tx, &e); err != nil {
				return err
			}
		}
		if len(entries) < eraseAtOnce {
			return nil
		}
	}
}

// keepErased keeps what is left of an entry of which details were taken away.
func keepErased(ctx context.Context, tx transaction, e *store.AuditEntry) error {
	_, err := tx.exec(ctx, `update audit set address = $2, before = $3, after = $4, salt = $5, address_salt = $6, address_digest = $7, change_digest = $8 where number = $1`,
		e.Number, e.Address, raw{&e.Before}, raw{&e.After}, e.Salt, e.AddressSalt, e.AddressDigest, e.ChangeDigest)
	return err
}
