package label

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestMeans(t *testing.T) {
	t.Parallel()
	d := build([3]string{"t1", "a", "10"}, [3]string{"t1", "b", "11"}, [3]string{"t1", "c", "12"}, [3]string{"t1", "d", "13"}, [3]string{"t1", "e", "500"},
		[3]string{"t2", "a", "7"}, [3]string{"t2", "b", "7.0"})
	for _, tt := range []struct {
		m      Method
		t1, t2 string
	}{{PlainMean(), "109.2", "7"}, {TrimmedMean(), "12", "7"}, {Median{}, "12", "7"}} {
		r := fit(t, tt.m, d, nil)
		if r.Label(0) != tt.t1 || !strings.HasPrefix(r.Label(1), tt.t2) || r.Method != tt.m.Name() {
			t.Errorf("%s: %s and %s, want %s and %s", tt.m.Name(), r.Label(0), r.Label(1), tt.t1, tt.t2)
		}
	}
	if r := fit(t, TrimmedMean(), d, nil); r.Confidence(1) != 1 || r.Confidence(0) >= 1 {
		t.Errorf("confidence %v of a task with an outlier, %v where all agree", r.Confidence(0), r.Confidence(1))
	}
	for _, bad := range []string{"ten", "NaN", "Inf", "-inf", ""} {
		if _, err := PlainMean().Fit(build([3]string{"t", "a", bad}), nil); err == nil {
			t.Errorf("%q has a mean", bad)
		}
		if PlainMean().Check(bad) == nil {
			t.Errorf("%q passes the check", bad)
		}
	}
	for _, m := range []Mean{{Trim: -1}, {Trim: .5}, {Trim: math.NaN()}, {Trim: .1, ByPrecision: true}} {
		if _, err := m.Fit(d, nil); err == nil {
			t.Errorf("%+v is taken", m)
		}
	}
}

// Workers of whom some are ten times as exact as others: weighing by precision beats the
// plain mean, which beats the median.
func TestWeightedMeanUsesExactPeople(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	var b Builder
	truth := make([]float64, 2000)
	for i := range truth {
		truth[i] = 100 * rng.Float64()
		for j := range 6 {
			sd := 10.
			if j < 2 {
				sd = 1
			}
			b.Add(Answer{fmt.Sprintf("t%04d", i), fmt.Sprint("w", j), fmt.Sprint(truth[i] + sd*rng.NormFloat64())})
		}
	}
	d := b.Build()
	off := func(m Method) (sum float64) {
		r := fit(t, m, d, nil)
		for i := range truth {
			var x float64
			if _, err := fmt.Sscan(r.Label(i), &x); err != nil {
				t.Fatal(err)
			}
			sum += math.Abs(x-truth[i]) / float64(len(truth))
		}
		return sum
	}
	weighted, mean := off(WeightedMean()), off(PlainMean())
	if !(weighted < .8 && mean > 2) { // the best possible: √(2/π)/√2 = .56
		t.Errorf("mean error %.3f weighted, %.3f plain", weighted, mean)
	}
	t.Logf("mean error %.3f weighted, %.3f plain, %.3f median", weighted, mean, off(Median{}))
}

func TestCentral(t *testing.T) {
	t.Parallel()
	d := build([3]string{"t1", "a", "Paris"}, [3]string{"t1", "b", "paris "}, [3]string{"t1", "c", "PARIS"}, [3]string{"t1", "d", "Paris"}, [3]string{"t1", "e", "London"},
		[3]string{"t2", "a", "the black cat"}, [3]string{"t2", "b", "a black cat"}, [3]string{"t2", "c", "the black cats"}, [3]string{"t2", "d", "no idea"},
		[3]string{"t3", "a", "one"})
	r := fit(t, Central{}, d, nil)
	if r.Label(0) != "Paris" || r.Label(1) != "the black cat" || r.Label(2) != "one" || r.Confidence(2) != 1 || r.Ties[0] {
		t.Errorf("%q, %q, %q with %v", r.Label(0), r.Label(1), r.Label(2), r.Confidence(2))
	}
	if !(r.Confidence(0) > .75 && r.Confidence(0) < 1) {
		t.Errorf("4 of 5 alike: confidence %v", r.Confidence(0))
	}
	tie := fit(t, Central{}, build([3]string{"t", "a", "xx"}, [3]string{"t", "b", "yy"}), nil)
	if !tie.Ties[0] {
		t.Error("two answers without a letter in common are no tie")
	}
}

