package scim_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/store"
)

// TestOkta goes through what Okta sends, in the forms of its requests: it looks for
// somebody, adds them, changes them whole, and takes them away.
func TestOkta(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.send("GET", "/Users?filter=userName+eq+%22test.user%40okta.local%22&startIndex=1&count=100", "").want(200, "totalResults", "0", "itemsPerPage", "0", "Resources", "[]")
	made := w.send("POST", "/Users", `{"schemas":["urn:ietf:params:scim:schemas:core:2.0:User"],"userName":"test.user@okta.local",
		"name":{"givenName":"Test","familyName":"User"},"emails":[{"primary":true,"value":"test.user@okta.local","type":"work"}],
		"displayName":"Test User","locale":"en-US","externalId":"00ujl29u0le5T6Aj10h7","groups":[],"password":"1mz050nq","active":true}`).
		want(201, "userName", "test.user@okta.local", "active", "true", "externalId", "00ujl29u0le5T6Aj10h7", "emails.0.value", "test.user@okta.local", "password", "", "locale", "")
	id := made.get("id")
	if at := "https://throng.example/scim/v2/Users/" + id; made.header.Get("Location") != at || made.get("meta.location") != at {
		t.Errorf("it is at %s and %s, want %s", made.header.Get("Location"), made.get("meta.location"), at)
	}
	if u := w.person(id); u.Name != "test.user@okta.local" || u.FullName != "Test User" || u.Email != "test.user@okta.local" || u.PasswordHash != "" || u.Suspended {
		t.Errorf("the person is %+v", u)
	}
	w.send("GET", "/Users?filter=userName+eq+%22TEST.USER%40okta.local%22", "").want(200, "totalResults", "1", "Resources.0.id", id)
	w.send("GET", "/Users/"+id, "").want(200, "name.givenName", "Test")
	w.send("PUT", "/Users/"+id, `{"schemas":["urn:ietf:params:scim:schemas:core:2.0:User"],"id":"`+id+`","userName":"test.user@okta.local","externalId":"00ujl29u0le5T6Aj10h7",
		"name":{"givenName":"Another","middleName":"Excited","familyName":"User"},"emails":[{"primary":true,"value":"another@okta.local","type":"work"}],"active":true,
		"groups":[],"meta":{"resourceType":"User"}}`).want(200, "name.givenName", "Another", "displayName", "", "id", id)
	if u := w.person(id); u.FullName != "Another User" || u.Email != "another@okta.local" {
		t.Errorf("after PUT they are %+v", u)
	}
	w.send("PATCH", "/Users/"+id, `{"schemas":["urn:ietf:params:scim:api:messages:2.0:PatchOp"],"Operations":[{"op":"replace","value":{"active":false}}]}`).want(200, "active", "false")
	if u := w.person(id); !u.Suspended || u.SuspendedBy != "corp" {
		t.Errorf("they are %+v", u)
	}
	w.send("PATCH", "/Users/"+id, `{"schemas":["urn:ietf:params:scim:api:messages:2.0:PatchOp"],"Operations":[{"op":"replace","value":{"active":true}}]}`).want(200, "active", "true")

	group := w.send("POST", "/Groups", `{"schemas":["urn:ietf:params:scim:schemas:core:2.0:Group"],"displayName":"north","members":[{"value":"`+id+`","display":"test.user@okta.local"}]}`).
		want(201, "members.0.value", id, "members.0.display", "test.user@okta.local").get("id")
	if u := w.person(id); len(u.Tenants) != 1 {
		t.Errorf("in north they are %+v", u)
	}
	w.send("PATCH", "/Groups/"+group, `{"schemas":["urn:ietf:params:scim:api:messages:2.0:PatchOp"],"Operations":[{"op":"replace","value":{"id":"`+group+`","displayName":"south"}}]}`).want(200, "displayName", "south")
	if u := w.person(id); len(u.Tenants) != 0 {
		t.Errorf("in south they are %+v", u)
	}
	w.send("PATCH", "/Groups/"+group, `{"schemas":["urn:ietf:params:scim:api:messages:2.0:PatchOp"],"Operations":[{"op":"replace","path":"displayName","value":"north"},
		{"op":"remove","path":"members[value eq \"`+id+`\"]"},{"op":"add","path":"members","value":[{"value":"`+id+`","display":"x"}]}]}`).want(200, "members.0.value", id)
	if u := w.person(id); len(u.Tenants) != 1 {
		t.Errorf("in north again they are %+v", u)
	}
	w.send("GET", "/Users/"+id, "").want(200, "groups.0.display", "north", "groups.0.value", group)
	w.send("DELETE", "/Groups/"+group, "").want(204)
	w.send("GET", "/Groups/"+group, "").want(404)
	if u := w.person(id); len(u.Tenants) != 0 {
		t.Errorf("without the group they are %+v", u)
	}
}

