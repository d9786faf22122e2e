package scenario_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/internal/sim/scenario"
)

// world is a small run that all figures can be told of: ten people, 10 s a task,
// two batches of two tenants, a third that comes late and is never done.
const world = `scenario: small
horizon: 10m
repetitions: 3
policies: [fifo, fs]
tenants: [{name: north}, {name: south}]
kinds: [{name: tag, service: 10s}, {name: type, service: {exponential: 10s}}]
crowd: [{arrive: {count: 10}}]
batches:
  - {name: one, tenant: north, kind: tag, tasks: 100, deadline: 5m}
  - {name: two, tenant: south, kind: type, tasks: 100, at: 1ms, deadline: 150s}
  - {name: never, tenant: south, kind: tag, tasks: 100000, at: 5m}
expect:
`

// verdicts runs the world with expectations.
func verdicts(t *testing.T, expect string) []scenario.Verdict {
	t.Helper()
	s := parse(t, world+expect)
	return s.Verdicts(run(t, s))
}

// TestVerdicts: what is so is met, and what is not so is not.
func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		expect string
		met    bool
	}{
		// FIFO: the first batch takes ten rounds of ten seconds.
		{"{that: completed_at, batch: one, of: fifo, is: exactly 100s}", true},
		{"{that: completed_at, batch: one, of: fifo, is: above 100s}", false},
		{"{that: completed_at, batch: one, of: fifo, is: at least 100s}", true},
		{"{that: completed_at, batch: one, of: fifo, is: below 100s}", false},
		{"{that: completed_at, batch: one, of: fifo, is: at most 100s}", true},
		{"{that: completed_at, batch: one, of: fifo, is: between 99s and 101s}", true},
		{"{that: completed_at, batch: one, of: fifo, is: between 101s and 102s}", false},
		{"{that: completion_s, batch: one, of: fifo, is: exactly 1m40s}", true},
		{"{that: started_at, batch: two, of: fifo, is: between 90s and 100s}", true},
		{"{that: started_at, tenant: south, of: fifo, is: between 90s and 100s}", true},
		{"{that: completed_at, batch: never, of: fifo, is: above 9m}", true},
		{"{that: completed_at, batch: never, of: fifo, is: below 9m}", false},
		{"{that: done, batch: one, is: 1}", true},
		{"{that: done, batch: never, is: below 1%}", true},
		{"{that: in_time, batch: one, of: fifo, is: 1}", true},
		{"{that: in_time, tenant: south, of: fifo, is: 0}", true},
		{"{that: deadline_success_ratio, of: fifo, is: 0.5}", true},
		{"{that: makespan_s, is: above 9m}", true}, // some batch is never completed
		// Over time.
		{"{that: workers, from: 1s, is: 10}", true},
		{"{that: working, from: 1s, to: 1m, is: 10}", true},
		{"{that: waiting, from: 1s, to: 1m, is: 0}", true},
		{"{that: waiting, from: 285s, to: 299s, of: fs, is: 10}", true},
		{"{that: open, from: 6m, is: 1}", true},
		{"{that: open, from: 6m, is: 2}", false},
		{"{that: queue, from: 6m, is: above 99000}", true},
		{"{that: answers, from: 4m, to: 5m, is: between 199 and 200}", true},
		{"{that: spent, from: 285s, to: 299s, of: fs, is: 2}", true},
		{"{that: running, batch: one, of: fifo, from: 1s, to: 80s, is: 10}", true},
		{"{that: running, tenant: north, of: fs, from: 10s, to: 80s, is: between 4.5 and 5.5}", true},
		{"{that: share, tenant: south, of: fs, from: 10s, to: 80s, is: between 45% and 55%}", true},
		{"{that: share, kind: type, of: fifo, from: 1s, to: 80s, is: 0}", true},
		{"{that: jain, of: fs, from: 10s, to: 80s, is: above 0.95}", true},
		{"{that: jain, of: fifo, from: 1s, to: 80s, is: 0.5}", true},
		// Against another policy.
		{"{that: completed_at, batch: one, of: fs, is: above fifo}", true},
		{"{that: completed_at, batch: one, of: fs, is: below fifo}", false},
		{"{that: completed_at, batch: one, of: fs, is: above fifo by 1m}", true},
		{"{that: completed_at, batch: one, of: fs, is: above fifo by 3m}", false},
		{"{that: completed_at, batch: one, of: fifo, is: below fs by 1m}", true},
		{"{that: completed_at, batch: one, of: fifo, is: below fs by 2m}", false},
		{"{that: completed_at, batch: one, of: fifo, is: at most 0.6 of fs}", true},
		{"{that: completed_at, batch: one, of: fifo, is: at least 60% of fs}", false},
		{"{that: completed_at, batch: two, of: fs, is: between 0.8 and 1.2 of fifo}", true},
		{"{that: deadline_success_ratio, of: fs, is: above fifo}", false},
		{"{that: cost, of: fs, is: at most 1.01 of fifo}", true},
	} {
		for _, v := range verdicts(t, "  - "+c.expect+"\n") {
			if v.Err != nil || (v.State == scenario.Met) != c.met || v.Line != 13 || v.Found == "" {
				t.Errorf("%s: %+v", c.expect, v)
			}
		}
	}
}

