package scenario

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/internal/kit/jsonform"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
	"github.com/throng-dev/throng/internal/sim"
)

// Record returns what runs must record for the expectations to be judged.
func (s *Scenario) Record() sim.Record {
	var rec sim.Record
	for _, e := range s.Expect {
		f := e.figure()
		if f.Batches && f.windowed() {
			rec.Allocation = true
		}
		if !f.windowed() && e.Metric != "jain" && !strings.HasPrefix(e.Metric, "j_inf") {
			continue // fairness over the whole run is booked only where samples are
		}
		rec.Samples = max(rec.Samples, 500)
		to := e.To
		if to == 0 {
			to = s.Setup.Horizon
		}
		// Some twenty samples in the narrowest window.
		if span := to - e.From; s.Setup.Horizon > 0 && span > 0 {
			rec.Samples = max(rec.Samples, int(min(20*s.Setup.Horizon/span, 20_000)))
		}
		if s.Setup.Horizon == 0 {
			rec.Samples = 4000
		}
	}
	return rec
}

// figure returns what the expectation is about.
func (e *Expectation) figure() Figure {
	f, _ := findFigure(e.Metric, e.From > 0 || e.To > 0)
	return f
}

// Measured is what the expectations need of one run: a few figures, however large
// the outcome is.
type Measured struct {
	Policy  string
	Alpha   float64 // of the sweep; 0 without one
	Rep     int
	figures []measured // of the expectations that the run has to do with, in their order
}

// measured is one figure of one run.
type measured struct {
	index int     // of the expectation
	value float64 // NaN: there is nothing to say; +Inf: not in the run
	err   error   // what makes the run useless for the expectation
}

// Measure takes from an outcome, of the setup at α, what the expectations are
// about. The outcome must have been recorded as Record says.
func (s *Scenario) Measure(o *sim.Outcome, alpha float64) *Measured {
	m := &Measured{Policy: o.Policy, Alpha: alpha, Rep: o.Rep}
	var metrics sim.Figures
	for i, e := range s.Expect {
		if e.Alpha != alpha || e.Policy != o.Policy && e.Than != o.Policy {
			continue
		}
		f := e.figure()
		var v float64
		var err error
		switch {
		case f.windowed():
			v, err = s.overTime(e, f, o)
		case f.Batches:
			v, err = s.ofBatches(e, f, o)
		default:
			if metrics == nil {
				metrics = o.Metrics()
			}
			v, err = e.ofRun(metrics, o)
		}
		m.figures = append(m.figures, measured{i, v, err})
	}
	return m
}

// ofRun is a metric of the whole run.
func (e *Expectation) ofRun(all sim.Figures, o *sim.Outcome) (float64, error) {
	v := all.Of(e.Metric)
	if e.Metric != "makespan_s" || !math.IsNaN(v) || len(o.Batches) == 0 {
		return v, nil
	}
	var w wait
	for i := range o.Batches {
		if b := &o.Batches[i]; b.Completed < 0 {
			w.add(b, o.End)
		}
	}
	return math.Inf(1), e.late(&w, o) // some batch was not completed
}

// ended is the error of a run that was over before a moment that an expectation is
// about.
func ended(o *sim.Outcome, moment time.Duration) error {
	return fmt.Errorf("the run of %s, repetition %d, ended at %s, before %s", o.Policy, o.Rep+1, orZero(o.End.Round(time.Millisecond)), yamlfile.Words(moment))
}

// overTime is the mean of a figure over a window.
func (s *Scenario) overTime(e *Expectation, f Figure, o *sim.Outcome) (float64, error) {
	if e.To > o.End {
		return 0, ended(o, e.To)
	}
	if e.From >= o.End {
		return 0, ended(o, e.From)
	}
	chosen := s.chosen(e, o)
	sum, n, seen := 0.0, 0, 0
	for i := range o.Samples.List {
		x := &o.Samples.List[i]
		if x.At < e.From || e.To > 0 && x.At > e.To {
			continue
		}
		seen++
		on, all := 0.0, 0.0
		for _, a := range x.Allocation {
			all += float64(a.Running)
			if chosen[a.Batch] {
				on += float64(a.Running)
			}
		}
		if v := f.over(x, on, all); stats.Finite(v) {
			sum += v
			n++
		}
	}
	if seen == 0 {
		return 0, fmt.Errorf("the run of %s, repetition %d, was not sampled between %s and %s: it has a sample every %s", o.Policy, o.Rep+1, orZero(e.From), orZero(e.To), yamlfile.Words(o.Samples.Every))
	}
	return sum / float64(n), nil // NaN where nobody worked
}

