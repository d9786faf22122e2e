package orchestrator_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow/httpstep"
	"github.com/throng-dev/throng/internal/workflow/sqlstep"
)

// failNext lets the n-th call of the store from now on fail, of those that change
// a run alone if it is kept all the same, and returns which it was afterwards;
// "": there were fewer.
func (w *world) failNext(n int, err error) (failed func() string) {
	calls, failing := 0, ""
	w.store.fail = func(what string) error {
		if what != "advance" && errors.Is(err, errUnheard) {
			return nil
		}
		if calls++; calls != n {
			return nil
		}
		failing = what
		return err
	}
	return func() string { w.store.fail = nil; return failing }
}

// TestAPauseThatWasKeptUnheard: the run is paused whatever the caller was told.
// Nothing more is called or handed out, and what was under way is dropped.
func TestAPauseThatWasKeptUnheard(t *testing.T) {
	w := newWorld(t)
	w.lag = true
	id := w.start(strings.Replace(oneCall, "HOLD", "hold", 1)+"  ask: {from: {items: stream}, "+choose+"}\n", "id\n1\n2\n3\n")
	w.settle()
	batch := w.node(id, "ask").Batch.Spec.ID
	failed := w.failNext(1, errUnheard)
	if err := w.o.Pause(w.ctx, id); !errors.Is(err, errUnheard) || failed() == "" {
		t.Fatalf("pause: %v", err)
	}
	w.settle()
	w.endCalls() // in vain
	w.play()
	w.wantState(id, store.RunPaused)
	if len(w.attempts) != 2 || w.node(id, "call").OK != 0 {
		t.Errorf("a paused run made %d calls and has %d replies, want 2 and 0", len(w.attempts), w.node(id, "call").OK)
	}
	if b, err := w.store.Batch(w.ctx, 0, batch); err != nil || b.Progress.State != crowd.BatchOnHold || w.answers != 0 {
		t.Errorf("the batch of a paused run is %s with %d answers, %v", b.Progress.State, w.answers, err)
	}
	w.lag = false
	must(t, w.o.Resume(w.ctx, id))
	w.play()
	w.wantState(id, store.RunDone)
	if n := w.node(id, "call"); n.OK != 3 || len(w.attempts) != 5 {
		t.Errorf("%d replies to %d calls, want 3 and 5", n.OK, len(w.attempts))
	}
}

// TestACommandFails lets each call of the store fail, one at a time, that a command
// makes or that follows from it, lost and, if it is a change, kept. Given again, which
// is refused if it was done, the command ends as it does without a failure.
func TestACommandFails(t *testing.T) {
	text := strings.Replace(oneCall, "HOLD", "hold", 1) + "  ask: {from: {items: stream}, " + choose + "}\n"
	commands := map[string]struct {
		do   func(w *world, id crowd.RunID) error
		ends store.RunState
	}{
		"start":  {func(w *world, id crowd.RunID) error { return w.o.Start(w.ctx, id) }, store.RunDone},
		"pause":  {func(w *world, id crowd.RunID) error { return w.o.Pause(w.ctx, id) }, store.RunPaused},
		"resume": {func(w *world, id crowd.RunID) error { return w.o.Resume(w.ctx, id) }, store.RunDone},
		"cancel": {func(w *world, id crowd.RunID) error { return w.o.Cancel(w.ctx, id) }, store.RunCancelled},
		"end":    {func(w *world, id crowd.RunID) error { return w.o.EndStep(w.ctx, id, "ask") }, store.RunDone},
		"retry":  {func(w *world, id crowd.RunID) error { _, _, err := w.o.Retry(w.ctx, id, ""); return err }, store.RunDone},
		"skip":   {func(w *world, id crowd.RunID) error { _, err := w.o.Skip(w.ctx, id, ""); return err }, store.RunDone},
	}
	// play does a command from which on the n-th call fails, and returns what came of
	// it.
	play := func(t *testing.T, name string, n int, failure error) (end, failed string) {
		w := newWorld(t)
		id := w.load(orchestrator.NewRun{Text: text}, map[string]string{"items": "id\n1\n2\n3\n"})
		refuses := name == "retry" || name == "skip"
		w.service = func(a orchestrator.Attempt) (httpstep.Reply, error) {
			if refuses && a.Call.Fields[0].Value == "2" {
				return httpstep.Reply{}, &httpstep.Failure{Reason: httpstep.Status, StatusCode: 400, Message: "no"}
			}
			return httpstep.Reply{Values: []string{"ok"}}, nil
		}
		if name == "end" {
			w.answer = func(values []string) string { return map[bool]string{true: "", false: "yes"}[values[0] == "2"] }
		}
		if name != "start" {
			must(t, w.o.Start(w.ctx, id))
			w.settle()
		}
		if name == "end" || name == "retry" || name == "skip" {
			w.play()
		}
		if name == "resume" {
			must(t, w.o.Pause(w.ctx, id))
		}
		refuses = false
		injected := w.failNext(n, failure)
		if err := commands[name].do(w, id); errors.Is(err, failure) {
			if err := commands[name].do(w, id); err != nil && crowd.CodeOf(err) != crowd.Conflict && crowd.CodeOf(err) != crowd.Unavailable && crowd.CodeOf(err) != crowd.Invalid {
				t.Errorf("again: %v", err)
			}
		} else {
			must(t, err)
		}
		w.play()
		failed = injected()
		w.wantState(id, commands[name].ends)
		var b strings.Builder
		for _, n := range w.view(id).Nodes {
			fmt.Fprintf(&b, "%s %s %d/%d/%d/%d ", n.Name, n.State, n.OK, n.Skipped, n.Failed, n.Faults)
			if n.Batch != nil {
				fmt.Fprint(&b, n.Batch.Progress.State, " ")
			}
		}
		must(t, w.store.CheckLedger(w.ctx))
		return b.String(), failed
	}
	seen := make(map[string]int)
	for name := range commands {
		want, _ := play(t, name, 0, errDisk)
		for what, failure := range map[string]error{"lost": errDisk, "unheard": errUnheard} {
			for n, failed := 1, "any"; failed != ""; n++ {
				t.Run(fmt.Sprintf("%s/%s/%d", name, what, n), func(t *testing.T) {
					var got string
					if got, failed = play(t, name, n, failure); got != want {
						t.Errorf("when %s fails, the run ends as\n\t%s\nwant\n\t%s", failed, got, want)
					}
				})
				seen[failed]++
			}
		}
	}
	for _, what := range []string{"advance", "run", "nodes", "rows", "item rows", "faults", "staying", "pending", "batch"} {
		if seen[what] == 0 {
			t.Errorf("%s never failed: %v", what, seen)
		}
	}
}

