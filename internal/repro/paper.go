package repro

import (
	"context"
	"runtime/debug"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/sim/pools"
)

// An Experiment is a table or a figure of a paper.
type Experiment struct {
	Name   string `json:"name"`
	Title  string `json:"title"`
	What   string `json:"what"`       // what it shows
	Source string `json:"source"`     // where the published figures are from
	Crowd  bool   `json:"crowd_data"` // uses figures of the real crowd, see calibration.go
	Reps   int    `json:"reps"`       // repetitions, unless told otherwise
	Extra  int    `json:"extra_reps"` // of what the paper does not have or not in this form; 0: there is none
	Trace  bool   `json:"trace"`      // runs on a trace of a crowd, and takes the user's own

	run func(context.Context, *Options) (*Result, error)
}

// Options of a run. The zero value means the experiment's own.
type Options struct {
	Reps     int                  // ≥ 2
	Extra    int                  // ≥ 2, or -1 for none; at most Reps
	Seed     uint64               // the first of Reps seeds, from 1; 0: 1, as the authors
	Progress func(ended, all int) // told how far it is; may be nil
	// Trace is the user's own, for an experiment that takes one; nil: what the
	// experiment has. File is its name, for the report.
	Trace *pools.Trace
	File  string

	small bool // tests: the ends of a grid for all of it, shorter worlds, and none of the largest
}

func (o *Options) progress(ended, all int) {
	if o.Progress != nil {
		o.Progress(ended, all)
	}
}

