package app_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/control"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/sched"
)

// follow begins to follow a pool's events, and stops.
func follow(s *scene, p *access.Principal) error {
	f, err := s.Pools.Follow(s.ctx, p, s.pool, nil)
	if err == nil {
		f.Stop()
	}
	return err
}

// followed asks for more of what an admin follows.
func followed(s *scene, p *access.Principal) error {
	f, err := s.Pools.Follow(s.ctx, s.admin, s.pool, nil)
	if err != nil {
		return err
	}
	defer f.Stop()
	return second(s.Pools.Followed(s.ctx, p, f))
}

// TestFollowingOverARestart: who comes back after a restart is told of it, in place of a
// count of events that nobody knows; what came since and is kept no more is counted.
func TestFollowingOverARestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.launch(9)
	var last uint64
	do := func(f *control.Following) control.Events {
		t.Helper()
		must(w.submit(w.workers[0], w.next(w.workers[0]).Assignment, yes))(t)
		e := must(w.Pools.Followed(w.ctx, w.admin, f))(t)
		if len(e.List) == 0 || e.Last <= last || e.Last != e.List[len(e.List)-1].N {
			t.Fatalf("after %d: %+v", last, e)
		}
		last = e.Last
		return e
	}
	from := func(after uint64) *control.Following { return must(w.Pools.Follow(w.ctx, w.admin, w.pool, &after))(t) }
	f := must(w.Pools.Follow(w.ctx, w.admin, w.pool, nil))(t)
	if e := do(f); e.Missed != 0 || e.Restarted {
		t.Errorf("at first: %+v", e)
	}
	f.Stop()

	w.clock.advance(time.Hour)
	w.reopen()
	f = from(last)
	if e := do(f); e.Missed != 0 || !e.Restarted {
		t.Errorf("after the restart %d are missed, restarted %t", e.Missed, e.Restarted)
	}
	if e := do(f); e.Missed != 0 || e.Restarted {
		t.Errorf("later %d are missed, restarted %t", e.Missed, e.Restarted)
	}
	f.Stop()

	w.clock.advance(-2 * time.Hour)
	w.reopen()
	f = from(last)
	last = 0 // the numbers are lower
	if e := do(f); e.Missed != 0 || !e.Restarted {
		t.Errorf("after the clock was put back %d are missed, restarted %t", e.Missed, e.Restarted)
	}
	if e := do(f); e.Missed != 0 || e.Restarted {
		t.Errorf("later %d are missed, restarted %t", e.Missed, e.Restarted)
	}
	f.Stop()

	w.reopen()
	must(w.submit(w.workers[0], w.next(w.workers[0]).Assignment, yes))(t) // nobody follows
	f = from(last)
	defer f.Stop()
	if e := do(f); e.Missed < 3 || e.Missed > 20 || !e.Restarted {
		t.Errorf("of what came before anybody followed %d are missed, restarted %t", e.Missed, e.Restarted)
	}
}

// TestWhatIsMissedIsToldOnce: who comes when nothing is kept is told at once what they have
// missed, with the number from which they go on, and not again with the next event.
func TestWhatIsMissedIsToldOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.launch(9)
	do := func() { must(w.submit(w.workers[0], w.next(w.workers[0]).Assignment, yes))(t) }
	last := uint64(0)
	come := func(when string, after, missed uint64, restarted bool) {
		t.Helper()
		f := must(w.Pools.Follow(w.ctx, w.admin, w.pool, &after))(t)
		e := must(w.Pools.Followed(w.ctx, w.admin, f))(t)
		if len(e.List) > 0 || e.Missed != missed || e.Restarted != restarted || e.News() != (missed > 0 || restarted) {
			t.Errorf("%s: %d events, %d missed, restarted %t; want %d, %t", when, len(e.List), e.Missed, e.Restarted, missed, restarted)
		}
		if last = e.Last; must(w.Pools.Followed(w.ctx, w.admin, f))(t).News() {
			t.Errorf("%s: it is told twice", when)
		}
		f.Stop()
	}
	do()
	come("from the first that is kept", 0, 4, false)
	come("from before the start", 1, 4, true)
	come("from the last", last, 0, false)
	w.clock.advance(time.Hour)
	do() // the events are forgotten
	do()
	come("from an hour ago", last, 8, false)
	w.clock.advance(time.Hour)
	do()
	old := last
	w.reopen()
	come("after a restart", old, 0, true)
	come("again, from the last", last, 0, false)
	w.clock.advance(time.Hour)
	do()
	w.clock.advance(-9 * time.Hour)
	old = last
	w.reopen()
	do()
	come("after the clock was put back", old, 4, true)
	if last >= old {
		t.Errorf("the last number is %d, and was %d", last, old)
	}
	f := must(w.Pools.Follow(w.ctx, w.admin, w.pool, &old))(t)
	defer f.Stop()
	must(w.Pools.Followed(w.ctx, w.admin, f))(t)
	do()
	if e := must(w.Pools.Followed(w.ctx, w.admin, f))(t); len(e.List) == 0 || e.List[0].N != last+1 || e.Missed != 0 || e.Restarted {
		t.Errorf("the next events after %d are %+v", last, e)
	}
}

