package soak

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/throng-dev/throng/internal/sim"
)

// habits are what worlds have, as a scenario file may say it: what nobody draws
// nobody looks at.
var habits = map[string]func(r *sim.Run) bool{
	"no horizon":            func(r *sim.Run) bool { return r.Setup.Horizon == 0 },
	"classes":               func(r *sim.Run) bool { return r.Setup.Classes != nil },
	"several tenants":       func(r *sim.Run) bool { return len(r.Setup.Tenants) > 1 },
	"another repetition":    func(r *sim.Run) bool { return r.Rep > 0 },
	"allocation":            func(r *sim.Run) bool { return r.Record.Allocation },
	"switch factor":         kinds(func(k *sim.Kind) bool { return k.SwitchFactor > 0 }),
	"switch time":           kinds(func(k *sim.Kind) bool { return k.SwitchTime != nil }),
	"learning":              kinds(func(k *sim.Kind) bool { return k.Learning > 0 }),
	"skip":                  kinds(func(k *sim.Kind) bool { return k.Skip > 0 }),
	"return":                kinds(func(k *sim.Kind) bool { return k.Return > 0 }),
	"vanish":                kinds(func(k *sim.Kind) bool { return k.Vanish > 0 }),
	"silent":                kinds(func(k *sim.Kind) bool { return k.Silent > 0 }),
	"give up after":         kinds(func(k *sim.Kind) bool { return k.GiveUpAfter != nil && k.Skip+k.Return > 0 }),
	"one answer":            kinds(func(k *sim.Kind) bool { return len(k.Answers) == 1 }),
	"accuracy":              kinds(func(k *sim.Kind) bool { return k.Accuracy > 0 && len(k.Answers) > 1 }),
	"confusion":             kinds(func(k *sim.Kind) bool { return k.Confusion != nil }),
	"accuracy of a group":   groups(func(g *sim.Group) bool { return len(g.Accuracy) > 0 }),
	"session":               groups(func(g *sim.Group) bool { return g.Session != nil }),
	"patience":              groups(func(g *sim.Group) bool { return g.Patience != nil }),
	"pause":                 groups(func(g *sim.Group) bool { return g.Pause != nil }),
	"speed":                 groups(func(g *sim.Group) bool { return g.Speed != nil }),
	"qualification":         groups(func(g *sim.Group) bool { return g.Qualifications != nil }),
	"people at once":        groups(func(g *sim.Group) bool { return g.Arrive.Rate == 0 && g.Arrive.Count > 0 }),
	"people at a rate":      groups(func(g *sim.Group) bool { return g.Arrive.Rate > 0 && g.Arrive.Min == 0 }),
	"people from a time on": groups(func(g *sim.Group) bool { return g.Arrive.Rate > 0 && g.Arrive.From > 0 }),
	"people until a time":   groups(func(g *sim.Group) bool { return g.Arrive.Rate > 0 && g.Arrive.Until > 0 && g.Arrive.Count == 0 }),
	"people at times":       groups(func(g *sim.Group) bool { return g.Arrive.Times != nil }),
	"band":                  groups(func(g *sim.Group) bool { return g.Arrive.Min > 0 }),
	"batches at once":       flows(func(f *sim.Flow) bool { return f.Arrive.Rate == 0 && f.Arrive.Count > 0 }),
	"batches at a rate":     flows(func(f *sim.Flow) bool { return f.Arrive.Rate > 0 }),
	"batches until a time":  flows(func(f *sim.Flow) bool { return f.Arrive.Rate > 0 && f.Arrive.Until > 0 }),
	"batches from a time":   flows(func(f *sim.Flow) bool { return f.Arrive.Rate > 0 && f.Arrive.From > 0 }),
	"batches at times":      flows(func(f *sim.Flow) bool { return f.Arrive.Times != nil }),
	"deadlines by size":     flows(func(f *sim.Flow) bool { return f.Alpha != nil }),
	"the code's form":       flows(func(f *sim.Flow) bool { return f.Alpha != nil && f.Alpha.Form == sim.AlphaCode }),
	"several answers":       batches(func(b *sim.Batch) bool { return b.Rule.Most() > 1 }),
	"priority":              batches(func(b *sim.Batch) bool { return b.Priority > 0 }),
	"deadline":              batches(func(b *sim.Batch) bool { return b.Deadline > 0 }),
	"production":            batches(func(b *sim.Batch) bool { return b.Production }),
	"reward":                batches(func(b *sim.Batch) bool { return b.Reward > 0 }),
	"lease":                 batches(func(b *sim.Batch) bool { return b.Lease > 0 }),
	"estimate":              batches(func(b *sim.Batch) bool { return b.TaskTime > 0 }),
	"lifetime":              batches(func(b *sim.Batch) bool { return b.Lifetime > 0 }),
	"requirement":           batches(func(b *sim.Batch) bool { return b.Requires != nil }),
	"most answers of one":   batches(func(b *sim.Batch) bool { return b.PerWorker > 0 }),
	"enough":                batches(func(b *sim.Batch) bool { return b.Enough != nil }),
	"checks":                batches(func(b *sim.Batch) bool { return b.Checks != nil && b.Known > 0 }),
	"grace":                 batches(func(b *sim.Batch) bool { return b.Grace > 0 }),
	"people vanish":         faults(func(f *sim.Fault) bool { return f.Vanish > 0 }),
	"policy switch":         faults(func(f *sim.Fault) bool { return f.Policy != "" }),
	"stop":                  faults(func(f *sim.Fault) bool { return f.Stop > 0 }),
	"all at once":           faults(func(f *sim.Fault) bool { return f.Vanish > 0 && f.Policy != "" && f.Stop > 0 }),
	"market":                func(r *sim.Run) bool { return strings.HasPrefix(r.Policy, "market") },
	"wrapper":               func(r *sim.Run) bool { return wraps(r.Policy) > 0 },
	"wrapper in a wrapper":  func(r *sim.Run) bool { return wraps(r.Policy) > 1 },
}

