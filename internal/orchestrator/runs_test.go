package orchestrator_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow/httpstep"
)

const choose = `crowd: {template: {kind: choose_one, question: "?", options: ["yes", "no"], show: [id]}, reward: 0.10}`

// TestConditionsAndJoins has branches that exclude each other meet again: a join
// of what was taken takes all items, a join of all takes none, and both end.
func TestConditionsAndJoins(t *testing.T) {
	w := newWorld(t)
	w.answer = func(values []string) string {
		if values[0] == "1" {
			return "no"
		}
		return "yes"
	}
	id := w.start(`
workflow: joins
inputs: {items: {columns: [id, price, sold]}}
steps:
  typed: {from: {items: stream}, sql: "select id, trim(price) as price, trim(sold) as sold from items", columns: {price: number, sold: bool}}
  cheap: {from: {typed: stream}, when: price <= 10 and not sold, `+choose+`}
  costly: {from: {typed: stream}, when: price > 10, `+choose+`}
  either: {from: {cheap: stream, costly: stream}, when: cheap == "no" or costly == "yes", service: {url: "https://x.example/", response: {type: object, properties: {loud: {type: string}}}}}
  both: {from: {cheap: stream, costly: stream}, join: all, `+choose+`}
`, "id,price,sold\n1,5,no\n2,20,yes\n3,,0\n4,5,true\n5,oops,false\n6,30,maybe\n")
	w.play()
	for name, want := range map[string][4]int64{ // ok, skipped, failed, held
		"typed": {4, 0, 0, 2}, "cheap": {1, 3, 0, 0}, "costly": {1, 3, 0, 0},
		"either": {2, 2, 0, 0}, "both": {0, 4, 0, 0},
	} {
		n := w.node(id, name)
		if got := [4]int64{n.OK, n.Skipped, n.Failed, n.Faults}; got != want {
			t.Errorf("%s has %v rows ok, skipped and failed, and held, want %v", name, got, want)
		}
	}
	w.want(id, "both")
	items, err := w.o.Skip(w.ctx, id, "")
	if err != nil || items != 2 {
		t.Errorf("skip: %d items, %v", items, err)
	}
	w.play()
	w.wantState(id, store.RunDone)
	if n := w.node(id, "either"); n.Failed != 2 {
		t.Errorf("%d items failed at the join, want those that failed before it", n.Failed)
	}
}

// everyKindWithRestarts runs everyKind, with a restart after each step of the
// orchestrator for which restart returns true, and returns what came out.
func everyKindWithRestarts(t *testing.T, restart func(step int) bool) string {
	w := newWorld(t)
	w.answer = func(values []string) string { return map[bool]string{true: "yes", false: "no"}[values[1] < "m"] }
	var in strings.Builder
	in.WriteString("id,word\n")
	for i := range 9 {
		fmt.Fprintf(&in, "%d,%c\n", i, 'h'+rune(i))
	}
	id := w.start(everyKind, in.String())
	for step := range 2000 {
		next, more := w.o.Step(w.ctx)
		if restart(step) {
			w.restart()
			w.work()
			continue
		}
		if more || w.work() {
			continue
		}
		if w.view(id).State == store.RunDone {
			break
		}
		if next.After(w.now) {
			w.now = next
		}
	}
	w.wantState(id, store.RunDone)
	if w.answers != 18 {
		t.Errorf("%d answers, want 18", w.answers)
	}
	must(t, w.store.CheckLedger(w.ctx))
	return strings.Join(w.rows(id, "total"), "; ")
}

// TestRestartsInTheMiddle kills the server again and again: each item comes through
// each step once.
func TestRestartsInTheMiddle(t *testing.T) {
	want := everyKindWithRestarts(t, func(int) bool { return false })
	if !strings.Contains(want, "h! i! j! k! l!") {
		t.Fatalf("the result is %q", want)
	}
	for every := 4; every <= 9; every++ {
		if got := everyKindWithRestarts(t, func(step int) bool { return step%every == every-1 }); got != want {
			t.Errorf("with a restart every %d steps the result is %q, want %q", every, got, want)
		}
	}
}

