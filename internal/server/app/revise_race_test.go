package app_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/pay"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/label"
)

// betweenStore does something after it was read what is to be revised, and before anything comes of that.
type betweenStore struct {
	store.Store
	then func()
}

func (s *betweenStore) AnswerToRevise(ctx context.Context, id crowd.AssignmentID) (engine.Revise, error) {
	x, err := s.Store.AnswerToRevise(ctx, id)
	if s.then != nil {
		s.then()
	}
	return x, err
}

// TestPayIsDecidedWhileAnAnswerIsRevised: who decides of the pay of an answer that is being revised does so when it is. What
// was paid by itself in the meantime is no reason against it.
func TestPayIsDecidedWhileAnAnswerIsRevised(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	between := &betweenStore{}
	w.wrap = func(s store.Store) store.Store { between.Store = s; return between }
	w.close()
	w.open()
	id := w.draft(4, func(n *batches.NewBatch) {
		n.Revise, n.Approval = 2*time.Hour, &engine.Approval{Within: time.Hour}
	})
	must(w.Batches.Launch(w.ctx, w.ann, id, false))(t)
	one := w.workers[0]
	answered := func() crowd.AssignmentID {
		a := must(w.Work.Next(w.ctx, one, 0))(t).Assignment
		must(w.submit(one, a, yes))(t)
		return a
	}
	for _, decide := range []func(crowd.AssignmentID) error{
		func(a crowd.AssignmentID) error {
			_, err := w.Pay.Refuse(w.ctx, w.ann, id, pay.Choice{Assignments: []crowd.AssignmentID{a}}, "it is wrong")
			return err
		},
		func(a crowd.AssignmentID) error {
			_, err := w.Pay.Approve(w.ctx, w.ann, id, pay.Choice{Assignments: []crowd.AssignmentID{a}})
			return err
		},
	} {
		a, decided := answered(), make(chan error, 1)
		var early bool
		between.then = func() {
			go func() { decided <- decide(a) }()
			select {
			case err := <-decided:
				early = true
				decided <- err
			case <-time.After(50 * time.Millisecond):
			}
		}
		must(w.Work.Revise(w.ctx, one, a, no))(t)
		between.then = nil
		ok(t, <-decided)
		if early {
			t.Errorf("the pay of %s was decided before it was revised", a)
		}
		if x := must(w.store.PayOf(w.ctx, 0, a))(t); x.State == store.PayAwaiting {
			t.Errorf("its pay is %+v", x)
		}
		_, err := w.Work.Revise(w.ctx, one, a, yes)
		refusedText(t, err, crowd.Conflict, "is decided")
	}
	a := answered()
	between.then = func() { _, _, err := w.store.SettlePay(w.ctx, w.clock.now().Add(time.Hour), 10); ok(t, err) }
	must(w.Work.Revise(w.ctx, one, a, no))(t)
	between.then = nil
	if x := must(w.store.PayOf(w.ctx, 0, a))(t); x.State != store.PayPaid {
		t.Errorf("what was due is %+v", x)
	}
	ok(t, w.store.CheckLedger(w.ctx))
}

// revisingWorker answers all that they get, and revises what they have answered, sometimes twice at once. It returns
// what they answered last to each task, for those answers that nobody else may have overtaken.
func (w *world) revisingWorker(p *access.Principal, seed uint64) (said map[crowd.AssignmentID]string, err error) {
	r, said := rand.New(rand.NewPCG(seed, 9)), make(map[crowd.AssignmentID]string)
	answers := []string{"yes", "no"}
	revise := func(a crowd.AssignmentID, to string) (bool, error) {
		_, err := w.Work.Revise(w.ctx, p, a, quoted(to))
		switch crowd.CodeOf(err) {
		case crowd.Conflict, crowd.BudgetTooSmall: // revised too often, or it would be asked of others
			return false, nil
		}
		return err == nil, err
	}
	for {
		held, err := w.Work.Next(w.ctx, p, 0)
		if err != nil || held == nil {
			return said, err
		}
		to := answers[r.IntN(2)]
		if _, err := w.submit(p, held.Assignment, quoted(to)); err != nil {
			return said, err
		}
		said[held.Assignment] = to
		for range r.IntN(3) {
			a := slices.Sorted(maps.Keys(said))[r.IntN(len(said))]
			to := answers[r.IntN(2)]
			if r.IntN(4) == 0 { // the same answer twice at once is one
				var both sync.WaitGroup
				var done [2]bool
				for i := range done {
					both.Go(func() { done[i], _ = revise(a, to) })
				}
				if both.Wait(); done[0] || done[1] {
					said[a] = to
				}
			}
			done, err := revise(a, to)
			if err != nil {
				return said, fmt.Errorf("revise %s: %w", a, err)
			}
			if done {
				said[a] = to
			}
		}
	}
}

func quoted(s string) []byte { return []byte(`"` + s + `"`) }

// TestManyReviseAtOnce: while many answer and revise at once, each answer is what its worker said last, each label is what
// the rule says of the answers, and all is counted and paid once.
func TestManyReviseAtOnce(t *testing.T) {
	t.Parallel()
	const people, tasks = 8, 30
	w := newWorld(t, people)
	rule := label.Agree(2, 3)
	id := w.draft(tasks, func(n *batches.NewBatch) { n.Revise, n.Redundancy, n.PerWorker = 2*time.Hour, rule, 0 })
	must(w.Batches.Launch(w.ctx, w.ann, id, false))(t)
	said, failed := make([]map[crowd.AssignmentID]string, people), make([]error, people)
	var all sync.WaitGroup
	for i, p := range w.workers {
		all.Go(func() { said[i], failed[i] = w.revisingWorker(p, uint64(i)) })
	}
	all.Wait()
	for i, err := range failed {
		if err != nil {
			t.Fatalf("worker %d: %v", i, err)
		}
	}

	look := func() {
		t.Helper()
		given, revised := 0, 0
		kept := make(map[uint32]string)
		for l, err := range w.store.Labels(w.ctx, w.a, id) {
			if ok(t, err); l.Label != nil {
				kept[l.Task.N()] = l.Label.Value
			}
		}
		for n := range uint32(tasks) {
			row := must(w.Results.Task(w.ctx, w.ann, id.Task(n+1), ""))(t).Row
			votes := make(map[string]int)
			for _, a := range row.Answers {
				given++
				revised += a.Revised
				if len(a.Revisions) != a.Revised {
					t.Errorf("%s: %d revisions are kept of %d", a.Assignment, len(a.Revisions), a.Revised)
				}
				votes[a.Key]++
				for _, of := range said {
					if last, is := of[a.Assignment]; is && last != a.Key {
						t.Errorf("%s: they said %s last, and %s is kept", a.Assignment, last, a.Key)
					}
				}
			}
			is := kept[n+1]
			if most := max(votes["yes"], votes["no"]); most >= 2 && votes[is] != most || most < 2 && is != "" {
				t.Errorf("task %d: the label is %q, of %v", n+1, is, votes)
			}
		}
		if p := w.batch(id).Progress; int(p.Completed) != given || p.Spent != crowd.Money(given)*crowd.Unit/100 || revised < 30 {
			t.Errorf("%d answers, %d times revised: it stands at %+v", given, revised, p)
		}
		ok(t, w.store.CheckLedger(w.ctx))
		ok(t, w.store.CheckUsage(w.ctx))
	}
	look()
	w.killed()
	look()
	if d := w.batch(id).Progress; !d.State.Open() && int(d.Labelled) != tasks {
		t.Errorf("it has ended at %+v", d)
	}
}
