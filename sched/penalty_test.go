package sched_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/sched"
)

// TestPenaltyAtTheBounds: all figures of the order are compared to their last bit,
// from one end of their domains to the other.
func TestPenaltyAtTheBounds(t *testing.T) {
	t.Parallel()
	var (
		long   = time.Unix(0, math.MinInt64)
		added  = []crowd.Money{0, 1, 2, 1 << 39, crowd.MaxMoney - 1, crowd.MaxMoney}
		since  = []time.Time{long, long.Add(1), time.Unix(0, -1), time.Unix(0, 0), time.Unix(0, 1), epoch, epoch.Add(1), epoch.Add(1 << 40), epoch.Add(1<<40 + 1), time.Unix(0, math.MaxInt64)}
		turns  = []uint64{0, 1, 1<<32 - 1, 1 << 32, 1<<32 + 1, 1<<56 - 2, 1<<56 - 1}
		random = rand.New(rand.NewPCG(1, 2))
		seen   = 0
	)
	for range 300 {
		p := parse(t, "penalty(form=event)")
		var list []sched.Batch
		for n := range 20 {
			b := batch(crowd.BatchID(n+1), 100, 1)
			if n%2 == 0 {
				b.ID = crowd.MaxBatchID - crowd.BatchID(n)
			}
			b.Added, b.Since, b.Turn = added[random.IntN(len(added))], since[random.IntN(len(since))], turns[random.IntN(len(turns))]
			if random.IntN(2) == 0 { // mostly equal
				b.Added, b.Since = 1, epoch
			}
			list = append(list, b)
			p.Set(&b)
		}
		slices.SortFunc(list, func(a, b sched.Batch) int {
			return cmp.Or(cmp.Compare(b.Added, a.Added), a.Since.Compare(b.Since), cmp.Compare(a.Turn, b.Turn), cmp.Compare(a.ID, b.ID))
		})
		var want []crowd.BatchID
		for _, b := range list {
			want = append(want, b.ID)
			seen++
		}
		if diff := gocmp.Diff(want, order(p, all)); diff != "" {
			t.Fatalf("-want +got:\n%s", diff)
		}
	}
	if seen != 6000 {
		t.Errorf("looked at %d places", seen)
	}
}

// TestPenaltyBeyondTheBounds: what is out of its domain counts as the nearest that is
// not, and leaves the figures before it in the order alone.
func TestPenaltyBeyondTheBounds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string][2]func(*sched.Batch){ // who goes first, who second
		"a turn beyond all is the last": {
			func(b *sched.Batch) { b.Turn = 1<<56 - 2 },
			func(b *sched.Batch) { b.Turn = math.MaxUint64 },
		},
		"but not before a longer wait": {
			func(b *sched.Batch) { b.Turn = math.MaxUint64 },
			func(b *sched.Batch) { b.Since = epoch.Add(1) },
		},
		"a penalty beyond all money is the most": {
			func(b *sched.Batch) { b.Added = math.MaxInt64 },
			func(b *sched.Batch) { b.Added = crowd.MaxMoney - 1 },
		},
		"and no more": {
			func(b *sched.Batch) { b.Added = crowd.MaxMoney },
			func(b *sched.Batch) { b.Added, b.Since = math.MaxInt64, epoch.Add(1) },
		},
		"one below nothing is nothing": {
			func(b *sched.Batch) { b.Added = -1 },
			func(b *sched.Batch) { b.Added, b.Since = 0, epoch.Add(1) },
		},
		"an id beyond all is the last": {
			func(b *sched.Batch) { b.ID = crowd.MaxBatchID },
			func(b *sched.Batch) { b.ID = math.MaxInt64 },
		},
	} {
		p := parse(t, "penalty(form=event)")
		var want []crowd.BatchID
		for n, change := range c {
			b := with(batch(crowd.BatchID(9-n), 5, 0), func(b *sched.Batch) { b.Since = epoch })
			change(&b)
			p.Set(&b)
			want = append(want, b.ID)
		}
		if got := order(p, all); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}

