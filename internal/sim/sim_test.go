package sim_test

import (
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"

	_ "github.com/throng-dev/throng/internal/repro/dafs/authors" // dafs-code and its like
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/label"
)

// table2 is the synthetic world of Difallah et al. 2019, Table 2, with a window
// in seconds, and so many batches that are there at the start (theirs: 1,000).
func table2(window, alpha float64, old int) *sim.Setup {
	over := time.Duration(window * float64(time.Second))
	return &sim.Setup{
		Horizon: over + 20*time.Second,
		Tenants: []sim.Tenant{{Name: "all"}},
		Kinds:   []sim.Kind{{Name: "task", Service: sim.Exponential(11)}},
		Groups:  []sim.Group{{Name: "crowd", Arrive: sim.Arrivals{Rate: 200 / window * 3600, Count: 200}}},
		Flows: []sim.Flow{
			{Batch: sim.Batch{Name: "old"}, Arrive: sim.Arrivals{Count: old}, Size: sim.Zipf{A: 2}},
			{Batch: sim.Batch{Name: "new"}, Arrive: sim.Arrivals{Rate: 80 * 60, Until: over}, Size: sim.Zipf{A: 2},
				Alpha: &sim.AlphaRule{Share: 0.1, Alpha: alpha, Workers: 200, Service: 11, Form: sim.AlphaCode}},
		},
	}
}

// shop is a small world: people who stay, one kind, some batches at the start.
func shop(people int, tasks ...int) *sim.Setup {
	s := &sim.Setup{
		Tenants: []sim.Tenant{{Name: "one"}},
		Kinds:   []sim.Kind{{Name: "task", Service: sim.Exponential(10)}},
		Groups:  []sim.Group{{Name: "crowd", Arrive: sim.Arrivals{Count: people}}},
	}
	for i, n := range tasks {
		s.Batches = append(s.Batches, sim.Batch{Name: fmt.Sprintf("b%d", i+1), Tasks: n, At: time.Duration(i)})
	}
	return s
}

// do runs with everything checked and recorded.
func do(t *testing.T, s *sim.Setup, policy string, rep int) *sim.Outcome {
	t.Helper()
	r := sim.Run{Setup: s, Policy: policy, Seed: 1, Rep: rep, Check: true, Record: sim.Record{Samples: 64, Allocation: true, Finished: true}}
	o, err := r.Do()
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestTheSameSeedIsTheSameRun, whatever ran before and however often.
func TestTheSameSeedIsTheSameRun(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"fs", "dafs", "wcfs(sdafs,k=3)", "laxity", "market", "dafs-code"} {
		s := table2(60, 0.4, 50)
		a, b, other := do(t, s, policy, 0), do(t, s, policy, 0), do(t, s, policy, 1)
		if a.Answers < 100 {
			t.Fatalf("%s: only %d answers", policy, a.Answers)
		}
		if text(a) != text(b) {
			t.Errorf("%s: two runs of one seed differ", policy)
		}
		if text(a) == text(other) {
			t.Errorf("%s: two repetitions are the same", policy)
		}
	}
}

func text(o *sim.Outcome) string { return fmt.Sprintf("%+v", *o) }

// TestPoliciesMeetTheSameWorld: batches, people and the work in each batch are
// those of the repetition, not of the policy.
func TestPoliciesMeetTheSameWorld(t *testing.T) {
	t.Parallel()
	s := shop(5, 40, 10, 25, 3)
	s.Groups[0].Speed = nil
	fifo, fs := do(t, s, "fifo", 0), do(t, s, "fs", 0)
	if fifo.Crowd.Worked != fs.Crowd.Worked || fifo.Crowd.Worked == 0 {
		t.Errorf("the work is %s under fifo and %s under fs", fifo.Crowd.Worked, fs.Crowd.Worked)
	}
	a, b := do(t, table2(60, 0.4, 50), "edf", 3), do(t, table2(60, 0.4, 50), "fs", 3)
	if len(a.Batches) < 100 || a.Crowd.Came != b.Crowd.Came {
		t.Errorf("%d batches; %d and %d people came", len(a.Batches), a.Crowd.Came, b.Crowd.Came)
	}
	for i := range a.Batches {
		if !reflect.DeepEqual(a.Batches[i].Batch, b.Batches[i].Batch) {
			t.Fatalf("batch %d is %+v and %+v", i, a.Batches[i].Batch, b.Batches[i].Batch)
		}
	}
}

