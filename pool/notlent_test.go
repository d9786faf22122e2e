package pool

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
)

// TestWhyNobodyIsLent: both pools say why somebody idle in one is not lent to the other,
// with its queue; and with the reason away they are lent, and nothing is said.
func TestWhyNobodyIsLent(t *testing.T) {
	t.Parallel()
	busy := Settings{Balance: true, Expect: Expect{TaskTime: 10 * time.Second}}
	quiet := Settings{Balance: true}
	reading := func() []Reading {
		return []Reading{
			{Pool: 1, Workers: 4, Busy: 4, Queue: 9, Affordable: -1},
			{Pool: 2, Workers: 1, Idle: []Person{{ID: 7}}, Affordable: -1},
		}
	}
	for name, x := range map[string]struct {
		change func(busy, quiet *Settings, r []Reading)
		want   string // "": they are lent
	}{
		"nothing":           {func(*Settings, *Settings, []Reading) {}, ""},
		"room for one":      {func(b, _ *Settings, r []Reading) { b.Max, r[0].Coming = 6, 1 }, ""},
		"those coming":      {func(b, _ *Settings, r []Reading) { b.Max, r[0].Coming = 6, 2 }, "day takes at most 6 people: 4 on duty, 2 coming"},
		"no money":          {func(_, _ *Settings, r []Reading) { r[0].Affordable = 0 }, "day has no money for more people"},
		"least number":      {func(_, q *Settings, _ []Reading) { q.Min = 1 }, "night keeps at least 1 people"},
		"unknown task time": {func(b, _ *Settings, _ []Reading) { b.Expect = Expect{} }, "how long a task takes in day is not known yet"},
		"the same, paper": {func(b, _ *Settings, _ []Reading) { b.Expect, b.Balancer = Expect{}, "paper" },
			"how long a task takes in day is not known yet"},
		"no balancer":  {func(b, _ *Settings, _ []Reading) { b.Balancer = "none" }, "nobody comes to day by balance"},
		"just arrived": {func(_, _ *Settings, r []Reading) { r[1].Idle[0].Moved = epoch.Add(-time.Second) }, "less than 1 min ago"},
		"c*": {func(_, q *Settings, r []Reading) {
			q.Expect.TaskTime, r[1].Counters.Arrived = 10*time.Second, 1
		}, "night has 1 who work or could, and needs them: its c* is"},
		"just c*": {func(_, q *Settings, r []Reading) {
			q.Expect.TaskTime, r[1].Counters.Arrived = 10*time.Millisecond, 1
		}, "night has 1 who work or could, and needs them: its c* is 1"},
		"it advises only": {func(_, q *Settings, _ []Reading) { q.Advise = true }, "-"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, q, r := busy, quiet, reading()
			x.change(&b, &q, r)
			control := NewControl(MustParseBalance("search"))
			for id, p := range []struct {
				name string
				Settings
			}{{"day", b}, {"night", q}} {
				if err := control.Set(crowd.PoolID(id+1), p.name, p.Settings); err != nil {
					t.Fatal(err)
				}
			}
			queue := r[0].Queue
			r[0].Queue = 0
			for sec := range r[1].Counters.Arrived * 60 { // one arrives in night each second
				r[1].Counters.Arrived = sec
				control.Step(epoch.Add(time.Duration(sec-60)*time.Second), r, fixed(0.5))
			}
			r[0].Queue = queue
			d := control.Step(epoch, r, fixed(0.5))
			said := lists.Map(d, func(d Decision) int {
				return lists.Count(d.Why, func(s string) bool { return strings.Contains(s, "not lent") })
			})
			switch moved := len(d[1].Moves) == 1; {
			case moved != (x.want == ""):
				t.Fatalf("moves %v; reasons %q, %q", d[1].Moves, d[0].Why, d[1].Why)
			case moved || x.want == "-":
				if !slices.Equal(said, []int{0, 0}) {
					t.Errorf("reasons %q, %q", d[0].Why, d[1].Why)
				}
				return
			}
			if !slices.Equal(said, []int{1, 1}) {
				t.Fatalf("reasons %q, %q; want one each", d[0].Why, d[1].Why)
			}
			for i, start := range []string{": 1 idle in night not lent: ", ": 1 idle not lent to day, with 9 in the queue: "} {
				if why := d[i].Why[len(d[i].Why)-1]; !strings.Contains(why, start) || !strings.Contains(why, x.want) {
					t.Errorf("%q lacks %q and %q", why, start, x.want)
				}
			}
		})
	}
}
