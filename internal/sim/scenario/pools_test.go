package scenario_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/internal/sim/pools"
	"github.com/throng-dev/throng/internal/sim/scenario"
	"github.com/throng-dev/throng/pool"
)

const poolsTrace = "stream,time_s,seconds\nrecruitment,0,30\ntask,0,2\nstay,0,300\n"

// poolFile reads the files that a file of pools names.
func poolFile(name string) ([]byte, error) {
	switch name {
	case "crowd.csv":
		return []byte("# of May\n" + poolsTrace), nil
	case "bad.csv":
		return []byte(poolsTrace + "task,5,2\ntask,4,2\n"), nil
	case "times.csv":
		return []byte("at\n5\n3\n"), nil
	}
	return nil, os.ErrNotExist
}

const everyPoolField = `scenario: everything
about: all that a file of pools can say
horizon: 2h
step: 500ms
record: 10s
seed: 7
repetitions: 3
salary: 0.1
balance: paper(omega=1)
lend: false
control:
  stability: hybrid
  balancer: search(omega=0.8)
  window: 2m
  target: {eta: 0.25, salary: 0.2}
people:
  abandon: 10%
  stay: {exponential: 5m}
  recruitment: {exponential: 50s}
  recruiting: process
  outside: 500
  prefers: {b: 0.25, a: 75%}
pools:
  - name: a
    arrivals: [{rate: 120/m}, {from: 20m, rate: 4/s}, {from: 1h, rate: 0/s}]
    service: {exponential: 2s}
    training: 30s
    start: mean
    control:
      elasticity: rules
      rules:
        - {when: "queue > 10 || c_star - workers > 5", do: recruit 1}
        - {when: idle > 3, do: transfer 2 from b}
      min: 2
      max: 80
      cooldown: 30s
      task_time: 3s
      least_preference: 0.4
      balance: false
  - name: b
    times: {file: times.csv, column: at}
    bursts: [{at: 1m, tasks: 100}]
    service: 5s
    start: 12
compare:
  - name: plain
  - name: other
    balance: none
    lend: true
    start: 3
    control: {stability: none, target: {wait: 10s, tail: 5%}, advise: true}
    pools:
      a: {start: optimal, control: {elasticity: ct-p, max: 90}}
`

func TestParsePools(t *testing.T) {
	t.Parallel()
	p, err := scenario.ParsePools("x.yaml", []byte(everyPoolField), poolFile)
	if err != nil {
		t.Fatal(err)
	}
	if p.Name != "everything" || p.About == "" || p.Reps != 3 || p.Seed != 7 || p.Record != 10*time.Second || len(p.Variants) != 2 {
		t.Errorf("%+v", p)
	}
	common := pool.Settings{Stability: "hybrid", Balancer: "search(omega=0.8)", Window: 2 * time.Minute, Target: pool.Target{Eta: 0.25, Salary: 0.2}, Balance: true}
	a, b := common, common
	a.Elasticity, a.Min, a.Max, a.Cooldown, a.Expect.TaskTime, a.Balance, a.LeastPreference = "rules", 2, 80, 30*time.Second, 3*time.Second, false, 0.4
	a.Rules = []pool.Rule{{When: "queue > 10 || c_star - workers > 5", Do: "recruit 1"}, {When: "idle > 3", Do: "transfer 2 from b"}}
	want := pools.Setup{
		Horizon: 2 * time.Hour, Step: 500 * time.Millisecond, Salary: 100_000, Balance: "paper(omega=1)", ForGood: true,
		People: pools.People{Abandon: 0.1, Stay: sim.Exponential(300), Recruitment: sim.Exponential(50), Recruiting: pools.Process, Outside: 500, Prefers: []float64{0.75, 0.25}},
		Pools: []pools.Pool{
			{Name: "a", Arrivals: []pools.Phase{{Rate: 2}, {From: 20 * time.Minute, Rate: 4}, {From: time.Hour}}, Service: sim.Exponential(2), Training: sim.Constant(30), Start: pools.StartMean, Settings: a},
			{Name: "b", Times: []time.Duration{3 * time.Second, 5 * time.Second}, Bursts: []pools.Burst{{At: time.Minute, Tasks: 100}}, Service: sim.Constant(5), Start: 12, Settings: b},
		},
	}
	if got := p.Variants[0]; got.Name != "plain" || fmt.Sprintf("%+v", got.Setup) != fmt.Sprintf("%+v", want) {
		t.Errorf("%+v\nwant\n%+v", got.Setup, want)
	}
	for i := range want.Pools {
		s := &want.Pools[i].Settings
		s.Stability, s.Target, s.Advise = "none", pool.Target{Eta: 0.25, Salary: 0.2, Wait: 10 * time.Second, Tail: 0.05}, true
		want.Pools[i].Start = 3
	}
	want.Balance, want.ForGood = "none", false
	want.Pools[0].Start, want.Pools[0].Settings.Elasticity, want.Pools[0].Settings.Max = pools.StartOptimal, "ct-p", 90
	if got := p.Variants[1]; got.Name != "other" || fmt.Sprintf("%+v", got.Setup) != fmt.Sprintf("%+v", want) {
		t.Errorf("%+v\nwant\n%+v", got.Setup, want)
	}
}

