package engine_test

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/sched"
	"github.com/throng-dev/throng/sla"
)

// The part of the books that is about what the policy penalty is told of the batches
// with an SLA: what falls due next, the work until then, and how far ahead it looks.

// takes is the expected time of one assignment.
func (b *batchBook) takes() time.Duration {
	return (5*b.spec.TaskTime + b.worked) / time.Duration(5+b.counted)
}

// look is as far as the people on duty get with 4 to 8 items.
func (k *books) look() time.Duration {
	people, batches, work := 0, int64(0), int64(0)
	for _, p := range k.people {
		if p.on {
			people++
		}
	}
	for _, b := range k.batches {
		if b.kept.State.Open() && b.spec.SLA != nil {
			batches++
			work += (time.Duration(min(b.spec.Rule.Fewest(), b.spec.Rule.Most()))*b.takes() + b.work).Milliseconds()
		}
	}
	if batches == 0 {
		return 0
	}
	most := 8 * work / (batches * int64(max(people, 1)))
	k.seen[fmt.Sprintf("people on duty when it looked ahead: %t", people > 0)]++
	return time.Millisecond << (bits.Len64(uint64(most)) - 1)
}

// several reports whether b's items are promised different things.
func (b *batchBook) several() bool {
	return slices.ContainsFunc(b.spec.SLA.Others, func(p sla.Penalty) bool { return p != b.spec.SLA.Penalty })
}

// underLooks returns nil if f does, with the orders looking ahead as they did before the
// command, or as they do now: what people do at once is not told apart. Nor is whether the
// engine has heard of another look since an order was told last (see catchUp).
func (k *books) underLooks(f func() error) (err error) {
	for _, catchUp := range []func(){func() {}, k.catchUp} {
		catchUp()
		for _, look := range []time.Duration{k.looked, k.look()} {
			k.setLook(look)
			if err = f(); err == nil {
				return nil
			}
		}
	}
	return err
}

func (k *books) setLook(look time.Duration) {
	for _, b := range k.batches {
		b.look = look
	}
}

// catchUp does in the orders that the look matters to what is overdue, as of when they
// were told last: so does the engine when it finds that the look has changed, and it looks
// no sooner than it has to.
func (k *books) catchUp() {
	for _, b := range k.batches {
		if b.spec.SLA != nil && b.form == sla.ATC && b.several() {
			b.pass(b.told)
		}
	}
}

// checkTimer is checkDue, whether or not the engine has caught up.
func (k *books) checkTimer(e *engine.Engine) error {
	if k.checkDue(e) == nil {
		return nil
	}
	k.catchUp()
	return k.checkDue(e)
}

// checkRests compares the keys of the policy penalty with the books.
func (k *books) checkRests(e *engine.Engine) error {
	k.looked = k.look()
	k.setLook(k.looked)
	if k.policy != "penalty" {
		return nil
	}
	look := k.looked
	for _, key := range e.Keys() {
		b := k.batches[key.Batch]
		want := map[string]sched.Number{}
		if t := b.head(k.now); t != nil && key.Candidate {
			r := b.request(t)
			if step, ok := r.NextStep(b.told, b.response); ok {
				if b.penalty(t).Kind != sla.Linear { // whose steps depend on when it was asked last
					want["falls"] = sched.Number(step.Falls.Unix())
					want["stake"] = sched.Number(step.Cost)
				}
				left := time.Duration(t.want() - t.live - len(t.answers))
				want["work"] = sched.Number((left*b.takes() + b.work).Seconds())
				k.seen["told of what falls due"]++
			}
		}
		for _, f := range key.Figures {
			if w, asked := want[f.Name]; asked && w != f.Value {
				return fmt.Errorf("%s: the policy is told of %s %v, not %v", key.Batch, f.Name, f.Value, w)
			}
			delete(want, f.Name)
			if f.Name == "worth" && !strings.Contains(f.Note, ": "+look.String()+" for each factor") {
				return fmt.Errorf("%s: the policy is told to look ahead by %s, not %s", key.Batch, f.Note, look)
			}
		}
		if len(want) > 0 {
			return fmt.Errorf("%s: the policy is not told of %v", key.Batch, want)
		}
	}
	return nil
}