// Free text in which every answer is different, 60,000 of them: no table of all classes.
func TestCentralOnManyTexts(t *testing.T) {
	t.Parallel()
	var b Builder
	for i := range 20_000 {
		for j := range 3 {
			b.Add(Answer{fmt.Sprint("t", i), fmt.Sprint("w", j), fmt.Sprint("text ", i, "/", j)})
		}
	}
	if r := fit(t, Central{}, b.Build(), nil); len(r.Labels) != 20_000 {
		t.Error(len(r.Labels))
	}
}

// Word error rate on translations of sentences: .511 for the medoid by edit distance in an
// independent implementation, .649 for an answer at random, .279 for the best one.
func TestCentralOnPublicText(t *testing.T) {
	t.Parallel()
	var b Builder
	for _, row := range readCSV(t, "text_t1", "labels.csv") {
		b.Add(Answer{row[0], row[1], row[2]})
	}
	d := b.Build()
	r := fit(t, Central{}, d, nil)
	truth := readKnown(t, "text_t1", "truth.csv")
	sum := 0.0
	for i, task := range d.Tasks() {
		sum += wordErrors(words(r.Label(i)), words(truth[task])) / float64(len(d.Tasks()))
	}
	t.Logf("word error rate %.3f", sum)
	if len(d.Tasks()) != 100 || sum > .53 || sum < .45 {
		t.Errorf("word error rate %.3f on %d tasks, want about .511 on 100", sum, len(d.Tasks()))
	}
}

func words(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return strings.ContainsRune(" .,!?\"", r) })
}

// wordErrors is the edits of words that make b of a, for each word of b.
func wordErrors(a, b []string) float64 {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		before := row[0]
		row[0] = i + 1
		for j := range b {
			change := before
			if a[i] != b[j] {
				change++
			}
			before = row[j+1]
			row[j+1] = min(change, row[j+1]+1, row[j]+1)
		}
	}
	return float64(row[len(b)]) / float64(max(1, len(b)))
}

func TestPerOption(t *testing.T) {
	t.Parallel()
	var b Builder
	for i := range 40 {
		for j := range 3 {
			set := []string{}
			if i%2 == 0 {
				set = append(set, "cat")
			}
			if i%3 == 0 && j != 2 { // the third never sees dogs
				set = append(set, "dog")
			}
			b.Add(Answer{fmt.Sprintf("t%02d", i), fmt.Sprint("w", j), jsonList(set)})
		}
	}
	d := b.Build()
	r := fit(t, PerOption{DefaultDawidSkene()}, d, nil)
	for i := range 40 {
		want := []string{}
		if i%2 == 0 {
			want = append(want, "cat")
		}
		if i%3 == 0 {
			want = append(want, "dog")
		}
		if r.Label(i) != jsonList(want) {
			t.Errorf("task %d: %s, want %s", i, r.Label(i), jsonList(want))
		}
	}
	options := map[string]float64{}
	for name, p := range r.Distribution(0) {
		options[name] = p
	}
	if !(options["cat"] > .9 && options["dog"] > .9) {
		t.Errorf("options of the first task: %v", options)
	}
	// A set that nobody chose: one option from each.
	set := fit(t, PerOption{Majority{}}, build([3]string{"t", "a", `["x","y"]`}, [3]string{"t", "b", `["y","z"]`}, [3]string{"t", "c", `["x","z"]`}), nil)
	if set.Label(0) != `["x","y","z"]` || !near(set.Confidence(0), 2./3, 1e-12) {
		t.Errorf("%s with %v", set.Label(0), set.Confidence(0))
	}
	// Written as answers are, in the order of the template's options.
	kept := fit(t, PerOption{Majority{}}, build([3]string{"t", "a", `["z","a"]`}, [3]string{"t", "b", `["z","a"]`}, [3]string{"u", "a", `["a","m"]`}, [3]string{"v", "a", `["z","m"]`}), nil)
	if kept.Label(0) != `["z","a"]` {
		t.Errorf("%s, want the order of the answers", kept.Label(0))
	}
	for _, bad := range []string{"cat", `{"a":1}`, "null", `[1]`, ""} {
		if (PerOption{}).Check(bad) == nil {
			t.Errorf("%q passes as a set", bad)
		}
	}
}

