package sla_test

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/sla"
)

// The services of table I, and which of them the steps of claims call.
const (
	registration = iota
	estimation
	information
	analysis
	decision
	expertise
)

var (
	tableI   = []time.Duration{10 * ms, 100 * ms, 100 * ms, 150 * ms, 200 * ms, 500 * ms}
	services = []int{registration, estimation, information, analysis, decision, expertise}
)

const ms = time.Millisecond

// TestListing2 is the paper's worked example. Its first instance is 3.1 s old,
// its second 0.3 s. The listing leaves the analysis out: the decision follows
// the request for information. Rank's priorities do not hang on the 0.05 s by which
// lines 9 and 11 differ from the states in Figure 3.
func TestListing2(t *testing.T) {
	plan, err := sla.NewPlan([][]int{{}, {0}, {0}, {1, 2}, {3}})
	if err != nil {
		t.Fatal(err)
	}
	steps := []int{registration, estimation, information, decision, expertise}
	ls := &sla.Penalty{Kind: sla.Staged, After: 3 * sec, Cost: 10 * unit, Every: sec}
	done := sla.StepState{Progress: sla.Done}
	now := epoch
	first := &sla.Process{
		ID: 1, Plan: plan, Services: steps, Start: now.Add(-3100 * ms), Penalty: ls,
		Steps: []sla.StepState{done, done, {Progress: sla.Called, Since: now.Add(-50 * ms)}, {}, {}},
	}
	second := &sla.Process{
		ID: 2, Plan: plan, Services: steps, Start: now.Add(-300 * ms), Penalty: ls,
		Steps: []sla.StepState{done, done, done, {Progress: sla.Waiting, Since: now.Add(-10 * ms)}, {}},
	}
	want := []sla.Ranked{
		{Process: 1, Step: 3, Added: 10 * unit, At: now.Add(50 * ms), Predicted: true},
		{Process: 0, Step: 3, Added: 0, At: now.Add(-10 * ms)},
	}
	if got := sla.Rank(now, decision, tableI, []*sla.Process{second, first}); !slices.Equal(got, want) {
		t.Errorf("ranked %+v, want %+v", got, want)
	}
	// Lines 2, 4, 9 and 11, as ages. Those of the second instance are printed 0.05 s
	// larger: they have the 0.05 s of the first, which waits for its information. The
	// second waits for nothing but its decision, and no penalty hangs on it.
	finish := func(p *sla.Process, step int, made, response time.Duration) time.Duration {
		asked := *p
		asked.Steps = slices.Clone(p.Steps)
		for i := range step {
			asked.Steps[i] = done
		}
		asked.Steps[step] = sla.StepState{Progress: sla.Waiting, Since: now.Add(made)}
		request := asked.Request(now.Add(max(made, 0)), step, tableI)
		return request.Finish(now.Add(max(made, 0)), response).Sub(p.Start)
	}
	for what, c := range map[string]struct{ got, want time.Duration }{
		"line 2":  {finish(first, 3, 50*ms, 200*ms), 3850 * ms},
		"line 4":  {finish(first, 3, 50*ms, 400*ms), 4050 * ms},
		"line 9":  {finish(second, 3, -10*ms, 200*ms), (1050 - 50) * ms},
		"line 11": {finish(second, 3, -10*ms, 400*ms), (1250 - 50) * ms},
	} {
		if c.got != c.want {
			t.Errorf("%s: finished at %s, not %s", what, c.got, c.want)
		}
	}
	r := second.Request(now, 3, tableI)
	if r.Tail != 500*ms || !r.Bound.IsZero() || r.Added(now, 200*ms) != 0 {
		t.Errorf("the second instance waits with %+v", r)
	}
	// Predicted for 51 ms hence with half a response time of 50: too far.
	short := slices.Clone(tableI)
	short[decision] = 100 * ms
	first.Steps[2].Since = now.Add(-49 * ms)
	if got := sla.Rank(now, decision, short, []*sla.Process{first}); len(got) != 0 {
		t.Errorf("ranked %+v, want none", got)
	}
	first.Steps[2].Since = now.Add(-50 * ms)
	if got := sla.Rank(now, decision, short, []*sla.Process{first}); len(got) != 1 || !got[0].Predicted {
		t.Errorf("ranked %+v, want the one predicted at the end of half a response time", got)
	}
	// Overdue: expected now.
	first.Steps[2].Since = now.Add(-time.Hour)
	if got := sla.Rank(now, decision, tableI, []*sla.Process{first}); len(got) != 1 || !got[0].At.Equal(now) {
		t.Errorf("ranked %+v, want the one predicted for now", got)
	}
}