// TestPenaltyATCBeyondTheBounds: as TestPenaltyBeyondTheBounds.
func TestPenaltyATCBeyondTheBounds(t *testing.T) {
	t.Parallel()
	later := epoch.Add(time.Hour)
	for name, c := range map[string][2]func(*sched.Batch){ // who goes first, who second
		"a turn beyond all is the last": {
			func(b *sched.Batch) { b.Turn = 1<<42 - 2 },
			func(b *sched.Batch) { b.Turn = math.MaxUint64 },
		},
		"but not before a longer wait": {
			func(b *sched.Batch) { b.Turn = math.MaxUint64 },
			func(b *sched.Batch) { b.Since = epoch.Add(1) },
		},
		"nor before what is more urgent": {
			func(b *sched.Batch) { b.Turn, b.Since = math.MaxUint64, time.Unix(0, math.MaxInt64) },
			func(b *sched.Batch) { b.Due = b.Due.Add(time.Microsecond) },
		},
		"what is due beyond all dates is still due": {
			func(b *sched.Batch) { b.Due, b.Since = epoch.AddDate(7000, 0, 0), later },
			func(b *sched.Batch) { b.Due = time.Time{} },
		},
		"and what was due before all dates is the first": {
			func(b *sched.Batch) { b.Due, b.Since = epoch.AddDate(-2000, 0, 0), later },
			func(b *sched.Batch) {},
		},
		"a stake beyond all money is the most": {
			func(b *sched.Batch) { b.Stake = math.MaxInt64 },
			func(b *sched.Batch) { b.Stake = crowd.MaxMoney - crowd.MaxMoney/1000 },
		},
		"and no more": {
			func(b *sched.Batch) { b.Stake = crowd.MaxMoney },
			func(b *sched.Batch) { b.Stake, b.Since = math.MaxInt64, epoch.Add(1) },
		},
		"a stake of nothing is the least there is": {
			func(b *sched.Batch) { b.Stake = 1 },
			func(b *sched.Batch) { b.Stake, b.Since = 0, epoch.Add(1) },
		},
		"and as much as the least": {
			func(b *sched.Batch) { b.Stake = 0 },
			func(b *sched.Batch) { b.Stake, b.Since = 1, epoch.Add(1) },
		},
		"but something": {
			func(b *sched.Batch) { b.Stake, b.Since = 0, later },
			func(b *sched.Batch) { b.Due = time.Time{} },
		},
		"one below nothing is as much": {
			func(b *sched.Batch) { b.Stake = math.MinInt64 },
			func(b *sched.Batch) { b.Stake, b.Since = 0, epoch.Add(1) },
		},
		"and no more than nothing": {
			func(b *sched.Batch) { b.Stake = 0 },
			func(b *sched.Batch) { b.Stake, b.Since = math.MinInt64, epoch.Add(1) },
		},
		"a task that takes no time takes the least there is": {
			func(b *sched.Batch) { b.TaskTime = 1 },
			func(b *sched.Batch) { b.TaskTime, b.Since = -1, epoch.Add(1) },
		},
		"an id beyond all is the last": {
			func(b *sched.Batch) { b.ID = crowd.MaxBatchID },
			func(b *sched.Batch) { b.ID = math.MaxInt64 },
		},
	} {
		for _, form := range []string{"penalty(form=atc)", "penalty", "penalty(wfs)"} {
			p := parse(t, form)
			var want []crowd.BatchID
			for n, change := range c {
				b := with(batch(crowd.BatchID(9-n), 5, 0), func(b *sched.Batch) { b.Since, b.Due, b.Stake, b.TaskTime = epoch, later, crowd.Unit, time.Minute })
				change(&b)
				alike(&b, time.Minute)
				p.Set(&b)
				want = append(want, b.ID)
			}
			if got := order(p, all); !slices.Equal(got, want) {
				t.Errorf("%s: %s: got %v, want %v", form, name, got, want)
			}
			a, _ := p.Key(want[0])
			if b, _ := p.Key(want[1]); !a.Before(b) && a.Turn <= b.Turn {
				t.Errorf("%s: %s: keys %v and %v", form, name, a.Rank, b.Rank)
			}
		}
	}
}

