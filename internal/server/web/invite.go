package web

import (
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/auth"
	"github.com/throng-dev/throng/internal/server/control"
	"github.com/throng-dev/throng/internal/store"
)

// invitationsShown is how many invitations are on a page.
const invitationsShown = 100

// chosenTenant is the tenant that a page of an operation is about, and those in its menu.
// Where one of several has to be named, the page opens at the first of the menu.
func (rq *request) chosenTenant(o access.Operation) (id crowd.TenantID, list []store.Tenant) {
	list = rq.tenantsFor(o)
	id, err := rq.p.TenantFor(o, idIn(rq, "tenant", crowd.ParseTenantID))
	if crowd.CodeOf(err) == crowd.Invalid && len(list) > 0 {
		id = list[0].ID
	}
	return id, list
}

// tenantsFor lists the tenants for which somebody may call an operation.
func (rq *request) tenantsFor(o access.Operation) []store.Tenant {
	return lists.Filter(ask(rq, rq.App.Tenants.List), func(t store.Tenant) bool { return rq.p.MayFor(o, t.ID) == nil })
}

// tenantMenu is a menu of tenants for an operation; who may do it for the installation may
// choose none.
func tenantMenu(p *access.Principal, o access.Operation, list []store.Tenant, none string) []choice {
	if p.MayFor(o, 0) == nil {
		return menu(list, tenantChoice, choice{"", none})
	}
	return menu(list, tenantChoice)
}

// menuTenant reads the choice from such a menu.
func (f *fields) menuTenant() crowd.TenantID {
	return parsed(f, "tenant", crowd.ParseTenantID, func(string) string { return "choose one" })
}

// handOut is a link that the inviter has to hand out themselves.
type handOut struct{ Address, Link string }

// inviting is what came of inviting people: the report, and the links that no mail
// carries.
type inviting struct {
	report *accounts.InviteReport
	links  []handOut
}

func (rq *request) invitations() error {
	tenant, tenants := rq.chosenTenant(access.InvitationsList)
	before, _ := strconv.ParseInt(rq.r.URL.Query().Get("before"), 10, 64) // what is no number is the first page
	list, err := rq.App.Invitations.List(rq.ctx(), rq.p, tenant, max(0, before), invitationsShown)
	rq.check(err)
	pools, made := ask(rq, rq.App.Pools.List), madeOf[inviting](rq)
	open := slices.DeleteFunc(slices.Clone(pools), func(v control.PoolView) bool { return !rq.mayInviteTo(&v.Pool) })
	data := map[string]any{
		"List": list, "Pools": menu(open, poolChoice), "PoolNames": poolNames(pools), "Tests": rq.testMenu(tenants), "Tenants": tenantMenu(rq.p, access.InvitationsInvite, tenants, "no tenant in particular"),
		"Tenant": rq.r.URL.Query().Get("tenant"), "TenantNames": tenantNames(tenants), "Report": made.report, "Links": made.links,
	}
	if len(list) == invitationsShown {
		data["Before"] = list[len(list)-1].ID
	}
	return rq.render("invitations", page{Title: "Invitations", Section: "invitations", Data: data})
}

// mayInviteTo reports whether somebody may invite to a pool, for any tenant of theirs.
func (rq *request) mayInviteTo(pool *store.Pool) bool {
	return rq.p.May(access.InvitationsAnywhere) == nil || slices.ContainsFunc(rq.p.TenantsWith(access.CanInvite), pool.AllowsInvite)
}

// testMenu lists the tests to which somebody may be invited.
func (rq *request) testMenu(tenants []store.Tenant) []choice {
	list := slices.DeleteFunc(rq.testsOf(tenants), func(t store.Test) bool { return t.Retired })
	names := tenantNames(tenants)
	return menu(list, func(t store.Test) choice {
		called := t.Name
		if owner := names[t.Tenant]; owner != "" {
			called += " of " + owner
		}
		return choice{strconv.FormatInt(t.ID, 10), called}
	}, choice{"", "no test"})
}

