package cli

import (
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/textform"
	"github.com/throng-dev/throng/internal/sim/scenario"
)

// Sim is "throng sim": the simulated world.
type Sim struct {
	Run   SimRun   `cmd:"" help:"Run a scenario under one or more policies, and compare them."`
	Check SimCheck `cmd:"" help:"Say what is wrong with a scenario file, without running it."`
	Soak  SimSoak  `cmd:"" help:"Look for worlds that break something."`
	Fit   SimFit   `cmd:"" help:"Calibrate the simulated crowd on the log of a real one."`
}

// givenPolicies are the policies of a flag; nil where it was not given.
func givenPolicies(text *string) ([]string, error) {
	if text == nil {
		return nil, nil
	}
	if strings.TrimSpace(*text) == "" {
		return nil, wrong("policy", "is empty: name one or more, separated by commas, or leave it out")
	}
	list := textform.Split(*text)
	if slices.Contains(list, "") {
		return nil, wrong("policy", "%q has a comma without a policy next to it", *text)
	}
	return list, nil
}

// newFolder is a path of something to write. An empty one is a mistake, most
// often a variable of the shell that was never set.
type newFolder string

func (f *newFolder) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		return crowd.Errorf(crowd.Invalid, "the name of a folder is empty")
	}
	*f = newFolder(kong.ExpandPath(string(text)))
	return nil
}

// loadScenario reads a scenario file, - for standard input, and what it names,
// and returns its text as well.
func loadScenario(c *Context, name string) (*scenario.Scenario, []byte, error) {
	if name == "-" {
		return scenario.Read(name, c.Stdin)
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return nil, nil, wrong("file", "%s is a folder", name)
	}
	return scenario.Load(name)
}