// TestTheStoreFails has the store refuse now and then: the run pauses, and goes on.
func TestTheStoreFails(t *testing.T) {
	for name, failure := range map[string]error{"advance": errDisk, "advance, unheard": errUnheard, "rows": errDisk, "run": errDisk, "nodes": errDisk} {
		t.Run(name, func(t *testing.T) {
			what, _, _ := strings.Cut(name, ",")
			w := newWorld(t)
			id := w.start(everyKind, "id,word\n1,one\n2,two\n3,three\n")
			calls, failed := 0, 0
			w.store.fail = func(call string) error {
				if call != what {
					return nil
				}
				if calls++; calls%3 == 0 {
					failed++
					return failure
				}
				return nil
			}
			began := w.now
			if what == "run" { // which is read when a run is taken up, and after another failure
				w.store.fail = func(call string) error {
					if failed++; failed < 3 {
						return errDisk
					}
					return nil
				}
				w.restart()
				wantCode(t, w.o.Pause(w.ctx, id), crowd.Unavailable, "about to be taken up")
			}
			w.play()
			w.store.fail = nil
			w.play()
			w.wantState(id, store.RunDone)
			w.want(id, "total", "yes,3,one! two! three!")
			if failed == 0 || !w.now.After(began) {
				t.Errorf("%d failures, and %s have passed", failed, w.now.Sub(began))
			}
		})
	}
}

func TestPauseResumeCancel(t *testing.T) {
	w := newWorld(t)
	id := w.start(everyKind, "id,word\n1,one\n2,two\n")
	w.settle()
	must(t, w.o.Pause(w.ctx, id))
	w.play()
	w.wantState(id, store.RunPaused)
	if w.answers != 0 {
		t.Errorf("%d answers to a paused run", w.answers)
	}
	slow, err := w.o.SlowestItems(w.ctx, 0, id, 1)
	if err != nil || len(slow) != 1 || slow[0].Why != "the run is paused" {
		t.Errorf("slowest: %+v, %v", slow, err)
	}
	_, _, err = w.o.Retry(w.ctx, id, "")
	wantCode(t, err, crowd.Conflict, "is paused")
	w.restart() // which leaves it paused
	must(t, w.o.Resume(w.ctx, id))
	w.lag = true
	w.play()
	if len(w.open) != 2 {
		t.Fatalf("%d calls are under way, want 2", len(w.open))
	}
	must(t, w.o.Pause(w.ctx, id))
	w.endCalls() // in vain: they are made again
	w.play()
	must(t, w.o.Resume(w.ctx, id))
	w.play()
	if len(w.open) != 2 || len(w.attempts) != 4 {
		t.Errorf("%d calls are under way after %d attempts, want 2 and 4", len(w.open), len(w.attempts))
	}
	must(t, w.o.Cancel(w.ctx, id))
	w.endCalls()
	w.play()
	w.wantState(id, store.RunCancelled)
	w.want(id, "ask", "1,one,yes,1,2,false,false", "2,two,yes,1,2,false,false")
	wantCode(t, w.o.Resume(w.ctx, id), crowd.Conflict, "not under way")
	wantCode(t, w.o.Pause(w.ctx, 99), crowd.Conflict, "not under way")
}

// TestACrashWhilePausing: the run is kept as paused, its batch is not yet. After
// the start both are.
func TestACrashWhilePausing(t *testing.T) {
	w := newWorld(t)
	id := w.start(everyKind, "id,word\n1,one\n2,two\n")
	w.settle()
	must(t, w.o.Pause(w.ctx, id))
	batch := w.node(id, "ask").Batch.Spec.ID
	must(t, w.Resume(w.ctx, batch)) // as it was before
	w.restart()
	w.play()
	w.wantState(id, store.RunPaused)
	if kept, err := w.store.Batch(w.ctx, 0, batch); err != nil || kept.Progress.State != crowd.BatchOnHold {
		t.Errorf("the batch is %s, %v", kept.Progress.State, err)
	}
	if w.answers != 0 {
		t.Errorf("%d answers to a paused run", w.answers)
	}
	must(t, w.o.Resume(w.ctx, id))
	w.play()
	if w.answers == 0 {
		t.Error("no answers to a resumed run")
	}
}

