package pool

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// anySettings draws settings that are valid.
func anySettings(rnd *rand.Rand) Settings {
	pick := func(list []string) string { return list[rnd.IntN(len(list))] }
	s := Settings{
		Elasticity: pick([]string{"", "static(n=7)", "rules", "rules-paper", "rules-paper(coming=1)", "ct-t", "ct-p", "ct-p(kp=1,ki=0.1,kd=0.3)", "ct-t-paper", "ct-p-paper(ki=0.05)", "feed-forward", "feed-forward(clear=10s,spare=0)"}),
		Stability:  pick([]string{"", "rule", "rule(least=4,n=2)", "rule-paper", "average-rate", "hybrid", "hybrid(window=5m,slack=2)", "hybrid-paper"}),
		Balance:    rnd.IntN(2) == 0, Advise: rnd.IntN(4) == 0, Min: rnd.IntN(6),
	}
	if s.Elasticity == "rules" {
		s.Rules = []Rule{{"queue > 5", "recruit 3"}, {"idle > 3", "release 2"}, {"queue > 8", `transfer 2 from "pool 2"`}, {"queue > 9", "transfer 1 from pool 3"}}
	}
	if rnd.IntN(2) == 0 {
		s.Max = s.Min + rnd.IntN(20) + 1
	}
	if rnd.IntN(2) == 0 {
		s.Cooldown = time.Duration(rnd.IntN(60)) * time.Second
	}
	return s
}

// step changes a reading as if some time had passed.
func anyStep(rnd *rand.Rand, r *Reading, length time.Duration) {
	r.Workers, r.Coming, r.Queue = rnd.IntN(25), rnd.IntN(8), rnd.IntN(20)
	r.Busy = rnd.IntN(r.Workers + 1)
	r.Training = rnd.IntN(r.Workers - r.Busy + 1)
	r.Idle = nil
	for i := range r.Workers - r.Busy - r.Training {
		r.Idle = append(r.Idle, Person{ID: crowd.WorkerID(int(r.Pool)*1000 + i), NoWork: i%4 > 0})
	}
	r.Affordable = rnd.IntN(8) - 2
	r.Preference = rnd.Float64() * float64(r.Workers)
	r.Counters.Arrived += int64(rnd.IntN(5))
	r.Counters.Completed += int64(rnd.IntN(5))
	r.Counters.Abandoned += int64(rnd.IntN(3))
	r.Counters.Worked += time.Duration(rnd.IntN(10)) * length
	if rnd.IntN(200) == 0 {
		r.Counters = Counters{}
	}
}

func TestLimitsHold(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(11, 12))
	acted, forced := 0, 0
	for world := range 400 {
		s := anySettings(rnd)
		c := mustNew(t, s)
		now, r := epoch, &Reading{Pool: 1, Open: world%4 == 0}
		var grew, shrank time.Time
		for i := range 80 {
			length := time.Duration(rnd.IntN(20)) * time.Second
			now = now.Add(length)
			anyStep(rnd, r, length)
			before := *r
			d := c.Step(now, r, rnd)
			fail := func(what string) { t.Fatalf("world %d, step %d: %s: %+v\n%+v\n%+v", world, i, what, s, r, d) }
			if !reflect.DeepEqual(*r, before) {
				fail("the reading was changed")
			}
			people := r.Workers + r.Coming
			after := people + d.Recruit - d.Withdraw - d.Release
			switch {
			case d.Recruit < 0 || d.Withdraw < 0 || d.Release < 0 || len(d.Moves) > 0:
				fail("negative, or moves")
			case d.Recruit > 0 && d.Release+d.Withdraw > 0:
				fail("calls and lets go")
			case d.Withdraw > r.Coming || d.Release > r.Workers:
				fail("lets go who is not there")
			case r.Affordable >= 0 && d.Recruit > r.Affordable:
				fail("passes the funds")
			case s.Max > 0 && after > s.Max && (d.Recruit > 0 || !r.Open), d.Release+d.Withdraw > 0 && after < s.Min:
				fail("passes max, or falls below min")
			case r.Open && (d.Release > 0 || d.Withdraw > 0):
				fail("lets people of an open pool go")
			case r.Open && s.Elasticity == "" && s.Stability == "" && !d.Idle():
				fail("the bounds call people to an open pool")
			case after < s.Min && !r.Open && (r.Affordable < 0 || d.Recruit < r.Affordable):
				fail("stays below min")
			case math.Abs(c.pid.sum*c.pid.ki) > maxIntegral+1e-9 || math.Abs(c.pid.carry) >= 1:
				fail("the controller winds up")
			case !d.Idle() && len(d.Why) == 0:
				fail("does not say why")
			case d.Advice != s.Advise:
				fail("advice")
			}
			checkGo(t, r, &d)
			if s.Min == 0 && s.Max == 0 && s.Stability == "" && s.Cooldown > 0 {
				if d.Recruit > 0 {
					if !shrank.IsZero() && now.Sub(shrank) < s.Cooldown {
						fail("calls in the cool-down")
					}
					grew = now
				}
				if d.Release+d.Withdraw > 0 {
					if !grew.IsZero() && now.Sub(grew) < s.Cooldown {
						fail("lets go in the cool-down")
					}
					shrank = now
				}
			}
			if !d.Idle() {
				acted++
			}
			if people < s.Min && !r.Open {
				forced++
			}
		}
	}
	if acted < 1000 || forced < 500 {
		t.Errorf("acted %d times, below min %d times", acted, forced)
	}
}

