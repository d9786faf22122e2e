package sqlstore

import (
	"context"
	"strings"
	"unicode"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// eraseAudit takes away the details of entries that tell of a person: addresses from which they
// acted, what was changed of them, and what has an address of theirs. The entries stay, and verify.
func eraseAudit(ctx context.Context, tx transaction, who store.AuditErasure) error {
	x := auditEraser{ctx, tx, who}
	err := x.erase(`a.actor = $3 or a.object = $4 or a.kind = 'token'`, who.Person, who.Person.String())
	escape := strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)
	addresses := who.Addresses
	for _, i := range who.Invited {
		addresses = append(addresses[:len(addresses):len(addresses)], i.Address)
	}
	for i := 0; err == nil && i < len(addresses); i++ {
		err = x.erase(`lower(a.before || a.after) like '%' || $3 || '%' escape '\'`, escape.Replace(asciiPart(store.AuditText(addresses[i]))))
	}
	return err
}

// asciiPart returns the longest part of a text that is ASCII, in lower case: SQLite knows no
// lower case of anything else. Where there is none, it is in every text.
func asciiPart(text string) string {
	longest := ""
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r > unicode.MaxASCII }) {
		if len(part) > len(longest) {
			longest = part
		}
	}
	return strings.ToLower(longest)
}

// eraseAuditNote takes away the change of entries in which somebody said a text as a note.
func eraseAuditNote(ctx context.Context, tx transaction, author crowd.WorkerID, text string) error {
	said := store.AuditNote(text)
	entries, err := audit.list(ctx, tx, `where a.actor = $1 and replace(a.before || a.after, $2, '') <> a.before || a.after order by a.number`, author, said)
	for i := range entries {
		if err != nil {
			break
		}
		entries[i].EraseChange()
		err = keepErased(ctx, tx, &entries[i])
	}
	return err
}

type auditEraser struct {
	ctx context.Context
	tx  transaction
	who store.AuditErasure
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
