package web

import (
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
)

// TestARunWithClasses: its page says how the promise to each class is kept, and whose an item
// is.
func TestARunWithClasses(t *testing.T) {
	t.Parallel()
	c, _, flow := flowCompany(t, 1)
	flow = strings.Replace(flow, "{per: item, penalty: staged, after: 1h, every: 1h, cost: 1.00}",
		`{classes: {best: {when: name == "Uno", penalty: staged, after: 1h, every: 1h, cost: 7.00}, other: {penalty: constant, after: 1d, cost: 1.00}}}`, 1)
	path := c.startPets(flow)
	c.req.becomes(path, "kept Class On their way Ended Late In time Penalty Foreseen best 1 0 0 – 0.00 not known other 2 0 0 – 0.00 not known").want(200, "3 best kind", "what is on its way will cost: not known").without("at least 0.00")
	c.ahead.Store(int64(2 * time.Hour))
	c.req.becomes(path, "and at least 7.00 foreseen")
	c.workers[0].becomes("/work", "What is Uno?")
	c.workers[0].answerAll(3, "dog")
	c.req.becomes(path, "Go on from this run").want(200, "Ended 3", "1 late", "best 0 1 1 0 % 7.00 other 0 2 0 100 % 0.00").without("Foreseen")
	c.req.get(path+"/items/3").want(200, "Of the class best.", "Began")
	c.req.get(path+"/items/1").want(200, "Of the class other.")
}

// What late items cost together may be more than anyone may enter as one amount.
func TestPenaltyOverTime(t *testing.T) {
	t.Parallel()
	h := &runPast{items: make([]orchestrator.EndedItem, 3)}
	for i := range h.items {
		h.items[i].At, h.items[i].Penalty = time.Unix(int64(i), 0), crowd.MaxMoney
	}
	if got := h.sum(); got != 3*crowd.MaxMoney {
		t.Errorf("in all %s, want %s", got, 3*crowd.MaxMoney)
	}
	pictures, err := drawn([]sketch{{name: "Penalty over time", chart: h.paid}})
	if err != nil || !strings.Contains(string(pictures[0].SVG), "now 3000000.00.") {
		t.Errorf("the picture of penalties does not say 3000000.00 (%v): %s", err, pictures[0].SVG)
	}
}
