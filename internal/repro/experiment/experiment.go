package experiment

import (
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/similarity"
	"github.com/throng-dev/throng/internal/sim/pools"
)

// An Experiment is a table or a figure of a paper.
type Experiment struct {
	Name   string   `json:"name"`
	Title  string   `json:"title"`
	What   string   `json:"what"`       // what it shows
	Source string   `json:"source"`     // where the published figures are from
	Crowd  bool     `json:"crowd_data"` // uses figures of the real crowd that the authors logged
	Reps   int      `json:"reps"`       // repetitions, unless told otherwise
	Extra  int      `json:"extra_reps"` // of what the paper does not have or not in this form; 0: there is none
	Trace  bool     `json:"trace"`      // runs on a trace of a crowd, and takes the user's own
	Opens  []Opened `json:"open"`       // which parts of Options.Open it takes
	Ends   string   `json:"small"`      // what it leaves out if it is to be small, besides repetitions; "": nothing, as its rows are of the whole grid

	// NotMade says why it cannot be made again; "": it can.
	NotMade string `json:"not_made,omitempty"`

	Doc string                                         `json:"-"` // the document that explains the reasons of its rows
	Run func(context.Context, *Options, *Result) error `json:"-"`
}

// Explained sets the document of a list of experiments.
func Explained(doc string, list []Experiment) []Experiment {
	for i := range list {
		list[i].Doc = doc
	}
	return list
}

// Options of a run. The zero value means the experiment's own.
type Options struct {
	Reps     int                  // ≥ 2
	Extra    int                  // ≥ 2, or -1 for none; at most Reps
	Seed     uint64               // the first of Reps seeds, from 1; 0: 1, as the authors
	Small    bool                 // a tenth of the repetitions where Reps and Extra do not say; and as Experiment.Ends
	Progress func(ended, all int) // called after each repetition; may be nil

	// Trace is the user's own, for an experiment that takes one; nil: what the
	// experiment has.
	Trace *pools.Trace
	File  string // the name of Trace, for the report

	Open Open
}

// Open is what papers leave open, for the experiments that take it. The zero value means
// what the experiment takes.
type Open struct {
	// Of OpenSLA.
	F0   *float64 // processes a second outside the peak, > 0
	T0   *float64 // seconds in which processes begin, at least as long as the longest peak
	K    *float64 // inaccuracy of service times, from 0 to 1
	Even bool     // equal gaps between processes; else exponential

	// Of OpenPools.
	Low  *float64       // people that an application keeps busy outside its rush hour, > 0
	High *float64       // and in it, at least Low
	Step *time.Duration // from one control step to the next, > 0
	// Start is how many people a pool begins with, ≥ 0, but for S, of which the paper says it.
	Start *int

	// Of OpenGains, where the paper's CT-t runs.
	Kp *float64 // its gain of the error, ≥ 0
	Ki *float64 // and of the sum of the errors, ≥ 0
}

// Opened is a part of Open, by the names of the experiments that take it.
type Opened string

// The parts of Open.
const (
	OpenSLA   Opened = "sla-e1 to sla-e6"
	OpenPools Opened = "cioppino-fig3a to cioppino-headline"
	OpenGains Opened = "cioppino-fig3a, cioppino-fig4 and cioppino-headline"
)

// flags are the flags that set what is not zero, by part.
func (p *Open) flags() map[Opened]string {
	flags := map[Opened]string{}
	number := func(of Opened, name string, value *float64) {
		if value != nil {
			flags[of] += fmt.Sprintf(" --%s %g", name, *value)
		}
	}
	number(OpenSLA, "f0", p.F0)
	number(OpenSLA, "t0", p.T0)
	number(OpenSLA, "k", p.K)
	if p.Even {
		flags[OpenSLA] += " --gaps equal"
	}
	number(OpenPools, "low", p.Low)
	number(OpenPools, "high", p.High)
	if p.Step != nil {
		flags[OpenPools] += " --step " + p.Step.String()
	}
	if p.Start != nil {
		flags[OpenPools] += fmt.Sprintf(" --start %d", *p.Start)
	}
	number(OpenGains, "kp", p.Kp)
	number(OpenGains, "ki", p.Ki)
	return flags
}

