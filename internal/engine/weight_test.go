package engine_test

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/sched"
)

// Of a rule that follows the answers, what somebody says whose answers count little makes nobody sure, also after a
// restart, until that is undone; and a rule that acts on nobody changes nothing.
func TestWeightsTemperWhatMakesSure(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		when    string
		restart bool
		sure    bool // by two answers that are equal
	}{
		"acts on nobody":        {"answers > 99", false, true},
		"acts":                  {"seconds < 5", false, false},
		"acts, and a restart":   {"seconds < 5", true, false},
		"on nobody, restarted":  {"answers > 99", true, true},
		"acts on the other one": {"seconds > 5", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now, s, cfg := start, newStore(), engine.Config{Policy: sched.MustParse("fifo")}
			e := engine.New(cfg)
			tenant := engine.Tenant{ID: 1, Weight: 1}
			must(t, e.SetTenant(now, tenant))
			s.tenants[1] = tenant
			for id := range crowd.WorkerID(3) {
				must(t, e.SetWorker(now, engine.Worker{ID: id + 1}))
				s.workers[id+1] = engine.Worker{ID: id + 1}
			}
			spec := engine.Spec{
				ID: 1, Tenant: 1, Tasks: 1, Rule: label.Until(0.8, 2, 4).WithClasses(2), Reward: 1, Budget: 4, Priority: 1, Lease: time.Hour, TaskTime: time.Minute,
				SmallCrowdOK: true, Quality: []engine.QualityRule{{When: tc.when, Do: "weight 0.05"}},
			}
			must(t, e.Launch(now, spec))
			s.specs[1] = spec
			take := func() (labels []engine.Label, actions []engine.Action) {
				var ch engine.Changes
				e.Take(&ch)
				s.apply(&ch)
				must(t, e.Check())
				return ch.Labels, ch.Actions
			}
			take()
			answer := func(who crowd.WorkerID, took time.Duration) {
				h, got, err := e.Ready(now, who)
				must(t, err)
				if !got || h.Task.N() != 1 {
					t.Fatalf("%s is given %v", who, h)
				}
				now = now.Add(took)
				_, err = e.Submit(now, who, h.Assignment, "cat", "cat")
				must(t, err)
			}
			answer(1, time.Second)
			_, acted := take()
			if tc.restart {
				var err error
				e, err = engine.Restore(now, cfg, s.snapshot(false))
				must(t, err)
			}
			answer(2, time.Minute)
			labels, _ := take()
			if (len(labels) == 1) != tc.sure {
				t.Fatalf("two answers make the labels %+v", labels)
			}
			if len(acted) == 1 {
				must(t, e.UndoAction(now, 1, 1, 9))
				if labels, _ = take(); len(labels) != 1 || labels[0].Value != "cat" || labels[0].Answers != 2 || labels[0].Undecided {
					t.Errorf("undone, two answers make the labels %+v", labels)
				}
			}
		})
	}
}