// TestACallOfTheStoreFailsAfterARestart lets each call of the store fail, one at a
// time, from a restart in the middle of everything: it is made again, and the run ends
// as it does without a failure.
func TestACallOfTheStoreFailsAfterARestart(t *testing.T) {
	text := strings.Replace(oneCall, "HOLD", "hold", 1) + "  ask: {from: {call: stream, items: stream}, join: all, " + choose + "}\n"
	play := func(t *testing.T, n int) (end, failed string) {
		w := newWorld(t)
		refuses := true
		w.service = func(a orchestrator.Attempt) (httpstep.Reply, error) {
			if refuses && a.Call.Fields[0].Value == "2" {
				return httpstep.Reply{}, &httpstep.Failure{Reason: httpstep.Status, StatusCode: 400, Message: "no"}
			}
			return httpstep.Reply{Values: []string{"ok"}}, nil
		}
		w.answer = func(values []string) string { return map[bool]string{true: "", false: "yes"}[values[0] == "1"] }
		w.lag = true
		id := w.start(text, "id\n1\n2\n3\n4\n")
		w.settle()
		w.endCalls() // the second is held
		w.play()     // and the others are under way, as is an answer
		if len(w.open) != 2 || w.node(id, "call").Faults != 1 || w.node(id, "ask").Batch == nil {
			t.Fatalf("%d calls are under way, and call is %+v", len(w.open), w.node(id, "call"))
		}
		w.lag = false
		calls := 0
		w.store.fail = func(what string) error {
			if calls++; calls == n {
				failed = what
				return errDisk
			}
			return nil
		}
		w.restart()
		w.play()
		refuses = false
		w.answer = func([]string) string { return "yes" }
		if _, _, err := w.o.Retry(w.ctx, id, ""); err != nil {
			_, _, err = w.o.Retry(w.ctx, id, "")
			must(t, err)
		}
		w.play()
		w.store.fail = nil
		w.wantState(id, store.RunDone)
		must(t, w.store.CheckLedger(w.ctx))
		return strings.Join(w.rows(id, "ask"), " "), failed
	}
	want, _ := play(t, 0)
	seen := make(map[string]int)
	for n := 1; ; n++ {
		got, failed := play(t, n)
		if failed == "" {
			break
		}
		seen[failed]++
		if got != want {
			t.Errorf("when %s fails at call %d, it ends with\n\t%s\nwant\n\t%s", failed, n, got, want)
		}
	}
	for _, what := range []string{"advance", "run", "nodes", "rows", "item rows", "faults", "pending"} {
		if seen[what] == 0 {
			t.Errorf("%s never failed: %v", what, seen)
		}
	}
}

func (f *faultyStore) RunBatches(ctx context.Context, id crowd.RunID) ([]store.Batch, error) {
	f.ask()
	if err := f.failure("run batches"); err != nil {
		return nil, err
	}
	return f.Store.RunBatches(ctx, id)
}

