package label

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// synthetic makes 5 answers to each of the tasks, by workers whose accuracy is
// between .5 and .95 and who each err in a way of their own.
func synthetic(tasks, workers, classes int) (answers []Answer, truth map[string]string) {
	rng := rand.New(rand.NewPCG(1, 2))
	names := func(letter string, n int) []string {
		out := make([]string, n)
		for i := range out {
			out[i] = fmt.Sprint(letter, i)
		}
		return out
	}
	workerNames, classNames := names("w", workers), names("c", classes)
	accuracy := make([]float64, workers)
	for j := range accuracy {
		accuracy[j] = .5 + .45*rng.Float64()
	}
	truth = make(map[string]string, tasks)
	for _, task := range names("t", tasks) {
		right := rng.IntN(classes)
		truth[task] = classNames[right]
		first := rng.IntN(workers)
		for n := range 5 {
			j := (first + n*7919) % workers // distinct, as workers and 7919 have no common factor
			k := right
			if rng.Float64() > accuracy[j] {
				k = (right + 1 + j%(classes-1)) % classes
			}
			answers = append(answers, Answer{task, workerNames[j], classNames[k]})
		}
	}
	return answers, truth
}

func buildAll(answers []Answer) *Dataset {
	var b Builder
	for _, a := range answers {
		b.Add(a)
	}
	return b.Build()
}

// The bar is 1 s for 1M annotations.
func BenchmarkDawidSkene1M(b *testing.B) {
	for _, classes := range []int{2, 4, 10} {
		b.Run(fmt.Sprintf("classes=%d", classes), func(b *testing.B) {
			answers, known := synthetic(200_000, 5_000, classes)
			d := buildAll(answers)
			truth, err := d.Truth(known)
			if err != nil || d.Len() != 1_000_000 {
				b.Fatal(d.Len(), err)
			}
			m := exactly10()
			var r *Result
			for b.Loop() {
				r, _ = m.Fit(d, nil)
			}
			ds, _ := r.Accuracy(truth)
			mv, _ := fit(b, Majority{}, d, nil).Accuracy(truth)
			if ds <= mv {
				b.Fatalf("accuracy %.4f, of the vote %.4f: nothing was learned", ds, mv)
			}
			b.ReportMetric(ds, "accuracy")
			b.ReportMetric(mv, "vote-accuracy")
		})
	}
}

func BenchmarkBuild1M(b *testing.B) {
	answers, _ := synthetic(200_000, 5_000, 4)
	for b.Loop() {
		buildAll(answers)
	}
}

func BenchmarkMajority1M(b *testing.B) {
	answers, _ := synthetic(200_000, 5_000, 4)
	d := buildAll(answers)
	for b.Loop() {
		fit(b, Majority{}, d, nil)
	}
}

func BenchmarkAlpha1M(b *testing.B) {
	answers, _ := synthetic(200_000, 5_000, 4)
	d := buildAll(answers)
	for b.Loop() {
		Alpha(d, Nominal)
	}
}

func BenchmarkDecide(b *testing.B) {
	many := make([]string, 1000)
	for i := range many {
		many[i] = fmt.Sprint("free text number ", i)
	}
	for _, bb := range []struct {
		rule    Rule
		answers []string
	}{
		{Count(3), letters("aab")},
		{Agree(3, 5), letters("aabba")},
		{Agree(3, 5), letters("aabbc")},
		{Count(1000), many},
	} {
		b.Run(fmt.Sprintf("%s/answers=%d,%s", bb.rule, len(bb.answers), bb.answers[len(bb.answers)-1]), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				bb.rule.Decide(task, bb.answers, 0)
			}
		})
	}
}
