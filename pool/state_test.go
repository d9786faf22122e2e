package pool

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// restart returns a control that goes on from the states of another one, with the
// settings of a pool.
func restart(t *testing.T, from *Control, s Settings, states map[crowd.PoolID]json.RawMessage) *Control {
	t.Helper()
	c := NewControl(from.balancer)
	if err := c.Set(1, "a", s); err != nil {
		t.Fatal(err)
	}
	if len(states) != 1 {
		t.Fatalf("%d states", len(states))
	}
	if err := c.Resume(1, states[1]); err != nil {
		t.Fatal(err)
	}
	return c
}

// busy lets a pool work for some steps of a second, and returns its last reading.
func busy(c *Control, rnd *rand.Rand, steps int) (now time.Time, r Reading) {
	r = Reading{Pool: 1, Workers: 4, Busy: 3, Queue: 6, Affordable: -1, WaitP95: 7 * time.Second}
	for now = epoch; ; now = now.Add(time.Second) {
		k := &r.Counters
		k.Arrived, k.Completed, k.Joined, k.Abandoned = k.Arrived+int64(rnd.IntN(3)), k.Completed+int64(rnd.IntN(2)), k.Joined+int64(rnd.IntN(2)), k.Abandoned+int64(rnd.IntN(2))
		k.Worked, k.Awaited = k.Worked+3*time.Second, k.Awaited+time.Duration(rnd.IntN(5))*time.Second
		c.Step(now, []Reading{r}, rnd)
		if steps--; steps == 0 {
			return now, r
		}
	}
}

// TestWhatWasLearntSurvives: after a restart, of which the counters begin at 0, the
// estimates are what they were, the cool-down goes on, and so does the controller.
func TestWhatWasLearntSurvives(t *testing.T) {
	t.Parallel()
	s := Settings{Elasticity: "ct-p(ki=0.2)", Stability: "hybrid", Cooldown: time.Minute, Max: 50}
	rnd := rand.New(rand.NewPCG(8, 8))
	c := NewControl(nil)
	if err := c.Set(1, "a", s); err != nil {
		t.Fatal(err)
	}
	now, r := busy(c, rnd, 400)
	fresh := r
	fresh.Counters, fresh.WaitP95 = Counters{}, 0
	again := restart(t, c, s, c.States(false))
	m, n := c.pools[1], again.pools[1]
	if m.pid.sum == 0 || m.grew.IsZero() {
		t.Fatalf("nothing to survive: %+v, %s", m.pid, m.grew)
	}
	p, q := m.pid, n.pid
	p.before, q.before = 0, 0
	if p != q || !m.grew.Equal(n.grew) || !m.shrank.Equal(n.shrank) {
		t.Errorf("%+v, %s, %s; before %+v, %s, %s", q, n.grew, n.shrank, p, m.grew, m.shrank)
	}
	if x, y := m.left.Rate(now), n.left.Rate(now); x != y || x.Events == 0 {
		t.Errorf("left: %+v, before %+v", y, x)
	}
	was := c.Step(now, []Reading{r}, fixed(0.9))[0].Saw // again at the same moment: nothing is new
	is := again.Step(now, []Reading{fresh}, fixed(0.9))[0].Saw
	if is != was || is.Lambda == 0 || is.Mu == 0 || is.Abandonment == 0 || is.Recruitment == 0 || is.Throughput == 0 || is.CStar == Unknown {
		t.Errorf("after the restart %+v\nbefore %+v", is, was)
	}
	few := fresh
	few.Queue, few.Workers, few.Busy = 0, 50, 0
	d := again.Step(m.grew.Add(30*time.Second), []Reading{few}, fixed(0.9))[0]
	if why := strings.Join(d.Why, "\n"); d.Release != 0 || !strings.Contains(why, "cool-down: people were called 30s ago") {
		t.Errorf("the cool-down is forgotten: %+v", d)
	}
	later := again.Step(now.Add(lately), []Reading{fresh}, fixed(0.9))[0].Saw
	fresh.WaitP95 = 3 * time.Second
	handed := again.Step(now.Add(lately), []Reading{fresh}, fixed(0.9))[0].Saw
	if is.WaitP95 != 7 || later.WaitP95 != 0 || handed.WaitP95 != 3 {
		t.Errorf("waits of %g s, later %g, and %g when something is handed out", is.WaitP95, later.WaitP95, handed.WaitP95)
	}
}

