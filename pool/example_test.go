package pool_test

import (
	"fmt"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/pool"
)

// One pool has two idle people and no work, another has a queue. The balance
// sends the person who knows the work, and likes it.
func ExampleParseBalance() {
	balance, err := pool.ParseBalance("search(cap=1)")
	if err != nil {
		fmt.Println(err)
		return
	}
	views := []pool.BalanceView{
		{Pool: 1, At: 0, Workers: 2, OnDuty: 2, Mu: 1.0 / 60, TrainingRate: 1.0 / 600, Preference: 0.9, Idle: []pool.Person{
			{ID: 11, Prefers: []float64{0.5, 0.2}, Knows: []bool{true, false}},
			{ID: 12, Prefers: []float64{0.4, 0.6}, Knows: []bool{true, true}},
		}},
		{Pool: 2, At: 1, Workers: 3, OnDuty: 3, Busy: 3, Queue: 10, Mu: 1.0 / 60, TrainingRate: 1.0 / 600},
	}
	for _, m := range balance.Plan(views, nil) {
		fmt.Println(m.Worker, "from", m.From, "to", m.To)
	}
	e := pool.Evaluate(views, []pool.Move{{Worker: crowd.WorkerID(12), From: 1, To: 2}}, 0.5)
	fmt.Println("worth it:", e.Value > 0)
	// Output:
	// u12 from p1 to p2
	// worth it: true
}
