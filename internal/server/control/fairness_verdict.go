package control

import (
	"time"

	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/sched"
)

// People work on one task at a time, so that in an hour shares are some percent off by
// chance alone. A tenant that was due next to nothing is off by much with a single task.
const (
	evenEnough = 0.95 // of what was due: a tenant that had as much was served
	judgedFrom = 0.01 // of the time of all: a tenant that was due less is not judged
)

// FairnessVerdict tells whether tenants had what they were due.
type FairnessVerdict string

// Verdicts.
const (
	NobodyWorked FairnessVerdict = "nobody-worked"
	Even         FairnessVerdict = "even"   // every tenant had what it was due, or nearly so
	Uneven       FairnessVerdict = "uneven" // some tenant had less
)

// Verdict judges the window by the tenants that are shown. Of an uneven one it returns the
// tenant that had the least of what it was due.
func (v *FairnessView) Verdict() (FairnessVerdict, *NamedPortion) {
	if v.Worked == 0 {
		return NobodyWorked, nil
	}
	var worst *NamedPortion
	least := evenEnough
	for i := range v.Tenants {
		t := &v.Tenants[i]
		if had := t.Share / t.Part; t.Part >= judgedFrom && had < least {
			worst, least = t, had
		}
	}
	if worst == nil {
		return Even, nil
	}
	return Uneven, worst
}

// HadIndex is how evenly tenants were served, by what they were due; NaN: none that can be
// judged was due anything.
type HadIndex struct {
	Jain, JInf float64
	LeftOut    int // tenants that were due too little to judge
}

// hadIndex is of all tenants that were due something, also of one that had nothing, whose 0
// is the lowest value there is: then J∞ is -Inf. A tenant that was due less than can be
// judged is counted instead: one task is many times what it was due.
//
// A tenant that was due nothing wanted nothing while anybody worked, and is in none of the
// vectors of the paper: its x_b = R_b/(P_b T_b) is over the batches that have tasks left, as
// these are what people can be divided among, and has no value where the divisor is 0. What
// they had all the same was not had by the others, and shows there.
func hadIndex(list []Portion) HadIndex {
	var xs []float64
	var out HadIndex
	least := judgedFrom * float64(lists.Sum(list, func(p Portion) time.Duration { return p.Worked }))
	for _, p := range list {
		switch {
		case p.Due <= 0:
		case float64(p.Due) < least:
			out.LeftOut++
		default:
			xs = append(xs, float64(p.Worked)/float64(p.Due))
		}
	}
	out.Jain, out.JInf = sched.Fairness(xs)
	return out
}
