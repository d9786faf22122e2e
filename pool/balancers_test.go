package pool

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// idle are people who dislike the first pool and like the third, in which they are.
func idle(n int) []Person {
	list := make([]Person, n)
	for i := range list {
		list[i] = Person{ID: crowd.WorkerID(i + 1), Prefers: []float64{0, 0.5, 1}}
	}
	return list
}

// three returns what is decided for three pools of the same speed: the first and the
// second have queues, and in the third people are idle. The settings are what is
// special about the first and the second.
func three(t *testing.T, c *Control, first, second string) []Decision {
	t.Helper()
	expect := Expect{TaskTime: 10 * time.Second}
	for i, own := range []string{first, second, ""} {
		if err := c.Set(crowd.PoolID(i+1), []string{"a", "b", "c"}[i], Settings{Balance: true, Balancer: own, Expect: expect}); err != nil {
			t.Fatal(err)
		}
	}
	return c.Step(epoch, []Reading{
		{Pool: 1, Workers: 2, Busy: 2, Queue: 40, Affordable: -1},
		{Pool: 2, Workers: 2, Busy: 2, Queue: 20, Affordable: -1},
		{Pool: 3, Workers: 12, Affordable: -1, Idle: idle(12), Preference: 12},
	}, fixed(0))
}

// came counts who moves to each of the pools.
func came(list []Decision) (to [4]int) {
	for _, d := range list {
		for _, m := range d.Moves {
			to[m.To]++
		}
	}
	return to
}

// TestOwnBalancers: the balancer of a pool decides who comes to it, and to no other.
func TestOwnBalancers(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		of, first, second string // of the control, and of the pools with queues
		want              func(to [4]int) bool
		why               string
	}{
		{"search(omega=0)", "", "", func(to [4]int) bool { return to[1] > to[2] && to[2] > 0 }, "both are helped, the longer queue more"},
		{"search(omega=0)", "none", "", func(to [4]int) bool { return to[1] == 0 && to[2] > 2 }, "nobody comes by none"},
		{"none", "", "search(omega=0)", func(to [4]int) bool { return to[1] == 0 && to[2] > 2 }, "the pool's own goes before that of the control"},
		{"none", "", "paper(omega=0,utility=sum)", func(to [4]int) bool { return to[1] == 0 && to[2] > 2 }, "so does paper"},
		{"search(omega=0)", "search(omega=1)", "", func(to [4]int) bool { return to[1] == 0 && to[2] > 2 }, "nobody likes it there, which is all that counts there"},
		{"search(omega=1)", "search(omega=0)", "", func(to [4]int) bool { return to[1] > 6 && to[2] == 0 }, "the same the other way round"},
		{"search(omega=0)", "search(omega=0,cap=2)", "", func(to [4]int) bool { return to[1] == 2 && to[2] > 2 }, "a cap of its own"},
		{"search(omega=0,cap=3)", "search(omega=0)", "", func(to [4]int) bool { return to[1] > 6 && to[2] == 3 }, "a cap of the other"},
		{"search(omega=0)", "paper(omega=0,utility=sum)", "", func(to [4]int) bool { return to[1] == 10 && to[2] > 0 }, "paper first, the search with who is left"},
		{"search(omega=0)", "random", "", func(to [4]int) bool { return to[1] == 12 && to[2] == 0 }, "a random pool is the first of all with this stream"},
	} {
		to := came(three(t, NewControl(MustParseBalance(x.of)), x.first, x.second))
		if !x.want(to) {
			t.Errorf("%s, %q, %q: %v come; %s", x.of, x.first, x.second, to[1:], x.why)
		}
	}
}