func checkGo(t *testing.T, r *Reading, d *Decision) {
	t.Helper()
	idle := map[crowd.WorkerID]bool{}
	for _, p := range r.Idle {
		idle[p.ID] = true
	}
	for _, m := range d.Moves {
		if !idle[m.Worker] || m.From != r.Pool || m.To == r.Pool || needed(r, m.Worker) {
			t.Fatalf("move %v of somebody else, or from work that waits for them", m)
		}
		delete(idle, m.Worker)
	}
	if want := min(d.Release, len(idle)); len(d.Go) != want {
		t.Fatalf("%d go, want %d of %d", len(d.Go), want, d.Release)
	}
	for _, id := range d.Go {
		if !idle[id] {
			t.Fatalf("%v goes, who is not idle, or goes twice, or moves", id)
		}
		delete(idle, id)
	}
}

// rude is a balancer that plans what it must not.
type rude struct{ rnd *rand.Rand }

func (rude) Name() string { return "rude" }

func (b rude) Plan(pools []BalanceView, _ Random) []Move {
	var moves []Move
	for range 40 {
		from, to := pools[b.rnd.IntN(len(pools))], pools[b.rnd.IntN(len(pools))]
		m := Move{From: from.Pool, To: to.Pool, Worker: crowd.WorkerID(b.rnd.IntN(9000))}
		if n := len(from.Idle); n > 0 {
			m.Worker = from.Idle[b.rnd.IntN(n)].ID
		}
		if b.rnd.IntN(10) == 0 {
			m.To = 77
		}
		moves = append(moves, m)
	}
	return moves
}

func TestMovesKeepLimits(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(21, 22))
	moves := 0
	for range 150 {
		c := NewControl(rude{rnd})
		var readings []Reading
		all := map[crowd.PoolID]Settings{}
		for i := range 2 + rnd.IntN(5) {
			id := crowd.PoolID(i + 1)
			all[id] = anySettings(rnd)
			if err := c.Set(id, fmt.Sprintf("pool %d", id), all[id]); err != nil {
				t.Fatal(err)
			}
			readings = append(readings, Reading{Pool: id})
		}
		now := epoch
		for range 40 {
			now = now.Add(5 * time.Second)
			for i := range readings {
				anyStep(rnd, &readings[i], 5*time.Second)
			}
			decisions := c.Step(now, readings, rnd)
			in, seen := map[crowd.PoolID]int{}, map[crowd.WorkerID]bool{}
			for i, d := range decisions {
				if d.Pool != readings[i].Pool {
					t.Fatal("another order")
				}
				for _, m := range d.Moves {
					if seen[m.Worker] {
						t.Fatalf("%v moves twice", m.Worker)
					}
					if _, ok := all[m.To]; !ok || all[m.From].Advise != all[m.To].Advise {
						t.Fatalf("%v must not be", m)
					}
					seen[m.Worker] = true
					in[m.To]++
					moves++
				}
			}
			for i, d := range decisions {
				r, s := &readings[i], all[d.Pool]
				checkGo(t, r, &d)
				people := r.Workers + r.Coming
				after := people + d.Recruit - d.Withdraw - d.Release - len(d.Moves) + in[d.Pool]
				switch {
				case len(d.Moves) > 0 && r.Workers-d.Release-len(d.Moves) < s.Min:
					t.Fatalf("%d on duty, %d moved, %d let go: below %d", r.Workers, len(d.Moves), d.Release, s.Min)
				case in[d.Pool] > 0 && d.Release+d.Withdraw > 0:
					t.Fatalf("takes %d and lets go: %+v", in[d.Pool], d)
				case in[d.Pool] > 0 && s.Max > 0 && after > s.Max:
					t.Fatalf("%d move in: %d people, at most %d", in[d.Pool], after, s.Max)
				case r.Affordable >= 0 && in[d.Pool]+d.Recruit > r.Affordable:
					t.Fatalf("%d move in, %d are called, %d can be paid", in[d.Pool], d.Recruit, r.Affordable)
				}
			}
		}
	}
	if moves < 1000 {
		t.Errorf("only %d moves", moves)
	}
}

