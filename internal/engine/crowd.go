package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
)

// Crowd compares the different people whose answers a task wants with those who
// may give them. The zero Crowd is one that is not known.
type Crowd struct {
	Wanted int
	People int
	Lacks  string // too few have it, in words: moderation >= 80
	Had    int    // tasks left, each of which everybody who may do it has had already; 0: not so
	Scores string // the same as throng worker qualify takes it: moderation=80
}

// TooSmall reports whether no task that is left can get the answers that it wants.
func (c Crowd) TooSmall() bool { return c.People < c.Wanted || c.Had > 0 }

// String says it in words.
func (c Crowd) String() string {
	switch {
	case c.People >= c.Wanted && c.Had > 0:
		return fmt.Sprintf("everybody in the pool who may do it has already had the %s left", format.Count(c.Had, "task"))
	case c.People == 0 && c.Lacks != "":
		return "nobody in the pool holds " + c.Lacks
	case c.Wanted == 1 && c.People == 0:
		return "the pool has nobody who may do it"
	case c.Lacks != "":
		return fmt.Sprintf("a task needs answers from %d different people, but the pool has %d who holds %s", c.Wanted, c.People, c.Lacks)
	}
	return fmt.Sprintf("a task needs answers from %d different people, but the pool has %d who may do it", c.Wanted, c.People)
}

// Remedy names the commands that let it finish.
func (c Crowd) Remedy() string {
	if c.People >= c.Wanted && c.Had > 0 {
		return "add somebody (throng worker add), or end it early (throng batch end)"
	}
	if c.Lacks != "" {
		return "give it to somebody with throng worker qualify NAME " + c.Scores
	}
	return "add people with throng worker add or throng worker invite (--pool NAME, if it is not main)"
}

// lack says which qualifications too few have.
func (c *Crowd) lack(requires []Requirement) {
	var words, scores []string
	for _, r := range requires {
		score := fmt.Sprintf("%s=%d", r.Name, r.Min)
		if strings.ContainsAny(score, " '$") {
			score = strconv.Quote(score)
		}
		words, scores = append(words, fmt.Sprintf("%s >= %d", r.Name, r.Min)), append(scores, score)
	}
	c.Lacks, c.Scores = strings.Join(words, " and "), strings.Join(scores, " ")
}

// crowdOf returns the crowd of a batch, unless its tasks name their people or it is
// for newcomers, who may not be here yet.
func (e *Engine) crowdOf(b *batch) Crowd {
	if b.backlog.invited != nil || b.spec.Training {
		return Crowd{}
	}
	c := e.Able(b.spec.Tenant, b.firstWant(1), e.classes.list[b.class].requires)
	c.Had = e.hadByAll(b)
	return c
}

// CrowdOf returns the crowd of a running batch, or false if it is not running.
func (e *Engine) CrowdOf(id crowd.BatchID) (Crowd, bool) {
	b := e.batches[id]
	if b == nil {
		return Crowd{}, false
	}
	return e.crowdOf(b), true
}

// hadByAll returns how many tasks are left of b if everybody in the pool who may do it
// has had each of them, and 0 otherwise.
func (e *Engine) hadByAll(b *batch) int {
	if b.open == 0 || b.running > 0 || e.hindrance(b) != crowd.Eligible {
		return 0
	}
	for _, w := range e.workers {
		switch e.mayEver(w, b) {
		case crowd.Eligible, crowd.NotInTraining: // who is still in training may do it later
			if w.refusal(b) == crowd.Eligible {
				return 0
			}
		}
	}
	return b.open
}

// Able compares the people that a task of a tenant wants with the workers of the pool,
// busy or away or still in training, who may do what asks for these qualifications.
func (e *Engine) Able(tenant crowd.TenantID, wanted int, requires []Requirement) Crowd {
	c, barred := Crowd{Wanted: wanted}, false
	for _, w := range e.workers {
		switch {
		case !meets(w.quals, requires):
		case w.suspended || slices.Contains(w.blockedBy, tenant):
			barred = true
		default:
			c.People++
		}
	}
	if c.TooSmall() && !barred {
		c.lack(requires)
	}
	return c
}
