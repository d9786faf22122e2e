package app_test

import (
	"maps"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/recruit"
	"github.com/throng-dev/throng/internal/store"
)

// peopleStage is what the use cases of addresses, roles and providers act on.
type peopleStage struct {
	tess        *access.Principal // who has a password and a verified address, and is asked at another one
	addressLink string            // the token that asks her
	held        store.HeldRole    // a role of ann's tenant, which bob holds
	free        store.HeldRole    // one that nobody holds
	review      heldReview

	corp          *access.Principal // a provider
	corpToken     store.Token
	member, loner int64 // people of the provider: one who works, by its group, and one in no group
	crowdGroup    int64
	othersGroup   int64      // which has nobody
	came          store.User // who has signed in by the provider, which has not provisioned them
}

// thePeople makes what use cases of people act on.
func (w *world) thePeople(t *testing.T) (st peopleStage) {
	t.Helper()
	st.review = w.heldReview()
	m := &mailbox{}
	w.withPost(recruit.Senders{Mail: m.send})
	tess, link, err := w.Accounts.CreateUser(w.ctx, w.admin, accounts.NewUser{Name: "tess", Email: "tess@old.example", Tenants: []crowd.TenantID{w.a}})
	ok(t, err)
	must(w.Accounts.Setup(w.ctx, link, knownPassword))(t)
	st.tess = &access.Principal{User: must(w.store.User(w.ctx, tess.ID))(t)}
	ok(t, w.Accounts.ChangeAddress(w.ctx, st.tess, "tess@example.org", accounts.Proof{Password: knownPassword}))
	st.addressLink = w.asksAt(m, "tess@example.org")

	st.held, st.free = store.HeldRole{Role: w.role(w.a, "ours"), Tenant: w.a}, store.HeldRole{Role: w.role(w.a, "free"), Tenant: w.a}
	must(w.Accounts.GiveRole(w.ctx, w.admin, w.bob.User.ID, st.held))(t)

	st.corp = w.provider()
	st.corpToken = must(w.Provisioning.Tokens(w.ctx, w.admin, "corp"))(t)[0]
	added := func(name string) accounts.ProvisionedPerson {
		x := accounts.ProvisionedPerson{Active: true}
		x.UserName, x.ExternalID = name, "x-"+name
		return must(w.Provisioning.Add(w.ctx, st.corp, x))(t)
	}
	st.member, st.loner = added("member").ID, added("loner").ID
	var g accounts.ProvisionedGroup
	g.Name, g.Members = "crowd", []store.Member{{ID: st.member}}
	p := must(w.Provisioning.Person(w.ctx, st.corp, st.member))(t)
	st.crowdGroup = must(w.Provisioning.AddGroup(w.ctx, st.corp, g))(t).ID
	w.next(&access.Principal{User: must(w.store.User(w.ctx, p.User))(t)}) // they hold a task
	g.Name, g.Members = "others", nil
	st.othersGroup = must(w.Provisioning.AddGroup(w.ctx, st.corp, g))(t).ID
	st.came = store.User{Name: "came", CreatedAt: w.clock.now()}
	st.came.ID = must(w.store.PutIdentity(w.ctx, store.Identity{Issuer: "https://corp.example", Subject: "x-came", CreatedAt: w.clock.now()}, st.came))(t)
	return st
}

