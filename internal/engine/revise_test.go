package engine_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/sched"
)

// revise has somebody revise an answer whose label is perhaps reviewed.
func (w *reviewWorld) revise(who crowd.WorkerID, r *rand.Rand) error {
	list := w.kept.answeredBy(1, who)
	if len(list) == 0 {
		return nil
	}
	x := w.kept.revision(list[r.IntN(len(list))].Assignment)
	x.Key = []string{"yes", "no"}[r.IntN(2)]
	x.Body, x.Settled = x.Key, w.e.Settled(1)
	review := w.asked[w.mine.ID.Task(x.Of.N)].Review
	x.Of.Review = review
	done := w.kept.labels[review].Task != 0
	err := w.e.Revise(w.now, who, &x)
	switch code := crowd.CodeOf(err); {
	case err == nil && x.Given.Body == x.Body:
	case err == nil && done && w.kept.labels[w.mine.ID.Task(x.Of.N)].Task != 0:
		return fmt.Errorf("%s is revised, and %s reviewed its label", x.Of.Assignment, review)
	case err == nil && review != 0:
		w.withoutReview++
	case code != crowd.NotFound && code != crowd.Conflict && code != crowd.BudgetTooSmall:
		return err
	}
	return nil
}

// atOnce is one batch of a walk.
type atOnce struct {
	e    *engine.Engine
	kept *store
	now  time.Time
}

func newAtOnce(t *testing.T, rule label.Rule, tasks uint32) *atOnce {
	t.Helper()
	w := &atOnce{kept: newStore(), now: start, e: engine.New(engine.Config{Pool: poolID, Policy: sched.MustParse("fs")})}
	w.kept.tenants[1] = engine.Tenant{ID: 1, Weight: 1}
	must(t, w.e.SetTenant(start, w.kept.tenants[1]))
	for id := crowd.WorkerID(1); id <= 6; id++ {
		w.kept.workers[id] = engine.Worker{ID: id}
		must(t, w.e.SetWorker(start, w.kept.workers[id]))
	}
	s := benchSpec1(1)
	s.Tasks, s.Rule, s.Budget, s.Revise, s.Lease = tasks, rule, s.Reward*crowd.Money(int(tasks)*rule.Most()), 24*time.Hour, time.Hour
	w.kept.specs[1] = s
	must(t, w.e.Launch(start, s))
	w.take(t)
	return w
}

func (w *atOnce) take(t *testing.T) {
	t.Helper()
	must(t, w.e.Check())
	var c engine.Changes
	w.e.Take(&c)
	w.kept.apply(&c)
}

// TestRevisedIsAsIfGivenAtOnce: after random revisions each label is what the rule says of the answers that were given last,
// and where the rule asks for a number of answers, all labels and all money are as if these had been given at
// once. Each moment is one at which the server may be started again.
func TestRevisedIsAsIfGivenAtOnce(t *testing.T) {
	t.Parallel()
	const tasks = 8
	changed, asked := 0, 0
	for seed := range uint64(120) {
		r := rand.New(rand.NewPCG(seed, 3))
		rule := []label.Rule{label.Count(1), label.Count(3), label.Agree(2, 3), label.Agree(2, 5)}[seed%4]
		w := newAtOnce(t, rule, tasks+1) // the last task keeps it running
		for range 250 {
			who := crowd.WorkerID(1 + r.IntN(6))
			if r.IntN(3) == 0 {
				if list := w.kept.answeredBy(1, who); len(list) > 0 {
					x := w.kept.revision(list[r.IntN(len(list))].Assignment)
					x.Key = []string{"yes", "no", "maybe"}[r.IntN(3)]
					x.Body, x.Settled = x.Key, w.e.Settled(1)
					before := w.kept.labels[crowd.BatchID(1).Task(x.Of.N)]
					if err := w.e.Revise(w.now, who, &x); err != nil && !strings.Contains(err.Error(), "5 times") {
						t.Fatalf("seed %d: %v", seed, err)
					}
					w.take(t)
					switch after := w.kept.labels[crowd.BatchID(1).Task(x.Of.N)]; {
					case before.Task != 0 && after.Task == 0:
						asked++
					case before.Value != after.Value:
						changed++
					}
				}
			} else if h, ok, err := w.e.Ready(w.now, who); err != nil {
				t.Fatal(err)
			} else if ok && h.Task.N() <= tasks {
				key := []string{"yes", "no", "maybe"}[r.IntN(3)]
				_, err := w.e.Submit(w.now, who, h.Assignment, key, key)
				must(t, err)
			} else if ok {
				must(t, w.e.Return(w.now, who, h.Assignment))
			}
			w.take(t)
			w.now = w.now.Add(time.Second)
			if r.IntN(3) == 0 {
				restored, err := engine.Restore(w.now, engine.Config{Pool: poolID, Policy: sched.MustParse("fs")}, w.kept.snapshot(false))
				must(t, err)
				before, _ := w.e.Status(1)
				after, _ := restored.Status(1)
				if before.Progress != after.Progress {
					t.Fatalf("seed %d: restored\n%+v, want\n%+v", seed, after.Progress, before.Progress)
				}
				w.e = restored
				w.take(t)
			}
		}
		w.compare(t, rule, tasks)
	}
	if changed < 300 || asked < 50 {
		t.Errorf("%d labels were changed, %d tasks asked again", changed, asked)
	}
}

