package label

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throng-dev/throng/crowd"
)

func TestMajority(t *testing.T) {
	t.Parallel()
	d := build(
		[3]string{"t1", "a", "x"}, [3]string{"t1", "b", "x"}, [3]string{"t1", "c", "y"},
		[3]string{"t2", "a", "x"}, [3]string{"t2", "b", "y"},
	)
	r := fit(t, Majority{}, d, nil)
	if diff := cmp.Diff([]float64{2. / 3, 1. / 3, .5, .5}, r.q); diff != "" {
		t.Errorf("q (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]bool{false, true}, r.Ties); diff != "" || r.Label(0) != "x" || r.Method != "majority" || r.Model != nil {
		t.Errorf("label of t1 %s by %s; ties (-want +got):\n%s", r.Label(0), r.Method, diff)
	}

	// t1 is right; t2 is a tie of two that holds the truth, so it counts half.
	truth := Truth{0, 1}
	if share, n := r.Accuracy(truth); share != .75 || n != 2 {
		t.Errorf("accuracy %v of %d, want .75 of 2", share, n)
	}
	if share, n := r.Accuracy(nil); share != 0 || n != 0 {
		t.Errorf("accuracy without truth: %v of %d", share, n)
	}

	// c is against the label of t1; of a and b one has t2's label.
	agree := r.Agreement()
	if agree[0]+agree[1] != 1.5 || agree[2] != 0 {
		t.Errorf("agreement %v, want 1 and .5 in some order, then 0", agree)
	}
}

// Over many tied tasks each class is picked about equally often, whatever its
// place in the order, and the pick does not depend on the other half of the data.
func TestTiesFavourNoClass(t *testing.T) {
	t.Parallel()
	var b Builder
	for i := range 10_000 {
		for j, class := range []string{"0", "1", "2"} {
			b.Add(Answer{fmt.Sprint("t1.", i+1), fmt.Sprint("w", j), class})
		}
	}
	r := fit(t, Majority{}, b.Build(), nil)
	var picked [3]int
	for i, k := range r.Labels {
		if !r.Ties[i] {
			t.Fatalf("%s is no tie", r.Data.Tasks()[i])
		}
		picked[k]++
	}
	for k, n := range picked {
		if n < 3333-200 || n > 3333+200 { // 4 standard deviations of a fair draw are 189
			t.Errorf("class %d is picked %d times of 10000, want about 3333 (%v)", k, n, picked)
		}
	}
	t.Log(picked)
}

// The hash is for good: exports of two releases must not differ.
func TestTicketIsFixed(t *testing.T) {
	t.Parallel()
	if got, want := ticket(seedOf("t17.5"), "yes"), uint64(0xdfb152bdec97bcdd); got != want {
		t.Errorf("ticket is %#x, want %#x", got, want)
	}
	for _, id := range []crowd.TaskID{crowd.BatchID(17).Task(5), crowd.BatchID(1).Task(1), crowd.BatchID(crowd.MaxBatchID).Task(crowd.MaxInBatch)} {
		if seedOfID(id) != seedOf(id.String()) {
			t.Errorf("the seed of %s is not that of its text", id)
		}
	}
}

// One iteration by hand. Start: q(t1) = (1, 0), q(t2) = (½, ½); p = (1+1.5,
// 1+.5)/(2+2); matrices from A = (1.4, .6) plus the soft counts.
func TestDawidSkeneByHand(t *testing.T) {
	t.Parallel()
	d := build([3]string{"t1", "a", "x"}, [3]string{"t1", "b", "x"}, [3]string{"t2", "a", "x"}, [3]string{"t2", "b", "y"})
	m := exactly10()
	m.Iterations = 1
	r := fit(t, m, d, nil)

	a := [][]float64{{2.9 / 3.5, .6 / 3.5}, {1.1 / 2.5, 1.4 / 2.5}}
	b := [][]float64{{2.4 / 3.5, 1.1 / 3.5}, {.6 / 2.5, 1.9 / 2.5}}
	p := []float64{.625, .375}
	within := cmp.Comparer(func(a, b float64) bool { return near(a, b, 1e-12) })
	if diff := cmp.Diff([][][]float64{a, b, {p}}, [][][]float64{r.Model.Matrix(0), r.Model.Matrix(1), {r.Model.Shares()}}, within); diff != "" {
		t.Errorf("model (-want +got):\n%s", diff)
	}
	x1, y1 := p[0]*a[0][0]*b[0][0], p[1]*a[1][0]*b[1][0]
	x2, y2 := p[0]*a[0][0]*b[0][1], p[1]*a[1][0]*b[1][1]
	if diff := cmp.Diff([]float64{x1 / (x1 + y1), y1 / (x1 + y1), x2 / (x2 + y2), y2 / (x2 + y2)}, r.q, within); diff != "" {
		t.Errorf("q (-want +got):\n%s", diff)
	}
	if got, want := r.Model.Accuracy(0), .625*2.9/3.5+.375*1.4/2.5; !near(got, want, 1e-12) {
		t.Errorf("accuracy of a %v, want %v", got, want)
	}
	// K = 2: ½·[(π_xx − π_yx)² + (π_xy − π_yy)²]
	if got, ok := r.Model.SpammerScore(0); !ok || !near(got, (math.Pow(2.9/3.5-1.1/2.5, 2)+math.Pow(.6/3.5-1.4/2.5, 2))/2, 1e-12) {
		t.Errorf("spammer score of a %v, %v", got, ok)
	}
}

func TestDawidSkeneFallsBackWithoutRedundancy(t *testing.T) {
	t.Parallel()
	d := build([3]string{"t1", "a", "x"}, [3]string{"t1", "b", "y"}, [3]string{"t2", "a", "x"})
	r := fit(t, DefaultDawidSkene(), d, nil)
	if r.Method != "majority" || r.Iterations != 0 || r.Model != nil {
		t.Errorf("1.5 answers a task: method %s, %d iterations; want majority, 0", r.Method, r.Iterations)
	}
	gold, err := d.Truth(map[string]string{"t2": "x"})
	if err != nil {
		t.Fatal(err)
	}
	if r := fit(t, DefaultDawidSkene(), d, gold); r.Method != "ds-map" || r.Label(0) != "x" {
		t.Errorf("with gold: method %s, label %s; want ds-map, x, the answer of the one who was right", r.Method, r.Label(0))
	}
}

// Where all is known nothing ever changes, so only the tolerance can stop it.
func TestToleranceStops(t *testing.T) {
	t.Parallel()
	d := build([3]string{"t1", "a", "x"}, [3]string{"t2", "a", "y"})
	for _, tt := range []struct {
		m         DawidSkene
		rounds    int
		converged bool
	}{{exactly10(), 10, false}, {DefaultDawidSkene(), 1, true}} {
		r := fit(t, tt.m, d, Truth{0, 1})
		if r.Iterations != tt.rounds || r.Converged != tt.converged {
			t.Errorf("tolerance %v: %d iterations, converged %v; want %d, %v", tt.m.Tolerance, r.Iterations, r.Converged, tt.rounds, tt.converged)
		}
	}
}

// The vectors of Toloka's documentation: K = 3, skills A .70, B .90, C .80.
func TestSkillPosterior(t *testing.T) {
	t.Parallel()
	d := build(
		[3]string{"t1", "A", "OK"}, [3]string{"t1", "B", "OK"},
		[3]string{"t2", "A", "OK"}, [3]string{"t2", "B", "BAD"},
		[3]string{"t3", "A", "OK"}, [3]string{"t3", "B", "BAD"}, [3]string{"t3", "C", "BAD"},
		[3]string{"t4", "A", "404"},
	)
	q := skillPosterior(d, []float64{.7, .9, .8})
	for i, want := range map[int]struct {
		class string
		p     float64
	}{0: {"OK", .977}, 1: {"BAD", .761}, 2: {"BAD", .962}, 3: {"404", .7}} {
		k, _ := d.classOf(want.class)
		if got := q[i*3+int(k)]; !near(got, want.p, .0005) {
			t.Errorf("%s is %s with %.4f, want %.3f", d.Tasks()[i], want.class, got, want.p)
		}
	}
}

func TestGoldSkills(t *testing.T) {
	t.Parallel()
	d := build(
		[3]string{"t1", "a", "x"}, [3]string{"t1", "b", "y"}, [3]string{"t1", "c", "x"},
		[3]string{"t2", "a", "x"}, [3]string{"t2", "b", "x"}, [3]string{"t3", "d", "x"},
	)
	got := goldSkills(d, Truth{0, 0, None})
	want := []float64{3.4 / 4, 2.4 / 4, 2.4 / 3, .7}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b float64) bool { return near(a, b, 1e-12) })); diff != "" {
		t.Errorf("skills (-want +got):\n%s", diff)
	}
}

