package orchestrator_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow"
)

// lateBy costs 1 for each second from the first, so that whatever is foreseen costs something.
const lateBy = "workflow: late\nsla: {per: item, penalty: staged, after: 1s, every: 1s, cost: 1}\ninputs: {items: {columns: [id]}}\nsteps:\n  one: "

// stepsOfAllKinds are a step of each kind that can wait.
var stepsOfAllKinds = map[string]string{
	"a query over all rows": `{from: items, sql: "select id from items order by id"}`,
	"a query by rows":       `{from: {items: stream}, sql: "select id from items"}`,
	"people":                `{from: {items: stream}, ` + choose + `}`,
	"a service":             `{from: {items: stream}, service: {url: "https://x.example/", send: [id], response: {type: object, properties: {loud: {type: string}}}}}`,
}

// wantWait checks what is told of a run that waits: no time, no firm penalty, why, and whether
// the step is blocked.
func (w *world) wantWait(when string, id crowd.RunID, why string, blocked bool) {
	w.t.Helper()
	w.now = w.now.Add(time.Second + time.Millisecond) // for a new prediction
	v := w.view(id)
	if o := &v.Outlook; !o.Median.IsZero() || !o.Low.IsZero() || !o.High.IsZero() || !strings.Contains(o.Why, why) {
		w.t.Errorf("%s: done at %s, %q; want no time, and %q", when, o.Median, o.Why, why)
	}
	if !v.AtLeast {
		w.t.Errorf("%s: %s is foreseen as if that were known", when, v.Predicted)
	}
	if got := v.Blocked(1); (got != "") != blocked || !strings.Contains(got, why) && blocked {
		w.t.Errorf("%s: the step is blocked by %q, want %t", when, got, blocked)
	}
	if got := v.Nodes[1].Error; !strings.Contains(got, why) {
		w.t.Errorf("%s: the step says %q", when, got)
	}
	slow, err := w.o.SlowestItems(w.ctx, 0, id, 5)
	must(w.t, err)
	for _, x := range slow {
		if x.Penalty != nil && blocked {
			w.t.Errorf("%s: item %d at %s ends at %s for %s", when, x.Item, x.Step, x.Ends, *x.Penalty)
		}
	}
}

// TestEveryWaitIsTold: whatever a step waits for that is not kept, no time is foreseen that it
// would have if it did not wait, and what goes on only when somebody does something is blocked.
// A kind of wait, a code or a quota that is new has to say here what is told of it.
func TestEveryWaitIsTold(t *testing.T) {
	const blocked, passes = true, false
	kinds := map[orchestrator.WaitKind]bool{orchestrator.ForTurn: passes, orchestrator.ForStore: passes, orchestrator.ForMore: blocked}
	codes := map[crowd.Code]bool{
		crowd.StorageFull: blocked,
		crowd.Invalid:     passes, crowd.NotFound: passes, crowd.Unauthenticated: passes, crowd.Forbidden: passes, crowd.OffDuty: passes, crowd.Conflict: passes, crowd.TooLarge: passes,
		crowd.TooMany: passes, crowd.BudgetTooSmall: passes, crowd.QuotaExceeded: passes, crowd.Unavailable: passes, crowd.Internal: passes,
	}
	quotas := map[store.QuotaKind]bool{store.Kept: blocked, store.Daily: blocked, store.Each: blocked, store.AtOnce: passes}
	if len(kinds) != orchestrator.WaitKinds-1 {
		t.Errorf("%d kinds of waits are here, of %d", len(kinds), orchestrator.WaitKinds-1)
	}
	type row struct {
		err     error
		blocked bool
	}
	failures := map[string]row{"an error without a code": {errDisk, passes}}
	for _, code := range crowd.Codes() {
		is, here := codes[code]
		if !here {
			t.Errorf("what is told of a step that waits after an error of code %s?", code)
		}
		failures["the code "+string(code)] = row{crowd.Errorf(code, "because of it"), is}
	}
	for _, q := range store.AllQuotas() {
		is, here := quotas[q.Kind]
		if !here {
			t.Errorf("what is told of a step that waits for a quota that is %s?", q.Kind)
		}
		failures["the quota "+string(q.Quota)] = row{(&store.Excess{Quota: q.Quota, Limit: 5, Used: 5, Wanted: 1}).Refused(), is}
		failures["the quota "+string(q.Quota)+" of nothing"] = row{(&store.Excess{Quota: q.Quota, Wanted: 1}).Refused(), blocked}
	}
	for name, c := range failures {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			id := w.start(lateBy+stepsOfAllKinds["a query over all rows"]+"\n", "id\n1\n2\n")
			w.store.fail = func(what string) error {
				if what == "advance" {
					return c.err
				}
				return nil
			}
			w.settle()
			w.wantWait("at first", id, "it is tried again: ", c.blocked)
			w.now = w.now.Add(time.Hour)
			w.settle()
			w.wantWait("an hour later", id, "it is tried again: ", c.blocked)
			w.store.fail = nil
			w.play()
			w.wantState(id, store.RunDone)
		})
	}
	for kind, blocked := range kinds {
		for _, name := range []string{"a query over all rows", "a query by rows"} {
			w := newWorld(t)
			w.slow, w.queued = true, orchestrator.Wait{Kind: kind, Why: "because of it"}
			id := w.start(lateBy+stepsOfAllKinds[name]+"\n", "id\n1\n2\n")
			w.settle()
			w.wantWait(name+" before it begins", id, "the query waits", blocked)
			for _, query := range w.queries {
				query()
			}
			if v := w.view(id); v.Nodes[1].Error != "" || v.Blocked(1) != "" {
				t.Errorf("%s has begun, and %q, blocked by %q", name, v.Nodes[1].Error, v.Blocked(1))
			}
		}
	}
}

