package authors

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/throng-dev/throng/crowd"
)

// TestOrderOfCandidates compares the order with a list that is sorted after each
// change.
func TestOrderOfCandidates(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	var s batches
	want := make(map[uint32]uint64) // the keys of the candidates, by slot
	for id := range crowd.BatchID(300) {
		slot := s.slot(id)
		s.list[slot].id = id*7919%1000 - 500
	}
	moved := 0
	for range 20_000 {
		slot, candidate := random.Uint32N(300), random.IntN(3) > 0
		key := uint64(random.IntN(40))
		if _, there := want[slot]; there {
			moved++
			delete(want, slot)
		}
		if candidate {
			want[slot] = key
		}
		s.place(slot, candidate, key)
		list := make([]uint32, 0, len(want))
		for slot := range want {
			list = append(list, slot)
		}
		slices.SortFunc(list, func(a, b uint32) int {
			return cmp.Or(cmp.Compare(want[a], want[b]), cmp.Compare(s.list[a].id, s.list[b].id))
		})
		if s.candidates() != len(list) {
			t.Fatalf("%d candidates, want %d", s.candidates(), len(list))
		}
		limit := uint64(random.IntN(42))
		below, upTo := 0, 0
		for place, slot := range list {
			if s.at(place) != slot || s.rank(slot) != place {
				t.Fatalf("place %d: slot %d at rank %d, want slot %d", place, s.at(place), s.rank(slot), slot)
			}
			if want[slot] < limit {
				below++
			}
			if want[slot] <= limit {
				upTo++
			}
		}
		if s.below(limit) != below || s.upTo(limit) != upTo {
			t.Fatalf("key %d: %d below and %d up to it, want %d and %d", limit, s.below(limit), s.upTo(limit), below, upTo)
		}
	}
	if moved < 5000 {
		t.Errorf("moved %d times only", moved)
	}
}
