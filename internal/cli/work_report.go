package cli

import (
	"cmp"
	"io"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/wire"
)

// report gives the task back because something is wrong with it.
func (w *working) report(what string) error {
	reported := w.held.Assignment
	var next *wire.Work
	err := w.outage.ask(w.ctx, func() (err error) {
		next, err = w.Report(w.ctx, reported, what, true, 0)
		return err
	})
	if crowd.CodeOf(err) == crowd.Invalid {
		w.event("refused", refused(err), "%s\n", err)
		return errSkipped
	}
	if err != nil {
		return err
	}
	w.held = next
	w.event("reported", reported, "reported: thank you\n")
	if next != nil {
		w.show()
	}
	return errSkipped
}

// WorkerReports is "throng worker reports".
type WorkerReports struct{ Remote }

// Run shows them.
func (x *WorkerReports) Run(c *Context, r *remote) error {
	list, err := r.OwnReports(c.Ctx)
	return r.print(wire.OwnReports{Reports: list}, err, func(w io.Writer) {
		if len(list) == 0 {
			say(w, "you have not reported a task\n")
		}
		for _, x := range list {
			say(w, "%s  %s  %s\n", x.Task, stamp(x.At), clean(x.Name))
			sayReport(w, x.Text, x.Reply, x.RepliedAt)
		}
	})
}

// sayReport says what somebody reported, and what was answered.
func sayReport(w io.Writer, text, reply string, at time.Time) {
	say(w, "  %s\n", cmp.Or(clean(text), "(deleted)"))
	if !at.IsZero() {
		say(w, "  answered %s: %s\n", stamp(at), cmp.Or(clean(reply), "(deleted)"))
	}
}