// TestEveryPoolField: the example of everything, and the document, have all fields
// that are known.
func TestEveryPoolField(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../../docs/pool-simulation.md")
	if err != nil {
		t.Fatal(err)
	}
	looked := 0
	for section, list := range scenario.PoolSections() {
		for _, f := range list {
			looked++
			if !strings.Contains(everyPoolField, f+":") && section != "its trace" && f != "trace" {
				t.Errorf("everyPoolField has no %s in %s", f, section)
			}
			if !strings.Contains(string(doc), "`"+f+"`") && !strings.Contains(string(doc), f+":") {
				t.Errorf("docs/pool-simulation.md has no %s in %s", f, section)
			}
		}
	}
	if looked < 40 {
		t.Errorf("only %d fields", looked)
	}
}

const leastPools = "scenario: least\nhorizon: 1h\npools:\n  - {name: a, arrivals: 2/s, service: 2s}\n"

func TestLeastPools(t *testing.T) {
	t.Parallel()
	p, err := scenario.ParsePools("x.yaml", []byte(leastPools), nil)
	if err != nil {
		t.Fatal(err)
	}
	s := p.Variants[0].Setup
	if len(p.Variants) != 1 || p.Reps != 1 || p.Seed != 1 || s.Salary != 50_000 || s.Pools[0].Start != pools.StartOptimal || s.Pools[0].Arrivals[0].Rate != 2 {
		t.Errorf("%+v", p)
	}
	traced := "scenario: t\nhorizon: 1h\npeople: {trace: {file: crowd.csv}}\npools:\n  - {name: a, arrivals: 2/s}\n"
	p, err = scenario.ParsePools("x.yaml", []byte(traced), poolFile)
	if err != nil || p.TraceFrom != "crowd.csv" || p.Variants[0].Setup.People.Trace.Tasks[0] != 2 || p.Variants[0].Setup.People.Trace.Comments[0] != "of May" {
		t.Errorf("%+v %v", p, err)
	}
	p, err = scenario.ParsePools("x.yaml", []byte(strings.Replace(traced, "file: crowd.csv", "generated: 3", 1)), poolFile)
	if err != nil || p.TraceFrom != "" || len(p.Variants[0].Setup.People.Trace.Tasks) != 6725 {
		t.Errorf("%+v %v", p, err)
	}
}

