package pool

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
)

// TestWhoCameJustNowStays: who came from another pool within the cool-down, or is in
// training, is not let go, and the decision says why. When nobody goes, that is no letting
// go after which nobody is called.
func TestWhoCameJustNowStays(t *testing.T) {
	t.Parallel()
	const cooldown = 2 * time.Minute
	for name, x := range map[string]struct {
		came    time.Duration // ago, of both idle people
		release int
		why     string
	}{
		"within the cool-down": {cooldown - time.Second, 0, "0 of 3 are let go: the others are in training, or came from another pool less than 2 min ago"},
		"after it":             {cooldown, 2, "2 of 3 are let go: the others are in training, or came from another pool less than 2 min ago"},
	} {
		control := NewControl(nil)
		settings := func(n string) {
			t.Helper()
			if err := control.Set(1, "", Settings{Elasticity: "static(n=" + n + ")", Cooldown: cooldown}); err != nil {
				t.Fatal(err)
			}
		}
		step := func(now time.Time) Decision {
			moved := epoch.Add(-x.came)
			return control.Step(now, []Reading{{
				Pool: 1, Workers: 3, Affordable: -1,
				Idle: []Person{{ID: 1, Moved: moved}, {ID: 2, Moved: moved}}, Learning: []Person{{ID: 3}},
			}}, fixed(0.5))[0]
		}
		settings("0")
		d := step(epoch)
		if d.Release != x.release || len(d.Go) != x.release || !slices.Contains(d.Why, x.why) {
			t.Errorf("%s: %d are let go, %v: %q", name, d.Release, d.Go, d.Why)
		}
		settings("5")
		want := 0
		if x.release == 0 {
			want = 2
		}
		if d = step(epoch.Add(time.Second)); d.Recruit != want {
			t.Errorf("%s: a second later %d are called, want %d: %q", name, d.Recruit, want, d.Why)
		}
	}
}

// TestWhoIsRecalled: those first who like it best at home compared with where they are.
func TestWhoIsRecalled(t *testing.T) {
	t.Parallel()
	lent := func(id crowd.WorkerID, home, here float64) Person {
		return Person{ID: id, Home: 1, Prefers: []float64{home, here}}
	}
	for queue, want := range [][]crowd.WorkerID{{}, {3}, {3, 1}, {3, 1, 4}, {3, 1, 4, 2}, {3, 1, 4, 2}} {
		d := NewControl(nil).Step(epoch, []Reading{
			{Pool: 1, Queue: queue, Affordable: -1},
			{Pool: 2, Workers: 4, Affordable: -1, Idle: []Person{lent(1, 0.5, 0.5), lent(2, 0.6, 0.9), lent(3, 0.4, 0.1), lent(4, 0.9, 1)}},
		}, fixed(0.5))
		got := lists.Map(d[1].Moves, func(m Move) crowd.WorkerID { return m.Worker })
		if !slices.Equal(got, want) {
			t.Errorf("for %d in the queue %v go home, want %v", queue, got, want)
		}
	}
}

// TestARestartIsNoLoss: when the counters of a pool begin again, nobody has left who is to
// be replaced, whether or not people whom others had lent were among those who left before.
func TestARestartIsNoLoss(t *testing.T) {
	t.Parallel()
	for _, of := range []crowd.PoolID{0, 1} { // home of those who leave pool 2
		for before := range int64(4) {
			for after := range int64(4) {
				control := NewControl(nil)
				if err := control.Set(2, "", Settings{Stability: "average-rate(window=1s)"}); err != nil {
					t.Fatal(err)
				}
				step := func(second int, left int64, here ...Person) Decision {
					return control.Step(epoch.Add(time.Duration(second)*time.Second), []Reading{
						{Pool: 1, Affordable: -1},
						{Pool: 2, Workers: len(here), Idle: here, Affordable: -1, Counters: Counters{Abandoned: left}},
					}, fixed(0.5))[1]
				}
				lent := []Person{{ID: 1, Home: of}, {ID: 2, Home: of}, {ID: 3, Home: of}}
				step(0, 0, lent...)
				step(1, before, lent[before:]...)
				step(2, before, lent[before:]...)
				if d := step(3, after); after < before && d.Recruit > 0 {
					t.Errorf("people of %d: after %d have left, and %d since a restart, %d are called: %q", of, before, after, d.Recruit, d.Why)
				}
			}
		}
	}
}

