package control

import (
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/sched"
)

// TestTimesInTheQueueAreForPeople: what a policy decides by names times as they are told
// elsewhere, with how far away they are.
func TestTimesInTheQueueAreForPeople(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 10, 1, 14, 0, 0, 0, time.UTC)
	due := now.Add(20 * time.Minute)
	for policy, want := range map[string]string{
		"fifo": "first in, first out: arrived 12:00 (2 h ago)",
		"edf":  "earliest deadline first: due 2 Oct, 14:00 (in 1 day)",
		"penalty(form=atc,look=2m)": "most urgent step of a penalty first: 2.00 falls due unless its first task is handed out before 14:20 (in 20 min); " +
			"ordered as if that were at 14:1",
	} {
		p := sched.MustParse(policy)
		p.Set(&sched.Batch{ID: 1, Priority: 1, TenantWeight: 1, Planned: 3, Assignable: true, TaskTime: time.Minute, Arrived: now.Add(-2 * time.Hour), Deadline: now.Add(24 * time.Hour),
			Due: due, Stake: 2 * crowd.Unit, Since: now.Add(-time.Hour)})
		k, _ := p.Key(1)
		q := QueuedBatch{Queued: engine.Queued{Key: k, Place: 1}, at: now}
		if got := q.Why(); !strings.HasPrefix(got, want) || strings.Contains(got, "2026") {
			t.Errorf("%s: %s; want %s", policy, got, want)
		}
	}
}
