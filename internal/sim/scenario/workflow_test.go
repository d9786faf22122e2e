package scenario_test

import (
	"errors"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/internal/sim/scenario"
)

func parseModel(text string) (*scenario.WorkflowModel, error) {
	return scenario.ParseWorkflowModel("m.yaml", []byte(text), files, scenario.ModelOf{})
}

// TestWorkflowModel reads the model of the document and that of the example.
func TestWorkflowModel(t *testing.T) {
	page, err := os.ReadFile("../../../docs/workflow-simulation.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	text, rest, _ := strings.Cut(rest, "```")
	m, err := scenario.ParseWorkflowModel("m.yaml", []byte(text), files, claims(t)) // it is for that workflow
	if err != nil {
		t.Fatal(err)
	}
	if m.Name != "A busy day" || m.About == "" || m.Arrive.Rate != 12 || m.For != 4*time.Hour || m.Each != "row" || m.Reps != 5 || m.Seed != 1 {
		t.Errorf("%+v", m)
	}
	if want := []scenario.Workers{{Each: 4}, {Pools: map[string]int{"main": 5}}}; !reflect.DeepEqual(m.Workers, want) {
		t.Errorf("workers %v", m.Workers)
	}
	if !slices.Equal(m.Policies, []string{"fifo", "penalty"}) {
		t.Errorf("policies %v", m.Policies)
	}
	decide, register := m.Steps["decide"], m.Steps["register"]
	if decide.Time != sim.Constant(480) || *decide.Accuracy != 0.95 || !slices.Equal(decide.Truth.Texts, []string{"reimburse", "reject"}) ||
		!slices.Equal(decide.Truth.Weights, []float64{0.7, 0.3}) || register.Failure != 0.02 || register.Accuracy != nil || len(register.Answer["desk"].Texts) != 2 {
		t.Errorf("steps %+v", m.Steps)
	}
	_, rest, _ = strings.Cut(rest, "```yaml\n")
	services, _, _ := strings.Cut(rest, "```")
	shared, err := parseModel("model: x\n" + services)
	if err != nil {
		t.Fatal(err)
	}
	if want := (scenario.SharedService{Concurrency: 4, Rate: crowd.Rate{Calls: 60, Per: time.Minute}}); shared.Services["scores"] != want {
		t.Errorf("services %+v", shared.Services)
	}
	if got := slices.Sorted(maps.Keys(m.Inputs["claims"])); !slices.Equal(got, []string{"declared", "plan"}) {
		t.Errorf("inputs %v", m.Inputs)
	}
	if _, _, err := scenario.LoadWorkflowModel("../../../workflows/insurance-claims/model.yaml", claims(t)); err != nil {
		t.Error(err)
	}
}

// claims is the workflow of the insurance claims.
func claims(t *testing.T) scenario.ModelOf {
	t.Helper()
	text, err := os.ReadFile("../../../workflows/insurance-claims/workflow.yaml")
	if err != nil {
		t.Fatal(err)
	}
	flow, problems, _ := orchestrator.Parse(t.Context(), string(text), nil, time.Time{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return scenario.ModelOf{Flow: flow}
}

// TestModelsOfAnotherWorkflow: what the workflow has not is told together with all else
// that is wrong, each with its place.
func TestModelsOfAnotherWorkflow(t *testing.T) {
	_, err := scenario.ParseWorkflowModel("m.yaml", []byte(`model: x
for: 4x
workers: [2, {mian: 5}]
steps:
  registr: {time: 2s}
  register: {failure: 0.1, answer: {desc: north}, truth: a}
  decide: {answer: {a: b}, truth: {reimbrse: 0.7, reject: 0.3}}
services: {scores: {concurrency: 4}}
inputs: {claim: {plan: basic}, claims: {plans: basic}}
`), files, claims(t))
	var got scenario.Errors
	if !errors.As(err, &got) {
		t.Fatal(err)
	}
	want := []string{
		`m.yaml:2:6: "4x" is not a duration`,
		`m.yaml:3:15: no step asks people of a pool "mian": did you mean main?`,
		`m.yaml:5:3: the workflow has no step "registr": did you mean register?`,
		`m.yaml:6:37: the answer of register has no property "desc": did you mean desk?`,
		`m.yaml:6:51: register is a service, which has time, failure and answer; truth is of people`,
		`m.yaml:7:12: decide is done by people, who have time, accuracy and truth; answer is of services`,
		`m.yaml:7:36: "reimbrse" is no answer that a worker could give at decide: `,
		`m.yaml:8:12: no step of the workflow names a service "scores": there is none`,
		`m.yaml:9:10: the workflow has no input "claim": did you mean claims?`,
		`m.yaml:9:41: the input claims has no column "plans": did you mean plan?`,
	}
	if len(got) != len(want) {
		t.Fatalf("%d errors, want %d:\n%v", len(got), len(want), err)
	}
	for i, e := range got {
		if !strings.HasPrefix(e.Error(), want[i]) {
			t.Errorf("%s\nwant %s", e.Error(), want[i])
		}
	}
}

// TestWrongModels: each mistake is told with its place.
func TestWrongModels(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"about: x\n", "model is missing"},
		{"model: x\nfor: 3\n", `m.yaml:2:6: "3" lacks a unit`},
		{"model: x\neach: item\n", "m.yaml:2:7: "},
		{"model: x\narrive: 30\n", `m.yaml:2:9: "30" does not say when items come: take a rate like 30/h`},
		{"model: x\narrive: 0/h\n", `m.yaml:2:9: "0/h": a rate is more than 0, like 30/h`},
		{"model: x\narrive: {band: {min: 1, max: 2, rate: 1/h}}\n", "a band is for people"},
		{"model: x\narrive: {exponential: 0s}\n", "m.yaml:2:23: "},
		{"model: x\nworkers: 0\n", `m.yaml:2:10: "0" is too little`},
		{"model: x\nworkers: {main: x}\n", "m.yaml:2:17: "},
		{"model: x\nworkers: []\n", "m.yaml:2:10: there is no crowd: "},
		{"model: x\nworkers: {}\n", "m.yaml:2:10: there is no pool: "},
		{"model: x\nworkers: [2, {}]\n", "m.yaml:2:14: there is no pool: "},
		{"model: x\npolicies: [best]\n", `there is no policy "best"`},
		{"model: x\nsteps: {a: {time: fast}}\n", "m.yaml:2:19: "},
		{"model: x\nsteps: {a: {failure: 2}}\n", "m.yaml:2:22: "},
		{"model: x\nsteps: {a: {fails: 0.2}}\n", "there is no field"},
		{"model: x\nsteps: {a: {truth: {}}}\n", "values need a weight"},
		{"model: x\nsteps: {a: {answer: {b: []}}}\n", "there is no value to draw"},
		{"model: x\nservices: {a: {rate: fast}}\n", "m.yaml:2:22: "},
		{"model: x\ninputs: {a: {b: {c: -1}}}\n", "m.yaml:2:21: "},
	} {
		if _, err := parseModel(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v\nand not: %s", c.text, err, c.want)
		}
	}
}

// TestParseArrivals reads each form of arrivals from one text.
func TestParseArrivals(t *testing.T) {
	lognormal := sim.Arrivals{Gap: sim.LogNormalByMean(120, 60)}
	for text, want := range map[string]sim.Arrivals{
		"30/h":                             {Rate: 30},
		" 0.5/m ":                          {Rate: 30},
		"poisson(30/h)":                    {Rate: 30},
		"2m":                               {Gap: sim.Constant(120)},
		"exponential(2m)":                  {Gap: sim.Exponential(120)},
		"exponential(mean=2m)":             {Gap: sim.Exponential(120)},
		"exponential: 2m":                  {Gap: sim.Exponential(120)},
		"{exponential: 2m}":                {Gap: sim.Exponential(120)},
		"lognormal(mean=2m,sd=1m)":         lognormal,
		"{lognormal: {mean: 2m, sd: 1m}}":  lognormal,
		"{every: 2m, from: 1h, until: 2h}": {Gap: sim.Constant(120), From: time.Hour, Until: 2 * time.Hour},
		"rate: 30/h, count: 5":             {Rate: 30, Count: 5},
		"{times: [90s, 0s]}":               {Times: []time.Duration{0, 90 * time.Second}},
		"uniform(min=1m, max=3m)":          {Gap: sim.Uniform{Min: 60, Max: 180}},
		"{count: 20, at: 5m}":              {Count: 20, From: 5 * time.Minute},
	} {
		if got, err := scenario.ParseArrivals(text, 8*time.Hour); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v; not %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "30", "often", "30/week", "exponential", "exponential()", "normal(2m)", "{rate: 30}", "-2m", "{times: []}", "[30/h]", "x: y", "1e9/s", "0/h", "lognormal(2m,1m)"} {
		if got, err := scenario.ParseArrivals(text, 8*time.Hour); err == nil || !strings.HasPrefix(err.Error(), "arrivals: ") {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}

// TestSplitWorkers takes crowds apart.
func TestSplitWorkers(t *testing.T) {
	for text, want := range map[string][]scenario.Workers{
		"5":                  {{Each: 5}},
		"5, 9":               {{Each: 5}, {Each: 9}},
		"main=5,experts=2":   {{Pools: map[string]int{"main": 5, "experts": 2}}},
		"5,main=5,experts=2": {{Each: 5}, {Pools: map[string]int{"main": 5, "experts": 2}}},
	} {
		if got, err := scenario.SplitWorkers(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "0", "5,", "main=", "many", "-1", "100001", "main=5,main=6"} {
		if got, err := scenario.SplitWorkers(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestDraw: weights and distributions are what is drawn.
func TestDraw(t *testing.T) {
	v := scenario.Values{Texts: []string{"a", "b", "c"}, Weights: []float64{1, 0, 3}}
	seen := map[string]int{}
	for i := range 4000 {
		r := sim.NewStream(1, 0, "draw").At(uint64(i))
		seen[v.Draw(&r)]++
	}
	if seen["b"] > 0 || seen["a"] < 850 || seen["a"] > 1150 {
		t.Errorf("%v", seen)
	}
	r := sim.NewStream(1, 0, "draw").At(0)
	if got := (&scenario.Values{Dist: sim.Constant(2.5)}).Draw(&r); got != "2.5" {
		t.Errorf("drew %s", got)
	}
}