// TestAQueueWaitsAsErlangSays compares the time that tasks wait for a worker with
// the formula of the M/M/c queue: E[W] = C(c,a)/(cμ-λ), C by the recursion of
// Erlang B.
func TestAQueueWaitsAsErlangSays(t *testing.T) {
	t.Parallel()
	const servers, service, perHour = 4, 30.0, 300.0 // load .625
	s := shop(servers)
	s.Horizon = 400 * time.Hour
	s.Kinds[0].Service = sim.Exponential(service)
	s.Flows = []sim.Flow{{Batch: sim.Batch{Name: "q"}, Arrive: sim.Arrivals{Rate: perHour}, Size: sim.Constant(1)}}
	r := sim.Run{Setup: s, Policy: "fifo", Seed: 7}
	o, err := r.Do()
	if err != nil {
		t.Fatal(err)
	}
	wait, n := 0.0, 0
	for i := range o.Batches {
		if b := &o.Batches[i]; b.Started >= 0 {
			wait += (b.Started - b.At).Seconds()
			n++
		}
	}
	lambda, mu := perHour/3600, 1/service
	a, block := lambda/mu, 1.0
	for k := 1.0; k <= servers; k++ {
		block = a * block / (k + a*block)
	}
	want := servers * block / (servers - a*(1-block)) / (servers*mu - lambda)
	if got := wait / float64(n); n < 100_000 || math.Abs(got/want-1) > 0.05 {
		t.Errorf("%d tasks waited %.2f s each, the formula says %.2f", n, got, want)
	}
	if got, want := o.Metrics().Of("utilisation"), a/servers; math.Abs(got-want) > 0.01 {
		t.Errorf("people work %.3f of the time, want %.3f", got, want)
	}
}

