package killtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/verify/load"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/label"
)

// What the work looks like.
const (
	killTemplate = `{"kind": "form", "question": "Is ${n} fine?", "label_field": "label", "fields": [
		{"name": "label", "type": "choice", "required": true, "options": ["yes", "no"]},
		{"name": "note", "type": "text", "required": true}]}`
	reward      = crowd.Money(10_000)
	deposit     = 1000 * crowd.Unit
	topUp       = crowd.Unit / 2
	openBatches = 4
	mostAnswers = 5 // to a task
)

// planned is a batch as its requester knows it.
type planned struct {
	id      crowd.BatchID
	tenant  crowd.TenantID
	state   crowd.BatchState // as last acknowledged
	unsure  bool             // a request to change it got no reply
	toppedN int              // acknowledged top-ups, and those without a reply
	toppedX int
}

// requester launches batches, changes them and pays in, and keeps its own record.
type requester struct {
	gate   *gate
	client *client.Client
	problems
	random  *rand.Rand
	tenants []crowd.TenantID
	batches []*planned
	count   int
	paidIn  map[string]crowd.TenantID // acknowledged deposits by note
	paidX   map[string]crowd.TenantID // without a reply
	moves   int
	checked int // the opening of the gate after which all states were compared
	states  int // compared so
}

// pace is the pause between two requests.
const pace = 5 * time.Millisecond

func (r *requester) work(ctx context.Context) error {
	return repeat(ctx, "requester", pace, func(ctx context.Context) error {
		if err := r.checkAll(ctx); err != nil {
			return err
		}
		return r.step(ctx)
	})
}

func (r *requester) step(ctx context.Context) error {
	open := r.open()
	if len(r.paidIn) < len(r.tenants) {
		return r.payIn(ctx, r.tenants[len(r.paidIn)])
	}
	if len(open) < openBatches {
		return r.launch(ctx)
	}
	b := open[r.random.IntN(len(open))]
	switch p := r.random.Float64(); {
	case p < 0.10:
		return r.payIn(ctx, b.tenant)
	case p < 0.20:
		return r.topUp(ctx, b)
	case p < 0.22:
		return r.move(ctx, b, "end", crowd.BatchStopped)
	case p < 0.24:
		return r.move(ctx, b, "cancel", crowd.BatchCancelled)
	case p < 0.50 && b.state == crowd.BatchRunning && !slices.ContainsFunc(r.batches, func(b *planned) bool { return b.state == crowd.BatchOnHold }):
		return r.move(ctx, b, "pause", crowd.BatchOnHold)
	case b.state == crowd.BatchOnHold:
		return r.move(ctx, b, "resume", crowd.BatchRunning)
	}
	return r.look(ctx, b)
}

// open lists the batches that may still be open.
func (r *requester) open() []*planned {
	return lists.Filter(r.batches, func(b *planned) bool { return !b.state.Ended() })
}

func (r *requester) payIn(ctx context.Context, tenant crowd.TenantID) error {
	r.count++
	note := fmt.Sprintf("deposit %d", r.count)
	err := r.client.Deposit(ctx, tenant, deposit, note)
	switch {
	case err == nil:
		r.paidIn[note] = tenant
	case errors.Is(err, errLost):
		r.paidX[note] = tenant
	}
	return err
}

// launch makes a batch. If a reply is lost on the way, the batch is left as it is: it
// may have been launched or not, and a draft costs its tenant nothing.
func (r *requester) launch(ctx context.Context) error {
	r.count++
	rule := label.Count(1 + r.random.IntN(3))
	if r.random.IntN(3) == 0 {
		rule = label.Agree(2, mostAnswers)
	}
	p := &planned{tenant: r.tenants[r.random.IntN(len(r.tenants))], state: crowd.BatchDraft}
	tasks := 20 + r.random.IntN(980)
	terms := wire.BatchTerms{
		Name: fmt.Sprintf("Batch %d", r.count), Template: wire.Template(killTemplate), Redundancy: &rule,
		RewardMicros: reward, Priority: float64(1 + r.random.IntN(5)), LeaseSeconds: 1 + r.random.Int64N(600), TaskTimeSeconds: 1,
	}
	made, err := r.client.CreateBatch(ctx, wire.NewBatch{Tenant: p.tenant, BatchTerms: terms})
	if err != nil {
		return err
	}
	p.id = made.ID
	if _, err := r.client.Upload(ctx, p.id, load.CSV([]string{"n"}, tasks, func(i int) []string { return []string{strconv.Itoa(i + 1)} }), "csv", false); err != nil {
		return err
	}
	r.batches = append(r.batches, p)
	p.unsure = true // until it is acknowledged
	_, err = r.client.Launch(ctx, p.id, false)
	if crowd.CodeOf(err) == crowd.BudgetTooSmall {
		return r.payIn(ctx, p.tenant)
	}
	if err == nil {
		p.state, p.unsure = crowd.BatchRunning, false
		r.moves++
	}
	return err
}

func (r *requester) topUp(ctx context.Context, b *planned) error {
	_, err := r.client.TopUp(ctx, b.id, topUp)
	switch {
	case err == nil:
		b.toppedN++
		r.moves++
	case errors.Is(err, errLost):
		b.toppedX++
	}
	return r.unlessEnded(ctx, b, err)
}

func (r *requester) move(ctx context.Context, b *planned, move string, to crowd.BatchState) error {
	_, err := r.client.Move(ctx, b.id, move)
	switch {
	case err == nil:
		b.state, b.unsure = to, false
		r.moves++
	case errors.Is(err, errLost):
		b.unsure = true
	}
	return r.unlessEnded(ctx, b, err)
}

// unlessEnded returns err, but looks at the batch if it could not be changed because
// it has ended, or was never launched.
func (r *requester) unlessEnded(ctx context.Context, b *planned, err error) error {
	switch crowd.CodeOf(err) {
	case crowd.Conflict, crowd.NotFound, crowd.BudgetTooSmall:
		return r.look(ctx, b)
	}
	return err
}

// look reads the state of a batch.
func (r *requester) look(ctx context.Context, b *planned) error {
	if err := r.compare(ctx, b, ""); err != nil || b.state != crowd.BatchDraft {
		return err
	}
	return r.move(ctx, b, "cancel", crowd.BatchCancelled) // the launch did not happen: give it up
}

// compare reads the state of a batch and compares it with what its requester was
// told.
func (r *requester) compare(ctx context.Context, b *planned, when string) error {
	now, err := r.client.Batch(ctx, b.id)
	if err != nil {
		return err
	}
	done := b.state.Open() && now.State == crowd.BatchDone && now.Labelled == int(now.Tasks)
	if !b.unsure && now.State != b.state && !done {
		r.problem("%s%s was acknowledged to be %s, but is %s (%d of %d tasks have labels)", when, b.id, b.state, now.State, now.Labelled, now.Tasks)
	}
	b.state, b.unsure = now.State, false
	return nil
}

// checkAll compares every batch's state with what was acknowledged, once after
// each restart and before anything is changed.
func (r *requester) checkAll(ctx context.Context) error {
	times := r.gate.times()
	if times == r.checked {
		return nil
	}
	for _, b := range r.open() { // those that have ended are looked at in the end
		sure := !b.unsure
		if err := r.compare(ctx, b, "after a restart, "); err != nil {
			return err
		}
		if sure {
			r.states++
		}
	}
	r.checked = times
	return nil
}
