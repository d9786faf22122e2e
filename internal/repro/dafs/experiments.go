package dafs

import (
	"github.com/throng-dev/throng/internal/repro/experiment"
)

// Experiments lists the tables and figures of the paper, in its order.
func Experiments() []experiment.Experiment {
	return experiment.Explained("docs/papers/dafs.md", []experiment.Experiment{
		{
			Name: "table3", Title: "Table 3: batch completion of deadline and best-effort batches, and what a simulation costs",
			What:   "Table 2's synthetic world over 2,400 s under EDF, FS, SDAFS and DAFS, by the authors' program and by the paper's formulas, and under policies that the paper does not have",
			Source: "Table 3; comp.csv and 2400agg_*_boxplot.pgf of the authors' result files", Reps: 100, Extra: 10, Run: runTable3,
		},
		{
			Name: "fig5", Title: "Figure 5: what switching between types of tasks costs people",
			What:   "24 people a group do tasks of two types by turns of 1, 10 or 25",
			Source: "§4.2.3 in words; the figure's data are not published", Crowd: true, Reps: 400, Run: runFig5,
		},
		{
			Name: "fig6", Title: "Figure 6: FIFO, SJF, RR and FS before 10 to 15 people",
			What:   "five batches in the controlled set-up, people by the fit to the authors' logs; and the logged runs themselves",
			Source: "§4.3.2 in words; the authors' logs of 7 October 2013", Crowd: true, Reps: 200, Run: figure6().run,
		},
		{
			Name: "fig7a", Title: "Figure 7(a): a higher price, and so priority, for B2",
			What:   "the same under FS, B2 at $0.02 and at $0.05",
			Source: "§4.3.3 in words; the authors' logs of 7 October 2013", Crowd: true, Reps: 200, Run: figure7a().run,
		},
		{
			Name: "fig7b", Title: "Figure 7(b): a larger crowd",
			What:   "the same under FS with 10 to 15 and with 20 to 25 people",
			Source: "§4.3.3 in words; the authors' logs of 7 October 2013", Crowd: true, Reps: 200, Run: figure7b().run,
		},
		{
			Name: "fig8", Title: "Figure 8: time for a task on a pull market, under FS and under WCFS",
			What:   "28 batches of 1 to 45 tasks as individual batches and in a bundle",
			Source: "§4.4.2 in words; the authors' trace", Crowd: true, Reps: 200, Run: runFig8,
		},
		{
			Name: "fig9", Title: "Figure 9: when small, medium and large batches are done",
			What:   "the same trace: shares of tasks done over time by size class",
			Source: "§4.4.3 in words; the authors' trace", Crowd: true, Reps: 200, Run: runFig9,
		},
		{
			Name: "fig10", Title: "Figure 10: who works on what",
			What:   "the same trace: people at work by batch over time",
			Source: "§4.4.3 in words; the authors' trace", Crowd: true, Reps: 200, Run: runFig10,
		},
		{
			Name: "fig11", Title: "Figure 11: FIFO, SJF, RR and FS on five batches, 10 to 200 workers",
			What:   "500 tasks of five kinds with lognormal times, everybody there from the start",
			Source: "§4.5.1 in words; the figure's data are not to be had, an independent program by the same rules stands in for them", Reps: 400, Run: runFig11,
		},
		{
			Name: "fig12", Title: "Figure 12: the priority of B2 under fair sharing, 25 workers",
			What:   "the same batches under FS, B2 with priority 1 to 50",
			Source: "full_run_priority_*.csv of the authors' result files, and §4.5.2", Reps: figure12Runs, Run: runFig12,
		},
		{
			Name: "fig13", Title: "Figure 13: deadline success against α",
			What:   "the share of deadline batches completed in time from full parallelism (α = 0) to full serialisation (α = 1), over 2,400 s; and over 1,200 s, where the authors published 100 scenarios of each policy",
			Source: "2400agg_*_boxplot.pgf, comp.csv, final1200.csv of the authors' result files", Reps: 100, Extra: 10, Run: runFig13,
		},
		{
			Name: "fig14", Title: "Figure 14: the four policies at α = 0.4",
			What:   "box plots over scenarios of deadline success and of completion",
			Source: "Figure 14 and §4.6.1; 2400agg_0.4_boxplot.pgf of the authors' result files", Reps: 100, Extra: 10, Run: runFig14,
		},
		{
			Name: "fig15", Title: "Figure 15: the four policies at α = 2",
			What:   "the same where deadlines are easy to meet",
			Source: "Figure 15 and §4.6.1, in words: its data were not published", Reps: 100, Extra: 10, Run: runFig15,
		},
		{
			Name: "fig16", Title: "Figure 16: the fairness index over time",
			What:   "the index that the authors' program records at each decision, over 1,200 and 2,400 s, and how often it is a finite number",
			Source: "§4.6.2 in words; the published program, re-run at seed 1", Reps: 30, Run: runFig16,
		},
		{
			Name: "pareto", Title: "Deadlines against best-effort work: our policy among all",
			What:   "table 2's world with the paper's deadlines at each α, over 2,400 and 1,200 s: laxity against every policy of the paper, what is met and what it costs",
			Source: "not in the paper", Reps: 100, Ends: "over 600 and 300 s", Run: runPareto,
		},
	})
}
