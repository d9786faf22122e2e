package heap_test

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/throng-dev/throng/internal/kit/heap"
)

func compare(a, b heap.Entry) int {
	return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Turn, b.Turn), cmp.Compare(a.ID, b.ID))
}

// TestIndexed sets, removes and changes entries at random, and compares with a map
// and with sorting, in walks over two heaps and in popping all their entries.
func TestIndexed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var heaps [2]heap.Indexed
		var want [2]map[uint32]heap.Entry
		for i := range heaps {
			want[i] = map[uint32]heap.Entry{}
			fill(t, &heaps[i], want[i], uint32(i))
		}
		var front, whole heap.Front
		var all []heap.Entry
		for i := range heaps {
			for _, e := range want[i] {
				all = append(all, e)
				whole.Push(heap.Spot{Entry: e})
			}
			if root := heaps[i].Entries; len(root) > 0 {
				front.Push(heap.Spot{Entry: root[0], Heap: int32(i)})
			}
		}
		slices.SortFunc(all, compare)
		for i, e := range all {
			if front[0].Entry != e || whole[0].Entry != e {
				t.Fatalf("step %d visits %v and pops %v, want %v", i, front[0].Entry, whole[0].Entry, e)
			}
			front.Advance(heaps[front[0].Heap].Entries)
			whole.Pop()
		}
		if len(front) > 0 || len(whole) > 0 {
			t.Fatalf("the walk goes on with %v, %v", front, whole)
		}
	})
}

// fill changes a heap at random, its map with it. IDs are of one heap.
func fill(t *rapid.T, h *heap.Indexed, want map[uint32]heap.Entry, of uint32) {
	for range rapid.IntRange(0, 60).Draw(t, "steps") {
		slot := rapid.Uint32Range(0, 15).Draw(t, "slot")
		key := rapid.Uint64Range(0, 9).Draw(t, "key")
		e := heap.Entry{Key: key, Turn: rapid.Uint64Range(0, 2).Draw(t, "turn"), ID: int64(slot) - 8 + 100*int64(of), Slot: slot}
		_, there := want[slot]
		switch rapid.IntRange(0, 9).Draw(t, "what") {
		case 0, 1:
			h.Remove(slot)
			delete(want, slot)
		case 2:
			h.Clear()
			clear(want)
		case 3:
			if !there {
				h.Append(e)
				h.Init()
				want[slot] = e
			}
		case 4:
			for slot, e := range want {
				e.Key = (e.Key*7 + key) % 10
				h.At(slot).Key = e.Key
				want[slot] = e
			}
			h.Init()
		default:
			h.Set(e)
			want[slot] = e
		}
		check(t, h, want, key)
	}
}

func check(t *rapid.T, h *heap.Indexed, want map[uint32]heap.Entry, key uint64) {
	if len(h.Entries) != len(want) {
		t.Fatalf("%d entries, want %d", len(h.Entries), len(want))
	}
	var below []uint32
	for slot := range uint32(16) {
		e, there := want[slot]
		if got := h.At(slot); (got != nil) != there || there && *got != e {
			t.Fatalf("slot %d has %v, want %v, %v", slot, got, e, there)
		}
		if there && e.Key <= key {
			below = append(below, slot)
		}
	}
	for i, e := range h.Entries {
		for _, c := range h.Entries.Children(i) {
			if !e.Before(&c) {
				t.Fatalf("%v is above %v", e, c)
			}
		}
	}
	got := h.Entries.AppendUpTo(nil, key, 0)
	slices.Sort(got)
	if !slices.Equal(got, below) {
		t.Fatalf("up to %d are the slots %d, want %d", key, got, below)
	}
}