// TestWrongPools: everything that is wrong is told, with its place.
func TestWrongPools(t *testing.T) {
	t.Parallel()
	pools := "pools:\n  - {name: a, arrivals: 2/s, service: 2s}\n"
	head := "scenario: x\nhorizon: 1h\n"
	for name, c := range map[string]struct {
		text string
		want []string // place: part of the message
	}{
		"nothing":        {"", []string{"x.yaml:1:1: the file is empty"}},
		"a list":         {"- a\n", []string{"x.yaml:1:1: a mapping is wanted"}},
		"nothing needed": {"about: x\n", []string{"x.yaml:1:1: scenario is missing", "x.yaml:1:1: horizon is missing", "x.yaml:1:1: pools is missing"}},
		"many at once": {head + "salery: 1\nbalance: evenly\npools:\n  - {name: a, arrivals: 2, service: 2}\n  - {name: a, arrivals: -2/s, service: 2s, start: many}\n", []string{
			`x.yaml:3:1: there is no field "salery" here: did you mean salary?`,
			`x.yaml:4:10: there is no balancer "evenly"`,
			`x.yaml:6:25: "2" lacks a unit`, `x.yaml:6:37: "2" lacks a unit`,
			`x.yaml:7:12: two have the name "a"`, `x.yaml:7:25: "-2/s": a rate is not less than 0`, `x.yaml:7:51: "many" is not a count`,
		}},
		"a pool without work":       {head + "pools:\n  - {name: a, service: 2s}\n", []string{"x.yaml:4:5: arrivals is missing"}},
		"a pool without service":    {head + "pools:\n  - {name: a, arrivals: 2/s}\n", []string{"x.yaml:4:5: service is missing"}},
		"a pool that is none":       {head + "pools: [5]\n", []string{`x.yaml:3:9: a mapping is wanted, like {name: …}; here is "5"`}},
		"endless tasks":             {head + "pools:\n  - {name: a, arrivals: 2/s, service: 40d}\n", []string{"x.yaml:4:39: this takes more than 30d on average"}},
		"phases without order":      {head + "pools:\n  - {name: a, service: 2s, arrivals: [{rate: 1/s}, {rate: 2/s}]}\n", []string{"x.yaml:4:52: phases stand in order"}},
		"a phase without rate":      {head + "pools:\n  - {name: a, service: 2s, arrivals: [{from: 1s}]}\n", []string{"x.yaml:4:39: rate is missing"}},
		"bursts without order":      {head + "pools:\n  - {name: a, service: 2s, bursts: [{at: 5s, tasks: 1}, {at: 4s}]}\n", []string{"x.yaml:4:57: tasks is missing", "x.yaml:4:62: bursts stand in the order"}},
		"a step after the horizon":  {head + "step: 2h\n" + pools, []string{"x.yaml:3:7: the first step would come after the horizon, 1h"}},
		"no money":                  {head + "salary: five\n" + pools, []string{`x.yaml:3:9: "five" is not a pay for a minute`}},
		"an unknown elasticity":     {head + "control: {elasticity: ct-q}\n" + pools, []string{"x.yaml:3:23: "}},
		"an unknown stability":      {head + "control: {stability: firm}\n" + pools, []string{"x.yaml:3:22: "}},
		"rules without rules":       {head + "pools:\n  - name: a\n    arrivals: 1/s\n    service: 1s\n    control: {elasticity: rules}\n", []string{"x.yaml:7:14: the elasticity \"rules\" needs a rule"}},
		"an unknown name in a rule": {head + "control:\n  elasticity: rules\n  rules:\n    - {when: queu > 1, do: recruit 1}\n" + pools, []string{"x.yaml:6:14: when: "}},
		"no condition":              {head + "control:\n  elasticity: rules\n  rules:\n    - {when: queue, do: hire 1}\n" + pools, []string{"x.yaml:6:14: ", "x.yaml:6:25: do: "}},
		"no action":                 {head + "control:\n  elasticity: rules\n  rules:\n    - {when: queue > 1, do: hire 1}\n" + pools, []string{"x.yaml:6:29: do: "}},
		"an action from nowhere":    {head + "control:\n  elasticity: rules\n  rules:\n    - {when: queue > 1, do: transfer 1 from z}\n" + pools, []string{`x.yaml:6:45: do: there is no pool "z"`}},
		"an action from itself":     {head + "pools:\n  - name: a\n    arrivals: 1/s\n    service: 1s\n    control: {elasticity: rules, rules: [{when: queue > 1, do: transfer 1 from a}]}\n", []string{`x.yaml:7:80: do: "a" is the pool itself`}},
		"half a rule":               {head + "control: {elasticity: rules, rules: [{when: queue > 1}]}\n" + pools, []string{"x.yaml:3:38: do is missing"}},
		"limits that cross":         {head + "control: {min: 5, max: 3}\n" + pools, []string{"x.yaml:3:24: must be at least min, 5, not 3"}},
		"eta of 1":                  {head + "control: {target: {eta: 1}}\n" + pools, []string{"x.yaml:3:25: \"1\": eta is above 0 and below 1"}},
		"a tail of nothing":         {head + "control: {target: {tail: 5%}}\n" + pools, []string{"x.yaml:3:26: tail goes with a wait"}},
		"neither true nor false":    {head + "control: {advise: maybe}\n" + pools, []string{`x.yaml:3:19: "maybe" is neither true nor false`}},
		"more than all abandon":     {head + "people: {abandon: 2}\n" + pools, []string{`x.yaml:3:19: "2" is not a share`}},
		"an unknown way to recruit": {head + "people: {recruiting: all}\n" + pools, []string{`x.yaml:3:22: "all" is neither each`}},
		"a process of nothing":      {head + "people: {recruiting: process}\n" + pools, []string{"x.yaml:3:9: recruitment is missing"}},
		"a preference too few":      {head + "people: {prefers: {}}\n" + pools, []string{"x.yaml:3:19: a is missing"}},
		"no preference":             {head + "people: {prefers: ~}\n" + pools, []string{"x.yaml:3:10: prefers has no value"}},
		"a preference for nothing":  {head + "people: {prefers: {a: 0.5, b: 0.5}}\n" + pools, []string{`x.yaml:3:28: there is no pool "b"`}},
		"a trace and a service":     {head + "people: {trace: {generated: 1}, stay: 5m}\n" + pools, []string{"x.yaml:3:39: the trace says it already", "x.yaml:5:39: the trace says it already"}},
		"a trace of both kinds":     {head + "people: {trace: {generated: 1, file: crowd.csv}}\npools:\n  - {name: a, arrivals: 2/s}\n", []string{"x.yaml:3:18: the trace is said by file already"}},
		"a trace that is not there": {head + "people: {trace: {file: none.csv}}\npools:\n  - {name: a, arrivals: 2/s}\n", []string{`x.yaml:3:24: "none.csv" cannot be read`}},
		"a trace out of order":      {head + "people: {trace: {file: bad.csv}}\npools:\n  - {name: a, arrivals: 2/s}\n", []string{"bad.csv:6: column \"time_s\": 4 comes after 5"}},
		"two variants of one name":  {head + pools + "compare: [{name: x}, {name: x}]\n", []string{`x.yaml:5:29: two have the name "x"`}},
		"a variant of no pool":      {head + pools + "compare: [{name: x, pools: {z: {start: 5}}}]\n", []string{`x.yaml:5:29: there is no pool "z"`}},
		"wrong within a variant":    {head + pools + "compare: [{name: x, control: {elasticity: ct-q}, start: -1}]\n", []string{"x.yaml:5:43: ", "x.yaml:5:57: \"-1\" is negative"}},
		"too many tasks":            {"scenario: x\nhorizon: 365d\npools:\n  - {name: a, arrivals: 100000/s, service: 1s}\n", []string{"x.yaml:4:3: a: some"}},
	} {
		_, err := scenario.ParsePools("x.yaml", []byte(c.text), poolFile)
		var list scenario.Errors
		if !errors.As(err, &list) || crowd.CodeOf(err) != crowd.Invalid {
			t.Errorf("%s: %v", name, err)
			continue
		}
		ok := len(list) == len(c.want)
		for i := range min(len(list), len(c.want)) {
			ok = ok && strings.HasPrefix(list[i].Error(), c.want[i][:strings.Index(c.want[i], ": ")+2]) && strings.Contains(list[i].Error(), c.want[i])
		}
		if !ok {
			t.Errorf("%s:\n%v\nwant\n%s", name, err, strings.Join(c.want, "\n"))
		}
	}
}