// TestWhatPeopleDo switches on one habit at a time and looks for what it does.
func TestWhatPeopleDo(t *testing.T) {
	t.Parallel()
	base := func() *sim.Setup { return shop(6, 60, 60, 60) }
	plain := do(t, base(), "rr", 0)
	work := func(o *sim.Outcome) float64 { return o.Crowd.Worked.Seconds() }
	for name, c := range map[string]struct {
		change func(s *sim.Setup)
		policy string
		check  func(o *sim.Outcome) bool
	}{
		"switching costs a factor": {
			func(s *sim.Setup) { s.Kinds[0].SwitchFactor = 2 }, "rr",
			func(o *sim.Outcome) bool { return work(o) > 1.6*work(plain) && o.Switches > 100 },
		},
		"staying costs nothing": {
			func(s *sim.Setup) { s.Kinds[0].SwitchFactor = 2 }, "fifo",
			func(o *sim.Outcome) bool { return work(o) < 1.15*work(plain) && o.Switches < 20 },
		},
		"switching costs time": {
			func(s *sim.Setup) { s.Kinds[0].SwitchTime = sim.Constant(5) }, "rr",
			func(o *sim.Outcome) bool {
				return math.Abs(work(o)-work(plain)-5*float64(o.Switches)) < 1 && o.Switches > 100
			},
		},
		"practice helps": {
			func(s *sim.Setup) { s.Kinds[0].Learning = 0.5 }, "rr",
			func(o *sim.Outcome) bool { return work(o) < 0.6*work(plain) },
		},
		"speed": {
			func(s *sim.Setup) { s.Groups[0].Speed = sim.Constant(2) }, "rr",
			func(o *sim.Outcome) bool { return math.Abs(work(o)/work(plain)-0.5) < 1e-6 },
		},
		"pauses": {
			func(s *sim.Setup) { s.Groups[0].Pause = sim.Constant(10) }, "rr",
			func(o *sim.Outcome) bool {
				return o.End > plain.End*3/2 && math.Abs(work(o)/work(plain)-1) < 1e-9
			},
		},
		"skips": {
			func(s *sim.Setup) { s.Kinds[0].Skip = 0.2 }, "rr",
			func(o *sim.Outcome) bool { return o.GivenUp > 15 && o.Done && o.Crowd.Stayed == 6 },
		},
		"returns end the visit": {
			func(s *sim.Setup) {
				s.Kinds[0].Return = 0.02
				s.Kinds[0].GiveUpAfter = sim.Constant(3)
				s.Groups[0].Arrive.Count = 20
			}, "rr",
			func(o *sim.Outcome) bool { return o.GivenUp > 0 && o.Crowd.Stayed == 20-int(o.GivenUp) && o.Done },
		},
		"a worker who vanishes is missed when the lease runs out": {
			func(s *sim.Setup) {
				s.Kinds[0].Vanish = 0.02
				s.Groups[0].Arrive.Count = 20
				for i := range s.Batches {
					s.Batches[i].Lease = 5 * time.Minute
				}
			}, "rr",
			func(o *sim.Outcome) bool {
				return o.Expired > 0 && o.Crowd.Stayed == 20-int(o.Expired) && o.Done && o.Answers == 180
			},
		},
		"a worker who is there keeps the lease": {
			func(s *sim.Setup) {
				for i := range s.Batches {
					s.Batches[i].Lease = 2 * time.Second
				}
			}, "rr",
			func(o *sim.Outcome) bool { return o.Expired == 0 && o.Late == 0 && o.Answers == 180 },
		},
		"who is silent may be late": {
			func(s *sim.Setup) {
				s.Kinds[0].Silent = 1
				for i := range s.Batches {
					s.Batches[i].Lease = 15 * time.Second
				}
			}, "rr",
			func(o *sim.Outcome) bool {
				return o.Expired > 20 && o.Late > 20 && o.Answers == 180 && o.HandOuts > 190 && o.Done
			},
		},
		"sessions end after what is held": {
			func(s *sim.Setup) {
				s.Groups[0].Session = sim.Constant(60)
				s.Groups[0].Arrive = sim.Arrivals{Rate: 600, Count: 60}
			}, "rr",
			func(o *sim.Outcome) bool {
				return o.Answers == 180 && o.Crowd.Came > 12 && o.Crowd.Stayed < o.Crowd.Came
			},
		},
		"patience": {
			func(s *sim.Setup) {
				s.Groups[0].Patience = sim.Constant(30)
				s.Batches = append(s.Batches, sim.Batch{Name: "later", Tasks: 5, At: time.Hour})
				s.Horizon = 2 * time.Hour
			}, "rr",
			func(o *sim.Outcome) bool { return o.Crowd.Stayed == 0 && o.Batches[3].Answers == 0 && o.Answers == 180 },
		},
		"a band keeps its size": {
			func(s *sim.Setup) {
				s.Groups[0].Arrive = sim.Arrivals{Rate: 3600, Min: 4, Max: 6}
				s.Groups[0].Session = sim.Exponential(120)
			}, "rr",
			func(o *sim.Outcome) bool {
				for _, x := range o.Samples.List {
					if x.Workers > 6 {
						return false
					}
				}
				return o.Crowd.Turned > 10 && o.Answers == 180 && o.Crowd.Came > 6
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := base()
			c.change(s)
			if o := do(t, s, c.policy, 0); !c.check(o) {
				t.Errorf("%+v\nof %d hand-outs %d switches, %d given up, %d expired, %d late; %d answers by %s, done %t; worked %.1f s, plainly %.1f s",
					o.Crowd, o.HandOuts, o.Switches, o.GivenUp, o.Expired, o.Late, o.Answers, o.End, o.Done, work(o), work(plain))
			}
		})
	}
}

