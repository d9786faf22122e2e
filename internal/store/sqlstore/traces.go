package sqlstore

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"unicode"
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

const (
	// leastTrace is of how many letters a name must be to be looked for anywhere in texts: shorter
	// ones are parts of other words, and are looked for as words.
	leastTrace = 4
	// leastWord is of how many letters it must be for that.
	leastWord = 2
)

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
		for _, form := range textForms(x) {
			if !slices.Contains(forms, form) {
				forms = append(forms, form)
			}
		}
	}
	return forms
}

// in reports whether a text has one of the names.
func (t *traces) in(text string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(t.called, func(name string) bool {
		name = strings.ToLower(name)
		switch n := utf8.RuneCountInString(name); {
		case n < leastWord:
			return false
		case n < leastTrace:
			return hasWord(text, name)
		}
		return strings.Contains(text, name)
	})
}

// hasWord reports whether a text has a word that is no part of a longer one.
func hasWord(text, word string) bool {
	isPart := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }
	for at := 0; ; {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return false
		}
		i += at
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, size := utf8.DecodeRuneInString(text[i+len(word):])
		if (i == 0 || !isPart(before)) && (size == 0 || !isPart(after)) {
			return true
		}
		at = i + len(word)
	}
}

// containsAny reports whether a text has one of some others, which are in lower case.
func containsAny(text string, of []string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(of, func(x string) bool { return strings.Contains(text, x) })
}