// processes draws a running process of a drawn plan: a step is past only if its
// predecessors are.
func processes(t *rapid.T, id int64, services int) (*sla.Process, [][]int) {
	after, _ := plans(t)
	plan, err := sla.NewPlan(after)
	if err != nil {
		t.Fatal(err)
	}
	settled := make([]bool, len(after))
	p := &sla.Process{ID: id, Plan: plan, Start: at(rapid.Int64Range(-150, 0).Draw(t, "start")), Penalty: penalties(t, sla.Staged, sla.Constant)}
	for i := range after {
		p.Services = append(p.Services, rapid.IntRange(0, services-1).Draw(t, "service"))
		var s sla.StepState
		ready := true
		for _, j := range after[i] {
			ready = ready && settled[j]
		}
		if ready {
			s.Progress = rapid.SampledFrom([]sla.Progress{sla.Ahead, sla.Waiting, sla.Called, sla.Done, sla.Done, sla.Skipped}).Draw(t, "progress")
		} else if rapid.IntRange(0, 5).Draw(t, "skips") == 0 {
			s.Progress = sla.Skipped
		}
		if s.Progress == sla.Waiting || s.Progress == sla.Called {
			s.Since = at(rapid.Int64Range(-40, 0).Draw(t, "since"))
		}
		settled[i] = ready && (s.Progress == sla.Done || s.Progress == sla.Skipped)
		p.Steps = append(p.Steps, s)
	}
	return p, after
}

// ends predicts the end of a step by the definition, after itself, recursively;
// slow is the step that takes double.
func ends(p *sla.Process, after [][]int, response []time.Duration, step, slow int) (reached, end int64) {
	for _, j := range after[step] {
		_, e := ends(p, after, response, j, slow)
		reached = max(reached, e)
	}
	takes := int64(response[p.Services[step]])
	if step == slow {
		takes *= 2
	}
	switch s := p.Steps[step]; s.Progress {
	case sla.Ahead:
		return reached, reached + takes
	case sla.Waiting:
		return reached, takes
	case sla.Called:
		return reached, max(0, int64(s.Since.Sub(epoch))+takes)
	}
	return reached, reached
}

// TestRankIsListing1 compares with the listing, line by line, at the epoch.
func TestRankIsListing1(t *testing.T) {
	predicted, pending, positive := 0, 0, 0
	looked(t, &predicted, 10)
	looked(t, &pending, 10)
	looked(t, &positive, 10)
	rapid.Check(t, func(t *rapid.T) {
		response := []time.Duration{}
		for range 3 {
			response = append(response, time.Duration(rapid.Int64Range(0, 40).Draw(t, "response")))
		}
		var all []*sla.Process
		var want []sla.Ranked
		const service = 1
		for i := range rapid.IntRange(4, 16).Draw(t, "processes") {
			p, after := processes(t, int64(100-i), len(response))
			all = append(all, p)
			finish := func(slow int) time.Duration {
				end := int64(0)
				for step := range p.Steps {
					_, e := ends(p, after, response, step, slow)
					end = max(end, e)
				}
				return at(end).Sub(p.Start)
			}
			for step, s := range p.Steps {
				r := sla.Ranked{Process: i, Step: step, At: s.Since}
				switch {
				case p.Services[step] != service:
					continue
				case s.Progress == sla.Waiting:
					pending++
				case s.Progress == sla.Ahead:
					k, _ := ends(p, after, response, step, -1)
					if k > int64(response[service])/2 {
						continue
					}
					predicted++
					r.Predicted, r.At = true, at(k)
				default:
					continue
				}
				r.Added = p.Penalty.At(finish(step)) - p.Penalty.At(finish(-1))
				if r.Added > 0 {
					positive++
				}
				want = append(want, r)
			}
		}
		slices.SortFunc(want, func(a, b sla.Ranked) int {
			return cmp.Or(cmp.Compare(b.Added, a.Added), a.At.Compare(b.At), cmp.Compare(all[a.Process].ID, all[b.Process].ID), cmp.Compare(a.Step, b.Step))
		})
		if got := sla.Rank(epoch, service, response, all); !slices.Equal(got, want) {
			t.Fatalf("ranked %+v, want %+v", got, want)
		}
	})
}