// alike gives form=rest the figures with which it agrees with form=atc: those of an item
// that ends with its task, handed out when it falls due.
func alike(b *sched.Batch, look time.Duration) { b.Falls, b.Work, b.Look = b.Due, b.TaskTime, look }

// TestPenaltyForgets: what can be handed out no more, or to this worker not, is not
// in the order.
func TestPenaltyForgets(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"penalty", "penalty(form=event)", "penalty(fifo)", "penalty(fifo,form=loop)"} {
		p := parse(t, name)
		urgent := with(batch(1, 5, 0), func(b *sched.Batch) { b.Due, b.Stake, b.Added, b.Class = epoch, crowd.Unit, crowd.Unit, 1 })
		p.Set(&urgent)
		p.Set(new(batch(2, 5, 0)))
		for what, c := range map[string]struct {
			change func(*sched.Batch)
			want   []crowd.BatchID
		}{
			"as it was":            {func(*sched.Batch) {}, []crowd.BatchID{1, 2}},
			"not assignable":       {func(b *sched.Batch) { b.Assignable = false }, []crowd.BatchID{2}},
			"done":                 {func(b *sched.Batch) { b.Completed = b.Planned }, []crowd.BatchID{2}},
			"in no danger":         {func(b *sched.Batch) { b.Due, b.Added, b.Since, b.Turn = time.Time{}, 0, time.Unix(0, 1<<62), 9 }, []crowd.BatchID{2, 1}},
			"of another class":     {func(b *sched.Batch) { b.Class = 2 }, []crowd.BatchID{2}},
			"of a class they have": {func(b *sched.Batch) { b.Class = 0 }, []crowd.BatchID{1, 2}},
		} {
			b := with(urgent, c.change)
			p.Set(&b)
			if got := order(p, [3]bool{true, true, false}); !slices.Equal(got, c.want) {
				t.Errorf("%s, %s: %v", name, what, got)
			}
			p.Set(&urgent)
		}
		p.Remove(1)
		if got := order(p, [3]bool{true, true, false}); !slices.Equal(got, []crowd.BatchID{2}) {
			t.Errorf("%s, removed: %v", name, got)
		}
	}
}

// TestPenaltyExplains: the key says what a delay costs, and since when the task
// waits.
func TestPenaltyExplains(t *testing.T) {
	t.Parallel()
	p := parse(t, "tenant-fair(penalty(form=loop))")
	p.Set(new(with(batch(1, 5, 0), func(b *sched.Batch) { b.Added, b.Since = 2_500_000, epoch })))
	p.Set(new(with(batch(2, 5, 0), func(b *sched.Batch) { b.Since = epoch })))
	for id, want := range map[crowd.BatchID]string{1: "a delay of 1s adds 2.50", 2: "a delay adds nothing"} {
		k, _ := p.Key(id)
		if in := k.Inner; in.Policy != "penalty(form=loop)" || !strings.Contains(in.Words, want) || !strings.Contains(in.Words, "2026-10-01T00:00:00Z") {
			t.Errorf("%s: %s: %q", id, in.Policy, in.Words)
		}
	}
	k, _ := p.Key(1)
	if diff := gocmp.Diff([]sched.Number{-2_500_000, sched.Number(epoch.Unix()), 0}, k.Inner.Rank); diff != "" {
		t.Errorf("rank (-want +got):\n%s", diff)
	}
}

// TestPenaltyForm: the form is found under wrappers, and nowhere else.
func TestPenaltyForm(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"penalty": "atc", "penalty(form=rest)": "atc", "penalty(wfs,form=loop)": "loop", "penalty(penalty(form=event))": "event", "penalty(form=atc)": "atc", "penalty(look=5s)": "atc", "penalty(form=event)": "event", "penalty(form=loop)": "loop", "penalty( form = loop )": "loop",
		"tenant-fair(penalty(form=loop))": "loop", "wcfs(tenant-fair(penalty(form=event)),k=3)": "event", "tenant-fair(penalty)": "atc",
		"fifo": "atc", "": "atc", "(penalty(form=loop))": "atc", "penalty(form=loop))": "atc", "penalty(form=off)": "atc", "rr(penalty(form=off))": "atc",
	} {
		if got := sched.PenaltyForm(text); got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
}