// TestEndOfAStep ends a crowd step with the labels that there are.
func TestEndOfAStep(t *testing.T) {
	w := newWorld(t)
	w.answer = func(values []string) string {
		if values[1] == "two" {
			return "" // nobody answers it
		}
		return "yes"
	}
	id := w.start(everyKind, "id,word\n1,one\n2,two\n")
	wantCode(t, w.o.EndStep(w.ctx, id, "ask"), crowd.Invalid, "has not begun")
	w.play()
	wantCode(t, w.o.EndStep(w.ctx, id, "tidy"), crowd.Invalid, "no crowd step")
	wantCode(t, w.o.EndStep(w.ctx, id, "items"), crowd.Invalid, "no crowd step")
	wantCode(t, w.o.EndStep(w.ctx, id, "nothing"), crowd.NotFound, "no step")
	must(t, w.o.EndStep(w.ctx, id, "ask"))
	w.play()
	w.wantState(id, store.RunDone)
	w.want(id, "total", "yes,1,one!")
	if n := w.node(id, "ask"); n.OK != 1 || n.Failed != 1 {
		t.Errorf("ask has %d rows ok and %d failed, want 1 and 1", n.OK, n.Failed)
	}
}

// TestItemsComeAfterTheEndOfAStep has a step end while its source still makes rows.
func TestItemsComeAfterTheEndOfAStep(t *testing.T) {
	w := newWorld(t)
	w.lag = true
	id := w.start(`
workflow: late
inputs: {items: {columns: [id]}}
steps:
  call: {from: {items: stream}, service: {url: "https://x.example/", concurrency: 1, response: {type: object, properties: {loud: {type: string}}}}}
  ask: {from: {call: stream}, `+choose+`}
`, "id\n1\n2\n")
	w.settle()
	w.endCalls()
	w.settle()
	must(t, w.o.EndStep(w.ctx, id, "ask"))
	w.endCalls()
	w.play()
	w.wantState(id, store.RunDone)
	if n := w.node(id, "ask"); n.Failed != 2 {
		t.Errorf("%d items failed, want 2", n.Failed)
	}
}

// TestKnownAnswers makes gold tasks of a column with known answers. An answer that
// nobody could give is held, and cannot be added once the job was ended.
func TestKnownAnswers(t *testing.T) {
	w := newWorld(t)
	id := w.start(`
workflow: gold
inputs: {items: {columns: [id, known]}}
steps:
  ask: {from: {items: stream}, crowd: {template: {kind: choose_one, question: "?", options: ["yes", "no"], show: [id]}, reward: 0.10, truth: known}}
`, "id,known\n1,yes\n2,\n3,perhaps\n")
	w.settle()
	b, err := w.store.Batch(w.ctx, 0, w.node(id, "ask").Batch.Spec.ID)
	if err != nil || strings.Join(b.Columns, ",") != "id" {
		t.Fatalf("the batch is %+v, %v", b, err)
	}
	gold, err := w.store.Task(w.ctx, b.Spec.ID.Task(1))
	if err != nil || gold.Gold != "yes" || len(gold.Values) != 1 {
		t.Errorf("the first task is %+v, %v", gold, err)
	}
	if n := w.node(id, "ask"); n.Faults != 1 {
		t.Errorf("%d items are held, want 1", n.Faults)
	}
	items, _, err := w.o.Retry(w.ctx, id, "ask")
	if err != nil || items != 1 {
		t.Errorf("retry: %d items, %v", items, err)
	}
	w.play()
	must(t, w.o.EndStep(w.ctx, id, "ask"))
	_, _, err = w.o.Retry(w.ctx, id, "ask")
	wantCode(t, err, crowd.Invalid, "was ended")
	if n, err := w.o.Skip(w.ctx, id, ""); err != nil || n != 1 {
		t.Errorf("skip: %d, %v", n, err)
	}
	w.play()
	w.wantState(id, store.RunDone)
}