// TestEntra goes through what Microsoft Entra sends, in the forms of its requests: ops in
// capitals, booleans as text, members one by one, paths with conditions.
func TestEntra(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const extension = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"
	id := w.send("POST", "/Users", `{"schemas":["urn:ietf:params:scim:schemas:core:2.0:User","`+extension+`"],"externalId":"0a21f0f2-8d2a-4f8e","userName":"Test_User@corp.example","active":true,
		"addresses":[{"primary":false,"type":"work","country":"GB"}],"emails":[{"primary":true,"type":"work","value":"Test_User@corp.example"}],
		"meta":{"resourceType":"User"},"name":{"formatted":"given family","familyName":"family","givenName":"given"},"roles":[],
		"`+extension+`":{"department":"bol","manager":{"value":"7"}}}`).want(201, "name.formatted", "given family", "addresses", "").get("id")
	w.send("GET", "/Users?filter=externalId+eq+%220a21f0f2-8d2a-4f8e%22", "").want(200, "Resources.0.id", id)
	w.send("GET", `/Users?filter=emails%5Btype+eq+%22work%22%5D.value+eq+%22test_user%40corp.example%22`, "").want(200, "totalResults", "1")
	patch := func(path, ops string) *reply {
		return w.send("PATCH", path, `{"schemas":["urn:ietf:params:scim:api:messages:2.0:PatchOp"],"Operations":[`+ops+`]}`)
	}
	patch("/Users/"+id, `{"op":"Replace","path":"emails[type eq \"work\"].value","value":"new@corp.example"},{"op":"Replace","path":"name.familyName","value":"other"},
		{"op":"Add","path":"`+extension+`:department","value":"x"},{"op":"Add","path":"addresses[type eq \"work\"].locality","value":"London"}`).
		want(200, "emails.0.value", "new@corp.example", "name.familyName", "other")
	patch("/Users/"+id, `{"op":"Add","path":"emails[type eq \"home\"].value","value":"home@corp.example"}`).want(200, "emails.1.type", "home", "emails.1.value", "home@corp.example")
	patch("/Users/"+id, `{"op":"Add","value":{"name.formatted":"whole name","displayName":"shown","`+extension+`:department":"y"}}`).want(200, "name.formatted", "whole name", "name.familyName", "other", "displayName", "shown")
	patch("/Users/"+id, `{"op":"Replace","path":"active","value":"False"}`).want(200, "active", "false")
	if u := w.person(id); !u.Suspended || u.FullName != "whole name" || u.Email != "new@corp.example" {
		t.Errorf("they are %+v", u)
	}
	patch("/Users/"+id, `{"op":"Replace","path":"active","value":"True"}`).want(200, "active", "true")

	second := w.user("second")
	group := w.send("POST", "/Groups", `{"schemas":["urn:ietf:params:scim:schemas:core:2.0:Group","http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group"],"externalId":"8aa1a0c0-c4c3","displayName":"crowd","meta":{"resourceType":"Group"}}`).
		want(201, "members", "").get("id")
	w.send("GET", "/Groups/"+group+"?excludedAttributes=members", "").want(200, "displayName", "crowd")
	w.send("GET", "/Groups?excludedAttributes=members&filter=displayName+eq+%22CROWD%22", "").want(200, "Resources.0.id", group)
	patch("/Groups/"+group, `{"op":"Add","path":"members","value":[{"value":"`+id+`"}]},{"op":"Add","path":"members","value":[{"value":"`+second+`"},{"value":"`+id+`"}]}`).want(200, "members.0.value", id, "members.1.value", second)
	if u := w.person(id); u.Pool != 1 {
		t.Errorf("in the group they are %+v", u)
	}
	w.send("GET", "/Groups?filter=id+eq+%22"+group+"%22+and+members+eq+%22"+second+"%22", "").want(200, "totalResults", "1")
	w.send("GET", "/Groups/"+group+"?excludedAttributes=members", "").want(200, "members", "")
	patch("/Groups/"+group, `{"op":"Remove","path":"members","value":[{"value":"`+id+`"}]}`).want(200, "members.0.value", second, "members.1", "")
	patch("/Groups/"+group, `{"op":"Remove","path":"members[value eq \"`+second+`\"]"}`).want(200, "members", "")
	for _, id := range []string{id, second} {
		if u := w.person(id); u.Pool != 0 {
			t.Errorf("out of the group they are %+v", u)
		}
	}
	w.send("DELETE", "/Users/"+id, "").want(204)
	w.send("DELETE", "/Users/"+id, "").want(404)
	w.send("GET", "/Users/"+id, "").want(404)
	w.send("GET", "/Users?filter=userName+eq+%22Test_User%40corp.example%22", "").want(200, "totalResults", "0")
}