// TestStepsThatWaitForRoom: steps of every kind say so, until there is some; also where other
// steps get on meanwhile, and where it is no step that fails.
func TestStepsThatWaitForRoom(t *testing.T) {
	full := crowd.Errorf(crowd.StorageFull, "the disk is full")
	for name, step := range stepsOfAllKinds {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			id := w.start(lateBy+step+"\n", "id\n1\n2\n")
			w.store.fail = func(what string) error {
				if what == "advance" {
					return full
				}
				return nil
			}
			w.settle()
			w.wantWait("at once", id, "the disk is full", true)
			w.restart()
			w.settle()
			w.wantWait("after a restart", id, "the disk is full", true)
			w.store.fail = nil
			w.play()
			if v := w.view(id); v.State != store.RunDone || v.Nodes[1].Error != "" {
				t.Errorf("with room it is %s: %q", v.State, v.Nodes[1].Error)
			}
		})
	}
	t.Run("calls of a declared service", func(t *testing.T) {
		w := newWorld(t)
		w.declare(1, crowd.Rate{}, w.tenant)
		w.store.fail = func(what string) error {
			if what == "use" {
				return full
			}
			return nil
		}
		id := w.start(strings.Replace(lateBy, "sla: {per: item, penalty: staged, after: 1s", "sla: {per: item, penalty: staged, after: 2s", 1)+`{from: {items: stream}, service: {name: scores, path: x, send: [id], response: {type: object, properties: {loud: {type: string}}}}}`+"\n", "id\n1\n2\n")
		w.settle()
		w.wantWait("before the first call", id, "the disk is full", true)
		w.store.fail = nil
		w.play()
		w.wantState(id, store.RunDone)
	})
	t.Run("while others get on", func(t *testing.T) {
		w := newWorld(t)
		w.slow = true
		id := w.start(lateBy+stepsOfAllKinds["a query over all rows"]+"\n  ask: "+stepsOfAllKinds["people"]+"\n", "id\n1\n2\n3\n4\n5\n6\n")
		w.settle()
		w.store.fail = func(what string) error {
			if what == "advance" {
				return full
			}
			return nil
		}
		w.queries[0]()
		w.settle()
		w.store.fail = nil // for people
		w.queries = nil
		w.now = w.now.Add(time.Minute)
		w.work()
		w.settle()
		if v := w.view(id); len(w.queries) != 1 || v.Nodes[1].Error == "" || v.Outlook.Why == "" {
			t.Fatalf("%d queries are tried again, and of the step is told %q, %q", len(w.queries), v.Nodes[1].Error, v.Outlook.Why)
		}
		if o := w.view(id).Outlook; !o.Median.IsZero() {
			t.Errorf("done at %s", o.Median)
		}
		w.queries[0]()
		w.settle()
		if v := w.view(id); v.Nodes[1].Error != "" || v.Blocked(1) != "" {
			t.Errorf("its result is kept, and it says %q", v.Nodes[1].Error)
		}
	})
	t.Run("no step", func(t *testing.T) {
		w := newWorld(t)
		id := w.start(lateBy+stepsOfAllKinds["a query by rows"]+"\n  ask: "+stepsOfAllKinds["people"]+"\n", "id\n1\n2\n")
		w.store.fail = func(what string) error {
			if what == "nodes" {
				return full
			}
			return nil
		}
		w.settle()
		w.store.fail = nil
		if o := w.view(id).Outlook; !strings.Contains(o.Why, "the disk is full") || !o.Median.IsZero() {
			t.Errorf("a pass that failed at no step: done at %s, %q", o.Median, o.Why)
		}
		w.store.fail = func(what string) error {
			if what == "run" {
				return full
			}
			return nil
		}
		w.restart()
		w.store.fail = nil
		if o := w.view(id).Outlook; !strings.Contains(o.Why, "to be taken up") {
			t.Errorf("a run that is not taken up: done at %s, %q", o.Median, o.Why)
		}
	})
}

