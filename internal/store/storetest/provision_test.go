package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// provisioned is a person of a provider that a test may change.
func (w *world) provisioned(provider, name string) store.Provisioned {
	return store.Provisioned{
		Provider: provider, UserName: name, ExternalID: "x-" + name, CreatedAt: w.now, ChangedAt: w.now,
		Profile: store.Profile{FullName: "Ada L.", Emails: []store.ProfileEmail{{Value: name, Primary: true}, {Value: "b@example.org", Type: "work"}}},
	}
}

func testProvisioned(t *testing.T, w *world) {
	at := func(provider string) store.ProvisionedFilter {
		return store.ProvisionedFilter{Provider: provider, Limit: 10}
	}
	ada := must(w.CreateProvisioned(w.ctx, w.provisioned("corp", "Ada@example.org"), store.User{Name: "ada", CreatedAt: w.now}))(t)
	same(t, "their person", must(w.User(w.ctx, ada.User))(t).Name, "ada")
	bob := must(w.CreateProvisioned(w.ctx, w.provisioned("corp", "bob"), store.User{ID: w.workers[0]}))(t)
	same(t, "a person who was there", bob.User, w.workers[0])
	other := must(w.CreateProvisioned(w.ctx, w.provisioned("other", "bob"), store.User{ID: w.workers[0]}))(t)
	same(t, "all", must(w.ListProvisioned(w.ctx, at("corp")))(t), []store.Provisioned{ada, bob})
	same(t, "another's", must(w.ListProvisioned(w.ctx, at("other")))(t), []store.Provisioned{other})

	for what, spoil := range map[string]func(*store.Provisioned, *store.User){
		"a name that is taken":         func(r *store.Provisioned, _ *store.User) { r.UserName = "ADA@EXAMPLE.ORG" },
		"an external id that is taken": func(r *store.Provisioned, _ *store.User) { r.ExternalID = bob.ExternalID },
		"a person whom they have":      func(_ *store.Provisioned, u *store.User) { u.ID = ada.User },
		"a person's name":              func(_ *store.Provisioned, u *store.User) { u.Name = "ADA" },
	} {
		r, u := w.provisioned("corp", "eve"), store.User{Name: "eve"}
		spoil(&r, &u)
		_, err := w.CreateProvisioned(w.ctx, r, u)
		refused(t, err, crowd.Conflict)
		if _, err := w.UserByName(w.ctx, "eve"); err == nil {
			t.Errorf("%s: the person was kept", what)
		}
	}
	_, err := w.CreateProvisioned(w.ctx, w.provisioned("corp", "eve"), store.User{ID: 999})
	refused(t, err, crowd.NotFound)

	for _, f := range []store.ProvisionedFilter{{ID: bob.ID}, {Name: "BOB"}, {ExternalID: bob.ExternalID}, {User: bob.User}, {Offset: 1}} {
		f.Provider, f.Limit = "corp", 10
		same(t, fmt.Sprintf("%+v", f), must(w.ListProvisioned(w.ctx, f))(t), []store.Provisioned{bob})
		f.Provider = "none"
		same(t, fmt.Sprintf("%+v", f), must(w.ListProvisioned(w.ctx, f))(t), nil)
	}
	ada.UserName, ada.ExternalID, ada.Profile, ada.ChangedAt = "ada2", "", store.Profile{}, w.now.Add(time.Second)
	ok(t, w.UpdateProvisioned(w.ctx, ada))
	suspended := must(w.User(w.ctx, ada.User))(t)
	suspended.Suspended, suspended.SuspendedBy = true, "corp"
	ok(t, w.UpdateUser(w.ctx, suspended))
	same(t, "suspended", must(w.User(w.ctx, ada.User))(t), suspended)
	ada.Suspended = true
	same(t, "changed", must(w.ListProvisioned(w.ctx, at("corp")))(t), []store.Provisioned{ada, bob})
	same(t, "count", must(w.CountProvisioned(w.ctx, "corp"))(t), store.ProvisionedCount{People: 2, Suspended: 1, ChangedAt: ada.ChangedAt})
	same(t, "count of none", must(w.CountProvisioned(w.ctx, "none"))(t), store.ProvisionedCount{})
	taken, others := ada, ada
	taken.UserName, others.Provider = "Bob", "other"
	refused(t, w.UpdateProvisioned(w.ctx, taken), crowd.Conflict)
	refused(t, w.UpdateProvisioned(w.ctx, others), crowd.NotFound)

	gone := bob
	gone.DeletedAt = w.now
	ok(t, w.UpdateProvisioned(w.ctx, gone))
	refused(t, w.UpdateProvisioned(w.ctx, bob), crowd.NotFound)
	same(t, "left", must(w.ListProvisioned(w.ctx, at("corp")))(t), []store.Provisioned{ada})
	f := at("corp")
	f.Deleted = true
	same(t, "deleted", must(w.ListProvisioned(w.ctx, f))(t), []store.Provisioned{gone})
	must(w.CreateProvisioned(w.ctx, w.provisioned("corp", "bob"), store.User{ID: w.workers[0]}))(t) // again

	// That a provider has provisioned anybody is known when those are erased.
	for _, id := range []crowd.WorkerID{ada.User, bob.User} {
		must(w.BeginErasure(w.ctx, store.Erasure{Person: id, AskedBy: id, AskedAt: w.now}))(t)
		ok(t, w.Erase(w.ctx, id, w.now))
	}
	same(t, "count of the erased", must(w.CountProvisioned(w.ctx, "corp"))(t), store.ProvisionedCount{ChangedAt: ada.ChangedAt})
	same(t, "of who erased none", must(w.CountProvisioned(w.ctx, "none"))(t), store.ProvisionedCount{})
}

