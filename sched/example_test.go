package sched_test

import (
	"fmt"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/sched"
)

// everybody is a worker who may do everything.
type everybody struct{}

func (everybody) LastBatch() crowd.BatchID    { return 0 }
func (everybody) MayClass(sched.Class) bool   { return true }
func (everybody) MayBatch(crowd.BatchID) bool { return true }

// Weighted fair sharing gives a batch of three times the priority three of four
// hand-outs.
func Example() {
	policy, err := sched.Parse("wfs")
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Date(2026, 10, 1, 9, 0, 0, 0, time.UTC)
	batches := map[crowd.BatchID]*sched.Batch{}
	for id, priority := range map[crowd.BatchID]float64{1: 1, 2: 3} {
		batches[id] = &sched.Batch{
			ID: id, Tenant: 1, TenantWeight: 1, Arrived: now, Priority: priority, Planned: 100, TaskTime: time.Minute, Assignable: true,
		}
		policy.Set(batches[id])
	}
	var served []crowd.BatchID
	for turn := uint64(1); turn <= 8; turn++ {
		id := policy.Next(now, everybody{})
		b := batches[id]
		b.Running++
		b.Turn = turn
		policy.Set(b)
		served = append(served, id)
	}
	key, _ := policy.Key(1)
	fmt.Println(served)
	fmt.Println("b1:", key.Words)
	// Output:
	// [b1 b2 b2 b2 b1 b2 b2 b2]
	// b1: least x = R/P first, here 2
}

// A refusal says what is wrong, and which policies there are.
func ExampleParse() {
	policy, err := sched.Parse("wcfs( tenant-fair(dafs), k = 3 )")
	fmt.Println(policy.Name(), err)
	_, err = sched.Parse("dafs(f=cosine)")
	fmt.Println(crowd.CodeOf(err))
	// Output:
	// wcfs(tenant-fair(dafs),k=3) <nil>
	// invalid
}
