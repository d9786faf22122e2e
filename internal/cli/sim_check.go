package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/throng-dev/throng/internal/kit/format"
)

// SimCheck is "throng sim check".
type SimCheck struct {
	File string `arg:"" help:"The scenario, a YAML file; - for standard input."`
	Output
}

type checked struct {
	Errors   []checkedError `json:"errors"`
	Scenario string         `json:"scenario,omitempty"`
	Policies []string       `json:"policies,omitempty"`
}

type checkedError struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Message string `json:"message"`
}

// Run checks the file.
func (s *SimCheck) Run(c *Context) error {
	sc, _, err := loadScenario(c, s.File)
	if bad := placed(err); len(bad) > 0 && s.JSON {
		out := checked{}
		for _, e := range bad {
			out.Errors = append(out.Errors, checkedError{e.File, e.Line, e.Column, e.Message})
		}
		return tellAs(c, out, err)
	}
	if err != nil {
		return err
	}
	return s.print(c, checked{[]checkedError{}, sc.Name, sc.Policies}, func(w io.Writer) {
		say(w, "%s\n", clean(fmt.Sprintf("%s is in order: %s, %s, %s, policies %s", s.File, sc.Name,
			format.Count(sc.Reps, "repetition"), format.Count(len(sc.Expect), "expectation"), strings.Join(sc.Policies, ", "))))
	})
}
