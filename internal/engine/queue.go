package engine

import (
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/sched"
)

// Queued is a batch in the order in which the policy takes batches.
type Queued struct {
	sched.Key
	Place   int // from 1; 0: nothing of it can be handed out now
	Tenant  crowd.TenantID
	Running int          // in somebody's hands
	Waiting int          // wanted and in nobody's hands
	Reason  crowd.Reason // what hinders one without a place; else Eligible
	Stops   Stops        // that it is under
}

// Queue lists the first batches, at most limit, of those that want answers, in the order
// in which the policy takes them now for somebody who may do everything and has done
// nothing yet; then those of which nothing can be handed out. It returns how many have a
// place, and how many there are. Training is left out: it is only for those who need it.
func (e *Engine) Queue(now time.Time, limit int) (list []Queued, placed, all int) {
	e.refresh()
	e.policy.Next(now, nobody{}) // the order of some depends on the time
	cut := func() {
		slices.SortFunc(list, func(x, y Queued) int {
			switch {
			case x.Before(y.Key):
				return -1
			case y.Before(x.Key):
				return 1
			}
			return 0
		})
		list = list[:min(len(list), limit)]
	}
	var last sched.Key // of the first so many, once there are more: what is not before it is none of them
	beyond := false
	for _, b := range e.batches {
		k, ok := e.policy.Key(b.spec.ID)
		if !ok || b.spec.Training {
			continue
		}
		reason := e.hindrance(b)
		if reason == crowd.Eligible && e.gate.holdsBack(b) {
			reason, k.Candidate = crowd.GateClosed, false
		}
		if all++; k.Candidate {
			placed++
		}
		if beyond && !k.Before(last) {
			continue
		}
		list = append(list, Queued{Key: k, Tenant: b.spec.Tenant, Running: b.running, Waiting: b.waiting(), Reason: reason, Stops: e.stopsOf(b)})
		if len(list) >= 2*limit {
			cut()
			last, beyond = list[limit-1].Key, true
		}
	}
	cut()
	for i := range list {
		if list[i].Candidate {
			list[i].Place = i + 1
		}
	}
	return list, placed, all
}

// nobody is a worker who may do nothing: the policy decides nothing for them.
type nobody struct{}

func (nobody) LastBatch() crowd.BatchID    { return 0 }
func (nobody) MayClass(sched.Class) bool   { return false }
func (nobody) MayBatch(crowd.BatchID) bool { return false }

// Place is where a batch stands in the queue.
type Place struct {
	N  int // from 1; 0: nothing of it can be handed out now, or it is not known
	Of int // batches that have a place
}

// places are those of the batches for a moment, also when batches come and go: to find one
// costs as much as to find all, and pages and programs ask again and again.
type places struct {
	at time.Time
	of map[crowd.BatchID]int
}

const (
	placesLife = time.Second
	mostPlaced = 2000 // batches: of more, no places are told, as people would have to wait for it
)

// Place returns where a batch stands in the queue, or stood up to a second ago: one that is
// new to it has no place for so long.
func (e *Engine) Place(now time.Time, id crowd.BatchID) Place {
	b := e.batches[id]
	if b == nil || len(e.batches) > mostPlaced || e.hindrance(b) != crowd.Eligible {
		return Place{}
	}
	p := &e.places
	if p.of == nil || now.Sub(p.at) >= placesLife || now.Before(p.at) {
		*p = places{at: now, of: make(map[crowd.BatchID]int)}
		list, _, _ := e.Queue(now, len(e.batches))
		for _, q := range list {
			if q.Place > 0 {
				p.of[q.Batch] = q.Place
			}
		}
	}
	if p.of[id] == 0 {
		return Place{}
	}
	return Place{N: p.of[id], Of: len(p.of)}
}
