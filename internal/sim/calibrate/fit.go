// Package calibrate calibrates the simulator on the log of a real crowd: it turns one
// row an answer into the kinds and the crowd of a scenario, and reports how well
// they describe the log.
//
// # The model
//
// It is the simulator's own. The n-th answer of a worker to tasks of a kind
// within a visit takes
//
//	seconds = Service × SwitchFactor (after a task of another kind) × n^-Learning / speed
//
// with a Service drawn for each answer and a speed that a worker keeps. So
// Service is the time of somebody new, of usual speed, who comes from a task of
// the same kind. In logarithms the factors are sums, and that is how they are
// estimated: see [Estimate].
//
// # What it refuses to do
//
// It judges nothing that a log cannot show, such as how long people wait for a
// task before they leave, and leaves that out of the model. It never drops an
// answer because it is unusual. It reads no file and no clock: logs are handed
// in, and the random figures of the bootstrap and of the checks come from fixed
// streams, so that the same log gives the same model.
package calibrate

import (
	"fmt"
	"math"
	"slices"

	"github.com/throng-dev/throng/crowd"
)

// Few is the number of answers below which a kind gets no distribution of its
// own.
const Few = 30

// seed is that of all random figures here.
const seed = 1

// A Model is what was fitted.
type Model struct {
	Answers, Workers, Visits int
	Left                     Left
	Rounding                 Rounding
	Derived                  bool // who switched was derived from the order
	Kinds                    []*KindFit
	// Pooled are the effects over all kinds; SwitchAlone is the factor of a
	// switch where practice is not taken into account.
	SwitchAlone, Switch, Learning Effect
	Speed                         SpeedFit
	Crowd                         CrowdFit
	GaveUp                        *Seconds // how long before people gave a task up; nil: not known
	notes                                  // what a user should know before relying on it
}

// An Effect is an estimate with its 95 % interval: NaN where there is none.
type Effect struct {
	Value, Lo, Hi float64
	N             int // answers that it is from
	Cells         int // a worker's answers to one kind in one visit, where the effect shows
}

// Known reports whether there was anything to estimate it from.
func (e Effect) Known() bool { return e.Cells > 0 && !math.IsNaN(e.Value) }

// A KindFit is the model of a kind, and how it compares with the log.
type KindFit struct {
	Name     string
	N        int
	Workers  int
	Service  Seconds
	Median   Effect // of Service; its interval is from the bootstrap
	Sigma    Effect // of ln Service
	Switch   Effect // its own estimate, of the factor
	Learning Effect // its own estimate, of the exponent
	// What is written: own estimates drawn towards those of all kinds, as far
	// as the log cannot tell them apart.
	SwitchFactor, LearningExponent float64
	Skip, Return, Vanish           float64 // per hand-out; NaN: the log does not say
	HandOuts                       int
	Check                          Check
	Tasks, PerTask                 int // of a batch in a run, as far as the log says: median; 0: not known

	data     []float64   // seconds as stored
	adjusted []float64   // of Service: what the seconds would be without the effects
	drawn    []float64   // the check's
	byN      [][]float64 // data by n-th task
	drawnByN [][]float64
}

// A SpeedFit is how workers differ.
type SpeedFit struct {
	Sigma Effect // standard deviation of ln speed over workers

	estimates []float64 // of each worker, drawn towards 1
}

// Fit estimates a model. The check simulates the log, and the intervals are from
// samples of the workers: 200 times each, or fewer of a log that is large.
func Fit(log *Log, stored Rounding) (*Model, error) {
	affordable := min(200, 4_000_000/(len(log.Answers)+1))
	if len(log.Answers) == 0 {
		return nil, crowd.Errorf(crowd.Invalid, "there is no answer to fit to%s", log.Left.words())
	}
	r, err := stored.resolve(log.Answers)
	if err != nil {
		return nil, err
	}
	d := newDesign(log, r)
	if len(d.kinds) > maxKinds {
		return nil, crowd.Fieldf("kind", "the log has %d kinds of tasks (at most %d): is it the right column?", len(d.kinds), maxKinds)
	}
	m := &Model{Answers: len(log.Answers), Left: log.Left, Rounding: r, Derived: log.Derived}
	m.Workers, m.Visits = d.workers, d.visits
	m.Kinds = make([]*KindFit, len(d.kinds))
	for k := range m.Kinds {
		m.Kinds[k] = &KindFit{Name: d.kinds[k]}
	}
	m.effects(d)
	p := m.people(d)
	m.intervals(d, max(40, affordable))
	m.services(d, p)
	m.gaveUp(log, d)
	m.sizes(log, d)
	m.Crowd = fitCrowd(log)
	m.check(d, p, max(20, affordable))
	m.remarks(d)
	return m, nil
}

