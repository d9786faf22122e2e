package scenario

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
	"github.com/throng-dev/throng/internal/kit/yamlfile/fields"
	"github.com/throng-dev/throng/internal/sim/pools"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/pool"
)

// sections are the fields of every kind of mapping in a file, by the name of
// the section; docs/scenarios.md explains each. What is not here is refused.
var sections = map[string]fields.Fields{
	"scenario": fields.Of(
		fields.Text("scenario").Needed("a name, like "+scenarioFile.Begin), fields.Text("about"),
		fields.Duration(time.Nanosecond, maxDuration, "horizon"), fields.Uint64("seed"), fields.Count(1, maxReps, "repetitions"),
		fields.List(50, "policies"), fields.List(1000, "tenants"),
		fields.List(1000, "kinds").Needed("what people do, like kinds: [{name: tag, service: 11s}]"),
		fields.List(1000, "crowd"), fields.List(100_000, "batches"), fields.Any("trace"),
		fields.List(1000, "flows", "faults"), fields.List(100, "classes"), fields.Any("sweep"), fields.List(500, "expect"),
	),
	"tenants": fields.Of(fields.Text("name"), fields.Number(engine.MinPriority, engine.MaxPriority, "weight")),
	"kinds": fields.Of(
		fields.Text("name"),
		fields.Any("service").Needed("how long an answer takes, like service: 11s or service: {exponential: 11s}"),
		fields.Any("switch"), fields.Number(0, 5, "learning"), fields.Share("skip", "return", "vanish", "silent"),
		fields.Any("give_up_after"), fields.List(maxOptions, "answers"), fields.Share("accuracy"), fields.List(maxOptions, "confusion"),
	),
	"switch": fields.Of(fields.Number(0.001, 1000, "factor"), fields.Any("time")),
	"crowd": fields.Of(
		fields.Text("name"), fields.Any("arrive").Needed("how people come, like arrive: {count: 20} or arrive: {rate: 30/h}"), habits),
	"arrive": fields.Of(
		fields.Any("count"), fields.Duration(0, maxDuration, "at"), fields.Scalar(yamlfile.WantRate, parsePerHour, "rate"),
		fields.Duration(0, maxDuration, "from"), fields.Duration(time.Nanosecond, maxDuration, "until"), fields.Any("times", "band"),
	),
	"times": columnOfFile,
	"band": fields.Of(fields.Count(1, maxPeople, "min", "max"), fields.Scalar(yamlfile.WantRate, parsePerHour, "rate")).
		Needed("like band: {min: 20, max: 25, rate: 2/m}"),
	"batches": fields.Of(fields.Text("name"), fields.Any("tasks").Needed("how many, like tasks: 200"), fields.Any("at"), batchFields),
	"trace": fields.Of(
		fields.Text("name"), fields.Any("file").Needed("a CSV file, like file: trace.csv"),
		fields.Any("columns").Needed("which column says what, like columns: {at: start_s, tasks: size}"),
		fields.Any("where", "kinds", "tenants"), batchFields,
	),
	"columns": fields.Of(fields.Any("tasks").Needed("the column with the number of tasks"), fields.Any(traceColumns[1:]...)),
	"flows": fields.Of(
		fields.Text("name"), fields.Any("arrive").Needed("when they come, like arrive: {rate: 80/m, until: 20m}"),
		sizeOfBatch, fields.Any("deadlines"), batchFields,
	),
	"deadlines": fields.Of(
		fields.Share("share"), fields.Number(0, maxAlpha, "alpha"), fields.Count(1, maxPeople, "workers"), fields.Any("service"), fields.Text("form")),
	"redundancy": fields.Count(1, label.MaxAnswers, "count", "agree", "of"),
	"faults": fields.Of(
		fields.Duration(0, maxDuration, "at").Needed("when, like at: 20m"), fields.Share("vanish"), fields.Any("policy"),
		fields.Duration(time.Millisecond, maxDuration, "stop"), fields.Any("burst", "workers"),
	),
	"burst": fields.Of(
		fields.Text("name"), fields.Count(1, maxBatches, "batches").Needed("how many come, like batches: 50"), sizeOfBatch, batchFields),
	"workers": fields.Of(fields.Text("name"), fields.Count(1, maxPeople, "count").Needed("how many come, like count: 20"), habits),
	"classes": fields.Of(fields.Text("name"), fields.Count(1, crowd.MaxInBatch, "most")),
	"sweep":   fields.List(100, "alpha").Needed("the values to try, like alpha: [0, 0.2, 0.4]"),
	"expect": fields.Of(
		fields.Any("that", "is").Needed("like {that: deadline_success_ratio, of: edf, is: above 0.5}"),
		fields.List(50, "of"), fields.Any("batch", "flow", "tenant", "kind", "class"), fields.Number(0, maxAlpha, "alpha"),
		fields.Duration(0, maxDuration, "from"), fields.Duration(time.Nanosecond, maxDuration, "to"),
	),
	"distribution": fields.Of(
		fields.Any("exponential", "uniform", "lognormal", "empirical"), fields.Number(1.01, 20, "zipf"), fields.Count(1, maxSize, "max")),
	"uniform":   fields.Any("min", "max").Needed("like uniform: {min: 5s, max: 15s}"),
	"lognormal": fields.Of(fields.Any("mean", "sd", "median"), fields.Number(0, 5, "sigma"), fields.Any("mode")),
	"empirical": columnOfFile,
}