// chosen is which batches of a run an expectation is about.
func (s *Scenario) chosen(e *Expectation, o *sim.Outcome) []bool {
	return lists.Map(o.Batches, func(b sim.BatchOutcome) bool { return s.chooses(e, &b) })
}

// chooses reports whether an expectation is about a batch.
func (s *Scenario) chooses(e *Expectation, b *sim.BatchOutcome) bool {
	setup := s.Setup
	return (e.Batch == "" || b.Name == e.Batch) &&
		(e.Flow == "" || drawnFrom(b.Name, e.Flow)) &&
		(e.Tenant == "" || setup.Tenants[b.Tenant].Name == e.Tenant) &&
		(e.Kind == "" || setup.Kinds[b.Batch.Kind].Name == e.Kind) &&
		(e.Class == "" || setup.SizeClasses()[b.Class].Name == e.Class)
}

// drawnFrom reports whether a batch has the name of one that a flow draws.
func drawnFrom(name, flow string) bool {
	number, ok := strings.CutPrefix(name, flow+"-")
	return ok && number != "" && strings.Trim(number, "0123456789") == ""
}

// ofBatches is a figure of the chosen batches.
func (s *Scenario) ofBatches(e *Expectation, f Figure, o *sim.Outcome) (float64, error) {
	sum, n, came := 0.0, 0, 0
	first, last := math.Inf(1), math.Inf(-1)
	var w wait
	for i, chosen := range s.chosen(e, o) {
		if !chosen {
			continue
		}
		b := &o.Batches[i]
		came++
		v := math.Inf(1) // not in this run
		if f.of != nil {
			v = f.of(b)
		} else if at, from := f.when(b); at >= 0 {
			v = (at - from).Seconds()
		} else {
			w.add(b, o.End-from)
		}
		if math.IsNaN(v) {
			continue
		}
		sum += v
		n++
		first, last = min(first, v), max(last, v)
	}
	v := sum / float64(n)
	switch {
	case came == 0 && e.Batch != "":
		return 0, fmt.Errorf("the run of %s, repetition %d, ended at %s, before the batch %s came", o.Policy, o.Rep+1, yamlfile.Words(o.End), e.Batch)
	case n == 0:
		return math.NaN(), nil
	case e.Metric == "completed_at":
		v = last
	case e.Metric == "started_at":
		// The first of them may be any that is still open, but none that is over.
		v, w.over = first, w.over && w.open == 0
	}
	if !math.IsInf(v, 1) {
		return v, nil
	}
	return v, e.late(&w, o)
}

// wait is how long a run waited for what has not happened.
type wait struct {
	open    int           // batches for which it may come yet
	watched time.Duration // the least of them, in the terms of the figure
	over    bool          // for some batch it can never come, as its lifetime has ended it
}

// add adds a batch for which it has not come.
func (w *wait) add(b *sim.BatchOutcome, watched time.Duration) {
	if b.Ended >= 0 {
		w.over = true
		return
	}
	if w.open == 0 || watched < w.watched {
		w.watched = watched
	}
	w.open++
}

// late is the error of a run that ended too soon to say whether what has not
// come would have come by a bound.
func (e *Expectation) late(w *wait, o *sim.Outcome) error {
	if w.over || w.open == 0 || e.Than != "" {
		return nil
	}
	for _, bound := range []float64{e.Least, e.Most} {
		if math.IsInf(bound, 0) || bound <= w.watched.Seconds() {
			continue
		}
		by := time.Duration(bound * float64(time.Second))
		if w.watched == o.End {
			return ended(o, by)
		}
		return fmt.Errorf("the run of %s, repetition %d, ended at %s, %s after the launch of a batch that was not completed, and so before %s had gone by",
			o.Policy, o.Rep+1, orZero(o.End.Round(time.Millisecond)), orZero(w.watched.Round(time.Millisecond)), yamlfile.Words(by))
	}
	return nil
}

// ErrNotRun is what Err of a verdict is about a policy, or an α, of which no run
// was handed in.
var ErrNotRun = errors.New("was not run")

// A State is what became of an expectation.
type State string

// The states.
const (
	Met    State = "met"
	NotMet State = "not met"
	NotRun State = "not run" // it is about a policy that was left out
)

// Class is the state as a name in a page's style sheet.
func (s State) Class() string { return strings.ReplaceAll(string(s), " ", "-") }

