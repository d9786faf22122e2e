package authors

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRanksAreASortedList compares two trees over one memory with sorted slices.
func TestRanksAreASortedList(t *testing.T) {
	t.Parallel()
	type item struct {
		key  uint64
		slot uint32
	}
	random := rand.New(rand.NewPCG(1, 1))
	var k ranks
	var roots [2]tree
	var want [2][]item
	idOf := func(slot uint32) int64 { return int64(slot*7919%1000) - 500 }
	order := func(a, b item) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(idOf(a.slot), idOf(b.slot))) }
	moved, depth := 0, 0
	for range 20_000 {
		slot, which := random.Uint32N(300), random.IntN(2)
		in := -1
		for i := range want {
			if at := slices.IndexFunc(want[i], func(x item) bool { return x.slot == slot }); at >= 0 {
				in = i
				want[i] = slices.Delete(want[i], at, at+1)
			}
		}
		if k.has(slot) != (in >= 0) {
			t.Fatalf("slot %d: has says %t", slot, k.has(slot))
		}
		if in >= 0 {
			k.remove(&roots[in], slot)
			moved++
		}
		if in < 0 || random.IntN(3) > 0 {
			it := item{uint64(random.IntN(40)), slot}
			k.insert(&roots[which], slot, it.key, idOf(slot))
			at, _ := slices.BinarySearchFunc(want[which], it, order)
			want[which] = slices.Insert(want[which], at, it)
		}
		root, list := roots[which], want[which]
		if k.size(root) != len(list) {
			t.Fatalf("size %d, want %d", k.size(root), len(list))
		}
		key := uint64(random.IntN(42))
		below := slices.IndexFunc(list, func(x item) bool { return x.key >= key })
		upTo := slices.IndexFunc(list, func(x item) bool { return x.key > key })
		for _, c := range [][2]int{{k.below(root, key), below}, {k.upTo(root, key), upTo}} {
			if c[1] < 0 {
				c[1] = len(list)
			}
			if c[0] != c[1] {
				t.Fatalf("key %d: %d keys before it, want %d", key, c[0], c[1])
			}
		}
		if len(list) > 0 {
			at := random.IntN(len(list))
			if got := k.at(root, at); got != list[at].slot || k.place(root, got) != at || k.key(got) != list[at].key {
				t.Fatalf("place %d: slot %d, want %d", at, got, list[at].slot)
			}
		}
		depth = max(depth, k.depth(t, root))
	}
	if moved < 5000 || depth > 30 {
		t.Errorf("moved %d times only, or the tree is %d deep", moved, depth)
	}
}

// depth also checks that the tree is a heap, to which it owes its depth.
func (k *ranks) depth(t *testing.T, root tree) int {
	if root == 0 {
		return 0
	}
	n := &k.nodes[root]
	for _, child := range []tree{n.left, n.right} {
		if child != 0 && k.nodes[child].weight > n.weight {
			t.Fatalf("node %d lies above %d, which is heavier", root, child)
		}
	}
	return 1 + max(k.depth(t, n.left), k.depth(t, n.right))
}