// TestOwnBalancersWhileRunning: what is set counts from the next step on, and each
// decision says by which balancer it was made.
func TestOwnBalancersWhileRunning(t *testing.T) {
	t.Parallel()
	c := NewControl(nil)
	if to := came(three(t, c, "", "")); to != [4]int{} {
		t.Errorf("without a balancer %v come", to)
	}
	d := three(t, c, "search(omega=0.25,cap=2,utility=clearing)", "search(omega=0,cap=1)")
	if to := came(d); to[1] != 2 || to[2] != 1 {
		t.Errorf("%v come, not 2 and 1", to)
	}
	for i, want := range []string{"search(omega=0.25,cap=2,utility=clearing): 2 from c, for 40 in the queue", "search(omega=0,cap=1): 1 from c, for 20 in the queue"} {
		if !slices.Contains(d[i].Why, want) {
			t.Errorf("%q lacks %q", d[i].Why, want)
		}
	}
	if why := strings.Join(d[2].Why, "\n"); !strings.Contains(why, "search(omega=0.25,cap=2,utility=clearing): 2 to a") || !strings.Contains(why, "search(omega=0,cap=1): 1 to b") {
		t.Errorf("%q", why)
	}
	if to := came(three(t, c, "none", "none")); to != [4]int{} {
		t.Errorf("by none %v come", to)
	}
}

// TestOneBalancerOfMany: pools that each have the balancer of the control as their
// own are balanced as without.
func TestOneBalancerOfMany(t *testing.T) {
	t.Parallel()
	for _, of := range []string{"none", "random", "random(cap=3)", "paper", "paper(omega=0.1,cap=3,utility=max)", "search", "search(omega=0.1,cap=2)", "search(utility=clearing)"} {
		want := three(t, NewControl(MustParseBalance(of)), "", "")
		for _, own := range [][2]string{{of, of}, {of, ""}, {"", of}} {
			if got := three(t, NewControl(MustParseBalance(of)), own[0], own[1]); !reflect.DeepEqual(got, want) {
				t.Errorf("%s of %q:\n%+v\nnot\n%+v", of, own, got, want)
			}
		}
	}
}

// TestUtilities: waiting counts every answer in a queue, clearing every queue.
func TestUtilities(t *testing.T) {
	t.Parallel()
	views := []BalanceView{
		{Pool: 1, At: 0, Queue: 100, Workers: 20, Busy: 20, OnDuty: 20, CStar: Unknown, Mu: 1}, // clears in 5 s
		{Pool: 2, At: 1, Queue: 2, Workers: 1, Busy: 1, OnDuty: 1, CStar: Unknown, Mu: 0.01},   // clears in 200 s
		{Pool: 3, At: 2, Workers: 1, OnDuty: 1, CStar: Unknown, Mu: 1, Idle: []Person{{ID: 7}}},
	}
	for text, to := range map[string]crowd.PoolID{"search": 2, "search(utility=clearing)": 2} {
		if moves := MustParseBalance(text).Plan(views, fixed(0)); len(moves) != 1 || moves[0].To != to {
			t.Errorf("%s: %v, want one to %s", text, moves, to)
		}
	}
	views[0].Queue, views[0].Workers, views[0].Busy, views[0].OnDuty = 4000, 40, 40, 40 // clears in 100 s; one more saves 4880 task-seconds of waiting, there 100
	for text, to := range map[string]crowd.PoolID{"search": 1, "search(utility=clearing)": 2} {
		if moves := MustParseBalance(text).Plan(views, fixed(0)); len(moves) != 1 || moves[0].To != to {
			t.Errorf("%s: %v, want one to %s", text, moves, to)
		}
	}
	own := MustParseBalance("search(utility=clearing)")
	views[1].By = own // each a share of its own kind: half of the one, 2 % of the other
	if moves := MustParseBalance("search").Plan(views, fixed(0)); len(moves) != 1 || moves[0].To != 2 {
		t.Errorf("mixed: %v", moves)
	}
}

// TestSettingsOfBalancers: a wrong one is refused by the name of its field.
func TestSettingsOfBalancers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"even":                  `there is no balancer "even" (known: none, random(cap=0), paper(`,
		"search(omega=1.5)":     "omega=0 to 1",
		"search(utility=least)": "utility=waiting or utility=clearing",
		"paper(cap=-1)":         "cap=0 to 1000000",
	} {
		s := Settings{Balancer: text}
		if err := s.Validate(); crowd.CodeOf(err) != crowd.Invalid || !strings.HasPrefix(err.Error(), "balancer: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, f := range Balancers() {
		s := Settings{Balancer: f.Name}
		if err := s.Validate(); err != nil {
			t.Error(err)
		}
	}
}
