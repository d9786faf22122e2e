package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/wire"
)

// WorkerRevise is "throng worker revise".
type WorkerRevise struct {
	Assignment crowd.AssignmentID `arg:"" placeholder:"ASSIGNMENT" help:"Which answer, such as a17.5."`
	Answer     string             `arg:"" optional:"" placeholder:"ANSWER" help:"What you answer now: as JSON, or the text of a single control. Left out: only show what you answered, and until when you may revise it."`
	Remote
}

// Run revises the answer, or shows it.
func (x *WorkerRevise) Run(c *Context, r *remote) error {
	if x.Answer == "" {
		v, err := r.Revisable(c.Ctx, x.Assignment)
		return r.print(v, err, func(w io.Writer) {
			say(w, "%s  %s  %s\n", v.Assignment, v.Task, clean(v.Name))
			for i := range v.Values.Columns {
				say(w, "%s: %s\n", clean(v.Values.Columns[i]), clean(v.Values.Cells[i]))
			}
			say(w, "you answered %s%s; you may revise it until %s\n", v.Answer, times(v.Revised), stamp(v.ReviseUntil))
		})
	}
	answer := json.RawMessage(x.Answer)
	if !json.Valid(answer) {
		text, err := json.Marshal(x.Answer)
		if err != nil {
			return err
		}
		answer = text
	}
	done, err := r.Revise(c.Ctx, x.Assignment, answer)
	return r.print(done, err, func(w io.Writer) { sayRevised(w, &done) })
}

func sayRevised(w io.Writer, v *wire.Revised) {
	say(w, "%s is %s%s\n", v.Assignment, v.Answer, times(v.Revised))
}

// times says how often an answer was revised.
func times(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return ", revised once"
	}
	return fmt.Sprintf(", revised %d of %d times", n, engine.MaxRevisions)
}
