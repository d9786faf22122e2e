package calibrate

import (
	"cmp"
	"math"
	"slices"

	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/stats"
)

// A CrowdFit is the model of who comes and how long they stay.
type CrowdFit struct {
	Runs    int     // that tell when people came
	Count   int     // people in a run: median over runs
	Rate    float64 // arrivals an hour, of the mean gap; 0: not known
	Gaps    *Seconds
	Session *Seconds // nil: not known
	Pause   *Seconds // nil: not known
	notes

	gaps, sessions, pauses []float64
}

// fitCrowd looks at visits and pauses.
func fitCrowd(log *Log) CrowdFit {
	var c CrowdFit
	byRun := map[string][]Visit{}
	var runs []string
	for _, v := range log.Visits {
		if byRun[v.Run] == nil {
			runs = append(runs, v.Run)
		}
		byRun[v.Run] = append(byRun[v.Run], v)
	}
	with, without := answersOf(log.Visits)
	if len(without) > 10 && len(with) > 10 && math.Abs(stats.Mean(with)-stats.Mean(without)) > 0.2*stats.Mean(with) {
		c.note("visits of unknown length have %.1f answers each, those of known length %.1f: sessions are from the latter", stats.Mean(without), stats.Mean(with))
	}
	var people, timed []float64
	toTheEnd := 0
	for _, run := range runs {
		list := byRun[run]
		people = append(people, float64(len(list)))
		end := math.Inf(-1)
		var known []Visit
		for _, v := range list {
			if !math.IsNaN(v.Arrival) {
				known = append(known, v)
			}
			if !math.IsNaN(v.End) {
				end = max(end, v.End)
			}
			if !math.IsNaN(v.Session) && v.Session > 0 {
				c.sessions = append(c.sessions, v.Session)
			}
		}
		toTheEnd += lists.Count(list, func(v Visit) bool { return v.Session > 0 && end-v.End < 0.1*v.Session })
		if len(known) == 0 {
			continue
		}
		c.Runs++
		timed = append(timed, float64(len(known)))
		slices.SortStableFunc(known, func(a, b Visit) int { return cmp.Compare(a.Arrival, b.Arrival) })
		for i := 1; i < len(known); i++ {
			c.gaps = append(c.gaps, known[i].Arrival-known[i-1].Arrival)
		}
	}
	if len(timed) > 0 {
		people = timed
	}
	c.Count = max(1, int(math.Round(median(people))))
	if len(c.gaps) > 0 {
		c.arrivals()
	} else {
		c.note("the log does not say when people came: %d of them are there from the beginning", c.Count)
	}
	c.stays(toTheEnd)
	c.rests(log)
	return c
}

// rests are the pauses between a worker's answers.
func (c *CrowdFit) rests(log *Log) {
	for _, a := range log.Answers {
		if !a.First && !math.IsNaN(a.Gap) {
			c.pauses = append(c.pauses, a.Gap)
		}
	}
	if len(c.pauses) > 0 {
		c.Pause = chooseSeconds(c.pauses)
	}
}

// stays are how long people stayed; so many of them to the end of their run.
func (c *CrowdFit) stays(toTheEnd int) {
	if len(c.sessions) == 0 {
		c.note("the log does not say how long people stayed: they stay to the end (give --start and --submit, or --sessions)")
		return
	}
	c.Session = chooseSeconds(c.sessions)
	if share := float64(toTheEnd) / float64(len(c.sessions)); share > 0.1 {
		c.note("%.0f %% of the visits ended with their run: people might have stayed longer", 100*share)
	}
}

// answersOf returns the answers of visits whose length is known, and of those
// where it is not.
func answersOf(visits []Visit) (with, without []float64) {
	for _, v := range visits {
		switch {
		case v.Answers == 0:
		case v.Session > 0:
			with = append(with, float64(v.Answers))
		default:
			without = append(without, float64(v.Answers))
		}
	}
	return with, without
}

// arrivals are written as a Poisson stream of the mean rate.
func (c *CrowdFit) arrivals() {
	usual := stats.Mean(c.gaps)
	if usual < 1e-3 || usual > 1e8 {
		return // as good as all at once; or nothing that a rate can say
	}
	c.Rate = 3600 / usual
	c.Gaps = chooseSeconds(c.gaps)
	if half := median(c.gaps); half < 0.45*usual { // of an exponential gap it is 0.69
		c.note("arrivals come in bursts: the median gap is %.3g s, the mean %.3g s; they are written as a steady stream of %d people", half, usual, c.Count)
	}
}