// Report calls Progress.
func (o *Options) Report(ended, all int) {
	if o.Progress != nil {
		o.Progress(ended, all)
	}
}

// Duration is so many seconds, to the nearest nanosecond.
func Duration(s float64) time.Duration { return time.Duration(math.Round(s * float64(time.Second))) }

// Run runs an experiment of a list. The error is Invalid for a name that is none
// and for options that make no sense.
func Run(ctx context.Context, list []Experiment, name string, o Options) (*Result, error) {
	for i := range list {
		if list[i].Name == name && list[i].NotMade != "" {
			return nil, crowd.Fieldf("name", "%s is not made again: %s", name, list[i].NotMade)
		}
		if list[i].Name == name {
			return list[i].run(ctx, o)
		}
	}
	return nil, crowd.Fieldf("name", "there is no experiment %q: throng paper list shows them%s", name,
		similarity.DidYouMean(name, lists.Map(list, func(x Experiment) string { return x.Name })))
}

// maxReps bounds a run to hours.
const maxReps = 100_000

// fill sets the options that are left out.
func (e *Experiment) fill(o *Options) {
	reps, extra := e.Repetitions(o.Small)
	if o.Reps == 0 {
		o.Reps = reps
	}
	switch {
	case e.Extra == 0:
		o.Extra = -1
	case o.Extra == 0:
		o.Extra = extra
	}
	if o.Seed == 0 {
		o.Seed = 1
	}
}

// Repetitions returns how many it has unless told otherwise, and of what the paper does not
// have.
func (e *Experiment) Repetitions(small bool) (reps, extra int) {
	if !small {
		return e.Reps, e.Extra
	}
	if e.Extra > 0 {
		extra = max(e.Extra/smallShare, 2)
	}
	return max(e.Reps/smallShare, 2), extra
}

// smallShare is what share of the repetitions a small run has: one of so many.
const smallShare = 10

func (e *Experiment) run(ctx context.Context, o Options) (*Result, error) {
	e.fill(&o)
	switch {
	case o.Reps < 2 || o.Reps > maxReps:
		return nil, crowd.Fieldf("reps", "%d repetitions: from 2, for there is no interval of one, to %d", o.Reps, maxReps)
	case o.Extra != -1 && (o.Extra < 2 || o.Extra > maxReps):
		return nil, crowd.Fieldf("extra-reps", "%d repetitions: from 2 to %d, or -1 for none", o.Extra, maxReps)
	case o.Seed+uint64(o.Reps) >= 1<<32:
		return nil, crowd.Fieldf("seed", "the seeds from %d on do not all fit into the 32 bits that the authors' generator takes", o.Seed)
	}
	o.Extra = min(o.Extra, o.Reps)
	if o.Trace != nil && !e.Trace {
		return nil, crowd.Fieldf("trace", "%s does not run on a trace of a crowd", e.Name)
	}
	flags := o.Open.flags()
	own := ""
	for _, of := range []Opened{OpenSLA, OpenPools, OpenGains} {
		switch text := flags[of]; {
		case text == "":
		case !slices.Contains(e.Opens, of):
			return nil, crowd.Fieldf("name", "%s does not take%s: %s do", e.Name, text, of)
		default:
			own += text
		}
	}
	// A run's garbage is a few megabytes: collecting it less often is a fifth of
	// the time.
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	start := time.Now()
	r := &Result{Name: e.Name, Title: e.Title, What: e.What, Source: e.Source, Doc: e.Doc, Seed: o.Seed, Reps: o.Reps, File: o.File, Small: o.Small, Settings: strings.TrimSpace(own)}
	if e.Extra > 0 {
		r.Extra = o.Extra
	}
	if err := e.Run(ctx, &o, r); err != nil {
		return nil, err
	}
	if own != "" {
		// Whoever tries worlds until one agrees has chosen it with its rows in view.
		r.Rows = lists.Map(r.Rows, func(row Row) Row { return row.As(OfFitted) })
		r.Note("Made with settings of the reader's own (" + strings.TrimSpace(own) + "), so that every row with a verdict is fitted; the reasons are of the defaults.")
	}
	r.WallS = time.Since(start).Seconds()
	return r, nil
}