// TestFoundIsInTheUnitOfTheFile: what was found can be held against what was
// expected.
func TestFoundIsInTheUnitOfTheFile(t *testing.T) {
	for _, c := range []struct{ expect, want string }{
		{"{that: share, tenant: south, of: fs, from: 10s, to: 80s, is: between 45% and 55 %}", "50%"},
		{"{that: share, tenant: south, of: fs, from: 10s, to: 80s, is: above 0.1}", "0.5"},
		{"{that: throughput_per_s, of: fs, is: above 1/h}", "3000/h"},
		{"{that: throughput_per_s, of: fs, is: above 1/m}", "50/m"},
		{"{that: throughput_per_s, of: fs, is: above 1/d}", "72000/d"},
		{"{that: throughput_per_s, of: fs, is: above 0.1/s}", "0.833333/s"},
		{"{that: throughput_per_s, of: fs, is: below fifo by 1/h}", "+0/h against fifo"},
		{"{that: deadline_success_ratio, of: fs, is: at least 50% of fifo}", "1 of fifo"},
	} {
		for _, v := range verdicts(t, "  - "+c.expect+"\n") {
			if v.Found != c.want {
				t.Errorf("%s: found %s, want %s", c.expect, v.Found, c.want)
			}
		}
	}
}

// TestChoices: which batches a figure is about.
func TestChoices(t *testing.T) {
	s := parse(t, with(`kinds: [{name: tag, service: 10s}]
flows:
  - {name: f, arrive: {times: [20s, 21s]}, size: 1}
  - {name: f-x, arrive: {count: 1, at: 40s}, size: 1}
expect:
  - {that: completion_s, flow: f, is: exactly 10s}
  - {that: started_at, flow: f, is: exactly 20s}
  - {that: completed_at, flow: f, is: exactly 31s}
  - {that: completed_at, flow: f-x, is: exactly 50s}
  - {that: started_at, tenant: all, is: exactly 0s}
  - {that: completed_at, tenant: all, is: exactly 50s}
  - {that: completed_at, class: small (10-99), is: exactly 20s}
  - {that: completed_at, kind: tag, class: tiny (1-9), is: exactly 50s}
`))
	for _, v := range s.Verdicts(run(t, s)) {
		if v.Err != nil || v.State != scenario.Met {
			t.Errorf("%+v", v)
		}
	}
}

