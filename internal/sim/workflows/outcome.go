package workflows

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// sampled is about how many samples over time there are while a load comes.
const sampled = 200

// maxSamples bounds the samples of a simulation whose queues take long to empty.
const maxSamples = 20 * sampled

// Sample is what there was at a time.
type Sample struct {
	At     time.Duration
	Going  int   // items, or runs, that were born and have not ended
	Queues []int // tasks that wait for people, by pool
}

// sampler keeps samples at equal distances.
type sampler struct {
	every time.Duration // 0: it keeps none
	next  time.Duration
	list  []Sample
}

// sample keeps what there is before the clock moves.
func (w *world) sample(to time.Time) {
	s := &w.samples
	if s.every == 0 {
		return
	}
	for until := to.Sub(w.out.Began); s.next < until && len(s.list) < maxSamples; s.next += s.every {
		x := Sample{At: s.next}
		for _, id := range w.poolIDs() {
			x.Queues = append(x.Queues, w.pools[id].Reading(w.now).Queue)
		}
		s.list = append(s.list, x)
	}
}

// Outcome is what came of a simulation under a load.
type Outcome struct {
	Arrived     int // rows of all inputs, or runs
	Ended       int // items, or runs
	Promised    int // what Late is of: those that ended, or items of all runs, if the SLA is per item
	Late        int // of those, what cost something
	GaveUp      int // items that failed in a step, whether it held them first or not
	Penalty     crowd.Money
	Spent       crowd.Money
	Latency     []float64 // seconds from the arrival to the end of what ended, in order of time
	Duration    time.Duration
	Answers     int64
	Calls       int64 // of services, the tries that failed among them
	FailedCalls int64
	Classes     []ClassOutcome // of items, in the order of the file; nil: there are none
	Pools       []PoolOutcome
	Steps       []Step
	Samples     []Sample
	DeadEnds    int   // runs that came and cannot end; the figures are of the others
	DeadEnd     error // why the first of them cannot; nil: there are none
	Lost        bool  // no run has ended: there are no figures
}

// ClassOutcome is what came of the items of a class: Ended, Promised, Late, Penalty and Latency.
type ClassOutcome struct {
	Name string
	Outcome
}

// PoolOutcome is what a pool did.
type PoolOutcome struct {
	Name        string
	People      int
	Utilisation float64 // share of its people's time, until all had ended, that answers took
	Queue       float64 // tasks that waited, mean over time
	MaxQueue    int
}

// outcome measures a simulation under a load, of the runs that have ended.
func (w *world) outcome(ctx context.Context) (*Outcome, error) {
	o := &Outcome{
		Arrived: w.arrived, Duration: w.out.Ended.Sub(w.out.Began), Answers: w.out.Answers,
		Calls: w.out.Calls, FailedCalls: w.out.FailedCalls, Samples: w.samples.list,
		DeadEnds: len(w.lost), Lost: len(w.lost) > 0 && len(w.ended) == 0,
	}
	if !w.Load.Runs {
		o.Arrived *= len(Streams(w.out.Flow))
	}
	if o.DeadEnds > 0 {
		o.DeadEnd = w.lost[0]
	}
	perItem := w.out.Flow.SLA != nil && w.out.Flow.SLA.PerItem
	births := w.births
	var ends []time.Duration
	for _, r := range w.ended {
		o.Penalty = o.Penalty.Plus(r.Penalty)
		if perItem {
			o.Late += int(r.Late)
		} else if r.Penalty > 0 {
			o.Late++
		}
		if perItem && w.Load.Runs {
			items, _, err := w.out.Orchestrator.Ended(ctx, 0, r.ID, math.MaxInt)
			if err != nil {
				return nil, err
			}
			o.Promised += len(items)
		}
		if w.Load.Runs {
			o.Latency = append(o.Latency, r.EndedAt.Sub(r.StartedAt).Seconds())
			ends = append(ends, r.EndedAt.Sub(w.out.Began))
		}
		if err := w.addSteps(ctx, o, r.ID); err != nil {
			return nil, err
		}
	}
	if !w.Load.Runs {
		list, _, err := w.out.Orchestrator.Ended(ctx, 0, w.out.Run, math.MaxInt)
		if err != nil {
			return nil, err
		}
		for _, x := range list {
			o.Latency = append(o.Latency, x.At.Sub(x.Born).Seconds())
			births, ends = append(births, x.Born.Sub(w.out.Began)), append(ends, x.At.Sub(w.out.Began))
		}
	}
	if err := w.addClasses(ctx, o); err != nil {
		return nil, err
	}
	o.Ended = len(o.Latency)
	switch {
	case !perItem:
		o.Promised = len(w.ended)
	case !w.Load.Runs:
		o.Promised = o.Ended
	}
	w.addPools(o)
	countGoing(o.Samples, births, ends)
	return o, nil
}

