package cli

import (
	"os"
	"strings"

	"github.com/throng-dev/throng/internal/scenario"
)

// Sim is "throng sim": the simulated world.
type Sim struct {
	Run   SimRun   `cmd:"" help:"Run a scenario under one or more policies, and compare them."`
	Check SimCheck `cmd:"" help:"Say what is wrong with a scenario file, without running it."`
	Soak  SimSoak  `cmd:"" help:"Look for worlds that break something."`
	Fit   SimFit   `cmd:"" help:"Calibrate the simulated crowd on the log of a real one."`
}

// splitPolicies takes a list of policies apart at the commas that are not
// within parentheses: wcfs(fs,k=3),dafs is two.
func splitPolicies(text string) []string {
	var list []string
	depth, from := 0, 0
	for i, c := range text {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth <= 0:
			list = append(list, strings.TrimSpace(text[from:i]))
			from = i + 1
		}
	}
	return append(list, strings.TrimSpace(text[from:]))
}

// loadScenario reads a scenario file and what it names, and returns its text as
// well.
func loadScenario(name string) (*scenario.Scenario, []byte, error) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return nil, nil, wrong("file", "%s is a folder", name)
	}
	return scenario.Load(name)
}