// TestPenaltyATCAtTheBounds: to the microsecond of what is urgent, and then to the
// last bit of the wait, from one end of their domains to the other.
func TestPenaltyATCAtTheBounds(t *testing.T) {
	t.Parallel()
	var (
		dues = []time.Time{{}, time.Unix(0, math.MinInt64), time.Unix(0, 0), epoch.Add(-time.Hour), epoch.Add(-time.Microsecond), epoch, epoch.Add(1), epoch.Add(time.Microsecond), epoch.Add(2 * time.Microsecond), epoch.Add(24 * time.Hour),
			epoch.AddDate(-150, 0, 0), epoch.AddDate(-151, 0, 0), epoch.AddDate(150, 0, 0), epoch.AddDate(151, 0, 0), time.Unix(0, math.MaxInt64-1), time.Unix(0, math.MaxInt64)}
		stakes = []crowd.Money{1, 1000, crowd.Unit - 1, crowd.Unit, crowd.Unit + 1, 1000 * crowd.Unit, crowd.MaxMoney}
		since  = []time.Time{time.Unix(0, math.MinInt64), time.Unix(0, -1), time.Unix(0, 0), epoch, epoch.Add(1), epoch.Add(1 << 40), time.Unix(0, math.MaxInt64)}
		turns  = []uint64{0, 1, 1<<32 - 1, 1 << 32, 1<<42 - 2, 1<<42 - 1}
		random = rand.New(rand.NewPCG(1, 3))
		seen   = map[bool]int{}
		equals = 0
	)
	for round := range 300 {
		look := []time.Duration{0, time.Minute, 24 * time.Hour}[round%3]
		p := parse(t, []string{"penalty(form=atc,look=" + look.String() + ")", "penalty", "penalty(look=" + look.String() + ")"}[round/3%3])
		urgent := func(b *sched.Batch) int64 { // µs
			if b.Due.IsZero() {
				return math.MaxInt64
			}
			worth := time.Duration(float64(look) * math.Log(float64(b.Stake)/float64(crowd.Unit)/b.TaskTime.Minutes()))
			return min(max(b.Due.UnixNano()/1000-worth.Microseconds(), -1<<53), 1<<53-2)
		}
		var list []sched.Batch
		for n := range 20 {
			b := batch(crowd.BatchID(n+1), 100, 1)
			if n%2 == 0 {
				b.ID = crowd.MaxBatchID - crowd.BatchID(n)
			}
			b.Due, b.Stake, b.Since, b.Turn = dues[random.IntN(len(dues))], stakes[random.IntN(len(stakes))], since[random.IntN(len(since))], turns[random.IntN(len(turns))]
			b.TaskTime = []time.Duration{time.Second, time.Minute, 100 * time.Hour}[random.IntN(3)]
			if random.IntN(2) == 0 { // mostly equal
				b.Due, b.Stake, b.TaskTime, b.Since = epoch, crowd.Unit, time.Minute, epoch
			}
			alike(&b, look)
			list = append(list, b)
			p.Set(&b)
			seen[b.Due.IsZero()]++
		}
		at := map[crowd.BatchID]*sched.Batch{}
		for i := range list {
			at[list[i].ID] = &list[i]
		}
		got := order(p, all)
		if len(got) != len(list) {
			t.Fatalf("%d batches in order, want %d", len(got), len(list))
		}
		for i := 1; i < len(got); i++ {
			a, b := at[got[i-1]], at[got[i]]
			first, second := urgent(a), urgent(b)
			if cmp.Or(cmp.Compare(first, second), a.Since.Compare(b.Since), cmp.Compare(a.Turn, b.Turn), cmp.Compare(a.ID, b.ID)) >= 0 {
				t.Fatalf("look %s: %+v, urgent at %d, goes before %+v, urgent at %d", look, a, first, b, second)
			}
			if first == second {
				equals++
			}
		}
	}
	if seen[true] < 100 || seen[false] < 100 || equals < 100 {
		t.Errorf("looked at %v, %d of them equals", seen, equals)
	}
}