// TestNoAnswer: what the runs cannot say is an error, and says why.
func TestNoAnswer(t *testing.T) {
	for _, c := range []struct{ expect, want string }{
		{"{that: completed_at, batch: never, of: fs, is: above 11m}", "the run of fs, repetition 1, ended at 10m, before 11m"},
		{"{that: completion_s, class: medium (100-999), of: fs, is: below 9h}", ""},
		{"{that: in_time, batch: never, of: fs, is: 1}", "there is nothing to say about in_time under fs"},
		{"{that: completion_s, class: tiny (1-9), of: fs, is: below 1h}", "there is nothing to say about completion_s"},
		{"{that: label_accuracy, of: fs, is: above 0}", "there is nothing to say about label_accuracy"},
		{"{that: completed_at, batch: never, of: fs, is: below fifo}", "completed_at cannot be compared"},
	} {
		for _, v := range verdicts(t, "  - "+c.expect+"\n") {
			if c.want == "" {
				if v.Err != nil || v.State != scenario.Met {
					t.Errorf("%s: %+v", c.expect, v)
				}
				continue
			}
			if v.Err == nil || v.State == scenario.Met || !strings.Contains(v.Err.Error(), c.want) || !math.IsNaN(v.Figure) && !strings.Contains(c.want, "compared") {
				t.Errorf("%s: %+v", c.expect, v)
			}
		}
	}
	// Without a horizon, a run ends when everything is done.
	s := parse(t, with("policies: [fs]\nexpect: [{that: queue, from: 1s, to: 40s, is: above 0}, {that: queue, from: 40s, is: above 0}, {that: queue, to: 10s, is: above 0}]\n"))
	list := s.Verdicts(run(t, s))
	for i, want := range []string{"the run of fs, repetition 1, ended at 22s, before 40s", "the run of fs, repetition 1, ended at 22s, before 40s", ""} {
		if err := list[i].Err; want == "" && (err != nil || list[i].State != scenario.Met) || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("expectation %d: %+v", i+1, list[i])
		}
	}
	// A batch that never comes.
	s = parse(t, with("batches: [{name: a, tasks: 3}]\ntrace: {file: trace.csv, columns: {tasks: n, at: at}}\nhorizon: 20s\nexpect: [{that: completed_at, batch: trace-4, is: below 5s}]\n"))
	if v := s.Verdicts(run(t, s))[0]; v.Err == nil || !strings.Contains(v.Err.Error(), "ended at 20s, before the batch trace-4 came") {
		t.Errorf("%+v", v)
	}
	// A policy of which there is no run.
	s = parse(t, world+"  - {that: cost, of: fs, is: above fifo}\n")
	var own []*scenario.Measured
	for _, m := range run(t, s) {
		if m.Policy == "fs" {
			own = append(own, m)
		}
	}
	if v := s.Verdicts(own)[0]; !errors.Is(v.Err, scenario.ErrNotRun) || !strings.HasPrefix(v.Err.Error(), "fifo ") {
		t.Errorf("%+v", v)
	}
}

// TestTooShort: what is not in the run is told of bounds that the run has
// reached, and of no others.
func TestTooShort(t *testing.T) {
	for _, c := range []struct {
		expect string
		met    bool
		want   string // of the error
	}{
		{"{that: makespan_s, of: fs, is: above 9m}", true, ""},
		{"{that: makespan_s, of: fs, is: above 10m}", true, ""},
		{"{that: makespan_s, of: fs, is: below 9m}", false, ""},
		{"{that: makespan_s, of: fs, is: above 2h}", false, "the run of fs, repetition 1, ended at 10m, before 2h"},
		{"{that: makespan_s, of: fs, is: below 2h}", false, "the run of fs, repetition 1, ended at 10m, before 2h"},
		{"{that: makespan_s, of: fs, is: between 1m and 2h}", false, "the run of fs, repetition 1, ended at 10m, before 2h"},
		// The batch comes at 5 m: it is watched for as long.
		{"{that: completion_s, batch: never, of: fs, is: above 4m}", true, ""},
		{"{that: completion_s, batch: never, of: fs, is: above 5m}", true, ""},
		{"{that: completion_s, batch: never, of: fs, is: below 5m}", false, ""},
		{"{that: completion_s, batch: never, of: fs, is: below 8m}", false, "ended at 10m, 5m after the launch of a batch that was not completed, and so before 8m had gone by"},
		{"{that: completion_s, batch: never, of: fs, is: above 8m}", false, "before 8m had gone by"},
		{"{that: completion_s, tenant: south, of: fs, is: below 8m}", false, "before 8m had gone by"},
		{"{that: completed_at, batch: never, of: fs, is: below 8m}", false, ""},
		// A lifetime ends a batch that was not completed and never will be.
		{"{that: completed_at, batch: cut, of: fs, is: below 2h}", false, ""},
		{"{that: completed_at, batch: cut, of: fs, is: above 2h}", true, ""},
		{"{that: completion_s, batch: cut, of: fs, is: below 2h}", false, ""},
		{"{that: started_at, batch: cut, of: fs, is: below 2h}", false, ""},
		{"{that: completed_at, class: \"medium (100-999)\", of: fs, is: below 2h}", false, ""},
	} {
		s := parse(t, strings.Replace(world, "expect:\n", `  - {name: cut, tenant: north, kind: tag, tasks: 150, at: 5m, lifetime: 1s, requires: {rare: 1}}
`, 1)+`faults: [{at: 9m, workers: {count: 1, qualifications: {rare: 5}}}]
expect: [`+c.expect+"]\n")
		if strings.Contains(c.expect, "makespan") || strings.Contains(c.expect, "south") {
			s = parse(t, world+"  - "+c.expect+"\n")
		}
		v := s.Verdicts(run(t, s))[0]
		if (v.State == scenario.Met) != c.met || (v.Err == nil) != (c.want == "") || v.Err != nil && !strings.Contains(v.Err.Error(), c.want) {
			t.Errorf("%s: %+v", c.expect, v)
		}
	}
}

