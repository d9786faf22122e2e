package app_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/work"
)

// knownAndOthers is a file that has so many things whose answers are known, and so many others after them.
func knownAndOthers(known, others int) *strings.Reader {
	var text strings.Builder
	text.WriteString("thing,_gold\n")
	for i := range known {
		fmt.Fprintf(&text, "known %d,yes\n", i)
	}
	for i := range others {
		fmt.Fprintf(&text, "other %d,\n", i)
	}
	return strings.NewReader(text.String())
}

func halfChecks(n *batches.NewBatch) { n.Checks = &engine.Checks{First: 0.5, Least: 0.5} }

// TestChecks has people given known tasks among the others, each once, whatever a restart comes
// between; paid as all answers are, and told to the requester.
func TestChecks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	id := w.draft(0, halfChecks)
	must(w.Batches.Upload(w.ctx, w.ann, id, knownAndOthers(12, 60), batches.Upload{}))(t)
	b := must(w.Batches.Launch(w.ctx, w.ann, id, false))(t)
	if b.Progress.Known != 12 || b.Progress.Labelled != 12 || b.Progress.Planned != 60 {
		t.Fatalf("launched with %+v", b.Progress)
	}
	seen, shown := make([]map[string]bool, 2), map[string]bool{}
	checks, up := [2]int{}, 0
	last := uint32(0)
	for i, p := range w.workers {
		seen[i] = make(map[string]bool)
		for n := range 25 {
			held := w.next(p)
			if n == 12 { // with a task in hand
				w.killed()
				held = w.next(p)
			}
			thing := held.Values.Values().Cells[0]
			if seen[i][thing] {
				t.Errorf("%s got %q twice", p.User.Name, thing)
			}
			seen[i][thing] = true
			if strings.HasPrefix(thing, "known") {
				checks[i]++
			}
			if held.Task.N() > last {
				up++
			}
			last = held.Task.N()
			shown[held.Task.String()] = true
			answer := [...]json.RawMessage{yes, no}[i]
			if out := must(w.submit(p, held.Assignment, answer))(t); !out.Counted || out.Paid != crowd.Unit/100 || out.Late {
				t.Errorf("%q came to %+v", thing, out)
			}
		}
	}
	if up > 40 {
		t.Errorf("%d of 50 tasks had a higher number than the one before: known ones stand out", up)
	}
	q := must(w.Batches.Quality(w.ctx, w.ann, id, "majority"))(t)
	if q.GoldTasks == 0 || len(q.Workers) != 2 {
		t.Fatalf("quality is of %d known tasks and %d people", q.GoldTasks, len(q.Workers))
	}
	for _, x := range q.Workers {
		for i, p := range w.workers {
			if x.By.Pseudonym != w.pseudonym(w.a, p) {
				continue
			}
			if x.Gold != checks[i] || x.Right != [...]int{checks[i], 0}[i] || checks[i] < 5 {
				t.Errorf("%s was right in %d of %d checks, of %d that they got", p.User.Name, x.Right, x.Gold, checks[i])
			}
		}
	}
	tasks := 0 // of what is handed out to them about themselves
	for _, p := range w.workers {
		_, rows, err := w.Accounts.PersonalData(w.ctx, p, p.User.ID)
		ok(t, err)
		for r, err := range rows {
			if ok(t, err); r.Table == "annotations" {
				if tasks++; !shown[fmt.Sprint(r.Row["task"])] || !strings.HasPrefix(fmt.Sprint(r.Row["id"]), "a") {
					t.Errorf("%s is handed out %v: the number of a task tells what it is", p.User.Name, r.Row)
				}
			}
		}
	}
	if tasks != 50 {
		t.Errorf("%d tasks are handed out", tasks)
	}
	for w.batch(id).Progress.State.Open() {
		held := must(w.Work.Next(w.ctx, w.workers[0], 0))(t)
		if held == nil {
			t.Fatal("nothing is left, and the batch goes on")
		}
		must(w.submit(w.workers[0], held.Assignment, yes))(t)
	}
	p := w.batch(id).Progress
	if p.State != crowd.BatchDone || p.Labelled != 72 || p.Planned != p.Completed || p.Spent != crowd.Money(p.Completed)*crowd.Unit/100 {
		t.Errorf("it ended with %+v", p)
	}
}

// TestChecksWithoutKnownAnswers is refused at the launch.
func TestChecksWithoutKnownAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	_, err := w.Batches.Launch(w.ctx, w.ann, w.draft(3, halfChecks), false)
	refused(t, err, crowd.Invalid)
	id := w.draft(0, halfChecks)
	must(w.Batches.Upload(w.ctx, w.ann, id, knownAndOthers(3, 0), batches.Upload{}))(t)
	_, err = w.Batches.Launch(w.ctx, w.ann, id, false)
	refused(t, err, crowd.Invalid)
}

// TestAddedChecks: tasks with known answers that are added to a batch with checks are checks.
func TestAddedChecks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	id := w.draft(0, halfChecks)
	must(w.Batches.Upload(w.ctx, w.ann, id, knownAndOthers(1, 20), batches.Upload{}))(t)
	must(w.Batches.Launch(w.ctx, w.ann, id, false))(t)
	must(w.Batches.AddTasks(w.ctx, w.ann, id, knownAndOthers(4, 2), batches.Addition{AddBudget: true}))(t)
	if p := w.batch(id).Progress; p.Known != 5 || p.Labelled != 5 || p.Planned != 22 {
		t.Errorf("after 6 more tasks, 4 of them known, it stands at %+v", p)
	}
	var held *work.HeldTask
	known := 0
	for held = must(w.Work.Next(w.ctx, w.workers[0], 0))(t); held != nil; held = must(w.Work.Next(w.ctx, w.workers[0], 0))(t) {
		if strings.HasPrefix(held.Values.Values().Cells[0], "known") {
			known++
		}
		must(w.submit(w.workers[0], held.Assignment, yes))(t)
	}
	if p := w.batch(id).Progress; p.State != crowd.BatchDone || known < 4 {
		t.Errorf("%s after %d checks of 5", p.State, known)
	}
}
