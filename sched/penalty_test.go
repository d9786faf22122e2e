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
		p := parse(t, "penalty")
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
		p := parse(t, "penalty")
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

// TestLoops: the form is found under wrappers, and nowhere else.
func TestLoops(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"penalty": false, "penalty(form=event)": false, "penalty(form=loop)": true, "penalty( form = loop )": true,
		"tenant-fair(penalty(form=loop))": true, "wcfs(tenant-fair(penalty(form=loop)),k=3)": true, "tenant-fair(penalty)": false,
		"fifo": false, "": false, "(penalty(form=loop))": false, "penalty(form=loop))": false,
	} {
		if got := sched.Loops(text); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
	for _, name := range sched.Names() {
		if sched.Loops(name) {
			t.Errorf("%s loops", name)
		}
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
