package web

import (
	"context"
	"net/http"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
)

// request is a request of a page or an action, while it is answered.
type request struct {
	*server
	w http.ResponseWriter
	r *http.Request
	p *access.Principal // who has signed in; nil only on public routes

	// What the page shows this once, after an action.
	form *form // that was refused, or nil
	made any   // what came of the action

	// err is the first error of ask and check: nothing is sent after it but the page
	// for errors.
	err error
}

func (rq *request) ctx() context.Context { return rq.r.Context() }

// sent returns the fields of the form that was sent.
func (rq *request) sent() *fields { return &fields{values: rq.r.PostForm} }

// madeOf returns what came of the action before the page, or the zero value.
func madeOf[T any](rq *request) T {
	made, _ := rq.made.(T)
	return made
}

// check keeps an error for render, if it is the first.
func (rq *request) check(err error) {
	if rq.err == nil {
		rq.err = err
	}
}

// balance is the balance of a tenant; 0 for who does not see its account.
func (rq *request) balance(id crowd.TenantID) crowd.Money {
	if rq.p.MayFor(access.TenantsAccount, id) != nil {
		return 0
	}
	return askOf(rq, id, func(ctx context.Context, p *access.Principal, id crowd.TenantID) (crowd.Money, error) {
		balance, _, err := rq.App.Tenants.Account(ctx, p, id, 0, 0)
		return balance, err
	})
}

// earned is what the worker has earned in all.
func (rq *request) earned() crowd.Money {
	return ask(rq, func(ctx context.Context, p *access.Principal) (crowd.Money, error) {
		earned, _, err := rq.App.Work.Earnings(ctx, p, 0)
		return earned, err
	})
}

// ask returns what a use case says to who has signed in. After an error of this or
// of an earlier one it is the zero value: a page asks for all that it shows, and
// render sees to the error.
func ask[T any](rq *request, of func(context.Context, *access.Principal) (T, error)) (out T) {
	if rq.err == nil {
		out, rq.err = of(rq.ctx(), rq.p)
	}
	return out
}

// askOf is ask for a use case about something.
func askOf[ID, T any](rq *request, id ID, of func(context.Context, *access.Principal, ID) (T, error)) (out T) {
	if rq.err == nil {
		out, rq.err = of(rq.ctx(), rq.p, id)
	}
	return out
}