// needed reports whether work waits in a pool for somebody who is idle there.
func needed(r *Reading, id crowd.WorkerID) bool {
	return r.Queue > 0 && slices.ContainsFunc(r.Idle, func(p Person) bool { return p.ID == id && !p.NoWork })
}

// TestNobodyIsSentRound: for somebody who is idle, in every mix of how they are and how
// long the queues of both pools are, balance takes nobody away whom recall would bring
// back, and nobody who just came and had nothing to do.
func TestNobodyIsSentRound(t *testing.T) {
	t.Parallel()
	moved := 0
	for _, x := range []struct{ noWork, worked, came bool }{{}, {noWork: true}, {came: true}, {came: true, worked: true}, {came: true, noWork: true}, {noWork: true, worked: true, came: true}} {
		for queue := range 3 {
			control := NewControl(MustParseBalance("search"))
			for id := range crowd.PoolID(2) {
				if err := control.Set(id+1, "", Settings{Balance: true, Expect: Expect{TaskTime: 10 * time.Second}}); err != nil {
					t.Fatal(err)
				}
			}
			who := Person{ID: 1, NoWork: x.noWork, Worked: x.worked}
			if x.came {
				who.Moved = epoch.Add(-minStay / 2)
			}
			d := control.Step(epoch, []Reading{
				{Pool: 1, Workers: 1, Queue: queue, Idle: []Person{who}, Affordable: -1}, {Pool: 2, Queue: 50, Affordable: -1},
			}, fixed(0.5))
			want := (queue == 0 || x.noWork) && (!x.came || x.worked)
			if got := len(d[0].Moves) > 0; got != want {
				t.Errorf("%+v, %d in the queue: moved %t", x, queue, got)
			}
			moved += len(d[0].Moves)
		}
	}
	if moved == 0 {
		t.Error("nobody ever moved")
	}
}

// TestWhoIsCalledHomeFromOutside: somebody lent counts at home, also outside a gate, and is
// called home for work that is for them, and for that alone.
func TestWhoIsCalledHomeFromOutside(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ noWork, goes bool }{{false, true}, {true, false}} {
		d := NewControl(nil).Step(epoch, []Reading{
			{Pool: 1, Queue: 1, Affordable: -1, NoWork: map[crowd.WorkerID]bool{7: x.noWork}},
			{Pool: 2, Workers: 2, Busy: 2, Queue: 9, Affordable: -1, Outside: []Person{{ID: 7, Home: 1}}},
		}, fixed(0.5))
		if d[0].Saw.Lent != 1 || d[0].Saw.Own() != 1 || d[1].Saw.Own() != 2 || len(d[1].Moves) > 0 != x.goes {
			t.Errorf("%+v: %+v, %+v, moves %v", x, d[0].Saw, d[1].Saw, d[1].Moves)
		}
	}
}

// TestNoMoreBelongThanAreCalled: of people who are lent and would be let go at home, no more
// belong to the pool in which they are than that would call.
func TestNoMoreBelongThanAreCalled(t *testing.T) {
	t.Parallel()
	for called := range 4 {
		control := NewControl(nil)
		for id, n := range []int{0, called} {
			if err := control.Set(crowd.PoolID(id+1), "", Settings{Elasticity: fmt.Sprintf("static(n=%d)", n)}); err != nil {
				t.Fatal(err)
			}
		}
		d := control.Step(epoch, []Reading{
			{Pool: 1, Affordable: -1},
			{Pool: 2, Workers: 2, Affordable: -1, Idle: []Person{{ID: 1, Home: 1}, {ID: 2, Home: 1}}},
		}, fixed(0.5))
		belong := lists.Count(d[1].Moves, func(m Move) bool { return m.Home == 2 })
		if want := min(called, 2); belong != want || d[1].Recruit != called-want {
			t.Errorf("%d are called where two are lent: %d belong there from now on, %d are called; want %d, %d", called, belong, d[1].Recruit, want, called-want)
		}
	}
}

