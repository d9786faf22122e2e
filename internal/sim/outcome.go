package sim

import (
	"time"

	"github.com/throng-dev/throng/crowd"
)

// An Outcome is what a run came to.
type Outcome struct {
	Policy  string
	Rep     int
	Batches []BatchOutcome // those that arrived, in order of arrival
	End     time.Duration  // when the run ended
	Done    bool           // nothing was left to do, and nothing to come

	HandOuts int64 // assignments begun
	Answers  int64 // that counted
	Late     int64 // answers that came after their lease, or after their task or batch was done
	Expired  int64 // leases that ran out
	GivenUp  int64 // skips and returns
	Switches int64 // assignments of another batch than the worker's last
	Labels   int64
	Right    int64 // labels that are the truth
	Judged   int64 // labels of kinds that have options

	// Fairness of x_b = R_b/(P_b T_b) over the open batches, as means over time:
	// Jain's index while somebody works, J∞ (eq. 2 of Difallah et al. 2019) while
	// it is finite, and the share of the time with an open batch in which it is.
	// NaN without Record.Samples.
	Jain, JInf, JInfFinite float64

	Crowd   CrowdOutcome
	Samples Samples
	// Finished counts labels over time, for each of Setup.Classes.
	Finished []Timeline
}

// A BatchOutcome is what became of a batch.
type BatchOutcome struct {
	Batch
	Class     int           // index in Setup.Classes
	Started   time.Duration // first hand-out; -1: none
	Completed time.Duration // when its last label came; -1: not in the run
	Ended     time.Duration // when it was completed or its lifetime ended it; -1: not in the run
	Wanted    int           // answers wanted, as long as it ran
	Planned   int           // answers wanted in the end: of one that was ended, those that came
	Answers   int           // counted
	Running   int           // in somebody's hands at the end
	Labelled  int           // tasks with a label
	Spent     crowd.Money
}

// Done returns the share of the wanted answers that have come, 0 to 1.
func (b *BatchOutcome) Done() float64 { return share(b.Answers, b.Wanted) }

// Begun returns the share that has come or is in somebody's hands, 0 to 1: what
// the published simulator of Difallah et al. 2019 takes for completion.
func (b *BatchOutcome) Begun() float64 { return share(b.Answers+b.Running, b.Wanted) }

func share(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return min(float64(n)/float64(of), 1)
}

// InTime reports whether a batch was completed by its deadline; false without one.
func (b *BatchOutcome) InTime() bool {
	return b.Deadline > 0 && b.Completed >= 0 && b.Completed <= b.At+b.Deadline
}

// A CrowdOutcome is how the people spent their time.
type CrowdOutcome struct {
	Came    int           // workers who came in
	Turned  int           // who found the door closed (see Arrivals.Band)
	Stayed  int           // there at the end
	Present time.Duration // time in the pool, summed over workers
	Worked  time.Duration // with a task in hand
	Waited  time.Duration // for a task
}

// Samples are figures at equal steps of time.
type Samples struct {
	Every time.Duration
	List  []Sample
}

// A Sample is of the moment just after what happens at At.
type Sample struct {
	At                        time.Duration
	Workers, Working, Waiting int32   // people
	Open                      int32   // batches
	Queue                     int64   // answers wanted that nobody works on
	Answers                   int64   // counted so far
	Spent                     float64 // currency units
	// Fairness of x_b = R_b/(P_b T_b) over the open batches: Jain's index, 1/n
	// to 1 (NaN: nobody works), and J∞ ≤ -n (-Inf: some open batch has nobody;
	// NaN: no batch is open).
	Jain, JInf float64
	// Allocation lists the batches that somebody works on, in order; only with
	// Record.Allocation.
	Allocation []Allocated
}

// Allocated is how many people work on a batch.
type Allocated struct {
	Batch   int32 // index in Outcome.Batches
	Running int32
}

// A Timeline counts things by time in steps of equal length, whatever the
// length of the run: when it is full, two steps become one.
type Timeline struct {
	Step   time.Duration
	Counts []int64 // Counts[i] from i·Step to (i+1)·Step
	Total  int64
}

const timelineSteps = 1024

// add counts one at a time ≥ 0.
func (t *Timeline) add(at time.Duration) {
	if t.Step == 0 {
		t.Step = time.Second
	}
	i := int(at / t.Step)
	for i >= timelineSteps {
		for k := range t.Counts {
			n := t.Counts[k]
			t.Counts[k] = 0
			t.Counts[k/2] += n
		}
		t.Counts = t.Counts[:(len(t.Counts)+1)/2]
		t.Step *= 2
		i = int(at / t.Step)
	}
	for i >= len(t.Counts) {
		t.Counts = append(t.Counts, 0)
	}
	t.Counts[i]++
	t.Total++
}

// Merge adds the counts of another timeline. Steps are doublings of one another,
// so nothing is split, and the order of additions changes nothing.
func (t *Timeline) Merge(from *Timeline) {
	if from.Total == 0 {
		return
	}
	step := max(t.Step, from.Step)
	sum := make([]int64, 0, max(len(t.Counts), len(from.Counts)))
	for _, part := range []*Timeline{t, from} {
		for i, n := range part.Counts {
			k := int(int64(i) * int64(part.Step) / int64(step))
			for len(sum) <= k {
				sum = append(sum, 0)
			}
			sum[k] += n
		}
	}
	t.Step, t.Counts, t.Total = step, sum, t.Total+from.Total
}
