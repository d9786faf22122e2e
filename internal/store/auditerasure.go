package store

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/throng-dev/throng/crowd"
)

// AuditErasure says of whom the details of entries are erased.
type AuditErasure struct {
	Person    crowd.WorkerID
	Addresses []string // known to be theirs, those that they had before too
	Invited   []InvitedTo
}

// InvitedTo is an invitation that a person accepted. That its address is theirs is the tenant's
// word, and holds for what the tenant did with invitations.
type InvitedTo struct {
	Tenant  crowd.TenantID
	Address string
}

// ProvenAddress is an address of an account, and whether it was shown to be its owner's.
type ProvenAddress struct {
	Email         string
	EmailVerified bool
}

// Proven is the address, if it was shown to be its owner's.
func (a ProvenAddress) Proven() []string {
	if a.Email == "" || !a.EmailVerified {
		return nil
	}
	return []string{a.Email}
}

// AddressBefore returns what was before an entry about a person, given what was after it.
func (e *AuditEntry) AddressBefore(after ProvenAddress) ProvenAddress {
	var was, is struct {
		Email    *string `json:"email"`
		Verified *bool   `json:"email_verified"`
	}
	if e.Kind != "user" || json.Unmarshal(orEmpty(e.Before), &was) != nil || json.Unmarshal(orEmpty(e.After), &is) != nil {
		return after
	}
	if was.Email != nil || is.Email != nil { // else it stayed as it was
		after.Email = ""
	}
	if was.Email != nil {
		after.Email = *was.Email
	}
	if was.Verified != nil || is.Verified != nil {
		after.EmailVerified = was.Verified != nil && *was.Verified
	}
	return after
}

func orEmpty(part json.RawMessage) json.RawMessage {
	if len(part) == 0 {
		return json.RawMessage("{}")
	}
	return part
}

// Called returns what an entry about a person calls them: names and addresses.
func (e *AuditEntry) Called() (texts []string) {
	if e.Kind != "user" {
		return nil
	}
	for _, part := range []json.RawMessage{e.Before, e.After} {
		var called struct {
			Name     string `json:"name"`
			FullName string `json:"full_name"`
			Email    string `json:"email"`
		}
		if json.Unmarshal(part, &called) == nil { // else there is nothing, or no object
			texts = append(texts, called.Name, called.FullName, called.Email)
		}
	}
	return slices.DeleteFunc(texts, func(x string) bool { return x == "" })
}

// AuditText is a text as the JSON of entries has it.
func AuditText(text string) string {
	quoted := canonical(text)
	return string(quoted[1 : len(quoted)-1])
}

// AuditNote is how the change of an entry says a text as a note.
func AuditNote(text string) string { return `"note":` + string(canonical(brief(text))) }

// Erase takes away from an entry what tells of the person, and reports whether there was
// something.
func (x *AuditErasure) Erase(e *AuditEntry) bool {
	before := *e
	named := x.names(e)
	if e.Actor == x.Person || named && e.Actor == 0 { // who declines an invitation has not signed in
		if e.Address != "" {
			e.EraseAddress()
		}
	}
	if (named || x.about(e)) && len(e.Before)+len(e.After) > 0 {
		e.EraseChange()
	}
	return e.AddressDigest != before.AddressDigest || e.ChangeDigest != before.ChangeDigest
}

// about reports whether the entry is about the person, or something that only they have.
func (x *AuditErasure) about(e *AuditEntry) bool {
	switch e.Kind {
	case "user", "worker":
		return e.Object == x.Person.String()
	case "session":
		return e.Actor == x.Person
	case "token":
		var of struct {
			User crowd.WorkerID `json:"user"`
		}
		for _, part := range []json.RawMessage{e.Before, e.After} {
			if json.Unmarshal(part, &of) == nil && of.User == x.Person {
				return true
			}
		}
	}
	return false
}

// lineEnds stand for what separates words in JSON, where they end with a letter.
var lineEnds = strings.NewReplacer(`\\`, `\\`, `\n`, " ", `\r`, " ", `\t`, " ")

// names reports whether the entry's change has one of the addresses.
func (x *AuditErasure) names(e *AuditEntry) bool {
	changed := strings.ToLower(lineEnds.Replace(string(e.Before) + "\n" + string(e.After)))
	has := func(address string) bool {
		return address != "" && containsAddress(changed, strings.ToLower(AuditText(address)))
	}
	return slices.ContainsFunc(x.Addresses, has) || (e.Kind == "invitation" || e.Kind == "invitations") &&
		slices.ContainsFunc(x.Invited, func(i InvitedTo) bool { return i.Tenant == e.Tenant && has(i.Address) })
}

// containsAddress reports whether text has an address that is no part of another one: a dot after it
// may be the end of a sentence.
func containsAddress(text, word string) bool {
	goesOn := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("!#$%&'*+-/=?^_`{|}~@.", r)
	}
	for {
		i := strings.Index(text, word)
		if i < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		rest := strings.TrimPrefix(text[i+len(word):], ".")
		after, _ := utf8.DecodeRuneInString(rest)
		if !goesOn(before) && !goesOn(after) {
			return true
		}
		_, skip := utf8.DecodeRuneInString(text[i:])
		text = text[i+skip:]
	}
}