// TestFaults: each strikes at its time.
func TestFaults(t *testing.T) {
	t.Parallel()
	s := shop(20, 400)
	s.Batches[0].Lease = time.Minute
	s.Faults = []sim.Fault{{At: 50 * time.Second, Vanish: 0.5}}
	if o := do(t, s, "fs", 0); o.Crowd.Stayed < 4 || o.Crowd.Stayed > 16 || o.Expired != int64(20-o.Crowd.Stayed) || o.Answers != 400 {
		t.Errorf("half of 20 vanish: %d stayed, %d leases ran out, %d answers", o.Crowd.Stayed, o.Expired, o.Answers)
	}
	s.Faults = []sim.Fault{{At: 50 * time.Second, Stop: 10 * time.Minute}}
	o := do(t, s, "fs", 0)
	for _, x := range o.Samples.List {
		if x.At > 200*time.Second && x.At < 640*time.Second && x.Working != 0 {
			t.Errorf("%d people work at %s, when everything is stopped", x.Working, x.At)
		}
	}
	if o.End < 10*time.Minute || o.Answers != 400 {
		t.Errorf("ended at %s with %d answers", o.End, o.Answers)
	}
	s = shop(10, 200, 200)
	s.Faults = []sim.Fault{{At: 100 * time.Second, Policy: "fs"}}
	o = do(t, s, "fifo", 0)
	if first := o.Batches[1].Started; first < 100*time.Second || first > 130*time.Second {
		t.Errorf("under fifo until 100 s, the second batch was begun at %s", first)
	}
}

// TestLabelsAreAsGoodAsPeople: majorities of three with accuracy .8 are right in
// .8³ + 3·.8²·.2 = .896 of cases; a confusion matrix is followed.
func TestLabelsAreAsGoodAsPeople(t *testing.T) {
	t.Parallel()
	s := shop(12, 400, 400)
	s.Kinds[0].Answers = []string{"yes", "no"}
	s.Kinds[0].Accuracy = 0.8
	for i := range s.Batches {
		s.Batches[i].Rule = label.Count(3)
	}
	o := do(t, s, "fs", 0)
	if m := o.Metrics(); o.Judged != 800 || o.Answers != 2400 || math.Abs(m.Of("label_accuracy")-0.896) > 0.03 {
		t.Errorf("%d labels, %d answers, %.3f right", o.Judged, o.Answers, m.Of("label_accuracy"))
	}
	s.Kinds[0].Confusion = [][]float64{{0, 1}, {0, 1}}
	if m := do(t, s, "fs", 0).Metrics(); math.Abs(m.Of("label_accuracy")-0.5) > 0.06 {
		t.Errorf("people who always say no are right in %.3f of cases", m.Of("label_accuracy"))
	}
	s.Kinds[0].Confusion = nil
	s.Groups[0].Accuracy = map[string]float64{"task": 1}
	for i := range s.Batches {
		s.Batches[i].Rule = label.Agree(2, 5)
	}
	o = do(t, s, "fs", 0)
	if m := o.Metrics(); m.Of("label_accuracy") != 1 || o.Answers != 1600 {
		t.Errorf("experts: %.3f right with %d answers", m.Of("label_accuracy"), o.Answers)
	}
}

// TestAlphaRule: the two forms, and which batches they fall on.
func TestAlphaRule(t *testing.T) {
	t.Parallel()
	paper := sim.AlphaRule{Workers: 200, Service: 11, Form: sim.AlphaPaper}
	code := sim.AlphaRule{Workers: 200, Service: 11, Form: sim.AlphaCode}
	for _, c := range []struct {
		rule  sim.AlphaRule
		tasks int
		alpha float64
		want  float64
	}{
		{paper, 400, 0, 0.055}, {paper, 100, 0, 0.11}, {paper, 100, 1, 100 * (11 - 0.055)},
		{code, 100, 0, 11}, {code, 100, 1, 1100}, {code, 100, 0.4, 0.4*1100 + 0.6*11}, {code, 400, 0, 400 * 0.055},
	} {
		if got := c.rule.Relative(c.tasks, c.alpha); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s form, %d tasks, α %g: %g s, want %g", c.rule.Form, c.tasks, c.alpha, got, c.want)
		}
	}
	o := do(t, table2(60, 0.4, 50), "fs", 0)
	due, least, most := 0, math.MaxInt, 0
	for i := range o.Batches {
		b := &o.Batches[i]
		if b.Name[:3] != "new" {
			continue
		}
		if b.Deadline > 0 {
			due, least = due+1, min(least, b.Tasks)
		} else {
			most = max(most, b.Tasks)
		}
	}
	if due < 5 || least < most {
		t.Errorf("%d batches have deadlines, the least of %d tasks; the largest without has %d", due, least, most)
	}
}

