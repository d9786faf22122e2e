package orchestration_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/repro/sla/orchestration"
	"github.com/throng-dev/throng/sla"
)

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// claims is a world of two types over four services, one of them not proxied.
func claims(peak float64) *orchestration.World {
	return &orchestration.World{
		Services: []orchestration.Service{
			{Name: "register", Response: ms(10), Capacity: 100},
			{Name: "analyse", Response: ms(150), Capacity: 5, Proxied: true},
			{Name: "decide", Response: ms(200), Capacity: 5, Proxied: true},
			{Name: "inspect", Response: ms(500), Capacity: 5, Proxied: true},
		},
		Kinds: []orchestration.Kind{
			{Name: "flow", Steps: []orchestration.Step{
				{Name: "register", Service: 0, Chance: 1},
				{Name: "analyse", Service: 1, After: []int{0}, Chance: 1},
				{Name: "estimate", Service: 0, After: []int{0}, Chance: 1},
				{Name: "decide", Service: 2, After: []int{1, 2}, Chance: 1},
				{Name: "inspect", Service: 3, After: []int{3}, Chance: 0.7},
			}, Penalty: &sla.Penalty{Kind: sla.Staged, After: 3 * time.Second, Cost: 10 * crowd.Unit, Every: time.Second}},
			{Name: "chain", Steps: []orchestration.Step{
				{Name: "register", Service: 0, Chance: 1},
				{Name: "decide", Service: 2, After: []int{0}, Chance: 1},
				{Name: "inspect", Service: 3, After: []int{1}, Chance: 0.7},
			}, Penalty: &sla.Penalty{Kind: sla.Constant, After: 8 * time.Second, Cost: 20 * crowd.Unit}},
		},
		Load:       orchestration.Load{Base: 10, Peak: peak, Span: 20 * time.Second, PeakSpan: 5 * time.Second},
		Inaccuracy: 0.3,
	}
}

var policies = map[string]orchestration.Policy{
	"fifo":           {Order: orchestration.FIFO},
	"loop":           {Order: orchestration.Listing, Period: 0.5, Predict: true},
	"loop, bare":     {Order: orchestration.Listing, Period: 0.5},
	"loop, slow":     {Order: orchestration.Listing, Period: 0.5, Predict: true, Cost: ms(2)},
	"loop, blocking": {Order: orchestration.Listing, Period: 0.5, Predict: true, Cost: ms(2), Blocks: true},
	"event":          {Order: orchestration.Queue, Form: sla.Event},
	"event, slow":    {Order: orchestration.Queue, Form: sla.Event, EventCost: ms(1)},
	"queue loop":     {Order: orchestration.Queue, Form: sla.Loop},
	"atc":            {Order: orchestration.Queue, Form: sla.ATC},
}