var (
	// columnOfFile is where a table has what the scenario does not say itself.
	columnOfFile = fields.Of(fields.Any("file", "column").Needed("like {file: durations.csv, column: seconds}"), fields.Any("where"))
	sizeOfBatch  = fields.Any("size").Needed("tasks in a batch, like size: 50 or size: {zipf: 2}")

	// habits are what the people of a group have in common.
	habits = fields.Any("session", "patience", "pause", "speed", "accuracy", "qualifications")

	// batchFields are what batches of all origins have in common.
	batchFields = fields.Any("tenant", "kind", "redundancy", "priority", "deadline", "production", "reward", "lease", "estimate",
		"lifetime", "requires")
)

// traceColumns are what a trace's file may say of a batch.
var traceColumns = []string{
	"tasks", "at", "name", "kind", "tenant", "redundancy", "priority", "deadline", "production", "reward",
	"lease", "estimate", "lifetime",
}

// poolSections are the fields of every kind of mapping in a file of pools that
// scenarios do not have; docs/pool-simulation.md explains each.
var poolSections = map[string]fields.Fields{
	"pools file": fields.Of(
		fields.Text("scenario").Needed("a name, like "+poolsFile.Begin), fields.Text("about"),
		fields.Duration(pools.MinStep, pools.MaxHorizon, "horizon").Needed("when a run ends, like horizon: 2h"),
		fields.Duration(pools.MinStep, pools.MaxHorizon, "step", "record"), fields.Uint64("seed"), fields.Count(1, maxReps, "repetitions"),
		fields.Scalar(yamlfile.WantMoney, parseSalary, "salary"), fields.Text("balance"), fields.Any("control", "people"),
		fields.List(pools.MaxPools, "pools").Needed("the applications, each with a name, its arrivals and its service"), fields.List(50, "compare"),
	),
	"a pool": fields.Of(
		fields.Text("name"), fields.List(10_000, "arrivals"), fields.Any("times"), fields.List(10_000, "bursts"),
		fields.Any("service"), startSize, fields.Any("training", "control"),
	),
	"phase": fields.Of(fields.Scalar(yamlfile.WantRate, parsePerSecond, "rate"), fields.Duration(0, pools.MaxHorizon, "from")),
	"bursts": fields.Of(
		fields.Duration(0, pools.MaxHorizon, "at"), fields.Count(1, pools.MaxBurst, "tasks").Needed("how many come at once, like tasks: 200")),
	"control": fields.Of(
		fields.Text("elasticity", "stability"), fields.Bool("balance"), fields.List(pool.MaxRules, "rules"), fields.Any("target"),
		fields.Duration(time.Nanosecond, pool.MaxWindow, "task_time"), fields.Count(0, pool.MaxPeople, "min", "max"),
		fields.Duration(0, pool.MaxWindow, "cooldown"), fields.Duration(time.Second, pool.MaxWindow, "window"), fields.Bool("advise"),
	),
	"rules": fields.Text("when", "do").Needed(`like - {when: "queue > 10", do: recruit 1}`),
	"target": fields.Of(
		fields.Scalar(wantEta, parseEta, "eta"), fields.Scalar(yamlfile.WantMoney, parseTargetSalary, "salary"),
		fields.Duration(time.Nanosecond, pool.MaxWindow, "wait"), fields.Share("tail"),
	),
	"people": fields.Of(
		fields.Share("abandon"), fields.Any("stay", "recruitment", "recruiting"), fields.Count(1, maxPeople, "outside"), fields.Any("prefers", "trace")),
	"its trace": fields.Of(fields.Any("file"), fields.Uint64("generated")),
	"compare":   fields.Of(fields.Text("name", "balance"), startSize, fields.Any("control", "pools")),
	"its pool":  fields.Of(startSize, fields.Any("control")),
}

