package label

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Four observers, twelve units, answers missing: the example C of Krippendorff
// 2011, whose nominal α is .743. The last unit has one answer only.
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
	if a, ok := Alpha(b.Build()); !ok || !near(a, .743, .0005) {
		t.Errorf("α = %v, %v; want .743", a, ok)
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
			if a, ok := Alpha(tt.d); ok != tt.ok || !near(a, tt.alpha, 1e-12) {
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
		a, ok := Alpha(d)
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
