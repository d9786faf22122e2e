package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
)

// SimCheck is "throng sim check".
type SimCheck struct {
	File string `arg:"" help:"The scenario, a YAML file; - for standard input."`
	Output
}

type checked struct {
	Errors   yamlfile.Problems `json:"errors"`
	Scenario string            `json:"scenario,omitempty"`
	Policies []string          `json:"policies,omitempty"`
}

// Run checks the file.
func (s *SimCheck) Run(c *Context) error {
	sc, _, err := loadScenario(c, s.File)
	if bad := placed(err); len(bad) > 0 && s.JSON {
		return tellAs(c, checked{Errors: bad}, err)
	}
	if err != nil {
		return err
	}
	return s.print(c, checked{yamlfile.Problems{}, sc.Name, sc.Policies}, func(w io.Writer) {
		say(w, "%s\n", clean(fmt.Sprintf("%s is in order: %s, %s, %s, policies %s", s.File, sc.Name,
			format.Count(sc.Reps, "repetition"), format.Count(len(sc.Expect), "expectation"), strings.Join(sc.Policies, ", "))))
	})
}
