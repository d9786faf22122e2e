package control

import (
	"maps"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/sched"
)

var begin = time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)

func newPoolFairness() *poolFairness {
	return &poolFairness{since: begin, tenants: map[crowd.TenantID]*account{}, batches: map[crowd.BatchID]*account{}, point: newPoint(begin)}
}

// shareOf is a batch of its tenant's, of weight and priority 1.
func shareOf(batch crowd.BatchID, tenant crowd.TenantID, running, wanted int, held time.Duration) engine.BatchShare {
	return engine.BatchShare{Batch: batch, Planned: 10, Running: running, Held: held, Claim: sched.Claim{Tenant: tenant, TenantWeight: 1, Priority: 1, Wanted: wanted}}
}

// TestARestoredEngineCountsAnew: what it tells is all since it was made.
func TestARestoredEngineCountsAnew(t *testing.T) {
	t.Parallel()
	x, e, restored := newPoolFairness(), new(engine.Engine), new(engine.Engine)
	look := func(s int, e *engine.Engine, held time.Duration) {
		x.look(begin.Add(time.Duration(s)*time.Second), e, []engine.BatchShare{shareOf(1, 1, 1, 5, held)}, []engine.TenantShare{{Tenant: 1, Weight: 1, Held: held}})
	}
	look(0, e, 0)
	look(10, e, 10*time.Second)
	look(20, restored, 4*time.Second)
	if got := x.tenants[1].Worked; got != 14*time.Second || x.batches[1].Worked != got {
		t.Errorf("the tenant worked %s, the batch %s, want 14s", got, x.batches[1].Worked)
	}
	look(30, restored, 14*time.Second)
	look(40, e, 20*time.Second) // more than before, and all of it new
	if got := x.tenants[1].Worked; got != 44*time.Second || x.batches[1].Worked != got {
		t.Errorf("the tenant worked %s, the batch %s, want 44s", got, x.batches[1].Worked)
	}
}

// TestWhoLeftIsDueItsPart: half of what all did since the last look, as it was wanted then.
func TestWhoLeftIsDueItsPart(t *testing.T) {
	t.Parallel()
	x, e := newPoolFairness(), new(engine.Engine)
	tenants := func(held time.Duration) []engine.TenantShare {
		return []engine.TenantShare{{Tenant: 1, Weight: 1, Held: held}, {Tenant: 2, Weight: 1}}
	}
	x.look(begin, e, []engine.BatchShare{shareOf(1, 1, 1, 5, 0), shareOf(2, 2, 0, 5, 0)}, tenants(0))
	x.look(begin.Add(10*time.Second), e, []engine.BatchShare{shareOf(1, 1, 1, 5, 8*time.Second)}, tenants(8*time.Second))
	p := x.point.close(begin.Add(10 * time.Second))
	for _, list := range [][]Portion{p.tenants, p.batches} {
		if len(list) != 2 || list[0].Worked != 8*time.Second || list[0].Due != 6*time.Second || list[1].Tenant != 2 || list[1].Due != 2*time.Second {
			t.Errorf("portions %+v, want 6 and 2 seconds due", list)
		}
	}
	if len(x.batches) != 1 {
		t.Errorf("%d batches are kept", len(x.batches))
	}
}

// TestWhatIsWantedAtOneLookOnly is due all that was done between the two looks, by the parts of
// the one at which something was wanted.
func TestWhatIsWantedAtOneLookOnly(t *testing.T) {
	t.Parallel()
	for _, wanted := range [][2]int{{5, 0}, {0, 5}} {
		x, e := newPoolFairness(), new(engine.Engine)
		for i, held := range []time.Duration{0, 8 * time.Second} {
			x.look(begin.Add(time.Duration(i)*10*time.Second), e,
				[]engine.BatchShare{shareOf(1, 1, 1, wanted[i], held), shareOf(2, 2, 1, wanted[i], 0)},
				[]engine.TenantShare{{Tenant: 1, Weight: 1, Held: held}, {Tenant: 2, Weight: 1}})
		}
		p := x.point.close(begin.Add(10 * time.Second))
		for _, list := range [][]Portion{p.tenants, p.batches} {
			if len(list) != 2 || list[0].Due != 4*time.Second || list[1].Due != 4*time.Second {
				t.Errorf("wanted %v: portions %+v, want 4 seconds due to each", wanted, list)
			}
		}
	}
}