// addClasses adds what became of the items by their classes.
func (w *world) addClasses(ctx context.Context, o *Outcome) error {
	if w.out.Flow.SLA == nil || w.out.Flow.SLA.Classes == nil {
		return nil
	}
	for _, c := range w.out.Flow.SLA.Classes {
		o.Classes = append(o.Classes, ClassOutcome{Name: c.Name})
	}
	for _, r := range w.ended {
		list, _, err := w.out.Orchestrator.Ended(ctx, 0, r.ID, math.MaxInt)
		if err != nil {
			return err
		}
		for _, x := range list {
			c := &o.Classes[x.Class]
			c.Latency, c.Ended, c.Promised = append(c.Latency, x.At.Sub(x.Born).Seconds()), c.Ended+1, c.Promised+1
		}
		for i, k := range r.Classes {
			o.Classes[i].Late, o.Classes[i].Penalty = o.Classes[i].Late+int(k.Late), o.Classes[i].Penalty.Plus(k.Penalty)
		}
	}
	return nil
}

// addSteps adds what the steps of a run did.
func (w *world) addSteps(ctx context.Context, o *Outcome, id crowd.RunID) error {
	one := w.out
	one.Run = id
	r, err := one.Result(ctx)
	if err != nil {
		return err
	}
	o.Spent += r.Spent
	for _, s := range r.Steps {
		o.GaveUp += int(s.GaveUp)
	}
	if o.Steps == nil {
		o.Steps = r.Steps
		return nil
	}
	for i := range o.Steps {
		o.Steps[i].add(&r.Steps[i])
	}
	return nil
}

// add adds what the same step of another run did; the times are weighted by the items.
func (s *Step) add(x *Step) {
	if s.MeanS == nil || x.MeanS == nil {
		s.MeanS = cmp.Or(s.MeanS, x.MeanS)
	} else if n := s.OK + x.OK; n > 0 {
		mean := (*s.MeanS*float64(s.OK) + *x.MeanS*float64(x.OK)) / float64(n)
		s.MeanS = &mean
	}
	s.In, s.OK, s.Skipped, s.Failed, s.Answers = s.In+x.In, s.OK+x.OK, s.Skipped+x.Skipped, s.Failed+x.Failed, s.Answers+x.Answers
	s.GaveUp += x.GaveUp
}

// addPools adds what the pools did.
func (w *world) addPools(o *Outcome) {
	people := make(map[crowd.PoolID]int)
	for _, id := range w.place {
		people[id]++
	}
	for i, id := range w.poolIDs() {
		p := PoolOutcome{People: people[id]}
		for name, x := range w.names {
			if x == id {
				p.Name = cmp.Or(name, mainPool)
			}
		}
		p.Utilisation = w.busy[id].Seconds() / (o.Duration.Seconds() * float64(p.People))
		for _, s := range o.Samples {
			p.Queue += float64(s.Queues[i]) / float64(len(o.Samples))
			p.MaxQueue = max(p.MaxQueue, s.Queues[i])
		}
		o.Pools = append(o.Pools, p)
	}
}

// countGoing fills in how many were born and had not ended at each sample.
func countGoing(samples []Sample, births, ends []time.Duration) {
	births, ends = slices.Sorted(slices.Values(births)), slices.Sorted(slices.Values(ends))
	for i := range samples {
		came, _ := slices.BinarySearch(births, samples[i].At+1)
		gone, _ := slices.BinarySearch(ends, samples[i].At+1)
		samples[i].Going = came - gone
	}
}
