package scenario

import (
	"errors"
	"fmt"
	"math"
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
		text.As("scenario").Needed("a name, like "+scenarioFile.Begin), text.As("about"),
		fields.Duration(time.Nanosecond, maxDuration).As("horizon"), seed.As("seed"), fields.Count(1, maxReps).As("repetitions"),
		fields.Any.As("gate"), listOf(50).As("policies"), listOf(1000).As("tenants"),
		listOf(1000).As("kinds").Needed("what people do, like kinds: [{name: tag, service: 11s}]"),
		listOf(1000).As("crowd"), listOf(100_000).As("batches"), fields.Any.As("trace"),
		listOf(1000).As("flows", "faults"), listOf(100).As("classes"), fields.Any.As("sweep"), listOf(500).As("expect"),
	),
	"gate":    fields.Of(fields.Count(1, maxPeople).As("min", "max")),
	"tenants": fields.Of(text.As("name"), fields.Number(engine.MinPriority, engine.MaxPriority).As("weight")),
	"kinds": fields.Of(
		text.As("name"),
		fields.Any.As("service").Needed("how long an answer takes, like service: 11s or service: {exponential: 11s}"),
		fields.Any.As("switch"), fields.Number(0, 5).As("learning"), fields.Share.As("skip", "return", "vanish", "silent"),
		fields.Any.As("give_up_after"), listOf(maxOptions).As("answers"), fields.Share.As("accuracy"), listOf(maxOptions).As("confusion"),
	),
	"switch": fields.Of(fields.Number(0.001, 1000).As("factor"), fields.Any.As("time")),
	"crowd": fields.Of(
		text.As("name"), fields.Any.As("arrive").Needed("how people come, like arrive: {count: 20} or arrive: {rate: 30/h}"), habits),
	"arrive": fields.Of(
		fields.Any.As("count"), fields.Duration(0, maxDuration).As("at"), fields.Scalar(yamlfile.WantRate, parsePerHour).As("rate"),
		fields.Duration(0, maxDuration).As("from"), fields.Duration(time.Nanosecond, maxDuration).As("until"), fields.Any.As("every", "times", "band"),
	),
	"times": columnOfFile,
	"band": fields.Of(fields.Count(1, maxPeople).As("min", "max"), fields.Scalar(yamlfile.WantRate, parsePerHour).As("rate")).
		Needed("like band: {min: 20, max: 25, rate: 2/m}"),
	"batches": fields.Of(text.As("name"), fields.Any.As("tasks").Needed("how many, like tasks: 200"), fields.Any.As("at"), batchFields),
	"trace": fields.Of(
		text.As("name"), fields.Any.As("file").Needed("a CSV file, like file: trace.csv"),
		fields.Any.As("columns").Needed("which column says what, like columns: {at: start_s, tasks: size}"),
		fields.Any.As("where", "kinds", "tenants"), batchFields,
	),
	"columns": fields.Of(fields.Any.As("tasks").Needed("the column with the number of tasks"), fields.Any.As(traceColumns[1:]...)),
	"flows": fields.Of(
		text.As("name"), fields.Any.As("arrive").Needed("when they come, like arrive: {rate: 80/m, until: 20m}"),
		sizeOfBatch, fields.Any.As("deadlines"), batchFields,
	),
	"deadlines": fields.Of(
		fields.Share.As("share"), fields.Number(0, maxAlpha).As("alpha"), fields.Count(1, maxPeople).As("workers"), fields.Any.As("service"), text.As("form")),
	"redundancy": fields.Of(fields.Count(1, label.MaxAnswers).As("count", "agree", "of", "min", "at_most"), fields.Number(label.LeastConfidence, label.MostConfidence).As("until")),
	"faults": fields.Of(
		fields.Duration(0, maxDuration).As("at").Needed("when, like at: 20m"), fields.Share.As("vanish"), fields.Any.As("policy"),
		fields.Duration(time.Millisecond, maxDuration).As("stop"), fields.Any.As("burst", "workers"),
	),
	"burst": fields.Of(
		text.As("name"), fields.Count(1, maxBatches).As("batches").Needed("how many come, like batches: 50"), sizeOfBatch, batchFields),
	"workers": fields.Of(text.As("name"), fields.Count(1, maxPeople).As("count").Needed("how many come, like count: 20"), habits),
	"classes": fields.Of(text.As("name"), fields.Count(1, crowd.MaxInBatch).As("most")),
	"sweep":   listOf(100).As("alpha").Needed("the values to try, like alpha: [0, 0.2, 0.4]"),
	"expect": fields.Of(
		fields.Any.As("that", "is").Needed("like {that: deadline_success_ratio, of: edf, is: above 0.5}"),
		fields.Either(text, listOf(50)).As("of"), fields.Any.As("batch", "flow", "tenant", "kind", "class"), fields.Number(0, maxAlpha).As("alpha"),
		fields.Duration(0, maxDuration).As("from"), fields.Duration(time.Nanosecond, maxDuration).As("to"),
	),
	"distribution": fields.Of(
		fields.Any.As("exponential", "uniform", "lognormal", "empirical"), fields.Number(1.01, 20).As("zipf"), fields.Count(1, maxSize).As("max")),
	"uniform":   fields.Any.As("min", "max").Needed("like uniform: {min: 5s, max: 15s}"),
	"lognormal": fields.Of(fields.Any.As("mean", "sd", "median"), fields.Number(0, 5).As("sigma"), fields.Any.As("mode")),
	"empirical": columnOfFile,
}

