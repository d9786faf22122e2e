package scenario

import "slices"

// sections are the fields of every kind of mapping in a file, by the name of
// the section; docs/scenarios.md explains each. What is not here is refused.
var sections = map[string][]string{
	"scenario": {
		"scenario", "about", "horizon", "seed", "repetitions", "policies", "tenants", "kinds", "crowd",
		"batches", "trace", "flows", "faults", "classes", "sweep", "expect",
	},
	"tenants": {"name", "weight"},
	"kinds": {
		"name", "service", "switch", "learning", "skip", "return", "vanish", "silent", "give_up_after",
		"answers", "accuracy", "confusion",
	},
	"switch":    {"factor", "time"},
	"crowd":     slices.Concat([]string{"name", "arrive"}, habits),
	"arrive":    {"count", "at", "rate", "from", "until", "times", "band"},
	"times":     {"file", "column", "where"},
	"band":      {"min", "max", "rate"},
	"batches":   slices.Concat([]string{"name", "tasks", "at"}, batchFields),
	"trace":     slices.Concat([]string{"name", "file", "columns", "where", "kinds", "tenants"}, batchFields),
	"columns":   traceColumns,
	"flows":     slices.Concat([]string{"name", "arrive", "size", "deadlines"}, batchFields),
	"deadlines": {"share", "alpha", "workers", "service", "form"},
	"redundancy": {
		"count", "agree", "of",
	},
	"faults":       {"at", "vanish", "policy", "stop", "burst", "workers"},
	"burst":        slices.Concat([]string{"name", "batches", "size"}, batchFields),
	"workers":      slices.Concat([]string{"name", "count"}, habits),
	"classes":      {"name", "most"},
	"sweep":        {"alpha"},
	"expect":       {"that", "of", "batch", "flow", "tenant", "kind", "class", "alpha", "from", "to", "is"},
	"distribution": {"exponential", "uniform", "lognormal", "empirical", "zipf", "max"},
	"uniform":      {"min", "max"},
	"lognormal":    {"mean", "sd", "median", "sigma", "mode"},
	"empirical":    {"file", "column", "where"},
}

// habits are what the people of a group have in common.
var habits = []string{"session", "patience", "pause", "speed", "accuracy", "qualifications"}

// batchFields are what batches of all origins have in common.
var batchFields = []string{
	"tenant", "kind", "redundancy", "priority", "deadline", "production", "reward", "lease", "estimate",
	"lifetime", "requires",
}

// traceColumns are what a trace's file may say of a batch.
var traceColumns = []string{
	"at", "tasks", "name", "kind", "tenant", "redundancy", "priority", "deadline", "production", "reward",
	"lease", "estimate", "lifetime",
}