// TestQueueAgreesWithRank: of requests that wait, one in each process, a queue
// says what listing 1 says.
func TestQueueAgreesWithRank(t *testing.T) {
	waiting, bounded, positive := 0, 0, 0
	looked(t, &waiting, 20)
	looked(t, &bounded, 5)
	looked(t, &positive, 5)
	rapid.Check(t, func(t *rapid.T) {
		response := []time.Duration{}
		for range 3 {
			response = append(response, time.Duration(rapid.Int64Range(1, 40).Draw(t, "response")))
		}
		const service = 0
		q := sla.NewQueue(rapid.SampledFrom([]sla.Form{sla.Event, sla.Loop}).Draw(t, "form"), response[service])
		var all []*sla.Process
		for i := range rapid.IntRange(4, 16).Draw(t, "processes") {
			p, _ := processes(t, int64(i), len(response))
			ours := 0
			for step, s := range p.Steps {
				if p.Services[step] != service || s.Progress != sla.Waiting && s.Progress != sla.Ahead {
					continue
				}
				if ours++; ours > 1 || s.Progress == sla.Ahead { // of another service, then
					p.Services[step] = 1
				}
			}
			all = append(all, p)
			for step, s := range p.Steps {
				if p.Services[step] == service && s.Progress == sla.Waiting {
					r := p.Request(epoch, step, response)
					if waiting++; !r.Bound.IsZero() {
						bounded++
					}
					q.Put(epoch, r)
				}
			}
		}
		want, i := sla.Rank(epoch, service, response, all), 0
		for r, added := range q.All() {
			if w := want[i]; r.ID != all[w.Process].ID || added != w.Added || !r.Since.Equal(w.At) || w.Predicted {
				t.Fatalf("place %d has process %d adding %d, want %+v", i, r.ID, added, w)
			}
			if added > crowd.Money(0) {
				positive++
			}
			i++
		}
		if i != len(want) {
			t.Fatalf("the queue has %d requests, the listing %d", i, len(want))
		}
	})
}

// Requests that are predicted within another time than half the response time.
func TestRankWithin(t *testing.T) {
	t.Parallel()
	plan, err := sla.NewPlan([][]int{{}, {0}})
	if err != nil {
		t.Fatal(err)
	}
	now := epoch
	p := &sla.Process{
		ID: 1, Plan: plan, Services: []int{information, decision}, Start: now, Penalty: &sla.Penalty{Kind: sla.Constant, After: sec, Cost: unit},
		Steps: []sla.StepState{{Progress: sla.Called, Since: now.Add(-40 * ms)}, {}},
	}
	for within, want := range map[time.Duration]int{59 * ms: 0, 60 * ms: 1, 100 * ms: 1} {
		if got := sla.RankWithin(now, decision, tableI, within, []*sla.Process{p}); len(got) != want {
			t.Errorf("within %s: %+v", within, got)
		}
	}
	if got, half := sla.Rank(now, decision, tableI, []*sla.Process{p}), sla.RankWithin(now, decision, tableI, 100*ms, []*sla.Process{p}); !slices.Equal(got, half) {
		t.Errorf("%+v, and within half the response time %+v", got, half)
	}
}