func TestFitRefuses(t *testing.T) {
	t.Parallel()
	d := build([3]string{"t1", "a", "x"}, [3]string{"t1", "b", "x"})
	with := func(change func(*DawidSkene)) DawidSkene {
		m := DefaultDawidSkene()
		change(&m)
		return m
	}
	nan := math.NaN()
	tests := map[string]struct {
		m     Method
		gold  Truth
		field string
	}{
		"a strength below 0":            {with(func(m *DawidSkene) { m.Strength = -1 }), nil, "strength"},
		"a strength that is no number":  {with(func(m *DawidSkene) { m.Strength = nan }), nil, "strength"},
		"a diagonal over 1":             {with(func(m *DawidSkene) { m.Diagonal = 1.1 }), nil, "diagonal"},
		"a class mass below 0":          {with(func(m *DawidSkene) { m.ClassMass = -1 }), nil, "class_mass"},
		"no iterations":                 {with(func(m *DawidSkene) { m.Iterations = 0 }), nil, "iterations"},
		"a tolerance that is no number": {with(func(m *DawidSkene) { m.Tolerance = nan }), nil, "tolerance"},
		"gold of another data set":      {DefaultDawidSkene(), Truth{0, 0}, "gold"},
		"gold of another set of labels": {Majority{}, Truth{1}, "gold"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := tt.m.Fit(d, tt.gold)
			e, ok := err.(*crowd.Error)
			if !ok || e.Code != crowd.Invalid || e.Field != tt.field {
				t.Errorf("error %v, want an invalid %s", err, tt.field)
			}
		})
	}
}

