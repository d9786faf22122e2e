package cli

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/wire"
)

// Batch is "throng batch".
type Batch struct {
	Create BatchCreate `cmd:"" help:"Make a batch of a file of tasks."`
	List   BatchList   `cmd:"" help:"List batches, newest first."`
	Show   BatchShow   `cmd:"" help:"Show a batch as it stands."`
	Watch  BatchWatch  `cmd:"" help:"Follow a batch until it has ended."`
	Launch BatchLaunch `cmd:"" help:"Start to hand a draft out."`
	Pause  BatchMove   `cmd:"" help:"Hand out nothing more for now."`
	Resume BatchMove   `cmd:"" help:"Hand out again."`
	End    BatchMove   `cmd:"" help:"End early, with the labels that there are."`
	Cancel BatchMove   `cmd:"" help:"Give a batch up, running or draft. What a draft has, its tasks and its question, is deleted with it."`
	Edit   BatchEdit   `cmd:"" help:"Change price, redundancy, priority, deadline, whether it is production, or what is enough, of a running batch; emergency stop."`
	TopUp  BatchTopUp  `cmd:"" help:"Add to the budget of a running batch."`

	AddTasks   BatchAddTasks   `cmd:"" help:"Add the tasks of a file to a running batch."`
	RemoveTask BatchRemoveTask `cmd:"" help:"Take tasks out of a running batch."`

	Reports BatchReports `cmd:"" help:"Show what workers said is wrong with tasks."`
	Reply   BatchReply   `cmd:"" help:"Answer the reports of a task, for whoever gets it later."`

	Why         BatchWhy         `cmd:"" help:"Say why tasks are waiting."`
	Holding     BatchHolding     `cmd:"" help:"Say who holds what."`
	Results     BatchResults     `cmd:"" help:"Download answers, or tasks with their labels; all, or those that meet a filter."`
	Labels      BatchLabels      `cmd:"" help:"Download the label of every task."`
	Correct     BatchCorrect     `cmd:"" help:"Say what the label of a task is, whatever was answered."`
	Corrections BatchCorrections `cmd:"" help:"List the corrections of a task's label."`
	Quality     BatchQuality     `cmd:"" help:"Show agreement, accuracy, and how the workers do."`
	Worker      BatchWorker      `cmd:"" help:"Show what one worker did in a batch: figures, how they went, and answers."`
	SendBack    BatchSendBack    `cmd:"" help:"Take one answer out of a running batch, and have its task asked again, with a comment."`
	Disregard   BatchDisregard   `cmd:"" help:"Take what one worker answered out of a running batch, and have it asked again."`
	Pay         BatchPay         `cmd:"" help:"Approve or refuse pay that awaits approval."`
	Appeals     BatchAppeals     `cmd:"" help:"Decide appeals against refused pay."`
	Actions     BatchActions     `cmd:"" help:"Show what the quality rules of a batch did."`
	Undo        BatchUndo        `cmd:"" help:"Undo what a quality rule did: let somebody back in."`
}

// One is the batch that a command is about.
type One struct {
	ID crowd.BatchID `arg:"" placeholder:"BATCH" help:"The batch, such as b17."`
	Remote
}

// batchView is a batch with what became of its upload.
type batchView struct {
	wire.Batch
	Upload *wire.Uploaded `json:"upload,omitempty"`
}

