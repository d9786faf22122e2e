package scim

import (
	"encoding/json"
	"reflect"
	"testing"
)

// ada is a person of the fuzz targets.
func ada() document {
	return document{
		"id": "7", "userName": "Ada@Example.org", "externalId": "X", "active": true, "name": document{"givenName": "Ada"},
		"emails": []any{document{"value": "a@b.example", "type": "work", "primary": true}, document{"value": "c@d.example", "type": "home", "primary": false}},
		"meta":   document{"created": "2026-01-02T03:04:05Z"},
	}
}

// TestFilters says of which filters ada is, and which are none.
func TestFilters(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`userName eq "ada@example.org"`:                                "yes", // without case
		`USERNAME EQ "ada@example.org"`:                                "yes",
		`externalId eq "x"`:                                            "no", // with case
		`userName ne "x"`:                                              "yes",
		`userName co "EXAMPLE"`:                                        "yes",
		`userName sw "ada" and userName ew ".org"`:                     "yes",
		`userName gt "a" and userName lt "b"`:                          "yes",
		`userName ge "b" or userName le "ada@example.org"`:             "yes",
		`active eq true`:                                               "yes",
		`active eq "False"`:                                            "no",
		`active ne False`:                                              "yes",
		`displayName pr`:                                               "no",
		`displayName eq null`:                                          "yes",
		`userName ne null`:                                             "yes",
		`not (displayName pr)`:                                         "yes",
		`name.givenName eq "ada"`:                                      "yes",
		`name pr and name.familyName eq null`:                          "yes",
		`emails eq "c@d.example"`:                                      "yes",
		`emails.type eq "home"`:                                        "yes",
		`emails[type eq "work"]`:                                       "yes",
		`emails[type eq "work" and value co "@d"]`:                     "no",
		`emails[type eq "work" or (value co "@d")]`:                    "yes",
		`emails[type eq "home"].value eq "c@d.example"`:                "yes",
		`emails[not (primary eq true)].value sw "c"`:                   "yes",
		`emails.primary eq true`:                                       "yes",
		`meta.created lt "2026-01-02T04:04:05+01:00"`:                  "no",
		`meta.created le "2026-01-02T04:04:05+01:00"`:                  "yes",
		`userName eq "x" or userName sw "ada" and active eq true`:      "yes", // and binds more
		`(userName eq "x" or userName sw "ada") and active eq false`:   "no",
		`urn:ietf:params:scim:schemas:core:2.0:User:userName sw "ada"`: "yes",
		`userName eq "\u0041da@example.org"`:                           "yes",
		`userName eq "a\"b"`:                                           "no",
		` ( userName  sw  "ada" ) `:                                    "yes",
		`(userName sw "ada")and(active eq true)`:                       "yes",
		``:                                                             "error",
		`userName`:                                                     "error",
		`userName eq`:                                                  "error",
		`userName eq ada`:                                              "error",
		`userName eq 'ada'`:                                            "error",
		`userName eq 7`:                                                "error",
		`userName eq true`:                                             "error",
		`userName eq ["x"]`:                                            "error",
		`userName is "x"`:                                              "error",
		`userName eq "x" and`:                                          "error",
		`userName eq "x" userName`:                                     "error",
		`(userName eq "x"`:                                             "error",
		`userName eq "x")`:                                             "error",
		`not userName eq "x"`:                                          "error",
		`emails[type eq "work"`:                                        "error",
		`emails[userName eq "x"]`:                                      "error",
		`name eq "ada"`:                                                "error",
		`active gt true`:                                               "error",
		`active eq "perhaps"`:                                          "error",
		`meta.created gt "yesterday"`:                                  "error",
		`displayName gt null`:                                          "error",
		`title eq "x"`:                                                 "error",
		`urn:ietf:params:scim:schemas:core:2.0:Group:displayName eq "x"`: "error",
	} {
		got := "error"
		if c, err := parseFilter(text, users); err == nil {
			if got = "no"; c.holds(ada()) {
				got = "yes"
			}
		} else if f := failureOf(err); f.status != 400 || f.kind != "invalidFilter" {
			t.Errorf("%s: %+v", text, f)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	deep, most := "", ""
	for range maxDepth + 1 {
		deep += "("
	}
	most = deep[1:] + `active pr`
	for range maxDepth {
		most += ")"
	}
	if _, err := parseFilter(most, users); err != nil {
		t.Errorf("%s: %v", most, err)
	}
	if _, err := parseFilter(deep+"active pr", users); err == nil {
		t.Error("parentheses have no bound")
	}
}

// TestPaths has what each path means.
func TestPaths(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"userName": "userName", "NAME.FamilyName": "name.familyName", `emails[type eq "work"].value`: "emails[].value", `emails[primary eq true]`: "emails[]",
		"urn:ietf:params:scim:schemas:core:2.0:User:name.givenName": "name.givenName",
		"title": "unknown", "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department": "unknown", `addresses[type eq "work"].country`: "unknown",
		"name.nickName": "unknown", "": "error", "emails[": "error", "emails[].value": "error", "userName.": "error", "name..x": "error", "userName eq": "error", `name[givenName eq "x"]`: "error",
	} {
		got := ""
		at, err := parsePath(text, users)
		var not *unknown
		switch {
		case err == nil:
			got = at.attribute.name
			if at.where != nil {
				got += "[]"
			}
			if at.part != nil {
				got += "." + at.part.name
			}
		case reflect.TypeOf(err) == reflect.TypeOf(not):
			got = "unknown"
		default:
			got = "error"
		}
		if got != want {
			t.Errorf("%q: %s, want %s: %v", text, got, want, err)
		}
	}
}