// TestWhoComesToBelongElsewhere: whoever likes a pool best leaves it last. Of people who are
// lent and would be let go at home, those first belong to the pool in which they are who like
// it best compared with home, idle or not.
func TestWhoComesToBelongElsewhere(t *testing.T) {
	t.Parallel()
	lent := func(id crowd.WorkerID, home, here float64) Person {
		return Person{ID: id, Home: 1, Prefers: []float64{home, here}}
	}
	for called, want := range [][]crowd.WorkerID{{}, {3}, {3, 4}, {3, 4, 1}, {3, 4, 1, 2}} {
		control := NewControl(nil)
		for id, n := range []int{0, called} {
			if err := control.Set(crowd.PoolID(id+1), "", Settings{Elasticity: fmt.Sprintf("static(n=%d)", n)}); err != nil {
				t.Fatal(err)
			}
		}
		d := control.Step(epoch, []Reading{
			{Pool: 1, Affordable: -1},
			{
				Pool: 2, Workers: 4, Busy: 2, Affordable: -1,
				Idle: []Person{lent(1, 0.5, 0.5), lent(2, 0.9, 0.1)}, Working: []Person{lent(3, 0.4, 0.9), lent(4, 0.8, 0.9)},
			},
		}, fixed(0.5))
		got := []crowd.WorkerID{}
		for _, m := range d[1].Moves {
			if m.Home == 2 {
				got = append(got, m.Worker)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d are called where four are lent: %v belong there from now on, want %v", called, got, want)
		}
	}
}

// TestWhoComesToBelongElsewhereIsNotLetGo: of people who are lent, those whom their pool lets go
// are others than those who belong to the pool in which they are from now on.
func TestWhoComesToBelongElsewhereIsNotLetGo(t *testing.T) {
	t.Parallel()
	control := NewControl(nil)
	for id, n := range []int{0, 2} {
		if err := control.Set(crowd.PoolID(id+1), "", Settings{Elasticity: fmt.Sprintf("static(n=%d)", n)}); err != nil {
			t.Fatal(err)
		}
	}
	host := Reading{Pool: 2, Workers: 4, Affordable: -1}
	for id := range crowd.WorkerID(4) { // u3 and u4 like it best there, compared with home
		like := float64(id) / 10
		host.Idle = append(host.Idle, Person{ID: id + 1, Home: 1, Prefers: []float64{0.5 - like, 0.5 + like}})
	}
	d := control.Step(epoch, []Reading{{Pool: 1, Affordable: -1}, host}, fixed(0.5))
	belong := lists.Map(d[1].Moves, func(m Move) crowd.WorkerID { return m.Worker })
	slices.Sort(belong)
	if gone := slices.Sorted(slices.Values(d[1].Go)); !slices.Equal(belong, []crowd.WorkerID{3, 4}) || !slices.Equal(gone, []crowd.WorkerID{1, 2}) {
		t.Errorf("%v belong to the pool in which they are, and %v are let go of it", belong, gone)
	}
}

// TestWhoBelongsHasNotLeft: who belongs from now on to the pool to which they were lent is not
// taken for having left, where somebody else has.
func TestWhoBelongsHasNotLeft(t *testing.T) {
	t.Parallel()
	control := NewControl(nil)
	for id, n := range []int{0, 3} {
		if err := control.Set(crowd.PoolID(id+1), "", Settings{Elasticity: fmt.Sprintf("static(n=%d)", n)}); err != nil {
			t.Fatal(err)
		}
	}
	step := func(second int, left int64, here ...Person) []Decision {
		return control.Step(epoch.Add(time.Duration(second)*time.Second), []Reading{
			{Pool: 1, Affordable: -1},
			{Pool: 2, Workers: len(here), Idle: here, Affordable: -1, Counters: Counters{Abandoned: left}},
		}, fixed(0.5))
	}
	if d := step(0, 0, Person{ID: 1, Home: 1}, Person{ID: 2, Home: 2}); len(d[1].Moves) != 1 || d[1].Moves[0].Home != 2 {
		t.Fatalf("they do not belong to pool 2 from now on: %+v", d[1])
	}
	if d := step(1, 1, Person{ID: 1, Home: 2}); d[0].Saw.Abandonment != 0 || d[1].Saw.Abandonment == 0 {
		t.Errorf("somebody left pool 2: pool 1 saw %v a second, pool 2 %v", d[0].Saw.Abandonment, d[1].Saw.Abandonment)
	}
}

// TestWhyTheyGoHome: who is called home for the least number of their pool is not said to
// go for its queue.
func TestWhyTheyGoHome(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		least, queue int
		want         string
	}{
		{1, 0, "1 person home from other pools, as at least 1 are to be on duty and 0 were"},
		{0, 1, "1 person home from other pools, for 1 in the queue"},
		{1, 1, "1 person home from other pools, for 1 in the queue"},
	} {
		control := NewControl(nil)
		if err := control.Set(1, "night", Settings{Min: x.least}); err != nil {
			t.Fatal(err)
		}
		d := control.Step(epoch, []Reading{
			{Pool: 1, Queue: x.queue, Affordable: -1},
			{Pool: 2, Workers: 1, Idle: []Person{{ID: 7, Home: 1}}, Affordable: -1},
		}, fixed(0.5))
		if len(d[1].Moves) != 1 || !slices.Contains(d[0].Why, x.want) {
			t.Errorf("min %d, queue %d: moves %v, reasons %q; want %q", x.least, x.queue, d[1].Moves, d[0].Why, x.want)
		}
	}
}