func run(t testing.TB, w *orchestration.World, p orchestration.Policy, seed uint64) *orchestration.Outcome {
	t.Helper()
	out, err := orchestration.Run(context.Background(), w, p, seed)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Whoever decides, the world is the same: who comes when, of which kind, and how
// much work each service does for them; and nothing is lost.
func TestEveryPolicyMeetsTheSameWorld(t *testing.T) {
	t.Parallel()
	w := claims(29)
	fifo := run(t, w, policies["fifo"], 7)
	if len(fifo.Processes) < 200 {
		t.Fatalf("%d processes", len(fifo.Processes))
	}
	for name, p := range policies {
		out := run(t, w, p, 7)
		if len(out.Processes) != len(fifo.Processes) {
			t.Fatalf("%s: %d processes, not %d", name, len(out.Processes), len(fifo.Processes))
		}
		var ages time.Duration
		var paid crowd.Money
		late := 0
		for i, x := range out.Processes {
			if x.Begun != fifo.Processes[i].Begun || x.Kind != fifo.Processes[i].Kind {
				t.Fatalf("%s: process %d is %+v, not %+v", name, i, x, fifo.Processes[i])
			}
			if x.Ended <= x.Begun {
				t.Fatalf("%s: process %d ended at %s, begun at %s", name, i, x.Ended, x.Begun)
			}
			if want := w.Kinds[x.Kind].Penalty.At(x.Ended - x.Begun); x.Penalty != want {
				t.Errorf("%s: process %d pays %s, not %s", name, i, x.Penalty, want)
			}
			ages += x.Ended - x.Begun
			paid += x.Penalty
			if x.Penalty > 0 {
				late++
			}
		}
		if out.Penalty != paid || out.Late != late || out.Running != ages || late == 0 {
			t.Errorf("%s: %s of %d in %s, by the processes %s of %d in %s", name, out.Penalty, out.Late, out.Running, paid, late, ages)
		}
		for i, u := range out.Services {
			if u.Served != fifo.Services[i].Served || u.Busy != fifo.Services[i].Busy {
				t.Errorf("%s: service %d served %d in %s, under FIFO %d in %s", name, i, u.Served, u.Busy, fifo.Services[i].Served, fifo.Services[i].Busy)
			}
			if u.Most > w.Services[i].Capacity {
				t.Errorf("%s: service %d served %d at once", name, i, u.Most)
			}
		}
		if out.Services[3].Most != 5 {
			t.Errorf("%s: %d at once, though the last service is overloaded", name, out.Services[3].Most)
		}
	}
}

// A chain is nothing but waiting and being served (Little's law, summed over the
// services): the time of all processes is that of all requests.
func TestTimeIsWaitingAndService(t *testing.T) {
	t.Parallel()
	w := claims(29)
	w.Kinds = w.Kinds[1:]
	for name, p := range policies {
		out := run(t, w, p, 3)
		sum := time.Duration(0)
		for _, u := range out.Services {
			sum += u.Busy + u.Wait
		}
		if sum != out.Running || sum == 0 {
			t.Errorf("%s: processes took %s, their requests %s", name, out.Running, sum)
		}
	}
}

// One service, one place, everything even: the k-th of those that come each
// second and take two ends after 2k + 2 s.
func TestAQueueByHand(t *testing.T) {
	t.Parallel()
	w := &orchestration.World{
		Services: []orchestration.Service{{Name: "s", Response: 2 * time.Second, Capacity: 1, Proxied: true}},
		Kinds:    []orchestration.Kind{{Name: "k", Steps: []orchestration.Step{{Name: "a", Service: 0, Chance: 1}}, Penalty: &sla.Penalty{Kind: sla.Constant, After: ms(5500), Cost: 1}}},
		Load:     orchestration.Load{Base: 1, Peak: 1, Span: 10 * time.Second, Even: true},
	}
	for _, name := range []string{"fifo", "loop, bare"} {
		out := run(t, w, policies[name], 1)
		ages := map[time.Duration]int{}
		for _, p := range out.Processes {
			ages[(p.Ended-p.Begun).Round(time.Millisecond)]++
		}
		if n := len(out.Processes); n < 9 || n > 10 {
			t.Fatalf("%d processes", n)
		}
		if name == "fifo" {
			for k, p := range out.Processes {
				if age := p.Ended - p.Begun; (age - time.Duration(k+2)*time.Second).Abs() > time.Millisecond {
					t.Errorf("process %d took %s", k, age)
				}
			}
		}
		if out.Services[0].Busy != time.Duration(len(out.Processes))*2*time.Second || out.Services[0].Most != 1 {
			t.Errorf("%s: %+v", name, out.Services[0])
		}
	}
}

// The orders do what they are for: over some seeds penalties are below FIFO's, and
// those who lose nothing by it wait.
func TestOrdersSavePenalties(t *testing.T) {
	t.Parallel()
	w := claims(29)
	sums := map[string]crowd.Money{}
	chain := map[string]time.Duration{}
	for seed := range uint64(8) {
		for name, p := range policies {
			out := run(t, w, p, seed+1)
			sums[name] += out.Penalty
			for _, x := range out.Processes {
				if x.Kind == 1 {
					chain[name] += x.Ended - x.Begun
				}
			}
		}
	}
	for _, name := range []string{"loop", "loop, bare", "event", "event, slow", "queue loop", "atc"} {
		if sums[name] > sums["fifo"]*7/10 {
			t.Errorf("%s costs %s, FIFO %s", name, sums[name], sums["fifo"])
		}
		if chain[name] <= chain["fifo"] {
			t.Errorf("%s: those who have time took %s, under FIFO %s", name, chain[name], chain["fifo"])
		}
	}
	if sums["loop, blocking"] <= sums["loop, slow"] {
		t.Errorf("a loop that blocks its proxy costs %s, one that does not %s", sums["loop, blocking"], sums["loop, slow"])
	}
}

// Places are kept for predicted requests only where that is asked for, iterations
// cost what they are said to, and a slow proxy is late.
func TestWhatPoliciesDoBesides(t *testing.T) {
	t.Parallel()
	w := claims(29)
	held := func(out *orchestration.Outcome) (d time.Duration) {
		for _, u := range out.Services {
			d += u.Held
		}
		return d
	}
	outs := map[string]*orchestration.Outcome{}
	for name, p := range policies {
		outs[name] = run(t, w, p, 5)
	}
	for name, out := range outs {
		if kept := policies[name].Predict; kept != (held(out) > 0) {
			t.Errorf("%s keeps places for %s", name, held(out))
		}
		if loops := policies[name].Order == orchestration.Listing; loops != (out.Passes > 0) {
			t.Errorf("%s: %d iterations", name, out.Passes)
		}
	}
	// Iterations each 75, 100 and 250 ms as long as anything runs.
	if want := outs["loop"].End.Seconds() * (1/0.075 + 1/0.1 + 1/0.25); math.Abs(float64(outs["loop"].Passes)/want-1) > 0.03 {
		t.Errorf("%d iterations in %s, not %.0f", outs["loop"].Passes, outs["loop"].End, want)
	}
	if a, b := outs["loop, slow"].Passes, outs["loop"].Passes; a >= b {
		t.Errorf("%d slow iterations, %d that take no time", a, b)
	}
	long := policies["loop"]
	long.Period = 2
	if a, b := run(t, w, long, 5), outs["loop"]; a.Passes > b.Passes/3 || held(a) <= held(b) {
		t.Errorf("period 2: %d iterations keep places for %s; period 1/2: %d, %s", a.Passes, held(a), b.Passes, held(b))
	}
	// With free places a request waits for what its proxy takes, and no longer.
	alone := claims(1)
	alone.Load = orchestration.Load{Base: 0.5, Peak: 0.5, Span: 100 * time.Second, Even: true}
	slow := run(t, alone, policies["event, slow"], 5)
	var wait time.Duration
	put := 0
	for i, u := range slow.Services {
		wait += u.Wait
		if alone.Services[i].Proxied {
			put += u.Served
		}
	}
	if want := time.Duration(put) * time.Millisecond; wait != want || put < 50 {
		t.Errorf("%d requests waited for %s", put, wait)
	}
}

// Requests pass through a slow proxy one after another: of those that come at
// once the k-th waits k times as long.
func TestASlowProxyIsALine(t *testing.T) {
	t.Parallel()
	w := &orchestration.World{
		Services: []orchestration.Service{{Name: "s", Response: time.Second, Capacity: 1_000_000, Proxied: true}},
		Kinds:    []orchestration.Kind{{Name: "k", Steps: []orchestration.Step{{Name: "a", Service: 0, Chance: 1}}}},
		Load:     orchestration.Load{Base: 1e8, Peak: 1e8, Span: time.Microsecond, Even: true},
	}
	out := run(t, w, policies["event, slow"], 1)
	n := time.Duration(len(out.Processes))
	want := n * (n + 1) / 2 * time.Millisecond
	if got := out.Services[0].Wait; n < 90 || (got-want).Abs() > n*time.Microsecond {
		t.Errorf("%d requests waited for %s, not %s", n, got, want)
	}
}

// What happens at the same nanosecond happens in the order in which it was put
// down: processes that begin together and need the same time stay in line.
func TestEqualsStayInLine(t *testing.T) {
	t.Parallel()
	w := &orchestration.World{
		Services: []orchestration.Service{{Name: "wide", Response: time.Second, Capacity: 1000}, {Name: "narrow", Response: ms(10), Capacity: 1}},
		Kinds:    []orchestration.Kind{{Name: "k", Steps: []orchestration.Step{{Name: "a", Service: 0, Chance: 1}, {Name: "b", Service: 1, After: []int{0}, Chance: 1}}}},
		Load:     orchestration.Load{Base: 1e10, Peak: 1e10, Span: 10 * time.Nanosecond, Even: true},
	}
	out := run(t, w, policies["fifo"], 1)
	together := 0
	for i, p := range out.Processes[1:] {
		if p.Begun == out.Processes[i].Begun {
			together++
		}
		if p.Ended <= out.Processes[i].Ended {
			t.Fatalf("process %d ended at %s, the one before it at %s", i+1, p.Ended, out.Processes[i].Ended)
		}
	}
	if together < 50 {
		t.Errorf("%d processes began together", together)
	}
}

// Two processes wait for one place; whose step is nearer and can be met goes
// first, and whoever has missed theirs waits for the next.
func TestTheNearestStageFirst(t *testing.T) {
	t.Parallel()
	w := &orchestration.World{
		Services: []orchestration.Service{{Name: "s", Response: time.Second, Capacity: 1, Proxied: true}},
		Kinds: []orchestration.Kind{
			{Name: "far", Steps: []orchestration.Step{{Name: "a", Service: 0, Chance: 1}}, Penalty: &sla.Penalty{Kind: sla.Constant, After: time.Hour, Cost: 1}},
			{Name: "near", Steps: []orchestration.Step{{Name: "a", Service: 0, Chance: 1}}, Penalty: &sla.Penalty{Kind: sla.Constant, After: 30 * time.Second, Cost: 1}},
			{Name: "missed", Steps: []orchestration.Step{{Name: "a", Service: 0, Chance: 1}}, Penalty: &sla.Penalty{Kind: sla.Constant, After: 1250 * time.Millisecond, Cost: 1}},
		},
		Load: orchestration.Load{Base: 1e7, Peak: 1e7, Span: time.Microsecond, Even: true},
	}
	out := run(t, w, policies["atc"], 3)
	last := map[int]time.Duration{}
	soonest := map[int]time.Duration{0: time.Hour, 1: time.Hour, 2: time.Hour}
	for _, p := range out.Processes[1:] { // the first finds the place free
		last[p.Kind] = max(last[p.Kind], p.Ended)
		soonest[p.Kind] = min(soonest[p.Kind], p.Ended)
	}
	if len(last) != 3 || last[1] >= soonest[0] || last[0] >= soonest[2] {
		t.Errorf("first of each kind %v, last %v", soonest, last)
	}
}

// A process of a seed comes the earlier, the higher the peak, and the peak is
// where it belongs.
func TestThePeakIsInTheMiddle(t *testing.T) {
	t.Parallel()
	low, high := run(t, claims(20), policies["fifo"], 2), run(t, claims(200), policies["fifo"], 2)
	if len(high.Processes) <= len(low.Processes) {
		t.Fatalf("%d processes with the higher peak, %d with the lower", len(high.Processes), len(low.Processes))
	}
	for i, p := range low.Processes {
		if high.Processes[i].Begun > p.Begun || high.Processes[i].Kind != p.Kind {
			t.Fatalf("process %d is %+v with the higher peak, %+v with the lower", i, high.Processes[i], p)
		}
	}
	in := 0
	for i, p := range high.Processes {
		if i > 0 && p.Begun < high.Processes[i-1].Begun {
			t.Fatal("they are not in order")
		}
		if p.Begun >= ms(7500) && p.Begun < ms(12500) {
			in++
		}
	}
	if in < 850 || in > 1150 || len(high.Processes)-in > 250 {
		t.Errorf("%d of %d begin in the peak", in, len(high.Processes))
	}
}

// Response times: the mean as expected, the deviation k of it, and none that is
// nothing.
func TestInaccuracy(t *testing.T) {
	t.Parallel()
	w := &orchestration.World{
		Services:   []orchestration.Service{{Name: "s", Response: time.Second, Capacity: 1_000_000}},
		Kinds:      []orchestration.Kind{{Name: "k", Steps: []orchestration.Step{{Name: "a", Service: 0, Chance: 1}}}},
		Load:       orchestration.Load{Base: 1000, Peak: 1000, Span: 50 * time.Second},
		Inaccuracy: 0.3,
	}
	out := run(t, w, policies["fifo"], 1)
	sum, squares, least := 0.0, 0.0, math.Inf(1)
	for _, p := range out.Processes {
		x := (p.Ended - p.Begun).Seconds()
		sum += x
		squares += x * x
		least = min(least, x)
	}
	n := float64(len(out.Processes))
	mean, sd := sum/n, math.Sqrt(squares/n-sum/n*sum/n)
	if math.Abs(mean-1) > 0.01 || math.Abs(sd-0.3) > 0.01 || least < 0.01 || least > 0.05 {
		t.Errorf("mean %.4f, deviation %.4f, least %.4f s of %g", mean, sd, least, n)
	}
}

func TestWhatMakesNoSense(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(w *orchestration.World, p *orchestration.Policy){
		"no services":      func(w *orchestration.World, _ *orchestration.Policy) { w.Services = nil },
		"no kinds":         func(w *orchestration.World, _ *orchestration.Policy) { w.Kinds = nil },
		"no capacity":      func(w *orchestration.World, _ *orchestration.Policy) { w.Services[1].Capacity = 0 },
		"no response time": func(w *orchestration.World, _ *orchestration.Policy) { w.Services[1].Response = 0 },
		"no steps":         func(w *orchestration.World, _ *orchestration.Policy) { w.Kinds[0].Steps = nil },
		"too many steps": func(w *orchestration.World, _ *orchestration.Policy) {
			w.Kinds[0].Steps = make([]orchestration.Step, orchestration.MostSteps+1)
		},
		"no such service":       func(w *orchestration.World, _ *orchestration.Policy) { w.Kinds[0].Steps[1].Service = 9 },
		"no chance":             func(w *orchestration.World, _ *orchestration.Policy) { w.Kinds[0].Steps[4].Chance = 0 },
		"a circle":              func(w *orchestration.World, _ *orchestration.Policy) { w.Kinds[0].Steps[1].After = []int{3} },
		"a bad penalty":         func(w *orchestration.World, _ *orchestration.Policy) { w.Kinds[0].Penalty.Cost = 0 },
		"no load":               func(w *orchestration.World, _ *orchestration.Policy) { w.Load.Base = 0 },
		"endless load":          func(w *orchestration.World, _ *orchestration.Policy) { w.Load.Peak = math.Inf(1) },
		"NaN":                   func(w *orchestration.World, _ *orchestration.Policy) { w.Load.Peak = math.NaN() },
		"a peak outside":        func(w *orchestration.World, _ *orchestration.Policy) { w.Load.PeakSpan = time.Minute },
		"inaccuracy":            func(w *orchestration.World, _ *orchestration.Policy) { w.Inaccuracy = 2 },
		"a share above 1":       func(w *orchestration.World, _ *orchestration.Policy) { w.Delay.Share = 1.5 },
		"a delay to the past":   func(w *orchestration.World, _ *orchestration.Policy) { w.Delay.By = -1 },
		"an order that is none": func(_ *orchestration.World, p *orchestration.Policy) { p.Order = "lifo" },
		"a form that is none":   func(_ *orchestration.World, p *orchestration.Policy) { p.Order = orchestration.Queue },
		"no period":             func(_ *orchestration.World, p *orchestration.Policy) { p.Order = orchestration.Listing },
		"negative cost":         func(_ *orchestration.World, p *orchestration.Policy) { p.Cost = -1 },
	} {
		w, p := claims(20), orchestration.Policy{Order: orchestration.FIFO}
		change(w, &p)
		if _, err := orchestration.Run(context.Background(), w, p, 1); crowd.CodeOf(err) != crowd.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := orchestration.Run(ctx, claims(20), policies["fifo"], 1); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
}

// Whatever the world: every process ends, work and capacity are kept, and a run
// is the same each time.
func TestAnyWorld(t *testing.T) {
	t.Parallel()
	looked := 0
	rapid.Check(t, func(r *rapid.T) {
		w := &orchestration.World{Inaccuracy: rapid.Float64Range(0, 1).Draw(r, "k")}
		for range rapid.IntRange(1, 4).Draw(r, "services") {
			w.Services = append(w.Services, orchestration.Service{
				Name: "s", Response: ms(rapid.IntRange(1, 800).Draw(r, "response")), Capacity: rapid.IntRange(1, 4).Draw(r, "capacity"), Proxied: rapid.Bool().Draw(r, "proxied"),
			})
		}
		for range rapid.IntRange(1, 3).Draw(r, "kinds") {
			k := orchestration.Kind{Name: "k", Penalty: rapid.SampledFrom([]*sla.Penalty{
				nil, {Kind: sla.Staged, After: ms(700), Cost: 3, Every: ms(300)}, {Kind: sla.Constant, After: time.Second, Cost: 9}, {Kind: sla.Linear, After: ms(500), Cost: 7, Every: time.Second},
			}).Draw(r, "penalty")}
			for i := range rapid.IntRange(1, 5).Draw(r, "steps") {
				s := orchestration.Step{Name: "x", Service: rapid.IntRange(0, len(w.Services)-1).Draw(r, "service"), Chance: rapid.SampledFrom([]float64{1, 1, 0.5}).Draw(r, "chance")}
				for j := range i {
					if rapid.Bool().Draw(r, "after") {
						s.After = append(s.After, j)
					}
				}
				k.Steps = append(k.Steps, s)
			}
			w.Kinds = append(w.Kinds, k)
		}
		w.Load = orchestration.Load{Base: 3, Peak: rapid.Float64Range(1, 20).Draw(r, "peak"), Span: 6 * time.Second, PeakSpan: 2 * time.Second, Even: rapid.Bool().Draw(r, "even")}
		w.Delay = orchestration.Delay{Share: rapid.Float64Range(0, 0.5).Draw(r, "late"), By: ms(200)}
		seed := rapid.Uint64().Draw(r, "seed")
		var fifo *orchestration.Outcome
		for _, name := range []string{"fifo", "loop", "loop, bare", "loop, slow", "loop, blocking", "event", "event, slow", "queue loop", "atc"} {
			out, err := orchestration.Run(context.Background(), w, policies[name], seed)
			if err != nil {
				r.Fatalf("%s: %v", name, err)
			}
			again, err := orchestration.Run(context.Background(), w, policies[name], seed)
			if err != nil || again.Running != out.Running || again.Penalty != out.Penalty || again.End != out.End || again.Passes != out.Passes {
				r.Fatalf("%s: two runs differ", name)
			}
			if fifo == nil {
				fifo = out
			}
			for i, u := range out.Services {
				if u.Served != fifo.Services[i].Served || u.Busy != fifo.Services[i].Busy || u.Most > w.Services[i].Capacity {
					r.Fatalf("%s: service %d: %+v, under FIFO %+v", name, i, u, fifo.Services[i])
				}
			}
			for i, p := range out.Processes {
				if p.Ended < p.Begun {
					r.Fatalf("%s: process %d did not end: %+v", name, i, p)
				}
				looked++
			}
		}
	})
	if looked == 0 {
		t.Error("no process was looked at")
	}
}
