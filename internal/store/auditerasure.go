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
	Person crowd.WorkerID
	Texts  []string // names and addresses of theirs, those that they had before too
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

// names reports whether the entry's change has one of the texts, as whole words.
func (x *AuditErasure) names(e *AuditEntry) bool {
	changed := strings.ToLower(lineEnds.Replace(string(e.Before) + "\n" + string(e.After)))
	return slices.ContainsFunc(x.Texts, func(text string) bool {
		return text != "" && containsWord(changed, strings.ToLower(AuditText(text)))
	})
}

// containsWord reports whether text has a word that does not go on before or after it.
func containsWord(text, word string) bool {
	goesOn := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	for {
		i := strings.Index(text, word)
		if i < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+len(word):])
		if !goesOn(before) && !goesOn(after) {
			return true
		}
		_, skip := utf8.DecodeRuneInString(text[i:])
		text = text[i+skip:]
	}
}