var startSize = fields.Scalar("start is a number of people, optimal or mean", parseStart, "start")

// fieldsOf are the fields of a kind of mapping.
func fieldsOf(section string) fields.Fields {
	if known, ok := sections[section]; ok {
		return known
	}
	return poolSections[section]
}

// parsePerHour reads a rate of more than 0 as arrivals an hour.
func parsePerHour(text string) (float64, error) {
	f, err := yamlfile.Rate(text)
	switch {
	case err != nil:
	case !(f > 0):
		err = fmt.Errorf("%s: a rate is more than 0", yamlfile.Quote(text))
	case f > maxPerSecond:
		err = fmt.Errorf("%s is too fast (at most %d/s)", yamlfile.Quote(text), maxPerSecond)
	}
	return f * 3600, err
}

// parsePerSecond reads a rate, which may be 0.
func parsePerSecond(text string) (float64, error) {
	f, err := yamlfile.Rate(text)
	switch {
	case strings.TrimSpace(text) == "0":
		return 0, nil
	case err != nil:
	case f < 0:
		err = errors.New(yamlfile.Quote(text) + ": a rate is not less than 0")
	case f > pools.MaxRate:
		err = errors.New(yamlfile.Quote(text) + " is too fast (at most 100000/s)")
	}
	return f, err
}

// parseReward reads an amount of more than 0.
func parseReward(text string) (crowd.Money, error) {
	m, err := yamlfile.Money(text)
	if err == nil && m == 0 {
		err = errors.New("an answer costs more than 0")
	}
	return m, err
}

// parseSalary reads a pay for a minute of waiting.
func parseSalary(text string) (crowd.Money, error) {
	m, err := yamlfile.Money(text)
	switch {
	case err != nil:
		return 0, errors.New(yamlfile.Quote(text) + " is not a pay for a minute of waiting: " + yamlfile.WantMoney)
	case m > 1000*crowd.Unit:
		return 0, errors.New(yamlfile.Quote(text) + " is too much for a minute of waiting (at most 1000)")
	}
	return m, nil
}

// parseTargetSalary reads the salary of a target as a number of units of money.
func parseTargetSalary(text string) (float64, error) {
	m, err := parseSalary(text)
	if err == nil && m == 0 {
		err = errors.New("a target's salary is more than 0")
	}
	return float64(m) / float64(crowd.Unit), err
}

const wantEta = "eta is above 0 and below 1: what waiting weighs against its cost"

func parseEta(text string) (float64, error) {
	f, err := yamlfile.Number(text)
	if err == nil && !(f > 0 && f < 1) {
		err = errors.New(yamlfile.Quote(text) + ": " + wantEta)
	}
	return f, err
}

// parseStart reads a number of people, optimal or mean.
func parseStart(text string) (int, error) {
	switch strings.TrimSpace(text) {
	case "optimal":
		return pools.StartOptimal, nil
	case "mean":
		return pools.StartMean, nil
	}
	n, err := yamlfile.Count(text, 0, pools.MaxStart)
	if err != nil {
		err = errors.New(err.Error() + "; or optimal (c* of the first phase), or mean (c* of the mean load)")
	}
	return int(n), err
}