func init() {
	maps.Copy(thoroughly, map[string]func(x *trial, p *access.Principal) error{
		"Accounts.ChangeAddress": func(x *trial, _ *access.Principal) error {
			return x.Accounts.ChangeAddress(x.ctx, x.people.tess, "tess@new.example", accounts.Proof{Password: knownPassword})
		},
		"Accounts.AskForAddress": func(x *trial, _ *access.Principal) error {
			return x.Accounts.AskForAddress(x.ctx, x.people.tess, x.people.tess.User.ID)
		},
		"Accounts.AddressToConfirm": func(x *trial, _ *access.Principal) error {
			return second(x.Accounts.AddressToConfirm(x.ctx, x.people.tess, x.people.addressLink))
		},
		"Accounts.ConfirmAddress": func(x *trial, _ *access.Principal) error {
			return x.Accounts.ConfirmAddress(x.ctx, x.people.tess, x.people.addressLink)
		},
		"Accounts.BeforeErasure": func(x *trial, p *access.Principal) error {
			return second(x.Accounts.BeforeErasure(x.ctx, p, x.workers[3].User.ID))
		},

		"Accounts.CreateRole": func(x *trial, p *access.Principal) error {
			return second(x.Accounts.CreateRole(x.ctx, p, store.Role{Tenant: x.a, Name: "new", Permissions: []string{"people.read"}}))
		},
		"Accounts.ChangeRole": func(x *trial, p *access.Principal) error {
			return second(x.Accounts.ChangeRole(x.ctx, p, x.people.held, accounts.RoleEdit{Text: ptr("x"), Permissions: &[]string{"batches.read"}}.Apply))
		},
		"Accounts.RemoveRole": func(x *trial, p *access.Principal) error {
			return second(x.Accounts.RemoveRole(x.ctx, p, x.people.held))
		},
		"Accounts.GiveRole": func(x *trial, p *access.Principal) error {
			return second(x.Accounts.GiveRole(x.ctx, p, x.ann.User.ID, x.people.free))
		},
		"Accounts.TakeRole": func(x *trial, p *access.Principal) error {
			return second(x.Accounts.TakeRole(x.ctx, p, x.bob.User.ID, x.people.held))
		},
		"Retention.Set": func(x *trial, p *access.Principal) error {
			return second(x.Retention.Set(x.ctx, p, x.a, map[store.Retained]*int{store.RetainedLogs: days(400), store.RetainedAnswers: days(30_000)}))
		},
		"Retention.Preview": func(x *trial, p *access.Principal) error {
			return second(x.Retention.Preview(x.ctx, p, x.a, map[store.Retained]*int{store.RetainedAnswers: days(1), store.RetainedFiles: days(1)}))
		},

		"Provisioning.RevokeToken": func(x *trial, p *access.Principal) error {
			return x.Provisioning.RevokeToken(x.ctx, p, "corp", x.people.corpToken.ID)
		},
		"Provisioning.People": func(x *trial, _ *access.Principal) error {
			_, _, err := x.Provisioning.People(x.ctx, x.people.corp, store.ProvisionedFilter{Limit: 9}, nil)
			return err
		},
		"Provisioning.Person": func(x *trial, _ *access.Principal) error {
			return second(x.Provisioning.Person(x.ctx, x.people.corp, x.people.member))
		},
		"Provisioning.Add": func(x *trial, _ *access.Principal) error {
			p := accounts.ProvisionedPerson{Active: true}
			p.UserName, p.ExternalID = "newcomer", "x-newcomer"
			return second(x.Provisioning.Add(x.ctx, x.people.corp, p))
		},
		"Provisioning.Add: for somebody who was here": func(x *trial, _ *access.Principal) error {
			var p accounts.ProvisionedPerson
			p.UserName, p.ExternalID, p.Profile.FullName = "came.in", "x-came", "Came In"
			return second(x.Provisioning.Add(x.ctx, x.people.corp, p))
		},
		"Provisioning.Change": func(x *trial, _ *access.Principal) error {
			return second(x.Provisioning.Change(x.ctx, x.people.corp, x.people.member, func(p *accounts.ProvisionedPerson) error {
				p.Active, p.UserName, p.Profile.FullName = false, "other", "Other"
				return nil
			}))
		},
		"Provisioning.Remove": func(x *trial, _ *access.Principal) error {
			return x.Provisioning.Remove(x.ctx, x.people.corp, x.people.member, noCheck)
		},
		"Provisioning.Groups": func(x *trial, _ *access.Principal) error {
			_, _, err := x.Provisioning.Groups(x.ctx, x.people.corp, store.ProvisionedFilter{Limit: 9}, true, nil)
			return err
		},
		"Provisioning.Group": func(x *trial, _ *access.Principal) error {
			return second(x.Provisioning.Group(x.ctx, x.people.corp, x.people.crowdGroup))
		},
		"Provisioning.AddGroup": func(x *trial, _ *access.Principal) error {
			var g accounts.ProvisionedGroup
			g.Name, g.Members = "north", []store.Member{{ID: x.people.loner}}
			return second(x.Provisioning.AddGroup(x.ctx, x.people.corp, g))
		},
		"Provisioning.ChangeGroup": func(x *trial, _ *access.Principal) error {
			return second(x.Provisioning.ChangeGroup(x.ctx, x.people.corp, x.people.crowdGroup, func(g *accounts.ProvisionedGroup) error {
				g.Members = []store.Member{{ID: x.people.loner}}
				return nil
			}))
		},
		"Provisioning.RemoveGroup": func(x *trial, _ *access.Principal) error {
			return x.Provisioning.RemoveGroup(x.ctx, x.people.corp, x.people.crowdGroup, noCheck)
		},
		"Provisioning.RemoveGroup: the last": func(x *trial, _ *access.Principal) error { // open has removed the other one
			return x.Provisioning.RemoveGroup(x.ctx, x.people.corp, x.people.crowdGroup, noCheck)
		},
	})
}