// TestWrongRequests are answered in SCIM's words, and change nothing.
func TestWrongRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, bob := w.user("ann"), w.user("bob")
	group := w.group("north", ann)
	before := w.send("GET", "/Users", "").text + w.send("GET", "/Groups", "").text
	ops := func(text string) string { return `{"Operations":[` + text + `]}` }
	many := strings.Repeat(`{"value":"1"},`, accounts.MaxMembers)
	for _, x := range []struct {
		method, path, body string
		status             int
		kind, says         string
	}{
		{"POST", "/Users", `{"userName":"ANN"}`, 409, "uniqueness", `userName: "ANN" is taken`},
		{"POST", "/Users", `{"userName":"eve","externalId":"x-bob"}`, 409, "uniqueness", "externalId"},
		{"PUT", "/Users/" + bob, `{"userName":"ann"}`, 409, "uniqueness", "userName"},
		{"POST", "/Groups", `{"displayName":"North"}`, 409, "uniqueness", "displayName"},
		{"POST", "/Users", `{}`, 400, "invalidValue", "userName: is missing"},
		{"POST", "/Users", `{"userName":7}`, 400, "invalidValue", "userName: 7 is no string"},
		{"POST", "/Users", `{"userName":"x","active":"perhaps"}`, 400, "invalidValue", `active: "perhaps" is no boolean`},
		{"POST", "/Users", `{"userName":"x","name":"X"}`, 400, "invalidValue", "name"},
		{"POST", "/Users", `{"userName":"x","emails":[{"value":"nowhere"}]}`, 400, "invalidValue", "emails.value"},
		{"POST", "/Users", `{"userName":"a\u202eb"}`, 400, "invalidValue", "U+202E"},
		{"POST", "/Users", `{"userName":"` + strings.Repeat("x", 300) + `"}`, 400, "invalidValue", "userName: is longer"},
		{"POST", "/Users", `[]`, 400, "invalidSyntax", "no JSON object"},
		{"POST", "/Users", `{"userName":"x"`, 400, "invalidSyntax", "no JSON object"},
		{"POST", "/Users", `{"userName":"x"} {}`, 400, "invalidSyntax", "after the object"},
		{"POST", "/Users", `null`, 400, "invalidSyntax", "no JSON object"},
		{"PATCH", "/Users/" + ann, `{}`, 400, "invalidSyntax", "Operations"},
		{"PATCH", "/Users/" + ann, ops(`{"op":"move","path":"userName"}`), 400, "invalidSyntax", "Operations[0].op"},
		{"PATCH", "/Users/" + ann, ops(`{"op":"remove"}`), 400, "noTarget", "what to remove"},
		{"PATCH", "/Users/" + ann, ops(`{"op":"add","path":"userName"}`), 400, "invalidValue", "value: is missing"},
		{"PATCH", "/Users/" + ann, ops(`{"op":"add","path":"emails[","value":"x"}`), 400, "invalidPath", "path"},
		{"PATCH", "/Users/" + ann, ops(`{"op":"add","path":7,"value":"x"}`), 400, "invalidPath", "Operations[0].path"},
		{"PATCH", "/Users/" + ann, ops(`{"op":"remove","path":"userName"}`), 400, "invalidValue", "userName: is missing"},
		{"PATCH", "/Users/" + ann, ops(`{"op":"replace","path":"emails[type eq \"work\"]","value":{"value":"a@b.example"}}`), 400, "noTarget", "emails"},
		{"PATCH", "/Users/" + ann, ops(`{"op":"replace","path":"displayName","value":"kept?"},{"op":"replace","path":"active","value":"no"}`), 400, "invalidValue", "active"},
		{"PATCH", "/Users/" + ann, ops(strings.Repeat(`{"op":"remove","path":"displayName"},`, 1000) + `{"op":"remove","path":"displayName"}`), 413, "", "1000"},
		{"PATCH", "/Groups/" + group, ops(`{"op":"add","path":"members","value":[{"value":"` + bob + `"},{"value":"999"}]}`), 400, "invalidValue", "999"},
		{"PATCH", "/Groups/" + group, ops(`{"op":"add","path":"members","value":[{"value":"` + group + `"}]}`), 400, "invalidValue", group},
		{"PATCH", "/Groups/" + group, ops(`{"op":"add","path":"members","value":[{"value":"u1"}]}`), 400, "invalidValue", `"u1"`},
		{"POST", "/Groups", `{"displayName":"big","members":[` + many + `{"value":"2"}]}`, 413, "", "20000"},
		{"POST", "/Groups", `{"displayName":"huge","x":"` + strings.Repeat("x", 9<<20) + `"}`, 413, "", "8"},
		{"GET", "/Users?filter=userName+eq", "", 400, "invalidFilter", "filter"},
		{"GET", "/Users?filter=nosuch+eq+%22x%22", "", 400, "invalidFilter", "no attribute nosuch"},
		{"GET", "/Users?filter=active+gt+true", "", 400, "invalidFilter", "active"},
		{"GET", "/Users?count=many", "", 400, "invalidValue", "count"},
		{"GET", "/Users/0", "", 404, "", "nobody"},
		{"GET", "/Users/" + group, "", 404, "", "nobody"},
		{"GET", "/Groups/" + ann, "", 404, "", "no group"},
		{"GET", "/Users/0" + ann, "", 404, "", "nobody"},
		{"PUT", "/Users/999", `{"userName":"x"}`, 404, "", "nobody"},
		{"GET", "/Me", "", 404, "", "there is no GET"},
		{"POST", "/Bulk", "{}", 404, "", "there is no POST"},
		{"PUT", "/Users", "{}", 404, "", "there is no PUT"},
		{"GET", "/Schemas/x", "", 404, "", "none"},
	} {
		r := w.send(x.method, x.path, x.body)
		if len(r.what) > 200 {
			r.what = r.what[:200]
		}
		r.want(x.status, "scimType", x.kind)
		if !strings.Contains(r.get("detail"), x.says) {
			t.Errorf("%s says %q, not %q", r.what, r.get("detail"), x.says)
		}
	}
	if after := w.send("GET", "/Users", "").text + w.send("GET", "/Groups", "").text; after != before {
		t.Errorf("something was changed:\n%s\nwas\n%s", after, before)
	}
}

