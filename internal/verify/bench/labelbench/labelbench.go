// Package labelbench measures how labels are made: a fit of a million answers against
// the same method written as its definition reads, a posterior that follows each answer
// against fits anew, Krippendorff's α that follows against α anew, and how many answers
// are saved by asking until a label is sure.
package labelbench

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/verify/load"
	"github.com/throng-dev/throng/label"
)

// Options is what Run measures.
type Options struct {
	Answers    int // of the made sets, a multiple of perTask
	Classes    int // of their questions, 2 to label.MaxLiveClasses
	Confidence float64
	Most       int // answers to a task, label.DefaultFewest or more
	// Recorded are answers of real people, of whom is asked again until a label is sure.
	// Nil: none; then a made set stands for them.
	Recorded *label.Dataset
	Truth    label.Truth // of Recorded
	Log      io.Writer
}

// perTask is how many answers a task of the made sets has.
const perTask = 5

// Validate returns an error for what makes no sense.
func (o *Options) Validate() error {
	switch {
	case o.Answers < 10*perTask:
		return crowd.Fieldf("answers", "must be at least %d, not %d", 10*perTask, o.Answers)
	case o.Classes < 2 || o.Classes > label.MaxLiveClasses:
		return crowd.Fieldf("classes", "must be between 2 and %d, not %d", label.MaxLiveClasses, o.Classes)
	case o.Most < label.DefaultFewest:
		return crowd.Fieldf("at_most", "must be at least %d, not %d", label.DefaultFewest, o.Most)
	case o.Recorded != nil && o.Truth.Known() == 0:
		return crowd.Fieldf("truth", "is needed: without known labels nobody can say how often a label is right")
	}
	return o.rule(o.Classes).Validate()
}

func (o *Options) rule(classes int) label.Rule {
	return label.Until(o.Confidence, label.DefaultFewest, o.Most).WithClasses(classes)
}

// Result is what Run measured, all of it on one core.
type Result struct {
	Answers int `json:"answers"`
	Tasks   int `json:"tasks"`
	Workers int `json:"workers"`
	Classes int `json:"classes"`

	Fit         Row      `json:"fit"`         // ds-map, all iterations; a unit is a fit
	Incremental Row      `json:"incremental"` // a unit is an answer; the reference fits anew
	Alpha       Row      `json:"alpha"`       // a unit is an answer more; the reference makes α anew
	Accuracy    Accuracy `json:"accuracy"`
	Stopping    Stopping `json:"stopping"`
}

// A Row is what a unit of work took, as a median, in seconds.
type Row struct {
	S         float64 `json:"s"`
	Reference float64 `json:"reference_s"`
	Ratio     float64 `json:"ratio"` // Reference / S
}

// Accuracy is the share of labels of the made set that are right, 0 to 1.
type Accuracy struct {
	Fit         float64 `json:"fit"`
	Incremental float64 `json:"incremental"`
	Majority    float64 `json:"majority"`
	// Apart is the greatest difference of a probability between the fit and the reference.
	Apart float64 `json:"apart"`
}

// turns is how often each is measured; the median counts.
const turns = 3

// Run measures.
func Run(o Options) (*Result, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	load.Say(o.Log, "making %d answers", o.Answers)
	m := madeUp(o.Answers/perTask, max(o.Answers/200, 2*perTask), o.Classes, perTask, 1)
	r := &Result{Answers: m.data.Len(), Tasks: len(m.data.Tasks()), Workers: len(m.data.Workers()), Classes: len(m.data.Classes())}
	if err := r.fit(o, m); err != nil {
		return nil, err
	}
	if err := r.follow(o, m); err != nil {
		return nil, err
	}
	load.Say(o.Log, "asking until a label is sure")
	data, truth := o.Recorded, o.Truth
	if data == nil {
		like := madeUp(2000, 200, o.Classes, 2*o.Most, 2)
		data, truth = like.data, like.truth
	}
	var err error
	r.Stopping, err = stopping(data, truth, o.rule(len(data.Classes())))
	return r, err
}

// timed runs f and returns what it took in seconds.
func timed(f func()) float64 {
	begin := time.Now()
	f()
	return time.Since(begin).Seconds()
}

// row measures two ways of doing so many units, in turns, so that both meet the same neighbours.
func row(ours func(), units int, reference func(), theirUnits int) Row {
	var a, b []float64
	for range turns {
		a, b = append(a, timed(ours)/float64(units)), append(b, timed(reference)/float64(theirUnits))
	}
	x := Row{S: stats.Quantile(a, .5), Reference: stats.Quantile(b, .5)}
	x.Ratio = x.Reference / x.S
	return x
}

