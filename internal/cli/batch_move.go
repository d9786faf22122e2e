package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/schollz/progressbar/v3"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/wire"
)

// printBatch prints what became of a batch.
func (r *remote) printBatch(b wire.Batch, err error) error {
	return r.tell(batchView{Batch: b}, err, "%s %s: %s\n%s", b.ID, clean(b.Name), b.State, untrained(&b))
}

// untrained is a line for a training batch that nobody will ever be given; "": it is none.
func untrained(b *wire.Batch) string {
	return when(b.Reason != nil && *b.Reason == crowd.NoTraining, "note: "+withRemedy(b.ReasonText, b.ReasonRemedy)+"\n")
}

// BatchLaunch is "throng batch launch".
type BatchLaunch struct {
	One
	AllowSmallCrowd bool `help:"Even if the pool has fewer people than a task needs answers from."`
}

// Run launches the batch.
func (x *BatchLaunch) Run(c *Context, r *remote) error {
	b, err := r.Launch(c.Ctx, x.ID, x.AllowSmallCrowd)
	return r.printBatch(b, smallCrowd(err, fmt.Sprintf("launch it all the same: throng batch launch %s", x.ID)))
}

// BatchMove is "throng batch pause", "resume", "end" and "cancel".
type BatchMove struct{ One }

// Run makes the move that the command is named after.
func (x *BatchMove) Run(c *Context, r *remote, v verb) error {
	return r.printBatch(r.Move(c.Ctx, x.ID, string(v)))
}

// BatchEdit is "throng batch edit".
type BatchEdit struct {
	One
	Priority   *float64 `help:"The new priority, above 0 and at most the highest of its tenant, which throng tenant list shows."`
	Deadline   *moment  `placeholder:"TIME" help:"The new deadline: RFC 3339, or +2h." xor:"deadline"`
	NoDeadline bool     `help:"Take the deadline away." xor:"deadline"`

	Reward       *amount     `placeholder:"AMOUNT" help:"What an answer pays that is handed out from now on."`
	Redundancy   *redundancy `placeholder:"N" help:"Answers a task, of those without a label: 3; 2of3; or 99%of10."`
	Production   bool        `help:"Let deadline-aware policies push it towards its finish." xor:"production"`
	NoProduction bool        `help:"Let them not." xor:"production"`

	Enough   *enough `placeholder:"WHAT" help:"End it by itself, as soon as one of these holds: labels=500,share=0.9,confidence=0.8,spent=20.00." xor:"enough"`
	NoEnough bool    `help:"Let it go on to its last task." xor:"enough"`

	AddBudget       bool `help:"Reserve what the budget lacks for the change from the tenant's account. The batch of a run's step without a budget of its own does so in any case."`
	ReleaseBudget   bool `help:"Give back to the tenant's account what the batch can no longer need of its budget."`
	AllowSmallCrowd bool `help:"Even if the pool has fewer people than a task then needs answers from."`

	Stop  bool `help:"Emergency stop: hand out nothing more." xor:"stop"`
	Start bool `help:"Lift the emergency stop." xor:"stop"`
}

// Run changes the batch.
func (x *BatchEdit) Run(c *Context, r *remote) error {
	e := wire.BatchEdit{Priority: x.Priority, ClearDeadline: x.NoDeadline}
	if x.Deadline != nil {
		e.Deadline = &x.Deadline.Time
	}
	if x.Stop || x.Start {
		e.Stopped = &x.Stop
	}
	if x.Reward != nil {
		e.RewardMicros = &x.Reward.Money
	}
	if x.Redundancy != nil {
		e.Redundancy = &x.Redundancy.rule
	}
	if x.Production || x.NoProduction {
		e.Production = &x.Production
	}
	switch {
	case x.Enough != nil:
		e.Enough = &x.Enough.Enough
	case x.NoEnough:
		e.Enough = new(wire.Enough)
	}
	e.ReleaseBudget = x.ReleaseBudget
	if e == (wire.BatchEdit{}) {
		return wrong("edit", "say what to change: --reward, --redundancy, --priority, --deadline, --no-deadline, --production, --no-production, --enough, --no-enough, --release-budget, --stop or --start")
	}
	e.AddBudget, e.AllowSmallCrowd = x.AddBudget, x.AllowSmallCrowd
	b, err := r.EditBatch(c.Ctx, x.ID, e)
	err = smallCrowd(err, fmt.Sprintf("change it all the same: throng batch edit %s …", x.ID))
	if err = lacking(err, fmt.Sprintf("throng batch edit %s … --add-budget", x.ID)); err != nil {
		return err
	}
	money := moneyMoved(&b)
	switch {
	case b.State.Ended():
		money += ", ended by this"
	case money != "":
	case x.AddBudget:
		money = ", nothing more had to be reserved"
	case x.ReleaseBudget:
		money = ", nothing could be given back"
	}
	return r.tell(batchView{Batch: b}, nil, "%s %s: %s%s\n%s", b.ID, clean(b.Name), b.State, money, untrained(&b)+spare(&b))
}

// moneyMoved says what a change has reserved or given back, and what the batch may spend then;
// "": neither. The batch of a run's step may have no budget of its own.
func moneyMoved(b *wire.Batch) string {
	money := when(b.Released > 0, fmt.Sprintf(", %s given back", b.Released)) + when(b.Reserved > 0, fmt.Sprintf(", %s more reserved", b.Reserved))
	return money + when(money != "" && b.BudgetMicros > 0 && !b.State.Ended(), fmt.Sprintf(", may spend %s", b.BudgetMicros))
}