// compare compares labels with the rule, and all with a batch in which the last answers were given at once.
func (w *atOnce) compare(t *testing.T, rule label.Rule, tasks uint32) {
	t.Helper()
	given := make([][]*engine.AssignmentSnapshot, tasks+1)
	for _, x := range w.kept.rows {
		if x.Counts() {
			given[x.Task.N()] = append(given[x.Task.N()], x)
		}
	}
	other := newAtOnce(t, rule, tasks+1)
	for n := uint32(1); n <= tasks; n++ {
		slices.SortFunc(given[n], func(x, y *engine.AssignmentSnapshot) int { return x.AnsweredAt.Compare(y.AnsweredAt) })
		var keys []string
		for _, x := range given[n] {
			keys = append(keys, x.Key)
			if rule.Fixed() {
				h, _, err := other.e.Ready(other.now, x.Worker)
				for ; err == nil && h.Task.N() != n; h, _, err = other.e.Ready(other.now, x.Worker) {
					must(t, other.e.Skip(other.now, x.Worker, h.Assignment))
				}
				must(t, err)
				_, err = other.e.Submit(other.now, x.Worker, h.Assignment, x.Key, x.Key)
				must(t, err)
				other.take(t)
			}
		}
		id := crowd.BatchID(1).Task(n)
		l, labelled := w.kept.labels[id]
		if d := rule.Decide(id, keys, 0); labelled != d.Enough || labelled && (l.Value != d.Label || l.Confidence != d.Confidence || l.Tie != d.Tie || l.Undecided != d.Undecided || l.Answers != len(keys)) {
			t.Fatalf("%s of %q has the label %+v (%t), and the rule says %+v", id, keys, l, labelled, d)
		}
		if rule.Fixed() {
			if o := other.kept.labels[id]; o.Value != l.Value || o.Confidence != l.Confidence || o.Tie != l.Tie {
				t.Fatalf("%s has the label %+v, given at once %+v", id, l, o)
			}
		}
	}
	if mine, its := w.kept.progress[1], other.kept.progress[1]; rule.Fixed() && (mine.Spent != its.Spent || mine.Escrow != its.Escrow || mine.Completed != its.Completed || math.Abs(mine.Certainty-its.Certainty) > 1e-9) {
		t.Fatalf("it stands at\n%+v, given at once at\n%+v", mine, its)
	}
	if sum := w.kept.progress[1]; sum.Spent+sum.Escrow != w.kept.specs[1].Budget {
		t.Fatalf("%s spent and %s left of %s", sum.Spent, sum.Escrow, w.kept.specs[1].Budget)
	}
}

// TestWhatIsRevised: how long, and of which batches.
func TestWhatIsRevised(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*engine.Spec){
		"":                            func(s *engine.Spec) { s.Revise = time.Hour },
		"not between 1 s and 31 days": func(s *engine.Spec) { s.Revise = time.Millisecond },
		"the next steps have used":    func(s *engine.Spec) { s.Revise, s.NotBy = time.Hour, []string{"x"} },
		"a review that was done":      func(s *engine.Spec) { s.Revise, s.ReviewOf, s.Open = time.Hour, 7, true },
	} {
		s := benchSpec1(1)
		s.Budget = 100 * crowd.Unit
		change(&s)
		err := s.Validate(start)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