// TestPenaltyATCInWords: who goes first, and what the key says of it.
func TestPenaltyATCInWords(t *testing.T) {
	t.Parallel()
	due := func(after time.Duration, stake crowd.Money, takes time.Duration) sched.Batch {
		return with(batch(1, 100, 0), func(b *sched.Batch) {
			b.Due, b.Stake, b.TaskTime, b.Since = epoch.Add(after), stake*crowd.Unit, takes, epoch
		})
	}
	const m = time.Minute
	for name, c := range map[string][2]sched.Batch{ // who goes first, who second
		"what is due first":                       {due(10*m, 1, m), due(11*m, 1, m)},
		"what is dearer, if it is due soon after": {due(12*m, 20, m), due(10*m, 1, m)},
		"but not if it is due much later":         {due(10*m, 1, m), due(14*m, 20, m)},
		"what a minute of work saves more by":     {due(11*m, 1, m), due(10*m, 1, 10*m)},
		"what can be escaped before what cannot":  {due(1000*m, 1, m), with(due(0, 0, m), func(b *sched.Batch) { b.Due = time.Time{} })},
		"what waits longest, if nothing can be": {
			with(batch(1, 100, 0), func(b *sched.Batch) { b.Since = epoch }),
			with(batch(1, 100, 0), func(b *sched.Batch) { b.Since = epoch.Add(1) }),
		},
	} {
		for _, form := range []string{"penalty(form=atc)", "penalty"} {
			first, second := c[0], c[1]
			alike(&first, m)
			alike(&second, m)
			goesFirst(t, form+": "+name, form, first, second)
		}
	}
	p := parse(t, "tenant-fair(penalty(form=atc,look=2m))")
	p.Set(new(due(10*m, 20, m)))
	k, _ := p.Key(1)
	if in := k.Inner; in.Policy != "penalty(form=atc,look=2m0s)" || !strings.Contains(in.Words, "20.00 falls due unless its first task is handed out before 2026-10-01T00:10:00Z; ordered as if that were at 2026-10-01T00:04:0") || !strings.HasSuffix(in.Words, ", 5m59s earlier, as more than 1.00 is at stake for a minute of work") {
		t.Errorf("%s: %q", in.Policy, in.Words)
	}
	p.Set(new(due(10*m, 1, 4*m)))
	if k, _ := p.Key(1); !strings.HasSuffix(k.Inner.Words, "Z, 2m46s later, as less than 1.00 is at stake for a minute of work") {
		t.Errorf("%q", k.Inner.Words)
	}
	p.Set(new(due(10*m, 1, m)))
	if k, _ := p.Key(1); !strings.HasSuffix(k.Inner.Words, " before 2026-10-01T00:10:00Z") {
		t.Errorf("%q", k.Inner.Words)
	}
	p.Set(new(with(batch(2, 5, 0), func(b *sched.Batch) { b.Since = epoch })))
	if k, _ := p.Key(2); !strings.Contains(k.Inner.Words, "nothing can be escaped") {
		t.Errorf("%q", k.Inner.Words)
	}
}

// goesFirst checks who of two goes first under a policy, and what the keys say of it.
func goesFirst(t *testing.T, name, policy string, first, second sched.Batch) {
	t.Helper()
	p := parse(t, policy)
	first.ID, second.ID = 9, 2
	p.Set(&second)
	p.Set(&first)
	if got := order(p, all); !slices.Equal(got, []crowd.BatchID{9, 2}) {
		t.Errorf("%s: %v", name, got)
	}
	a, _ := p.Key(9)
	b, _ := p.Key(2)
	if slices.CompareFunc(a.Rank, b.Rank, func(x, y sched.Number) int { return cmp.Compare(x, y) }) >= 0 {
		t.Errorf("%s: ranks %v and %v", name, a.Rank, b.Rank)
	}
}

