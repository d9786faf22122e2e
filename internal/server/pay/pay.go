package pay

import (
	"context"
	"log/slog"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/live"
	"github.com/throng-dev/throng/internal/server/pseudonym"
	"github.com/throng-dev/throng/internal/server/results"
	"github.com/throng-dev/throng/internal/store"
)

const (
	// MaxText is how many characters a reason, an appeal and its decision have at most.
	MaxText = 1000
	// MaxAtOnce is of how many answers one request may decide.
	MaxAtOnce = 500
)

// Pay is pay that waits for approval.
type Pay struct {
	store store.Store
	log   *slog.Logger
	clock live.Clock
	names *pseudonym.Names
	told  func(crowd.BatchID)
	hold  func() (release func())
	wake  chan struct{}
	next  nextDue
}

// Config is what it stands on.
type Config struct {
	Store store.Store
	Log   *slog.Logger
	Clock live.Clock
	// Names says how workers are called.
	Names *pseudonym.Names
	// Changed is told of batches of whose pay something was decided.
	Changed func(crowd.BatchID)
	// HoldLabels keeps workers from revising their answers until release is called: see results.Results.
	HoldLabels func() (release func())
}

// New makes the use case.
func New(cfg Config) *Pay {
	return &Pay{store: cfg.Store, log: cfg.Log, clock: cfg.Clock, names: cfg.Names, told: cfg.Changed, hold: cfg.HoldLabels, wake: make(chan struct{}, 1)}
}

// Held is the pay of an answer, as a requester sees it.
type Held struct {
	store.HeldPay // Worker and WorkerName are left out
	By            pseudonym.Worker
	Own           bool // it is of who looks, who cannot decide of it
	Refused       bool // who looks has refused it, and somebody else decides the appeal: only of Appeals
}

// viewer is how somebody sees held pay of a tenant's.
type viewer struct {
	self    crowd.WorkerID
	workers pseudonym.Reader
	staff   *pseudonym.Staff
}

func (s *Pay) viewer(p *access.Principal, tenant crowd.TenantID) viewer {
	return viewer{p.User.ID, s.names.For(p, tenant), pseudonym.StaffFor(s.store, p, tenant)}
}

func (v viewer) see(ctx context.Context, x store.HeldPay) (h Held, err error) {
	h = Held{HeldPay: x, By: v.workers.Show(x.Worker, x.WorkerName), Own: x.Worker == v.self}
	h.Worker, h.WorkerName, h.Appeal.By, h.Appeal.ByName = 0, "", 0, ""
	for _, said := range []*store.PaySaid{&h.Refusal, &h.Decision} {
		if said.ByName, err = v.staff.Show(ctx, said.By, said.ByName); err != nil {
			return h, err
		}
	}
	return h, nil
}

// Query asks for a page of held pay.
type Query struct {
	Batch  crowd.BatchID      // of a requester's list
	Tenant crowd.TenantID     // of a list of appeals; 0: of all whose the reader may see
	Worker string             // as pseudonym.Reader.Find says; "": of all
	State  store.PayState     // "": any
	After  crowd.AssignmentID // the last one of the page before; 0: the first page
	Limit  int
}

// batch returns a batch that p may see.
func (s *Pay) batch(ctx context.Context, p *access.Principal, o access.Operation, id crowd.BatchID) (store.Batch, error) {
	if err := p.May(o); err != nil {
		return store.Batch{}, err
	}
	b, err := s.store.Batch(ctx, 0, id)
	switch {
	case crowd.CodeOf(err) == crowd.NotFound:
		err = results.ErrBatch
	case err == nil:
		err = p.MayOn(o, b.Spec.Tenant, results.ErrBatch, access.ShowBatches...)
	}
	if err != nil {
		return store.Batch{}, err
	}
	return b, nil
}