// settled are the use cases after which people become what their groups make them, at once
// or after the next start, and whether the provider's member and loner are that.
var settled = map[string]func(member, loner *store.User) bool{
	"Provisioning.AddGroup":    func(_, loner *store.User) bool { return len(loner.Tenants) == 1 },
	"Provisioning.ChangeGroup": func(member, loner *store.User) bool { return member.Pool == 0 && loner.Pool == 1 },
	"Provisioning.RemoveGroup": func(member, _ *store.User) bool { return member.Pool == 0 },

	"Provisioning.RemoveGroup: the last": func(member, _ *store.User) bool { return member.Pool == 0 },
}

// settle starts the server again, and waits until people are what their groups make them.
func (x *trial) settle(name string) {
	is := settled[name]
	if is == nil {
		return
	}
	x.close()
	x.withPost(recruit.Senders{})
	by := func(name string) *store.User {
		u := must(x.store.UserByName(x.ctx, name))(x.t)
		return &u
	}
	x.until(func() bool { return is(by("member"), by("loner")) })
}

func init() { // what groups make people is done at once, or a minute later, or at the next start
	const why = "the groups are kept; people are what these make them a little later"
	for _, name := range []string{"AddGroup", "ChangeGroup"} {
		for _, method := range []string{"ListProvisioned", "ListRoles", "User", "ListGroups", "GroupsOf", "Tenant", "UpdateUser", "Commit"} {
			x := excuse{why: why, race: true, unheard: true}
			if name == "AddGroup" {
				x.again = crowd.Conflict
			}
			excused["Provisioning."+name+"/"+method] = x
		}
	}
	excused["Provisioning.Change/Commit"] = excuse{why: "the pool gives back what they hold when it goes on", unheard: true, differs: []string{"assignments", "duties"}}
	excused["Provisioning.AddGroup/GroupMembers"] = excuse{why: "the group is there; only its members could not be read", again: crowd.Conflict}
}

// TestAStartDoesNotPutBackWhomAProviderTakesOut: what a start does to people of a provider
// does not fall within one of the provider's changes.
func TestAStartDoesNotPutBackWhomAProviderTakesOut(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	for range 40 {
		x := st.open(t, t.TempDir(), "Provisioning.Remove")
		p := must(x.Provisioning.Person(x.ctx, x.people.corp, x.people.member))(t)
		ok(t, x.Provisioning.Remove(x.ctx, x.people.corp, x.people.member, noCheck))
		if u := must(x.store.User(x.ctx, p.User))(t); u.Pool != 0 || !u.Suspended {
			t.Fatalf("who was taken out is in pool %d, suspended %t", u.Pool, u.Suspended)
		}
		x.close()
	}
}
