package examples

import (
	"strings"
	"testing"
	"time"
)

// Overloaded: as many people as the figures of the README are for.
const clerks = 5

func TestInsuranceClaims(t *testing.T) {
	t.Parallel()
	serve := ServiceOptions{Failing: 0.1}
	e := find("insurance-claims")
	r, services := e.run(t, way{workers: clerks, seed: 1, policy: "penalty", serve: serve})
	r.log()
	r.claimsAreDone()
	r.servicesDidEachOnce(services)
	if due := r.due(3*time.Hour, 10*time.Minute, 2_000_000, 0); int64(r.view.Penalty) != due || due == 0 {
		t.Errorf("the penalty is %s, by the ends of the items it is %d millionths", r.view.Penalty, due)
	}

	fifo, _ := e.run(t, way{workers: clerks, seed: 1, policy: "fifo", serve: serve})
	fifo.log()
	fifo.claimsAreDone()
	less := 1 - float64(r.view.Penalty)/float64(fifo.view.Penalty)
	t.Logf("fifo: %s, %d late; penalty: %s, %d late; %.0f %% less", fifo.view.Penalty, fifo.view.Late, r.view.Penalty, r.view.Late, 100*less)
	if less < leastLess {
		t.Errorf("the policy penalty pays %s, fifo %s", r.view.Penalty, fifo.view.Penalty)
	}
}

// leastLess is by how much penalties are less than under fifo, at the least.
const leastLess = 0.2

// claimsAreDone holds each claim to its way: what was decided about it, who came
// after that, and nobody else.
func (r *ran) claimsAreDone() {
	r.t.Helper()
	claims := make(map[string]map[string]string)
	for _, row := range data(r.t, "insurance-claims/data/claims.csv") {
		claims[row["claim"]] = row
	}
	papers := make(map[string]bool)
	for _, row := range r.rows("info") {
		papers[row["claim"]] = true
	}
	for _, row := range r.rows("missing") {
		if papers[row["claim"]] != (row["missing"] != "nothing") {
			r.t.Errorf("%s: missing is %s, papers were asked for: %t", row["claim"], row["missing"], papers[row["claim"]])
		}
	}
	visited, appraised := by(r.rows("visit")), by(r.rows("appraise"))
	right, close := 0, 0
	done := r.rows("done")
	for _, row := range done {
		c := claims[row["claim"]]
		paid := row["decision"] == "reimburse"
		vip := row["plan"] == "premium"
		if row["file"] != "F-"+row["claim"] || row["desk"] == "" || row["estimate"] == "" {
			r.t.Errorf("%v was not registered or not estimated", row)
		}
		if visited[row["claim"]] != (paid && vip) || appraised[row["claim"]] != (paid && !vip) {
			r.t.Errorf("%v: visited %t, appraised %t", row, visited[row["claim"]], appraised[row["claim"]])
		}
		if paid == strings.HasPrefix(row["letter"], "Dear "+c["customer"]) || paid == (row["paid"] == "0") {
			r.t.Errorf("%v: neither or both, money and a letter", row)
		}
		if row["decision"] == c["true_decision"] {
			right++
			if paid && row["paid"] == c["true_cost"] {
				close++
			}
		}
	}
	if len(done) != manyClaims || len(visited) == 0 || len(appraised) == 0 {
		r.t.Fatalf("%d claims are done, %d visited, %d appraised", len(done), len(visited), len(appraised))
	}
	r.t.Logf("%d of %d decisions are right, %d costs of %d", right, len(done), close, len(visited)+len(appraised))
	if float64(right) < 0.97*manyClaims || float64(close) < 0.85*float64(len(visited)+len(appraised)) {
		r.t.Errorf("%d of %d decisions are right, %d costs of %d", right, len(done), close, len(visited)+len(appraised))
	}
}

func by(rows []map[string]string) map[string]bool {
	out := make(map[string]bool)
	for _, row := range rows {
		out[row["claim"]] = true
	}
	return out
}

// servicesDidEachOnce: some calls were made twice, and nothing was done twice.
func (r *ran) servicesDidEachOnce(s *Services) {
	r.t.Helper()
	served := int64(0)
	for _, name := range []string{"register", "estimate", "info", "notify"} {
		served += r.node(name).OK
	}
	if s.Made() != served || s.Refused() == 0 || r.GaveUp != 0 {
		r.t.Errorf("%d answers were worked out for %d items, %d tries were refused, %d items given up", s.Made(), served, s.Refused(), r.GaveUp)
	}
	r.t.Logf("%d answers, %d tries were refused at first", served, s.Refused())
}

// TestServicesServeMany: simulations with other people call the same services,
// as a user's do, and none is given what another's items were answered.
func TestServicesServeMany(t *testing.T) {
	t.Parallel()
	services := NewServices(ServiceOptions{})
	claims := strings.Join(strings.SplitAfter(read(t, folder, "insurance-claims/data/claims.csv"), "\n")[:21], "")
	for seed := range uint64(3) {
		before := services.Made()
		r, _ := find("insurance-claims").run(t, way{workers: clerks, seed: seed, services: services, inputs: map[string]string{"claims": claims}})
		if n := len(r.rows("done")); n != 20 || r.GaveUp != 0 || services.Made() < before+40 {
			t.Errorf("seed %d: %d claims are done, %d given up, %d answers made", seed, n, r.GaveUp, services.Made()-before)
		}
	}
}