// TestTokensOfProvidersStay good when who made them changes their password, is suspended and is
// erased: a directory must not fall silent.
func TestTokensOfProvidersStay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made, link, err := w.app.Accounts.CreateUser(t.Context(), w.admin, accounts.NewUser{Name: "maker", Admin: true})
	if err != nil {
		t.Fatal(err)
	}
	const password, other = "correct horse battery", "another horse battery"
	session := must(w.app.Accounts.Setup(t.Context(), link, password))(t)
	maker := must(w.app.Accounts.Authenticate(t.Context(), session, anywhere))(t)
	_, secret, err := w.app.Provisioning.CreateToken(t.Context(), maker, accounts.NewProviderToken{Provider: "corp"})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		what string
		do   func() error
	}{
		{"a new password", func() error {
			return w.app.Accounts.ChangePassword(t.Context(), maker, accounts.Proof{Password: password}, other)
		}},
		{"signing out everywhere", func() error { return w.app.Accounts.EndSessions(t.Context(), maker) }},
		{"suspension", func() error {
			_, err := w.app.Accounts.ChangeUser(t.Context(), w.admin, made.ID, func(u *store.User) error { u.Suspended = true; return nil })
			return err
		}},
		{"erasure", func() error {
			return w.app.Accounts.Erase(t.Context(), w.admin, made.ID, accounts.ErasureOrder{Confirm: "maker", FreeText: accounts.KeepText, Settled: true})
		}},
	} {
		if err := x.do(); err != nil {
			t.Fatalf("%s: %v", x.what, err)
		}
		w.send("GET", "/Users", "", "Authorization: Bearer "+secret).want(200)
	}
}