// TestPointsAreOfADayAndBounded, and as many portions are counted as there are.
func TestPointsAreOfADayAndBounded(t *testing.T) {
	t.Parallel()
	x, r := newPoolFairness(), rand.New(rand.NewPCG(1, 2))
	at := begin
	end := func(portions int) {
		at = at.Add(fairnessEvery)
		for b := range crowd.BatchID(portions) {
			x.point.batch(Portion{Tenant: 1, Batch: 1 + b, Worked: time.Second})
		}
		x.end(at)
	}
	check := func() {
		t.Helper()
		sum := 0
		for _, p := range x.points {
			sum += len(p.tenants) + len(p.batches)
		}
		if sum != x.portions || at.Sub(x.points[0].at) >= fairnessLife || sum > mostPortions {
			t.Fatalf("%d portions are counted, there are %d, of %s", x.portions, sum, at.Sub(x.points[0].at))
		}
	}
	for range 2000 {
		end(r.IntN(5))
		check()
	}
	if n := len(x.points); n != int(fairnessLife/fairnessEvery) {
		t.Errorf("%d points are kept of a day", n)
	}
	for range 2000 { // 1,440 points of these would be 288,000 portions
		for i := range crowd.TenantID(100) {
			x.point.tenant(Portion{Tenant: 1 + i, Worked: time.Second})
		}
		end(pointBatches)
		check()
	}
	if n := len(x.points); n != mostPortions/200 {
		t.Errorf("%d points of 200 portions are kept", n)
	}
}

// TestSmallTenantsAreInThePoints: a requester finds the batches of a small tenant, however
// many large ones there are.
func TestSmallTenantsAreInThePoints(t *testing.T) {
	t.Parallel()
	p := newPoint(begin)
	for b := range crowd.BatchID(2 * pointBatches) {
		p.batch(Portion{Tenant: 1, Batch: 1 + b, Worked: time.Hour})
	}
	for b := range crowd.BatchID(2 * tenantBatches) {
		p.batch(Portion{Tenant: 2, Batch: 1000 + b, Worked: time.Minute - time.Duration(b)*time.Second})
	}
	p.batch(Portion{Tenant: 3, Batch: 2000, Due: time.Second})
	p.batch(Portion{Tenant: 4, Batch: 3000})
	of := map[crowd.TenantID]int{}
	for _, b := range p.close(begin.Add(fairnessEvery)).batches {
		of[b.Tenant]++
		if b.Tenant == 2 && b.Batch >= 1000+tenantBatches {
			t.Errorf("%s is kept, which is none of the first", b.Batch)
		}
	}
	if want := map[crowd.TenantID]int{1: pointBatches, 2: tenantBatches, 3: 1}; !maps.Equal(of, want) {
		t.Errorf("batches by tenant are %v, want %v", of, want)
	}
}

// TestHadByDue: who had nothing of what was due counts, and who was due nothing does not.
func TestHadByDue(t *testing.T) {
	t.Parallel()
	even := []Portion{{Worked: 60, Due: 60}, {Worked: 30, Due: 30}, {Worked: 10}}
	if x := hadIndex(even); x.Jain != 1 || x.JInf != -2 {
		t.Errorf("two had what they were due: %+v", x)
	}
	if x := hadIndex(append(even, Portion{Due: 10})); math.Abs(x.Jain-2.0/3) > 1e-12 || !math.IsInf(x.JInf, -1) {
		t.Errorf("one of three had nothing: %+v", x)
	}
	if x := hadIndex([]Portion{{Worked: 10}}); !math.IsNaN(x.Jain) || !math.IsNaN(x.JInf) {
		t.Errorf("nobody was due anything: %+v", x)
	}
}