// TestMeasuredKeepsItsOwn: a run keeps the figures of its policy and α only.
func TestMeasuredKeepsItsOwn(t *testing.T) {
	s := parse(t, with(`policies: [edf, fs, fifo]
horizon: 5m
flows: [{name: f, arrive: {rate: 6/m}, size: 20, deadlines: {share: 1, workers: 5, form: code}}]
sweep: {alpha: [0, 0.5, 1]}
expect:
  - {that: cost, is: above 0}
  - {that: mean_completion_s, of: fs, is: above 0.001 of edf}
`))
	if len(s.Expect) != 12 {
		t.Fatalf("%d expectations", len(s.Expect))
	}
	all := run(t, s)
	for _, m := range all {
		if want := map[string]int{"edf": 2, "fs": 2, "fifo": 1}[m.Policy]; m.Kept() != want {
			t.Errorf("%s at α = %g keeps %d figures, want %d", m.Policy, m.Alpha, m.Kept(), want)
		}
	}
	for _, v := range s.Verdicts(all) {
		if v.Err != nil || v.State != scenario.Met {
			t.Errorf("%+v", v)
		}
	}
}

// TestPairs: differences are of the same repetitions, whatever the order, and
// repetitions that only one of the two has do not count.
func TestPairs(t *testing.T) {
	s := parse(t, world+"  - {that: mean_completion_s, of: fs, is: above fifo}\n")
	all := run(t, s)
	first := s.Verdicts(all)[0]
	for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 {
		all[i], all[j] = all[j], all[i]
	}
	if again := s.Verdicts(all)[0]; again.Figure != first.Figure {
		t.Errorf("in another order it is %g, not %g", again.Figure, first.Figure)
	}
	var pair, odd []*scenario.Measured
	for _, m := range all {
		if m.Rep == 1 {
			pair = append(pair, m)
		}
		if m.Rep == 1 || m.Policy == "fs" {
			odd = append(odd, m)
		}
	}
	if a, b := s.Verdicts(pair)[0], s.Verdicts(odd)[0]; a.Figure != b.Figure || a.Err != nil {
		t.Errorf("%+v with what has no partner, %+v without", b, a)
	}
}

// TestSweepExpectations: at each α, or at one.
func TestSweepExpectations(t *testing.T) {
	s := parse(t, with(`policies: [edf]
horizon: 5m
flows: [{name: f, arrive: {rate: 6/m}, size: 20, deadlines: {share: 1, workers: 5, form: code}}]
sweep: {alpha: [0, 1]}
expect:
  - {that: deadline_success_ratio, alpha: 0, is: 0}
  - {that: deadline_success_ratio, alpha: 1, is: above 0.1}
  - {that: cost, is: above 0}
`))
	if len(s.Expect) != 4 {
		t.Fatalf("%d expectations", len(s.Expect))
	}
	for i, v := range s.Verdicts(run(t, s)) {
		if v.Err != nil || v.State != scenario.Met || v.Alpha != []float64{0, 1, 0, 1}[i] || !strings.Contains(v.Text, "at α = ") {
			t.Errorf("%+v", v)
		}
	}
}

