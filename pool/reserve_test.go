package pool

import "testing"

// TestReserve holds the law against its formula, worked out by hand: at a load of nine
// people and 60 s to come, wanted are 9 − 0.5·√9 + q/(120/30), with
// q = (L + (9 − those at work)·60/30)⁺ − 80·0.3.
func TestReserve(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		queue, workers, busy, coming, left int
		recruit, withdraw, release         int
	}{
		"those idle beyond the load go":         {workers: 12, busy: 9, release: 3},
		"never below the load":                  {workers: 12, busy: 2, release: 3},
		"only the idle":                         {workers: 12, busy: 11, release: 1},
		"nobody while something waits":          {queue: 1, workers: 12, busy: 12},
		"a queue is cleared":                    {queue: 50, workers: 5, busy: 5, recruit: 11}, // 9 − 1.5 + (50 + 8 − 24)/4 = 16
		"who is coming works on it, too":        {queue: 50, workers: 5, busy: 5, coming: 10, withdraw: 1},
		"as much waits as may":                  {queue: 32, workers: 5, busy: 5, recruit: 7},              // 9 − 1.5 + (32 + 8 − 24)/4 = 11.5
		"who leaves is replaced before they do": {queue: 50, workers: 10, busy: 10, left: 60, recruit: 10}, // of ten 5.5 stay, and 9 − 1.5 + (50 + 2.5 − 24)/4 = 14.6
	} {
		c, now, counters := primed(t, Settings{Elasticity: "reserve"})
		counters.Abandoned += int64(x.left)
		d := c.Step(now, &Reading{
			Pool: 1, Queue: x.queue, Workers: x.workers, Busy: x.busy, Coming: x.coming, Counters: counters, Affordable: -1,
		}, fixed(0.5))
		if d.Recruit != x.recruit || d.Withdraw != x.withdraw || d.Release != x.release {
			t.Errorf("%s: +%d, withdraws %d, lets %d go; want +%d, %d, %d: %q", name, d.Recruit, d.Withdraw, d.Release, x.recruit, x.withdraw, x.release, d.Why)
		}
	}
	c := mustNew(t, Settings{Elasticity: "reserve"})
	if d := c.Step(epoch, &Reading{Pool: 1, Queue: 100, Affordable: -1}, fixed(0.5)); d.Recruit != 0 || len(d.Why) == 0 {
		t.Errorf("before the load is known it calls %d: %q", d.Recruit, d.Why)
	}
}
