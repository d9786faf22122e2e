package label

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// Counted answer by answer, α is what it is at once.
func TestCoincidencesAreAlpha(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 2))
		classes := 1 + rng.IntN(5)
		c, err := NewCoincidences(classes)
		if err != nil {
			t.Fatal(err)
		}
		at := make([]float64, classes)
		for k := range at {
			at[k] = float64(k)
		}
		tasks := make([][]Class, 6)
		for range 200 {
			i := rng.IntN(len(tasks))
			before := append([]Class(nil), tasks[i]...)
			if len(tasks[i]) > 0 && rng.IntN(3) == 0 {
				tasks[i] = tasks[i][:len(tasks[i])-1]
			} else {
				tasks[i] = append(tasks[i], Class(rng.IntN(classes)))
			}
			c.Change(before, tasks[i])
		}
		var b Builder
		for k := range classes {
			b.Class(fmt.Sprint(k))
		}
		for i, answers := range tasks {
			for j, k := range answers {
				b.Add(Answer{fmt.Sprint("t", i), fmt.Sprint("w", 100+j), fmt.Sprint(k)})
			}
		}
		d := b.Build()
		for scale, at := range map[Scale][]float64{Nominal: nil, Interval: at} {
			want, wantOK := Alpha(d, scale)
			got, ok := c.Alpha(at)
			if ok != wantOK || !near(got, want, 1e-9) {
				t.Fatalf("seed %d, %s: α %v, %t counted, %v, %t at once", seed, scale, got, ok, want, wantOK)
			}
		}
	}
	if _, err := NewCoincidences(0); err == nil {
		t.Error("no class is taken")
	}
}

func TestAlphaIntervalOnPublicData(t *testing.T) {
	t.Parallel()
	p := readPool(t, "dog")
	alpha, low, high, ok := AlphaInterval(p.Dataset, Nominal)
	again, low2, high2, _ := AlphaInterval(p.Dataset, Nominal)
	if !ok || !(low < alpha && alpha < high) || high-low > .1 || again != alpha || low2 != low || high2 != high {
		t.Errorf("α %v from %v to %v", alpha, low, high)
	}
	t.Logf("α %.4f from %.4f to %.4f", alpha, low, high)
	if _, _, _, ok := AlphaInterval(build([3]string{"t", "a", "x"}), Nominal); ok {
		t.Error("one answer has an α")
	}
}

// Worlds of raters of a known agreement: the bounds hold what many tasks give nearly as
// often as they say.
func TestAlphaIntervalCoverage(t *testing.T) {
	t.Parallel()
	world := func(seed uint64, tasks int) *Dataset {
		rng := rand.New(rand.NewPCG(seed, 3))
		var b Builder
		for i := range tasks {
			truth := rng.IntN(3)
			for j := range 4 {
				k := truth
				if rng.Float64() < .35 {
					k = rng.IntN(3)
				}
				b.Add(Answer{fmt.Sprint("t", i), fmt.Sprint("w", j), fmt.Sprint(k)})
			}
		}
		return b.Build()
	}
	want, _ := Alpha(world(1000, 50_000), Nominal)
	inside := 0
	const worlds = 100
	for seed := range uint64(worlds) {
		if _, low, high, ok := AlphaInterval(world(seed, 80), Nominal); ok && low <= want && want <= high {
			inside++
		}
	}
	if inside < 87 || inside == worlds {
		t.Errorf("%d of %d intervals hold %.3f", inside, worlds, want)
	}
	t.Logf("%d of %d intervals hold %.3f", inside, worlds, want)
}

// Cohen's κ: 20 of 50 both yes, 15 both no; .7 observed, .5 by chance.
func TestKappa(t *testing.T) {
	t.Parallel()
	var b Builder
	n := 0
	for pair, times := range map[[2]string]int{{"yes", "yes"}: 20, {"yes", "no"}: 5, {"no", "yes"}: 10, {"no", "no"}: 15} {
		for range times {
			b.Add(Answer{fmt.Sprint("t", n), "a", pair[0]})
			b.Add(Answer{fmt.Sprint("t", n), "b", pair[1]})
			n++
		}
	}
	b.Add(Answer{"t0", "c", "yes"})
	list, err := PairAgreements(b.Build(), 2)
	if err != nil || len(list) != 1 || !near(list[0].Kappa, .4, 1e-12) || list[0].Tasks != 50 || list[0].Same != 35 || !list[0].KappaOK {
		t.Errorf("%v %+v, want κ .4 of 50 tasks", err, list)
	}
	same, _ := PairAgreements(build([3]string{"t", "a", "x"}, [3]string{"t", "b", "x"}), 1)
	if len(same) != 1 || same[0].KappaOK {
		t.Errorf("where chance agrees perfectly κ is %+v", same)
	}
}

func BenchmarkCoincidences1M(b *testing.B) {
	answers, _ := synthetic(200_000, 5_000, 10)
	d := buildAll(answers)
	c, _ := NewCoincidences(10)
	for i := range d.Tasks() {
		_, labels := d.Answers(i)
		c.Change(nil, labels)
	}
	_, labels := d.Answers(0)
	for b.Loop() {
		c.Change(labels, labels[1:])
		c.Change(labels[1:], labels)
		if _, ok := c.Alpha(nil); !ok {
			b.Fatal()
		}
	}
}