// TestStatesOfOtherSettings: what belongs to other settings is left out, the rest
// goes on; what is none of it changes nothing.
func TestStatesOfOtherSettings(t *testing.T) {
	t.Parallel()
	s := Settings{Elasticity: "ct-p(ki=0.2)", Stability: "hybrid"}
	c := NewControl(nil)
	if err := c.Set(1, "a", s); err != nil {
		t.Fatal(err)
	}
	busy(c, rand.New(rand.NewPCG(8, 8)), 400)
	states := c.States(true)
	other := s
	other.Elasticity, other.Stability, other.Window = "ct-t", "none", 10*time.Minute
	n := restart(t, c, other, states).pools[1]
	if n.pid.sum != 0 || n.left != nil || n.seen.arrivals.Span() != 10*time.Minute || n.seen.arrivals.Rate(epoch).Known {
		t.Errorf("%+v, %+v", n.pid, n.seen.arrivals)
	}
	if n.seen.mu == 0 || n.seen.mu != c.pools[1].seen.mu || n.grew != c.pools[1].grew {
		t.Errorf("μ %g, grew %s", n.seen.mu, n.grew)
	}
	for _, text := range []string{"", "[]", `{"arrivals": {"span_ns": 0}}`, `{"mu": "x"}`} {
		if err := c.Resume(1, json.RawMessage(text)); err == nil {
			t.Errorf("%s is read", text)
		}
	}
	if now := c.States(true); string(now[1]) != string(states[1]) {
		t.Error("something has changed")
	}
}

// TestStatesOfWhatHappened: only a pool in which something happened has something to
// keep, and one that was not looked at has nothing that would take the place of it.
func TestStatesOfWhatHappened(t *testing.T) {
	t.Parallel()
	c := NewControl(nil)
	if err := c.Set(1, "a", Settings{}); err != nil {
		t.Fatal(err)
	}
	if n := len(c.States(true)); n != 0 {
		t.Errorf("%d before the first reading", n)
	}
	r := Reading{Pool: 1, Workers: 1, Affordable: -1}
	for i := range 3 {
		c.Step(epoch.Add(time.Duration(i)*time.Second), []Reading{r}, fixed(0))
	}
	if n := len(c.States(false)); n != 0 {
		t.Errorf("%d of a pool in which nothing happened", n)
	}
	r.Counters.Arrived++
	c.Step(epoch.Add(3*time.Second), []Reading{r}, fixed(0))
	if n, m, all := len(c.States(false)), len(c.States(false)), len(c.States(true)); n != 1 || m != 0 || all != 1 {
		t.Errorf("after an arrival %d, then %d, of all %d", n, m, all)
	}
}

// TestReserveSurvives: who left is known to an elasticity after a restart, too.
func TestReserveSurvives(t *testing.T) {
	t.Parallel()
	s := Settings{Elasticity: "reserve"}
	c := NewControl(nil)
	if err := c.Set(1, "a", s); err != nil {
		t.Fatal(err)
	}
	now, _ := busy(c, rand.New(rand.NewPCG(8, 9)), 400)
	again := restart(t, c, s, c.States(false))
	if x, y := c.pools[1].gone.Rate(now), again.pools[1].gone.Rate(now); x != y || x.Events == 0 {
		t.Errorf("gone: %+v, before %+v", y, x)
	}
	other := restart(t, c, Settings{Elasticity: "reserve(window=60s)"}, c.States(true))
	if other.pools[1].gone != nil {
		t.Error("those who left are counted over another window")
	}
}