// fit measures a fit, and compares what comes out.
func (r *Result) fit(o Options, m made) error {
	load.Say(o.Log, "fits")
	method := label.DefaultDawidSkene()
	method.Tolerance = 0 // all iterations, in both
	var fitted *label.Result
	var err error
	var plain [][]float64
	r.Fit = row(func() { fitted, err = method.Fit(m.data, nil) }, 1, func() { plain = reference(m.data, method) }, 1)
	if err != nil {
		return err
	}
	for i, want := range plain {
		for k, p := range fitted.Posterior(i) {
			r.Accuracy.Apart = max(r.Accuracy.Apart, math.Abs(p-want[k]))
		}
	}
	r.Accuracy.Fit, _ = fitted.Accuracy(m.truth)
	majority, err := label.Majority{}.Fit(m.data, nil)
	if err != nil {
		return err
	}
	r.Accuracy.Majority, _ = majority.Accuracy(m.truth)
	return nil
}

// follow measures what follows each answer, against what is made anew.
func (r *Result) follow(o Options, m made) error {
	load.Say(o.Log, "following each answer")
	classes := len(m.data.Classes())
	var live *label.Live
	var err error
	each := func() {
		if live, err = label.NewLive(label.DefaultDawidSkene(), classes); err != nil {
			return
		}
		for i := range m.data.Tasks() {
			workers, labels := m.data.Answers(i)
			for n, j := range workers {
				live.Set(i, int(j), labels[n])
			}
		}
	}
	method := label.DefaultDawidSkene()
	r.Incremental = row(each, m.data.Len(), func() { _, _ = method.Fit(m.data, nil) }, 1)
	if err != nil {
		return err
	}
	right := 0
	for i := range m.data.Tasks() {
		if best(live.Posterior(i)) == int(m.truth[i]) {
			right++
		}
	}
	r.Accuracy.Incremental = float64(right) / float64(len(m.data.Tasks()))

	counts, err := label.NewCoincidences(classes)
	if err != nil {
		return err
	}
	for i := range m.data.Tasks() {
		_, labels := m.data.Answers(i)
		counts.Change(nil, labels)
	}
	_, labels := m.data.Answers(0)
	const more = 1000
	r.Alpha = row(func() {
		for range more / 2 { // an answer less, and back: α is the same afterwards
			counts.Change(labels, labels[1:])
			counts.Alpha(nil)
			counts.Change(labels[1:], labels)
			counts.Alpha(nil)
		}
	}, more, func() { label.Alpha(m.data, label.Nominal) }, 1)
	return nil
}

func best(p []float64) (at int) {
	for k, q := range p {
		if q > p[at] {
			at = k
		}
	}
	return at
}

// made is a set of answers that is made, with the truth.
type made struct {
	data  *label.Dataset
	truth label.Truth
}

// madeUp makes answers of workers whose accuracy is between .5 and .95, and who each err in
// a way of their own.
func madeUp(tasks, workers, classes, each int, seed uint64) made {
	rng := rand.New(rand.NewPCG(seed, 2))
	name := func(letter string, n int) string { return fmt.Sprint(letter, n) }
	accuracy := make([]float64, workers)
	for j := range accuracy {
		accuracy[j] = .5 + .45*rng.Float64()
	}
	var b label.Builder
	for k := range classes {
		b.Class(name("c", k))
	}
	truth := make(map[string]string, tasks)
	for i := range tasks {
		right := rng.IntN(classes)
		truth[name("t", i)] = name("c", right)
		for _, j := range distinct(rng, workers, each) {
			k := right
			if rng.Float64() > accuracy[j] {
				k = (right + 1 + j%(classes-1)) % classes
			}
			b.Add(label.Answer{Task: name("t", i), Worker: name("w", j), Label: name("c", k)})
		}
	}
	m := made{data: b.Build()}
	m.truth, _ = m.data.Truth(truth) // all of its tasks and classes are there
	return m
}

// distinct draws so many numbers below n, each once.
func distinct(rng *rand.Rand, n, many int) []int {
	var drawn []int
	for len(drawn) < many {
		if j := rng.IntN(n); !slices.Contains(drawn, j) {
			drawn = append(drawn, j)
		}
	}
	return drawn
}
