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
	if text := r.URL.Query().Get("tenant"); text != "" {
		id, err := crowd.ParseTenantID(text)
		return id, list, err
	}
	if !p.Is(access.Admin) && len(list) > 0 {
		return list[0].ID, list, nil
	}
	return 0, list, nil
}

// tenantMenu is a menu of tenants; an admin may choose none.
func tenantMenu(p *access.Principal, list []store.Tenant, none string) []choice {
	var menu []choice
	if p.Is(access.Admin) {
		menu = append(menu, choice{"", none})
	}
	for _, t := range list {
		menu = append(menu, choice{t.ID.String(), t.Name})
	}
	return menu
}

// menuTenant reads the choice from such a menu.
func menuTenant(values url.Values) (crowd.TenantID, error) {
	text := values.Get("tenant")
	if text == "" {
		return 0, nil
	}
	id, err := crowd.ParseTenantID(text)
	if err != nil {
		return 0, crowd.Fieldf("tenant", "choose one")
	}
	return id, nil
}

// handOut is a link that the inviter has to hand out themselves.
type handOut struct{ Address, Link string }

func (s *server) invitations(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	return s.showInvitations(w, r, p, nil, nil, nil)
}

func (s *server) showInvitations(w http.ResponseWriter, r *http.Request, p *access.Principal, f *form, report *accounts.InviteReport, links []handOut) error {
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
	var menu []choice
	names := make(map[crowd.PoolID]string, len(pools))
	for _, x := range pools {
		menu = append(menu, choice{x.ID.String(), x.Name})
		names[x.ID] = x.Name
	}
	data := map[string]any{
		"List": list, "Pools": menu, "PoolNames": names, "Tests": tests, "Tenants": tenantMenu(p, tenants, "no tenant in particular"),
		"Tenant": r.URL.Query().Get("tenant"), "TenantNames": tenantNames(tenants), "Report": report, "Links": links,
	}
	if len(list) == invitationsShown {
		data["Before"] = list[len(list)-1].ID
	}
	return s.renderStatus(w, r, p, f.status(), "invitations", page{Title: "Invitations", Section: "invitations", Form: f, Data: data})
}

// testMenu lists the tests to which somebody may be invited.
func (s *server) testMenu(r *http.Request, p *access.Principal, tenants []store.Tenant) ([]choice, error) {
	list, err := s.testsOf(r, p, tenants)
	menu := []choice{{"", "no test"}}
	for _, t := range list {
		if !t.Retired {
			menu = append(menu, choice{strconv.FormatInt(t.ID, 10), t.Name})
		}
	}
	return menu, err
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
	values := r.PostForm
	f := fields{values: values}
	n := accounts.NewInvitations{Note: f.text("note"), Life: f.scale("days", 24*time.Hour), Test: int64(f.whole("test"))}
	n.Addresses, n.Lines = accounts.SplitAddresses(values.Get("addresses"))
	var err error
	if n.Pool, err = crowd.ParsePoolID(values.Get("pool")); err != nil {
		f.bad("pool", "choose one")
	}
	if n.Tenant, err = menuTenant(values); err != nil {
		f.bad("tenant", "choose one")
	}
	var report accounts.InviteReport
	if err = f.err(); err == nil {
		report, err = s.App.Invitations.Invite(r.Context(), p, n)
	}
	if err != nil {
		return showAgain(err, refusedOften("invite", values, err), func(bad *form) error { return s.showInvitations(w, r, p, bad, nil, nil) })
	}
	return s.showInvitations(w, r, p, nil, &report, s.handOuts(r, report.Invited...))
}

// refusedOften is refused, also for what was asked too often: what was typed
// should not be lost.
func refusedOften(id string, values url.Values, err error) *form {
	if crowd.CodeOf(err) == crowd.TooMany {
		return &form{ID: id, Values: values, Errs: problems(err)}
	}
	return refused(id, values, err)
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
		return s.showInvitations(w, r, p, nil, nil, links)
	}
	return seeOther(w, r, "/invitations", "resent")
}

func (s *server) withdrawInvitation(w http.ResponseWriter, r *http.Request, p *access.Principal, id int64) error {
	if _, err := s.App.Invitations.Withdraw(r.Context(), p, id); err != nil {
		return err
	}
	return seeOther(w, r, "/invitations", "withdrawn")
}

// invitation is the page behind a link: what it is about, and whether one comes.
func (s *server) invitation(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	return s.showInvitation(w, r, p, r.URL.Query().Get("token"), nil)
}

func (s *server) showInvitation(w http.ResponseWriter, r *http.Request, p *access.Principal, token string, f *form) error {
	w.Header().Set("Referrer-Policy", "no-referrer") // the address is a secret
	o, err := s.App.Invitations.Open(r.Context(), token)
	if err != nil {
		return err
	}
	return s.renderStatus(w, r, p, f.status(), "invitation", page{Title: "You are invited", Form: f, Data: map[string]any{
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
	typed := url.Values{"name": values["name"], "full_name": values["full_name"]} // no password is sent back
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
		if values.Get("password") != values.Get("again") {
			err = crowd.Fieldf("again", "is not the same as the password")
			break
		}
		var session string
		session, err = s.App.Invitations.Join(r.Context(), token, accounts.NewAccount{Name: values.Get("name"), FullName: values.Get("full_name"), Password: values.Get("password")})
		if err == nil {
			s.setSession(w, r, session, cookieLife)
		}
	}
	if err != nil {
		return showAgain(err, refusedOften("join", typed, err), func(f *form) error { return s.showInvitation(w, r, p, token, f) })
	}
	if o.Test != nil {
		return seeOther(w, r, "/qualify/"+strconv.FormatInt(o.Test.ID, 10), "joined")
	}
	return seeOther(w, r, "/", "")
}