// TestAPoolThatIsNotThere is refused where it is named, when the run is made; once the run
// goes, it fails the step, which a retry begins again.
func TestAPoolThatIsNotThere(t *testing.T) {
	w := newWorld(t)
	bees := w.another("bees")
	text := "workflow: w\ninputs: {items: {columns: [id]}}\nsteps:\n  ask: {from: items, " + strings.Replace(choose, "reward", "pool: nowhere, reward", 1) + "}\n"
	refused := func(tenant crowd.TenantID, want string) {
		t.Helper()
		_, err := w.o.Create(w.ctx, orchestrator.NewRun{Tenant: tenant, Text: text})
		var problems orchestrator.Problems
		if !errors.As(err, &problems) || len(problems) != 1 || problems[0].Line != 4 || problems[0].Column != 117 || problems[0].Message != want {
			t.Errorf("the error is %v, want one in line 4, column 117: %s", err, want)
		}
	}
	refused(w.tenant, `pool: there is no pool "nowhere" that this tenant may use; there are main`)
	nowhere, err := w.store.CreatePool(w.ctx, store.Pool{Name: "nowhere", Policy: "fifo", CreatedAt: w.now, Grants: []store.PoolGrant{{Tenant: bees}}})
	must(t, err)
	refused(w.tenant, `pool: there is no pool "nowhere" that this tenant may use; there are main`) // as if it were not there

	// It may not any more, when the run is to start.
	grant := func(to ...store.PoolGrant) {
		t.Helper()
		kept, err := w.store.Pool(w.ctx, nowhere)
		must(t, err)
		kept.Grants = to
		must(t, w.store.UpdatePool(w.ctx, kept))
	}
	grant(store.PoolGrant{})
	early := w.load(orchestrator.NewRun{Text: text}, map[string]string{"items": "id\n1\n"})
	grant()
	wantCode(t, w.o.Start(w.ctx, early), crowd.Conflict, `the step ask: there is no pool "nowhere" that this tenant may use; there are main`)
	w.wantState(early, store.RunLoading)
	grant(store.PoolGrant{})
	id := w.start(text, "id\n1\n") // the world's crowd knows main alone
	w.play()
	if n := w.node(id, "ask"); n.State != store.NodeFailed || !strings.Contains(n.Error, "no pool") {
		t.Fatalf("ask is %s: %q", n.State, n.Error)
	}
	slow, err := w.o.SlowestItems(w.ctx, 0, id, 3)
	if err != nil || len(slow) != 1 || !strings.HasPrefix(slow[0].Why, "the step has failed: ") {
		t.Errorf("slowest: %+v, %v", slow, err)
	}
	_, steps, err := w.o.Retry(w.ctx, id, "")
	if err != nil || steps != 1 {
		t.Errorf("retry: %d steps, %v", steps, err)
	}
	w.play()
	if n := w.node(id, "ask"); n.State != store.NodeFailed {
		t.Errorf("ask is %s", n.State)
	}
}

// TestAStepTakesUpTheBatchThatWasRefused: what a step made before the pool refused it is
// launched when the step is tried again, and not made twice.
func TestAStepTakesUpTheBatchThatWasRefused(t *testing.T) {
	w := newWorld(t)
	w.refused = crowd.Fieldf("priority", "is beyond the highest")
	id := w.start("workflow: w\ninputs: {items: {columns: [id]}}\nsteps:\n  ask: {from: {items: stream}, "+choose+"}\n", "id\n1\n2\n")
	w.settle()
	made := w.node(id, "ask").Node.Batch
	for range 2 {
		if n := w.node(id, "ask"); n.State != store.NodeFailed || made == 0 || n.Node.Batch != made || !strings.Contains(n.Error, "beyond the highest") {
			t.Fatalf("ask is %s with %s, %q", n.State, n.Node.Batch, n.Error)
		}
		if why := w.view(id).Blocked(w.node(id, "ask").Node.Node); !strings.Contains(why, "try the step again") {
			t.Errorf("it says %q", why)
		}
		if _, steps, err := w.o.Retry(w.ctx, id, "ask"); err != nil || steps != 1 {
			t.Fatalf("%d steps, %v", steps, err)
		}
		w.settle()
	}
	w.refused = nil
	if _, steps, err := w.o.Retry(w.ctx, id, "ask"); err != nil || steps != 1 {
		t.Fatalf("%d steps, %v", steps, err)
	}
	w.play()
	w.wantState(id, store.RunDone)
	if n := w.node(id, "ask"); n.Node.Batch != made || n.OK != 2 {
		t.Errorf("%d labels of %s", n.OK, n.Node.Batch)
	}
}

