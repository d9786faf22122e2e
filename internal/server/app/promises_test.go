package app_test

import (
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/sched"
)

const (
	asking  = "\nsteps:\n  ask: {from: n, crowd: {template: {kind: choose_one, question: Which?, show: [id], options: [a, b]}, reward: 0.01, task_time: 10s}}\n"
	promise = "\nsla: {penalty: constant, after: 1h, cost: 1.00}"
	askFlow = "workflow: ask\ninputs: {n: {columns: [id]}}"
)

// TestUnkeptPromises: a check, and a run as long as it goes, name the pools whose policy
// does not look at the SLA. A new pool's does.
func TestUnkeptPromises(t *testing.T) {
	w := newWorld(t, 3)
	text := askFlow + promise + asking
	told := func(text string) []string {
		c := must(w.Runs.Check(w.ctx, w.ann, orchestrator.NewRun{Tenant: w.a, Text: text}))(t)
		defer c.Done()
		if len(c.Problems) > 0 {
			t.Fatal(c.Problems)
		}
		return c.Notes
	}
	run := must(w.Runs.Make(w.ctx, w.ann, orchestrator.NewRun{Tenant: w.a, Text: text}))(t).Run.ID
	schedule := func(policy string) {
		must(w.Pools.Change(w.ctx, w.admin, w.pool, func(p *store.Pool) error { p.Policy = policy; return nil }))(t)
	}
	for policy, unkept := range map[string]bool{"": false, "fifo": true, "tenant-fair(dafs)": true, "penalty(form=loop)": false} {
		if policy != "" {
			schedule(policy)
		}
		notes := told(text)
		if unkept != (len(notes) == 1 && strings.Contains(notes[0], "the pool main, "+policy+", does not") && strings.Contains(notes[0], sched.Default)) || !unkept && len(notes) > 0 {
			t.Errorf("%q: a check says %q", policy, notes)
		}
		if got := must(w.Runs.Get(w.ctx, w.ann, run))(t).Notes; strings.Join(got, "") != strings.Join(notes, "") {
			t.Errorf("%q: the run says %q", policy, got)
		}
		if twice := told(text + strings.Replace(asking, "\nsteps:\n  ask:", "  again:", 1)); len(twice) != len(notes) {
			t.Errorf("%q: of two steps in a pool a check says %q", policy, twice)
		}
		if notes := told(askFlow + asking); len(notes) > 0 {
			t.Errorf("%q: without an SLA: %q", policy, notes)
		}
	}
	must(w.Runs.Cancel(w.ctx, w.ann, run))(t)
	schedule("fifo")
	if got := must(w.Runs.Get(w.ctx, w.ann, run))(t).Notes; len(got) > 0 {
		t.Errorf("a run that is over says %q", got)
	}
}
