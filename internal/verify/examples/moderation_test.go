package examples

import (
	"fmt"
	"testing"
	"time"
)

// The bars of moderation: experts must be worth their money.
const leastAccuracy, moreThanCrowd = 0.97, 0.02

func TestModeration(t *testing.T) {
	t.Parallel()
	r, _ := find("moderation").run(t, way{workers: 3, seed: 1})
	r.log()
	truth := make(map[string]string)
	for _, row := range data(t, "moderation/data/comments.csv") {
		truth[row["id"]] = row["truth"]
	}
	decisions := r.rows("decide")
	before, after, decided := 0, 0, make(map[string]bool)
	for _, d := range decisions {
		decided[d["id"]] = true
		if d["crowd"] == truth[d["id"]] {
			before++
		}
		if d["decision"] == truth[d["id"]] {
			after++
		}
		if (d["decision"] == "fine") != (d["action"] == "keep") {
			t.Errorf("%s is %s: %s", d["id"], d["decision"], d["action"])
		}
		if d["expert"] != "" && d["decision"] != d["expert"] {
			t.Errorf("%s: the expert says %s, the decision is %s", d["id"], d["expert"], d["decision"])
		}
	}
	if len(decided) != manyComments || len(decisions) != manyComments {
		t.Fatalf("%d decisions, of %d comments", len(decisions), len(decided))
	}
	crowd, final := float64(before)/manyComments, float64(after)/manyComments
	t.Logf("accuracy %.3f before, %.3f after the experts", crowd, final)
	if final < leastAccuracy || final < crowd+moreThanCrowd {
		t.Errorf("accuracy %.3f before, %.3f after the experts", crowd, final)
	}
	escalated := r.onlyDisagreements()
	r.told("moderation", fmt.Sprintf("right in %.1f %% of", 100*crowd), fmt.Sprintf("the %d on which", escalated), fmt.Sprintf("%.1f %% are", 100*final), fmt.Sprintf("penalty %s, %d of %d items late", r.view.Penalty, r.view.Late, r.view.Ended))

	if r.view.Ended != manyComments || r.view.Late == 0 || r.view.Late == manyComments {
		t.Errorf("%d of %d ended late", r.view.Late, r.view.Ended)
	}
	if due := r.due(time.Hour, 15*time.Minute, 200_000, 2_000_000); int64(r.view.Penalty) != due || due == 0 {
		t.Errorf("the penalty is %s, by the ends of the items it is %d millionths", r.view.Penalty, due)
	}
}

// onlyDisagreements holds experts to what they are for.
func (r *ran) onlyDisagreements() int {
	disputed := make(map[string]bool)
	for _, x := range r.rows("label") {
		if x["label_confidence"] != "1" {
			disputed[x["id"]] = true
		}
		if x["label_answers"] != "3" {
			r.t.Errorf("%s has %s answers", x["id"], x["label_answers"])
		}
	}
	seen := r.rows("expert")
	for _, x := range seen {
		if !disputed[x["id"]] {
			r.t.Errorf("an expert was asked about %s, where all agree", x["id"])
		}
	}
	if len(seen) != len(disputed) || len(seen) == 0 || len(seen) == manyComments {
		r.t.Errorf("experts saw %d comments, %d are disputed", len(seen), len(disputed))
	}
	r.t.Logf("experts saw %d of %d", len(seen), manyComments)
	return len(seen)
}
