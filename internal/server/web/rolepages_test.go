package web

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/audit"
	"github.com/throng-dev/throng/internal/store"
)

// rolesHeld are the roles of somebody, as they are written.
func (c *company) rolesHeld(t *testing.T, name string) string {
	return heldText(c.personNamed(t, name).Roles)
}

// told fails if the audit log has not the operations as its newest ones.
func (c *company) told(t *testing.T, operations ...string) {
	t.Helper()
	for i, e := range read(c.app.Audit.List(t.Context(), c.boss.principal(), audit.Filter{AuditFilter: store.AuditFilter{Limit: len(operations)}}))(t) {
		equal(t, e.Operation, operations[len(operations)-1-i])
	}
}

// TestRolesOfTheInstallation: an admin makes, changes, gives, takes and removes a role on
// pages, and hears of a wrong field at the field.
func TestRolesOfTheInstallation(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 1)
	page := c.boss.get("/admin/roles").want(200, "None yet", "looks after pools and people")
	make := func() *sheet {
		return c.boss.get("/admin/roles").form("/admin/roles").set("name", "checker").set("text", "looks").set("permissions", "people.read")
	}
	bad := make().set("name", "No Name").send().want(422, "is not a name of a role")
	equal(t, bad.form("/admin/roles").values.Get("name"), "No Name") // what was typed is kept
	equal(t, attr(fieldOf(bad, bad.form("/admin/roles").action, "name"), "aria-describedby"), "role-name-bad role-name-help")
	none := page.form("/admin/roles").set("name", "checker").send().want(422, "name what the role permits")
	equal(t, attr(none.all("fieldset")[0], "aria-invalid"), "true")
	make().send().want(200, "Saved", "checker", "Held by nobody").at("/admin/roles")
	make().send().want(http.StatusConflict, "there is a role checker of the installation already")
	c.told(t, "Accounts.CreateRole")

	old := c.boss.get("/admin/roles").form("/admin/roles/checker").set("text", "an old one")
	f := c.boss.get("/admin/roles").form("/admin/roles/checker")
	f.values["permissions"] = []string{"people.read", "tests.read"}
	f.send().want(200, "tests.read")
	old.send().want(http.StatusConflict, "This was changed elsewhere")
	x := read(c.app.Accounts.Roles(t.Context(), c.boss.principal()))(t)[0]
	equal(t, x.Text, "looks")
	same(t, x.Permissions, []string{"people.read", "tests.read"})

	person := c.boss.get("/admin/people/u2").want(200, "requester for Acme")
	person.form("/admin/people/u2/give").want("role", "requester") // the first form takes
	give := func(do, role, tenant string) *pageOf {
		return c.boss.post("/admin/people/u2/give", url.Values{"do": {do}, "role": {role}, "tenant": {tenant}})
	}
	give("give", "checker", "").want(200, "The role is given", "checker for the installation").at("/admin/people/u2")
	give("give", "checker", "n1").want(200, "checker for Acme")
	equal(t, c.rolesHeld(t, "rita"), "checker n1/checker")
	c.boss.get("/admin/roles").want(200, "Held by rita")
	give("give", "worker", "").want(422, "put them into one")
	give("take", "checker", "").want(200, "The role is taken away")
	equal(t, c.rolesHeld(t, "rita"), "n1/checker")
	c.told(t, "Accounts.GiveRole", "Accounts.GiveRole", "Accounts.TakeRole")

	c.boss.get("/admin/roles/checker/remove").want(200, "Remove this role?", "held by 1 person").form("/admin/roles/checker/remove").send().want(200, "The role is removed").at("/admin/roles")
	equal(t, c.rolesHeld(t, "rita"), "")
	c.told(t, "Accounts.RemoveRole")
	c.boss.get("/admin/roles/checker/remove").want(http.StatusNotFound)
}