// show prints a batch for people.
func (v batchView) show(w io.Writer) {
	rule, asks, ends := "", "", ""
	if v.Enough != nil {
		ends = engine.Enough(*v.Enough).String()
	}
	checks := ""
	if v.Checks != nil {
		checks = engine.Checks(*v.Checks).String() + when(v.Known > 0, ": "+format.Count(v.Known, "task")+" with a known answer")
	}
	if v.Redundancy != nil {
		rule = v.Redundancy.String()
	}
	for _, q := range v.Qualifications {
		asks += fmt.Sprintf("%s>=%d ", q.Name, q.Min)
	}
	pairs(w,
		"batch", v.ID.String()+" "+v.Name, "state", string(v.State)+when(v.Stopped, ", emergency stop"), "tenant", v.Tenant, "pool", v.Pool,
		"kind", strings.Join(slices.DeleteFunc([]string{when(v.Training, "training"), when(v.Production, "production")}, func(s string) bool { return s == "" }), ", "), "tasks", fmt.Sprintf("%d, %d with a label", v.Tasks, v.Labelled)+when(v.Removed > 0, fmt.Sprintf(", %d taken out", v.Removed))+when(v.TakenOver > 0, fmt.Sprintf("; %s more from earlier runs", format.Count(v.TakenOver, "label"))),
		"answers", fmt.Sprintf("%d of %d, %d in hand%s, %d waiting", v.Completed, v.Planned, val(v.Running)-v.Provisional, when(v.Provisional > 0, fmt.Sprintf(", %d that may be taken back", v.Provisional)), val(v.Waiting)),
		"waits because", when(val(v.Waiting) > 0 && v.State.Open(), withRemedy(v.ReasonText, v.ReasonRemedy)), "place in the queue", placeOf(v.Queue), "cannot finish", withRemedy(v.Short, v.Remedy), "redundancy", rule, "pays", v.RewardMicros,
		"checks", checks, "rules", strings.Join(lists.Map(v.Quality, func(r wire.QualityRule) string { return engine.QualityRule(r).String() }), "; "), "ends by itself at", ends, "reviews", reviewOf(v.Batch), "of one person", when(v.PerWorker > 0, format.Count(v.PerWorker, "answer")+" at most"), "not by people of", strings.Join(v.NotBy, ", "), "ended by itself at", v.HadEnough,
		"pay", approvalOf(v.Approval), "held", when(v.HeldMicros > 0, v.HeldMicros.String()+" of answers whose pay is not decided"), "refused", when(v.RefusedPay > 0, v.RefusedPay.String()),
		"spent", v.SpentMicros.String()+when(v.BudgetMicros > 0, " of "+v.BudgetMicros.String())+when(v.Spare > 0, fmt.Sprintf(", %s more than it can need", v.Spare)), "priority", v.Priority, "deadline", v.Deadline,
		"asks for", asks, "lease", time.Duration(v.LeaseSeconds)*time.Second, "grace", when(v.GraceSeconds > 0, (time.Duration(v.GraceSeconds)*time.Second).String()), "revise", when(v.ReviseSeconds > 0, (time.Duration(v.ReviseSeconds)*time.Second).String()), "created", v.CreatedAt, "launched", v.LaunchedAt, "ended", v.EndedAt)
}

// approvalOf is how the pay of a batch is approved.
func approvalOf(x *wire.Approval) string {
	if x == nil {
		return ""
	}
	return "is approved, or paid after " + format.Duration(time.Duration(x.WithinSeconds)*time.Second) + "; refusals may be appealed for " + format.Duration(time.Duration(x.AppealSeconds)*time.Second)
}

// reviewOf is how the labels of a batch are reviewed, or whose labels it reviews.
func reviewOf(b wire.Batch) string {
	switch x := b.Review; {
	case b.ReviewOf != 0:
		return "labels of " + b.ReviewOf.String()
	case x == nil:
		return ""
	default:
		text := engine.Review{Undecided: x.Undecided, Confidence: x.Confidence, Share: x.Share, NewWorkers: x.NewWorkers}.String() + when(x.Blind, ", blind") + ", pays " + x.RewardMicros.String()
		if b.ReviewedIn != 0 {
			text += ", in " + b.ReviewedIn.String()
		}
		for _, state := range []string{"waiting", "accepted", "corrected", "kept", "sent-back", "dropped"} {
			text += when(b.Reviews[state] > 0, fmt.Sprintf(", %d %s", b.Reviews[state], state))
		}
		return text
	}
}

// placeOf is the place of a batch in its pool's queue.
func placeOf(q *wire.QueuePlace) string {
	if q == nil {
		return ""
	}
	return format.Place(q.Place, q.Of)
}

// BatchList is "throng batch list".
type BatchList struct {
	Tenant string `help:"Only of this tenant."`
	Remote
}

// Run lists the batches.
func (l *BatchList) Run(c *Context, r *remote) error {
	tenant, err := r.tenant(l.Tenant)
	if err != nil {
		return err
	}
	list, err := r.Batches(c.Ctx, tenant)
	return printTable(r, list, err, "ID|STATE|NAME|TENANT|TASKS|ANSWERS|DONE|PAYS|SPENT|DEADLINE", func(b wire.Batch) []any {
		return []any{b.ID, b.State, b.Name, b.Tenant, b.Tasks,
			fmt.Sprintf("%d/%d", b.Completed, b.Planned), format.Percent(float64(b.Labelled), float64(b.Wanted())), b.RewardMicros, b.SpentMicros, b.Deadline}
	})
}

// BatchShow is "throng batch show".
type BatchShow struct{ One }

// Run shows the batch.
func (s *BatchShow) Run(c *Context, r *remote) error {
	b, err := r.Batch(c.Ctx, s.ID)
	v := batchView{Batch: b}
	return r.print(v, err, v.show)
}

// BatchWatch is "throng batch watch".
type BatchWatch struct {
	One
	Every span `default:"1s" help:"How often to look."`
}

