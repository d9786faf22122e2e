package engine

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// Timers that are stopped and moved as they come ring as a sorted list of those
// that are on would.
func TestTimersRingInOrder(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 10, 1, 9, 0, 0, 0, time.UTC)
	r := rand.New(rand.NewPCG(1, 2))
	var h timers
	all := make([]*timer, 30)
	for i := range all {
		all[i] = &timer{worker: &worker{id: crowd.WorkerID(i + 1)}}
	}
	plainFirst := func() *timer {
		on := slices.DeleteFunc(slices.Clone(all), func(x *timer) bool { return !x.on })
		if len(on) == 0 {
			return nil
		}
		return slices.MinFunc(on, func(x, y *timer) int {
			return cmp.Or(x.at.Compare(y.at), cmp.Compare(x.worker.id, y.worker.id))
		})
	}
	now, rung, late := start, 0, 0
	for range 20_000 {
		now = now.Add(time.Second)
		x := all[r.IntN(len(all))]
		switch r.IntN(6) {
		case 0:
			x.stop()
		case 1:
			h.unset(x)
		default: // few different times, so that ties abound; now and then an earlier one
			h.set(x, now.Add(time.Duration(1+r.IntN(20))*5*time.Second))
		}
		if r.IntN(4) > 0 {
			continue
		}
		want := plainFirst()
		at, ok := h.next()
		if ok != (want != nil) || ok && !at.Equal(want.at) {
			t.Fatalf("the next timer is at %s (%t), want that of %+v", at, ok, want)
		}
		for want != nil && !want.at.After(now) {
			if got := h.due(now); got != want || got.on || got.place != 0 {
				t.Fatalf("%+v rings, want %+v", got, want)
			}
			rung++
			want = plainFirst()
		}
		if got := h.due(now); got != nil {
			t.Fatalf("%+v rings too early", got)
		}
		for _, e := range h.heap.Entries {
			if t := h.bySlot[e.Slot]; e.Key < t.key || !t.on {
				late++
			}
		}
	}
	if rung < 100 || late < 100 {
		t.Errorf("only %d rang, only %d were put off", rung, late)
	}
}

// A list that stays short stays in its memory.
func TestPushKeepsTheMemory(t *testing.T) {
	t.Parallel()
	for _, length := range []int{0, 1, 2, 7, 50} {
		var list, room []*int
		next, first, moved := 0, 0, 0
		for range 10_000 {
			before := cap(room)
			list, room = push(list, room, &[]int{next}[0])
			next++
			if cap(room) != before {
				moved++
			}
			for len(list) > length {
				list[0] = nil
				list = list[1:]
				first++
			}
			for i, x := range list {
				if *x != first+i {
					t.Fatalf("length %d: place %d holds %d, want %d", length, i, *x, first+i)
				}
			}
		}
		if moved == 0 || moved > 10 {
			t.Errorf("length %d: new memory %d times", length, moved)
		}
		held := 0
		for _, x := range room[:cap(room)] {
			if x != nil {
				held++
			}
		}
		if held != len(list) {
			t.Errorf("length %d: the memory holds %d, the list %d", length, held, len(list))
		}
	}
}
