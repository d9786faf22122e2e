package cymphony

import (
	"github.com/throng-dev/throng/internal/repro/experiment"
)

// Experiments lists the tables and figures of the paper, in its order.
func Experiments() []experiment.Experiment {
	return experiment.Explained("docs/papers/cymphony.md", []experiment.Experiment{
		{
			Name: "cymphony-events", Title: "Cymphony: five events, their producers and consumers",
			What:   "the engine, driven through jobs with new workers, answers, disagreement, tasks given back, time-outs and new log-ins, held against the document's table of producers, consumers and queues",
			Source: "Cymphony, Execution Plan, section Events", Reps: 300, Run: runEvents,
		},
	})
}
