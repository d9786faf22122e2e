package sched_test

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/sched"
)

// TestEveryPolicyDecidesAsItsFormula compares every decision with that of the
// plain policy, in worlds where batches come, change and go.
func TestEveryPolicyDecidesAsItsFormula(t *testing.T) {
	t.Parallel()
	names := slices.Sorted(maps.Keys(plains(nil)))
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			worlds(t, 20, 1500, func(t *testing.T, seed uint64) (seen int) {
				w := newWorld(seed)
				w.mute = seed%2 == 0
				fast, slow := parse(t, name), plains(w.turns)[name]()
				w.feed(fast)
				for range 300 {
					if w.IntN(2) == 0 {
						w.step()
						continue
					}
					p := w.person()
					got, want := fast.Next(epoch, p), slow.next(w.open, &person{last: p.last, classes: p.classes, refuses: p.refuses})
					if got != want {
						t.Errorf("hand-out %d: got %v, want %v", w.handouts, got, want)
						return seen
					}
					if got != 0 {
						w.handOut(got)
						seen++
					}
				}
				return seen
			})
		})
	}
}

func parse(t *testing.T, text string) sched.Policy {
	t.Helper()
	p, err := sched.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestBetaFairHandsOutWhereEquation1IsGreatest computes J_β of eq. 1 for every
// eligible batch: for integer β the sum is exact, and the choice must be the best
// or its exact equal; for others, best but for rounding. Among batches with equal
// (x, δ) the turn and the id decide.
func TestBetaFairHandsOutWhereEquation1IsGreatest(t *testing.T) {
	t.Parallel()
	texts := map[string]float64{"-inf": math.Inf(-1), "-3": -3, "-1": -1, "0": 0, "0.5": 0.5, "1": 1, "1.5": 1.5, "2": 2, "5": 5,
		"-8": -8, "-6.5": -6.5, "1e-9": 1e-9, "0.99": 0.99, "9": 9}
	for text, beta := range texts {
		for x, f := range xfuncs {
			name := "beta-fair(beta=" + text + ",x=" + x + ")"
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				worlds(t, 6, 300, func(t *testing.T, seed uint64) int { return checkBeta(t, seed, name, beta, f) })
			})
		}
	}
}

func checkBeta(t *testing.T, seed uint64, name string, beta float64, f xfunc) (seen int) {
	w := newWorld(seed)
	fast := parse(t, name)
	w.feed(fast)
	for range 200 {
		if w.IntN(2) == 0 {
			w.step()
			continue
		}
		p := w.person()
		got := fast.Next(epoch, p)
		eligible := slices.DeleteFunc(slices.Clone(w.open), func(b sched.Batch) bool {
			return !b.Assignable || !p.classes[b.Class] || p.refuses[b.ID]
		})
		if got == 0 {
			if len(eligible) > 0 {
				t.Errorf("handed out nothing of %d eligible batches", len(eligible))
				return seen
			}
			continue
		}
		chosen := w.open[w.position(got)]
		for _, b := range eligible {
			if betaBetter(w.open, b, chosen, beta, f) {
				t.Errorf("hand-out %d: got %v, but %v is better", w.handouts, got, b.ID)
				return seen
			}
		}
		w.handOut(got)
		seen++
	}
	return seen
}

// betaBetter reports whether handing out from a is clearly better than from b.
func betaBetter(open []sched.Batch, a, b sched.Batch, beta float64, f xfunc) bool {
	xa, da := f(a)
	xb, db := f(b)
	tie := cmp.Or(cmp.Compare(a.Turn, b.Turn), cmp.Compare(a.ID, b.ID)) < 0
	if xa == xb && da == db {
		return tie
	}
	if beta >= 1 && slices.ContainsFunc(open, func(b sched.Batch) bool { x, _ := f(b); return x == 0 }) {
		zero := func(x float64) int { return map[bool]int{true: 0, false: 1}[x == 0] }
		if c := cmp.Or(zero(xa)-zero(xb), cmp.Compare(da, db)); c != 0 {
			return c < 0
		}
		return tie
	}
	ra, rb := raised(open, a.ID, f), raised(open, b.ID, f)
	if beta == math.Trunc(beta) && beta != 0 && beta != 1 && !math.IsInf(beta, 0) {
		sa, sb := equation1Sum(ra, int(1-beta)), equation1Sum(rb, int(1-beta))
		return sa.Cmp(sb) < 0 && !nearly(sa, sb) // for β < 0 and for β > 1 the least sum is best
	}
	ja, jb := equation1(ra, beta), equation1(rb, beta)
	return ja-jb > 1e-12*math.Abs(jb)
}

// nearly allows for what rounding may do to two sums of eq. 1.
func nearly(a, b *big.Rat) bool {
	q, _ := new(big.Rat).Quo(a, b).Float64()
	return math.Abs(q-1) < 1e-15
}

// equation1Sum is Σ (x_b/S)^n for an integer n, exactly.
func equation1Sum(x []*big.Rat, n int) *big.Rat {
	total, out := new(big.Rat), new(big.Rat)
	for _, v := range x {
		total.Add(total, v)
	}
	for _, v := range x {
		q := new(big.Rat).Quo(v, total)
		if n < 0 {
			q.Inv(q)
		}
		power := big.NewRat(1, 1)
		for range max(n, -n) {
			power.Mul(power, q)
		}
		out.Add(out, power)
	}
	return out
}

