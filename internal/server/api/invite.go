package api

import (
	"context"
	"net/http"
	"time"

	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/wire"
)

func (a *api) toInvitation(i accounts.InvitationView) wire.Invitation {
	return wire.Invitation{
		ID: i.ID, Tenant: i.Tenant, Pool: i.Pool, Test: i.Test, Address: i.Address, Note: i.Note, Stage: string(i.Stage),
		MailError: i.Mail.Error, InvitedBy: i.InvitedBy, CreatedAt: i.CreatedAt, ExpiresAt: i.ExpiresAt, OpenedAt: i.OpenedAt, AnsweredAt: i.AnsweredAt,
		Worker: i.By.Pseudonym, WorkerID: i.By.ID, Token: i.Token, Link: a.link("/invitation?token=", i.Token),
	}
}

func toOffer(names accounts.Names, o accounts.Offer) wire.Offer {
	out := wire.Offer{Pool: o.Pool.Name, Tenant: o.Tenant, By: o.By, Address: o.Address, Note: o.Note, ExpiresAt: o.ExpiresAt,
		Asks: lists.Map(o.Asks, toNamedPool)}
	if o.Test != nil {
		test := toTest(names, *o.Test)
		out.Test = &test
	}
	return out
}

const inviteTag = "Invitations"

func (a *api) invitations() {
	add(a, op{method: http.MethodPost, path: "/v1/invitations", summary: "Invite people by e-mail", tag: inviteTag, access: access.InvitationsInvite, secret: true, status: http.StatusCreated, maxBody: 4 << 20,
		text: "Admins invite to any pool; requesters for a tenant of theirs. If an address is malformed nobody is invited, and each is named by its place in the list. " +
			"Whoever is invited already is skipped. At most 10,000 at once, and as many a day as the tenant's quota says."},
		func(ctx context.Context, p *access.Principal, in *struct{ Body wire.NewInvitations }) (out wire.Invited, err error) {
			b := &in.Body
			r, err := a.app.Invitations.Invite(ctx, p, accounts.NewInvitations{Tenant: b.Tenant, Pool: b.Pool, Test: b.Test, Addresses: b.Addresses, Note: b.Note,
				Life: time.Duration(b.LifeSeconds) * time.Second})
			if err != nil {
				return out, err
			}
			skipped := lists.Map(r.Skipped, func(x accounts.SkippedAddress) wire.SkippedAddress { return wire.SkippedAddress(x) })
			return wire.Invited{Mail: r.Mail, Invited: lists.Map(r.Invited, a.toInvitation), Skipped: skipped}, nil
		})
	add(a, op{method: http.MethodGet, path: "/v1/invitations", summary: "List invitations", tag: inviteTag, access: signedIn,
		text: "Newest first; go on with `before`, the last id seen. Admins see all, requesters those of a tenant of theirs."},
		func(ctx context.Context, p *access.Principal, in *struct {
			OfTenant
			Before int64 `query:"before" minimum:"0"`
			Limit  int   `query:"limit" minimum:"1" maximum:"1000" default:"100"`
		}) ([]wire.Invitation, error) {
			return each(a.toInvitation)(a.app.Invitations.List(ctx, p, in.tenant, in.Before, in.Limit))
		})
	ofOne := []struct {
		method, suffix, summary, text string
		do                            func(context.Context, *access.Principal, int64) (accounts.InvitationView, error)
	}{
		{http.MethodGet, "", "Show an invitation", "", a.app.Invitations.Get},
		{http.MethodPost, "/resend", "Send an invitation again",
			"Also one that has expired: the new link works for 14 days. One that is still on its way cannot be sent again.", a.app.Invitations.Resend},
		{http.MethodPost, "/withdraw", "Withdraw an invitation: its links work no longer", "", a.app.Invitations.Withdraw},
	}
	for _, o := range ofOne {
		add(a, op{method: o.method, path: "/v1/invitations/{id}" + o.suffix, summary: o.summary, text: o.text, tag: inviteTag, access: signedIn, secret: o.suffix == "/resend"},
			of[InvitationPath](o.do, a.toInvitation))
	}
	a.invited()
}

// invited registers what somebody who is invited can do with their link.
func (a *api) invited() {
	add(a, op{method: http.MethodGet, path: "/v1/invitation", summary: "Look at the invitation that you have a link of", tag: inviteTag},
		func(ctx context.Context, _ *access.Principal, in *struct {
			Token string `query:"token" required:"true" doc:"from the link: …/invitation?token=THIS"`
		}) (wire.Offer, error) {
			return named(ctx, a, toOffer)(a.app.Invitations.Open(ctx, in.Token))
		})
	add(a, op{method: http.MethodPost, path: "/v1/invitation/join", summary: "Accept an invitation with a new account, and sign in", tag: inviteTag,
		text: "`prefers` says which work you like, by pool, from 0 to 1: the invitation lists in `asks` the pools between which people move, or which call only those who like their work enough. It can be changed with `PUT /v1/me/wishes`."},
		func(ctx context.Context, _ *access.Principal, in *struct{ Body wire.Join }) (out wire.Secret, err error) {
			b := &in.Body
			prefers, err := preferences(b.Prefers)
			if err != nil {
				return out, err
			}
			return as(toSecret)(a.app.Invitations.Join(ctx, b.Token, accounts.NewAccount{Name: b.Name, FullName: b.FullName, Password: b.Password, Prefers: prefers}))
		})
	add(a, op{method: http.MethodPost, path: "/v1/invitation/accept", summary: "Accept an invitation with the account that you have", tag: inviteTag, access: access.InvitationsAccept},
		func(ctx context.Context, p *access.Principal, in *struct{ Body wire.Acceptance }) (out wire.User, err error) {
			prefers, err := preferences(in.Body.Prefers)
			if err != nil {
				return out, err
			}
			return named(ctx, a, toUser)(a.app.Invitations.Accept(ctx, p, in.Body.Token, prefers))
		})
	addAction(a, op{method: http.MethodPost, path: "/v1/invitation/decline", summary: "Decline an invitation", tag: inviteTag},
		func(ctx context.Context, _ *access.Principal, in *struct{ Body wire.InvitationToken }) error {
			return a.app.Invitations.Decline(ctx, in.Body.Token)
		})
}
