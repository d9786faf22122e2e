package label

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Four observers, twelve units, answers missing: the example C of Krippendorff
// 2011, with the α of its sections C and E. The last unit has one answer only.
func TestAlphaOnKrippendorffsExample(t *testing.T) {
	t.Parallel()
	var b Builder
	for j, answers := range []string{"123321412...", "1233224125.3", ".333234 2251.", "1233244125 1."} {
		unit := 0
		for _, c := range answers {
			switch c {
			case ' ':
				continue
			case '.':
			default:
				b.Add(Answer{fmt.Sprint("u", unit), fmt.Sprint("w", j), string(c)})
			}
			unit++
		}
		if unit != 12 {
			t.Fatalf("observer %d has %d units", j, unit)
		}
	}
	for scale, want := range map[Scale]float64{Nominal: .743, Ordinal: .815, Interval: .849} {
		if a, ok := Alpha(b.Build(), scale); !ok || !near(a, want, .0005) {
			t.Errorf("%s α = %v, %v; want %v", scale, a, ok, want)
		}
	}
}

// The definition, pair by pair, with the difference of an ordinal scale as
// Krippendorff writes it: a class that stands between two others counts by how
// often it is answered, whatever its number.
func TestOrdinalAlphaIsItsDefinition(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var b Builder
		times := make(map[int]float64)
		var units [][]int
		for i, unit := range rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(1, 11), 1, 6), 1, 12).Draw(t, "units") {
			for j, x := range unit {
				b.Add(Answer{fmt.Sprint("u", i), fmt.Sprint("w", j), fmt.Sprint(x)})
			}
			if len(unit) > 1 {
				units = append(units, unit)
				for _, x := range unit {
					times[x]++
				}
			}
		}
		square := func(c, k int) float64 {
			c, k = min(c, k), max(c, k)
			sum := -(times[c] + times[k]) / 2
			for g := c; g <= k; g++ {
				sum += times[g]
			}
			return sum * sum
		}
		n, observed, expected := 0.0, 0.0, 0.0
		for _, unit := range units {
			n += float64(len(unit))
			for _, x := range unit {
				for _, y := range unit {
					observed += square(x, y) / float64(len(unit)-1)
				}
			}
		}
		for c := range times {
			for k := range times {
				expected += times[c] * times[k] * square(c, k)
			}
		}
		a, ok := Alpha(b.Build(), Ordinal)
		if ok != (expected > 0) || ok && !near(a, 1-(n-1)*observed/expected, 1e-9) {
			t.Fatalf("α = %v, %v; by the definition %v", a, ok, 1-(n-1)*observed/expected)
		}
	})
}

// Neighbouring points of a scale are nearly agreement, its two ends are not; to
// nominal α both are the same.
func TestOrdinalAlphaKnowsNeighbours(t *testing.T) {
	t.Parallel()
	pairs := func(answers ...string) *Dataset {
		var b Builder
		for i, x := range answers {
			b.Add(Answer{fmt.Sprint("t", i/2), fmt.Sprint("w", i%2), x})
		}
		return b.Build()
	}
	near, far := pairs("1", "2", "4", "5", "1", "1", "5", "5"), pairs("1", "5", "4", "2", "1", "1", "5", "5")
	for scale, same := range map[Scale]bool{Nominal: true, Ordinal: false, Interval: false} {
		a, _ := Alpha(near, scale)
		b, _ := Alpha(far, scale)
		if (a == b) != same || a < b {
			t.Errorf("%s α: %v of neighbours, %v of opposites", scale, a, b)
		}
	}
	for name, d := range map[string]*Dataset{"a text": pairs("1", "good", "2", "2"), "one point": pairs("3", "3.0", "3", "3"), "a fraction": pairs("0.1", "0.1", "0.1", "0.1", "0.1", "0.1"), "no end": pairs("inf", "inf", "inf", "inf")} {
		for _, scale := range []Scale{Ordinal, Interval} {
			if a, ok := Alpha(d, scale); a != 0 || ok {
				t.Errorf("%s α with %s: %v, %v", scale, name, a, ok)
			}
		}
	}
}

func TestAlphaSmallCases(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		d      *Dataset
		alpha  float64
		ok     bool
		same   float64
		sameOK bool
	}{
		"perfect agreement is 1": {
			build([3]string{"t1", "a", "x"}, [3]string{"t1", "b", "x"}, [3]string{"t2", "a", "y"}, [3]string{"t2", "b", "y"}), 1, true, 1, true},
		"one class only is not defined": {
			build([3]string{"t1", "a", "x"}, [3]string{"t1", "b", "x"}), 0, false, 1, true},
		"one answer a task is not defined": {
			build([3]string{"t1", "a", "x"}, [3]string{"t2", "b", "y"}), 0, false, 0, false},
		// n = 4, all o_kk = 0, n_x = n_y = 2: 1 − (1−0)/(1−4/12) = −.5
		"regular disagreement is below 0": {
			build([3]string{"t1", "a", "x"}, [3]string{"t1", "b", "y"}, [3]string{"t2", "a", "y"}, [3]string{"t2", "b", "x"}), -.5, true, 0, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if a, ok := Alpha(tt.d, Nominal); ok != tt.ok || !near(a, tt.alpha, 1e-12) {
				t.Errorf("α = %v, %v; want %v, %v", a, ok, tt.alpha, tt.ok)
			}
			if s, ok := Unanimity(tt.d); ok != tt.sameOK || s != tt.same {
				t.Errorf("unanimity %v, %v; want %v, %v", s, ok, tt.same, tt.sameOK)
			}
		})
	}
}

// α is 1 exactly where it is defined and all tasks are unanimous.
func TestAlphaIsOneOnPerfectAgreement(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := anyWorld.Draw(t, "world").dataset()
		a, ok := Alpha(d, Nominal)
		same, _ := Unanimity(d)
		if ok && (near(a, 1, 1e-12) != (same == 1) || a > 1+1e-12) {
			t.Fatalf("α = %v where %v of the tasks are unanimous", a, same)
		}
	})
}

func TestEntropy(t *testing.T) {
	t.Parallel()
	d := build([3]string{"t1", "a", "x"}, [3]string{"t1", "b", "x"}, [3]string{"t2", "a", "x"}, [3]string{"t2", "b", "y"})
	r := fit(t, Majority{}, d, nil)
	if r.Entropy(0) != 0 || !near(r.Entropy(1), math.Ln2, 1e-15) {
		t.Errorf("entropies %v, %v; want 0, ln 2", r.Entropy(0), r.Entropy(1))
	}
}