// List returns held pay of a batch in order of its assignments. more reports whether there is some after
// that.
func (s *Pay) List(ctx context.Context, p *access.Principal, q Query) (b store.Batch, list []Held, more bool, err error) {
	if b, err = s.batch(ctx, p, access.PayList, q.Batch); err != nil {
		return b, nil, false, err
	}
	of := store.PayQuery{Tenant: b.Spec.Tenant, Batch: q.Batch, State: q.State, After: q.After, Limit: q.Limit + 1}
	v := s.viewer(p, b.Spec.Tenant)
	if q.Worker != "" {
		if of.Worker, err = v.workers.Find(q.Worker); err != nil {
			return b, nil, false, err
		}
	}
	kept, err := s.store.ListPay(ctx, of)
	if more = len(kept) > q.Limit; more {
		kept = kept[:q.Limit]
	}
	if err != nil {
		return b, nil, false, err
	}
	for _, x := range kept {
		h, err := v.see(ctx, x)
		if err != nil {
			return b, nil, false, err
		}
		list = append(list, h)
	}
	return b, list, more, nil
}

// Choice says of which answers to a batch something is decided: of some, or of all of one worker whose
// pay awaits approval.
type Choice struct {
	Assignments []crowd.AssignmentID
	Worker      string // as pseudonym.Reader.Find says
}

func (c *Choice) check(id crowd.BatchID) error {
	switch {
	case (len(c.Assignments) == 0) == (c.Worker == ""):
		return crowd.Fieldf("assignments", "name assignments, or a worker: all of theirs that await approval")
	case len(c.Assignments) > MaxAtOnce:
		return crowd.Fieldf("assignments", "are %d; at most %d are taken at once", len(c.Assignments), MaxAtOnce)
	}
	seen := make(map[crowd.AssignmentID]bool, len(c.Assignments))
	for _, a := range c.Assignments {
		switch {
		case a.Batch() != id:
			return &crowd.Error{Code: crowd.NotFound, Field: "assignments", Message: a.String() + " is not of " + id.String()}
		case seen[a]:
			return crowd.Fieldf("assignments", "%s is named twice", a)
		}
		seen[a] = true
	}
	return nil
}

// Decided is what was decided.
type Decided struct {
	Answers int
	Amount  crowd.Money
}

// decidedTold is what the audit log says of it. Reasons are not in it: they go with the answers.
type decidedTold struct {
	Answers     int
	Amount      crowd.Money
	Worker      string               `json:",omitempty"` // the tenant's pseudonym, if it was named
	Assignments []crowd.AssignmentID `json:",omitempty"`
}

// Approve pays what awaits approval, or was refused and not appealed yet.
func (s *Pay) Approve(ctx context.Context, p *access.Principal, id crowd.BatchID, c Choice) (Decided, error) {
	return s.choose(ctx, p, access.PayApprove, id, c, store.PayChange{Move: store.ApprovePay})
}

// Refuse refuses what awaits approval, with a reason that the worker reads. The money stays held for as
// long as they may appeal. The answer counts all the same.
func (s *Pay) Refuse(ctx context.Context, p *access.Principal, id crowd.BatchID, c Choice, reason string) (Decided, error) {
	reason, err := checkText("reason", reason)
	if err != nil {
		if lacks := p.May(access.PayRefuse); lacks != nil {
			err = lacks
		}
		return Decided{}, err
	}
	return s.choose(ctx, p, access.PayRefuse, id, c, store.PayChange{Move: store.RefusePay, Text: reason})
}

// checkText checks what somebody says.
func checkText(field, text string) (string, error) {
	text = strings.TrimSpace(text)
	switch n := utf8.RuneCountInString(text); {
	case text == "":
		return "", crowd.Fieldf(field, "is missing: say why")
	case n > MaxText:
		return "", crowd.Fieldf(field, "has %d characters; at most %d are taken", n, MaxText)
	}
	return text, format.ValidText(field, text, len(text))
}

