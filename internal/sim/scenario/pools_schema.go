package scenario

// poolSections are the fields of every kind of mapping in a file of pools that
// scenarios do not have; docs/pool-simulation.md explains each.
var poolSections = map[string][]string{
	"pools file": {"scenario", "about", "horizon", "step", "record", "seed", "repetitions", "salary", "balance", "control", "people", "pools", "compare"},
	"a pool":     {"name", "arrivals", "times", "bursts", "service", "start", "training", "control"},
	"phase":      {"rate", "from"},
	"bursts":     {"at", "tasks"},
	"control":    {"elasticity", "stability", "balance", "rules", "target", "task_time", "min", "max", "cooldown", "window", "advise"},
	"rules":      {"when", "do"},
	"target":     {"eta", "salary", "wait", "tail"},
	"people":     {"abandon", "stay", "recruitment", "recruiting", "outside", "prefers", "trace"},
	"its trace":  {"file", "generated"},
	"compare":    {"name", "balance", "start", "control", "pools"},
	"its pool":   {"start", "control"},
}

// fieldsOf are the fields of a kind of mapping.
func fieldsOf(section string) []string {
	if known, ok := sections[section]; ok {
		return known
	}
	return poolSections[section]
}