// TestTokensOfProviders are good for their provider's people and groups, and for nothing
// else.
func TestTokensOfProviders(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.user("ann")
	group := w.group("north", ann)
	token, secret, err := w.app.Accounts.CreateToken(t.Context(), w.admin, accounts.NewToken{Name: "x"})
	if err != nil {
		t.Fatal(err)
	}
	_ = token
	for _, bad := range []string{"", "Bearer ", "Bearer x", "Bearer " + secret, "Basic " + w.corp, "Bearer " + w.corp + "x", "Bearer " + strings.Repeat("x", 10000)} {
		r := w.send("GET", "/Users", "", "Authorization: "+bad).want(401)
		if r.header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%q: %v", bad, r.header)
		}
		w.send("GET", "/ServiceProviderConfig", "", "Authorization: "+bad).want(401)
	}
	if _, err := w.app.Accounts.Authenticate(t.Context(), w.corp, anywhere); err == nil {
		t.Error("a provider's token signs somebody in")
	}
	// Another provider's people and groups look absent.
	as := "Authorization: Bearer " + w.other
	for _, x := range [][3]string{
		{"GET", "/Users/%s", ""}, {"PUT", "/Users/%s", `{"userName":"x"}`}, {"PATCH", "/Users/%s", `{"Operations":[{"op":"replace","path":"active","value":false}]}`}, {"DELETE", "/Users/%s", ""},
		{"GET", "/Groups/%s", ""}, {"PUT", "/Groups/%s", `{"displayName":"x"}`}, {"PATCH", "/Groups/%s", `{"Operations":[{"op":"remove","path":"members"}]}`}, {"DELETE", "/Groups/%s", ""},
		{"POST", "/Groups", `{"displayName":"x","members":[{"value":"%s"}]}`},
		{"GET", "/Users?filter=id+eq+%%22%s%%22", ""}, {"GET", "/Groups?filter=members+eq+%%22%s%%22", ""},
	} {
		ask := func(id string) string {
			path, body := x[1], x[2]
			if strings.Contains(path, "%s") {
				path = fmt.Sprintf(path, id)
			} else {
				body = fmt.Sprintf(body, id)
			}
			r := w.send(x[0], path, body, as)
			return strings.ReplaceAll(fmt.Sprint(r.status, " ", r.text), "the id "+id, "the id")
		}
		for _, id := range []string{ann, group} {
			if theirs, none := ask(id), ask("999"); theirs != none {
				t.Errorf("%s %s: another's is %s, none is %s", x[0], x[1], theirs, none)
			}
		}
	}
	w.send("GET", "/Users", "", as).want(200, "totalResults", "0")
	w.send("POST", "/Users", `{"userName":"ann","externalId":"x-ann"}`, as).want(201) // names are each provider's own
	if w.person(ann).Suspended {
		t.Error("another provider has suspended somebody")
	}
	// A token that is taken away or has ended is good no longer.
	list, err := w.app.Provisioning.Tokens(t.Context(), w.admin, "corp")
	if err != nil || len(list) != 1 {
		t.Fatalf("tokens: %+v, %v", list, err)
	}
	if err := w.app.Provisioning.RevokeToken(t.Context(), w.admin, "other", list[0].ID); err == nil {
		t.Error("another's token was taken away")
	}
	w.send("GET", "/Users", "").want(200)
	if err := w.app.Provisioning.RevokeToken(t.Context(), w.admin, "corp", list[0].ID); err != nil {
		t.Fatal(err)
	}
	w.send("GET", "/Users", "").want(401)
	w.corp = w.token("corp")
	w.send("GET", "/Users", "").want(200)
	// Who has made it may leave, once there is another administrator.
	must(w.store.CreateUser(t.Context(), store.User{Name: "successor", Admin: true, PasswordHash: "x"}))(t)
	if _, err := w.app.Accounts.Change(t.Context(), w.admin.User.ID, func(u *store.User) error { u.Suspended = true; return nil }); err != nil {
		t.Fatal(err)
	}
	w.send("GET", "/Users", "").want(200)
}

