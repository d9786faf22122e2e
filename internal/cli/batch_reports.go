package cli

import (
	"io"

	"github.com/throng-dev/throng/internal/wire"
)

// BatchReports is "throng batch reports".
type BatchReports struct{ One }

// Run shows them.
func (x *BatchReports) Run(c *Context, r *remote) error {
	all := []wire.Report{}
	for after, first := "", true; first || after != ""; first = false {
		page, err := r.Reports(c.Ctx, x.ID, after)
		if err != nil {
			return err
		}
		all, after = append(all, page.Reports...), page.Next
	}
	return r.print(wire.Reports{Reports: all}, nil, func(w io.Writer) {
		if len(all) == 0 {
			say(w, "nobody has reported a problem\n")
		}
		for _, x := range all {
			say(w, "%s  %s  %s\n", x.Task, stamp(x.At), calledBy(x.Worker, clean(x.WorkerName)))
			sayReport(w, x.Text, x.Reply, x.RepliedAt)
		}
	})
}

// BatchReply is "throng batch reply".
type BatchReply struct {
	ofTask
	Text string `arg:"" help:"The answer, of up to 1000 characters."`
}

// Run answers.
func (x *BatchReply) Run(c *Context, r *remote) error {
	if err := x.check(); err != nil {
		return err
	}
	err := r.Reply(c.Ctx, x.Task, x.Text)
	return r.tell(wire.NewReply{Text: x.Text}, err, "%s: answered, for whoever gets it later\n", x.Task)
}