// testsOf lists the tests that somebody who gives tests sees, each once.
func (rq *request) testsOf(tenants []store.Tenant) (all []store.Test) {
	if rq.p.MayFor(access.TestsList, 0) == nil {
		return askOf(rq, 0, rq.App.Tests.List)
	}
	for _, t := range tenants {
		for _, x := range askOf(rq, t.ID, rq.App.Tests.List) {
			if !slices.ContainsFunc(all, func(y store.Test) bool { return y.ID == x.ID }) {
				all = append(all, x)
			}
		}
	}
	return all
}

// invite invites people. Where no mail carries the links they are shown, this
// once.
func (rq *request) invite() error {
	f := rq.sent()
	n := accounts.NewInvitations{Tenant: f.menuTenant(), Note: f.text("note"), Life: f.scale("days", 24*time.Hour), Test: int64(f.wholeNumber("test"))}
	n.Addresses, n.Lines = accounts.SplitAddresses(f.values.Get("addresses"))
	var err error
	if n.Pool, err = crowd.ParsePoolID(f.text("pool")); err != nil {
		f.bad("pool", "choose one")
	}
	if err := f.err(); err != nil {
		return err
	}
	report, err := rq.App.Invitations.Invite(rq.ctx(), rq.p, n)
	if err != nil {
		return err
	}
	rq.made = inviting{&report, rq.handOuts(report.Invited...)}
	return rq.invitations()
}

func (rq *request) handOuts(list ...accounts.InvitationView) []handOut {
	var links []handOut
	for _, i := range list {
		if i.Token != "" {
			links = append(links, handOut{i.Address, rq.publicURL() + "/invitation?token=" + i.Token})
		}
	}
	return links
}

func (rq *request) resendInvitation(id int64) error {
	i := askOf(rq, id, rq.App.Invitations.Resend)
	if links := rq.handOuts(i); len(links) > 0 {
		rq.made = inviting{links: links}
		return rq.invitations()
	}
	return rq.seeOther("/invitations", "resent")
}

func (rq *request) withdrawInvitation(id int64) error {
	_, err := rq.App.Invitations.Withdraw(rq.ctx(), rq.p, id)
	return rq.done(err, "/invitations", "withdrawn")
}

// invitation is the page behind a link: what it is about, and whether one comes.
func (rq *request) invitation() error {
	token := rq.r.FormValue("token")                    // of the link, or of the form
	rq.w.Header().Set("Referrer-Policy", "no-referrer") // the address is a secret
	o, err := rq.App.Invitations.Open(rq.ctx(), token)
	if err != nil {
		return err
	}
	data := map[string]any{"Offer": o, "Token": token, "Least": auth.MinPassword, "Here": "/invitation?token=" + url.QueryEscape(token)}
	if rq.p != nil {
		data["MayNot"] = accounts.MayJoin(&rq.p.User)
	}
	return rq.render("invitation", page{Title: "You are invited", Data: data})
}

// answerInvitation joins, accepts or declines.
func (rq *request) answerInvitation() error {
	values := rq.r.PostForm
	token := values.Get("token")
	o, err := rq.App.Invitations.Open(rq.ctx(), token)
	if err != nil {
		rq.w.Header().Set("Referrer-Policy", "no-referrer")
		return err
	}
	switch values.Get("do") {
	case "decline":
		if err := rq.App.Invitations.Decline(rq.ctx(), token); err != nil {
			return err
		}
		return rq.render("declined", page{Title: "You have declined"})
	case "accept":
		if rq.p == nil {
			return rq.seeOther("/signin", "")
		}
		_, err = rq.App.Invitations.Accept(rq.ctx(), rq.p, token, nil)
	default:
		n := accounts.NewAccount{Name: values.Get("name"), FullName: values.Get("full_name")}
		if n.Password, err = newPassword(rq.r); err != nil {
			return err
		}
		var session string
		if session, err = rq.App.Invitations.Join(rq.ctx(), token, n); err == nil {
			err = rq.begin(session)
		}
	}
	if err != nil {
		return err
	}
	if o.Test != nil {
		return rq.seeOther("/qualify/"+strconv.FormatInt(o.Test.ID, 10), "joined")
	}
	if len(o.Asks) > 0 {
		return rq.seeOther("/work/wishes", "joined")
	}
	return rq.seeOther("/", "")
}