func TestRegions(t *testing.T) {
	t.Parallel()
	d := build(
		[3]string{"boxes", "a", `[{"label":"bird","x":10,"y":10,"width":100,"height":50}]`},
		[3]string{"boxes", "b", `[{"label":"bird","x":12,"y":10,"width":98,"height":52},{"label":"bird","x":300,"y":10,"width":20,"height":20}]`},
		[3]string{"boxes", "c", `[{"label":"bird","x":14,"y":12,"width":100,"height":50},{"label":"tree","x":10,"y":10,"width":100,"height":50}]`},
		[3]string{"none", "a", `[]`}, [3]string{"none", "b", `[]`},
		[3]string{"spans", "a", `[{"label":"city","start":4,"end":10},{"label":"city","start":20,"end":25}]`},
		[3]string{"spans", "b", `[{"label":"city","start":5,"end":10}]`},
		[3]string{"spans", "c", `[{"label":"city","start":4,"end":11},{"label":"city","start":21,"end":25}]`},
		[3]string{"split", "a", `[{"start":0,"end":5}]`}, [3]string{"split", "b", `[]`},
	)
	r := fit(t, DefaultRegions(), d, nil)
	for i, want := range []string{
		`[{"label":"bird","x":12,"y":10,"width":98,"height":52,"votes":3}]`,
		`[]`,
		`[{"label":"city","start":4,"end":10,"votes":3},{"label":"city","start":20.5,"end":25,"votes":2}]`,
		`[]`,
	} {
		if r.Label(i) != want {
			t.Errorf("%s: %s, want %s", d.Tasks()[i], r.Label(i), want)
		}
	}
	if r.Confidence(1) != 1 || !r.Ties[3] || r.Ties[0] || !near(r.Confidence(0), (1+2./3+2./3)/3, 1e-12) {
		t.Errorf("confidences %v, %v; ties %v", r.Confidence(0), r.Confidence(1), r.Ties)
	}
	// Of one worker's two regions on the same thing only one joins a group.
	twice := fit(t, DefaultRegions(), build([3]string{"t", "a", `[{"start":0,"end":10},{"start":0,"end":9}]`}, [3]string{"t", "b", `[{"start":0,"end":10}]`}), nil)
	var got []map[string]any
	if err := json.Unmarshal([]byte(twice.Label(0)), &got); err != nil || len(got) != 1 || got[0]["votes"] != 2. {
		t.Errorf("%s", twice.Label(0))
	}
	for _, bad := range []string{"x", "{}", "null", `[{}]`, `[{"start":1}]`, `[{"start":3,"end":3}]`, `[{"start":5,"end":3}]`, `[{"x":1,"y":2,"width":0,"height":1}]`, `[{"start":1,"end":2,"x":1,"y":2,"width":1,"height":1}]`, `[] []`} {
		if err := (Regions{}).Check(bad); err == nil {
			t.Errorf("%q passes as regions", bad)
		}
	}
}

// The groups do not depend on who is named first.
func TestRegionsDoNotDependOnTheOrderOfWorkers(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 5))
		answers := make([]string, 4)
		for j := range answers {
			list := []string{}
			for range rng.IntN(4) {
				start := rng.Float64() * 20
				list = append(list, fmt.Sprintf(`{"start":%v,"end":%v}`, start, start+1+10*rng.Float64()))
			}
			answers[j] = "[" + strings.Join(list, ",") + "]"
		}
		label := func(names ...string) string {
			var b Builder
			for j, a := range answers {
				b.Add(Answer{"t", names[j], a})
			}
			return fit(t, DefaultRegions(), b.Build(), nil).Label(0)
		}
		if a, b := label("a", "b", "c", "d"), label("d", "b", "a", "c"); a != b {
			t.Fatalf("seed %d: %s or %s", seed, a, b)
		}
	}
}