func testGroups(t *testing.T, w *world) {
	var people []store.Provisioned
	for _, name := range []string{"a", "b", "c"} {
		people = append(people, must(w.CreateProvisioned(w.ctx, w.provisioned("corp", name), store.User{Name: name}))(t))
	}
	a, b, c := people[0].ID, people[1].ID, people[2].ID
	stranger := must(w.CreateProvisioned(w.ctx, w.provisioned("other", "a"), store.User{Name: "stranger"}))(t).ID
	g := store.ProvisionedGroup{Provider: "corp", Name: "North", ExternalID: "1", CreatedAt: w.now, ChangedAt: w.now}
	g.ID = must(w.CreateGroup(w.ctx, g, []int64{b, a, a}))(t)
	same(t, "members", must(w.GroupMembers(w.ctx, g.ID))(t), []store.Member{{ID: a, Name: "a"}, {ID: b, Name: "b"}})
	empty := store.ProvisionedGroup{Provider: "corp", Name: "empty", CreatedAt: w.now, ChangedAt: w.now}
	empty.ID = must(w.CreateGroup(w.ctx, empty, nil))(t)
	for _, bad := range []store.ProvisionedGroup{{Provider: "corp", Name: "NORTH"}, {Provider: "corp", Name: "x", ExternalID: "1"}} {
		_, err := w.CreateGroup(w.ctx, bad, nil)
		refused(t, err, crowd.Conflict)
	}
	_, err := w.CreateGroup(w.ctx, store.ProvisionedGroup{Provider: "corp", Name: "x"}, []int64{a, stranger})
	refused(t, err, crowd.NotFound)
	f := store.ProvisionedFilter{Provider: "corp", Limit: 10}
	same(t, "groups", must(w.ListGroups(w.ctx, f))(t), []store.ProvisionedGroup{g, empty})
	f.Name = "north"
	same(t, "by name", must(w.ListGroups(w.ctx, f))(t), []store.ProvisionedGroup{g})
	same(t, "another's", must(w.ListGroups(w.ctx, store.ProvisionedFilter{Provider: "other", Limit: 10}))(t), nil)

	g.Name, g.ExternalID, g.ChangedAt = "northern", "", w.now.Add(time.Minute)
	ok(t, w.UpdateGroup(w.ctx, g, []int64{c, b}, []int64{a, 999}))
	same(t, "changed members", must(w.GroupMembers(w.ctx, g.ID))(t), []store.Member{{ID: b, Name: "b"}, {ID: c, Name: "c"}})
	f.Name, f.ID = "", g.ID
	same(t, "changed", must(w.ListGroups(w.ctx, f))(t), []store.ProvisionedGroup{g})
	refused(t, w.UpdateGroup(w.ctx, g, []int64{a, stranger}, nil), crowd.NotFound)
	same(t, "nothing of it is kept", len(must(w.GroupMembers(w.ctx, g.ID))(t)), 2)
	others := g
	others.Provider = "other"
	refused(t, w.UpdateGroup(w.ctx, others, nil, nil), crowd.NotFound)
	taken := g
	taken.Name = "EMPTY"
	refused(t, w.UpdateGroup(w.ctx, taken, nil, nil), crowd.Conflict)

	same(t, "of people", must(w.GroupsOf(w.ctx, []int64{a, b}))(t), map[int64][]store.ProvisionedGroup{b: {g}})
	gone := people[1]
	gone.DeletedAt, gone.ChangedAt = w.now, w.now.Add(time.Hour)
	g.ChangedAt = gone.ChangedAt
	ok(t, w.UpdateProvisioned(w.ctx, gone))
	same(t, "the group", must(w.ListGroups(w.ctx, f))(t), []store.ProvisionedGroup{g})
	same(t, "after one is gone", must(w.GroupMembers(w.ctx, g.ID))(t), []store.Member{{ID: c, Name: "c"}})
	refused(t, w.UpdateGroup(w.ctx, g, []int64{b}, nil), crowd.NotFound)
	same(t, "count", must(w.CountProvisioned(w.ctx, "corp"))(t), store.ProvisionedCount{People: 2, Groups: 2, ChangedAt: g.ChangedAt})

	refused(t, w.DeleteGroup(w.ctx, "other", g.ID), crowd.NotFound)
	ok(t, w.DeleteGroup(w.ctx, "corp", g.ID))
	refused(t, w.DeleteGroup(w.ctx, "corp", g.ID), crowd.NotFound)
	same(t, "members of none", must(w.GroupMembers(w.ctx, g.ID))(t), nil)
	if c := must(w.CountProvisioned(w.ctx, "corp"))(t); c.Groups != 1 || c.ChangedAt.Before(g.ChangedAt) {
		t.Errorf("after a group is gone: %+v", c)
	}
}

func testProviderTokens(t *testing.T, w *world) {
	a := store.Token{Hash: "a", Kind: store.ProviderToken, User: w.workers[0], Provider: "corp"}
	b := store.Token{Hash: "b", Kind: store.ProviderToken, User: w.workers[1], Provider: "corp"}
	a.ID = must(w.CreateToken(w.ctx, a))(t)
	b.ID = must(w.CreateToken(w.ctx, b))(t)
	must(w.CreateToken(w.ctx, store.Token{Hash: "c", Kind: store.ProviderToken, User: w.workers[0], Provider: "other"}))(t)
	same(t, "tokens", must(w.ProviderTokens(w.ctx, "corp"))(t), []store.Token{a, b})
	same(t, "of none", must(w.ProviderTokens(w.ctx, "none"))(t), nil)
}
