package heap_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-dev/throng/internal/kit/heap"
)

// TestInOrder plans, takes out and drops at random, next to a plain list that is
// sorted by time and then by when it was planned.
func TestInOrder(t *testing.T) {
	t.Parallel()
	most := 0
	rapid.Check(t, func(t *rapid.T) {
		type thing struct {
			at time.Duration
			n  int
		}
		var q heap.Queue[int]
		var want []thing
		n := 0
		take := func() {
			at, what := q.Pop()
			if first := want[0]; at != first.at || what != first.n {
				t.Fatalf("took %d at %d, want %d at %d", what, at, first.n, first.at)
			}
			want = want[1:]
		}
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			switch what := rapid.IntRange(0, 9).Draw(t, "what"); {
			case what < 5:
				n++
				x := thing{time.Duration(rapid.IntRange(-10, 10).Draw(t, "at")), n}
				q.Push(x.at, x.n)
				want = append(want, x)
				slices.SortStableFunc(want, func(x, y thing) int { return cmp.Compare(x.at, y.at) })
			case what < 8 && len(want) > 0:
				take()
			case what == 8:
				void := rapid.IntRange(1, 7).Draw(t, "void")
				asked := 0
				q.DeleteFunc(func(n int) bool { asked++; return n%void == 0 })
				if asked != len(want) {
					t.Fatalf("asked about %d of %d", asked, len(want))
				}
				want = slices.DeleteFunc(want, func(x thing) bool { return x.n%void == 0 })
			default:
				at, ok := q.Next()
				if ok != (len(want) > 0) || ok && at != want[0].at {
					t.Fatalf("the next comes at %d, %v; want %v", at, ok, want)
				}
			}
			if q.Len() != len(want) {
				t.Fatalf("%d are to come, want %d", q.Len(), len(want))
			}
			most = max(most, len(want))
		}
		for len(want) > 0 {
			take()
		}
		if _, ok := q.Next(); ok || q.Len() != 0 {
			t.Fatal("something is left")
		}
	})
	if most < 40 {
		t.Errorf("never more than %d were planned", most)
	}
}

// TestNothingIsKept of what was taken out or dropped.
func TestNothingIsKept(t *testing.T) {
	t.Parallel()
	var q heap.Queue[*[1 << 16]byte]
	for round := range 3 {
		for i := range 20 {
			q.Push(time.Duration(i), new([1 << 16]byte))
		}
		for range 10 {
			q.Pop()
		}
		q.DeleteFunc(func(*[1 << 16]byte) bool { return round%2 == 0 })
		for q.Len() > 0 {
			q.Pop()
		}
	}
	q.Push(1, new([1 << 16]byte))
	q.Pop() // and nothing after it
	if n := heap.Kept(&q, func(x *[1 << 16]byte) bool { return x != nil }); n != 0 {
		t.Errorf("%d are kept", n)
	}
}

func BenchmarkQueue(b *testing.B) {
	for _, n := range []int{200, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var q heap.Queue[[2]uint64]
			random := uint64(1)
			later := func() time.Duration {
				random = random*6364136223846793005 + 1442695040888963407
				return time.Duration(random >> 40)
			}
			for range n {
				q.Push(later(), [2]uint64{})
			}
			for b.Loop() {
				at, what := q.Pop()
				q.Push(at+later(), what)
			}
		})
	}
}