// TestSamplesCoverTheRun: at most as many as asked for, at equal steps, with the
// conservation of people and of work in each.
func TestSamplesCoverTheRun(t *testing.T) {
	t.Parallel()
	o := do(t, shop(7, 500, 300), "fs", 0)
	list, step := o.Samples.List, o.Samples.Every
	if len(list) < 16 || len(list) > 64 || list[0].At != 0 {
		t.Fatalf("%d samples: %v", len(list), list)
	}
	for i, x := range list {
		if x.At != time.Duration(i)*step {
			t.Fatalf("sample %d is at %s, the step is %s", i, x.At, step)
		}
		running := int32(0)
		for _, a := range x.Allocation {
			running += a.Running
		}
		if running != x.Working || i > 0 && x.Working+x.Waiting != x.Workers {
			t.Errorf("at %s: %d running, %d working, %d waiting of %d", x.At, running, x.Working, x.Waiting, x.Workers)
		}
		if i > 0 && int64(running)+x.Answers+x.Queue != 800 {
			t.Errorf("at %s: %d running, %d answers, %d in the queue", x.At, running, x.Answers, x.Queue)
		}
	}
	if last := list[len(list)-1].At; last+step < o.End {
		t.Errorf("the last sample is at %s, the run ended at %s", last, o.End)
	}
	total := int64(0)
	for _, line := range o.Finished {
		total += line.Total
	}
	if total != 800 {
		t.Errorf("%d tasks finished on the timelines", total)
	}
}

// TestMetrics works out a small case by hand.
func TestMetrics(t *testing.T) {
	t.Parallel()
	s := shop(1, 4, 4)
	s.Kinds[0].Service = sim.Constant(10)
	s.Batches[0].Deadline = 40 * time.Second
	s.Batches[1].Deadline = 50 * time.Second
	s.Horizon = 61 * time.Second
	m := do(t, s, "fifo", 0).Metrics()
	for name, c := range map[string][2]float64{
		"in time":    {m.Of("deadline_success_ratio"), 0.5},
		"completion": {m.Of("mean_deadline"), 0.75},
		"its sd":     {m.Of("std_deadline"), 0.25},
		"begun":      {m.Of("begun_deadline"), 0.875},
		"throughput": {m.Of("throughput_per_s"), 6.0 / 61},
		"cost":       {m.Of("cost"), 0.06},
		"unfinished": {m.Of("unfinished"), 0.5},
		"tardiness":  {m.Of("mean_tardiness_s"), 5.5},
		"completed":  {m.Of("mean_completion_s"), 40},
		"switches":   {m.Of("switches"), 1.0 / 7},
		"work":       {m.Of("utilisation"), 1},
		// Of two open batches one is worked on for 40 s, then there is one.
		"Jain":      {m.Of("jain"), (40*0.5 + 21) / 61},
		"J∞":        {m.Of("j_inf_mean"), -1},
		"J∞ finite": {m.Of("j_inf_finite"), 21. / 61},
	} {
		if math.Abs(c[0]-c[1]) > 1e-9 {
			t.Errorf("%s: %g, want %g", name, c[0], c[1])
		}
	}
	if !math.IsNaN(m.Of("makespan_s")) || !math.IsNaN(m.Of("mean_best_effort")) || !math.IsNaN(m.Of("label_accuracy")) {
		t.Errorf("what cannot be said is said: %+v", m)
	}
}
