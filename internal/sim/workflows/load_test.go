package workflows

import (
	"context"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/internal/sim/scenario"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/store/sqlite"
)

// example is the file of an example.
func example(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../../workflows/" + name + "/workflow.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// planOf is a plan for a workflow: one policy, one crowd of one person.
func planOf(t testing.TB, text string) *Plan {
	return &Plan{
		Text: text, Reps: 1, Seed: 1, Policies: []string{"penalty"}, Workers: []scenario.Workers{{Each: 1}},
		Load: Load{For: time.Hour},
		Open: func(ctx context.Context) (store.Store, func() error, error) {
			dir, err := os.MkdirTemp(t.TempDir(), "run-*")
			if err != nil {
				return nil, nil, err
			}
			st, err := sqlite.Open(ctx, filepath.Join(dir, "run.db"), sqlite.Options{Scratch: true})
			if err != nil {
				return nil, nil, err
			}
			return st, st.Close, nil
		},
	}
}

func (p *Plan) must(t testing.TB) *Comparison {
	t.Helper()
	c, err := p.Do(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// same reports a difference of two figures.
func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %v, not %v", what, got, want)
	}
}

const oneQueue = `
workflow: One queue
inputs: {things: {columns: [id]}}
sla: {penalty: constant, after: 90s, cost: 1.00}
steps:
  answer:
    from: {things: stream}
    crowd: {template: {kind: choose_one, options: [yes, no]}, reward: 0.05}
`

// TestThreeAtOnce: three rows at once before one person who takes a minute each end after
// 60, 120 and 180 seconds; what is older than 90 seconds costs 1.
func TestThreeAtOnce(t *testing.T) {
	p := planOf(t, oneQueue)
	p.Load.Arrivals = sim.Arrivals{Times: []time.Duration{time.Minute, time.Minute, time.Minute}}
	p.Models = Models{"answer": {Time: sim.Constant(60)}}
	o := p.must(t).Variants[0].Runs[0]
	same(t, "latencies", o.Latency, []float64{60, 120, 180})
	same(t, "arrived, ended, late, given up", []int{o.Arrived, o.Ended, o.Late, o.GaveUp}, []int{3, 3, 2, 0})
	same(t, "penalty", o.Penalty, 2*crowd.Unit)
	same(t, "spent", o.Spent, 150_000*crowd.Money(1))
	same(t, "pool", []any{o.Pools[0].Name, o.Pools[0].People, o.Pools[0].MaxQueue}, []any{"main", 1, 2})
	if got, want := o.Pools[0].Utilisation, 180/o.Duration.Seconds(); math.Abs(got-want) > 1e-9 {
		t.Errorf("utilisation %v, not %v", got, want)
	}
}

// TestPenaltiesBeyondOneAmount: what late items cost together, in one run or in several, may be
// more than anyone may enter as one amount, so that policies still differ.
func TestPenaltiesBeyondOneAmount(t *testing.T) {
	for _, runs := range []bool{false, true} {
		p := planOf(t, strings.Replace(oneQueue, "cost: 1.00", "cost: 800000", 1))
		p.Load.Arrivals = sim.Arrivals{Times: []time.Duration{time.Minute, time.Minute, time.Minute}}
		if p.Load.Runs = runs; runs {
			p.Load.Rows = 1
		}
		p.Models = Models{"answer": {Time: sim.Constant(60)}}
		same(t, "penalty", p.must(t).Variants[0].Runs[0].Penalty, 1_600_000*crowd.Unit)
	}
}

// TestAnAnswerThatNeverComes: a time beyond all that a duration can be is the longest that a run
// may take, and no moment of the past.
func TestAnAnswerThatNeverComes(t *testing.T) {
	p := planOf(t, oneQueue)
	p.Load.Arrivals = sim.Arrivals{Times: []time.Duration{time.Minute}}
	p.Models = Models{"answer": {Time: sim.Constant(1e12)}}
	if _, err := p.Do(t.Context()); err == nil || !strings.Contains(err.Error(), "the run has not ended after 87600h") {
		t.Errorf("an answer takes 30,000 years, and the run: %v", err)
	}
}

// TestRunsArrive: each of two runs has two rows, which one person does in a minute each.
func TestRunsArrive(t *testing.T) {
	p := planOf(t, strings.Replace(oneQueue, "{penalty:", "{per: run, penalty:", 1))
	p.Load.Arrivals, p.Load.Runs, p.Load.Rows = sim.Arrivals{Times: []time.Duration{0, 10 * time.Minute}}, true, 2
	p.Models = Models{"answer": {Time: sim.Constant(60)}}
	o := p.must(t).Variants[0].Runs[0]
	same(t, "latencies", o.Latency, []float64{120, 120})
	same(t, "arrived, late, answers", []int{o.Arrived, o.Late, int(o.Answers)}, []int{2, 2, 4})
	same(t, "penalty", o.Penalty, 2*crowd.Unit)
	same(t, "items of the step", o.Steps[0].In, int64(4))
}

// TestWhichRunsAreLate: with an SLA per run, a run that ends in time costs nothing and is not
// late; with one per item, that is said of the items of all runs.
func TestWhichRunsAreLate(t *testing.T) {
	for _, x := range []struct {
		per                   string
		ended, promised, late int
		penalty               crowd.Money
	}{
		{"{per: run, penalty: constant, after: 150s, cost: 1.00}", 3, 3, 1, crowd.Unit},
		{"{per: item, penalty: constant, after: 90s, cost: 1.00}", 3, 6, 4, 4 * crowd.Unit}, // after 60, 120, 120, 180, 60 and 120 s
	} {
		p := planOf(t, strings.Replace(oneQueue, "{penalty: constant, after: 90s, cost: 1.00}", x.per, 1))
		p.Load.Arrivals, p.Load.Runs, p.Load.Rows = sim.Arrivals{Times: []time.Duration{0, time.Minute, 10 * time.Minute}}, true, 2
		p.Models, p.Policies = Models{"answer": {Time: sim.Constant(60)}}, []string{"fifo"}
		o := p.must(t).Variants[0].Runs[0]
		same(t, x.per+": latencies", o.Latency, []float64{120, 180, 120})
		same(t, x.per+": ended, promised, late", []int{o.Ended, o.Promised, o.Late}, []int{x.ended, x.promised, x.late})
		same(t, x.per+": penalty", o.Penalty, x.penalty)
	}
	p := planOf(t, strings.Replace(oneQueue, "{penalty: constant, after: 90s, cost: 1.00}", "{per: run, penalty: constant, after: 10s, cost: 1.00}", 1))
	p.Load.Arrivals, p.Models, p.Policies = sim.Arrivals{Times: []time.Duration{0, time.Minute, 10 * time.Minute}}, Models{"answer": {Time: sim.Constant(60)}}, []string{"fifo"}
	o := p.must(t).Variants[0].Runs[0]
	same(t, "of one run to which rows come: ended, promised, late", []int{o.Ended, o.Promised, o.Late}, []int{3, 1, 1})
}

// TestOneRowBecomesFour: of a row that a query splits, the items end, and not the row.
func TestOneRowBecomesFour(t *testing.T) {
	o := runOf(t, `
workflow: Words
inputs: {lines: {columns: [id]}}
sla: {penalty: constant, after: 90s, cost: 1.00}
steps:
  words: {from: {lines: stream}, sql: "select lines.id as id, value as word from lines, json_each('[1,2,3,4]')"}
  answer: {from: {words: stream}, crowd: {template: {kind: choose_one, options: [yes, no]}, reward: 0.05}}
`, 0)
	same(t, "latencies", o.Latency, []float64{60, 120, 180, 240})
	same(t, "arrived, ended, late, of", []int{o.Arrived, o.Ended, o.Late, o.Promised}, []int{1, 4, 3, 4})
	same(t, "penalty", o.Penalty, 3*crowd.Unit)
	o.wantGoing(t, 4)
}

// TestTwoInputsAtOnce: an arrival is a row of each input that is streamed.
func TestTwoInputsAtOnce(t *testing.T) {
	o := runOf(t, `
workflow: Two
inputs: {ones: {columns: [id]}, others: {columns: [id]}}
steps:
  first: {from: {ones: stream}, crowd: {template: {kind: choose_one, options: [yes, no]}, reward: 0.05}}
  second: {from: {others: stream}, crowd: {template: {kind: choose_one, options: [yes, no]}, reward: 0.05}}
`, 0, time.Hour)
	same(t, "latencies", o.Latency, []float64{60, 120, 60, 120})
	same(t, "arrived, ended", []int{o.Arrived, o.Ended}, []int{4, 4})
	o.wantGoing(t, 2)
}

// runOf is what comes of arrivals before one person, who takes a minute for each answer.
func runOf(t *testing.T, text string, arrivals ...time.Duration) *Outcome {
	t.Helper()
	p := planOf(t, text)
	p.Load.Arrivals = sim.Arrivals{Times: arrivals}
	p.Models = make(Models)
	flow, _, _ := orchestrator.Parse(t.Context(), text, nil, time.Time{})
	for i := range flow.Steps {
		if flow.Steps[i].Crowd() != nil {
			p.Models[flow.Steps[i].Name] = scenario.StepModel{Time: sim.Constant(60)}
		}
	}
	return p.must(t).Variants[0].Runs[0]
}

// wantGoing fails unless at any time what was on its way was what the one person had in
// hand, and what waited for them, and at most so much.
func (o *Outcome) wantGoing(t *testing.T, most int) {
	t.Helper()
	peak := 0
	for _, s := range o.Samples {
		peak = max(peak, s.Going)
		if want := min(s.Going, 1) + s.Queues[0]; s.Going != want {
			t.Errorf("after %s: %d on their way, %d of them in the queue", s.At, s.Going, s.Queues[0])
		}
	}
	same(t, "most on their way", peak, most)
}

// TestTimeInAStepIsOfAllItems: of runs with unequal numbers of items each item counts, and not
// each run; and of a step with none, nothing.
func TestTimeInAStepIsOfAllItems(t *testing.T) {
	mean := func(s float64) *float64 { return &s }
	sum := Step{OK: 3, In: 3, MeanS: mean(60)}
	sum.add(&Step{OK: 1, In: 2, MeanS: mean(100)})
	sum.add(&Step{In: 4, Skipped: 4})
	if sum.OK != 4 || sum.In != 9 || sum.Skipped != 4 || *sum.MeanS != 70 {
		t.Errorf("%+v, on average %v s, want 4 items of 70 s", sum, *sum.MeanS)
	}
	none := Step{}
	if none.add(&sum); *none.MeanS != 70 {
		t.Errorf("after a run without items: %v s", *none.MeanS)
	}
}

// TestQueueingTheory: with Poisson arrivals and exponential times of one person, the mean
// time of an item is 1/(μ-λ): two minutes for λ = 30/h and μ = 60/h. Five times the standard
// error of that mean, with the autocorrelation (1+ρ)/(1-ρ) of an M/M/1 queue, is allowed.
func TestQueueingTheory(t *testing.T) {
	p := planOf(t, oneQueue)
	p.Reps, p.Load.For = 4, 10*time.Hour
	p.Load.Arrivals = sim.Arrivals{Rate: 30}
	p.Models = Models{"answer": {Time: sim.Exponential(60)}}
	var all []float64
	for _, o := range p.must(t).Variants[0].Runs {
		same(t, "all end", o.Ended, o.Arrived)
		all = append(all, o.Latency...)
	}
	if len(all) < 1000 {
		t.Fatalf("%d items are too few to tell", len(all))
	}
	allowed := 5 * 120 * math.Sqrt(3/float64(len(all)))
	if mean := stats.Mean(all); math.Abs(mean-120) > allowed {
		t.Errorf("mean of %d items: %.1f s, not 120 ± %.1f s", len(all), mean, allowed)
	}
}

const called = `
workflow: Called
inputs: {things: {columns: [id]}}
steps:
  score:
    from: {things: stream}
    service: {url: "URL", tries: 3, backoff: 1s, timeout: 10s, response: {type: object, required: [risk, kind], properties: {risk: {type: integer, minimum: 3, maximum: 5}, kind: {enum: [a, b]}, note: {type: string, minLength: 12}}}}
  high:
    from: {score: stream}
    when: risk >= 5
    crowd: {template: {kind: choose_one, options: [yes, no]}, reward: 0.05}
`

// noCalls is an address whose calls are an error.
func noCalls(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a service was called") }))
	t.Cleanup(s.Close)
	return strings.Replace(called, "URL", s.URL, 1)
}

// TestModelsOfServices: no service is called; its time, failures and answers are those of
// its model.
func TestModelsOfServices(t *testing.T) {
	text := noCalls(t)
	moments := make([]time.Duration, 40)
	for i := range moments {
		moments[i] = time.Duration(i) * time.Minute
	}
	run := func(m scenario.StepModel) *Outcome {
		p := planOf(t, text)
		p.Load.Arrivals, p.Models = sim.Arrivals{Times: moments}, Models{"score": m}
		return p.must(t).Variants[0].Runs[0]
	}
	always := map[string]scenario.Values{"risk": {Texts: []string{"5"}, Weights: []float64{1}}}
	o := run(scenario.StepModel{Time: sim.Constant(2), Answer: always})
	same(t, "calls, failed, asked", []int64{o.Calls, o.FailedCalls, o.Steps[1].OK}, []int64{40, 0, 40})
	same(t, "seconds of a call", *o.Steps[0].MeanS, 2.0)

	o = run(scenario.StepModel{})
	if asked := o.Steps[1].OK; asked == 0 || asked == 40 {
		t.Errorf("made-up answers of 3 to 5 sent %d of 40 on", asked)
	}
	o = run(scenario.StepModel{Failure: 1})
	same(t, "calls, failed, given up", []int64{o.Calls, o.FailedCalls, int64(o.GaveUp)}, []int64{120, 120, 40})
	o = run(scenario.StepModel{Time: sim.Constant(11)}) // longer than its time-out
	same(t, "calls, failed, given up", []int64{o.Calls, o.FailedCalls, int64(o.GaveUp)}, []int64{120, 120, 40})
	text = strings.Replace(text, "    service: {url", "    on_error: drop\n    service: {url", 1)
	o = run(scenario.StepModel{Failure: 1})
	same(t, "dropped: given up, at the first step", []int64{int64(o.GaveUp), o.Steps[0].GaveUp, o.Steps[1].GaveUp}, []int64{40, 40, 0})
	o = run(scenario.StepModel{Failure: 0.5})
	if o.FailedCalls < 15 || o.FailedCalls > 70 || o.GaveUp == 0 || o.GaveUp > 15 {
		t.Errorf("half of the tries fail: %d of %d failed, %d items were given up", o.FailedCalls, o.Calls, o.GaveUp)
	}
}

// TestRatesOfServices: calls that wait for a rate are done, whether or not its gaps are whole
// microseconds, in which the orchestrator's clock counts.
func TestRatesOfServices(t *testing.T) {
	t.Parallel()
	for _, rate := range []string{"2/s", "3/s", "7/m", "70/h", "11000/h", "700000/d"} {
		t.Run(strings.ReplaceAll(rate, "/", " per "), func(t *testing.T) {
			t.Parallel()
			r, err := crowd.ParseRate(rate)
			if err != nil {
				t.Fatal(err)
			}
			p := planOf(t, strings.Replace(called, `url: "URL", tries`, "name: scores, tries", 1))
			p.Services = map[string]scenario.SharedService{"scores": {Concurrency: 2, Rate: r}}
			p.Load = Load{Arrivals: sim.Arrivals{Times: make([]time.Duration, 20)}, For: time.Hour}
			p.Models = Models{"score": {Time: sim.Constant(0.01), Answer: columns{"risk": {Texts: []string{"3"}, Weights: []float64{1}}}}}
			o := p.must(t).Variants[0].Runs[0]
			same(t, "arrived, ended", []int{o.Arrived, o.Ended}, []int{20, 20})
			if last, least := slices.Max(o.Latency), (19 * r.Gap()).Seconds(); last < least || last > least+30 {
				t.Errorf("the last is done after %v s; 19 gaps take %v", last, least)
			}
		})
	}
}

// TestNamedServices: steps may name services that a server declares; models stand in for
// them, and take as much as is said.
func TestNamedServices(t *testing.T) {
	text := strings.Replace(called, `url: "URL", tries`, "name: scores, path: v1, tries", 1)
	p := planOf(t, text)
	p.Load.Arrivals = sim.Arrivals{Count: 3}
	p.Models = Models{"score": {Time: sim.Constant(2), Answer: columns{"risk": {Texts: []string{"3"}, Weights: []float64{1}}}}}
	same(t, "at a time", p.must(t).Variants[0].Runs[0].Latency, []float64{2, 2, 2})
	p.Services = map[string]scenario.SharedService{"scores": {Concurrency: 1}}
	same(t, "one after the other", p.must(t).Variants[0].Runs[0].Latency, []float64{2, 4, 6})
}

// TestPoliciesMeetTheSame: every policy of a repetition meets the same rows and times, and
// a plan that is carried out again comes to the same.
func TestPoliciesMeetTheSame(t *testing.T) {
	p := planOf(t, example(t, "insurance-claims"))
	p.Reps, p.Policies, p.Workers = 2, []string{"fifo", "penalty"}, []scenario.Workers{{Each: 3}, {Pools: map[string]int{"main": 4}}}
	p.Load.Arrivals, p.Load.For = sim.Arrivals{Rate: 24}, 30*time.Minute
	p.Models = Models{"decide": {Truth: &scenario.Values{Texts: []string{"reimburse"}, Weights: []float64{1}}}}
	c, again := p.must(t), p.must(t)
	for i, v := range c.Variants {
		same(t, "again", v.Runs, again.Variants[i].Runs)
		for rep, o := range v.Runs {
			first := c.Variants[0].Runs[rep]
			same(t, "arrived", o.Arrived, first.Arrived)
			same(t, "seconds of the first service", o.Steps[0].MeanS, first.Steps[0].MeanS)
		}
	}
	same(t, "names", []string{c.Variants[0].Name(true), c.Variants[3].Name(true)}, []string{"fifo, 3 people", "penalty, main=4"})
	runs := func(v int) []*Outcome { return c.Variants[v].Runs }
	if slices.Equal(runs(0)[0].Latency, runs(0)[1].Latency) || slices.Equal(runs(0)[0].Latency, runs(2)[0].Latency) || len(runs(0)[0].Latency) == 0 {
		t.Errorf("two repetitions, or two policies, come to the same: %v", runs(0)[0].Latency)
	}
}

// TestExamplesUnderLoad: the examples go as they are, rows drawn or made up.
func TestExamplesUnderLoad(t *testing.T) {
	for _, name := range []string{"insurance-claims", "moderation", "entity-matching"} {
		p := planOf(t, example(t, name))
		p.Workers = []scenario.Workers{{Each: 4}}
		p.Load.Arrivals = sim.Arrivals{Rate: 6}
		flow, problems, _ := orchestrator.Parse(t.Context(), p.Text, nil, time.Time{})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		p.Load.Runs = ArriveAsRuns(flow)
		same(t, name+": runs", p.Load.Runs, name == "entity-matching")
		o := p.must(t).Variants[0].Runs[0]
		if o.Arrived == 0 || o.Ended != o.Arrived || o.GaveUp > 0 || o.Answers == 0 {
			t.Errorf("%s: %d arrived, %d ended, %d given up, %d answers", name, o.Arrived, o.Ended, o.GaveUp, o.Answers)
		}
	}
}

// TestWhenRunsArrive: what arrives is a run where the SLA is per run, where no step streams an input, and
// where items would wait on a batch edge for the end of the load; else a row.
func TestWhenRunsArrive(t *testing.T) {
	const head = "workflow: W\ninputs: {things: {columns: [id]}}\n"
	const ask = ", crowd: {template: {kind: choose_one, options: [a, b]}, reward: 0.05}}\n"
	const first = "steps:\n  first: {from: {things: stream}" + ask
	for text, want := range map[string]bool{
		head + first + "  second: {from: {first: stream}" + ask:                                                    false,
		head + "sla: {penalty: constant, after: 90s, cost: 1}\n" + first:                                           false,
		head + "sla: {per: run, penalty: constant, after: 90s, cost: 1}\n" + first:                                 true,
		head + "steps:\n  first: {from: {things: batch}" + ask:                                                     true,
		head + first + "  second: {from: {first: batch}" + ask:                                                     true,
		head + first + "  second: {from: {first: batch}, sql: select count(*) as n from first}\n":                  false, // which makes items of its own
		head + "sla: {penalty: constant, after: 90s, cost: 1}\n" + first + "  second: {from: {first: batch}" + ask: true,
		strings.Replace(head, "}}", "}, others: {columns: [id]}}", 1) + first + "  second: {from: {first: stream, others: batch}, sql: select first.id from first join others on others.id = first.id}\n": false, // the others are there from the start
	} {
		flow, problems, err := orchestrator.Parse(t.Context(), text, nil, time.Time{})
		if err != nil || len(problems) > 0 {
			t.Fatalf("%s: %v, %v", text, problems, err)
		}
		if got := ArriveAsRuns(flow); got != want {
			t.Errorf("%s: runs arrive: %t, waiting %v", text, got, WaitForAll(flow))
		}
	}
}

// TestRowsOfATable: rows are drawn from the file, the bad ones left out, and cells that
// have a model are drawn from it.
func TestRowsOfATable(t *testing.T) {
	text := `
workflow: Drawn
inputs: {things: {columns: [id, {price: number}, plan]}}
steps:
  dear:
    from: {things: stream}
    when: price > 5 and plan == "gold"
    crowd: {template: {kind: choose_one, options: [yes, no]}, reward: 0.05}
`
	flow, _, _ := orchestrator.Parse(t.Context(), text, nil, time.Time{})
	table, err := ReadTable(rows(t, "plan,id,price\nx,1,10\nx,2,dear\nx,3,20\n"), &flow.Inputs[0])
	if err != nil {
		t.Fatal(err)
	}
	same(t, "rows and bad rows", []int{len(table.Rows), table.Bad}, []int{2, 1})
	p := planOf(t, text)
	p.Load.Tables = map[string]*Table{"things": table}
	p.Load.Arrivals = sim.Arrivals{Count: 50, From: time.Minute}
	o := p.must(t).Variants[0].Runs[0]
	same(t, "in and asked", []int64{o.Steps[0].In, o.Steps[0].OK}, []int64{50, 0})
	p.Load.Cells = map[string]columns{"things": {"plan": {Texts: []string{"gold", "tin"}, Weights: []float64{3, 1}}}}
	o = p.must(t).Variants[0].Runs[0]
	if ok := o.Steps[0].OK; ok < 28 || ok > 47 {
		t.Errorf("three of four are gold: %d of 50", ok)
	}
	// Also where the rows of the file come as they are, of which the rest stays.
	p.Load.Runs, p.Load.Arrivals.Count = true, 25
	ok := int64(0)
	for _, run := range p.must(t).Variants[0].Runs[:1] {
		same(t, "rows of the file in 25 runs", run.Steps[0].In, int64(50))
		ok = run.Steps[0].OK
	}
	if ok < 28 || ok > 47 {
		t.Errorf("three of four are gold in whole files: %d of 50", ok)
	}
	p.Load.Cells = map[string]columns{"things": {"price": {Texts: []string{"1"}, Weights: []float64{1}}}}
	same(t, "none is dear", p.must(t).Variants[0].Runs[0].Steps[0].OK, int64(0))
}

// TestWrongLoads: what does not fit is told.
func TestWrongLoads(t *testing.T) {
	text := noCalls(t)
	for _, c := range []struct {
		change func(p *Plan)
		want   string
	}{
		{func(p *Plan) { p.Reps = 0 }, "reps: must be from 1"},
		{func(p *Plan) { p.Load.For = 0 }, "for: must be more than 0"},
		{func(p *Plan) {
			p.Models = Models{"score": {Answer: columns{"kind": {Texts: []string{"c"}, Weights: []float64{1}}}}}
		}, "score: its service has no model of an answer that fits its response"},
		{func(p *Plan) { p.Workers[0].Pools = map[string]int{"experts": 2} }, `no step asks people of a pool "experts" (they ask those of main)`},
		{func(p *Plan) { p.Text = strings.Replace(text, "{columns: [id]}", "{}", 1) }, "the workflow does not say which columns things has"},
	} {
		p := planOf(t, text)
		p.Load.Arrivals = sim.Arrivals{Count: 3}
		c.change(p)
		if _, err := p.Do(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, and not: %s", err, c.want)
		}
	}
	p := planOf(t, strings.Replace(oneQueue, "reward: 0.05", "redundancy: {count: 3}, reward: 0.05", 1))
	p.Load.Arrivals = sim.Arrivals{Count: 1}
	if _, err := p.Do(t.Context()); err == nil || !strings.Contains(err.Error(), "answer: the step cannot go on") {
		t.Errorf("three answers of one person: %v", err)
	}
}

func BenchmarkLoad(b *testing.B) {
	for range b.N {
		p := planOf(b, example(b, "insurance-claims"))
		p.Workers = []scenario.Workers{{Each: 5}}
		p.Load.Arrivals, p.Load.For = sim.Arrivals{Rate: 10}, 8*time.Hour
		p.must(b)
	}
}