// TestLists are in parts, and say how many there are.
func TestLists(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 7 {
		w.user(fmt.Sprintf("p%d", i))
	}
	for _, x := range []struct{ query, start, items, total, first string }{
		{"", "1", "7", "7", "p0"},
		{"count=3", "1", "3", "7", "p0"},
		{"startIndex=4&count=3", "4", "3", "7", "p3"},
		{"startIndex=7&count=3", "7", "1", "7", "p6"},
		{"startIndex=9", "9", "0", "7", ""},
		{"startIndex=-5&count=-1", "1", "0", "7", ""},
		{"count=0", "1", "0", "7", ""},
		{"filter=userName+gt+%22p2%22&count=2&startIndex=2", "2", "2", "4", "p4"},
		{"filter=userName+sw+%22P%22+and+not+(userName+eq+%22p0%22)", "1", "6", "6", "p1"},
		{"filter=userName+eq+%22p3%22+or+externalId+eq+%22x-p5%22", "1", "2", "2", "p3"},
		{"filter=externalId+eq+%22X-P5%22", "1", "0", "0", ""}, // with case
		{"filter=meta.lastModified+gt+%222001-01-01T00:00:00Z%22", "1", "7", "7", "p0"},
		{"filter=emails+pr", "1", "0", "0", ""},
		{"filter=active+eq+%22True%22&count=1", "1", "1", "7", "p0"},
	} {
		w.send("GET", "/Users?"+x.query, "").want(200, "startIndex", x.start, "itemsPerPage", x.items, "totalResults", x.total, "Resources.0.userName", x.first)
	}
	w.send("GET", "/Users?attributes=userName", "").want(200, "Resources.0.userName", "p0", "Resources.0.active", "", "Resources.0.meta", "")
	w.send("GET", "/Users?attributes=nosuch", "").want(200, "Resources.0.userName", "")
	w.send("GET", "/Users?excludedAttributes=userName,meta.location", "").want(200, "Resources.0.userName", "", "Resources.0.active", "true", "Resources.0.meta.location", "", "Resources.0.meta.resourceType", "User")
}