// notes are remarks.
type notes struct{ Notes []string }

func (n *notes) note(format string, args ...any) {
	n.Notes = append(n.Notes, fmt.Sprintf(format, args...))
}

// remarks are about the whole.
func (m *Model) remarks(d *design) {
	if m.Workers == 1 {
		m.note("one worker only: their speed cannot be told from the tasks' times; no speed is written")
	}
	if m.Derived {
		m.note("the log does not say what a worker did before: taken from the order of the rows within worker and run")
	}
	if !m.Switch.Known() {
		m.note("nobody changed between kinds within a visit: no cost of a switch is written")
	}
	if !m.Learning.Known() {
		m.note("no worker answered a kind twice in a visit: no learning is written")
	}
	for _, k := range m.Kinds {
		if k.Check.KS > worthSaying && k.N >= Few {
			m.note("%s: simulated and observed times differ visibly (KS %.2f)", k.Name, k.Check.KS)
		}
	}
	m.Notes = append(m.Notes, m.Crowd.Notes...)
}

// worthSaying is a distance between distribution functions that shows in a
// picture, and below which no decision of a scheduler would change.
const worthSaying = 0.1

func orZero(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}

// sizes returns how many tasks a run has of a kind, and how many answers each
// wants, where the log names its tasks: the medians over the runs.
func (m *Model) sizes(log *Log, d *design) {
	type part struct {
		kind int
		run  string
	}
	answers := map[part]int{}
	tasks := map[part]map[string]bool{}
	for i, a := range log.Answers {
		p := part{d.kind[i], a.Run}
		answers[p]++
		if a.Task != "" {
			if tasks[p] == nil {
				tasks[p] = map[string]bool{}
			}
			tasks[p][a.Task] = true
		}
	}
	for k := range m.Kinds {
		var sizes, each []float64
		for p, n := range answers {
			if p.kind != k {
				continue
			}
			size := max(len(tasks[p]), 1)
			if tasks[p] == nil {
				size = n
			}
			sizes = append(sizes, float64(size))
			each = append(each, float64(n)/float64(size))
		}
		slices.Sort(sizes)
		slices.Sort(each)
		m.Kinds[k].Tasks = int(math.Round(sizes[len(sizes)/2]))
		m.Kinds[k].PerTask = max(1, int(math.Round(each[len(each)/2])))
	}
}

// gaveUp turns skips and returns into probabilities for each hand-out.
func (m *Model) gaveUp(log *Log, d *design) {
	var after []float64
	counts := map[string]map[crowd.AssignmentState]int{}
	for _, g := range log.GaveUp {
		if counts[g.Kind] == nil {
			counts[g.Kind] = map[crowd.AssignmentState]int{}
		}
		counts[g.Kind][g.How]++
		if g.Seconds > 0 && g.How != crowd.Expired {
			after = append(after, g.Seconds)
		}
	}
	for _, k := range m.Kinds {
		k.HandOuts = k.N
		k.Skip, k.Return, k.Vanish = math.NaN(), math.NaN(), math.NaN()
		if !log.Skips {
			continue
		}
		c := counts[k.Name]
		k.HandOuts += c[crowd.Skipped] + c[crowd.Returned] + c[crowd.Expired]
		of := float64(k.HandOuts)
		k.Skip, k.Return, k.Vanish = float64(c[crowd.Skipped])/of, float64(c[crowd.Returned])/of, float64(c[crowd.Expired])/of
	}
	if len(after) > 0 {
		m.GaveUp = chooseSeconds(after)
	}
}
