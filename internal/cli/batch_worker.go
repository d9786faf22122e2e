package cli

import (
	"cmp"
	"fmt"
	"io"
	"time"

	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/wire"
)

// BatchWorker is "throng batch worker".
type BatchWorker struct {
	One
	Worker string `arg:"" placeholder:"WORKER" help:"The tenant's pseudonym of the worker, such as w_qk3ybd5nn2l7xw6dlbrnqhzcaq, or their id if you may see who workers are."`
	Wrong  bool   `help:"List only answers that are not right."`
	Limit  int    `default:"20" help:"How many of the latest answers to list, at most 10000."`
	Method string `placeholder:"NAME" help:"How labels are made: a method that fits the batch's kind, such as majority or robust (see throng label); default: what fits best."`
}

// The bounds of what is listed.
const (
	workerPage    = 500 // answers that are asked for at a time
	workerAnswers = 10_000
	pointsShown   = 10
)

// Run shows it.
func (x *BatchWorker) Run(c *Context, r *remote) error {
	if x.Limit < 1 || x.Limit > workerAnswers {
		return wrong("limit", "must be from 1 to %d, not %d", workerAnswers, x.Limit)
	}
	q := client.WorkerQuery{Method: x.Method, Wrong: x.Wrong, Limit: min(x.Limit, workerPage)}
	v, err := r.BatchWorker(c.Ctx, x.ID, x.Worker, q)
	for err == nil && v.Next != "" && len(v.Answers) < x.Limit {
		q.Cursor, q.Limit = v.Next, min(x.Limit-len(v.Answers), workerPage)
		var more wire.BatchWorker
		more, err = r.BatchWorker(c.Ctx, x.ID, x.Worker, q)
		v.Answers, v.Next = append(v.Answers, more.Answers...), more.Next
	}
	return r.print(v, err, func(w io.Writer) { showWorker(w, &v, x.Wrong) })
}

// actedAs says what each kind of action is to whom it is on.
var actedAs = map[string]string{string(engine.Warn): "warned", string(engine.PausePerson): "paused", string(engine.Train): "to be trained", string(engine.LowerWeight): "given less weight"}

// weighing says what answers count, if it is less than 1.
func weighing(before string, weight float64) string {
	return when(weight > 0, before+format.Number(weight))
}

// showWorker prints a worker's part in a batch for people.
func showWorker(w io.Writer, v *wire.BatchWorker, wrong bool) {
	right, skill, agreement, known, training, typical := "not known yet", "", "", "", "", ""
	if v.Compared > 0 {
		right = fmt.Sprintf("%d of %s that can be compared", v.Right, format.Count(v.Compared, "answer"))
	}
	if q := v.Quality; q != nil {
		skill, agreement = fmt.Sprintf("%.2f (%.2f to %.2f)", q.Skill, q.SkillLow, q.SkillHigh), fixed(4, q.Agreement)
		training = when(q.Taught > 0, fmt.Sprintf("%d of %d right", q.TaughtRight, q.Taught))
		known = when(q.GoldAnswers > 0, fmt.Sprintf("%d of %d right", q.GoldRight, q.GoldAnswers))
	}
	if v.Typical != nil {
		typical = format.Duration(time.Duration(*v.Typical * float64(time.Second)))
	}
	pairs(w, "worker", calledBy(v.Worker, clean(v.WorkerName))+when(v.Blocked, ", blocked")+when(v.Paused > 0, fmt.Sprintf(", paused by action %d", v.Paused))+weighing(", answers count ", v.Weight),
		"answers", fmt.Sprintf("%d, of which %d count", v.Given, v.Counted)+when(v.Late > 0, fmt.Sprintf(" and %d came late", v.Late))+when(v.Out > 0, fmt.Sprintf(", %d disregarded", v.Out)), "right", right, "skill", skill, "agreement", agreement, "known answers", known, "training", training,
		"an answer takes", typical, "paid", v.PaidMicros, "for the rules", engine.Figures(v.Figures), "labels by", v.Method+", as of "+stamp(v.At))
	for _, a := range v.Actions {
		say(w, "%s  %s%s by rule %d, %s%s\n", stamp(a.At), actedAs[a.Kind], weighing(": ", a.Weight), a.Rule, clean(a.When), when(!a.UndoneAt.IsZero(), "; undone "+stamp(a.UndoneAt)))
	}
	if len(v.Course) > 1 {
		say(w, "\n")
		writeTable(w, spread(v.Course, pointsShown), "AFTER ANSWERS|RIGHT|RIGHT OF THE LAST 20|KNOWN ANSWERS|DRIFT", func(p wire.WorkerPoint) []any {
			return []any{p.Answers, fmt.Sprintf("%.2f (%.2f to %.2f)", p.Right, p.RightLow, p.RightHigh), fmt.Sprintf("%.2f (%.2f to %.2f)", p.Recent, p.RecentLow, p.RecentHigh), p.Checks, fixed(2, p.Drift)}
		})
	}
	say(w, "\n%s\n", when(wrong, "wrong: ")+format.Count(v.Matching, "answer")+when(len(v.Answers) < v.Matching, fmt.Sprintf(", of which these are the latest %d", len(v.Answers))))
	if len(v.Answers) == 0 {
		return
	}
	writeTable(w, v.Answers, "TASK|ANSWER|LABEL|KNOWN|RIGHT|SECONDS|WHEN", func(a wire.WorkerAnswer) []any {
		label, is := "-", "-"
		if a.Label != nil {
			label = format.Clip(clean(a.Label.Value), 30)
		}
		switch {
		case a.Right != nil:
			is = map[bool]string{true: "yes", false: "no"}[*a.Right]
		case !a.OutAt.IsZero():
			is = "disregarded"
		case a.Late:
			is = "late"
		case a.Training:
			is = "training"
		}
		return []any{a.Task, cmp.Or(format.Clip(clean(a.Said), 30), "-"), label + when(a.Corrected, " (corrected)"), cmp.Or(format.Clip(clean(a.Known), 30), "-"), is, fixed(1, a.Seconds), stamp(a.AnsweredAt)}
	})
}

// spread returns n of a list, or all if there are fewer, evenly and with the last one. n must be 1 or more.
func spread[T any](list []T, n int) []T {
	if len(list) <= n {
		return list
	}
	some := make([]T, n)
	for i := range some {
		some[i] = list[(i+1)*len(list)/n-1]
	}
	return some
}
