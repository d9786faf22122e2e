package sched

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/textform"
)

// promises is penalty with another policy for what has nothing to lose: batches of
// which nothing was promised, or of which no penalty can be escaped any more. Such
// batches are served when no other suits the worker. The inner policy knows all batches,
// those with something to lose as ones of which nothing can be handed out: what runs of
// them counts where it shares.
type promises struct {
	penalty
	inner Policy
}

func (p *promises) within() Policy { return p.inner }

// loses reports whether a penalty may fall due for b that can still be escaped.
func (p *promises) loses(b *Batch) bool {
	if p.listing1() {
		return b.Added > 0
	}
	return !b.Due.IsZero()
}

func (p *promises) Set(b *Batch) {
	if !p.loses(b) {
		p.penalty.Remove(b.ID)
		p.inner.Set(b)
		return
	}
	p.penalty.Set(b)
	told := *b
	told.Assignable = false
	p.inner.Set(&told)
}

func (p *promises) Remove(id crowd.BatchID) {
	p.penalty.Remove(id)
	p.inner.Remove(id)
}

func (p *promises) Next(now time.Time, w Worker) crowd.BatchID {
	if id := p.penalty.Next(now, w); id != 0 {
		return id
	}
	return p.inner.Next(now, w)
}

func (p *promises) Key(id crowd.BatchID) (Key, bool) {
	if k, known := p.penalty.Key(id); known {
		return k, true
	}
	inner, known := p.inner.Key(id)
	if !known {
		return Key{}, false
	}
	return Key{
		Policy: p.name, Batch: id, Candidate: inner.Candidate, Turn: inner.Turn, Inner: &inner,
		Words: "nothing is promised that can still be kept: after those of which something is; then the inner order",
		Rank:  append([]Number{Number(math.Inf(1))}, inner.Rank...),
	}, true
}

var _ Policy = (*promises)(nil)

// KeepsPromises reports whether a policy's text form has penalty in it: under any other
// an SLA orders the tasks of a batch, and not the batches.
func KeepsPromises(text string) bool {
	form, err := textform.Parse(text, maxText)
	return err == nil && hasPenalty(form)
}

// IgnoresReward reports whether a policy's text form has by-reward around a policy that looks
// at no priority, so that the reward decides nothing.
func IgnoresReward(text string) bool {
	form, err := textform.Parse(text, maxText)
	return err == nil && ignoresReward(form)
}

func ignoresReward(f *textform.Form) bool {
	if f.Name == strings.TrimSuffix(byRewardPrefix, "(") {
		return !slices.ContainsFunc(f.Inner, looksAtPriority)
	}
	return slices.ContainsFunc(f.Inner, ignoresReward)
}

func looksAtPriority(f *textform.Form) bool {
	return slices.ContainsFunc(policies(), func(p known) bool { return nameOf(p.text) == f.Name && p.ranks != nil && p.ranks(f) }) ||
		slices.ContainsFunc(f.Inner, looksAtPriority)
}

func hasPenalty(f *textform.Form) bool {
	for _, inner := range f.Inner {
		if hasPenalty(inner) {
			return true
		}
	}
	return f.Name == "penalty"
}