// TestOrderOfReadings: with the preferences put in their order, too, it changes
// nothing.
func TestOrderOfReadings(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(31, 32))
	moves := 0
	for world := range 60 {
		a, b := NewControl(nil), NewControl(nil)
		n := 2 + rnd.IntN(5)
		var readings []Reading
		for i := range n {
			id, s := crowd.PoolID(i+1), anySettings(rnd)
			for _, c := range []*Control{a, b} {
				if err := c.Set(id, fmt.Sprintf("pool %d", id), s); err != nil {
					t.Fatal(err)
				}
			}
			readings = append(readings, Reading{Pool: id})
		}
		now := epoch
		for step := range 40 {
			now = now.Add(5 * time.Second)
			for i := range readings {
				anyStep(rnd, &readings[i], 5*time.Second)
				for j := range readings[i].Idle {
					p := &readings[i].Idle[j]
					for range n {
						p.Prefers = append(p.Prefers, float64(rnd.IntN(3))/2)
						p.Knows = append(p.Knows, rnd.IntN(2) == 0)
					}
				}
			}
			order := rnd.Perm(n)
			shuffled := make([]Reading, n)
			for to, from := range order {
				r := readings[from]
				r.Idle = slices.Clone(r.Idle)
				for j := range r.Idle {
					var prefers []float64
					var knows []bool
					for _, k := range order {
						prefers, knows = append(prefers, r.Idle[j].Prefers[k]), append(knows, r.Idle[j].Knows[k])
					}
					r.Idle[j].Prefers, r.Idle[j].Knows = prefers, knows
				}
				shuffled[to] = r
			}
			x := a.Step(now, readings, rand.New(rand.NewPCG(1, uint64(step))))
			y := b.Step(now, shuffled, rand.New(rand.NewPCG(1, uint64(step))))
			for to, from := range order {
				if !reflect.DeepEqual(x[from], y[to]) {
					t.Fatalf("world %d, step %d: %+v\nin another order: %+v", world, step, x[from], y[to])
				}
				moves += len(x[from].Moves)
			}
		}
	}
	if moves == 0 {
		t.Error("nobody moved")
	}
}

func TestTransferByRule(t *testing.T) {
	t.Parallel()
	setup := func(rules ...Rule) (*Control, []Reading) {
		c := NewControl(nil)
		for _, p := range []struct {
			id   crowd.PoolID
			name string
			s    Settings
		}{
			{1, "images", Settings{Elasticity: "rules", Rules: rules}},
			{2, "search relevance", Settings{Min: 2}},
		} {
			if err := c.Set(p.id, p.name, p.s); err != nil {
				t.Fatal(err)
			}
		}
		return c, []Reading{
			{Pool: 2, Workers: 5, Affordable: -1, Idle: []Person{
				{ID: 21, Prefers: []float64{1, 0.2}}, {ID: 22, Prefers: []float64{0, 0.9}}, {ID: 23, Prefers: []float64{0, 0.9}, Knows: []bool{true, true}}, {ID: 24, Prefers: []float64{0, 0.1}},
			}},
			{Pool: 1, Workers: 3, Queue: 20, Affordable: -1},
		}
	}
	t.Run("likes it, knows it, idle for long", func(t *testing.T) {
		t.Parallel()
		c, r := setup(Rule{"queue > 10", "transfer 2 from search relevance"}, Rule{"queue > 10", "recruit 5"})
		d := c.Step(epoch, r, fixed(0))
		if want := []Move{{23, 2, 1, 2}, {22, 2, 1, 2}}; !slices.Equal(d[0].Moves, want) || d[1].Recruit != 5 {
			t.Errorf("%v, recruit %d, %q", d[0].Moves, d[1].Recruit, d[1].Why)
		}
	})
	t.Run("min stays", func(t *testing.T) {
		t.Parallel()
		c, r := setup(Rule{"queue > 10", "transfer 9 from search relevance"})
		d := c.Step(epoch, r, fixed(0))
		if len(d[0].Moves) != 3 || !strings.Contains(strings.Join(d[1].Why, "\n"), "3 moved, more cannot: search relevance has 4 idle") {
			t.Errorf("%v, %q", d[0].Moves, d[1].Why)
		}
	})
	t.Run("no such pool", func(t *testing.T) {
		t.Parallel()
		c, r := setup(Rule{"queue > 10", "transfer 9 from videos"})
		d := c.Step(epoch, r, fixed(0))
		if len(d[0].Moves) != 0 || !strings.Contains(d[1].Why[0], `there is no pool "videos"`) {
			t.Errorf("%v, %q", d[0].Moves, d[1].Why)
		}
	})
	t.Run("alone", func(t *testing.T) {
		t.Parallel()
		c := mustNew(t, Settings{Elasticity: "rules", Rules: []Rule{{"queue > 10", "transfer 1 from x"}}})
		d := c.Step(epoch, &Reading{Queue: 11}, fixed(0))
		if !d.Idle() || len(d.Why) != 1 || !strings.Contains(d.Why[0], "by itself") {
			t.Errorf("%+v", d)
		}
	})
	t.Run("who moves to where somebody is called need not be let go", func(t *testing.T) {
		t.Parallel()
		c, r := setup(Rule{"queue > 10", "transfer 1 from search relevance"}, Rule{"queue > 10", "recruit 1"})
		if err := c.Set(2, "search relevance", Settings{Elasticity: "static(n=3)"}); err != nil {
			t.Fatal(err)
		}
		d := c.Step(epoch, r, fixed(0))
		if want := []Move{{23, 2, 1, 1}}; !slices.Equal(d[0].Moves, want) || d[1].Recruit != 0 || d[0].Release != 1 || !slices.Equal(d[0].Go, []crowd.WorkerID{22}) {
			t.Errorf("%+v, recruit %d", d[0], d[1].Recruit)
		}
	})
	t.Run("advice does not move people", func(t *testing.T) {
		t.Parallel()
		c, r := setup(Rule{"queue > 10", "transfer 2 from search relevance"})
		if err := c.Set(2, "search relevance", Settings{Advise: true}); err != nil {
			t.Fatal(err)
		}
		if d := c.Step(epoch, r, fixed(0)); len(d[0].Moves) != 0 || !d[0].Advice {
			t.Errorf("%+v", d[0])
		}
	})
}

