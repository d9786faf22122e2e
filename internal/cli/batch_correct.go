package cli

import (
	"io"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/wire"
)

// ofTask names a task of a batch.
type ofTask struct {
	One
	Task crowd.TaskID `arg:"" placeholder:"TASK" help:"The task, such as t17.5."`
}

func (x *ofTask) check() error {
	if x.Task.Batch() != x.ID {
		return wrong("task", "%s is not a task of %s", x.Task, x.ID)
	}
	return nil
}

// BatchCorrect is "throng batch correct".
type BatchCorrect struct {
	ofTask
	Label    *string `arg:"" optional:"" help:"The right label, written as a known answer is in a file; where each field of the answers has its own label, the whole answer as JSON."`
	Note     string  `help:"Why, of up to 1000 characters."`
	Withdraw bool    `help:"Take the correction back: the label is again what the answers say."`
}

// Run corrects.
func (x *BatchCorrect) Run(c *Context, r *remote) error {
	if err := x.check(); err != nil {
		return err
	}
	switch {
	case x.Withdraw && (x.Label != nil || x.Note != ""):
		return wrong("withdraw", "stands alone, without a label and a note")
	case x.Withdraw:
		err := r.WithdrawCorrection(c.Ctx, x.Task)
		return r.tell(struct{}{}, err, "%s: its label is what the answers say\n", x.Task)
	case x.Label == nil:
		return wrong("label", "is missing: say what is right, or --withdraw")
	}
	done, err := r.Correct(c.Ctx, x.Task, *x.Label, x.Note)
	return r.tell(done, err, "%s: its label is %q (correction %d)\n", x.Task, done.Value, done.N)
}

// BatchCorrections is "throng batch corrections".
type BatchCorrections struct{ ofTask }

// Run lists them.
func (x *BatchCorrections) Run(c *Context, r *remote) error {
	if err := x.check(); err != nil {
		return err
	}
	list, err := r.Corrections(c.Ctx, x.Task)
	return r.print(list, err, func(w io.Writer) {
		if len(list.Corrections) == 0 {
			say(w, "nobody has corrected it\n")
		}
		for _, x := range list.Corrections {
			sayCorrection(w, &x)
		}
	})
}

func sayCorrection(w io.Writer, x *wire.Correction) {
	what := "withdrawn"
	if !x.Withdrawn {
		what = clean(x.Value)
	}
	say(w, "%d  %s  %s  by %s%s\n", x.N, stamp(x.At), what, clean(x.By), when(x.Review != 0, ", who reviewed it ("+x.Review.String()+")"))
	if x.Note != "" {
		say(w, "   %s\n", clean(x.Note))
	}
}
