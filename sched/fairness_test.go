package sched_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/sched"
)

// TestSpreadAfterLargerOnes: what is small is told exactly after much that was larger has
// come and gone, also when nothing was left in between.
func TestSpreadAfterLargerOnes(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for _, least := range []float64{1e-3, 1e-7} {
		for _, always := range []bool{true, false} {
			var s sched.Spread
			small := []float64{least, 3 * least}
			if always {
				s.Add(small[0])
				s.Add(small[1])
			}
			for range 100_000 {
				xs := []float64{9 * r.Float64(), 9 * r.Float64()}
				for _, x := range xs {
					s.Add(x)
				}
				for _, x := range xs {
					s.Drop(x)
				}
			}
			if !always {
				s.Add(small[0])
				s.Add(small[1])
			}
			if jain, jinf := s.Jain(), s.JInf(least); math.Abs(jain-0.8) > 1e-9 || math.Abs(jinf+4) > 1e-9 {
				t.Errorf("of %v, always there (%t): Jain %g, J∞ %g", small, always, jain, jinf)
			}
		}
	}
}

// TestSpread compares the sums with the definitions, whatever was added and dropped
// before.
func TestSpread(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	var s sched.Spread
	var xs []float64
	all, some, none := 0, 0, 0
	for range 20_000 {
		if n := len(xs); n > 0 && (n > 8 || r.IntN(2) == 0) {
			i := r.IntN(n)
			s.Drop(xs[i])
			xs = slices.Delete(xs, i, i+1)
		} else {
			x := sched.Workforce(r.IntN(3), r.IntN(5), []float64{0.5, 1, 3}[r.IntN(3)])
			s.Add(x)
			xs = append(xs, x)
		}
		sum, squares, idle := 0.0, 0.0, 0
		for _, x := range xs {
			sum, squares = sum+x, squares+x*x
			if x == 0 {
				idle++
			}
		}
		jain, jinf := sched.Fairness(xs)
		switch {
		case len(xs) == idle:
			none++
			if !math.IsNaN(s.Jain()) || !math.IsNaN(jain) || (len(xs) == 0) != math.IsNaN(jinf) {
				t.Fatalf("of %v: Jain %g and %g, J∞ %g", xs, s.Jain(), jain, jinf)
			}
			continue
		case idle > 0:
			some++
			if !math.IsInf(jinf, -1) || !math.IsInf(s.JInf(0), -1) || s.AllServed() {
				t.Fatalf("of %v: J∞ %g and %g", xs, jinf, s.JInf(0))
			}
		default:
			all++
			least := slices.Min(xs)
			if want := -sum / least; math.Abs(jinf-want) > 1e-9*-want || math.Abs(s.JInf(least)-want) > 1e-9*-want || !s.AllServed() || jinf > -float64(len(xs))+1e-9 {
				t.Fatalf("of %v: J∞ %g and %g, want %g", xs, jinf, s.JInf(least), want)
			}
		}
		if want := sum * sum / float64(len(xs)) / squares; math.Abs(jain-want) > 1e-9 || math.Abs(s.Jain()-want) > 1e-9 {
			t.Fatalf("of %v: Jain %g and %g, want %g", xs, jain, s.Jain(), want)
		}
	}
	if all < 100 || some < 100 || none < 100 {
		t.Errorf("looked at %d, %d and %d", all, some, none)
	}
}

func TestDueByHand(t *testing.T) {
	t.Parallel()
	const much = 1000
	for what, c := range map[string]struct {
		people float64
		claims []sched.Claim
		want   []float64
	}{
		"nothing is wanted":                     {5, nil, nil},
		"tenants by weight, batches by P":       {12, []sched.Claim{{1, 2, 1, much}, {1, 2, 3, much}, {2, 1, 1, much}}, []float64{2, 6, 4}},
		"splitting gains nothing":               {12, []sched.Claim{{1, 1, 1, much}, {1, 1, 1, much}, {2, 1, 1, much}}, []float64{3, 3, 6}},
		"what a tenant cannot use is left":      {12, []sched.Claim{{1, 1, 1, 2}, {2, 1, 1, much}, {3, 1, 1, much}}, []float64{2, 5, 5}},
		"what a batch cannot use, its tenant's": {12, []sched.Claim{{1, 1, 9, 1}, {1, 1, 1, much}, {2, 1, 1, much}}, []float64{1, 5, 6}},
		"more people than are wanted":           {12, []sched.Claim{{1, 1, 1, 3}, {2, 7, 1, 4}}, []float64{3, 4}},
		"nobody is there":                       {0, []sched.Claim{{1, 1, 1, 3}}, []float64{0}},
	} {
		got := sched.Due(c.people, c.claims)
		if !slices.EqualFunc(got, c.want, func(x, y float64) bool { return math.Abs(x-y) < 1e-9 }) {
			t.Errorf("%s: %v, want %v", what, got, c.want)
		}
	}
}

// TestDueIsMaxMinFair: all that can be used is given, nobody gets more than they want,
// and who gets less has no less, by weight, than anybody else.
func TestDueIsMaxMinFair(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	short := 0
	for range 3000 {
		claims := make([]sched.Claim, 1+r.IntN(8))
		weights := []float64{0.001, 1, 2, 1e6}
		wanted, sum := 0, 0.0
		byTenant := map[crowd.TenantID]crowd.TenantID{}
		for i := range claims {
			id := crowd.TenantID(1 + r.IntN(4))
			byTenant[id] = id
			claims[i] = sched.Claim{Tenant: id, TenantWeight: weights[id-1], Priority: weights[r.IntN(4)], Wanted: r.IntN(20)}
			wanted += claims[i].Wanted
		}
		people := float64(r.IntN(40))
		due := sched.Due(people, claims)
		part, want := map[crowd.TenantID]float64{}, map[crowd.TenantID]float64{}
		for i, c := range claims {
			if due[i] < 0 || due[i] > float64(c.Wanted)+1e-6 {
				t.Fatalf("%+v is due %g", c, due[i])
			}
			sum += due[i]
			part[c.Tenant] += due[i]
			want[c.Tenant] += float64(c.Wanted)
		}
		if math.Abs(sum-min(people, float64(wanted))) > 1e-6 {
			t.Fatalf("%g of %g people are given to %+v", sum, people, claims)
		}
		for id := range byTenant {
			for other := range byTenant {
				if part[id] < want[id]-1e-6 && part[id]/weights[id-1] < part[other]/weights[other-1]*(1-1e-6)-1e-9 {
					t.Fatalf("tenant %s has %g, tenant %s %g of %g people: %+v", id, part[id], other, part[other], people, claims)
				}
			}
		}
		for i, c := range claims {
			for k, d := range claims {
				if c.Tenant == d.Tenant && due[i] < float64(c.Wanted)-1e-6 && due[i]/c.Priority < due[k]/d.Priority*(1-1e-6)-1e-9 {
					t.Fatalf("batch %d has %g, batch %d %g: %+v", i, due[i], k, due[k], claims)
				}
				if due[i] < float64(c.Wanted)-1e-6 {
					short++
				}
			}
		}
	}
	if short == 0 {
		t.Error("nobody was short of anything")
	}
}