// TestATenantsQuotaIsNoError: what a tenant has no quota for is told to whoever runs the server
// once, and not as an error; that the store fails is one each time.
func TestATenantsQuotaIsNoError(t *testing.T) {
	for name, step := range stepsOfAllKinds {
		for _, c := range []struct {
			err           error
			infos, errors int // at least
		}{{(&store.Excess{Quota: store.StoredBytes, Limit: 5, Used: 5, Wanted: 1}).Refused(), 1, 0}, {errors.Join(errDisk), 0, 3}} {
			w := newWorld(t)
			w.start(lateBy+step+"\n", "id\n1\n2\n")
			w.store.fail = func(what string) error {
				if what == "advance" {
					return c.err
				}
				return nil
			}
			for range 5 {
				w.settle()
				w.now = w.now.Add(2 * time.Minute)
			}
			infos, errs := strings.Count(w.logged.String(), "level=INFO"), strings.Count(w.logged.String(), "level=ERROR")
			if infos != c.infos || errs < c.errors || c.errors == 0 && errs > 0 {
				t.Errorf("%s, %v: %d notes and %d errors are logged", name, c.err, infos, errs)
			}

		}
	}
}

// TestEveryReasonOfABatch: of each reason for which a step's batch is not worked on it is decided
// whether the step is blocked by it, or is done when the forecast says.
func TestEveryReasonOfABatch(t *testing.T) {
	const blocked, foreseen, otherwise = "blocked", "its forecast knows", "told otherwise"
	decided := map[crowd.Reason]string{
		crowd.BatchPaused: blocked, crowd.BudgetSpent: blocked, crowd.GateClosed: blocked, crowd.NoTraining: blocked,
		crowd.EmergencyStop: otherwise, // NodeView.Stops
		crowd.CrowdTooSmall: otherwise, // NodeView.Crowd
		crowd.BatchEnded:    otherwise, crowd.NothingWaiting: foreseen, crowd.NoTaskYet: foreseen, crowd.EnoughLabels: foreseen,
		crowd.NotInTraining: foreseen, crowd.NotQualified: foreseen, crowd.WorkerBlocked: foreseen, crowd.OwnStaff: foreseen, crowd.ServesOthers: foreseen,
		crowd.NotInvited: foreseen, crowd.AlreadyDid: foreseen, crowd.AnsweredElsewhere: foreseen, crowd.AnsweredEnough: foreseen, crowd.PausedByRule: foreseen,
		crowd.OtherBatchFirst: foreseen, crowd.NoWorkerReady: foreseen, crowd.NoOpenBatch: foreseen, crowd.PoolFull: foreseen, crowd.NotOnDuty: foreseen,
		crowd.WorkerSuspended: foreseen, crowd.Lent: foreseen,
	}
	for _, r := range crowd.Reasons() {
		how, here := decided[r]
		if !here {
			t.Errorf("is a step blocked whose batch waits as %s?", r)
		}
		v := orchestrator.View{Run: store.Run{State: store.RunRunning}, Nodes: []orchestrator.NodeView{{
			Node: store.Node{State: store.NodeRunning}, Step: &workflow.Step{Kind: workflow.CrowdStep}, Inside: 1, Reason: r,
		}}}
		if got := v.Blocked(0); (got != "") != (how == blocked) {
			t.Errorf("%s: blocked by %q, and it is %s", r, got, how)
		}
	}
}

// TestAPromiseOfARunBeforeAQuery: what a run as a whole costs is foreseen also while all that is
// there waits before a query over all rows, which makes other items.
func TestAPromiseOfARunBeforeAQuery(t *testing.T) {
	w := newWorld(t)
	w.slow = true
	id := w.start(strings.Replace(lateBy, "per: item", "per: run", 1)+stepsOfAllKinds["a query over all rows"]+"\n", "id\n1\n2\n")
	w.settle()
	w.now = w.now.Add(10 * time.Second)
	if v := w.view(id); !v.AtLeast || v.Predicted != 9*crowd.Unit {
		t.Errorf("before its turn: %s, at least: %t", v.Predicted, v.AtLeast)
	}
	w.slow = false
	w.restart()
	w.slow, w.queued = true, orchestrator.Wait{}
	w.settle() // it has begun
	w.now = w.now.Add(10 * time.Second)
	if v := w.view(id); v.AtLeast || v.Predicted != 19*crowd.Unit || v.Outlook.Median.IsZero() {
		t.Errorf("while it runs: %s, at least: %t, done at %s", v.Predicted, v.AtLeast, v.Outlook.Median)
	}
}
