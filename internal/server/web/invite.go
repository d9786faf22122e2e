package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/auth"
	"github.com/throng-dev/throng/internal/store"
)

// invitationsShown is how many invitations are on a page.
const invitationsShown = 100

// chosenTenant is the tenant that a page is about: the one that was asked for,
// for a requester else their first. 0, for an admin, is none.
func (s *server) chosenTenant(r *http.Request, p *access.Principal) (crowd.TenantID, []store.Tenant, error) {
	list, err := s.App.Tenants.List(r.Context(), p)
	if err != nil {
		return 0, nil, err
	}
	id, err := idIn(r, "tenant", crowd.ParseTenantID)
	if id == 0 && err == nil && !p.Is(access.Admin) && len(list) > 0 {
		id = list[0].ID
	}
	return id, list, err
}

// tenantMenu is a menu of tenants; an admin may choose none.
func tenantMenu(p *access.Principal, list []store.Tenant, none string) []choice {
	if p.Is(access.Admin) {
		return menu(list, tenantChoice, choice{"", none})
	}
	return menu(list, tenantChoice)
}

// menuTenant reads the choice from such a menu.
func (f *fields) menuTenant() crowd.TenantID {
	text := f.text("tenant")
	if text == "" {
		return 0
	}
	id, err := crowd.ParseTenantID(text)
	if err != nil {
		f.bad("tenant", "choose one")
	}
	return id
}

// handOut is a link that the inviter has to hand out themselves.
type handOut struct{ Address, Link string }

// inviting is what came of inviting people: the report, and the links that no mail
// carries.
type inviting struct {
	report *accounts.InviteReport
	links  []handOut
}

func (s *server) invitations(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	tenant, tenants, err := s.chosenTenant(r, p)
	if err != nil {
		return err
	}
	before, _ := strconv.ParseInt(r.URL.Query().Get("before"), 10, 64) // what is no number is the first page
	list, err := s.App.Invitations.List(r.Context(), p, tenant, max(0, before), invitationsShown)
	if err != nil {
		return err
	}
	pools, err := s.App.Pools.List(r.Context(), p)
	if err != nil {
		return err
	}
	tests, err := s.testMenu(r, p, tenants)
	if err != nil {
		return err
	}
	made := madeOf[inviting](r)
	data := map[string]any{
		"List": list, "Pools": menu(pools, poolChoice), "PoolNames": poolNames(pools), "Tests": tests, "Tenants": tenantMenu(p, tenants, "no tenant in particular"),
		"Tenant": r.URL.Query().Get("tenant"), "TenantNames": tenantNames(tenants), "Report": made.report, "Links": made.links,
	}
	if len(list) == invitationsShown {
		data["Before"] = list[len(list)-1].ID
	}
	return s.render(w, r, p, "invitations", page{Title: "Invitations", Section: "invitations", Data: data})
}

// testMenu lists the tests to which somebody may be invited.
func (s *server) testMenu(r *http.Request, p *access.Principal, tenants []store.Tenant) ([]choice, error) {
	list, err := s.testsOf(r, p, tenants)
	list = slices.DeleteFunc(list, func(t store.Test) bool { return t.Retired })
	return menu(list, func(t store.Test) choice { return choice{strconv.FormatInt(t.ID, 10), t.Name} }, choice{"", "no test"}), err
}

// testsOf lists the tests that somebody who gives tests sees, each once.
func (s *server) testsOf(r *http.Request, p *access.Principal, tenants []store.Tenant) ([]store.Test, error) {
	if p.Is(access.Admin) {
		return s.App.Tests.List(r.Context(), p, 0)
	}
	var all []store.Test
	for _, t := range tenants {
		list, err := s.App.Tests.List(r.Context(), p, t.ID)
		if err != nil {
			return nil, err
		}
		for _, x := range list {
			if !slices.ContainsFunc(all, func(y store.Test) bool { return y.ID == x.ID }) {
				all = append(all, x)
			}
		}
	}
	return all, nil
}

// invite invites people. Where no mail carries the links they are shown, this
// once.
func (s *server) invite(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	f := sent(r)
	n := accounts.NewInvitations{Tenant: f.menuTenant(), Note: f.text("note"), Life: f.scale("days", 24*time.Hour), Test: int64(f.whole("test"))}
	n.Addresses, n.Lines = accounts.SplitAddresses(f.values.Get("addresses"))
	var err error
	if n.Pool, err = crowd.ParsePoolID(f.text("pool")); err != nil {
		f.bad("pool", "choose one")
	}
	if err := f.err(); err != nil {
		return err
	}
	report, err := s.App.Invitations.Invite(r.Context(), p, n)
	if err != nil {
		return err
	}
	return s.invitations(w, showing(r, once{made: inviting{&report, s.handOuts(r, report.Invited...)}}), p)
}

func (s *server) handOuts(r *http.Request, list ...accounts.InvitationView) []handOut {
	var links []handOut
	for _, i := range list {
		if i.Token != "" {
			links = append(links, handOut{i.Address, s.origin(r) + "/invitation?token=" + i.Token})
		}
	}
	return links
}

func (s *server) resendInvitation(w http.ResponseWriter, r *http.Request, p *access.Principal, id int64) error {
	i, err := s.App.Invitations.Resend(r.Context(), p, id)
	if err != nil {
		return err
	}
	if links := s.handOuts(r, i); len(links) > 0 {
		return s.invitations(w, showing(r, once{made: inviting{links: links}}), p)
	}
	return seeOther(w, r, "/invitations", "resent")
}

func (s *server) withdrawInvitation(w http.ResponseWriter, r *http.Request, p *access.Principal, id int64) error {
	_, err := s.App.Invitations.Withdraw(r.Context(), p, id)
	return done(w, r, err, "/invitations", "withdrawn")
}

// invitation is the page behind a link: what it is about, and whether one comes.
func (s *server) invitation(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	token := r.FormValue("token")                    // of the link, or of the form
	w.Header().Set("Referrer-Policy", "no-referrer") // the address is a secret
	o, err := s.App.Invitations.Open(r.Context(), token)
	if err != nil {
		return err
	}
	return s.render(w, r, p, "invitation", page{Title: "You are invited", Data: map[string]any{
		"Offer": o, "Token": token, "Least": auth.MinPassword, "Here": "/invitation?token=" + url.QueryEscape(token),
	}})
}

// answerInvitation joins, accepts or declines.
func (s *server) answerInvitation(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	values := r.PostForm
	token := values.Get("token")
	o, err := s.App.Invitations.Open(r.Context(), token)
	if err != nil {
		w.Header().Set("Referrer-Policy", "no-referrer")
		return err
	}
	switch values.Get("do") {
	case "decline":
		if err := s.App.Invitations.Decline(r.Context(), token); err != nil {
			return err
		}
		return s.render(w, r, p, "declined", page{Title: "You have declined"})
	case "accept":
		if p == nil {
			return seeOther(w, r, "/signin", "")
		}
		_, err = s.App.Invitations.Accept(r.Context(), p, token)
	default:
		n := accounts.NewAccount{Name: values.Get("name"), FullName: values.Get("full_name")}
		if n.Password, err = newPassword(r); err != nil {
			return err
		}
		var session string
		if session, err = s.App.Invitations.Join(r.Context(), token, n); err == nil {
			s.setSession(w, r, session, cookieLife)
		}
	}
	if err != nil {
		return err
	}
	if o.Test != nil {
		return seeOther(w, r, "/qualify/"+strconv.FormatInt(o.Test.ID, 10), "joined")
	}
	return seeOther(w, r, "/", "")
}
