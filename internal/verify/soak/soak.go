// Package soak looks for what nobody thought of: it draws worlds from seeds,
// with the habits, faults and policies that a scenario can have, runs them with
// all checks on, compares each with the same world unchecked, and names the seed
// that breaks something. The seed replays exactly.
package soak

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/throng-dev/throng/internal/sim"
)

// Options is how long to search.
type Options struct {
	Seed     uint64 // of the first world; the others follow
	Rounds   int
	Progress func(done int) // may be nil
}

// A Result is what was tried, and what was found.
type Result struct {
	Worlds   int    `json:"worlds"` // looked at: fewer than were asked for if one broke
	Seed     uint64 `json:"seed"`
	HandOuts int64  `json:"hand_outs"`
	Answers  int64  `json:"answers"`
	Labels   int64  `json:"labels"`
	Expired  int64  `json:"expired"`
	GivenUp  int64  `json:"given_up"`
	Late     int64  `json:"late"`
	// Failed is the seed of the first world that broke, and Problem what broke;
	// nil and "" if none did.
	Failed  *uint64 `json:"failed"`
	Problem string  `json:"problem,omitempty"`
}

// add adds what came of a world.
func (r *Result) add(o *sim.Outcome) {
	r.HandOuts += o.HandOuts
	r.Answers += o.Answers
	r.Labels += o.Labels
	r.Expired += o.Expired
	r.GivenUp += o.GivenUp
	r.Late += o.Late
}

// failure is the error of a world that broke.
type failure struct {
	seed uint64
	err  error
}

func (f *failure) Error() string { return f.err.Error() }

// Run runs worlds until one breaks. The error is the context's.
func Run(ctx context.Context, o Options) (*Result, error) { return look(ctx, o, World) }

// look is Run with worlds of any making.
func look(ctx context.Context, o Options, world func(seed uint64) (*sim.Outcome, error)) (*Result, error) {
	r := &Result{Seed: o.Seed}
	var lock sync.Mutex // of r
	_, err := sim.Sweep(ctx, o.Rounds, func(i int) (struct{}, error) {
		seed := o.Seed + uint64(i)
		out, err := guarded(seed, world)
		lock.Lock()
		defer lock.Unlock()
		r.Worlds++
		if err != nil {
			return struct{}{}, &failure{seed, err}
		}
		r.add(out)
		return struct{}{}, nil
	}, o.Progress)
	var f *failure
	if errors.As(err, &f) { // of several the one with the smallest seed: Sweep takes care of it
		r.Failed, r.Problem = &f.seed, f.Error()
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// guarded turns a panic, which would take the seed with it, into an error.
func guarded(seed uint64, world func(seed uint64) (*sim.Outcome, error)) (out *sim.Outcome, err error) {
	defer func() {
		if p := recover(); p != nil {
			out, err = nil, fmt.Errorf("the world of seed %d panics: %v\n%s", seed, p, debug.Stack())
		}
	}()
	return world(seed)
}

// World draws the world of a seed and runs it twice: with all checks on, and
// without, which must come to the same.
func World(seed uint64) (*sim.Outcome, error) {
	run := drawn(seed)
	out, err := run.Do()
	if err != nil {
		return nil, err
	}
	if err := conserved(out); err != nil {
		return nil, err
	}
	run.Check = false
	bare, err := run.Do()
	if err != nil {
		return nil, fmt.Errorf("without checks: %w", err)
	}
	if diff := difference(out, bare); diff != "" {
		return nil, fmt.Errorf("without checks something else comes of it: %s", diff)
	}
	return out, nil
}

// difference returns where two outcomes differ first; "" if they do not.
func difference(checked, bare *sim.Outcome) string {
	return differ("", reflect.ValueOf(*checked), reflect.ValueOf(*bare))
}

// differ compares as text, in which NaN is NaN, and goes to where it is.
func differ(path string, checked, bare reflect.Value) string {
	x, y := fmt.Sprintf("%+v", checked), fmt.Sprintf("%+v", bare)
	if x == y {
		return ""
	}
	switch kind := checked.Kind(); {
	case kind == reflect.Struct:
		for i := range checked.NumField() {
			name := checked.Type().Field(i).Name
			if diff := differ(strings.TrimPrefix(path+"."+name, "."), checked.Field(i), bare.Field(i)); diff != "" {
				return diff
			}
		}
	case kind == reflect.Slice && checked.Len() == bare.Len():
		for i := range checked.Len() {
			if diff := differ(fmt.Sprintf("%s[%d]", path, i), checked.Index(i), bare.Index(i)); diff != "" {
				return diff
			}
		}
	}
	return fmt.Sprintf("%s is %.200s, and with checks %.200s", path, y, x)
}

// hadEnough reports whether a batch may have ended by what it says is enough.
func hadEnough(b *sim.BatchOutcome) bool {
	x := b.Enough
	if x == nil {
		return false
	}
	return x.Labels > 0 && b.Labelled >= x.Labels ||
		x.Share > 0 && float64(b.Labelled) >= x.Share*float64(b.Tasks) ||
		x.Confidence > 0 || // of which an outcome says nothing
		x.Spent > 0 && b.Spent+cmp.Or(b.Reward, sim.DefaultReward) > x.Spent
}

// conserved checks the totals of a run against each other.
func conserved(o *sim.Outcome) error {
	answers, running, labels := int64(0), 0, int64(0)
	for i := range o.Batches {
		b := &o.Batches[i]
		answers += int64(b.Answers)
		running += b.Running
		labels += int64(b.Labelled)
		if b.Ended >= 0 && b.Running != 0 {
			return fmt.Errorf("%s ended and %d people still hold tasks of it", b.Name, b.Running)
		}
		switch {
		case b.Answers > b.Planned || b.Planned > b.Wanted && b.Ended >= 0:
			return fmt.Errorf("%s has %d answers of %d, and %d were wanted", b.Name, b.Answers, b.Planned, b.Wanted)
		case b.Completed >= 0 && (b.Completed != b.Ended || b.Labelled != b.Tasks+b.Known && !hadEnough(b)):
			return fmt.Errorf("%s was completed at %s with %d labels of %d, and ended at %s", b.Name, b.Completed, b.Labelled, b.Tasks+b.Known, b.Ended)
		}
	}
	switch {
	case answers != o.Answers:
		return fmt.Errorf("%d answers count in the batches, %d in all", answers, o.Answers)
	case labels != o.Labels:
		return fmt.Errorf("%d labels in the batches, %d in all", labels, o.Labels)
	case o.HandOuts < o.Answers+o.GivenUp:
		return fmt.Errorf("%d hand-outs came to %d answers and %d given up", o.HandOuts, o.Answers, o.GivenUp)
	case o.Crowd.Worked+o.Crowd.Waited > o.Crowd.Present:
		return fmt.Errorf("people worked %s and waited %s of %s", o.Crowd.Worked, o.Crowd.Waited, o.Crowd.Present)
	}
	return nil
}
