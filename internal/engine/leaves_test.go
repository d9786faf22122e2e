package engine_test

import (
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
)

// TestAnotherStepTakesWhoItNeeds: of those who may answer in a step, as many are missing as another
// step wants more than there are people who may answer in that one only; of several the most.
func TestAnotherStepTakesWhoItNeeds(t *testing.T) {
	t.Parallel()
	e := newPool(t, "fifo", 2)
	must(t, e.SetWorker(start, engine.Worker{ID: 3, Qualifications: map[string]int{"english": 50}}))
	english := []engine.Requirement{{Name: "english", Min: 50}}
	c := e.Able(crowd.TenantID(1), 1, english)
	c = e.Leaves(c, 1, english, []engine.Asked{{Wanted: 3}, {Wanted: 1}})
	if c.People != 1 || c.Elsewhere != 1 {
		t.Errorf("%d may answer, and %d have to elsewhere; want 1 and 1", c.People, c.Elsewhere)
	}
}