// Experiments lists them in the order of the papers.
func Experiments() []Experiment {
	return []Experiment{
		{
			Name: "table3", Title: "Table 3: batch completion of deadline and best-effort batches, and what a simulation costs",
			What:   "Table 2's synthetic world over 2,400 s under EDF, FS, SDAFS and DAFS, by the authors' program and by the paper's formulas, and under policies that the paper does not have",
			Source: "Table 3; comp.csv and 2400agg_*_boxplot.pgf of the authors' result files", Reps: 100, Extra: 10, run: runTable3,
		},
		{
			Name: "fig5", Title: "Figure 5: what switching between types of tasks costs people",
			What:   "24 people a group do tasks of two types by turns of 1, 10 or 25",
			Source: "§4.2.3 in words; the figure's data are not published", Crowd: true, Reps: 400, run: runFig5,
		},
		{
			Name: "fig6", Title: "Figure 6: FIFO, SJF, RR and FS before 10 to 15 people",
			What:   "five batches in the controlled set-up, people by the fit to the authors' logs; and the logged runs themselves",
			Source: "§4.3.2 in words; the authors' logs of 7 October 2013", Crowd: true, Reps: 200, run: runFig6,
		},
		{
			Name: "fig7a", Title: "Figure 7(a): a higher price, and so priority, for B2",
			What:   "the same under FS, B2 at $0.02 and at $0.05",
			Source: "§4.3.3 in words; the authors' logs of 7 October 2013", Crowd: true, Reps: 200, run: runFig7a,
		},
		{
			Name: "fig7b", Title: "Figure 7(b): a larger crowd",
			What:   "the same under FS with 10 to 15 and with 20 to 25 people",
			Source: "§4.3.3 in words; the authors' logs of 7 October 2013", Crowd: true, Reps: 200, run: runFig7b,
		},
		{
			Name: "fig8", Title: "Figure 8: time for a task on a pull market, under FS and under WCFS",
			What:   "28 batches of 1 to 45 tasks as individual batches and in a bundle",
			Source: "§4.4.2 in words; the authors' trace", Crowd: true, Reps: 200, run: runFig8,
		},
		{
			Name: "fig9", Title: "Figure 9: when small, medium and large batches are done",
			What:   "the same trace: shares of tasks done over time by size class",
			Source: "§4.4.3 in words; the authors' trace", Crowd: true, Reps: 200, run: runFig9,
		},
		{
			Name: "fig10", Title: "Figure 10: who works on what",
			What:   "the same trace: people at work by batch over time",
			Source: "§4.4.3 in words; the authors' trace", Crowd: true, Reps: 200, run: runFig10,
		},
		{
			Name: "fig11", Title: "Figure 11: FIFO, SJF, RR and FS on five batches, 10 to 200 workers",
			What:   "500 tasks of five kinds with lognormal times, everybody there from the start",
			Source: "§4.5.1 in words; the figure's data are not to be had, an independent program by the same rules stands in for them", Reps: 400, run: runFig11,
		},
		{
			Name: "fig12", Title: "Figure 12: the priority of B2 under fair sharing, 25 workers",
			What:   "the same batches under FS, B2 with priority 1 to 50",
			Source: "full_run_priority_*.csv of the authors' result files, and §4.5.2", Reps: deskRuns, run: runFig12,
		},
		{
			Name: "fig13", Title: "Figure 13: deadline success against α",
			What:   "the share of deadline batches completed in time from full parallelism (α = 0) to full serialisation (α = 1), over 2,400 s; and over 1,200 s, where the authors published 100 scenarios of each policy",
			Source: "2400agg_*_boxplot.pgf, comp.csv, final1200.csv of the authors' result files", Reps: 100, Extra: 10, run: runFig13,
		},
		{
			Name: "fig14", Title: "Figure 14: the four policies at α = 0.4",
			What:   "box plots over scenarios of deadline success and of completion",
			Source: "Figure 14 and §4.6.1; 2400agg_0.4_boxplot.pgf of the authors' result files", Reps: 100, Extra: 10, run: runFig14,
		},
		{
			Name: "fig15", Title: "Figure 15: the four policies at α = 2",
			What:   "the same where deadlines are easy to meet",
			Source: "Figure 15 and §4.6.1, in words: its data were not published", Reps: 100, Extra: 10, run: runFig15,
		},
		{
			Name: "fig16", Title: "Figure 16: the fairness index over time",
			What:   "the index that the authors' program records at each decision, over 1,200 and 2,400 s, and how often it is a finite number",
			Source: "§4.6.2 in words; the published program, re-run at seed 1", Reps: 30, run: runFig16,
		},
		{
			Name: "pareto", Title: "Deadlines against best-effort work: our policy among all",
			What:   "table 2's world with the paper's deadlines at each α, over 2,400 and 1,200 s: laxity against every policy of the paper, what is met and what it costs",
			Source: "not in the paper", Reps: 100, run: runPareto,
		},
		{
			Name: "cioppino-fig3a", Title: "Cioppino, Figure 3a: who follows the load",
			What:   "a fixed size (S), rules (RB), and PID controllers of throughput (CT-t) and of size (CT-p), when the load goes up",
			Source: "Haas and Franklin 2017, §6.2 in words; the figure's data are not published", Reps: 10, run: runCioppino3a,
		},
		{
			Name: "cioppino-fig3b", Title: "Cioppino, Figure 3b: who replaces people who leave",
			What:   "nobody (N), a rule (RB), the average rate (AR) and the hybrid (HR), where people leave after one task in ten",
			Source: "Haas and Franklin 2017, §6.2 in words; the figure's data are not published", Reps: 10, run: runCioppino3b,
		},
		{
			Name: "cioppino-fig3c", Title: "Cioppino, Figure 3c: who moves people between pools",
			What:   "nobody (NT), at random (RT), the paper's balance (PB) and ours, when rush hours come by turns",
			Source: "Haas and Franklin 2017, §6.2 in words; the figure's data are not published", Reps: 10, run: runCioppino3c,
		},
		{
			Name: "cioppino-fig4", Title: "Cioppino, Figure 4: end to end, on a trace",
			What:   "the paper's baseline (S + RB + NT) against its own choice (CT-t + HR + PB) and against ours, what each part contributes, and for which loads all three gains are had at once",
			Source: "Haas and Franklin 2017, §6.3, Figure 4 and abstract; the authors' trace is not to be had, see below", Reps: 8, Extra: 4, Trace: true, run: runCioppino4,
		},
		{
			Name: "cioppino-headline", Title: "Cioppino, the headline on generated work",
			What:   "the comparison of Figure 4 on generated work and people with the paper's α and r, over many seeds",
			Source: "Haas and Franklin 2017, §6.3 and abstract, which are about the trace", Reps: 30, run: runCioppinoHeadline,
		},
		{
			Name: "cioppino-sensitivity", Title: "Cioppino, where the gain is real",
			What:   "the three gains of ours over the baseline for abandonment × time to come, at three loads, and for interval of control × load",
			Source: "not in the paper", Reps: 3, run: runCioppinoSensitivity,
		},
		{
			Name: "sla-e1", Title: "SLA, Figure 6 left (E1): one type of process, F' from 19 to 26",
			What:   "penalties without an order and with listing 1, in the paper's loop and by events, when a peak overloads the services: claims of type T1 only, T' = 5 s",
			Source: slaSource, Reps: 100, Extra: 40, run: runSLAE1,
		},
		{
			Name: "sla-e2", Title: "SLA, Figure 6 right (E2): one type of process, T' from 3 to 10 s",
			What:   "the same by the length of the peak, F' = 20",
			Source: slaSource, Reps: 100, Extra: 40, run: runSLAE2,
		},
		{
			Name: "sla-e3", Title: "SLA, Figure 7 left (E3): two types of process, F' from 22 to 29",
			What:   "the same with claims of types T1 and T2, which may take 8 s, T' = 5 s",
			Source: slaSource, Reps: 100, Extra: 40, run: runSLAE3,
		},
		{
			Name: "sla-e4", Title: "SLA, Figure 7 right (E4): two types of process, T' from 3 to 9 s",
			What:   "the same by the length of the peak, F' = 25",
			Source: slaSource, Reps: 100, Extra: 40, run: runSLAE4,
		},
		{
			Name: "sla-e5", Title: "SLA, Figure 8 left (E5): four types of process and delays, F' from 19 to 26",
			What:   "the same with T1 at three penalties and T2, the analysis late in 10 % of cases, T' = 6 s",
			Source: slaSource, Reps: 100, Extra: 40, run: runSLAE5,
		},
		{
			Name: "sla-e6", Title: "SLA, Figure 8 right (E6): four types of process and delays, T' from 3 to 9 s",
			What:   "the same by the length of the peak, F' = 22",
			Source: slaSource, Reps: 100, Extra: 40, run: runSLAE6,
		},
		{
			Name: "sla-fig9", Title: "SLA, Figure 9: large F', and up to 100,000 running processes",
			What:   "how far the paper's loop carries, what a pass and an event cost, and ours where the loop has long stopped",
			Source: slaSource, Reps: 20, Extra: 2, run: runSLAFig9,
		},
		{
			Name: "sla-orders", Title: "SLA, our order among all",
			What:   "by what share the paper's loop, listing 1 by events and apparent tardiness cost reduce penalties, in sixteen worlds: costs alike and far apart, steps near and far, each form of a penalty, a little and far too much load",
			Source: "not in the paper", Reps: 100, run: runSLAOrders,
		},
		{
			Name: "cymphony-events", Title: "Cymphony: five events, their producers and consumers",
			What:   "the engine, driven through jobs with new workers, answers, disagreement, tasks given back, time-outs and new log-ins, an empty task table and an early end, held against the document's table of producers, consumers and queues",
			Source: "Cymphony, Execution Plan, section Events", Reps: 300, run: runCymphonyEvents,
		},
	}
}