// A Verdict says what became of an expectation.
type Verdict struct {
	*Expectation
	State State
	// Figure is what was compared: the mean over the repetitions, or the mean
	// difference between paired repetitions, or the ratio of the means. NaN
	// with Err.
	Figure float64
	Found  string // Figure in words
	// Err says why there is no answer: the runs ended before the window, or
	// have nothing to say. It is not a failure of the policy but of the file.
	Err error
}

// MarshalJSON implements json.Marshaler.
func (v Verdict) MarshalJSON() ([]byte, error) {
	return jsonform.Object(
		"line", v.Line, "column", v.Column, "text", v.Text, "policy", v.Policy, "verdict", v.State, "found", v.Found, "figure", v.Figure,
	).MarshalJSON()
}

// Verdicts holds what was measured, in any order, against the expectations, in
// theirs.
func (s *Scenario) Verdicts(runs []*Measured) []Verdict {
	list := make([]Verdict, len(s.Expect))
	for i, e := range s.Expect {
		v := Verdict{Expectation: e, State: NotMet, Figure: math.NaN()}
		own, err := collect(runs, i, e, e.Policy)
		var other map[int]float64
		if err == nil && e.Than != "" {
			other, err = collect(runs, i, e, e.Than)
		}
		if err == nil {
			v.Figure, err = e.compare(own, other)
		}
		switch v.Err = err; {
		case errors.Is(err, ErrNotRun):
			v.State = NotRun
		case err == nil:
			v.Found = e.found(v.Figure)
			if e.met(v.Figure) {
				v.State = Met
			}
		}
		list[i] = v
	}
	return list
}

// collect returns the figures of a policy by repetition.
func collect(runs []*Measured, i int, e *Expectation, policy string) (map[int]float64, error) {
	list := map[int]float64{}
	for _, r := range runs {
		if r.Policy != policy || r.Alpha != e.Alpha {
			continue
		}
		at, found := slices.BinarySearchFunc(r.figures, i, func(f measured, i int) int { return cmp.Compare(f.index, i) })
		if !found {
			continue
		}
		f := &r.figures[at]
		if f.err != nil {
			return nil, f.err
		}
		list[r.Rep] = f.value
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s %w", policy, ErrNotRun)
	}
	return list, nil
}

// compare makes one figure of those of the repetitions. Those that have nothing
// to say are left out.
func (e *Expectation) compare(own, other map[int]float64) (float64, error) {
	a, b, n := 0.0, 0.0, 0
	for _, rep := range slices.Sorted(maps.Keys(own)) { // in order, so that sums are the same each time
		against, paired := other[rep]
		if math.IsNaN(own[rep]) || e.Than != "" && (!paired || math.IsNaN(against)) {
			continue
		}
		a += own[rep]
		b += against
		n++
	}
	if n == 0 {
		return math.NaN(), fmt.Errorf("there is nothing to say about %s under %s in any repetition", e.Metric, e.Policy)
	}
	switch {
	case e.Than == "":
		a /= float64(n)
	case e.Ratio:
		a /= b
	default:
		a = (a - b) / float64(n)
	}
	if math.IsNaN(a) {
		return a, fmt.Errorf("%s cannot be compared: under %s and %s it is 0, or not in the run", e.Metric, e.Policy, e.Than)
	}
	return a, nil
}

// met reports whether a figure is within the bounds.
func (e *Expectation) met(v float64) bool {
	if e.Open {
		return v > e.Least && v < e.Most || math.IsInf(v, 1) && math.IsInf(e.Most, 1) && v > e.Least
	}
	return v >= e.Least && v <= e.Most
}

// found is a figure in words.
func (e *Expectation) found(v float64) string {
	f := e.figure()
	switch {
	case e.Ratio:
		return fmt.Sprintf("%.6g of %s", v, e.Than)
	case math.IsInf(v, 1):
		return "not in the run"
	case e.Than != "":
		return fmt.Sprintf("%+.6g%s against %s", v*e.times(), cmp.Or(e.per, suffix(f.Unit)), e.Than)
	case f.Unit == "s":
		return orZero(time.Duration(v * float64(time.Second)).Round(10 * time.Millisecond))
	}
	return fmt.Sprintf("%.6g%s", v*e.times(), cmp.Or(e.per, suffix(f.Unit)))
}

// times is how many of the file's units make one of the figure's own.
func (e *Expectation) times() float64 {
	return cmp.Or(map[string]float64{"%": 100, "/m": 60, "/h": 3600, "/d": 86_400}[e.per], 1)
}

func suffix(unit string) string {
	switch unit {
	case "s":
		return "s"
	case "1/s":
		return "/s"
	}
	return ""
}