// TestRecord: no more is recorded than is asked for.
func TestRecord(t *testing.T) {
	for expect, want := range map[string]sim.Record{
		"[{that: cost, is: above 0}]":                                             {},
		"[{that: completed_at, batch: b, is: above 0s}]":                          {},
		"[{that: jain, is: above 0}]":                                             {Samples: 500},
		"[{that: j_inf_finite, is: above 0}]":                                     {Samples: 500},
		"[{that: jain, from: 1m, is: above 0}]":                                   {Samples: 500},
		"[{that: j_inf, is: below 0}]":                                            {Samples: 500},
		"[{that: queue, is: above 0}]":                                            {Samples: 500},
		"[{that: queue, from: 1m, to: 61s, is: above 0}]":                         {Samples: 20_000},
		"[{that: running, batch: b, from: 1m, to: 5m, is: above 0}]":              {Samples: 600, Allocation: true},
		"[{that: share, batch: b, from: 1h, to: 1h1m, is: at most 1}]":            {Samples: 2400, Allocation: true},
		"[{that: mean_completion_s, is: above 0s}, {that: open, is: at least 0}]": {Samples: 500},
	} {
		if got := parse(t, with("horizon: 2h\nexpect: "+expect+"\n")).Record(); got != want {
			t.Errorf("%s records %+v, want %+v", expect, got, want)
		}
	}
	if got := parse(t, with("")).Record(); got != (sim.Record{}) {
		t.Errorf("without expectations: %+v", got)
	}
}

// TestBoundsRun: what stands at the edge of what is allowed does run.
func TestBoundsRun(t *testing.T) {
	for _, text := range []string{
		"horizon: 30s\nbatches: [{tasks: 100_000_000}, {tasks: 2147483647, reward: 0.000001}]\n",
		"horizon: 30s\nbatches: [{tasks: 1, reward: 1000000}, {tasks: 3, lease: 1s, priority: 1000000, estimate: 31d}, {tasks: 3, lease: 31d, priority: 0.000001, lifetime: 1ms}]\n",
		"horizon: 3650d\nkinds: [{name: tag, service: {exponential: 31d}, vanish: 99%}]\n",
		"horizon: 10s\nkinds: [{name: tag, service: {lognormal: {mean: 1ms, sd: 1s}}, skip: 50%, return: 49%, switch: {factor: 1000}, learning: 5}]\n",
		"horizon: 10s\nflows: [{arrive: {count: 20}, size: {zipf: 1.01}}, {arrive: {rate: 100/s}, size: {zipf: 20, max: 1}}]\n",
		"horizon: 10s\nflows: [{arrive: {count: 2}, size: {exponential: 10000000}, reward: 100000}]\n",
		"crowd: [{arrive: {count: 5}, speed: 0.001, pause: 0s, patience: 0s}, {arrive: {band: {min: 1, max: 1, rate: 100/s}}, session: 1ms}]\nhorizon: 10s\n",
		"tenants: [{name: a, weight: 1000000}]\npolicies: [tenant-fair(dafs)]\nhorizon: 1m\nfaults: [{at: 1m, vanish: 1}, {at: 0, stop: 3650d}, {at: 0, policy: market}]\n",
		"kinds: [{name: tag, service: {empirical: [0s, 1s]}, answers: [a, b], accuracy: 0}]\nhorizon: 10s\n",
		"crowd: [{arrive: {count: 1000}}]\nbatches: [{tasks: 5, redundancy: {agree: 1000, of: 1000}}]\nkinds: [{name: tag, service: 1s, answers: [a, b]}]\nhorizon: 5s\n",
	} {
		s := parse(t, with(text))
		for _, p := range s.Policies {
			start := time.Now()
			r := sim.Run{Setup: s.Setup, Policy: p, Seed: s.Seed}
			if _, err := r.Do(); err != nil {
				t.Errorf("%s%v", text, err)
			}
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("%s took %s", text, took)
			}
		}
	}
}