func TestFitRefusesFreeText(t *testing.T) {
	t.Parallel()
	var b Builder
	for i := range 20_000 { // 20,000² cells: a posterior of 3 GB, matrices of terabytes
		b.Add(Answer{fmt.Sprint("t", i), "a", fmt.Sprint("text ", i)})
		b.Add(Answer{fmt.Sprint("t", i), "b", fmt.Sprint("text ", i)})
	}
	d := b.Build()
	for _, m := range methods() {
		if _, err := m.Fit(d, nil); crowd.CodeOf(err) != crowd.TooLarge {
			t.Errorf("%s: error %v, want too_large", m.Name(), err)
		}
	}
	if a, ok := Alpha(d, Nominal); !ok || a != 1 {
		t.Errorf("α of 20000 different but agreed texts: %v, %v; want 1", a, ok)
	}
}

func TestEmptyDataset(t *testing.T) {
	t.Parallel()
	d := build()
	for _, m := range methods() {
		r := fit(t, m, d, nil)
		if len(r.Labels) != 0 || len(r.Agreement()) != 0 {
			t.Errorf("%s: labels %v", m.Name(), r.Labels)
		}
	}
	if _, ok := Alpha(d, Nominal); ok {
		t.Error("α of nothing is defined")
	}
	if _, ok := Unanimity(d); ok {
		t.Error("unanimity of nothing is defined")
	}
}
