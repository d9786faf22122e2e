package workflows

import (
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/sim"
)

// TestGraceOfAStep: answers may be taken back for 100 seconds, so each row goes on so much later;
// the next task begins at once all the same.
func TestGraceOfAStep(t *testing.T) {
	p := planOf(t, strings.Replace(oneQueue, "reward: 0.05", "reward: 0.05, grace: 100s", 1))
	p.Load.Arrivals = sim.Arrivals{Times: []time.Duration{time.Minute, time.Minute, time.Minute}}
	p.Models = Models{"answer": {Time: sim.Constant(60)}}
	o := p.must(t).Variants[0].Runs[0]
	same(t, "latencies", o.Latency, []float64{160, 220, 280})
	same(t, "ended, late", []int{o.Ended, o.Late}, []int{3, 3})
	same(t, "spent", o.Spent, 150_000*crowd.Money(1))
}
