package pools

import (
	"github.com/throng-dev/throng/crowd"
)

// A Metric is a figure of a pool's outcome.
type Metric struct {
	Name  string
	Unit  string // "1": a share or preference; "": a number
	Words string // what it is
	Of    func(*PoolOutcome) float64
}

// Metrics are all of them, in the order of reports.
var Metrics = []Metric{
	{"throughput", "1/s", "completed tasks a second", func(o *PoolOutcome) float64 { return o.Throughput }},
	{"cost", "money", "paid for waiting, by the engine's ledger", func(o *PoolOutcome) float64 { return float64(o.Cost) / float64(crowd.Unit) }},
	{"mean_wait", "s", "from a task's arrival to somebody's hands, mean over the tasks begun", func(o *PoolOutcome) float64 { return o.MeanWait }},
	{"p95_wait", "s", "95 of 100 tasks begun waited at most so long", func(o *PoolOutcome) float64 { return o.P95Wait }},
	{"mean_wait_all", "s", "mean wait of all tasks, of those in the queue at the end so far", func(o *PoolOutcome) float64 { return o.MeanWaitAll }},
	{"size", "", "people on duty, mean over time", func(o *PoolOutcome) float64 { return o.MeanSize }},
	{"c_star", "", "the best number of people by the true figures, mean over time", func(o *PoolOutcome) float64 { return o.MeanBest }},
	{"gap", "", "|size − c*| by the true figures, mean over time", func(o *PoolOutcome) float64 { return o.Gap }},
	{"own_gap", "", "|size − c*| by what the control has seen, mean over the time in which it knows", func(o *PoolOutcome) float64 { return o.OwnGap }},
	{"utilisation", "1", "share of the people's time with a task in hand, training too", func(o *PoolOutcome) float64 { return o.Utilisation }},
	{"idle", "person-s", "time on duty without a task", func(o *PoolOutcome) float64 { return o.Idled }},
	{"preference", "1", "of the people on duty for their pool, mean over their time", func(o *PoolOutcome) float64 { return o.Preference }},
	{"work_preference", "1", "of whoever did it for its pool, mean over the completed tasks", func(o *PoolOutcome) float64 { return o.WorkPreference }},
	{"moved_from_preference", "1", "of those who moved for the pool they left", func(o *PoolOutcome) float64 { return o.MovedBefore }},
	{"moved_to_preference", "1", "of those who moved for the pool they went to", func(o *PoolOutcome) float64 { return o.MovedAfter }},
	{"arrived", "tasks", "tasks that arrived", func(o *PoolOutcome) float64 { return float64(o.Arrived) }},
	{"completed", "tasks", "tasks completed", func(o *PoolOutcome) float64 { return float64(o.Completed) }},
	{"queue", "tasks", "in the queue at the end", func(o *PoolOutcome) float64 { return float64(o.Queue) }},
	{"started", "people", "at the beginning", func(o *PoolOutcome) float64 { return float64(o.Start) }},
	{"asked", "people", "asked for", func(o *PoolOutcome) float64 { return float64(o.Asked) }},
	{"joined", "people", "came because they were asked", func(o *PoolOutcome) float64 { return float64(o.Joined) }},
	{"withdrawn", "people", "asked for, and no longer wanted before they came", func(o *PoolOutcome) float64 { return float64(o.Withdrawn) }},
	{"refused", "people", "wanted, and not to be had: the crowd was used up", func(o *PoolOutcome) float64 { return float64(o.Refused) }},
	{"passed_over", "people", "of the crowd, not asked since they like the pool too little; counted when they are met first", func(o *PoolOutcome) float64 { return float64(o.PassedOver) }},
	{"abandoned", "people", "left by themselves", func(o *PoolOutcome) float64 { return float64(o.Abandoned) }},
	{"released", "people", "were let go", func(o *PoolOutcome) float64 { return float64(o.Released) }},
	{"moved_in", "people", "came from another pool", func(o *PoolOutcome) float64 { return float64(o.MovedIn) }},
	{"moved_out", "people", "went to another pool", func(o *PoolOutcome) float64 { return float64(o.MovedOut) }},
}
