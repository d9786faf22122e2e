package sqlstore

import (
	"context"
	"encoding/json"
	"html"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/store"
)

// traces are what names a person. What they call themselves may be anything, the address of
// somebody else or a word that the audit log has everywhere: it says what a text may be about, for
// people to look at, and is no proof of what is theirs.
type traces struct {
	id        crowd.WorkerID
	called    []string // names and addresses, each once, those of before as far as the audit log tells, and what a provider calls them
	addresses []string // that were shown to be theirs
	invited   []store.InvitedTo
	pay       []crowd.AssignmentID // about whose pay something was said by them or to them
}

func tracesOf(ctx context.Context, tx querier, id crowd.WorkerID) (traces, error) {
	who := traces{id: id}
	type user struct {
		name, fullName string
		address        store.ProvenAddress
	}
	now, err := first(ctx, tx, noUser(id), func(r row, x *user) error {
		return r.Scan(&x.name, &x.fullName, &x.address.Email, &x.address.EmailVerified)
	}, `select name, full_name, email, email_verified from users where id = $1`, id)
	if err != nil {
		return who, err
	}
	add := func(list *[]string, more ...string) {
		for _, x := range more {
			if x != "" && !slices.Contains(*list, x) {
				*list = append(*list, x)
			}
		}
	}
	add(&who.called, now.name, now.fullName, now.address.Email)
	entries, err := audit.list(ctx, tx, `where a.object = $1 and a.kind = 'user' order by a.number`, id.String())
	if err != nil {
		return who, err
	}
	add(&who.addresses, now.address.Proven()...)
	for i := range slices.Backward(entries) {
		add(&who.called, entries[i].Called()...)
		now.address = entries[i].AddressBefore(now.address)
		add(&who.addresses, now.address.Proven()...)
	}
	who.invited, err = list(ctx, tx, func(r row, x *store.InvitedTo) error { return r.Scan(&x.Tenant, &x.Address) }, `select tenant, address from invitations where worker = $1`, id)
	if err != nil {
		return who, err
	}
	for _, x := range who.invited {
		add(&who.called, x.Address)
	}
	if who.pay, err = list(ctx, tx, number[crowd.AssignmentID], `select distinct assignment from pay_texts where `+payTexts+` order by assignment`, id); err != nil {
		return who, err
	}
	others, err := list(ctx, tx, func(r row, x *string) error { return r.Scan(x) }, `select address from asked_addresses where user_id = $1
		union select target from messages where worker = $1 and invitation = 0 and channel = 'mail'`, id)
	if err != nil {
		return who, err
	}
	add(&who.called, others...)
	records, err := provisioned.list(ctx, tx, `where p.user_id = $1`, id)
	for i := range records {
		add(&who.called, records[i].UserName)
		for _, e := range records[i].Profile.Emails {
			add(&who.called, e.Value)
		}
	}
	return who, err
}

// addressesAsText has the addresses in lower case and as addresses are looked for, each between
// the ends of lines, which no address has.
func (t *traces) addressesAsText() string {
	return strings.Join(lists.Map(t.addresses, func(x string) string { return "\n" + strings.ToLower(x) + "\n" + addressKey(x) + "\n" }), "")
}

// leastTrace is of how many letters a name must be to be looked for in texts: shorter ones are
// parts of other words.
const leastTrace = 4

// forms are the ways in which an answer to a tenant's request may name the person, in lower case:
// by their id in JSON, by the answers about whose pay something was said, which tell it, and by their addresses, as plain text, in JSON with and without escapes for
// HTML, and in HTML. What they call themselves may be in any answer.
func (t *traces) forms(tenant crowd.TenantID) []string {
	forms, addresses := []string{strconv.Quote(t.id.String())}, t.addresses
	for _, id := range t.pay {
		forms = append(forms, strconv.Quote(id.String()))
	}
	for _, i := range t.invited {
		if i.Tenant == tenant {
			addresses = append(addresses[:len(addresses):len(addresses)], i.Address)
		}
	}
	for _, x := range addresses {
		inHTML, _ := json.Marshal(x) // of a text there is no error
		for _, form := range []string{x, store.AuditText(x), string(inHTML[1 : len(inHTML)-1]), html.EscapeString(x)} {
			if form = strings.ToLower(form); !slices.Contains(forms, form) {
				forms = append(forms, form)
			}
		}
	}
	return forms
}

// long has those of the names that can be looked for.
func (t *traces) long() []string {
	return lists.Filter(t.called, func(x string) bool { return utf8.RuneCountInString(x) >= leastTrace })
}

func (t *traces) in(text string) bool {
	return containsAny(text, lists.Map(t.long(), strings.ToLower))
}

// containsAny reports whether a text has one of some others, which are in lower case.
func containsAny(text string, of []string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(of, func(x string) bool { return strings.Contains(text, x) })
}
