package sched

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestExactSumsWithoutRounding compares with big.Float, at every exponent of the
// domain, and takes everything away again in another order.
func TestExactSumsWithoutRounding(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		var s exact
		want := new(big.Float).SetPrec(2000)
		var terms []float64
		for range 1 + random.IntN(20) {
			f := math.Ldexp(1+random.Float64(), random.IntN(63+108)-108)
			terms = append(terms, f)
			s.add(f)
			want.Add(want, big.NewFloat(f))
		}
		if got, _ := want.Float64(); s.float() != got {
			t.Fatalf("%v: got %v, want %v", terms, s.float(), got)
		}
		if s.big().Cmp(want) != 0 {
			t.Fatalf("%v: got %v, want %v", terms, s.big(), want)
		}
		slices.Sort(terms)
		for _, f := range terms {
			s.sub(f)
		}
		if s != (exact{}) {
			t.Fatalf("%v: %v is left", terms, s)
		}
	}
}

// TestExactRoundsOnce: what lies far below the last bit kept still decides a half.
func TestExactRoundsOnce(t *testing.T) {
	t.Parallel()
	var s exact
	s.add(1)
	s.add(0x1p-53)
	if got := s.float(); got != 1 {
		t.Errorf("half a bit: got %v, want 1, the even one", got)
	}
	s.add(0x1p-100)
	if got := s.float(); got != 1+0x1p-52 {
		t.Errorf("a little more than half a bit: got %v, want the next number", got)
	}
}

// TestTermSumsDependOnTheFiguresAlone walks through random figures of a batch and
// compares the kept sum with a fresh one.
func TestTermSumsDependOnTheFiguresAlone(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(2, 2))
	kept := workforce{form: formDAFS, f: log1p}
	for range 5000 {
		planned := 1 + random.Uint32N(30)
		r := record{priority: 1, planned: planned, completed: random.Uint32N(planned), running: random.Uint32N(35), production: true}
		fresh := workforce{form: formDAFS, f: log1p}
		gotX, gotDelta := kept.at(0, &r)
		wantX, wantDelta := fresh.at(0, &r)
		if gotX != wantX || gotDelta != wantDelta {
			t.Fatalf("%+v: got %v, %v, want %v, %v", r, gotX, gotDelta, wantX, wantDelta)
		}
	}
}

// TestComparisonInDoubtIsExact: J∞ of two choices that differ by less than
// floating point can tell.
func TestComparisonInDoubtIsExact(t *testing.T) {
	t.Parallel()
	// S = x_a + x_b with x_a = 1, x_b = 2, δ_a = 1: m_a = 2, J_a = -(3+1)/2 = -2.
	// Raising b by d gives J_b = -(3+d)/1, equal to J_a only for d = -1; so take
	// second = 1+ε: m_a = 1+ε, J_a = -4/(1+ε), and J_b = -(3+d), equal at
	// d = (1-3ε)/(1+ε); just next to it, d = 1-4ε, J_b = -(4-4ε) > J_a by 4ε² relative.
	eps := 0x1p-30
	p := &maxmin{}
	p.sum.add(3)
	c := component{x: 1, delta: 1}
	for name, test := range map[string]struct {
		delta float64
		want  int
	}{
		// (S+d)·m_a - (S+δ_a)·x_a = (4-4ε)(1+ε) - 4 = -4ε² < 0: raising the other is better.
		"other better": {1 - 4*eps, -1},
		// d + 2^-53·4 (4 ulp): (4-4ε+2^-51)(1+ε) - 4 ≈ 2^-51 - 2^-58 > 0.
		"self better": {1 - 4*eps + 0x1p-51, 1},
	} {
		if got := p.compareJ(c, 1+eps, test.delta); got != test.want {
			t.Errorf("%s: got %d, want %d", name, got, test.want)
		}
	}
	if got := p.compareJ(component{x: 1, delta: 0}, 5, 0); got != 0 {
		t.Errorf("equal: got %d, want 0", got)
	}
}
