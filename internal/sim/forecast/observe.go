package forecast

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/instant"
	"github.com/throng-dev/throng/internal/kit/stats"
)

// How people are looked at.
const (
	// Window is how far back it is looked.
	Window = 3 * time.Hour
	// Grace is how long after their last sign a person may still be there, where it is
	// known who waits for a task: they may be between two tasks.
	Grace = 3 * time.Minute
	// Gap is the longest time without a sign of somebody who is still there:
	// a longer one ends their session.
	Gap = 15 * time.Minute
)

// A Sign is a hand-out: a person was there when they got it and when they ended it.
type Sign struct {
	Worker crowd.WorkerID
	Batch  crowd.BatchID
	State  crowd.AssignmentState
	At     time.Time
	Ended  time.Time // zero: still in hand
}

// Observed is what was seen of a pool's people since a time.
type Observed struct {
	Since   time.Time
	Present []Person // in order of the worker

	// Of sessions: the times in which somebody gave signs no further apart
	// than Gap.
	Arrivals   float64       // that began, after a Gap without them
	Away       time.Duration // time that people of the pool were away, in which they might have come
	Departures float64       // that ended; a part of one where it may be going on
	Presence   time.Duration // their time

	// Of hand-outs that ended:
	HandOuts int
	GivenUp  int // skipped or returned
	Lost     int // whose lease ran out

	Answers map[crowd.BatchID]Answers
}

// A Person may be there.
type Person struct {
	Worker crowd.WorkerID
	// Chance that they are, 0 to 1: 1 if they hold a task, wait for one or are lent, else
	// falling from 1 to 0 over Grace since their last sign; over Gap where it is
	// not known who waits.
	Chance float64
}

// Answers are the times that people took for answers of a batch.
type Answers struct {
	N       int
	LogMean float64 // mean of ln(seconds)
	LogSD   float64 // standard deviation of the same; 0 if N < 2
	// By says whose they are, in order of the worker. Nil: not known.
	By []Part
}

// A Part is what one person has of the answers of a batch.
type Part struct {
	Worker  crowd.WorkerID
	N       int     // at least 1
	LogMean float64 // as of Answers
	LogSD   float64
}

func (o *Observed) validate() error {
	for _, p := range o.Present {
		if p.Worker < 1 || !(p.Chance >= 0 && p.Chance <= 1) {
			return crowd.Fieldf("observed", "the presence of %s cannot be", p.Worker)
		}
	}
	if !stats.Finite(o.Arrivals, o.Departures) || o.Arrivals < 0 || o.Departures < 0 || o.Away < 0 || o.Presence < 0 ||
		o.HandOuts < 0 || o.GivenUp < 0 || o.Lost < 0 || o.GivenUp+o.Lost > o.HandOuts {
		return crowd.Fieldf("observed", "its counts cannot be")
	}
	for id, a := range o.Answers {
		if !a.possible() {
			return crowd.Fieldf("observed", "the answers of %s cannot be", id)
		}
	}
	return nil
}

// possible reports whether answers may have been seen.
func (a *Answers) possible() bool {
	times := func(n int, mean, sd float64) bool {
		return n >= 0 && int64(n) <= engine.MaxBatchAnswers && stats.Finite(mean, sd) && sd >= 0 && sd <= 20 && math.Abs(mean) <= 50
	}
	if !times(a.N, a.LogMean, a.LogSD) {
		return false
	}
	n := 0
	for i, p := range a.By {
		if p.N < 1 || !times(p.N, p.LogMean, p.LogSD) || p.Worker < 1 || i > 0 && p.Worker <= a.By[i-1].Worker {
			return false
		}
		n += p.N
	}
	return a.By == nil || n == a.N
}