// TestEventsTellLabels to who may see results, and no others.
func TestEventsTellLabels(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.launch(9)
	operator := w.person(accounts.NewUser{Name: "olga", Roles: []store.HeldRole{{Role: "operator"}}})
	labels := func(p *access.Principal) (list []string, none bool) {
		first := uint64(0)
		f := must(w.Pools.Follow(w.ctx, p, w.pool, &first))(t)
		defer f.Stop()
		must(w.submit(w.workers[0], w.next(w.workers[0]).Assignment, yes))(t)
		e := must(w.Pools.Followed(w.ctx, p, f))(t)
		for _, x := range e.List {
			if x.Label != "" {
				list = append(list, x.Label)
			}
		}
		return list, e.NoLabels
	}
	if list, none := labels(w.admin); len(list) == 0 || none {
		t.Errorf("an administrator is told the labels %q, none %t", list, none)
	}
	if list, none := labels(operator); len(list) != 0 || !none {
		t.Errorf("an operator is told the labels %q, none %t", list, none)
	}
	if list, none := labels(w.admin); len(list) == 0 || none {
		t.Errorf("an administrator is then told the labels %q, none %t", list, none)
	}
}

// TestTheQueueTellsRewards to who may see money, and no others.
func TestTheQueueTellsRewards(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.policy("tenant-fair(by-reward(wfs))")
	w.launch(3, func(b *batches.NewBatch) { b.Reward = 77_000 })
	operator := w.person(accounts.NewUser{Name: "olga", Roles: []store.HeldRole{{Role: "operator"}}})
	told := func(p *access.Principal) (all int, reward bool) {
		q := must(w.Pools.Queue(w.ctx, p, w.pool, 9))(t)
		for k := &q.Batches[0].Key; k != nil; k = k.Inner {
			all++
			reward = reward || len(k.Rank) > 0 && k.Inner == nil || slices.ContainsFunc(k.Figures, func(f sched.Figure) bool { return f.Value == 7.7 })
		}
		if !strings.Contains(q.Batches[0].Why(), "the reward is the priority") {
			t.Errorf("%s is told %q", p.User.Name, q.Batches[0].Why())
		}
		return all, reward
	}
	if all, reward := told(w.admin); all != 3 || !reward {
		t.Errorf("an administrator is told of %d policies, the reward %t", all, reward)
	}
	if all, reward := told(operator); all != 2 || reward {
		t.Errorf("an operator is told of %d policies, the reward %t", all, reward)
	}
}

// TestErasedTextsAreNotFollowed: a label that goes with a text that an erasure deletes is not
// told to who follows the events later; one that somebody else's answer makes, too, still is.
func TestErasedTextsAreNotFollowed(t *testing.T) {
	t.Parallel()
	for choice, want := range map[accounts.FreeTextChoice][]string{
		accounts.DeleteText: {"", "a town"},
		accounts.KeepText:   {"Her Elm Street", "a town"},
	} {
		t.Run(string(choice), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 2)
			gone, stays := w.workers[0], w.workers[1]
			first := must(w.Pools.Follow(w.ctx, w.admin, w.pool, nil))(t)
			first.Stop() // and the events are kept for who comes back
			say := func(p *access.Principal, what string) {
				t.Helper()
				must(w.submit(p, w.next(p).Assignment, must(json.Marshal(what))(t)))(t)
			}
			text := func(b *batches.NewBatch) {
				b.Template = json.RawMessage(`{"kind":"short_text","question":"Say ${thing}"}`)
			}
			w.launch(1, text)
			say(gone, "Her Elm Street")
			w.launch(1, text, times(2))
			say(gone, "a town")
			say(stays, "a town")
			ok(t, w.Accounts.Erase(w.ctx, w.admin, gone.User.ID, accounts.ErasureOrder{Confirm: gone.User.Name, FreeText: choice, Settled: true}))
			start := uint64(0)
			f := must(w.Pools.Follow(w.ctx, w.admin, w.pool, &start))(t)
			defer f.Stop()
			var got []string
			for _, x := range must(w.Pools.Followed(w.ctx, w.admin, f))(t).List {
				if x.Kind == engine.RemoveTask {
					got = append(got, x.Label)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("labels: %q, want %q", got, want)
			}
		})
	}
}
