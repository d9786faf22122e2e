package dafs

import "github.com/throng-dev/throng/internal/repro/experiment"

// NotMade lists the figures of the paper that are not made again, and why.
func NotMade() []experiment.Experiment {
	const ownConclusion = "people chose the batches on a marketplace, and neither their choices nor the figure's data are published; " +
		"our model of a marketplace (market) is told how much people prefer large batches, so it would only give back what it is told"
	return []experiment.Experiment{
		{
			Name: "fig1", Title: "Figure 1: throughput of batches on a marketplace, by size (starvation)",
			What: "tasks a minute of batches of four sizes, three months of logs of a marketplace", Source: "§1; logs of mturk-tracker.com, January to March 2014", Crowd: true,
			NotMade: "it is an analysis of logs that are not published with the paper, of a marketplace that has closed: there is nothing to simulate",
		},
		{
			Name: "fig3", Title: "Figure 3: a large batch, and the same tasks split up",
			What: "600 tasks of B6 as 1, 10 and 60 batches", Source: "§4.2.1", Crowd: true, NotMade: ownConclusion,
		},
		{
			Name: "fig4", Title: "Figure 4: two batches apart, and merged into one bundle",
			What: "96 tasks each of B6 and B7, apart and together", Source: "§4.2.2", Crowd: true, NotMade: ownConclusion,
		},
	}
}