// TestVersions keep one change from undoing another.
func TestVersions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.user("ann")
	version := w.send("GET", "/Users/"+ann, "").want(200).header.Get("ETag")
	if version == "" {
		t.Fatal("there is no version")
	}
	w.send("GET", "/Users/"+ann, "", "If-None-Match: "+version).want(304)
	again := w.send("PUT", "/Users/"+ann, `{"userName":"ann","externalId":"x-ann"}`, "If-Match: "+version).want(200).header.Get("ETag")
	if again != version {
		t.Errorf("nothing was changed, and the version is %s, not %s", again, version)
	}
	next := w.send("PUT", "/Users/"+ann, `{"userName":"ann2","externalId":"x-ann"}`, "If-Match: "+version).want(200).header.Get("ETag")
	for _, method := range []string{"PUT", "PATCH", "DELETE"} {
		w.send(method, "/Users/"+ann, `{"userName":"ann3","Operations":[{"op":"remove","path":"displayName"}]}`, "If-Match: "+version).want(412)
	}
	w.send("GET", "/Users/"+ann, "", "If-None-Match: "+version).want(200, "userName", "ann2")
	group := w.group("north", ann)
	version = w.send("GET", "/Groups/"+group, "").want(200).header.Get("ETag")
	w.send("DELETE", "/Users/"+ann, "", "If-Match: "+next).want(204)
	w.send("DELETE", "/Groups/"+group, "", "If-Match: "+version).want(412) // it has lost a member
	w.send("DELETE", "/Groups/"+group, "", "If-Match: *").want(204)
}

// TestDiscovery says what there is.
func TestDiscovery(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.send("GET", "/ServiceProviderConfig", "").want(200, "patch.supported", "true", "bulk.supported", "false", "filter.supported", "true", "etag.supported", "true", "authenticationSchemes.0.type", "oauthbearertoken")
	w.send("GET", "/ResourceTypes", "").want(200, "totalResults", "2", "Resources.0.name", "User", "Resources.1.endpoint", "/Groups")
	w.send("GET", "/ResourceTypes/Group", "").want(200, "schema", "urn:ietf:params:scim:schemas:core:2.0:Group")
	w.send("GET", "/Schemas", "").want(200, "totalResults", "2", "Resources.0.attributes.0.name", "userName", "Resources.0.attributes.0.uniqueness", "server")
	w.send("GET", "/Schemas/urn:ietf:params:scim:schemas:core:2.0:User", "").want(200, "name", "User")
}

// TestATokenThatEndsMeanwhile holds a body back until its token is revoked.
func TestATokenThatEndsMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := `{"schemas":["urn:ietf:params:scim:schemas:core:2.0:User"],"userName":"late@corp.example","externalId":"late"}`
	begun := make(chan struct{})
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got100Continue: func() { close(begun) }})
	sent, rest := io.Pipe()
	req := must(http.NewRequestWithContext(ctx, http.MethodPost, w.url+"/scim/v2/Users", sent))(t)
	req.ContentLength = int64(len(body))
	req.Header.Set("Expect", "100-continue")
	req.Header.Set("Authorization", "Bearer "+w.corp)
	go func() {
		<-begun
		_, _ = io.WriteString(rest, body[:20])
		list, err := w.app.Provisioning.Tokens(context.Background(), w.admin, "corp")
		for i := range list {
			err = errors.Join(err, w.app.Provisioning.RevokeToken(context.Background(), w.admin, "corp", list[i].ID))
		}
		if err != nil || len(list) == 0 {
			t.Errorf("%d tokens: %v", len(list), err)
		}
		_, _ = io.WriteString(rest, body[20:])
		_ = rest.Close()
	}()
	patient := &http.Transport{ExpectContinueTimeout: time.Minute}
	defer patient.CloseIdleConnections()
	res := must((&http.Client{Transport: patient}).Do(req))(t)
	defer res.Body.Close()
	if res.StatusCode != http.StatusUnauthorized {
		t.Errorf("status %d", res.StatusCode)
	}
	if _, err := w.store.UserByName(t.Context(), "late@corp.example"); crowd.CodeOf(err) != crowd.NotFound {
		t.Errorf("they were made: %v", err)
	}
}
