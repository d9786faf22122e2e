package authors

import (
	"cmp"
	"maps"
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
	all := make([]*batch, 300)
	for i := range all {
		all[i] = &batch{id: crowd.BatchID(i*7919%1000 - 500)}
	}
	want := make(map[*batch]uint64) // the keys of the candidates
	moved := 0
	for range 20_000 {
		b, candidate := all[random.IntN(len(all))], random.IntN(3) > 0
		key := uint64(random.IntN(40))
		if _, there := want[b]; there {
			moved++
			delete(want, b)
		}
		if candidate {
			want[b] = key
		}
		s.place(b, candidate, key)
		list := slices.SortedFunc(maps.Keys(want), func(a, b *batch) int {
			return cmp.Or(cmp.Compare(want[a], want[b]), cmp.Compare(a.id, b.id))
		})
		if len(s.order) != len(list) {
			t.Fatalf("%d candidates, want %d", len(s.order), len(list))
		}
		limit := uint64(random.IntN(42))
		below := 0
		for place, b := range list {
			if s.order[place].batch != b || s.rank(b) != place {
				t.Fatalf("place %d: batch %d at rank %d, want batch %d", place, s.order[place].id, s.rank(b), b.id)
			}
			if want[b] < limit {
				below++
			}
		}
		if s.below(limit) != below {
			t.Fatalf("key %d: %d below it, want %d", limit, s.below(limit), below)
		}
	}
	if moved < 5000 {
		t.Errorf("moved %d times only", moved)
	}
}
