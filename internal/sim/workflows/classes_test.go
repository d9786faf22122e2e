package workflows

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/internal/sim/scenario"
	"github.com/throng-dev/throng/sla"
)

// tiers has premium and regular claims go through two steps of people and a service.
const tiers = `
workflow: Tiers
inputs: {claims: {columns: [id, tier]}}
sla: SLA
steps:
  assess:
    from: {claims: stream}
    crowd: {template: {kind: choose_one, options: [yes, no], show: [id]}, reward: 0.05, task_time: 10m}
  score:
    from: {assess: stream}
    service: {url: "https://x.example/", concurrency: 1, timeout: 5m, expect: 20s, response: {type: object, required: [risk], properties: {risk: {type: number}}}}
  decide:
    from: {score: stream}
    crowd: {template: {kind: choose_one, options: [pay, refuse], show: [id]}, reward: 0.05, task_time: 5m}
`

// classes is the SLA of a workflow with two classes.
func classes(premium, regular string) string {
	return fmt.Sprintf("{classes: {premium: {when: tier == 'premium', %s}, regular: {%s}}}", premium, regular)
}

// tiersPlan has claims come for three hours, more than three people can do, six of ten of
// them premium.
func tiersPlan(t testing.TB, terms string) *Plan {
	p := planOf(t, strings.Replace(tiers, "SLA", terms, 1))
	p.Workers, p.Models = []scenario.Workers{{Each: 3}}, Models{"score": {Time: sim.Constant(20)}}
	p.Load.For, p.Load.Arrivals = 3*time.Hour, sim.Arrivals{Rate: 30}
	claims := &Table{Columns: []string{"id", "tier"}}
	for i := range 10 {
		tier := "regular"
		if i < 6 {
			tier = "premium"
		}
		claims.Rows = append(claims.Rows, []string{fmt.Sprint(i), tier})
	}
	p.Load.Tables = map[string]*Table{"claims": claims}
	return p
}

// TestEqualClassesAreOne: items of two classes that are promised the same are treated as if
// there were none.
func TestEqualClassesAreOne(t *testing.T) {
	for _, policy := range []string{"penalty", "tenant-fair(penalty(wfs))", "penalty(form=event)", "fifo"} {
		for seed, promise := range []string{
			"penalty: staged, after: 30m, every: 20m, cost: 3.00, at_most: 8.00", "penalty: constant, after: 50m, cost: 5.00", "penalty: linear, after: 40m, every: 1h, cost: 2.00",
		} {
			one, two := tiersPlan(t, "{"+promise+"}"), tiersPlan(t, classes(promise, promise))
			var outcomes []*Outcome
			for _, p := range []*Plan{one, two} {
				p.Policies, p.Seed, p.Load.For = []string{policy}, uint64(seed), 80*time.Minute
				outcomes = append(outcomes, p.must(t).Variants[0].Runs[0])
			}
			by := outcomes[1].Classes
			if len(by) != 2 || by[0].Ended == 0 || by[1].Ended == 0 || outcomes[0].Late == 0 {
				t.Fatalf("%s: nothing is told by it: %+v", policy, by)
			}
			sum := [3]int{by[0].Ended + by[1].Ended, by[0].Late + by[1].Late, int(by[0].Penalty + by[1].Penalty)}
			same(t, policy+": the sum of the classes", sum, [3]int{outcomes[0].Ended, outcomes[0].Late, int(outcomes[0].Penalty)})
			outcomes[1].Classes = nil
			same(t, policy+", "+promise, *outcomes[1], *outcomes[0])
		}
	}
}

// TestPremiumGoesFirst: where there are too few people for all, what is more expensive is
// served first, whether it is due earlier or later, and the penalty is a fraction of what it
// is where all are promised the mean of both.
func TestPremiumGoesFirst(t *testing.T) {
	staged := func(after, every time.Duration, cost crowd.Money) *sla.Penalty {
		return &sla.Penalty{Kind: sla.Staged, After: after, Every: every, Cost: cost * crowd.Unit}
	}
	say := func(p *sla.Penalty) string {
		return fmt.Sprintf("penalty: staged, after: %s, every: %s, cost: %s", p.After, p.Every, p.Cost)
	}
	for name, promised := range map[string][2]*sla.Penalty{
		"due earlier": {staged(time.Hour, 30*time.Minute, 20), staged(3*time.Hour, time.Hour, 2)},
		"due later":   {staged(2*time.Hour, 30*time.Minute, 20), staged(time.Hour, time.Hour, 2)},
	} {
		mean := staged((promised[0].After+promised[1].After)/2, 45*time.Minute, 11)
		cost := func(terms string) (sum crowd.Money, late [2]float64) {
			for i, c := range tiersPlan(t, terms).must(t).Variants[0].Runs[0].Classes {
				for _, age := range c.Latency {
					if p := promised[i].At(time.Duration(age * float64(time.Second))); p > 0 {
						sum, late[i] = sum+p, late[i]+1/float64(c.Ended)
					}
				}
			}
			return sum, late
		}
		apart, late := cost(classes(say(promised[0]), say(promised[1])))
		together, lateTogether := cost(classes(say(mean), say(mean)))
		t.Logf("%s: %s, late %.2f; all the same: %s, late %.2f", name, apart, late, together, lateTogether)
		if apart > together/2 || late[0] > lateTogether[0]/2 {
			t.Errorf("%s: two classes cost %s, late %.2f; one costs %s, late %.2f", name, apart, late, together, lateTogether)
		}
	}
}

// TestClassesOfSeveralRuns: the figures of the classes are those of all runs together.
func TestClassesOfSeveralRuns(t *testing.T) {
	p := tiersPlan(t, classes("penalty: constant, after: 30m, cost: 3.00", "penalty: constant, after: 20m, cost: 1.00"))
	p.Load.Runs, p.Load.Rows, p.Load.For = true, 10, 4*time.Hour
	p.Load.Arrivals = sim.Arrivals{Times: []time.Duration{0, 20 * time.Minute, 3 * time.Hour}}
	o := p.must(t).Variants[0].Runs[0]
	var sum ClassOutcome
	for i, c := range o.Classes {
		over := 0 // by the ages of the items
		after := []time.Duration{30 * time.Minute, 20 * time.Minute}[i]
		for _, age := range c.Latency {
			if age > after.Seconds() {
				over++
			}
		}
		if cost := crowd.Money([]int64{3, 1}[i]) * crowd.Unit; c.Late != over || c.Penalty != cost*crowd.Money(over) || over == 0 {
			t.Errorf("%s: %d late, penalty %s; %d of its items are over %s", c.Name, c.Late, c.Penalty, over, after)
		}
		sum.Ended, sum.Late, sum.Penalty = sum.Ended+c.Ended, sum.Late+c.Late, sum.Penalty+c.Penalty
	}
	share := Metrics[slices.IndexFunc(Metrics, func(m Metric) bool { return m.Name == "late_share" })]
	if got, want := share.Of(o), float64(sum.Late)/30; o.Ended != 3 || got != want {
		t.Errorf("%d runs ended, and the late share is %v, want %v of their 30 items", o.Ended, got, want)
	}
	if len(o.Classes) != 2 || sum.Ended != 30 || sum.Late != o.Late || sum.Penalty != o.Penalty {
		t.Errorf("%d classes have %d items, %d late, penalty %s; the runs %d late, %s", len(o.Classes), sum.Ended, sum.Late, sum.Penalty, o.Late, o.Penalty)
	}
}