func kinds(has func(*sim.Kind) bool) func(*sim.Run) bool {
	return func(r *sim.Run) bool { return some(r.Setup.Kinds, has) }
}

func groups(has func(*sim.Group) bool) func(*sim.Run) bool {
	return func(r *sim.Run) bool { return some(r.Setup.Groups, has) }
}

func flows(has func(*sim.Flow) bool) func(*sim.Run) bool {
	return func(r *sim.Run) bool { return some(r.Setup.Flows, has) }
}

func batches(has func(*sim.Batch) bool) func(*sim.Run) bool {
	return func(r *sim.Run) bool { return some(r.Setup.Batches, has) }
}

func faults(has func(*sim.Fault) bool) func(*sim.Run) bool {
	return func(r *sim.Run) bool { return some(r.Setup.Faults, has) }
}

func some[T any](list []T, has func(*T) bool) bool {
	return slices.ContainsFunc(list, func(x T) bool { return has(&x) })
}

func wraps(policy string) int {
	return strings.Count(policy, "wcfs(") + strings.Count(policy, "tenant-fair(")
}

// TestEveryHabitIsDrawn, and often enough to be met by everything else.
func TestEveryHabitIsDrawn(t *testing.T) {
	t.Parallel()
	const worlds, least = 500, 15
	seen := map[string]int{}
	for seed := range uint64(worlds) {
		r := drawn(seed)
		if _, err := sim.ParsePolicy(r.Policy); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		if !r.Check {
			t.Errorf("seed %d is not checked", seed)
		}
		for name, has := range habits {
			if has(r) {
				seen[name]++
			}
		}
	}
	for name := range habits {
		if seen[name] < least {
			t.Errorf("%s: in %d worlds of %d", name, seen[name], worlds)
		}
	}
}

// TestNothingIsLeftOut: every field of what describes a world is drawn, but for
// those that a scenario file cannot say, or says in a form of its own.
func TestNothingIsLeftOut(t *testing.T) {
	t.Parallel()
	left := map[string]bool{"Setup.Cast": true, "Batch.ID": true, "Rule.median": true, // of question kinds, which no scenario has
		"Rule.classes": true, "Rule.right": true, // set by the simulator, and by forecasts
		"Checks.Training": true} // no scenario has tasks that teach
	set := map[string]bool{}
	var look func(v reflect.Value)
	look = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer:
			if !v.IsNil() {
				look(v.Elem())
			}
		case reflect.Slice:
			for i := range v.Len() {
				look(v.Index(i))
			}
		case reflect.Struct:
			for i := range v.NumField() {
				name := v.Type().Name() + "." + v.Type().Field(i).Name
				set[name] = set[name] || !v.Field(i).IsZero()
				if v.Type().PkgPath() == reflect.TypeFor[sim.Setup]().PkgPath() {
					look(v.Field(i))
				}
			}
		}
	}
	for seed := range uint64(300) {
		look(reflect.ValueOf(drawn(seed).Setup))
	}
	for name, is := range set {
		if !is && !left[name] {
			t.Errorf("%s is never drawn", name)
		}
	}
}

