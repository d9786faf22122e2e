package web

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/store"
)

// TestOnlyAdministratorsVouchForAddresses: an address that an operator enters, for a person whom
// they add or change, on the pages or otherwise, links nobody who comes by a provider. An
// operator knows the password of whom they add, and who comes by the provider may become an
// administrator.
func TestOnlyAdministratorsVouchForAddresses(t *testing.T) {
	t.Parallel()
	const address = "ceo@example.org"
	c, _, _ := twoProviders(t)
	people := c.app.Accounts
	oscar := c.as(t, c.boss, "oscar", func(f *sheet) { f.set("roles", "operator") })
	operator := oscar.principal()
	pages := func(name string) string { return "/admin/people/" + c.personNamed(t, name).ID.String() }
	oscar.get("/admin/people").form("/admin/people").set("name", "made").set("email", address).set("pool", "p1").send().want(200)
	for _, name := range []string{"changed", "forged", "patched", "told"} {
		oscar.get("/admin/people").form("/admin/people").set("name", name).set("pool", "p1").send().want(200)
	}
	form := oscar.get(pages("changed")).want(200).form(pages("changed"))
	if form.values.Has("email_verified") {
		t.Error("an operator is asked whether the address is known to be theirs")
	}
	form.set("email", address).send().want(200)
	oscar.post(pages("forged"), url.Values{"email": {address}, "email_verified": {"1"}, "pool": {"p1"}}).want(200)
	if _, err := people.ChangeUser(t.Context(), operator, c.personNamed(t, "patched").ID, func(u *store.User) error { accounts.SetEmail(operator, u, address); return nil }); err != nil {
		t.Error(err)
	}
	told := c.personNamed(t, "told").ID
	verify := func(u *store.User) error { accounts.SetVerified(u, true); return nil }
	for how, change := range map[string]func(u *store.User) error{"with another address": func(u *store.User) error { u.Email = address; return verify(u) }, "alone": verify} {
		if _, err := people.ChangeUser(t.Context(), operator, told, change); crowd.CodeOf(err) != crowd.Forbidden {
			t.Errorf("an operator vouches for an address %s: %v", how, err)
		}
	}
	if _, err := people.ChangeUser(t.Context(), operator, told, func(u *store.User) error { u.Email = address; return nil }); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"made", "changed", "forged", "patched", "told"} {
		if u := c.personNamed(t, name); u.Email != address || u.EmailVerified {
			t.Errorf("%s is %+v", name, u)
		}
	}
	chief := c.browser(t, "chief")
	chief.get("/signin/corp").want(200)
	if u := chief.principal().User; u.Name != "chief" {
		t.Errorf("who comes is %+v", u)
	}
}

// TestOperatorsLeaveAddressesAsTheyAre: what an operator changes of somebody besides leaves
// their address verified, by whom it was.
func TestOperatorsLeaveAddressesAsTheyAre(t *testing.T) {
	t.Parallel()
	c, _, _ := twoProviders(t)
	c.browser(t, "mallory").get("/signin/other").want(200)
	mallory := c.personNamed(t, "mallory")
	oscar := c.as(t, c.boss, "oscar", func(f *sheet) { f.set("roles", "operator") })
	page := "/admin/people/" + mallory.ID.String()
	oscar.get(page).form(page).set("full_name", "Mallory M").send().want(200)
	operator := oscar.principal()
	if _, err := c.app.Accounts.ChangeUser(t.Context(), operator, mallory.ID, func(u *store.User) error {
		accounts.SetEmail(operator, u, u.Email)
		accounts.SetVerified(u, true)
		return nil
	}); err != nil {
		t.Error(err)
	}
	if u := c.personNamed(t, "mallory"); u.FullName != "Mallory M" || !u.EmailVerified || u.EmailBy != "other" {
		t.Errorf("they are %+v", u)
	}
	oscar.post(page+"/suspend", url.Values{"suspended": {"1"}}).want(http.StatusOK)
}
