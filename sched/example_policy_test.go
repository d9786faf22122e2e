package sched_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/sched"
)

// smallest serves the batch with the fewest answers to go. It looks at every batch
// at each decision, which is enough to try an idea in a simulation; the policies of
// this package keep their order in a heap.
type smallest map[crowd.BatchID]sched.Batch

func init() {
	sched.Register(sched.Extension{
		Name: "smallest",
		New: func(map[string]string) (func() sched.Policy, error) {
			return func() sched.Policy { return smallest{} }, nil
		},
	})
}

func (smallest) Name() string { return "smallest" }

func (p smallest) Set(b *sched.Batch) {
	p[b.ID] = *b
	if !b.Open() {
		delete(p, b.ID)
	}
}

func (p smallest) Remove(id crowd.BatchID) { delete(p, id) }

func (p smallest) Next(_ time.Time, w sched.Worker) crowd.BatchID {
	var candidates []sched.Key
	for id, b := range p {
		if b.Assignable && w.MayClass(b.Class) {
			key, _ := p.Key(id)
			candidates = append(candidates, key)
		}
	}
	slices.SortFunc(candidates, func(a, b sched.Key) int {
		if a.Before(b) {
			return -1
		}
		return 1 // no two are alike: the ids differ
	})
	for _, key := range candidates {
		if w.MayBatch(key.Batch) {
			return key.Batch
		}
	}
	return 0
}

func (p smallest) Key(id crowd.BatchID) (sched.Key, bool) {
	b, ok := p[id]
	left := b.Planned - b.Completed
	return sched.Key{
		Policy: "smallest", Batch: id, Candidate: b.Assignable, Words: "fewest answers to go first",
		Rank: []sched.Number{sched.Number(left)}, Turn: b.Turn,
	}, ok
}

// A policy of one's own is a type that Register names; every command, scenario and
// pool of a program that has it takes the name.
func Example_ownPolicy() {
	policy := sched.MustParse("tenant-fair(smallest)")
	now := time.Date(2026, 10, 1, 9, 0, 0, 0, time.UTC)
	for id, planned := range map[crowd.BatchID]int{1: 200, 2: 30} {
		policy.Set(&sched.Batch{ID: id, Tenant: 1, TenantWeight: 1, Arrived: now, Priority: 1, Planned: planned, TaskTime: time.Minute, Assignable: true})
	}
	fmt.Println(policy.Name(), policy.Next(now, everybody{}))
	// Output:
	// tenant-fair(smallest) b2
}