// spy keeps what it was shown.
type spy struct {
	shown [][]BalanceView
	moves []Move
}

func (*spy) Name() string { return "spy" }
func (b *spy) Plan(pools []BalanceView, _ Random) []Move {
	b.shown = append(b.shown, slices.Clone(pools))
	return b.moves
}

func TestWhatTheBalancerSees(t *testing.T) {
	t.Parallel()
	b := &spy{moves: []Move{{Worker: 31, From: 3, To: 1}}}
	c := NewControl(b)
	for id, s := range map[crowd.PoolID]Settings{
		1: {Balance: true, Elasticity: "static(n=12)", Min: 1},
		2: {},
		3: {Balance: true, Elasticity: "static(n=4)", Min: 2},
		4: {Balance: true, Advise: true},
	} {
		if err := c.Set(id, fmt.Sprintf("pool %d", id), s); err != nil {
			t.Fatal(err)
		}
	}
	readings := []Reading{
		{Pool: 4, Workers: 1, Affordable: -1},
		{Pool: 3, Workers: 7, Busy: 2, Training: 1, Affordable: -1, Preference: 2.5, TrainingTime: 50 * time.Second, Idle: []Person{{ID: 31}, {ID: 32}, {ID: 33}, {ID: 34}}},
		{Pool: 1, Workers: 3, Busy: 3, Coming: 2, Queue: 9, Affordable: -1},
		{Pool: 2, Workers: 3, Affordable: -1},
	}
	d := c.Step(epoch, readings, fixed(0))
	if len(b.shown) != 1 {
		t.Fatalf("asked %d times", len(b.shown))
	}
	want := []BalanceView{
		{Pool: 1, At: 2, Queue: 9, Workers: 3, Busy: 3, Coming: 2, OnDuty: 3, Recruit: 7, Min: 1, CStar: Unknown},
		{Pool: 3, At: 1, Workers: 6, Busy: 2, OnDuty: 7, Release: 3, Min: 2, CStar: Unknown, TrainingRate: 0.02, Idle: readings[1].Idle, Preference: 2.5},
	}
	if !reflect.DeepEqual(b.shown[0], want) {
		t.Errorf("%+v\nwant %+v", b.shown[0], want)
	}
	if d[2].Recruit != 6 || d[1].Release != 2 || !slices.Equal(d[1].Moves, []Move{{31, 3, 1, 1}}) || !slices.Equal(d[1].Go, []crowd.WorkerID{32, 33}) {
		t.Errorf("%+v\n%+v", d[1], d[2])
	}
	if why := strings.Join(d[2].Why, "\n"); !strings.Contains(why, "spy: 1 from pool 3, for 9 in the queue") || !strings.Contains(why, "1 fewer is called") {
		t.Error(why)
	}
}