// FuzzParsePools: nothing makes it panic, and an error is always Errors.
func FuzzParsePools(f *testing.F) {
	f.Add([]byte(everyPoolField), []byte(poolsTrace))
	f.Add([]byte(leastPools), []byte{})
	list, _ := filepath.Glob("../../../scenarios/pools/*.yaml")
	for _, p := range list {
		if text, err := os.ReadFile(p); err == nil {
			f.Add(text, []byte("at\n1\n"))
		}
	}
	f.Fuzz(survives)
}

// survives reads a file of pools, right or wrong.
func survives(t *testing.T, text, table []byte) {
	p, err := scenario.ParsePools("x.yaml", text, func(string) ([]byte, error) { return table, nil })
	var list scenario.Errors
	switch {
	case err == nil && (p == nil || len(p.Variants) == 0):
		t.Fatalf("nothing comes of\n%s", text)
	case err == nil:
		for _, v := range p.Variants {
			if err := v.Setup.Validate(); err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
		}
	case !errors.As(err, &list) || len(list) == 0:
		t.Fatalf("%T %v", err, err)
	default:
		for _, e := range list {
			if e.Line < 1 || e.Message == "" || strings.ContainsAny(e.Message, "\n\r") {
				t.Fatalf("%+v", e)
			}
		}
	}
}

