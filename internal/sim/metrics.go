package sim

import (
	"math"
	"time"

	"github.com/throng-dev/throng/internal/kit/stats"
)

// Metrics are the figures of one run. NaN: there is nothing to say (no batch
// with a deadline, nothing finished).
type Metrics struct {
	// Of batches with a deadline and of best-effort ones, which have none:
	// completion is the share of the wanted answers that had come at the end.
	DeadlineSuccess float64 // share completed in time
	DecidedSuccess  float64 // the same, of those whose deadline came before the end
	MeanDeadline    float64
	StdDeadline     float64
	MeanBestEffort  float64
	StdBestEffort   float64
	// The same, with what was in people's hands at the end counted as done.
	BegunDeadline, BegunStdDeadline     float64
	BegunBestEffort, BegunStdBestEffort float64

	Throughput     float64 // counted answers a second
	Makespan       float64 // s: when the last batch was completed; NaN if one was not
	MeanCompletion float64 // s from launch to completion, mean over completed batches
	P95Completion  float64
	MeanTardiness  float64 // s after the deadline, mean over batches with one; unfinished ones count to the end
	Unfinished     float64 // share of batches
	Starved        float64 // share of batches that nobody began

	Jain       float64 // mean over the time in which somebody works
	JInf       float64 // mean over the time in which it is finite
	JInfFinite float64 // share of the time in which a batch is open

	Cost          float64 // currency units
	Switches      float64 // share of the hand-outs
	Utilisation   float64 // share of the people's time with a task in hand
	Waiting       float64 // share of it waiting for one
	LabelAccuracy float64 // share of the labels that are right
	Wasted        float64 // share of the hand-outs that came to no counted answer
}

// Metrics computes the figures of a run.
func (o *Outcome) Metrics() Metrics {
	var due, rest, dueBegun, restBegun, took []float64
	var m Metrics
	inTime, deadlines, decided, decidedInTime, starved := 0, 0, 0, 0, 0
	late, last := 0.0, time.Duration(0)
	for i := range o.Batches {
		b := &o.Batches[i]
		if b.Completed >= 0 {
			took = append(took, (b.Completed - b.At).Seconds())
			last = max(last, b.Completed)
		}
		if b.Started < 0 && b.Answers+b.Running == 0 {
			starved++
		}
		m.Cost += float64(b.Spent) / 1e6
		if b.Deadline <= 0 {
			rest = append(rest, b.Done())
			restBegun = append(restBegun, b.Begun())
			continue
		}
		deadlines++
		due = append(due, b.Done())
		dueBegun = append(dueBegun, b.Begun())
		if b.InTime() {
			inTime++
		}
		if b.At+b.Deadline <= o.End {
			decided++
			if b.InTime() {
				decidedInTime++
			}
		}
		ended := b.Completed
		if ended < 0 {
			ended = o.End
		}
		late += max((ended - b.At - b.Deadline).Seconds(), 0)
	}
	all := float64(len(o.Batches))
	m.DeadlineSuccess = float64(inTime) / float64(deadlines)
	m.DecidedSuccess = float64(decidedInTime) / float64(decided)
	m.MeanTardiness = late / float64(deadlines)
	m.MeanDeadline, m.StdDeadline = stats.Mean(due), stats.PopulationSD(due)
	m.MeanBestEffort, m.StdBestEffort = stats.Mean(rest), stats.PopulationSD(rest)
	m.BegunDeadline, m.BegunStdDeadline = stats.Mean(dueBegun), stats.PopulationSD(dueBegun)
	m.BegunBestEffort, m.BegunStdBestEffort = stats.Mean(restBegun), stats.PopulationSD(restBegun)
	m.Throughput = float64(o.Answers) / o.End.Seconds()
	m.MeanCompletion, m.P95Completion = stats.Mean(took), stats.Quantile(took, 0.95)
	m.Unfinished = 1 - float64(len(took))/all
	m.Starved = float64(starved) / all
	m.Makespan = math.NaN()
	if m.Unfinished == 0 {
		m.Makespan = last.Seconds()
	}
	m.Jain, m.JInf, m.JInfFinite = o.Jain, o.JInf, o.JInfFinite
	running := int64(0)
	for i := range o.Batches {
		running += int64(o.Batches[i].Running)
	}
	m.Switches = float64(o.Switches) / float64(o.HandOuts)
	m.Wasted = 1 - float64(o.Answers)/float64(o.HandOuts-running)
	m.Utilisation = o.Crowd.Worked.Seconds() / o.Crowd.Present.Seconds()
	m.Waiting = o.Crowd.Waited.Seconds() / o.Crowd.Present.Seconds()
	m.LabelAccuracy = float64(o.Right) / float64(o.Judged)
	return m
}