// TestATenantTooSmallToJudge: with a single task it has many times what it was due, and
// neither the figure nor the verdict goes by it.
func TestATenantTooSmallToJudge(t *testing.T) {
	t.Parallel()
	list := []Portion{{Tenant: 1, Worked: 60 * time.Second, Due: 60 * time.Second}, {Tenant: 2, Worked: 40 * time.Second, Due: 40 * time.Second}, {Tenant: 3, Worked: 26 * time.Millisecond, Due: 10 * time.Millisecond}}
	if x := hadIndex(list); x.Jain != 1 || x.JInf != -2 || x.LeftOut != 1 {
		t.Errorf("two of three can be judged, and had what they were due: %+v", x)
	}
	if x := hadIndex([]Portion{{Worked: 99, Due: 99}, {Due: 1}}); x.LeftOut != 0 || x.Jain != 0.5 {
		t.Errorf("due 1 %% and a little more: %+v", x)
	}
}

// TestVerdict judges by the tenant that had the least of what it was due.
func TestVerdict(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		list  []Portion
		want  FairnessVerdict
		worst crowd.TenantID
	}{
		{"nobody worked", []Portion{{Tenant: 1}}, NobodyWorked, 0},
		{"nearly even", []Portion{{Tenant: 1, Worked: 52, Due: 50}, {Tenant: 2, Worked: 48, Due: 50}}, Even, 0},
		{"just under", []Portion{{Tenant: 1, Worked: 53, Due: 50}, {Tenant: 2, Worked: 47, Due: 50}}, Uneven, 2},
		{"the least of two", []Portion{{Tenant: 1, Worked: 60, Due: 40}, {Tenant: 2, Worked: 30, Due: 40}, {Tenant: 3, Worked: 10, Due: 20}}, Uneven, 3},
		{"too small", []Portion{{Tenant: 1, Worked: 1000, Due: 991}, {Tenant: 2, Due: 9}}, Even, 0},
		{"due nothing", []Portion{{Tenant: 1, Worked: 10, Due: 10}, {Tenant: 2}}, Even, 0},
	} {
		worked := lists.Sum(test.list, func(p Portion) time.Duration { return p.Worked })
		v := FairnessView{Worked: worked, Tenants: partsOf(worked, test.list)}
		got, worst := v.Verdict()
		if got != test.want || (worst == nil) != (test.worst == 0) || worst != nil && worst.Tenant != test.worst {
			t.Errorf("%s: %s, %+v, want %s, tenant %d", test.name, got, worst, test.want, test.worst)
		}
	}
}

// TestTheWindowBeginsWithAWholeMinute: it tells from when on the time is that it shows.
func TestTheWindowBeginsWithAWholeMinute(t *testing.T) {
	t.Parallel()
	x, e := newPoolFairness(), new(engine.Engine)
	f := fairness{pools: map[crowd.PoolID]*poolFairness{1: x}}
	at := begin
	for s := 0; s <= 150; s += 10 { // points end after 60 and 120 s, and one is open
		held := time.Duration(s) * time.Second
		at = begin.Add(held)
		x.look(at, e, []engine.BatchShare{shareOf(1, 1, 1, 5, held)}, []engine.TenantShare{{Tenant: 1, Weight: 1, Held: held}})
	}
	for back, want := range map[time.Duration]time.Duration{
		5 * time.Second: 30 * time.Second, 30 * time.Second: 30 * time.Second, 31 * time.Second: 90 * time.Second,
		90 * time.Second: 90 * time.Second, 100 * time.Second: 150 * time.Second,
	} {
		v := f.view(1, at, back, func(crowd.TenantID) bool { return true })
		if got := at.Sub(v.From); got != want || v.Worked != want {
			t.Errorf("%s back: from %s back on, %s of work; want %s of both", back, got, v.Worked, want)
		}
	}
	if v := f.view(1, at, time.Hour, func(crowd.TenantID) bool { return true }); !v.From.Equal(begin) || v.Worked != 150*time.Second {
		t.Errorf("an hour back: from %s, %s of work", v.From, v.Worked)
	}
}