// TestSlipsOfThePen: a word left out, said twice, or put in the place of another
// one never brings the reader down.
func TestSlipsOfThePen(t *testing.T) {
	t.Parallel()
	words := strings.SplitAfter(everyPoolField, " ")
	r := sim.NewStream(1, 0, "slips").At(0)
	right := 0
	for range 1500 {
		slip := slices.Clone(words)
		for range 1 + r.IntN(2) {
			i, j := r.IntN(len(slip)), r.IntN(len(slip))
			switch r.IntN(3) {
			case 0:
				slip[i] = ""
			case 1:
				slip[i] += slip[i]
			default:
				slip[i] = slip[j]
			}
		}
		text := []byte(strings.Join(slip, ""))
		survives(t, text, []byte(poolsTrace))
		if _, err := scenario.ParsePools("x.yaml", text, poolFile); err == nil {
			right++
		}
	}
	if right == 0 || right > 1200 {
		t.Errorf("%d of 1500 are right: are these slips?", right)
	}
}

// TestPoolFiles reads the files of scenarios/pools.
func TestPoolFiles(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../../scenarios/pools/*.yaml")
	if err != nil || len(files) < 3 {
		t.Fatalf("%d files of pools found: %v", len(files), err)
	}
	for _, file := range files {
		if p, _, err := scenario.LoadPools(file); err != nil || p.About == "" || len(p.Variants) < 2 {
			t.Errorf("%s: it does not say what it shows, or compares nothing: %v", file, err)
		}
	}
}

// TestPoolExamples reads the examples of docs/pool-simulation.md.
func TestPoolExamples(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/pool-simulation.md")
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(text), "```yaml\n")
	for _, part := range parts[1:] {
		block, _, _ := strings.Cut(part, "```")
		if _, err := scenario.ParsePools("docs.yaml", []byte(block), nil); err != nil {
			t.Errorf("an example is wrong: %v\n%s", err, block)
		}
	}
	if len(parts) < 3 {
		t.Errorf("only %d examples", len(parts)-1)
	}
}