// TestARunGoesOnFromAnother takes over its inputs, and what people were paid for.
func TestARunGoesOnFromAnother(t *testing.T) {
	w := newWorld(t)
	first := w.start(everyKind, "id,word\n1,one\n2,two\n3,three\n")
	_, err := w.o.Create(w.ctx, orchestrator.NewRun{Tenant: w.tenant, Text: everyKind, Parent: first})
	wantCode(t, err, crowd.Conflict, "has ended; cancel it first")
	w.play()
	w.wantState(first, store.RunDone)
	answers := w.answers

	second := w.load(orchestrator.NewRun{Text: everyKind, Parent: first}, nil)
	must(t, w.o.Start(w.ctx, second))
	w.play()
	w.wantState(second, store.RunDone)
	w.want(second, "total", "yes,3,one! two! three!")
	if w.answers != answers || len(w.attempts) != 6 {
		t.Errorf("%d more answers and %d attempts, want 0 and 6", w.answers-answers, len(w.attempts))
	}

	third := w.load(orchestrator.NewRun{Text: everyKind, Parent: second, From: "total"}, nil)
	must(t, w.o.Start(w.ctx, third))
	w.play()
	w.wantState(third, store.RunDone)
	w.want(third, "total", "yes,3,one! two! three!")
	if len(w.attempts) != 6 {
		t.Errorf("%d attempts, want 6: the calls are taken over", len(w.attempts))
	}

	without := strings.Replace(strings.Replace(everyKind, "from: {tidy: stream}", "from: {ask: stream}", 1), `
  tidy:
    from: {ask: stream}
    sql: select id, word, ask from ask where word <> 'none'
    columns: {id: number}`, "", 1)
	made, err := w.o.Create(w.ctx, orchestrator.NewRun{Tenant: w.tenant, Text: without, Parent: second, From: "total", Name: "shorter", Budget: 5 * crowd.Unit})
	if err != nil || len(made.Notes) != 1 || !strings.Contains(made.Notes[0], "tidy") || len(made.Needs) != 0 || made.Run.Name != "shorter" {
		t.Errorf("%+v, %v", made, err)
	}
	made, err = w.o.Create(w.ctx, orchestrator.NewRun{Tenant: w.tenant, Parent: second, // what was a step is an input: its rows are not those of a file
		Text: "workflow: w\ninputs: {ask: {columns: [id]}}\nsteps:\n  only: {from: ask, sql: select id from ask}\n"})
	if err != nil || len(made.Needs) != 1 || made.Needs[0] != "ask" {
		t.Errorf("an input with the name of a step that is done: %+v, %v", made, err)
	}
	for want, n := range map[string]orchestrator.NewRun{
		"say of which run":    {Text: everyKind, From: "total"},
		"no step":             {Text: everyKind, Parent: second, From: "nothing"},
		"other columns than":  {Text: strings.Replace(everyKind, "loud", "shout", 2), Parent: second, From: "total"},
		"line 2, column 1":    {Text: "workflow: x\nsteps: {}\n"},
		"there is no run r99": {Text: everyKind, Parent: 99},
	} {
		n.Tenant = w.tenant
		if _, err := w.o.Create(w.ctx, n); err == nil || want != "there is no run r99" && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

// TestAServerThatStops drops what is under way.
func TestAServerThatStops(t *testing.T) {
	w := newWorld(t)
	w.service = func(orchestrator.Attempt) (httpstep.Reply, error) { return httpstep.Reply{}, context.Canceled }
	id := w.start(strings.Replace(oneCall, "HOLD", "hold", 1), "id\n1\n")
	w.lag = true
	w.settle()
	end := w.open[0]
	w.o.Close()
	end()
	w.o.Step(w.ctx)
	if n := w.node(id, "call"); n.Faults != 0 || n.Last != 0 {
		t.Errorf("call has %d held and %d rows, want none", n.Faults, n.Last)
	}
}

// TestARunThatIsBroken: a run whose kept workflow cannot be read is named in the log
// with the reason, and the others go on.
func TestARunThatIsBroken(t *testing.T) {
	w := newWorld(t)
	w.lag = true
	first := w.start(strings.Replace(oneCall, "HOLD", "hold", 1), "id\n1\n")
	second := w.start(strings.Replace(oneCall, "HOLD", "hold", 1), "id\n1\n")
	w.store.change = func(r *store.Run) {
		if r.ID == first {
			r.Text = "steps: ["
		}
	}
	w.restart()
	w.lag = false
	w.play()
	w.wantState(second, store.RunDone)
	if log := w.logged.String(); !strings.Contains(log, `msg="a run cannot go on" run=`+first.String()+` err="the kept workflow of `+first.String()+`: line `) {
		t.Errorf("the log does not name it:\n%s", log)
	}
	if err := w.o.Pause(w.ctx, first); crowd.CodeOf(err) != crowd.Conflict {
		t.Errorf("it is paused: %v", err)
	}
}