// TestPenaltyRestInWords: what form=rest looks at besides the money: the work that is left
// of an item, when the penalty falls due, and how far ahead the pool looks.
func TestPenaltyRestInWords(t *testing.T) {
	t.Parallel()
	const m, h = time.Minute, time.Hour
	item := func(falls time.Duration, stake crowd.Money, work, look time.Duration) sched.Batch {
		return with(batch(1, 100, 0), func(b *sched.Batch) {
			b.Due, b.Falls, b.Stake, b.Work, b.Look, b.Since = epoch, epoch.Add(falls), stake*crowd.Unit, work, look, epoch
		})
	}
	for name, c := range map[string]struct {
		policy        string
		first, second sched.Batch
	}{
		"of equals who is nearly done":             {"penalty", item(3*h, 2, 12*m, 2*h), item(3*h, 2, 46*m, 2*h)},
		"also if it falls due a little later":      {"penalty", item(4*h, 2, 12*m, 2*h), item(3*h, 2, 46*m, 2*h)},
		"but not if it falls due much later":       {"penalty", item(3*h, 2, 46*m, 2*h), item(6*h, 2, 12*m, 2*h)},
		"nor if the look is short":                 {"penalty", item(3*h, 2, 46*m, 10*m), item(4*h, 2, 12*m, 10*m)},
		"as the option says, whatever the pool's":  {"penalty(look=10m)", item(3*h, 2, 46*m, 2*h), item(4*h, 2, 12*m, 2*h)},
		"no look at all is the least falls":        {"penalty(look=0s)", item(3*h, 2, 46*m, 2*h), item(3*h+1000, 200, 12*m, 2*h)},
		"without its work the time of its task":    {"penalty", item(3*h, 2, 0, 2*h), item(3*h, 2, 2*time.Second, 2*h)},
		"what can be escaped before what runs off": {"penalty(wfs)", item(1000*h, 1, h, m), with(item(0, 0, 0, m), func(b *sched.Batch) { b.Due = time.Time{} })},
	} {
		goesFirst(t, name, c.policy, c.first, c.second)
	}
}

// TestPenaltyShares: what has nothing to lose shares as the inner policy has it, and
// counts the people who work on what has.
func TestPenaltyShares(t *testing.T) {
	t.Parallel()
	p := parse(t, "tenant-fair(penalty(wfs))")
	set := func(id crowd.BatchID, running int, due time.Time) {
		p.Set(new(with(batch(id, 100, running), func(b *sched.Batch) {
			b.Due, b.Falls, b.Stake, b.Work, b.Look = due, due, crowd.Unit, time.Minute, time.Minute
		})))
	}
	set(1, 2, time.Time{})
	set(2, 1, time.Time{})
	set(3, 9, epoch)
	if got := order(p, all); !slices.Equal(got, []crowd.BatchID{3, 2, 1}) {
		t.Error(got)
	}
	set(3, 9, time.Time{}) // its penalty can no longer be escaped
	if got := order(p, all); !slices.Equal(got, []crowd.BatchID{2, 1, 3}) {
		t.Error(got)
	}
	k, _ := p.Key(3)
	if in := k.Inner; in.Policy != "penalty(wfs)" || in.Inner.Policy != "wfs" || !strings.HasPrefix(in.Words, "nothing is promised that can still be kept: ") || strings.Contains(in.Words, "penalt") {
		t.Errorf("%+v", in)
	}
	p.Remove(2)
	if got := order(p, all); !slices.Equal(got, []crowd.BatchID{1, 3}) {
		t.Error(got)
	}
}

// BenchmarkPenalty times a decision and the change of the head of the batch served,
// which is as urgent as any other then.
func BenchmarkPenalty(b *testing.B) {
	for _, size := range benchSizes {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			p, random := sched.MustParse("penalty"), rand.New(rand.NewPCG(1, 2))
			list := make([]sched.Batch, size)
			draw := func(x *sched.Batch) {
				x.Added, x.Since = crowd.Money(random.IntN(1000))*crowd.Unit, epoch.Add(time.Duration(random.IntN(1e9)))
				x.Due, x.Stake = x.Since.Add(time.Hour), x.Added+1
			}
			for i := range list {
				list[i] = batch(crowd.BatchID(i+1), 1000, 1)
				list[i].Class = sched.Class(i % 8)
				draw(&list[i])
				p.Set(&list[i])
			}
			b.ReportAllocs()
			turn := uint64(0)
			for b.Loop() {
				turn++
				x := &list[p.Next(epoch, anyone{})-1]
				x.Turn = turn
				draw(x)
				p.Set(x)
			}
		})
	}
}