// TestBalancerSeesTransfers: who was moved by a rule is not offered again.
func TestBalancerSeesTransfers(t *testing.T) {
	t.Parallel()
	b := &spy{}
	c := NewControl(b)
	for id, s := range map[crowd.PoolID]Settings{
		1: {Balance: true, Elasticity: "rules", Rules: []Rule{{"queue > 1", "transfer 2 from b"}, {"queue > 1", "recruit 5"}}},
		2: {Balance: true},
	} {
		if err := c.Set(id, map[crowd.PoolID]string{1: "a", 2: "b"}[id], s); err != nil {
			t.Fatal(err)
		}
	}
	c.Step(epoch, []Reading{
		{Pool: 1, Workers: 3, Busy: 3, Queue: 9, Affordable: -1, TrainingTime: time.Minute},
		{Pool: 2, Workers: 4, Affordable: -1, Idle: []Person{{ID: 21}, {ID: 22, Knows: []bool{true, true}}, {ID: 23}}},
	}, fixed(0))
	want := []BalanceView{
		{Pool: 1, At: 0, Queue: 9, Workers: 4, Busy: 3, OnDuty: 5, Recruit: 5, CStar: Unknown, TrainingRate: 1. / 60},
		{Pool: 2, At: 1, Workers: 2, OnDuty: 2, CStar: Unknown, Idle: []Person{{ID: 23}}},
	}
	if len(b.shown) != 1 || !reflect.DeepEqual(b.shown[0], want) {
		t.Errorf("%+v\nwant %+v", b.shown, want)
	}
}

func TestSetKeepsWhatStays(t *testing.T) {
	t.Parallel()
	c := NewControl(nil)
	set := func(s Settings) {
		t.Helper()
		if err := c.Set(1, "x", s); err != nil {
			t.Fatal(err)
		}
	}
	set(Settings{Elasticity: "ct-p(ki=0.01)", Stability: "average-rate"})
	m := c.pools[1]
	r := Reading{Pool: 1, Workers: 3, Affordable: -1}
	for i := range 20 {
		r.Counters.Arrived += 10
		r.Counters.Completed += 10
		r.Counters.Abandoned++
		r.Counters.Worked += 50 * time.Second
		c.Step(epoch.Add(time.Duration(i)*10*time.Second), []Reading{r}, fixed(0.9))
	}
	sum, left, seen := m.pid.sum, m.left, m.seen
	if sum == 0 || left == nil {
		t.Fatal("nothing to keep")
	}
	set(Settings{Elasticity: " ct-p( kp=0.5, ki=0.010 )", Stability: "average-rate(window=1m)", Min: 2})
	if m.pid.sum != sum || m.left != left || m.seen != seen {
		t.Error("what means the same was not kept")
	}
	if err := c.Set(1, "x", Settings{Elasticity: "nonsense"}); err == nil || m.settings.Min != 2 {
		t.Error("an error changed something")
	}
	set(Settings{Elasticity: "ct-p(ki=0.02)", Stability: "hybrid"})
	if m.pid.sum != 0 || m.left != nil || m.seen != seen {
		t.Error("what means something else was kept")
	}
	set(Settings{Window: time.Minute})
	if m.seen == seen || m.seen.counters != seen.counters || m.seen.mu != seen.mu {
		t.Error("the counters and μ are not kept with another window")
	}
	c.Remove(1)
	if d := c.Step(epoch, []Reading{r}, fixed(0)); !d[0].Idle() || d[0].Saw.Workers != 3 {
		t.Errorf("%+v", d[0])
	}
}

func TestRestartedWorld(t *testing.T) {
	t.Parallel()
	c := mustNew(t, Settings{})
	at := func(s int, arrived int64) Metrics {
		return c.Step(epoch.Add(time.Duration(s)*time.Second), &Reading{Counters: Counters{Arrived: arrived}}, fixed(0)).Saw
	}
	at(0, 1000)
	if m := at(10, 1020); m.Backlog != 20 || m.Lambda != 2 {
		t.Errorf("%+v", m)
	}
	if m := at(20, 5); m.Backlog != 0 || m.Lambda != 2 {
		t.Errorf("after a restart: %+v", m)
	}
	if m := at(30, 25); m.Backlog != 20 || m.Lambda != 2 {
		t.Errorf("%+v", m)
	}
	if m := at(25, 30); m.Backlog != 0 { // the clock was set back
		t.Errorf("%+v", m)
	}
}
