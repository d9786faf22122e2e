package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
)

// Crowd compares the different people whose answers a task wants with those who
// may give them. The zero Crowd is one that is not known.
type Crowd struct {
	Wanted int
	People int
	Lacks  []Requirement // too few meet them; empty: that is not what is missing
	Had    int           // tasks left, each of which everybody who may do it has had already; 0: not so
}

// TooSmall reports whether no task that is left can get the answers that it wants.
func (c Crowd) TooSmall() bool { return c.People < c.Wanted || c.Had > 0 }

// String says it in words.
func (c Crowd) String() string {
	lacks := make([]string, len(c.Lacks))
	for i, r := range c.Lacks {
		lacks[i] = fmt.Sprintf("%s >= %d", r.Name, r.Min)
	}
	skills := strings.Join(lacks, " and ")
	switch {
	case c.People >= c.Wanted && c.Had > 0:
		return fmt.Sprintf("everybody in the pool who may do it has already had the %s left", format.Count(c.Had, "task"))
	case c.People == 0 && skills != "":
		return "nobody in the pool holds " + skills
	case c.Wanted == 1 && c.People == 0:
		return "the pool has nobody who may do it"
	case skills != "":
		return fmt.Sprintf("a task needs answers from %d different people, but the pool has %d with %s", c.Wanted, c.People, skills)
	}
	return fmt.Sprintf("a task needs answers from %d different people, but the pool has %d who may do it", c.Wanted, c.People)
}

// crowdOf returns the crowd of a batch, unless its tasks name their people or it is
// for newcomers, who may not be here yet.
func (e *Engine) crowdOf(b *batch) Crowd {
	if !b.backlog.shared || b.spec.Training {
		return Crowd{}
	}
	c := e.Able(b.spec.Tenant, b.fewest, e.classes.list[b.class].requires)
	c.Had = e.hadByAll(b)
	return c
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
		case !w.meets(tenant, requires):
		case w.suspended || slices.Contains(w.blockedBy, tenant):
			barred = true
		default:
			c.People++
		}
	}
	if c.TooSmall() && !barred {
		c.Lacks = requires
	}
	return c
}
