package sched

import (
	"cmp"
	"math"
	"math/big"
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

// TestSignedSums compares with big.Float: sign, rounding, and what rounding took.
func TestSignedSums(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(2, 2))
	sides := map[int]int{}
	for range 3000 {
		var s signedSum
		want := new(big.Float).SetPrec(2000)
		for range random.IntN(5) {
			f := math.Ldexp(random.Float64()-0.5, random.IntN(60)-40)
			s.add(f)
			want.Add(want, big.NewFloat(f))
		}
		near, _ := want.Float64()
		v := s.value()
		wantBeyond := new(big.Float).Neg(want).Cmp(big.NewFloat(-near))
		if s.float() != near || v.negated != -near || v.sign != want.Sign() || v.beyond != wantBeyond {
			t.Fatalf("%v: got %v, %v, %d, %d", want, s.float(), v.negated, v.sign, v.beyond)
		}
		sides[v.beyond]++
	}
	for _, side := range []int{-1, 0, 1} {
		if sides[side] < 100 {
			t.Errorf("-S lay on side %d of its rounding only %d times", side, sides[side])
		}
	}
}

// TestASumThatRoundsToAStepIsNotIt: S + d is 0 for no step d where -S only rounds
// to one, and the step lies on one side of it.
func TestASumThatRoundsToAStepIsNotIt(t *testing.T) {
	t.Parallel()
	p := &dafsCode{}
	for slot, step := range []float64{0.25, 0.5, 0.5, 0.75} {
		p.steps.insert(&p.kinds[plainKind], uint32(slot), fromSigned(step), int64(slot))
	}
	for name, c := range map[string]struct {
		sum        []float64
		less, more int
	}{
		"-S is the step":             {[]float64{-0.5}, 1, 3},
		"-S is a little more":        {[]float64{-0.5, -0x1p-80}, 3, 3},
		"-S is a little less":        {[]float64{-0.5, 0x1p-80}, 1, 1},
		"-S lies between the steps":  {[]float64{-0.6}, 3, 3},
		"-S is below all the steps":  {[]float64{0.25}, 0, 0},
		"-S is above all the steps":  {[]float64{-1}, 4, 4},
		"-S is 0, which is no step":  {nil, 0, 0},
		"-S is the greatest of them": {[]float64{-0.25, -0.5}, 3, 4},
	} {
		p.sum = signedSum{}
		for _, f := range c.sum {
			p.sum.add(f)
		}
		s := p.sum.value()
		if p.cut(&s, plainKind); s.less[plainKind] != c.less || s.more[plainKind] != c.more {
			t.Errorf("%s: below 0 up to %d, above from %d; want %d, %d", name, s.less[plainKind], s.more[plainKind], c.less, c.more)
		}
	}
}

// TestOptionsInDoubtAreComparedExactly: f = -S/m of two options that differ by less
// than floating point can tell, in S or in what m lost by rounding.
func TestOptionsInDoubtAreComparedExactly(t *testing.T) {
	t.Parallel()
	opt := func(m magnitude, terms ...float64) option {
		o := option{m: m}
		for _, f := range terms {
			o.s.add(f)
		}
		return o
	}
	third := magnitude{near: 1.0 / 3}
	for name, c := range map[string]struct {
		o, best option
		want    int
	}{
		"the same":                    {opt(third, -2), opt(third, -2), 0},
		"twice of both":               {opt(magnitude{near: 2.0 / 3}, -4), opt(third, -2), 0},
		"of the other sign":           {opt(third, 2), opt(third, -2), 0},
		"a little less S":             {opt(third, -2, 0x1p-100), opt(third, -2), 1},
		"a little more S":             {opt(third, -2, -0x1p-100), opt(third, -2), -1},
		"a little more m":             {opt(magnitude{1.0 / 3, 0x1p-70}, -2), opt(third, -2), 1},
		"a little less m":             {opt(magnitude{1.0 / 3, -0x1p-70}, -2), opt(third, -2), -1},
		"clearly less S":              {opt(third, -1), opt(third, -2), 1},
		"clearly more S":              {opt(third, -3), opt(third, -2), -1},
		"a positive S, a little less": {opt(third, 2, -0x1p-100), opt(third, -2), 1},
	} {
		if got := c.o.compare(&c.best, false); got != c.want {
			t.Errorf("%s: got %d, want %d", name, got, c.want)
		}
	}
	for _, c := range [][2]float64{{0.1, 0.2}, {-0.1, -0x1p-60}, {1, 0x1p-90}, {-3, -0.3}} {
		m := sumOf(c[0], c[1])
		want := new(big.Float).SetPrec(500).Add(big.NewFloat(c[0]), big.NewFloat(c[1]))
		got := new(big.Float).SetPrec(500).Add(big.NewFloat(m.near), big.NewFloat(m.rest))
		if got.Cmp(want.Abs(want)) != 0 || m.near < math.Abs(m.rest) {
			t.Errorf("|%v|: got %v", c, m)
		}
	}
}
