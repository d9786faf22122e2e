package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/app"
)

type InvitationOut struct {
	ID         int64               `json:"id"`
	Tenant     *crowd.TenantID     `json:"tenant,omitempty" doc:"for which the person is invited"`
	Pool       crowd.PoolID        `json:"pool"`
	Test       *int64              `json:"test,omitempty" doc:"to be passed first"`
	Address    string              `json:"address"`
	Note       string              `json:"note,omitempty"`
	Stage      app.InvitationStage `json:"stage" enum:"queued,sent,failed,to hand out,opened,accepted,declined,withdrawn,expired"`
	MailError  string              `json:"mail_error,omitempty" doc:"of the last try to send it"`
	InvitedBy  crowd.WorkerID      `json:"invited_by"`
	CreatedAt  time.Time           `json:"created_at"`
	ExpiresAt  time.Time           `json:"expires_at"`
	OpenedAt   *time.Time          `json:"opened_at,omitempty"`
	AnsweredAt *time.Time          `json:"answered_at,omitempty" doc:"accepted, declined or withdrawn"`
	Worker     *crowd.WorkerID     `json:"worker,omitempty" doc:"who has accepted"`
	Token      string              `json:"token,omitempty" doc:"for the link …/invitation?token=THIS; only where the server sends no mail, and only this once"`
}

func toInvitationOut(i app.InvitationView) InvitationOut {
	return InvitationOut{
		ID: i.ID, Tenant: ptr(i.Tenant), Pool: i.Pool, Test: ptr(i.Test), Address: i.Address, Note: i.Note, Stage: i.Stage,
		MailError: i.Mail.Error, InvitedBy: i.InvitedBy, CreatedAt: i.CreatedAt, ExpiresAt: i.ExpiresAt, OpenedAt: ptr(i.OpenedAt), AnsweredAt: ptr(i.AnsweredAt),
		Worker: ptr(i.Worker), Token: i.Token,
	}
}

type InvitationPath struct {
	ID string `path:"id" example:"12"`
}

func (i InvitationPath) invitation() (int64, error) { return number(i.ID, "invitation") }

// number reads an id that is a plain number.
func number(text, noun string) (int64, error) {
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil || n == 0 {
		return 0, &crowd.Error{Code: crowd.NotFound, Field: noun, Message: "no such " + noun}
	}
	return int64(n), nil
}

type invitationOut struct{ Body InvitationOut }

const inviteTag = "Invitations"

func (a *api) invitations() {
	type skipped struct {
		Address string `json:"address"`
		Line    int    `json:"line" doc:"its place in the list, from 1"`
		Why     string `json:"why"`
	}
	type invitedOut struct {
		Body struct {
			Mail    bool            `json:"mail" doc:"the links are sent by mail; if not, hand them out yourself: each invitation has its token"`
			Invited []InvitationOut `json:"invited"`
			Skipped []skipped       `json:"skipped"`
		}
	}
	add(a, op{method: http.MethodPost, path: "/v1/invitations", summary: "Invite people by e-mail", tag: inviteTag, access: signedIn, status: http.StatusCreated, maxBody: 4 << 20,
		text: "Admins invite to any pool; requesters for a tenant of theirs. If an address is malformed nobody is invited, and each is named by its place in the list. " +
			"Whoever is invited already is skipped. At most 10,000 at once, and in an hour for a tenant."},
		func(ctx context.Context, p *app.Principal, in *struct {
			Body struct {
				Pool        crowd.PoolID   `json:"pool"`
				Addresses   []string       `json:"addresses"`
				Tenant      crowd.TenantID `json:"tenant,omitempty" doc:"for which they are invited; requesters of one tenant may leave it out, admins always"`
				Test        int64          `json:"test,omitempty" doc:"the id of a test that they have to pass first"`
				Note        string         `json:"note,omitempty" doc:"to the invited"`
				LifeSeconds int64          `json:"life_seconds,omitempty" minimum:"0" maximum:"2592000" doc:"how long the links work; default: 14 days"`
			}
		}) (*invitedOut, error) {
			b := in.Body
			r, err := a.app.Invitations.Invite(ctx, p, app.NewInvitations{Tenant: ownTenant(p, b.Tenant), Pool: b.Pool, Test: b.Test, Addresses: b.Addresses, Note: b.Note,
				Life: time.Duration(b.LifeSeconds) * time.Second})
			if err != nil {
				return nil, err
			}
			out := &invitedOut{}
			out.Body.Mail, out.Body.Invited = r.Mail, mapped(r.Invited, toInvitationOut)
			out.Body.Skipped = mapped(r.Skipped, func(x app.SkippedAddress) skipped { return skipped(x) })
			return out, nil
		})
	add(a, op{method: http.MethodGet, path: "/v1/invitations", summary: "List invitations", tag: inviteTag, access: signedIn,
		text: "Newest first; go on with `before`, the last id seen. Admins see all, requesters those of a tenant of theirs."},
		func(ctx context.Context, p *app.Principal, in *struct {
			Tenant string `query:"tenant"`
			Before int64  `query:"before" minimum:"0"`
			Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
		}) (*struct{ Body []InvitationOut }, error) {
			tenant, err := optional(in.Tenant, crowd.ParseTenantID)
			if err != nil {
				return nil, err
			}
			list, err := a.app.Invitations.List(ctx, p, ownTenant(p, tenant), in.Before, in.Limit)
			return &struct{ Body []InvitationOut }{mapped(list, toInvitationOut)}, err
		})
	add(a, op{method: http.MethodGet, path: "/v1/invitations/{id}", summary: "Show an invitation", tag: inviteTag, access: signedIn},
		func(ctx context.Context, p *app.Principal, in *InvitationPath) (*invitationOut, error) {
			id, err := in.invitation()
			if err != nil {
				return nil, err
			}
			i, err := a.app.Invitations.Get(ctx, p, id)
			return &invitationOut{toInvitationOut(i)}, err
		})
	add(a, op{method: http.MethodPost, path: "/v1/invitations/{id}/resend", summary: "Send an invitation again", tag: inviteTag, access: signedIn,
		text: "Also one that has expired: the new link works for 14 days. One that is still on its way cannot be sent again."},
		func(ctx context.Context, p *app.Principal, in *InvitationPath) (*invitationOut, error) {
			id, err := in.invitation()
			if err != nil {
				return nil, err
			}
			i, err := a.app.Invitations.Resend(ctx, p, id)
			return &invitationOut{toInvitationOut(i)}, err
		})
	add(a, op{method: http.MethodPost, path: "/v1/invitations/{id}/withdraw", summary: "Withdraw an invitation: its links work no longer", tag: inviteTag, access: signedIn},
		func(ctx context.Context, p *app.Principal, in *InvitationPath) (*invitationOut, error) {
			id, err := in.invitation()
			if err != nil {
				return nil, err
			}
			i, err := a.app.Invitations.Withdraw(ctx, p, id)
			return &invitationOut{toInvitationOut(i)}, err
		})
	a.invited()
}

