package scim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/store"
)

// base is the address under which resources are.
type base string

func (b base) of(t *resource, id int64) string { return fmt.Sprintf("%s/%s/%d", b, t.path, id) }

// meta is what every resource says of itself. Its version changes with it.
func (b base) meta(t *resource, id int64, created, changed time.Time, state string) document {
	return document{
		"resourceType": t.name, "created": created.UTC().Format(time.RFC3339Nano), "lastModified": changed.UTC().Format(time.RFC3339Nano),
		"location": b.of(t, id), "version": `W/"` + strconv.FormatInt(changed.UnixMicro(), 36) + state + `"`,
	}
}

// put adds texts that are not empty to a document.
func put(doc document, pairs ...string) document {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			doc[pairs[i]] = pairs[i+1]
		}
	}
	return doc
}

// person is the document of a person.
func (b base) person(x *accounts.ProvisionedPerson) document {
	state := ""
	if !x.Active {
		state = "s"
	}
	doc := document{"schemas": []any{userSchema}, "id": strconv.FormatInt(x.ID, 10), "active": x.Active, "meta": b.meta(users, x.ID, x.CreatedAt, x.ChangedAt, state)}
	put(doc, "externalId", x.ExternalID, "userName", x.UserName, "displayName", x.Profile.DisplayName)
	if name := put(document{}, "formatted", x.Profile.FullName, "givenName", x.Profile.GivenName, "familyName", x.Profile.FamilyName); len(name) > 0 {
		doc["name"] = name
	}
	var emails, in []any
	for _, e := range x.Profile.Emails {
		emails = append(emails, put(document{"value": e.Value, "primary": e.Primary}, "type", e.Type))
	}
	for _, g := range x.Groups {
		in = append(in, document{"value": strconv.FormatInt(g.ID, 10), "$ref": b.of(groups, g.ID), "display": g.Name, "type": "direct"})
	}
	if emails != nil {
		doc["emails"] = emails
	}
	if in != nil {
		doc["groups"] = in
	}
	return doc
}

func textOf(doc document, name string) string { s, _ := doc[name].(string); return s }

// toPerson has x be what a document says. Whether they are active stays if it is not said.
func toPerson(doc document, x *accounts.ProvisionedPerson) error {
	name, _ := doc["name"].(document)
	x.UserName, x.ExternalID = textOf(doc, "userName"), textOf(doc, "externalId")
	x.Profile = store.Profile{DisplayName: textOf(doc, "displayName"), FullName: textOf(name, "formatted"), GivenName: textOf(name, "givenName"), FamilyName: textOf(name, "familyName")}
	if active, said := doc["active"].(bool); said {
		x.Active = active
	}
	emails, _ := doc["emails"].([]any)
	for _, v := range emails {
		e, _ := v.(document)
		if value := textOf(e, "value"); value != "" { // Entra sends some without one
			x.Profile.Emails = append(x.Profile.Emails, store.ProfileEmail{Value: value, Type: textOf(e, "type"), Primary: e["primary"] == true})
		}
	}
	return nil
}

// group is the document of a group.
func (b base) group(x *accounts.ProvisionedGroup) document {
	doc := document{"schemas": []any{groupSchema}, "id": strconv.FormatInt(x.ID, 10), "meta": b.meta(groups, x.ID, x.CreatedAt, x.ChangedAt, "")}
	put(doc, "externalId", x.ExternalID, "displayName", x.Name)
	var members []any
	for _, m := range x.Members {
		id := strconv.FormatInt(m.ID, 10)
		members = append(members, document{"value": id, "$ref": b.of(users, m.ID), "display": m.Name, "type": "User"})
	}
	if members != nil {
		doc["members"] = members
	}
	return doc
}

// toGroup has x be what a document says. The members stay if they are not said.
func toGroup(doc document, x *accounts.ProvisionedGroup) error {
	x.Name, x.ExternalID = textOf(doc, "displayName"), textOf(doc, "externalId")
	members, said := doc["members"].([]any)
	if !said {
		return nil
	}
	x.Members = nil
	for _, v := range members {
		m, _ := v.(document)
		id, err := strconv.ParseInt(textOf(m, "value"), 10, 64)
		if err != nil || id <= 0 {
			return invalid("invalidValue", "members.value: the provider has nobody with the id %.100q", textOf(m, "value"))
		}
		x.Members = append(x.Members, store.Member{ID: id})
	}
	return nil
}

// projection says which attributes of a document are answered.
type projection struct {
	only, but []target // none: all
}

// projectionOf reads the parameters attributes and excludedAttributes. What is not kept
// here is passed over.
func projectionOf(of *resource, only, but string) (p projection, err error) {
	for _, x := range []struct {
		list string
		to   *[]target
	}{{only, &p.only}, {but, &p.but}} {
		if len(x.list) > maxFilter {
			return p, invalid("invalidValue", "attributes: the list is too long")
		}
		for name := range strings.SplitSeq(x.list, ",") {
			if t, err := parsePath(strings.TrimSpace(name), of); err == nil && t.where == nil {
				*x.to = append(*x.to, t)
			}
		}
	}
	if strings.TrimSpace(only) != "" && p.only == nil {
		p.only = []target{{attribute: common[0]}}
	}
	return p, nil
}

// has reports whether an attribute is answered, at least in part.
func (p *projection) has(name string) bool {
	is := func(t target) bool { return t.attribute.name == name }
	if len(p.only) > 0 {
		return slices.ContainsFunc(p.only, is)
	}
	return !slices.ContainsFunc(p.but, func(t target) bool { return is(t) && t.part == nil })
}

// of returns what is answered of a document: the id and the schemas always.
func (p *projection) of(doc document) document {
	out := document{"id": doc["id"], "schemas": doc["schemas"]}
	for name, v := range doc {
		if name != "id" && name != "schemas" && p.has(name) {
			out[name] = p.parts(name, v)
		}
	}
	return out
}

// parts returns what is answered of the value of an attribute.
func (p *projection) parts(name string, v any) any {
	keep := func(part string) bool {
		if len(p.only) > 0 {
			return slices.ContainsFunc(p.only, func(t target) bool {
				return t.attribute.name == name && (t.part == nil || t.part.name == part)
			})
		}
		return !slices.ContainsFunc(p.but, func(t target) bool { return t.attribute.name == name && t.part != nil && t.part.name == part })
	}
	switch x := v.(type) {
	case document:
		out := document{}
		for part, v := range x {
			if keep(part) {
				out[part] = v
			}
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i := range x {
			if out[i] = x[i]; name != "schemas" {
				out[i] = p.parts(name, x[i])
			}
		}
		return out
	}
	return v
}