// Observe makes figures of signs. Signs are those since a time, all of them;
// members are the people of the pool; waiting are those who wait for a task now,
// nil if that is not known. Members who are lent to another pool are on duty there, and count
// as there.
//
// Signs may be a little later than now: of what happened while the state was
// read, or by another clock. They count as of now.
func Observe(now, since time.Time, signs []Sign, members []engine.Worker, waiting []crowd.WorkerID) Observed {
	since = instant.Earlier(now, since)
	o := Observed{Since: since, Answers: make(map[crowd.BatchID]Answers)}
	o.answers(signs)
	sorted := slices.Clone(signs)
	for i := range sorted {
		sorted[i].At, sorted[i].Ended = instant.Earlier(now, sorted[i].At), instant.Earlier(now, sorted[i].Ended)
	}
	slices.SortFunc(sorted, func(x, y Sign) int {
		return cmp.Or(cmp.Compare(x.Worker, y.Worker), x.At.Compare(y.At), cmp.Compare(x.Batch, y.Batch))
	})
	// Whoever is seen before from may have been there all the time.
	from := since.Add(Gap)
	span := max(now.Sub(from), 0)
	grace := Grace
	if waiting == nil {
		grace = Gap
	}
	there := make(map[crowd.WorkerID]float64)
	for _, id := range waiting {
		there[id] = 1
	}
	active := make(map[crowd.WorkerID]bool, len(members))
	for i := range members {
		if !members[i].Suspended {
			active[members[i].ID] = true
			if members[i].Lent { // they come home as soon as there is work for them
				there[members[i].ID] = 1
			}
		}
	}
	o.Away = time.Duration(min(float64(span)*float64(len(active)), math.MaxInt64/4))
	for len(sorted) > 0 {
		id, n := sorted[0].Worker, 1
		for n < len(sorted) && sorted[n].Worker == id {
			n++
		}
		if active[id] {
			o.sessions(now, from, grace, sorted[:n], there)
		}
		sorted = sorted[n:]
	}
	o.Away = max(o.Away, 0)
	for id, chance := range there {
		if active[id] {
			o.Present = append(o.Present, Person{id, chance})
		}
	}
	slices.SortFunc(o.Present, func(x, y Person) int { return cmp.Compare(x.Worker, y.Worker) })
	return o
}

// sessions looks at the signs of one worker, in order.
func (o *Observed) sessions(now, from time.Time, grace time.Duration, signs []Sign, there map[crowd.WorkerID]float64) {
	begin, last := signs[0].At, signs[0].At
	enter := func(departed float64) {
		o.Departures += departed
		o.Presence += last.Sub(begin)
		if begin.After(from) {
			o.Arrivals++
		} else {
			begin = from
		}
		o.Away -= max(last.Sub(begin), 0)
	}
	held := false
	for _, s := range signs {
		if s.At.Sub(last) > Gap {
			enter(1)
			begin = s.At
		}
		last = s.At
		switch {
		case s.Ended.IsZero():
			last, held = now, true
		case s.State != crowd.Expired: // of those nobody knows when they went
			last = instant.Later(s.Ended, last)
		}
	}
	id := signs[0].Worker
	chance := 1 - float64(now.Sub(last))/float64(grace)
	switch {
	case held || there[id] == 1:
		last, there[id] = now, 1
		enter(0)
	case chance > 0:
		there[id] = min(chance, 1)
		enter(1 - there[id])
	default:
		enter(1)
	}
}

// answers counts what became of hand-outs, and measures the times of answers.
func (o *Observed) answers(signs []Sign) {
	type part struct {
		batch  crowd.BatchID
		worker crowd.WorkerID
	}
	batches, parts := make(map[crowd.BatchID]moments), make(map[part]moments)
	for _, s := range signs {
		if s.Ended.IsZero() {
			continue
		}
		o.HandOuts++
		switch s.State {
		case crowd.Skipped, crowd.Reported, crowd.Returned:
			o.GivenUp++
		case crowd.Expired:
			o.Lost++
		case crowd.Submitted:
			ln := math.Log(max(s.Ended.Sub(s.At), time.Millisecond).Seconds())
			batches[s.Batch] = batches[s.Batch].with(ln)
			parts[part{s.Batch, s.Worker}] = parts[part{s.Batch, s.Worker}].with(ln)
		}
	}
	for id, x := range batches {
		o.Answers[id] = Answers{N: x.n, LogMean: x.mean, LogSD: x.sd()}
	}
	for p, x := range parts {
		a := o.Answers[p.batch]
		a.By = append(a.By, Part{p.worker, x.n, x.mean, x.sd()})
		o.Answers[p.batch] = a
	}
	for _, a := range o.Answers {
		slices.SortFunc(a.By, func(x, y Part) int { return cmp.Compare(x.Worker, y.Worker) })
	}
}

// moments are those of some figures: their number, mean, and sum of squares of
// the distances from it (Welford 1962).
type moments struct {
	n          int
	mean, rest float64
}

func (m moments) with(x float64) moments {
	m.n++
	d := x - m.mean
	m.mean += d / float64(m.n)
	m.rest += d * (x - m.mean)
	return m
}

func (m moments) sd() float64 {
	if m.n < 2 {
		return 0
	}
	return math.Sqrt(m.rest / float64(m.n-1))
}
