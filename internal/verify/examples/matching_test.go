package examples

import (
	"fmt"
	"strconv"
	"testing"
)

// pair is two offers, the lesser id first.
type pair [2]string

func newPair(a, b string) pair {
	if b < a {
		a, b = b, a
	}
	return pair{a, b}
}

// pairsOf are all pairs of offers with the same mark.
func pairsOf(marks map[string]string) map[pair]bool {
	by := make(map[string][]string)
	for id, m := range marks {
		by[m] = append(by[m], id)
	}
	out := make(map[pair]bool)
	for _, ids := range by {
		for i, a := range ids {
			for _, b := range ids[i+1:] {
				out[newPair(a, b)] = true
			}
		}
	}
	return out
}

// score is precision, recall and F1 of pairs.
func score(got, want map[pair]bool) (precision, recall, f1 float64) {
	hits := 0.0
	for p := range got {
		if want[p] {
			hits++
		}
	}
	precision, recall = hits/float64(len(got)), hits/float64(len(want))
	return precision, recall, 2 * precision * recall / (precision + recall)
}

// The bars of the example of products. A threshold alone reaches bestAlone at
// most: people must be worth their money.
const (
	leastPrecision, leastRecall, leastF1 = 0.95, 0.93, 0.95
	moreThanAlone                        = 0.2
)

func TestEntityMatching(t *testing.T) {
	t.Parallel()
	r, _ := find("entity-matching").run(t, way{workers: 10, seed: 1})
	r.log()
	truth := make(map[string]string)
	for _, row := range data(t, "entity-matching/data/truth.csv") {
		truth[row["id"]] = row["product"]
	}
	clusters := make(map[string]string)
	for _, row := range r.rows("clusters") {
		clusters[row["id"]] = row["cluster"]
	}
	if len(clusters) != len(truth) || len(truth) != 400 {
		t.Fatalf("%d of %d offers are in a cluster", len(clusters), len(truth))
	}
	want := pairsOf(truth)
	precision, recall, f1 := score(pairsOf(clusters), want)
	t.Logf("clusters: precision %.3f, recall %.3f, F1 %.3f of %d pairs", precision, recall, f1, len(want))
	if precision < leastPrecision || recall < leastRecall || f1 < leastF1 {
		t.Errorf("precision %.3f, recall %.3f, F1 %.3f", precision, recall, f1)
	}

	asked := r.askedOnlyTheUnclear()
	best, at := bestThreshold(r.rows("pairs"), truth)
	t.Logf("the best threshold alone, %.2f: F1 %.3f", at, best)
	if f1 < best+moreThanAlone {
		t.Errorf("the best threshold alone, %.2f, has F1 %.3f, with people it is %.3f", at, best, f1)
	}
	r.told("entity-matching", fmt.Sprintf("F1 %.3f", f1), fmt.Sprintf("an F1 of %.3f", best), fmt.Sprintf("%d of the %d pairs", asked, r.node("pairs").OK))
	by := make(map[string]int)
	for _, m := range r.rows("matches") {
		by[m["decided_by"]]++
	}
	t.Logf("%d pairs asked, matches by %v", asked, by)
	if by["people"] == 0 || by["likeness"] == 0 || len(by) != 2 {
		t.Errorf("matches by %v", by)
	}
}

// askedOnlyTheUnclear compares the tasks of the crowd with the pairs.
func (r *ran) askedOnlyTheUnclear() int {
	unclear := make(map[pair]bool)
	for _, p := range r.rows("pairs") {
		likeness, err := strconv.ParseFloat(p["likeness"], 64)
		if err != nil {
			r.t.Fatal(err)
		}
		if likeness >= 0.4 && likeness < 0.85 {
			unclear[newPair(p["our_id"], p["their_id"])] = true
		}
	}
	asked := r.rows("ask")
	for _, p := range asked {
		if !unclear[newPair(p["our_id"], p["their_id"])] {
			r.t.Errorf("people were asked about %s and %s, of likeness %s", p["our_id"], p["their_id"], p["likeness"])
		}
	}
	if len(asked) != len(unclear) || len(asked) == 0 || len(asked) == len(r.rows("pairs")) {
		r.t.Errorf("%d pairs were asked, %d are unclear", len(asked), len(unclear))
	}
	return len(asked)
}

// bestThreshold is what clusters reach if pairs above one likeness are the same,
// at the best of all.
func bestThreshold(pairs []map[string]string, truth map[string]string) (best, at float64) {
	for cut := 0.3; cut < 1; cut += 0.02 {
		root := make(map[string]string)
		var find func(x string) string
		find = func(x string) string {
			if up, ok := root[x]; ok && up != x {
				root[x] = find(up)
				return root[x]
			}
			return x
		}
		for _, p := range pairs {
			if likeness, _ := strconv.ParseFloat(p["likeness"], 64); likeness >= cut {
				root[find(p["our_id"])] = find(p["their_id"])
			}
		}
		marks := make(map[string]string)
		for id := range truth {
			marks[id] = find(id)
		}
		if _, _, f1 := score(pairsOf(marks), pairsOf(truth)); f1 > best {
			best, at = f1, cut
		}
	}
	return best, at
}
