package sched_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/sched"
)

// TestIgnoresReward: by-reward around what looks at no priority, wherever it stands.
func TestIgnoresReward(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"by-reward(fs)": true, "by-reward(fifo)": true, "tenant-fair(by-reward(penalty))": true, "by-reward(wcfs(tenant-fair(edf),k=2))": true,
		"by-reward(penalty(sjf))": true, "by-reward(by-reward(rr))": true, "by-reward(penalty(wfs))": false, "by-reward(strict-priority(fs))": false,
		"by-reward(fs-code)": true, "by-reward(wcfs(dafs-code(seed=7),k=2))": true, "by-reward(beta-fair(beta=2,x=fs-ratio))": true,
		"by-reward(wfs)": false, "by-reward(beta-fair(beta=2))": false, "fs": false, "by-reward(": false,
	} {
		if sched.IgnoresReward(text) != want {
			t.Errorf("%q: %t", text, !want)
		}
	}
}

// TestWhatLooksAtPriority: what is told of every policy is what it does. One that looks at no
// priority has the same order whatever they are; one that does has another one in some world.
func TestWhatLooksAtPriority(t *testing.T) {
	t.Parallel()
	for _, name := range everyPolicy() {
		if strings.Contains(name, "by-reward") {
			continue // there the reward is the priority
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			looks := false
			worlds(t, 40, 300, func(t *testing.T, seed uint64) (seen int) {
				w := newWorld(seed)
				with, same := parse(t, name), parse(t, name)
				w.tell = func(b sched.Batch) {
					with.Set(&b)
					b.Priority = 3
					same.Set(&b)
				}
				w.forget = func(id crowd.BatchID) { with.Remove(id); same.Remove(id) }
				for range 100 {
					w.step()
					p := w.person()
					again := *p
					id := with.Next(epoch, p)
					if looks = looks || same.Next(epoch, &again) != id; id != 0 {
						w.handOut(id)
					}
					looks = looks || !slices.Equal(order(with, all), order(same, all))
					seen++
				}
				return seen
			})
			if said := !sched.IgnoresReward("by-reward(" + name + ")"); said != looks {
				t.Errorf("it looks at priorities: %t, and it is said %t", looks, said)
			}
		})
	}
}

// TestKeepsPromises.
func TestKeepsPromises(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"penalty": true, "tenant-fair(penalty(wfs))": true, "wcfs(strict-priority(penalty(form=loop)),k=2)": true,
		"tenant-fair(wfs)": false, "edf": false, "penalty(": false, "": false,
	} {
		if sched.KeepsPromises(text) != want {
			t.Errorf("%q: %t", text, !want)
		}
	}
}