// want checks what a field of a form has.
func (s *sheet) want(name, value string) {
	s.p.t.Helper()
	if got := s.values.Get(name); got != value {
		s.p.t.Fatalf("%s of the form to %s is %q, want %q", name, s.action, got, value)
	}
}

// TestRolesOfATenant: a requester does the same for their tenant, and is offered nothing
// that they do not hold.
func TestRolesOfATenant(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 1)
	c.boss.get("/admin").form("/admin/tenants").set("name", "Other").send().want(200)
	c.boss.get("/tenants/n1").want(200).without("href=\"/tenants/n2/roles")
	home := c.req.get("/tenants/n1/roles").want(200, "People and roles of Acme", "rita")
	for _, box := range home.form("/tenants/n1/roles").boxes["permissions"] {
		if slices.Contains([]string{"money.move", "pools.change", "people.erase", "people.names"}, box) {
			t.Errorf("a requester is offered %s", box)
		}
	}
	add := home.form("/tenants/n1/people")
	add.set("name", "a b").set("roles", "viewer").send().want(422, "is not a name to sign in with")
	p := add.set("name", "vera").set("roles", "viewer").send().want(200, "one-time link for vera", "vera")
	vera := c.browser(t, "vera")
	vera.setUp(secretOn(p))
	equal(t, c.rolesHeld(t, "vera"), "n1/viewer")

	c.req.get("/tenants/n1/roles").form("/tenants/n1/roles").set("name", "checker").set("permissions", "batches.read").send().want(200, "Saved", "checker").at("/tenants/n1/roles")
	old := c.req.get("/tenants/n1/roles").form("/tenants/n1/roles/checker").set("text", "old")
	c.req.get("/tenants/n1/roles").form("/tenants/n1/roles/checker").set("text", "checks").send().want(200, "checks")
	old.send().want(http.StatusConflict, "This was changed elsewhere")
	id := c.personNamed(t, "vera").ID.String()
	give := func(by *browser, do, user, role string) *pageOf {
		return by.post("/tenants/n1/give", url.Values{"do": {do}, "user": {user}, "role": {role}})
	}
	give(c.req, "give", id, "checker").want(200, "The role is given").at("/tenants/n1/roles")
	equal(t, c.rolesHeld(t, "vera"), "n1/checker n1/viewer")
	give(c.req, "give", id, "").want(422, "choose a role")
	give(c.req, "give", "vera", "checker").want(422, "vera is nobody")
	give(c.req, "give", id, "operator").want(http.StatusForbidden, "permits what you may not do yourself", "people.names")
	give(c.req, "take", id, "viewer").want(200, "The role is taken away")
	equal(t, c.rolesHeld(t, "vera"), "n1/checker")
	vera.get("/batches").want(200)
	vera.get("/tenants/n1/roles").want(http.StatusForbidden)
	c.told(t, "Accounts.ChangeRole", "Accounts.GiveRole", "Accounts.TakeRole")
	c.req.get("/tenants/n1/roles/checker/remove").want(200, "held by 1 person").form("/tenants/n1/roles/checker/remove").send().want(200, "The role is removed").at("/tenants/n1/roles")
	equal(t, c.rolesHeld(t, "vera"), "")

	// Who sees people and changes none gets no forms; the page of another tenant is no page.
	look := c.as(t, c.boss, "luc", func(f *sheet) { f.set("roles", "n1/viewer") })
	seen := look.get("/tenants/n1/roles").want(200, "rita")
	for _, form := range seen.all("form") {
		if to := attr(form, "action"); to != "/signout" {
			t.Errorf("a viewer is shown a form to %s", to)
		}
	}
	c.req.get("/tenants/n2/roles").want(http.StatusNotFound)
}

