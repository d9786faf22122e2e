package sla_test

import (
	"fmt"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/sla"
)

// Three claims wait for an expert, who usually replies after two hours. The one
// that came last goes first: it is due today, and only a quick reply saves it.
func Example() {
	morning := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	late := &sla.Penalty{Kind: sla.Staged, After: 48 * time.Hour, Cost: 10 * crowd.Unit, Every: time.Hour}
	once := &sla.Penalty{Kind: sla.Constant, After: 24 * time.Hour, Cost: 50 * crowd.Unit}

	q := sla.NewQueue(sla.Event, 2*time.Hour)
	q.Put(morning, sla.Request{ID: 1, Since: morning.Add(-3 * time.Hour), Start: morning.Add(-5 * time.Hour), Penalty: late})
	q.Put(morning, sla.Request{ID: 2, Since: morning.Add(-2 * time.Hour), Start: morning.Add(-49 * time.Hour), Penalty: late})
	q.Put(morning, sla.Request{ID: 3, Since: morning.Add(-1 * time.Hour), Start: morning.Add(-21 * time.Hour), Penalty: once})
	for r, added := range q.All() {
		fmt.Printf("claim %d: a delay adds %s\n", r.ID, added)
	}

	next, _ := q.NextChange()
	q.Advance(next)
	r, added, _ := q.Head()
	fmt.Printf("from %s on claim %d comes first: a delay adds %s\n", next.Format("15:04"), r.ID, added)
	// Output:
	// claim 3: a delay adds 50.00
	// claim 2: a delay adds 20.00
	// claim 1: a delay adds 0.00
	// from 10:00 on claim 2 comes first: a delay adds 20.00
}

func ExamplePenalty_At() {
	p := &sla.Penalty{Kind: sla.Staged, After: 3 * time.Second, Cost: 10 * crowd.Unit, Every: time.Second}
	for _, age := range []time.Duration{2 * time.Second, 3850 * time.Millisecond, 4050 * time.Millisecond} {
		fmt.Println(age, p.At(age))
	}
	// Output:
	// 2s 0.00
	// 3.85s 0.00
	// 4.05s 10.00
}

// A fork and its join: behind the registration lies the longer of two branches.
func ExamplePlan_Tails() {
	const registration, estimate, expertise, decision = 0, 1, 2, 3
	p, err := sla.NewPlan([][]int{registration: {}, estimate: {registration}, expertise: {registration}, decision: {estimate, expertise}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Tails([]time.Duration{time.Minute, time.Hour, 3 * time.Hour, 30 * time.Minute}))
	// Output:
	// [3h30m0s 30m0s 30m0s 0s]
}