// choose makes a move of what is chosen: of named answers all or none, of a worker's in parts.
func (s *Pay) choose(ctx context.Context, p *access.Principal, o access.Operation, id crowd.BatchID, c Choice, move store.PayChange) (sum Decided, err error) {
	b, err := s.batch(ctx, p, o, id)
	if err != nil {
		return sum, err
	}
	if err := c.check(id); err != nil {
		return sum, err
	}
	if b.Spec.Approval == nil {
		return sum, crowd.Errorf(crowd.Conflict, "%s pays answers when they count: nothing of it awaits approval", id)
	}
	told := decidedTold{Assignments: c.Assignments}
	if c.Worker == "" {
		for _, a := range c.Assignments {
			x, err := s.store.PayOf(ctx, b.Spec.Tenant, a)
			if err != nil {
				return sum, err
			}
			if x.Worker == p.User.ID {
				return sum, crowd.Errorf(crowd.Forbidden, "%s is your own answer: somebody else has to decide of its pay", a)
			}
		}
		return s.move(ctx, p, o, &b, c.Assignments, move, told)
	}
	seen := s.names.For(p, b.Spec.Tenant)
	who, err := seen.Find(c.Worker)
	if err != nil {
		return sum, err
	}
	if who == p.User.ID {
		return sum, crowd.Errorf(crowd.Forbidden, "these are your own answers: somebody else has to decide of their pay")
	}
	told.Worker = seen.Show(who, "").Pseudonym
	move.From = store.PayAwaiting // one that somebody refuses meanwhile was not meant
	for after := crowd.AssignmentID(0); ; {
		list, err := s.store.ListPay(ctx, store.PayQuery{Tenant: b.Spec.Tenant, Batch: id, Worker: who, State: store.PayAwaiting, After: after, Limit: MaxAtOnce})
		if err != nil || len(list) == 0 {
			return sum, err
		}
		after = list[len(list)-1].Assignment
		var open []crowd.AssignmentID
		for _, x := range list {
			if s.clock.Time().Before(x.DueAt) { // the others are being paid
				open = append(open, x.Assignment)
			}
		}
		if len(open) == 0 {
			continue
		}
		part, err := s.move(ctx, p, o, &b, open, move, told)
		if err != nil {
			return sum, err
		}
		sum.Answers, sum.Amount = sum.Answers+part.Answers, sum.Amount+part.Amount
	}
}

// move makes a move of all of some answers to a batch, or of none. An answer that somebody is about to revise is so first.
func (s *Pay) move(ctx context.Context, p *access.Principal, o access.Operation, b *store.Batch, ids []crowd.AssignmentID, move store.PayChange, told decidedTold) (sum Decided, err error) {
	move.At, move.By = s.clock.Time(), p.User.ID
	if move.Move.To().IsOpen() {
		move.Due = move.At.Add(appealTime(b))
	}
	changes := make([]store.PayChange, len(ids))
	for i, id := range ids {
		changes[i] = move
		changes[i].Assignment = id
	}
	ctx, act := p.Acting(ctx, o, store.AuditEntry{At: move.At, Tenant: b.Spec.Tenant, Kind: "batch", Object: b.Spec.ID.String()})
	told.Answers, told.Amount = len(ids), 0
	for _, id := range ids {
		x, err := s.store.PayOf(ctx, b.Spec.Tenant, id)
		if err != nil {
			return sum, err
		}
		told.Amount += x.Amount
	}
	act.After = told
	release := s.hold()
	_, err = s.store.ChangePay(ctx, b.Spec.Tenant, changes)
	release()
	if err != nil {
		return sum, err
	}
	s.changed(b.Spec.ID, move.Due)
	return Decided{told.Answers, told.Amount}, nil
}

// appealTime is for how long a refusal can be appealed, and an appeal decided.
func appealTime(b *store.Batch) (d time.Duration) {
	if b.Spec.Approval == nil {
		return engine.DefaultAppeal
	}
	return b.Spec.Approval.Appeal
}