var (
	// text is one that is not empty, without the white space around it.
	text = fields.Scalar("a text is wanted", func(text string) (string, error) {
		if text = strings.TrimSpace(text); text == "" {
			return "", errors.New("this text is empty")
		}
		return text, nil
	})
	seed = fields.Scalar(yamlfile.WantCount, func(text string) (uint64, error) { return yamlfile.Count(text, 0, math.MaxUint64) })

	// columnOfFile is where a table has what the scenario does not say itself.
	columnOfFile = fields.Of(fields.Any.As("file", "column").Needed("like {file: durations.csv, column: seconds}"), fields.Any.As("where"))
	sizeOfBatch  = fields.Any.As("size").Needed("tasks in a batch, like size: 50 or size: {zipf: 2}")

	// habits are what the people of a group have in common.
	habits = fields.Any.As("session", "patience", "pause", "speed", "accuracy", "qualifications")

	// batchFields are what batches of all origins have in common.
	batchFields = fields.Any.As("tenant", "kind", "redundancy", "priority", "deadline", "production", "reward", "lease", "grace", "estimate", "lifetime", "per_worker", "enough", "known", "checks", "requires")
)

// traceColumns are what a trace's file may say of a batch.
var traceColumns = []string{
	"tasks", "at", "name", "kind", "tenant", "redundancy", "priority", "deadline", "production", "reward",
	"lease", "grace", "estimate", "lifetime", "per_worker", "enough", "known", "checks",
}

// poolSections are the fields of every kind of mapping in a file of pools that
// scenarios do not have; docs/pool-simulation.md explains each.
var poolSections = map[string]fields.Fields{
	"pools file": fields.Of(
		text.As("scenario").Needed("a name, like "+poolsFile.Begin), text.As("about"),
		fields.Duration(pools.MinStep, pools.MaxHorizon).As("horizon").Needed("when a run ends, like horizon: 2h"),
		fields.Duration(pools.MinStep, pools.MaxHorizon).As("step", "record"), seed.As("seed"), fields.Count(1, maxReps).As("repetitions"),
		fields.Scalar(yamlfile.WantMoney, parseSalary).As("salary"), text.As("balance"), fields.Bool.As("lend"), fields.Any.As("control", "people"),
		listOf(pools.MaxPools).As("pools").Needed("the applications, each with a name, its arrivals and its service"), listOf(50).As("compare"),
	),
	"a pool": fields.Of(
		text.As("name"), fields.Either(perSecond, listOf(10_000)).As("arrivals"), fields.Any.As("times"), listOf(10_000).As("bursts"),
		fields.Any.As("service"), startSize, fields.Any.As("training", "control"),
	),
	"phase": fields.Of(perSecond.As("rate"), fields.Duration(0, pools.MaxHorizon).As("from")),
	"bursts": fields.Of(
		fields.Duration(0, pools.MaxHorizon).As("at"), fields.Count(1, pools.MaxBurst).As("tasks").Needed("how many come at once, like tasks: 200")),
	"control": fields.Of(
		text.As("elasticity", "stability", "balancer"), fields.Bool.As("balance"), listOf(pool.MaxRules).As("rules"), fields.Any.As("target"),
		fields.Duration(time.Nanosecond, pool.MaxWindow).As("task_time"), fields.Count(0, pool.MaxPeople).As("min", "max"),
		fields.Duration(0, pool.MaxWindow).As("cooldown"), fields.Duration(time.Second, pool.MaxWindow).As("window"), fields.Bool.As("advise"), fields.Share.As("least_preference"),
	),
	"rules": text.As("when", "do").Needed(`like - {when: "queue > 10", do: recruit 1}`),
	"target": fields.Of(
		fields.Scalar(wantEta, parseEta).As("eta"), fields.Scalar(yamlfile.WantMoney, parseTargetSalary).As("salary"),
		fields.Duration(time.Nanosecond, pool.MaxWindow).As("wait"), fields.Share.As("tail"),
	),
	"people": fields.Of(
		fields.Share.As("abandon"), fields.Any.As("stay", "recruitment", "recruiting"), fields.Count(1, maxPeople).As("outside"), fields.Any.As("prefers", "trace")),
	"its trace": fields.Of(fields.Any.As("file"), seed.As("generated")),
	"compare":   fields.Of(text.As("name", "balance"), fields.Bool.As("lend"), startSize, fields.Any.As("control", "pools")),
	"its pool":  fields.Of(startSize, fields.Any.As("control")),
}

// listOf makes a list whose items are read one by one.
func listOf(most int) *fields.Type { return fields.List(1, most, fields.Any) }

var perSecond = fields.Scalar(yamlfile.WantRate, parsePerSecond)

var startSize = fields.Scalar("start is a number of people, optimal or mean", parseStart).As("start")

// fieldsOf are the fields of a kind of mapping.
func fieldsOf(section string) fields.Fields {
	for _, of := range []map[string]fields.Fields{sections, poolSections} {
		if known, ok := of[section]; ok {
			return known
		}
	}
	return modelSections[section]
}

// parsePerHour reads a rate of more than 0 as arrivals an hour.
func parsePerHour(text string) (float64, error) {
	f, err := yamlfile.Rate(text)
	switch {
	case err != nil:
	case !(f > 0):
		err = fmt.Errorf("%s: a rate is more than 0, like 30/h", yamlfile.Quote(text))
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