// TestNobodyIsLetGoForWhomOthersAreCalledHome: of a pool with people lent, those are let go
// who are elsewhere, as far as it takes for Min to stay at home; and then nobody comes home
// for them.
func TestNobodyIsLetGoForWhomOthersAreCalledHome(t *testing.T) {
	t.Parallel()
	const stay = "1 fewer are let go: at least 2 stay here, and others are lent"
	for name, x := range map[string]struct {
		atHome  []Person // idle
		lent    Reading  // in pool 2
		unnamed int      // at home, whom no list has
		go1     []crowd.WorkerID
		go2     []crowd.WorkerID
		count1  int
		why     string
	}{
		"who is lent and idle":     {atHome: []Person{{ID: 1}, {ID: 2}}, lent: Reading{Workers: 1, Idle: []Person{{ID: 7, Home: 1}}}, go2: []crowd.WorkerID{7}},
		"who is lent and works":    {atHome: []Person{{ID: 1}, {ID: 2}}, lent: Reading{Workers: 1, Working: []Person{{ID: 7, Home: 1}}}, go2: []crowd.WorkerID{7}},
		"who came lately stays":    {atHome: []Person{{ID: 1}, {ID: 2}, {ID: 3, Moved: epoch}}, lent: Reading{Workers: 1, Working: []Person{{ID: 7, Home: 1, Moved: epoch}}}, go1: []crowd.WorkerID{1}, count1: 1, why: stay},
		"nobody may go":            {atHome: []Person{{ID: 1}, {ID: 2}}, lent: Reading{Workers: 1, Working: []Person{{ID: 7, Home: 1, Moved: epoch}}}, why: stay},
		"there are enough at home": {atHome: []Person{{ID: 1}, {ID: 2}, {ID: 3}}, lent: Reading{Workers: 1, Idle: []Person{{ID: 7, Home: 1}}}, go1: []crowd.WorkerID{1}, go2: []crowd.WorkerID{7}, count1: 1},
		"of whom no list tells":    {unnamed: 3, lent: Reading{Workers: 1, Working: []Person{{ID: 7, Home: 1, Moved: epoch}}}, count1: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			control := NewControl(nil)
			at, lent := Reading{Pool: 1, Workers: len(x.atHome) + x.unnamed, Idle: x.atHome, Affordable: -1}, x.lent
			lent.Pool, lent.Affordable = 2, -1
			if err := control.Set(1, "", Settings{Elasticity: "static(n=2)", Min: 2}); err != nil {
				t.Fatal(err)
			}
			d := control.Step(epoch, []Reading{at, lent}, fixed(0.5))
			if !slices.Equal(d[0].Go, x.go1) || !slices.Equal(d[1].Go, x.go2) || d[0].Release != x.count1 || d[1].Release != len(x.go2) || d[1].Lent != len(x.go2) {
				t.Errorf("of pool 1 %v are let go (%d), of pool 2 %v (%d); want %v (%d) and %v", d[0].Go, d[0].Release, d[1].Go, d[1].Release, x.go1, x.count1, x.go2)
			}
			if got := slices.Contains(d[0].Why, x.why); got != (x.why != "") {
				t.Errorf("it says %q, want %q", d[0].Why, x.why)
			}
			if len(d[0].Moves)+len(d[1].Moves) > 0 {
				t.Errorf("moves %v and %v", d[0].Moves, d[1].Moves)
			}
		})
	}
}

