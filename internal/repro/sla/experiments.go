package sla

import (
	"github.com/throng-dev/throng/internal/repro/experiment"
)

// Experiments lists the tables and figures of the paper, in its order.
func Experiments() []experiment.Experiment {
	return experiment.Explained("docs/papers/sla.md", []experiment.Experiment{
		{
			Name: "sla-e1", Title: "SLA, Figure 6 left (E1): one type of process, F' from 19 to 26",
			What:   "penalties without an order and with listing 1, in the paper's loop and by events, when a peak overloads the services: claims of type T1 only, T' = 5 s",
			Source: slaSource, Reps: 100, Extra: 40, Opens: []experiment.Opened{experiment.OpenSLA}, Run: slaE1.run,
		},
		{
			Name: "sla-e2", Title: "SLA, Figure 6 right (E2): one type of process, T' from 3 to 10 s",
			What:   "the same by the length of the peak, F' = 20",
			Source: slaSource, Reps: 100, Extra: 40, Opens: []experiment.Opened{experiment.OpenSLA}, Run: slaE2.run,
		},
		{
			Name: "sla-e3", Title: "SLA, Figure 7 left (E3): two types of process, F' from 22 to 29",
			What:   "the same with claims of types T1 and T2, which may take 8 s, T' = 5 s",
			Source: slaSource, Reps: 100, Extra: 40, Opens: []experiment.Opened{experiment.OpenSLA}, Run: slaE3.run,
		},
		{
			Name: "sla-e4", Title: "SLA, Figure 7 right (E4): two types of process, T' from 3 to 9 s",
			What:   "the same by the length of the peak, F' = 25",
			Source: slaSource, Reps: 100, Extra: 40, Opens: []experiment.Opened{experiment.OpenSLA}, Run: slaE4.run,
		},
		{
			Name: "sla-e5", Title: "SLA, Figure 8 left (E5): four types of process and delays, F' from 19 to 26",
			What:   "the same with T1 at three penalties and T2, the analysis late in 10 % of cases, T' = 6 s",
			Source: slaSource, Reps: 100, Extra: 40, Opens: []experiment.Opened{experiment.OpenSLA}, Run: slaE5.run,
		},
		{
			Name: "sla-e6", Title: "SLA, Figure 8 right (E6): four types of process and delays, T' from 3 to 9 s",
			What:   "the same by the length of the peak, F' = 22",
			Source: slaSource, Reps: 100, Extra: 40, Opens: []experiment.Opened{experiment.OpenSLA}, Run: slaE6.run,
		},
		{
			Name: "sla-fig9", Title: "SLA, Figure 9: large F', and up to 100,000 running processes",
			What:   "how far the paper's loop carries, what a pass and an event cost, and ours where the loop has long stopped",
			Source: slaSource, Reps: 20, Extra: 2, Ends: "the three lowest scales and the four smallest sizes", Run: runSLAFig9,
		},
		{
			Name: "sla-search", Title: "SLA, a search for a world in which the claim holds in E1 and E2",
			What:   "by what share the paper's loop and listing 1 by events reduce penalties in the middle of E1 and of E2, for each F₀, T₀, k and way in which processes come, of a grid",
			Source: "not in the paper", Reps: 100, Ends: "one F₀, T₀ and k, with both ways in which processes come", Run: runSLASearch,
		},
		{
			Name: "sla-orders", Title: "SLA, our order among all",
			What:   "by what share the paper's loop, listing 1 by events and apparent tardiness cost reduce penalties, in sixteen worlds: costs alike and far apart, steps near and far, each form of a penalty, a little and far too much load",
			Source: "not in the paper", Reps: 100, Run: runSLAOrders,
		},
		{
			Name: "sla-people", Title: "SLA, our orders between batches, where people work",
			What:   "what items cost by their age under fifo, fair shares, listing 1, apparent tardiness cost and the order by what is left to do, in sixteen worlds of people who work at processes of several steps, and the least that they can cost at all in three small ones",
			Source: "not in the paper", Reps: 20, Run: runSLAPeople,
		},
	})
}
