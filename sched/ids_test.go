package sched

import (
	"math/rand/v2"
	"testing"

	"github.com/throng-dev/throng/crowd"
)

// An idTable does what a map does, whatever the ids are.
func TestIDTableAgreesWithAMap(t *testing.T) {
	t.Parallel()
	draws := map[string]func(*rand.Rand, int) crowd.BatchID{
		"counting up, the old ones go": func(r *rand.Rand, n int) crowd.BatchID { return crowd.BatchID(n/4 + r.IntN(30)) },
		"few":                          func(r *rand.Rand, _ int) crowd.BatchID { return crowd.BatchID(r.IntN(6)) },
		"all over":                     func(r *rand.Rand, _ int) crowd.BatchID { return crowd.BatchID(r.Uint64() >> 32 << r.IntN(32)) },
	}
	for name, draw := range draws {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			var table idTable
			want := map[crowd.BatchID]uint32{}
			most := 0
			for n := range 20_000 {
				id := draw(r, n)
				if r.IntN(2) == 0 {
					table.put(id, uint32(n))
					want[id] = uint32(n)
				} else {
					table.remove(id)
					delete(want, id)
				}
				if n%1000 < 990 { // a few rounds of clearing
					id = draw(r, n)
				}
				if got, ok := table.get(id); got != want[id] || ok != has(want, id) || table.used != len(want) {
					t.Fatalf("step %d: %d is %d, %t of %d; the map has %d, %t of %d", n, id, got, ok, table.used, want[id], has(want, id), len(want))
				}
				most = max(most, len(want))
			}
			for id, value := range want {
				if got, ok := table.get(id); !ok || got != value {
					t.Errorf("%d is %d, %t; the map has %d", id, got, ok, value)
				}
			}
			if most < 3 {
				t.Errorf("only %d ids at a time", most)
			}
		})
	}
}

func has(m map[crowd.BatchID]uint32, id crowd.BatchID) bool { _, ok := m[id]; return ok }