// TestOneComesHomeAndAnotherIsLetGo: a pool with too many people, but too few at home, calls
// home whom it needs there, and lets go of those who are lent.
func TestOneComesHomeAndAnotherIsLetGo(t *testing.T) {
	t.Parallel()
	control := NewControl(nil)
	if err := control.Set(1, "", Settings{Elasticity: "static(n=2)", Min: 2}); err != nil {
		t.Fatal(err)
	}
	d := control.Step(epoch, []Reading{
		{Pool: 1, Workers: 1, Idle: []Person{{ID: 1}}, Affordable: -1},
		{Pool: 2, Workers: 2, Idle: []Person{{ID: 7, Home: 1}, {ID: 8, Home: 1}}, Affordable: -1},
	}, fixed(0.5))
	if why := d[1].Why; !slices.ContainsFunc(why, func(s string) bool { return strings.HasPrefix(s, "1 is let go whom p1 has lent: static(n=2): ") }) {
		t.Errorf("why somebody lent is let go: %q", why)
	}
	if m := d[1].Moves; len(m) != 1 || m[0] != (Move{Worker: 7, From: 2, To: 1, Home: 1}) || !slices.Equal(d[1].Go, []crowd.WorkerID{8}) || len(d[0].Go) > 0 || d[0].Release > 0 {
		t.Errorf("%+v", d)
	}
}

// TestWhoMayBeLetGoIsOfTheirOwnPool: somebody who is lent counts among those who may be let go
// in the pool that they belong to, by how long that pool lets nobody go who has moved.
func TestWhoMayBeLetGoIsOfTheirOwnPool(t *testing.T) {
	t.Parallel()
	const short, long = 2 * time.Minute, 10 * time.Minute
	moved := epoch.Add(-3 * time.Minute)
	stays := "0 of 1 are let go: the others are in training, or came from another pool less than 10 min ago"
	for _, x := range []struct {
		home, host time.Duration // cool-downs
		lent, own  int           // how many are let go of those who are lent, and of the host's
	}{{short, long, 1, 0}, {long, short, 0, 1}, {short, short, 1, 1}, {long, long, 0, 0}} {
		for _, list := range []string{"idle", "working", "outside"} {
			control := NewControl(nil)
			for id, cooldown := range map[crowd.PoolID]time.Duration{1: x.home, 2: x.host} {
				if err := control.Set(id, "", Settings{Elasticity: "static(n=0)", Cooldown: cooldown}); err != nil {
					t.Fatal(err)
				}
			}
			people := []Person{{ID: 1, Home: 1, Moved: moved}, {ID: 2, Moved: moved}}
			host := Reading{Pool: 2, Affordable: -1}
			switch list {
			case "idle":
				host.Workers, host.Idle = 2, people
			case "working":
				host.Workers, host.Working = 2, people
			case "outside": // they are none of the Workers
				host.Workers, host.Outside, host.Idle = 1, people[:1], people[1:]
			}
			d := control.Step(epoch, []Reading{{Pool: 1, Affordable: -1}, host}, fixed(0.5))
			var want []crowd.WorkerID
			if x.lent > 0 {
				want = append(want, 1)
			}
			if x.own > 0 {
				want = append(want, 2)
			}
			if !slices.Equal(d[1].Go, want) {
				t.Errorf("%+v, %s: %v are let go, want %v", x, list, d[1].Go, want)
			}
			if got := slices.Contains(d[0].Why, stays); got != (x.lent == 0) {
				t.Errorf("%+v, %s: of the pool that lends it says %q", x, list, d[0].Why)
			}
			if got := slices.Contains(d[1].Why, stays); got != (x.own == 0) {
				t.Errorf("%+v, %s: of the pool that borrows it says %q", x, list, d[1].Why)
			}
		}
	}
}

// TestWhoGoesStillCounts: who goes to another pool as soon as they have finished what they
// hold counts for the pool that they belong to, so that nobody is called in their place.
func TestWhoGoesStillCounts(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		from crowd.PoolID
		who  Person
	}{{1, Person{ID: 2}}, {1, Person{ID: 2, Home: 1}}, {2, Person{ID: 2, Home: 1}}} {
		control := NewControl(nil)
		if err := control.Set(1, "", Settings{Elasticity: "static(n=2)"}); err != nil {
			t.Fatal(err)
		}
		readings := []Reading{{Pool: 1, Workers: 1, Idle: []Person{{ID: 1}}, Affordable: -1}, {Pool: 2, Affordable: -1}}
		readings[x.from-1].Going = []Person{x.who}
		d := control.Step(epoch, readings, fixed(0.5))
		if d[0].Recruit != 0 || d[0].Saw.Own() != 2 || d[0].Saw.Lent != 1 || d[1].Saw.Own() != 0 {
			t.Errorf("%+v: %d are called, of pool 1 %d, %d lent, of pool 2 %d", x, d[0].Recruit, d[0].Saw.Own(), d[0].Saw.Lent, d[1].Saw.Own())
		}
	}
}

