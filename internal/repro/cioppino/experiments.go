package cioppino

import (
	"github.com/throng-dev/throng/internal/repro/experiment"
)

// What experiments take. Neither figure 3b nor 3c has a CT-t whose gains could be set.
var (
	noGains   = []experiment.Opened{experiment.OpenPools}
	withGains = []experiment.Opened{experiment.OpenPools, experiment.OpenGains}
)

// Experiments lists the tables and figures of the paper, in its order.
func Experiments() []experiment.Experiment {
	return experiment.Explained("docs/papers/cioppino.md", []experiment.Experiment{
		{
			Name: "cioppino-fig3a", Title: "Cioppino, Figure 3a: who follows the load",
			What:   "a fixed size (S), rules (RB), and PID controllers of throughput (CT-t) and of size (CT-p), when the load goes up",
			Source: "Haas and Franklin 2017, §6.2 in words; the figure's data are not published", Reps: 10, Opens: withGains, Run: figure3a().run,
		},
		{
			Name: "cioppino-fig3b", Title: "Cioppino, Figure 3b: who replaces people who leave",
			What:   "nobody (N), a rule (RB), the average rate (AR) and the hybrid (HR), where people leave after one task in ten",
			Source: "Haas and Franklin 2017, §6.2 in words; the figure's data are not published", Reps: 10, Opens: noGains, Run: figure3b().run,
		},
		{
			Name: "cioppino-fig3c", Title: "Cioppino, Figure 3c: who moves people between pools",
			What:   "nobody (NT), at random (RT), the paper's balance (PB) and ours, when rush hours come by turns",
			Source: "Haas and Franklin 2017, §6.2 in words; the figure's data are not published", Reps: 10, Opens: noGains, Run: figure3c().run,
		},
		{
			Name: "cioppino-fig4", Title: "Cioppino, Figure 4: end to end, on a trace",
			What:   "the paper's baseline (S + RB + NT) against its own choice (CT-t + HR + PB) and against ours, what each part contributes, and for which loads all three gains are had at once",
			Source: "Haas and Franklin 2017, §6.3, Figure 4 and abstract; the authors' trace is not to be had, see below", Reps: 8, Extra: 5, Ends: "without the peak of the surge among the other loads", Trace: true, Opens: withGains, Run: runCioppino4,
		},
		{
			Name: "cioppino-headline", Title: "Cioppino, the headline on generated work",
			What:   "the comparison of Figure 4 on generated work and people with the paper's α and r, over many seeds",
			Source: "Haas and Franklin 2017, §6.3 and abstract, which are about the trace", Reps: 30, Opens: withGains, Run: runCioppinoHeadline,
		},
		{
			Name: "cioppino-search", Title: "Cioppino, a search for a world with the headline",
			What:   "the three gains of the paper's own combination over its baseline on the trace, for each load of the rush hour, interval of control, horizon and beginning of a grid",
			Source: "not in the paper", Reps: 5, Ends: "the two lowest peaks, at one interval and one horizon", Trace: true, Run: runCioppinoSearch,
		},
		{
			Name: "cioppino-sensitivity", Title: "Cioppino, where the gain is real",
			What:   "the three gains of ours over the baseline for abandonment × time to come, at three loads, and for interval of control × load",
			Source: "not in the paper", Reps: 3, Ends: "the ends of each grid", Run: runCioppinoSensitivity,
		},
	})
}
