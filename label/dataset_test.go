package label

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// build makes a data set of rows {task, worker, label}.
func build(rows ...[3]string) *Dataset {
	var b Builder
	for _, r := range rows {
		b.Add(Answer{Task: r[0], Worker: r[1], Label: r[2]})
	}
	return b.Build()
}

// rowsOf lists the answers of a data set by their names.
func rowsOf(d *Dataset) (rows [][3]string) {
	for i, task := range d.Tasks() {
		workers, labels := d.Answers(i)
		for n, j := range workers {
			rows = append(rows, [3]string{task, d.Workers()[j], d.Classes()[labels[n]]})
		}
	}
	return rows
}

func TestBuild(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		keep    bool
		rows    [][3]string
		extra   []string
		want    [][3]string
		classes []string
	}{
		"nothing gives an empty data set": {},
		"answers are ordered by task, then worker": {
			rows:    [][3]string{{"t2", "b", "no"}, {"t1", "b", "yes"}, {"t1", "a", "no"}},
			want:    [][3]string{{"t1", "a", "no"}, {"t1", "b", "yes"}, {"t2", "b", "no"}},
			classes: []string{"no", "yes"},
		},
		"the last answer of a worker to a task replaces, and a label that is gone is no class": {
			rows:    [][3]string{{"t1", "a", "maybe"}, {"t1", "b", "yes"}, {"t1", "a", "no"}},
			want:    [][3]string{{"t1", "a", "no"}, {"t1", "b", "yes"}},
			classes: []string{"no", "yes"},
		},
		"repeats are kept on demand": {
			keep:    true,
			rows:    [][3]string{{"t1", "a", "yes"}, {"t1", "a", "no"}, {"t1", "a", "yes"}},
			want:    [][3]string{{"t1", "a", "no"}, {"t1", "a", "yes"}, {"t1", "a", "yes"}},
			classes: []string{"no", "yes"},
		},
		"a class may be one that nobody answered": {
			rows:    [][3]string{{"t1", "a", "b"}},
			extra:   []string{"c", "a", "b", "a"},
			want:    [][3]string{{"t1", "a", "b"}},
			classes: []string{"a", "b", "c"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := Builder{KeepRepeats: tt.keep}
			for _, r := range tt.rows {
				b.Add(Answer{r[0], r[1], r[2]})
			}
			for _, class := range tt.extra {
				b.Class(class)
			}
			for range 2 { // building does not use the builder up
				d := b.Build()
				if diff := cmp.Diff(tt.want, rowsOf(d)); diff != "" {
					t.Errorf("answers (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(tt.classes, d.Classes()); diff != "" && len(tt.classes)+len(d.Classes()) > 0 {
					t.Errorf("classes (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestBuilderGoesOnAfterBuild(t *testing.T) {
	t.Parallel()
	var b Builder
	b.Add(Answer{"t2", "a", "x"})
	first := b.Build()
	b.Add(Answer{"t1", "a", "y"})
	b.Add(Answer{"t2", "a", "z"})
	if diff := cmp.Diff([][3]string{{"t2", "a", "x"}}, rowsOf(first)); diff != "" {
		t.Errorf("the first data set changed (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([][3]string{{"t1", "a", "y"}, {"t2", "a", "z"}}, rowsOf(b.Build())); diff != "" {
		t.Errorf("the second (-want +got):\n%s", diff)
	}
}

func TestTruth(t *testing.T) {
	t.Parallel()
	d := build([3]string{"t1", "a", "yes"}, [3]string{"t2", "a", "no"})
	truth, err := d.Truth(map[string]string{"t2": "yes", "elsewhere": "maybe"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Truth{None, 1}, truth); diff != "" || truth.Known() != 1 {
		t.Errorf("truth, %d known (-want +got):\n%s", truth.Known(), diff)
	}
	if _, err := d.Truth(map[string]string{"t2": "maybe"}); err == nil || err.Error() != `truth: task "t2" is said to be "maybe", which is none of the classes` {
		t.Errorf("a class that does not exist: %v", err)
	}
}

// world is a generated set of answers: each worker answers a task at most once.
type world struct {
	rows [][3]string
	gold map[string]string
}

var anyWorld = rapid.Custom(func(t *rapid.T) world {
	tasks := rapid.IntRange(1, 12).Draw(t, "tasks")
	workers := rapid.IntRange(1, 6).Draw(t, "workers")
	classes := rapid.IntRange(1, 4).Draw(t, "classes")
	w := world{gold: map[string]string{}}
	for i := range tasks {
		for j := range workers {
			k := rapid.IntRange(-1, classes-1).Draw(t, "answer") // -1: none
			if k >= 0 {
				w.rows = append(w.rows, [3]string{fmt.Sprint("t", i), fmt.Sprint("w", j), fmt.Sprint("c", k)})
			}
		}
	}
	for _, r := range w.rows {
		if rapid.IntRange(0, 9).Draw(t, "gold") == 0 {
			w.gold[r[0]] = r[2]
		}
	}
	return w
})

func (w world) dataset() *Dataset { return build(w.rows...) }

func (w world) shuffled(seed uint64) world {
	rows := append([][3]string(nil), w.rows...)
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(rows), func(a, b int) { rows[a], rows[b] = rows[b], rows[a] })
	return world{rows, w.gold}
}

// methods are all methods, as the properties below run them.
func methods() []Method {
	return []Method{Majority{}, DefaultDawidSkene(), exactly10(), DawidSkene{Iterations: 20}}
}

func TestOrderOfRowsChangesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld.Draw(t, "world")
		a, b := w.dataset(), w.shuffled(rapid.Uint64().Draw(t, "seed")).dataset()
		if diff := cmp.Diff(a, b, cmp.AllowUnexported(Dataset{})); diff != "" {
			t.Fatalf("data set (-in order +shuffled):\n%s", diff)
		}
		for _, m := range methods() {
			for _, gold := range []map[string]string{nil, w.gold} {
				ra, rb := fitKnown(t, m, a, gold), fitKnown(t, m, b, gold)
				if diff := cmp.Diff(ra, rb, cmp.AllowUnexported(Result{}, Dataset{}, Confusion{})); diff != "" {
					t.Fatalf("%s (-in order +shuffled):\n%s", m.Name(), diff)
				}
			}
		}
	})
}

// Names of classes mean nothing: if they are renamed, the probabilities go with
// them, and so do the labels where there is no tie.
func TestNamesOfClassesMeanNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld.Draw(t, "world")
		renamed := map[string]string{"c0": "z", "c1": "b", "c2": "y", "c3": "a"}
		w2 := world{gold: map[string]string{}}
		for _, r := range w.rows {
			w2.rows = append(w2.rows, [3]string{r[0], r[1], renamed[r[2]]})
		}
		for task, class := range w.gold {
			w2.gold[task] = renamed[class]
		}
		a, b := w.dataset(), w2.dataset()
		for _, m := range []Method{Majority{}, exactly10()} {
			for _, gold := range []bool{false, true} {
				var ra, rb *Result
				if gold {
					ra, rb = fitKnown(t, m, a, w.gold), fitKnown(t, m, b, w2.gold)
				} else {
					ra, rb = fitKnown(t, m, a, nil), fitKnown(t, m, b, nil)
				}
				for i, task := range a.Tasks() {
					for k, class := range a.Classes() {
						k2, ok := b.classOf(renamed[class])
						if p, p2 := ra.Posterior(i)[k], rb.Posterior(i)[k2]; !ok || !near(p, p2, 1e-6) {
							t.Fatalf("%s, %s: q of %s is %v, renamed %v", m.Name(), task, class, p, p2)
						}
					}
					if !ra.Ties[i] && !rb.Ties[i] && ra.Confidence(i) > .5+1e-6 && renamed[ra.Label(i)] != rb.Label(i) {
						t.Fatalf("%s, %s: label %s, renamed %s", m.Name(), task, ra.Label(i), rb.Label(i))
					}
				}
			}
		}
	})
}

// Whatever the answers: probabilities are probabilities, and the label is one
// of the most probable classes.
func TestResultsAreSound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld.Draw(t, "world")
		d := w.dataset()
		for _, m := range methods() {
			for _, gold := range []map[string]string{nil, w.gold} {
				r := fitKnown(t, m, d, gold)
				for i := range d.Tasks() {
					if sum, low := sumAndMin(r.Posterior(i)); !near(sum, 1, 1e-9) || !(low >= 0) {
						t.Fatalf("%s: posterior %v", m.Name(), r.Posterior(i))
					}
					if top := maxOf(r.Posterior(i)); r.Confidence(i) < top-tieWithin {
						t.Fatalf("%s: label %d of %v", m.Name(), r.Labels[i], r.Posterior(i))
					}
					if h := r.Entropy(i); !(h >= 0) {
						t.Fatalf("%s: entropy %v", m.Name(), h)
					}
				}
				if r.Model == nil {
					continue
				}
				if sum, low := sumAndMin(r.Model.Shares()); !near(sum, 1, 1e-9) || !(low >= 0) {
					t.Fatalf("%s: shares %v", m.Name(), r.Model.Shares())
				}
				for j := range d.Workers() {
					for _, row := range r.Model.Matrix(j) {
						if sum, low := sumAndMin(row); !near(sum, 1, 1e-9) || !(low >= 0) {
							t.Fatalf("%s: row %v of worker %d", m.Name(), row, j)
						}
					}
					if a := r.Model.Accuracy(j); !(a >= 0 && a <= 1+1e-9) {
						t.Fatalf("%s: accuracy %v", m.Name(), a)
					}
					if s, ok := r.Model.SpammerScore(j); ok != (len(d.Classes()) > 1) || !(s >= 0 && s <= 1+1e-9) {
						t.Fatalf("%s: spammer score %v, %v", m.Name(), s, ok)
					}
				}
			}
		}
	})
}

// fitKnown fits with gold by name; unlike the rows, its tasks may be missing.
func fitKnown(t *rapid.T, m Method, d *Dataset, known map[string]string) *Result {
	gold, err := d.Truth(known)
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.Fit(d, gold)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func sumAndMin(v []float64) (sum, low float64) {
	low = 1
	for _, x := range v {
		sum += x
		low = min(low, x)
	}
	return sum, low
}

func near(a, b, within float64) bool { return a-b <= within && b-a <= within }