// TestFailuresAreNamed: of several worlds that break, the one with the smallest
// seed, whatever the order in which they end; a panic breaks a world, not the
// program.
func TestFailuresAreNamed(t *testing.T) {
	t.Parallel()
	later := make(chan struct{})
	r, err := look(t.Context(), Options{Seed: 10, Rounds: 1000}, func(seed uint64) (*sim.Outcome, error) {
		switch seed {
		case 12:
			close(later)
			panic("out of hand")
		case 13, 14:
			<-later
			return nil, errors.New("broken")
		}
		return &sim.Outcome{Answers: 2, Late: 1}, nil
	})
	if err != nil || r.Failed == nil || *r.Failed != 12 {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, part := range []string{"the world of seed 12 panics: out of hand", "draw_test.go"} {
		if !strings.Contains(r.Problem, part) {
			t.Errorf("the problem does not say %q: %s", part, r.Problem)
		}
	}
	if r.Worlds < 3 || r.Worlds > 1000 || r.Answers < 4 || r.Answers != 2*r.Late || r.Answers > 2*int64(r.Worlds-1) {
		t.Errorf("what was looked at is %+v", *r)
	}
}

func TestTotals(t *testing.T) {
	t.Parallel()
	var told atomic.Int32
	r, err := look(t.Context(), Options{Seed: 1<<64 - 2, Rounds: 4, Progress: func(int) { told.Add(1) }}, func(seed uint64) (*sim.Outcome, error) {
		return &sim.Outcome{HandOuts: int64(seed + 2), Answers: 1, Labels: 2, Expired: 3, GivenUp: 4, Late: 5}, nil
	})
	want := Result{Worlds: 4, Seed: 1<<64 - 2, HandOuts: 0 + 1 + 2 + 3, Answers: 4, Labels: 8, Expired: 12, GivenUp: 16, Late: 20}
	if err != nil || *r != want || told.Load() != 4 {
		t.Errorf("%+v after %d calls, %v; want %+v", *r, told.Load(), err, want)
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if r, err := look(ctx, Options{Rounds: 4}, nil); !errors.Is(err, context.Canceled) || r != nil {
		t.Errorf("interrupted: %+v, %v", r, err)
	}
}

// TestDifference: what the comparison with an unchecked run sees.
func TestDifference(t *testing.T) {
	t.Parallel()
	remade := func(change func(o *sim.Outcome)) *sim.Outcome {
		o, err := World(6)
		if err != nil {
			t.Fatal(err)
		}
		change(o)
		return o
	}
	same := remade(func(*sim.Outcome) {})
	for _, c := range []struct {
		change func(o *sim.Outcome)
		want   string
	}{
		{func(*sim.Outcome) {}, ""},
		{func(o *sim.Outcome) { o.Batches[0].Answers++ }, "Batches[0].Answers is"},
		{func(o *sim.Outcome) { o.Batches = o.Batches[:1] }, "Batches is"},
		{func(o *sim.Outcome) { o.Late++ }, "Late is"},
		{func(o *sim.Outcome) { o.Samples.List[0].Answers++ }, "Samples.List[0].Answers is"},
	} {
		if got := difference(same, remade(c.change)); (got == "") != (c.want == "") || !strings.HasPrefix(got, c.want) {
			t.Errorf("%q, want %q", fmt.Sprintf("%.80s", got), c.want)
		}
	}
}

// TestAskingLessIsSeenAtOnce: worlds in which somebody gives up a task whose rule then asks for fewer
// people. Without checks the world learnt of that later, so its means over time differed.
func TestAskingLessIsSeenAtOnce(t *testing.T) {
	t.Parallel()
	for seed, policy := range map[uint64]string{1501: "wfs-ratio", 1814: "wcfs(wfs,k=3)"} {
		run := drawn(seed)
		run.Policy = policy
		checked, err := run.Do()
		if err != nil {
			t.Fatal(err)
		}
		run.Check = false
		bare, err := run.Do()
		if err != nil {
			t.Fatal(err)
		}
		if diff := difference(checked, bare); diff != "" {
			t.Errorf("seed %d: %s", seed, diff)
		}
	}
}
