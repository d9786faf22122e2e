package pay

import (
	"context"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/store"
)

// Sums returns what the worker's held pay comes to.
func (s *Pay) Sums(ctx context.Context, p *access.Principal) (store.PaySums, error) {
	if err := p.May(access.PaySums); err != nil {
		return store.PaySums{}, err
	}
	return s.store.PaySums(ctx, p.User.ID)
}

// Own returns what of the worker's pay was held, that of the latest batches first. more reports whether there
// is some after that.
func (s *Pay) Own(ctx context.Context, p *access.Principal, q Query) (list []store.HeldPay, more bool, err error) {
	if err := p.May(access.PayOwn); err != nil {
		return nil, false, err
	}
	list, err = s.store.ListPay(ctx, store.PayQuery{Worker: p.User.ID, State: q.State, After: q.After, Latest: true, Limit: q.Limit + 1})
	if more = len(list) > q.Limit; more {
		list = list[:q.Limit]
	}
	for i := range list {
		own(&list[i])
	}
	return list, more, err
}

// own leaves out what a worker is not told: who decided of their pay, and the number of the task, which is
// another one for workers of batches with checks.
func own(x *store.HeldPay) {
	x.Task, x.ClosedBy = 0, 0
	for _, said := range []*store.PaySaid{&x.Refusal, &x.Decision} {
		said.By, said.ByName = 0, ""
	}
}

// Appeal asks that the refusal of the worker's pay is looked at once more, once and in time.
func (s *Pay) Appeal(ctx context.Context, p *access.Principal, id crowd.AssignmentID, text string) (store.HeldPay, error) {
	if err := p.May(access.PayAppeal); err != nil {
		return store.HeldPay{}, err
	}
	text, err := checkText("text", text)
	if err != nil {
		return store.HeldPay{}, err
	}
	x, err := s.store.PayOf(ctx, 0, id)
	if crowd.CodeOf(err) == crowd.NotFound || err == nil && x.Worker != p.User.ID {
		return store.HeldPay{}, &crowd.Error{Code: crowd.NotFound, Field: "assignment", Message: "no pay of yours for " + id.String() + " was held for approval"}
	} else if err != nil {
		return x, err
	}
	b, err := s.store.Batch(ctx, 0, id.Batch())
	if err != nil {
		return x, err
	}
	now := s.clock.Time()
	c := store.PayChange{Assignment: id, Move: store.AppealPay, At: now, By: p.User.ID, Text: text, Due: now.Add(appealTime(&b))}
	list, err := s.store.ChangePay(ctx, x.Tenant, []store.PayChange{c})
	if err != nil {
		return x, err
	}
	s.changed(id.Batch(), c.Due)
	own(&list[0])
	return list[0], nil
}

// Appeals returns appeals that nobody has decided, in order of their assignments. more reports whether
// there are others after those.
func (s *Pay) Appeals(ctx context.Context, p *access.Principal, q Query) (list []Held, more bool, err error) {
	tenant, err := p.TenantFor(access.PayAppeals, q.Tenant)
	if err != nil {
		return nil, false, err
	}
	kept, err := s.store.ListPay(ctx, store.PayQuery{Tenant: tenant, State: store.PayAppealed, After: q.After, Limit: q.Limit + 1})
	if more = len(kept) > q.Limit; more {
		kept = kept[:q.Limit]
	}
	if err != nil {
		return nil, false, err
	}
	for _, x := range kept {
		h, err := s.viewer(p, x.Tenant).see(ctx, x)
		if err != nil {
			return nil, false, err
		}
		if x.Refusal.By == p.User.ID {
			if h.Refused, err = s.another(ctx, p, &x); err != nil {
				return nil, false, err
			}
		}
		list = append(list, h)
	}
	return list, more, nil
}

// appealTold is what the audit log says of the decision of an appeal.
type appealTold struct {
	Assignment crowd.AssignmentID
	Paid       bool
	Amount     crowd.Money
}

// Decide decides an appeal: it pays, or the refusal stays, which the worker is told why. Who refused does not
// decide, if anybody else of the tenant may.
func (s *Pay) Decide(ctx context.Context, p *access.Principal, id crowd.AssignmentID, pays bool, text string) (Held, error) {
	b, err := s.batch(ctx, p, access.PayDecide, id.Batch())
	if err != nil {
		return Held{}, err
	}
	if text, err = checkText("text", text); err != nil {
		return Held{}, err
	}
	x, err := s.store.PayOf(ctx, b.Spec.Tenant, id)
	if err != nil {
		return Held{}, err
	}
	now := s.clock.Time()
	c := store.PayChange{Assignment: id, Move: store.UpholdPay, At: now, By: p.User.ID, Text: text}
	if pays {
		c.Move = store.GrantPay
	}
	if x.Worker == p.User.ID {
		return Held{}, crowd.Errorf(crowd.Forbidden, "%s is your own answer: somebody else has to decide your appeal", id)
	}
	// Whether they refused it is asked where it is decided: they may do that at this very moment.
	if c.NotRefuser, err = s.another(ctx, p, &x); err != nil {
		return Held{}, err
	}
	ctx, act := p.Acting(ctx, access.PayDecide, store.AuditEntry{At: now, Tenant: b.Spec.Tenant, Kind: "batch", Object: b.Spec.ID.String()})
	act.After = appealTold{id, pays, x.Amount}
	list, err := s.store.ChangePay(ctx, b.Spec.Tenant, []store.PayChange{c})
	if err != nil {
		return Held{}, err
	}
	s.changed(id.Batch(), c.Due)
	return s.viewer(p, b.Spec.Tenant).see(ctx, list[0])
}

// another reports whether anybody else than p, and than the worker of the pay, holds a role of the tenant with which
// they may decide an appeal.
func (s *Pay) another(ctx context.Context, p *access.Principal, x *store.HeldPay) (bool, error) {
	custom, err := s.store.ListRoles(ctx)
	if err != nil {
		return false, err
	}
	return access.AnotherMay(ctx, s.store, custom, access.PayDecide, x.Tenant, p.User.ID, x.Worker)
}