// Run runs an experiment. The error is Invalid for a name that is none and for
// options that make no sense.
func Run(ctx context.Context, name string, o Options) (*Result, error) {
	for _, e := range Experiments() {
		if e.Name == name {
			return e.do(ctx, o)
		}
	}
	return nil, crowd.Fieldf("name", "there is no experiment %q: throng paper list shows them", name)
}

// mostReps keeps a slip of the pen from running for days.
const mostReps = 100_000

func (e *Experiment) do(ctx context.Context, o Options) (*Result, error) {
	if o.Reps == 0 {
		o.Reps = e.Reps
	}
	switch {
	case e.Extra == 0:
		o.Extra = -1
	case o.Extra == 0:
		o.Extra = e.Extra
	}
	if o.Seed == 0 {
		o.Seed = 1
	}
	switch {
	case o.Reps < 2 || o.Reps > mostReps:
		return nil, crowd.Fieldf("reps", "%d repetitions: from 2, for there is no interval of one, to %d", o.Reps, mostReps)
	case o.Extra != -1 && (o.Extra < 2 || o.Extra > mostReps):
		return nil, crowd.Fieldf("extra-reps", "%d repetitions: from 2 to %d, or -1 for none", o.Extra, mostReps)
	case o.Seed+uint64(o.Reps) >= 1<<32:
		return nil, crowd.Fieldf("seed", "the seeds from %d on do not all fit into the 32 bits that the authors' generator takes", o.Seed)
	}
	o.Extra = min(o.Extra, o.Reps)
	if o.Trace != nil && !e.Trace {
		return nil, crowd.Fieldf("trace", "%s does not run on a trace of a crowd", e.Name)
	}
	// A run's garbage is a few megabytes: collecting it less often is a fifth of
	// the time.
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	start := time.Now()
	r, err := e.run(ctx, &o)
	if err != nil {
		return nil, err
	}
	r.Name, r.Title, r.What, r.Source = e.Name, e.Title, e.What, e.Source
	if e.Extra > 0 {
		r.Extra = o.Extra
	}
	r.File = o.File
	r.Seed, r.Reps, r.WallS = o.Seed, o.Reps, time.Since(start).Seconds()
	return r, nil
}