// spare is a line for a batch that holds more than it can need; "": it does not.
func spare(b *wire.Batch) string {
	return when(b.Spare > 0, fmt.Sprintf("note: its budget is %s more than it can need; to have that back before its end: throng batch edit %s --release-budget\n", b.Spare, b.ID))
}

// lacking names the command that reserves what the budget of a batch lacks for a change. An
// error of the field budget is about what the account or the run has, which that cannot help.
func lacking(err error, command string) error {
	if crowd.CodeOf(err) == crowd.BudgetTooSmall && strings.TrimSuffix(crowd.ErrorsOf(err)[0].Field, "_micros") != "budget" {
		return &noted{err, "to take it from the tenant's account: " + command}
	}
	return err
}

// BatchAddTasks is "throng batch add-tasks".
type BatchAddTasks struct {
	One
	File    string `arg:"" optional:"" placeholder:"FILE" help:"The tasks, one a row, with the batch's columns: CSV, TSV or JSON Lines; - for standard input."`
	Named   string `name:"file" placeholder:"FILE" help:"The same file, named as for throng batch create."`
	SkipBad bool   `help:"Leave out rows that are wrong, instead of adding none."`
	RowsOfFile
	AddBudget bool `help:"Reserve what the budget lacks for them from the tenant's account."`
}

// Run adds the tasks, unless somebody else adds some meanwhile. Who may not read the batch
// adds them in any case.
func (x *BatchAddTasks) Run(c *Context, r *remote) error {
	if (x.File == "") == (x.Named == "") {
		return wrong("file", "name one file of tasks: throng batch add-tasks %s FILE", x.ID)
	}
	x.File = cmp.Or(x.File, x.Named)
	file, size, err := c.open(x.File)
	if err != nil {
		return err
	}
	defer file.Close()
	before, err := r.Batch(c.Ctx, x.ID)
	unread := crowd.CodeOf(err) == crowd.Forbidden // who may add tasks may not read it, perhaps: then it is not known whether others add some meanwhile
	if err != nil && !unread {
		return err
	}
	bar := c.bar(size, "uploading "+x.File, true)
	defer bar.Exit()
	reader := progressbar.NewReader(file, bar)
	out, err := r.AddTasks(c.Ctx, x.ID, &reader, client.Addition{Table: client.Table{Format: string(table.FormatOf(x.File)), SkipBad: x.SkipBad, Delimiter: x.Delimiter, Duplicates: x.rule()}, After: before.Tasks, AddBudget: x.AddBudget})
	if err != nil {
		return ofFile(x.File, lacking(err, fmt.Sprintf("throng batch add-tasks %s %s --add-budget", x.ID, x.File)))
	}
	c.tellRows(x.File, out.Problems)
	if out.Bad > 0 {
		say(c.Stderr, "throng: %s: %s left out\n", x.File, format.Count(out.Bad, "bad row"))
	}
	c.tellFile(x.File, out.Delimiter, out.Dropped)
	if unread {
		return r.tell(out, nil, "%s: %s added\n", x.ID, format.Count(out.Tasks, "task"))
	}
	b, err := r.Batch(c.Ctx, x.ID)
	money := when(x.AddBudget, ", nothing more had to be reserved")
	if out.Reserved > 0 {
		money = fmt.Sprintf(", %s more reserved, may spend %s", out.Reserved, b.BudgetMicros)
	}
	return r.tell(batchView{b, &out}, err, "%s %s: %s added, %d in all%s\n", b.ID, clean(b.Name), format.Count(out.Tasks, "task"), b.Tasks, money)
}

// BatchRemoveTask is "throng batch remove-task".
type BatchRemoveTask struct {
	One
	Tasks []crowd.TaskID `arg:"" name:"tasks" placeholder:"TASK" help:"The tasks, such as t17.5."`
}

// Run takes the tasks out: all of them, or none.
func (x *BatchRemoveTask) Run(c *Context, r *remote) error {
	for _, task := range x.Tasks {
		if task.Batch() != x.ID {
			return wrong("tasks", "%s is not a task of %s", task, x.ID)
		}
	}
	slices.Sort(x.Tasks)
	x.Tasks = slices.Compact(x.Tasks)
	before, unread := r.Batch(c.Ctx, x.ID) // who may take tasks out may not read it, perhaps
	b, err := r.RemoveTasks(c.Ctx, x.Tasks[0], x.Tasks[1:]...)
	again := ""
	if out := len(x.Tasks) - (b.Removed - before.Removed); unread == nil && out > 0 {
		again = fmt.Sprintf("; %s of those named, out already", format.Count(out, "task"))
	}
	if b.State.Ended() {
		again += moneyMoved(&b) + ", ended by this"
	}
	return r.tell(batchView{Batch: b}, err, "%s %s: %s, %s taken out of %d%s\n", b.ID, clean(b.Name), b.State, format.Count(b.Removed, "task"), b.Tasks, again)
}

// BatchTopUp is "throng batch top-up".
type BatchTopUp struct {
	One
	Amount amount `arg:"" help:"How much, such as 10 or 0.5."`
}

// Run adds the money.
func (x *BatchTopUp) Run(c *Context, r *remote) error {
	b, err := r.TopUp(c.Ctx, x.ID, x.Amount.Money)
	return r.tell(b, err, "%s %s: %s, may spend %s, has spent %s\n", b.ID, clean(b.Name), b.State, b.BudgetMicros, b.SpentMicros)
}