// TestWhoGoesHasNotLeft: who was lent and goes on to another pool, or is lent and still has to
// finish a task, is not taken for having left where somebody else has.
func TestWhoGoesHasNotLeft(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct{ from, at crowd.PoolID }{"home": {2, 2}, "away": {1, 1}} {
		control := NewControl(nil)
		step := func(second int, readings ...Reading) []Decision {
			for i := range readings {
				readings[i].Pool, readings[i].Affordable = crowd.PoolID(i+1), -1
			}
			return control.Step(epoch.Add(time.Duration(second)*time.Second), readings, fixed(0.5))
		}
		who := Person{ID: 1, Home: 1}
		before, now := make([]Reading, 2), make([]Reading, 2)
		before[x.from-1].Idle, before[x.from-1].Workers = []Person{who}, 1
		before[2-x.from].Queue = 1 // to where they are moved
		now[x.at-1].Going = []Person{who}
		now[1].Counters.Abandoned = 1 // somebody of pool 2's own
		if x.from == 1 {
			if err := control.Set(2, "", Settings{Elasticity: "rules", Rules: []Rule{{"queue > 0", "transfer 1 from lends"}}}); err != nil {
				t.Fatal(err)
			}
			if err := control.Set(1, "lends", Settings{}); err != nil {
				t.Fatal(err)
			}
		}
		if d := step(0, before...); len(d[x.from-1].Moves) != 1 {
			t.Fatalf("%s: they are not moved: %+v", name, d)
		}
		if d := step(1, now...); d[0].Saw.Abandonment != 0 || d[1].Saw.Abandonment == 0 {
			t.Errorf("%s: somebody left pool 2: pool 1 saw %v a second, pool 2 %v", name, d[0].Saw.Abandonment, d[1].Saw.Abandonment)
		}
	}
}

// TestWhoLeavesAfterTheirTask: somebody lent who goes off duty by themselves has left the pool
// that lent them, also if they finished a task first.
func TestWhoLeavesAfterTheirTask(t *testing.T) {
	t.Parallel()
	control := NewControl(nil)
	lent := []Person{{ID: 1, Home: 1}}
	for second, host := range []Reading{{Workers: 1, Working: lent}, {Leaving: lent}, {Counters: Counters{Abandoned: 1}}} {
		host.Pool, host.Affordable = 2, -1
		d := control.Step(epoch.Add(time.Duration(second)*time.Second), []Reading{{Pool: 1, Affordable: -1}, host}, fixed(0.5))
		if gone := second == 2; d[0].Saw.Abandonment > 0 != gone || d[1].Saw.Abandonment > 0 {
			t.Errorf("at second %d: pool 1 saw %v leave a second, pool 2 %v", second, d[0].Saw.Abandonment, d[1].Saw.Abandonment)
		}
	}
}

// TestMinIsOfItsOwnPeople: people whom others have lent do not make up the least number of a
// pool when one of its own is to be lent.
func TestMinIsOfItsOwnPeople(t *testing.T) {
	t.Parallel()
	for least, want := range []int{1, 1, 0, 0} {
		control := NewControl(nil)
		if err := control.Set(1, "takes", Settings{Elasticity: "rules", Rules: []Rule{{"queue > 0", "transfer 1 from gives"}}}); err != nil {
			t.Fatal(err)
		}
		if err := control.Set(2, "gives", Settings{Min: least}); err != nil {
			t.Fatal(err)
		}
		d := control.Step(epoch, []Reading{
			{Pool: 1, Queue: 1, Affordable: -1},
			{Pool: 2, Workers: 3, Affordable: -1, Idle: []Person{{ID: 1}, {ID: 2}}, Working: []Person{{ID: 3, Home: 1}}},
		}, fixed(0.5))
		if len(d[1].Moves) != want {
			t.Errorf("min %d, 2 of its own and 1 lent by another: %v, want %d to move: %q", least, d[1].Moves, want, d[0].Why)
		}
	}
}
