package demo

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/wire"
)

// TestHabitsAreOfTheSeed: what a person decides at their n-th call and task is of the
// seed and the person, in whatever order calls and tasks come.
func TestHabitsAreOfTheSeed(t *testing.T) {
	t.Parallel()
	const n = 200
	type decisions struct{ calls, tasks, rests [n]string }
	decide := func(m *habits, tasksFirst bool) (d decisions) {
		call := func(i int) { does, after := m.call(); d.calls[i] = fmt.Sprint(does, after) }
		task := func(i int) { takes, leaves := m.task(); d.tasks[i] = fmt.Sprint(takes, leaves) }
		for i := range n {
			if tasksFirst {
				task(i)
			} else {
				call(i)
			}
		}
		for i := range n {
			if tasksFirst {
				call(i)
			} else {
				task(i)
			}
			d.rests[i] = fmt.Sprint(m.rest())
		}
		return d
	}
	one := decide(newHabits(7, 3, 3), false)
	if again := decide(newHabits(7, 3, 3), true); again != one {
		t.Error("the same seed and person decide otherwise")
	}
	if decide(newHabits(8, 3, 3), false) == one || decide(newHabits(7, 4, 3), false) == one {
		t.Error("another seed, or another person, decides the same")
	}
	seen := map[reply]int{}
	left := 0
	for i := range n {
		m := newHabits(1, i, 3)
		does, after := m.call()
		takes, leaves := m.task()
		seen[does]++
		if leaves {
			left++
		}
		if after < lessDelay || after > mostDelay || takes < leastService || takes > mostService || len(m.likes) != 3 {
			t.Fatalf("person %d: %s after %s, a task in %s, likes %v", i, does, after, takes, m.likes)
		}
	}
	if seen[comesIn] < n/2 || seen[refuses] == 0 || seen[ignores] == 0 || left == 0 || left > n/10 {
		t.Errorf("%v, %d leave", seen, left)
	}
}

func TestLoadIsOfTheSeed(t *testing.T) {
	t.Parallel()
	o := Options{For: 30 * time.Second, Seed: 5, People: 60}
	plans := poolPlans(o)
	if !reflect.DeepEqual(plans, poolPlans(o)) {
		t.Error("the same seed makes another load")
	}
	other := o
	other.Seed++
	if reflect.DeepEqual(plans, poolPlans(other)) {
		t.Error("another seed makes the same load")
	}
	for _, p := range plans {
		tenants, most, sum := [2]int{}, 0, 0
		for _, b := range p.load {
			tenants[b.tenant]++
			most = max(most, b.tasks*b.answers())
			sum += b.tasks * b.answers()
		}
		if tenants[0] == 0 || tenants[1] == 0 || float64(most) < peak || sum < 100 {
			t.Errorf("%s: batches of tenants %v, at most %d answers at once, %d in all: no step up and down", p.name, tenants, most, sum)
		}
	}
}

// TestCheckLooks: a check that has looked at nothing has failed.
func TestCheckLooks(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		looked   int
		problems []string
		ok       bool
	}{{1, nil, true}, {0, nil, false}, {1, []string{"wrong"}, false}} {
		r := &PoolsReport{}
		r.check("something", test.looked, test.problems...)
		if (r.Err() == nil) != test.ok {
			t.Errorf("%+v: %+v", test, r.Checks)
		}
	}
}

// TestTwoPools: a person is on duty in two pools if they came into the second before
// the first was asked; who was moved in between is not.
func TestTwoPools(t *testing.T) {
	t.Parallel()
	asked := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, test := range []struct {
		since time.Duration
		twice int
	}{{-time.Second, 1}, {0, 1}, {time.Millisecond, 0}} {
		s := &poolScene{}
		on := make(map[crowd.WorkerID]sighting)
		s.note("a", asked, []wire.PoolPerson{{Worker: 1, On: true, Since: asked.Add(-time.Minute)}, {Worker: 2}}, on)
		s.note("b", asked.Add(time.Millisecond), []wire.PoolPerson{{Worker: 1, On: true, Since: asked.Add(test.since)}, {Worker: 2, On: true, Since: asked}}, on)
		if len(s.twice) != test.twice || s.onDuty != 3 {
			t.Errorf("since %s: %v, %d seen", test.since, s.twice, s.onDuty)
		}
	}
}
