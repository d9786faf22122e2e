package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/sched"
)

// BenchmarkRules is a cycle, to answer a task and get the next, by rules that look at the task alone
// and by one that follows the answers of the batch, of two options and of ten. A hundred
// people are right in four of five cases; a batch has 2,000 tasks.
func BenchmarkRules(b *testing.B) {
	const people, tasks = 100, 2000
	for _, bb := range []struct {
		rule    label.Rule
		classes int
	}{
		{label.Count(5), 2}, {label.Agree(3, 5), 2}, {label.Until(0.99, 2, 10), 2}, {label.Until(0.99, 2, 10), 10},
	} {
		b.Run(fmt.Sprintf("%s, %d options", bb.rule, bb.classes), func(b *testing.B) {
			now := start
			e := engine.New(engine.Config{Policy: sched.MustParse("fs")})
			must(b, e.SetTenant(now, engine.Tenant{ID: 1, Weight: 1}))
			for n := range people {
				must(b, e.SetWorker(now, engine.Worker{ID: crowd.WorkerID(n + 1)}))
			}
			keys := make([]string, bb.classes)
			for k := range keys {
				keys[k] = fmt.Sprint("option ", k)
			}
			var ch engine.Changes
			launched := crowd.BatchID(0)
			n := uint32(1)
			for i := 0; b.Loop(); i++ {
				now = now.Add(time.Second)
				who := crowd.WorkerID(i%people + 1)
				if h, holds := e.Holds(who); holds {
					n = n*1664525 + 1013904223 // Numerical Recipes' generator: enough for who errs
					said := int(h.Task.N()) % bb.classes
					if n>>16%5 == 0 {
						said = int(n>>20) % bb.classes
					}
					_, err := e.Submit(now, who, h.Assignment, keys[said], keys[said])
					must(b, err)
				}
				_, got, err := e.Ready(now, who)
				must(b, err)
				if !got {
					launched++
					must(b, e.Launch(now, engine.Spec{
						ID: launched, Tenant: 1, Tasks: tasks, Rule: bb.rule.WithClasses(bb.classes), Reward: 1, Budget: tasks * crowd.Money(bb.rule.Most()),
						Priority: 1, Lease: 100 * time.Hour, TaskTime: time.Minute,
					}))
				}
				e.Take(&ch)
			}
		})
	}
}