// equation1 is J_β, or what its limits compare.
func equation1(x []*big.Rat, beta float64) float64 {
	total := new(big.Rat)
	for _, v := range x {
		total.Add(total, v)
	}
	sum, greatest := 0.0, 0.0
	for _, v := range x {
		p, _ := new(big.Rat).Quo(v, total).Float64()
		greatest = max(greatest, p)
		switch {
		case beta == 0 && p > 0:
			sum -= p * math.Log(p)
		case beta == 1:
			sum += math.Log(p)
		case beta != 0 && p > 0:
			sum += math.Pow(p, 1-beta)
		}
	}
	switch {
	case math.IsInf(beta, -1):
		return 1 / greatest
	case beta == 0:
		return math.Exp(sum)
	case beta == 1:
		return sum
	}
	return math.Copysign(math.Pow(sum, 1/beta), 1-beta)
}

// TestScoresAreExactButForRounding compares the scores of Key with ln(Σ'/Σ) of eq. 1, worked
// out in rational numbers, for the powers up to 6: where one batch has nearly all of the sum
// and loses most of it, a score is rounded by 4·2^|1-β| units of 2^-53 at most.
func TestScoresAreExactButForRounding(t *testing.T) {
	t.Parallel()
	for _, beta := range []int{2, 3, 4, 5, 6, 7} {
		rnd := rand.New(rand.NewPCG(1, uint64(beta)))
		seen := 0
		for range 300 {
			p := parse(t, fmt.Sprintf("beta-fair(beta=%d,x=wfs-ratio)", beta))
			var batches []sched.Batch
			var before []*big.Rat
			for i := range 2 + rnd.IntN(4) {
				b := batch(crowd.BatchID(i+1), 6+int(math.Exp(12*rnd.Float64())), 1+rnd.IntN(3))
				p.Set(&b)
				x, _ := xWFSRatio(b)
				batches, before = append(batches, b), append(before, rat(x))
			}
			was := equation1Sum(before, 1-beta)
			for _, b := range batches {
				k, _ := p.Key(b.ID)
				at := slices.IndexFunc(k.Figures, func(f sched.Figure) bool { return f.Name == "score" })
				grown := new(big.Rat).Quo(equation1Sum(raised(batches, b.ID, xWFSRatio), 1-beta), was)
				if q, _ := grown.Float64(); q < 0.6 {
					seen++
				}
				want := -logRat(grown)
				if got := float64(k.Figures[at].Value); math.Abs(got-want) > math.Ldexp(1, beta+1-53) {
					t.Errorf("beta %d, batch %v of %d: the score is %v, want %v", beta, b.ID, len(batches), got, want)
				}
			}
		}
		if seen < 50 {
			t.Errorf("beta %d: %d batches lost two fifths of the sum, want 50 at least", beta, seen)
		}
	}
}

// TestJInTheKeyIsEquation1 compares J after an assignment, as Key prints it, with
// eq. 1 in exact arithmetic: where one batch has nearly all of the sum and loses
// it, and where the powers themselves are far beyond float64.
func TestJInTheKeyIsEquation1(t *testing.T) {
	t.Parallel()
	batches := []sched.Batch{batch(1, 1_000_000, 1), batch(2, 10, 7), batch(3, 1000, 1), batch(4, 9, 9)}
	for _, beta := range []int{-200, -60, -1, 2, 60, 200} {
		p := parse(t, fmt.Sprintf("beta-fair(beta=%d)", beta))
		for _, b := range batches {
			p.Set(&b)
		}
		for _, b := range batches {
			k, _ := p.Key(b.ID)
			at := slices.IndexFunc(k.Figures, func(f sched.Figure) bool { return f.Name == "J" })
			sum := equation1Sum(raised(batches, b.ID, xWFSRatio), 1-beta)
			want := math.Copysign(math.Exp(logRat(sum)/float64(beta)), float64(1-beta))
			if got := float64(k.Figures[at].Value); math.Abs(got/want-1) > 1e-12 {
				t.Errorf("beta %d, batch %v: J = %v, want %v", beta, b.ID, got, want)
			}
		}
	}
}

// TestNearZeroTheIndexIsThatOfEquation1: β → 0 is a limit that is taken for no β from which J_β can be
// told. At β = 2^-12, on either side, J differs from its limit in the fourth digit, and the choice
// may differ, too.
func TestNearZeroTheIndexIsThatOfEquation1(t *testing.T) {
	t.Parallel()
	batches := []sched.Batch{batch(1, 1_000_000, 1), batch(2, 10, 7), batch(3, 1000, 1), batch(4, 9, 3)}
	for _, beta := range []float64{0x1p-12, -0x1p-12, 1e-4, -1e-4, 1e-6, -1e-6} {
		p := parse(t, fmt.Sprintf("beta-fair(beta=%v,x=wfs-ratio)", beta))
		for _, b := range batches {
			p.Set(&b)
		}
		for _, b := range batches {
			k, _ := p.Key(b.ID)
			at := slices.IndexFunc(k.Figures, func(f sched.Figure) bool { return f.Name == "J" })
			after := raised(batches, b.ID, xWFSRatio)
			want, limit := equation1(after, beta), equation1(after, 0)
			// The power of 1/β makes of the rounding of a sum 1/|β| times as much.
			allowed := 0x1p-50 / math.Abs(beta)
			if math.Abs(limit/want-1) < 10*allowed {
				t.Fatalf("β %v, batch %v: J = %v is not told from its limit %v", beta, b.ID, want, limit)
			}
			if got := float64(k.Figures[at].Value); math.Abs(got/want-1) > allowed {
				t.Errorf("β %v, batch %v: J = %v, want %v; for β → 0 it is %v", beta, b.ID, got, want, limit)
			}
		}
	}
}

// logRat is ln of a number that may be far beyond float64.
func logRat(r *big.Rat) float64 {
	mantissa := new(big.Float)
	exponent := new(big.Float).SetPrec(200).SetRat(r).MantExp(mantissa)
	m, _ := mantissa.Float64()
	return math.Log(m) + float64(exponent)*math.Ln2
}