// FuzzFilter: what is read can be asked of a person, whatever it is.
func FuzzFilter(f *testing.F) {
	for _, s := range []string{`userName eq "x"`, `emails[type eq "work" and not (value co "@")].value pr or active ne False`, `meta.created gt "2026-01-02T03:04:05Z"`, `((`, `urn:ietf:params:scim:schemas:core:2.0:User:a`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseFilter(text, users)
		if err != nil {
			if failureOf(err).status != 400 {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		not := condition{op: "not", left: c}
		if c.holds(ada()) == not.holds(ada()) || c.holds(document{}) == not.holds(document{}) {
			t.Fatalf("%q holds and does not", text)
		}
		for name, value := range c.exactly() { // what is looked up leaves out nobody of whom it holds
			doc := ada()
			if name == "userName" && c.holds(doc) && !(&condition{op: "eq", at: target{attribute: find(users.all(), name)}, value: value}).holds(doc) {
				t.Fatalf("%q is looked up by %s %q", text, name, value)
			}
		}
	})
}

// FuzzPatch: whatever is sent, a document is left of which all is of its kind, or a reason
// is given and the original is as it was.
func FuzzPatch(f *testing.F) {
	for _, s := range []string{
		`{"Operations":[{"op":"Replace","path":"active","value":"False"}]}`,
		`{"Operations":[{"op":"add","path":"emails[type eq \"x\"].value","value":"e@f.example"},{"op":"remove","path":"emails[primary eq true]"}]}`,
		`{"Operations":[{"op":"replace","value":{"name.givenName":"x","emails":[{"value":"y","primary":true}],"urn:ietf:params:scim:schemas:core:2.0:User":{"userName":"z"}}}]}`,
		`{"userName":"x","emails":{"value":"y"},"name":{"formatted":null}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var body document
		if json.Unmarshal(raw, &body) != nil {
			return
		}
		for _, of := range []*resource{users, groups} {
			if doc, err := read(body, of.all()); err == nil {
				valid(t, doc, of.all())
			}
			list, err := operationsOf(body)
			if err != nil {
				continue
			}
			doc := ada()
			if of == groups {
				doc = document{"displayName": "x", "members": []any{document{"value": "1"}, document{"value": "2"}}}
			}
			fixed := doc["id"]
			if patch(doc, list, of) == nil {
				valid(t, doc, of.all())
				if !reflect.DeepEqual(doc["id"], fixed) {
					t.Fatalf("the id is %v", doc["id"])
				}
			}
		}
	})
}

// valid checks that a document has known attributes of the right kinds only.
func valid(t *testing.T, doc document, list []*attribute) {
	for name, v := range doc {
		a := find(list, name)
		if a == nil || a.name != name {
			t.Fatalf("there is %q", name)
		}
		values := []any{v}
		if a.many {
			var ok bool
			if values, ok = v.([]any); !ok {
				t.Fatalf("%s is %T", name, v)
			}
		}
		for _, v := range values {
			ok := false
			switch x := v.(type) {
			case string:
				ok = a.kind != boolean && a.kind != complex
			case bool:
				ok = a.kind == boolean
			case document:
				ok = a.kind == complex
				valid(t, x, a.parts)
			}
			if !ok {
				t.Fatalf("%s has a %T", name, v)
			}
		}
	}
}
