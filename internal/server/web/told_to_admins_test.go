package web

import (
	"testing"

	"github.com/throng-dev/throng/internal/store"
)

// TestAdministratorsEnterTheirAddress on a server that sends no mail, with their password; others are
// told to ask them.
func TestAdministratorsEnterTheirAddress(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 1)
	give := func(password string) *pageOf {
		return c.boss.get("/account").want(200, "you yourself vouch for the address").form("/account/address").set("address", "ada@example.org").set("password", password).send()
	}
	give(password+"x").want(422, "not the password that you have")
	give(password).want(200, "Saved.", "ada@example.org verified").without("A mail is on its way")
	c.req.get("/account").want(200, "This server sends no mail: an administrator can enter your address.").without("Enter the address")
}

// TestSettingsThatDoNothingAreNoted on the page of the pool, as long as they do nothing.
func TestSettingsThatDoNothingAreNoted(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 1)
	const note = "so the reward decides nothing"
	c.boss.get("/admin/pools/p1").want(200).without(note)
	read(c.app.Pools.Change(t.Context(), c.boss.principal(), 1, func(now *store.Pool) error { now.Policy = "by-reward(fs)"; return nil }))(t)
	c.boss.get("/admin/pools/p1").want(200, note)
}