// ownTenant is the tenant that is meant where none is named: that of a requester
// of one. For an admin none is an answer of its own.
func ownTenant(p *app.Principal, named crowd.TenantID) crowd.TenantID {
	if own := p.Tenants(); named == 0 && !p.Is(app.Admin) && len(own) == 1 {
		return own[0]
	}
	return named
}

// invited is what somebody who is invited can do with his link.
func (a *api) invited() {
	type offer struct {
		Pool      string    `json:"pool" doc:"the name of the pool"`
		Tenant    string    `json:"tenant,omitempty" doc:"the name of the tenant for which he is invited"`
		By        string    `json:"by" doc:"who invites"`
		Address   string    `json:"address"`
		Note      string    `json:"note,omitempty"`
		ExpiresAt time.Time `json:"expires_at"`
		Test      *TestOut  `json:"test,omitempty" doc:"to be passed first"`
	}
	type tokenIn struct {
		Body struct {
			Token string `json:"token" doc:"from the link: …/invitation?token=THIS"`
		}
	}
	add(a, op{method: http.MethodGet, path: "/v1/invitation", summary: "Look at the invitation that you have a link of", tag: inviteTag},
		func(ctx context.Context, _ *app.Principal, in *struct {
			Token string `query:"token" required:"true" doc:"from the link: …/invitation?token=THIS"`
		}) (*struct{ Body offer }, error) {
			o, err := a.app.Invitations.Open(ctx, in.Token)
			if err != nil {
				return nil, err
			}
			out := offer{Pool: o.Pool.Name, Tenant: o.Tenant, By: o.By, Address: o.Address, Note: o.Note, ExpiresAt: o.ExpiresAt}
			if o.Test != nil {
				out.Test = ptr(toTestOut(*o.Test))
			}
			return &struct{ Body offer }{out}, nil
		})
	add(a, op{method: http.MethodPost, path: "/v1/invitation/join", summary: "Accept an invitation with a new account, and sign in", tag: inviteTag},
		func(ctx context.Context, _ *app.Principal, in *struct {
			Body struct {
				Token    string `json:"token" doc:"from the link: …/invitation?token=THIS"`
				Name     string `json:"name" doc:"to sign in with"`
				FullName string `json:"full_name,omitempty"`
				Password string `json:"password"`
			}
		}) (*secretOut, error) {
			s, err := a.app.Invitations.Join(ctx, in.Body.Token, app.NewAccount{Name: in.Body.Name, FullName: in.Body.FullName, Password: in.Body.Password})
			return secret(s), err
		})
	add(a, op{method: http.MethodPost, path: "/v1/invitation/accept", summary: "Accept an invitation with the account that you have", tag: inviteTag, access: signedIn},
		func(ctx context.Context, p *app.Principal, in *tokenIn) (*struct{ Body UserOut }, error) {
			u, err := a.app.Invitations.Accept(ctx, p, in.Body.Token)
			return &struct{ Body UserOut }{toUserOut(u)}, err
		})
	add(a, op{method: http.MethodPost, path: "/v1/invitation/decline", summary: "Decline an invitation", tag: inviteTag, status: http.StatusNoContent},
		func(ctx context.Context, _ *app.Principal, in *tokenIn) (*nothing, error) {
			return nil, a.app.Invitations.Decline(ctx, in.Body.Token)
		})
}
