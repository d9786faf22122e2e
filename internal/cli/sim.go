package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/textform"
	"github.com/throng-dev/throng/internal/sim/report"
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

// Runs is how a file of a scenario or of pools is simulated. The variables are what
// the help calls the file, and how often --check looks.
type Runs struct {
	Reps  *int       `help:"Repetitions; default: the ${file}'s." placeholder:"N"`
	Seed  *uint64    `help:"Seed of all that is random; default: the ${file}'s." placeholder:"S"`
	Out   *newFolder `help:"New folder for the report, or an old report to replace." placeholder:"DIR"`
	Check bool       `help:"Verify after every step all that must hold; slow."`
}

// check returns the number of repetitions, 0 for the file's, and the folder for the
// report, "" for none.
func (r *Runs) check() (reps int, out string, err error) {
	if r.Reps != nil {
		if reps = *r.Reps; reps < 1 {
			return 0, "", wrong("reps", "must be at least 1, not %d", reps)
		}
	}
	if r.Out != nil {
		out = string(*r.Out)
		err = report.CheckDir(out)
	}
	return reps, out, err
}

var errInterrupted = errors.New("interrupted; nothing was written")

// simulate runs simulations with a progress bar, and returns how many seconds they
// took, too.
func simulate[R any](ctx context.Context, c *Context, what string, run func(progress func(done, total int)) (R, error)) (r R, seconds float64, err error) {
	show, finish := c.progress(what)
	// A run's garbage is a few megabytes: collecting it less often is a fifth of
	// the time.
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	start := now()
	r, err = run(show)
	finish()
	if err != nil && ctx.Err() != nil {
		err = errInterrupted
	}
	return r, now().Sub(start).Seconds(), err
}

// loadScenario reads a scenario and what it names, and returns its text as well.
func loadScenario(c *Context, name string) (*scenario.Scenario, []byte, error) {
	return loadFile(c, name, scenario.Load, scenario.Read)
}

// loadFile reads a file by its name, and - from standard input.
func loadFile[T any](c *Context, name string, load func(string) (*T, []byte, error), read func(string, io.Reader) (*T, []byte, error)) (*T, []byte, error) {
	if name == "-" {
		return read(name, c.Stdin)
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return nil, nil, wrong("file", "%s is a folder", name)
	}
	return load(name)
}
