package sched_test

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/sched"
)

// willing is somebody who may do everything and has done nothing.
type willing struct{}

func (willing) LastBatch() crowd.BatchID    { return 0 }
func (willing) MayClass(sched.Class) bool   { return true }
func (willing) MayBatch(crowd.BatchID) bool { return true }

// shares lets so many people do tasks that take equally long, and returns how many of 3,000
// each of three batches with the priorities 1, 10 and 100 has.
func shares(policy string, people int) (had [3]int) {
	p := sched.MustParse(policy)
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var list [3]sched.Batch
	for i := range list {
		list[i] = sched.Batch{ID: crowd.BatchID(i + 1), Tenant: 1, TenantWeight: 1, Arrived: now, Priority: []float64{1, 10, 100}[i],
			Reward: []crowd.Money{crowd.Unit / 100, crowd.Unit / 10, crowd.Unit}[i], Planned: 1_000_000, TaskTime: time.Minute, Assignable: true}
		p.Set(&list[i])
	}
	var busy []int // with which batch, the longest first
	for turn := range 3_000 {
		if len(busy) == people {
			b := &list[busy[0]]
			busy = busy[1:]
			b.Running--
			b.Completed++
			p.Set(b)
		}
		now = now.Add(time.Second)
		i := int(p.Next(now, willing{})) - 1
		b := &list[i]
		b.Running++
		b.Turn = uint64(turn) + 1
		p.Set(b)
		busy = append(busy, i)
		had[i]++
	}
	return had
}

// TestPriorityNeedsMorePeopleThanBatches: under policies that share people by priority, a batch
// that nobody is at comes first whatever its priority, so with no more people than batches all
// have the same; with more the priority tells. A strict priority tells with one person.
func TestPriorityNeedsMorePeopleThanBatches(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"wfs", "wfs-ratio", "sdafs", "by-reward(wfs)", sched.Default} {
		for people := 1; people <= 3; people++ {
			if had := shares(policy, people); had != [3]int{1000, 1000, 1000} {
				t.Errorf("%s: %d people do %v", policy, people, had)
			}
		}
		for people := 4; people <= 30; people += 13 {
			if had := shares(policy, people); had[2] <= had[1] || had[2] <= 1_100 {
				t.Errorf("%s: %d people do %v", policy, people, had)
			}
		}
	}
	for _, policy := range []string{"strict-priority(wfs)", "by-reward(strict-priority(wfs))"} {
		if had := shares(policy, 1); had != [3]int{0, 0, 3000} {
			t.Errorf("%s: one person does %v", policy, had)
		}
	}
}

// TestByRewardLeavesPenaltyAsItIs: penalty looks at no priority, so the reward in its place
// changes nothing of its order.
func TestByRewardLeavesPenaltyAsItIs(t *testing.T) {
	t.Parallel()
	for people := 1; people <= 4; people++ {
		if plain, priced := shares("penalty", people), shares("by-reward(penalty)", people); plain != priced {
			t.Errorf("%d people do %v by penalty, and %v by reward", people, plain, priced)
		}
	}
	if !sched.KeepsPromises("by-reward(penalty(wfs))") {
		t.Error("by-reward(penalty(wfs)) keeps no promises")
	}
}