// TestTokensOfEverybody: those who change people see the tokens of all, and end those of
// whom they could act as.
func TestTokensOfEverybody(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 1)
	c.req.get("/tokens").form("/tokens").set("name", "nightly").set("scopes", "batches.read").set("networks", "10.0.0.0/8").send().want(200)
	c.boss.get("/tokens").form("/tokens").set("name", "bossy").send().want(200)
	c.boss.get("/admin/tokens").want(200, "rita", "nightly", "batches.read", "10.0.0.0/8", "bossy", "never").without("thr_")
	c.boss.get("/admin/tokens?of=u2").want(200, "Tokens of rita", "nightly").without("bossy")
	operator := c.as(t, c.boss, "otto", func(f *sheet) { f.set("roles", "operator") })
	operator.get("/admin/tokens").want(200, "bossy", "Its owner may do more than you").without("/revoke")
	c.req.get("/admin/tokens").want(http.StatusForbidden)
	c.boss.post("/admin/tokens/9999/revoke", url.Values{"user": {"u2"}}).want(http.StatusNotFound)
	token := func() (store.Token, bool) {
		list := read(c.app.Accounts.Tokens(t.Context(), c.req.principal(), 0))(t)
		if len(list) == 0 {
			return store.Token{}, false
		}
		return list[0].Token, true
	}
	x, there := token()
	equal(t, there, true)
	end := fmt.Sprintf("/admin/tokens/%d/revoke", x.ID)
	operator.post(end, url.Values{"user": {"u2"}}).want(http.StatusForbidden)
	c.boss.get("/admin/tokens").form(end).send().want(200, "The token is revoked").at("/admin/tokens")
	_, there = token()
	equal(t, there, false)
	c.told(t, "Accounts.RevokeToken")
	c.boss.get("/admin/tokens?before=x").want(200, "bossy")
	_, _, err := c.app.Accounts.CreateToken(t.Context(), c.boss.principal(), accounts.NewToken{Name: "given", For: c.req.principal().User.ID})
	if err != nil {
		t.Fatal(err)
	}
	c.boss.get("/admin/tokens?of=u2").want(200, "given", "by "+c.boss.principal().User.Name)
}

// TestRolesAreShown on the page of all people, also those that are held for a tenant or were
// made; and who only looks after a tenant's people begins there.
func TestRolesAreShown(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 1)
	for name, role := range map[string]string{"vic": "n1/viewer", "oli": "n1/operator", "fin": "finance"} {
		b := c.as(t, c.boss, name, func(f *sheet) { f.set("roles", role) })
		if name == "oli" {
			b.get("/").at("/tenants/n1/roles").want(200, "People and roles of")
		}
		if name == "fin" {
			page := b.get("/tenants/n1").want(200, "In the account").without("<p> ·", "<p>·")
			page.form("/tenants/n1/deposit").set("amount", "-3").send().want(http.StatusUnprocessableEntity, "is not an amount", "In the account")
			had, _, err := c.app.Tenants.Account(t.Context(), c.boss.principal(), 1, 0, 1)
			equal(t, err, nil)
			page.form("/tenants/n1/deposit").set("amount", "3").set("note", "invoice 7").send().want(200, "The money is in the account", "invoice 7").at("/tenants/n1")
			f := b.get("/tenants/n1").form("/tenants/n1/deposit").set("amount", "1")
			f.values.Set("do", "take out")
			f.send().want(200)
			have, _, err := c.app.Tenants.Account(t.Context(), c.boss.principal(), 1, 0, 1)
			equal(t, err, nil)
			equal(t, have-had, 2_000_000)
		} else {
			b.get("/tenants/n1").without("/tenants/n1/deposit")
		}
	}
	page := c.boss.get("/admin/people").want(200)
	for name, want := range map[string]string{"vic": "viewer of ", "oli": "operator of ", "fin": "finance"} {
		_, row, found := strings.Cut(page.Text, ">"+name+"<")
		row, _, _ = strings.Cut(row, "</tr>")
		if !found || !strings.Contains(row, `<span class="chip role">`+want) {
			t.Errorf("the row of %s has no %s: %s", name, want, row)
		}
	}
}