// Run follows the batch.
func (x *BatchWatch) Run(c *Context, r *remote) error {
	bar := &gauge{w: c.Stderr}
	defer bar.clear()
	told, absent := "", ""
	away := c.outage()
	return every(c.Ctx, x.Every, func() (ended bool, err error) {
		b, err := r.Batch(c.Ctx, x.ID)
		switch {
		case away.again(err):
			return false, nil
		case err != nil:
			return false, err
		}
		ended = b.State.Ended()
		if words := progressOf(&b); words != told {
			told = words
			switch {
			case x.JSON:
				err = line(c.Stdout, b)
			case onTerminal(c.Stderr) && !ended:
				bar.draw(x.ID.String()+" "+b.Name, b.Labelled, b.Wanted())
			default:
				bar.clear()
				say(c.Stdout, "%s\n", words)
			}
		}
		if nobody := absence(c, r, &b); !ended && nobody != absent {
			if absent = nobody; nobody != "" && !x.JSON {
				bar.tell("throng: %s: %s\n", b.ID, clean(nobody))
			}
		}
		return ended, err
	})
}

// progressOf is a batch in a line.
func progressOf(b *wire.Batch) string {
	return fmt.Sprintf("%s %s: %d of %d answers, %d in hand, %d of %d labels", b.ID, b.State, b.Completed, b.Planned, val(b.Running), b.Labelled, b.Wanted())
}

// withRemedy is what is in the way, and what to do about it, if that is known.
func withRemedy(what, remedy string) string { return what + when(remedy != "", "; "+remedy) }

// absence is why a batch that is a draft or waits does not go on, and what to do; ""
// if nothing of it is in the way and somebody of its pool is working or waiting for a task.
func absence(c *Context, r *remote, b *wire.Batch) string {
	if b.State == crowd.BatchDraft {
		return "it is a draft, which is handed out to nobody: throng batch launch " + b.ID.String()
	}
	short := ""
	if b.Short != "" {
		short = "it cannot finish: " + withRemedy(b.Short, b.Remedy)
	}
	if val(b.Waiting) > 0 && (b.ReasonRemedy != "" || val(b.Reason) == crowd.BudgetSpent) {
		return withRemedy(b.ReasonText, b.ReasonRemedy) // also where no more people are wanted, or it says how many
	}
	if b.State != crowd.BatchRunning || val(b.Running) > 0 || val(b.Waiting) == 0 {
		return short
	}
	pools, err := r.Pools(c.Ctx)
	if err != nil {
		return short // the next look at the batch will tell
	}
	i := slices.IndexFunc(pools, func(p wire.Pool) bool { return p.ID == b.Pool })
	if i < 0 || pools[i].Working+pools[i].Waiting > 0 {
		return short
	}
	p := &pools[i]
	text := fmt.Sprintf("nobody is there to answer: pool %s has %s, %d on duty, none of them working or waiting for a task", p.Name, format.Count(p.Belong, "person"), p.OnDuty)
	switch {
	case p.Belong == 0:
		return text + "; " + cmp.Or(b.Remedy, "add people with throng worker add NAME")
	case short != "":
		return short
	case p.Called && p.OnDuty == 0:
		return text + "; they come on duty when the pool calls them: throng pool show " + p.Name
	}
	return text + "; they work with throng worker run, or at " + r.URL + "/work"
}

// BatchWhy is "throng batch why".
type BatchWhy struct{ One }

// Run says why.
func (x *BatchWhy) Run(c *Context, r *remote) error {
	why, err := r.Why(c.Ctx, x.ID)
	return r.print(why, err, func(w io.Writer) {
		say(w, "%s: %s\n", x.ID, why.Text)
		if why.Ahead > 0 {
			say(w, "batches before it in the policy's order: %d\n", why.Ahead)
		}
		for _, code := range slices.Sorted(maps.Keys(why.Workers)) {
			var reason crowd.Reason
			text := code
			if reason.UnmarshalText([]byte(code)) == nil {
				text = reason.OfWorkers()
			}
			say(w, "%s: %s\n", format.Count(why.Workers[code], "worker"), text)
		}
	})
}

// BatchHolding is "throng batch holding".
type BatchHolding struct{ One }

// Run lists what is held.
func (x *BatchHolding) Run(c *Context, r *remote) error {
	list, err := r.Holding(c.Ctx, x.ID)
	return printTable(r, list, err, "ASSIGNMENT|TASK|WORKER|SINCE|UNTIL", func(h wire.Held) []any {
		return []any{h.Assignment, h.Task, calledBy(h.Worker, h.WorkerName), h.Since, h.ExpiresAt}
	})
}