// TestAFullDiskIsNamed: a step whose rows find no room says so, is tried again after
// longer and longer pauses, and goes on when there is room.
func TestAFullDiskIsNamed(t *testing.T) {
	for name, step := range map[string]string{"all rows": "{from: items, sql: \"select id from items order by id\"}", "row by row": "{from: {items: stream}, sql: \"select id from items\"}"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			id := w.start("workflow: full\ninputs: {items: {columns: [id]}}\nsteps:\n  one: "+step+"\n", "id\n1\n2\n")
			var tries []time.Time
			full := true
			w.store.fail = func(what string) error {
				if n := len(tries); what != "advance" || !full {
					return nil
				} else if n == 0 || !tries[n-1].Equal(w.now) {
					tries = append(tries, w.now)
				}
				return crowd.Errorf(crowd.StorageFull, "the disk is full")
			}
			for end := w.now.Add(10 * time.Minute); w.now.Before(end); {
				next := w.settle()
				if next.IsZero() {
					t.Fatal("it is not tried again")
				}
				w.now = next
			}
			if n := len(tries); n < 5 || n > 20 || tries[1].Sub(tries[0]) > 5*time.Second || tries[n-1].Sub(tries[n-2]) < 30*time.Second {
				t.Errorf("it was tried at %v", tries)
			}
			if n := w.node(id, "one"); n.State == store.NodeFailed || !strings.Contains(n.Error, "the disk is full") {
				t.Errorf("the step is %s: %q", n.State, n.Error)
			}
			full = false
			w.play()
			w.wantState(id, store.RunDone)
			w.want(id, "one", "1", "2")
			if n := w.node(id, "one"); n.Error != "" {
				t.Errorf("it says %q after all", n.Error)
			}
		})
	}
}

// TestALongFullDisk: however often a result is not kept, it counts once towards what a
// step's results may have, and a row that does not fit never.
func TestALongFullDisk(t *testing.T) {
	w := newWorld(t)
	text := "workflow: full\ninputs: {items: {columns: [id]}}\nsteps:\n  one: {from: {items: stream}, columns: {n: number}, sql: \"select printf('%.*c', 90, iif(id > 2, 'x', '0')) as n from items\"}\n"
	id := w.start(text, "id\n1\n2\n3\n4\n5\n6\n")
	n := w.node(id, "one").Node
	given := int64(sqlstep.DefaultText - 600) // the six rows have 540
	n.Text = given
	_, err := w.store.Advance(w.ctx, &store.Advance{Run: id, Nodes: []store.Node{n}})
	must(t, err)
	tries := 0
	w.store.fail = func(what string) error {
		if what != "advance" || tries == 3 {
			return nil
		}
		tries++
		return crowd.Errorf(crowd.StorageFull, "the disk is full")
	}
	w.restart()
	w.play()
	for range 5 { // all that are held are tried again
		if items, _, err := w.o.Retry(w.ctx, id, ""); err != nil || items != 4 {
			t.Fatalf("%d items are tried again, %v", items, err)
		}
		w.play()
	}
	got := w.node(id, "one")
	faults, err := w.store.Faults(w.ctx, id, n.Node, 0, 10)
	if tries != 3 || got.OK != 2 || got.Text != given+180 || err != nil || len(faults) != 4 {
		t.Fatalf("after %d tries %d rows with %d bytes are kept, and %v is held, %v", tries, got.OK, got.Text-given, faults, err)
	}
	for _, f := range faults {
		if !strings.Contains(f.Error, "number") {
			t.Errorf("item %d is held: %s", f.Item, f.Error)
		}
	}
}

// TestAReadThatFailedIsForgotten: when a pass ends well, its step no longer says that
// the store failed, though nothing was to be kept.
func TestAReadThatFailedIsForgotten(t *testing.T) {
	for _, read := range []string{"tasks", "run batches"} {
		w := newWorld(t)
		w.lag = true
		text := strings.Replace(oneCall, "HOLD", "hold", 1) + "  ask: {from: {items: stream, call: stream}, join: all, " + choose + "}\n"
		id := w.load(orchestrator.NewRun{Text: text, Budget: 100 * crowd.Unit}, map[string]string{"items": "id\n1\n2\n3\n4\n5\n6\n"})
		must(t, w.o.Start(w.ctx, id))
		w.settle()
		failed := false
		w.store.fail = func(what string) error {
			if what == read && !failed {
				failed = true
				return errDisk
			}
			return nil
		}
		w.endCalls() // of some
		w.settle()
		if n := w.node(id, "ask"); !failed || !strings.Contains(n.Error, "it is tried again") {
			t.Fatalf("%s failed: %t; the step says %q", read, failed, n.Error)
		}
		w.now = w.now.Add(time.Minute)
		w.settle()
		if n := w.node(id, "ask"); n.Error != "" || n.WaitsForMoney() || n.Batch == nil || n.Batch.Progress.Tasks != n.Batch.Spec.Tasks {
			t.Errorf("after %s failed the step says %q; %+v", read, n.Error, n.Batch)
		}
	}
}

func (f *faultyStore) Tasks(ctx context.Context, first crowd.TaskID, n int) ([]store.Task, error) {
	if err := f.failure("tasks"); err != nil {
		return nil, err
	}
	return f.Store.Tasks(ctx, first, n)
}
