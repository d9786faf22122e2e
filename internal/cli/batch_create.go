package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/internal/wire"
)

// BatchCreate is "throng batch create".
type BatchCreate struct {
	Name   string `required:"" help:"The batch's name."`
	File   string `required:"" placeholder:"FILE" help:"The tasks, one a row: CSV, TSV or JSON Lines; - for standard input."`
	Reward amount `required:"" placeholder:"AMOUNT" help:"What a counted answer pays, such as 0.05."`

	Template     string   `group:"show" placeholder:"FILE" help:"How a task is shown and answered, as JSON."`
	Question     string   `group:"show" help:"Or: the question, with $${column} for the value of a column."`
	Option       []string `group:"show" sep:"none" placeholder:"TEXT" help:"An answer to choose from; given twice or more."`
	Many         bool     `group:"show" help:"Several options may be chosen."`
	Number       bool     `group:"show" help:"The answer is a number, not a text."`
	Kind         string   `group:"show" placeholder:"KIND" help:"Or: the kind of question, one of those that \"throng task kinds\" lists."`
	Set          []string `group:"show" sep:"none" placeholder:"NAME=VALUE" help:"A setting of the kind, such as points=7; may be given often."`
	Title        string   `group:"show" help:"A title above the task."`
	Instructions string   `group:"show" help:"What the worker should know."`
	Show         []string `group:"show" placeholder:"COLUMN[:AS]" help:"A column to show, as text, image, link or audio; default: all."`

	Redundancy    redundancy    `group:"terms" default:"1" placeholder:"N" help:"Answers a task: 3; 2of3: until two are equal, at most three; or 99%of10: until 99 % sure, at most ten."`
	Budget        *amount       `group:"terms" placeholder:"AMOUNT" help:"The most that it may cost; default: what all answers cost."`
	Priority      float64       `group:"terms" default:"1" help:"Its weight against other batches, above 0 and at most the highest priority of its tenant, which throng tenant list shows."`
	Deadline      moment        `group:"terms" placeholder:"TIME" help:"When it should be done: RFC 3339, or +2h."`
	EndsAt        moment        `group:"terms" placeholder:"TIME" help:"When to end it with what there is."`
	Production    bool          `group:"terms" help:"Let deadline-aware policies push it towards its finish."`
	Lease         *span         `group:"terms" placeholder:"DURATION" help:"How long a worker may hold a task; default 30m."`
	Revise        span          `group:"terms" placeholder:"DURATION" help:"For how long after an answer has counted its worker may give another one in its place, while the batch runs, up to 744h; default: it stands."`
	Grace         span          `group:"terms" placeholder:"DURATION" help:"How long workers may take an answer back before it counts, from 1s to 24h; default: it counts at once."`
	Approval      *span         `group:"terms" placeholder:"DURATION" help:"Hold the pay of answers until it is approved, or refused with a reason; what nobody has refused after this time, from 1s to 30d, is paid by itself; default: answers are paid when they count."`
	Appeal        *span         `group:"terms" placeholder:"DURATION" help:"With --approval: how long workers may appeal against a refusal, from 1d to 30d, and how long somebody then has to decide, after which it is paid; default 7d."`
	TaskTime      *span         `group:"terms" placeholder:"DURATION" help:"Your estimate for one answer; default 30s."`
	Qualification []requirement `group:"terms" sep:"none" placeholder:"NAME>=SCORE" help:"What a worker must hold; may be given often."`

	PerWorker int     `group:"terms" placeholder:"N" help:"The most answers of one person; default: any number."`
	Enough    *enough `group:"terms" placeholder:"WHAT" help:"End it by itself, as soon as one of these holds: labels=500,share=0.9,confidence=0.8,spent=20.00."`

	Checks *checks `group:"terms" placeholder:"SHARES" help:"Give the tasks with a known answer (column _gold) to people as checks, among the others: first=0.1,least=0.01 is one task in ten to begin with and one in a hundred for who is trusted, as is \"default\"; default: they are asked as the others are. With training=3 everybody begins with three of those that are explained (column _explain), and is told whether they were right, and why."`

	Quality []string `group:"terms" sep:"none" placeholder:"CONDITION=>ACTION" help:"Act on whose answers meet a condition, once a person, such as \"accuracy_high < 0.7 => pause\" (or warn 'TEXT', train N, or weight W); may be given often."`

	Review              *reviews      `group:"terms" placeholder:"WHICH" help:"Have labels reviewed by people who had no part in them: undecided,confidence=0.8,share=0.05,new_workers=10, or a part of it, is those that are undecided, less sure than 80 %, one in twenty at random, and those from the first ten answers of somebody. The reviews are a batch of their own, launched with this one."`
	ReviewReward        amount        `group:"terms" placeholder:"AMOUNT" help:"With --review: what a review pays."`
	ReviewBudget        amount        `group:"terms" placeholder:"AMOUNT" help:"With --review: the most that reviews may cost; default: what reviews of all tasks cost."`
	ReviewPriority      float64       `group:"terms" placeholder:"N" help:"With --review: the weight of reviews against other batches; default 1."`
	ReviewDeadline      moment        `group:"terms" placeholder:"TIME" help:"With --review: when they should be done."`
	ReviewQualification []requirement `group:"terms" sep:"none" placeholder:"NAME>=SCORE" help:"With --review: what a reviewer must hold; may be given often."`
	ReviewBlind         bool          `group:"terms" help:"With --review: reviewers see neither the label nor the answers."`

	Training bool `group:"terms" help:"The tasks are for newcomers of a pool with a training (throng pool set POOL --training N), and before the pool's closed gate for everybody; for nobody else."`

	Tenant  string `help:"For which tenant; not needed by a requester of one."`
	Pool    string `help:"By which pool; default: the first."`
	SkipBad bool   `help:"Leave out rows that are wrong, instead of keeping none."`
	RowsOfFile
	Launch          bool `help:"Launch it at once."`
	AllowSmallCrowd bool `help:"Launch even if the pool has fewer people than a task needs answers from."`
	Remote
}

// Run makes the batch.
func (x *BatchCreate) Run(c *Context, r *remote) error {
	if x.AllowSmallCrowd && !x.Launch {
		return wrong("allow-small-crowd", "goes with --launch")
	}
	shown, err := x.template()
	if err != nil {
		return err
	}
	file, size, err := c.open(x.File)
	if err != nil {
		return err
	}
	defer file.Close()
	d, err := x.definition(r, shown)
	if err != nil {
		return err
	}
	b, err := r.CreateBatch(c.Ctx, d)
	if err != nil {
		return err
	}
	uploaded, err := x.upload(c, r, b.ID, file, size)
	if err != nil {
		if _, undo := r.Move(c.background(), b.ID, "cancel"); undo != nil {
			err = &noted{err, fmt.Sprintf("the draft %s is left, without tasks", b.ID)}
		} else {
			err = &noted{err, fmt.Sprintf("the draft %s was cancelled", b.ID)}
		}
		return ofFile(x.File, err)
	}
	draft := b.ID
	if x.Launch {
		b, err = r.Launch(c.Ctx, b.ID, x.AllowSmallCrowd)
		err = smallCrowd(err, fmt.Sprintf("launch it all the same: throng batch launch %s", draft))
	} else {
		b, err = r.Batch(c.Ctx, b.ID)
	}
	if err != nil {
		return fmt.Errorf("%w (the draft %s is kept)", err, draft)
	}
	v := batchView{b, &uploaded}
	return x.print(c, v, func(w io.Writer) {
		say(w, "%s %s: %s, %s\n", b.ID, clean(b.Name), b.State, format.Count(uploaded.Tasks, "task"))
		say(w, "%s", untrained(&b))
		if b.State == crowd.BatchDraft {
			say(w, "to hand it out: throng batch launch %s\n", b.ID)
		}
	})
}

// smallCrowd says how to do with a batch, by a command, what was refused because its pool
// has too few people.
func smallCrowd(err error, how string) error {
	if err != nil && strings.Contains(err.Error(), orchestrator.FieldSmallCrowd) {
		return &noted{err, "to " + how + " --allow-small-crowd"}
	}
	return err
}

func (x *BatchCreate) definition(r *remote, shown json.RawMessage) (d wire.NewBatch, err error) {
	d = wire.NewBatch{BatchTerms: wire.BatchTerms{
		Name: x.Name, Template: wire.Template(shown), Redundancy: &x.Redundancy.rule, RewardMicros: x.Reward.Money, BudgetMicros: x.Budget.orNone(),
		Priority: x.Priority, Deadline: x.Deadline.Time, EndsAt: x.EndsAt.Time, Production: x.Production,
		LeaseSeconds: int64(x.Lease.orNone().Seconds()), TaskTimeSeconds: x.TaskTime.orNone().Seconds(), Training: x.Training, PerWorker: x.PerWorker,
		GraceSeconds: int64(x.Grace.Seconds()), ReviseSeconds: int64(x.Revise.Seconds()),
	}}
	switch {
	case x.Approval != nil:
		d.Approval = &wire.Approval{WithinSeconds: int64(x.Approval.Seconds()), AppealSeconds: int64(x.Appeal.orNone().Seconds())}
	case x.Appeal != nil:
		return d, wrong("appeal", "goes with --approval")
	}
	if x.Enough != nil {
		d.Enough = &x.Enough.Enough
	}
	if x.Checks != nil {
		d.Checks = &x.Checks.Checks
	}
	for _, text := range x.Quality {
		rule, err := engine.ParseQualityRule(text)
		if err != nil {
			return d, wrong("quality", "%s", plain(err))
		}
		d.Quality = append(d.Quality, wire.QualityRule(rule))
	}
	if d.Review, err = x.review(); err != nil {
		return d, err
	}
	if x.PerWorker < 0 {
		return d, wrong("per-worker", "%d is not a number of answers (1 or more)", x.PerWorker)
	}
	if x.Priority == 0 { // the API takes 0 for "not said"
		return d, wrong("priority", "0 is not a priority (it must be above 0)")
	}
	if err := cmp.Or(x.Budget.check(), x.Lease.check("lease", time.Second), x.TaskTime.check("task-time", time.Microsecond)); err != nil {
		return d, err
	}
	for _, q := range x.Qualification {
		d.Qualifications = append(d.Qualifications, q.Qualification)
	}
	if d.Tenant, err = r.ownerTenant(x.Tenant); err != nil {
		return d, err
	}
	d.Pool, err = r.pool(x.Pool)
	return d, err
}

// review is how labels are reviewed; nil: they are not.
func (x *BatchCreate) review() (*wire.Review, error) {
	if x.Review == nil {
		for name, given := range map[string]bool{
			"review-blind": x.ReviewBlind, "review-budget": x.ReviewBudget.Money != 0, "review-deadline": !x.ReviewDeadline.IsZero(),
			"review-priority": x.ReviewPriority != 0, "review-qualification": len(x.ReviewQualification) > 0, "review-reward": x.ReviewReward.Money != 0,
		} {
			if given {
				return nil, wrong(name, "goes with --review")
			}
		}
		return nil, nil
	}
	if x.ReviewReward.Money == 0 {
		return nil, wrong("review-reward", "is missing: say what a review pays")
	}
	which := x.Review.Review
	return &wire.Review{
		Undecided: which.Undecided, Confidence: which.Confidence, Share: which.Share, NewWorkers: which.NewWorkers,
		RewardMicros: x.ReviewReward.Money, BudgetMicros: x.ReviewBudget.Money, Priority: x.ReviewPriority, Deadline: x.ReviewDeadline.Time,
		Qualifications: lists.Map(x.ReviewQualification, func(q requirement) wire.Qualification { return q.Qualification }), Blind: x.ReviewBlind,
	}, nil
}

// upload sends the file, and tells of rows that were left out.
func (x *BatchCreate) upload(c *Context, r *remote, id crowd.BatchID, file io.Reader, size int64) (wire.Uploaded, error) {
	bar := c.bar(size, "uploading "+x.File, true)
	defer bar.Exit()
	reader := progressbar.NewReader(file, bar)
	out, err := r.UploadTable(c.Ctx, id, &reader, client.Table{Format: string(table.FormatOf(x.File)), SkipBad: x.SkipBad, Delimiter: x.Delimiter, Duplicates: x.rule()})
	if err != nil {
		return out, err
	}
	c.tellRows(x.File, out.Problems)
	if out.Bad > 0 {
		say(c.Stderr, "throng: %s: %s left out\n", x.File, format.Count(out.Bad, "bad row"))
	}
	c.tellFile(x.File, out.Delimiter, out.Dropped)
	return out, nil
}

// template reads the template, or makes one of the flags.
func (x *BatchCreate) template() (json.RawMessage, error) {
	flags := x.Question != "" || len(x.Option) > 0 || x.Many || x.Number || x.Kind != "" || len(x.Set) > 0 || x.Title != "" || x.Instructions != "" || len(x.Show) > 0
	if x.Template != "" {
		if flags {
			return nil, wrong("template", "says how a task is shown: leave --question, --option and the like out")
		}
		data, err := os.ReadFile(x.Template)
		if err != nil {
			return nil, err
		}
		t, err := task.Parse(data)
		if err != nil {
			return nil, ofFile(x.Template, err)
		}
		return json.Marshal(t)
	}
	t := task.Template{Kind: task.ShortText, Title: x.Title, Instructions: x.Instructions, Question: x.Question}
	switch {
	case x.Kind != "" && (x.Many || x.Number):
		return nil, wrong("kind", "goes without --many and --number")
	case x.Kind != "":
		t.Kind = task.Kind(x.Kind)
	case x.Question == "":
		return nil, wrong("question", "say what to ask: --question, or --template FILE")
	case len(x.Option) > 0 && x.Number, x.Many && len(x.Option) == 0:
		return nil, wrong("option", "--number goes without --option, --many with it")
	case x.Many:
		t.Kind = task.ChooseMany
	case len(x.Option) > 0:
		t.Kind = task.ChooseOne
	case x.Number:
		t.Kind = task.Number
	}
	for _, o := range x.Option {
		t.Options = append(t.Options, task.Option{Value: o})
	}
	for _, s := range x.Show {
		column, as, _ := strings.Cut(s, ":")
		t.Show = append(t.Show, task.Show{Column: column, As: task.As(as)})
	}
	if err := setAll(&t, x.Set); err != nil {
		return nil, err
	}
	if problems := t.Validate(nil); len(problems) > 0 {
		return nil, fmt.Errorf("template: %w", crowd.Errors(problems).Err())
	}
	return json.Marshal(t)
}

// setAll sets settings of a template, each given as NAME=VALUE.
func setAll(t *task.Template, list []string) error {
	d := t.Kind.Describe()
	set := make(map[string]bool)
	for _, given := range list {
		name, value, found := strings.Cut(given, "=")
		i := slices.IndexFunc(d.Settings, func(s *task.Setting) bool { return s.Name == name })
		switch {
		case !found:
			return wrong("set", "%q is not NAME=VALUE", given)
		case len(d.Settings) == 0:
			return nil // there is no such kind: Validate says so
		case i < 0:
			return wrong("set", "%q is not a setting of the kind %s (%s)", name, d.Kind, settingNames(d))
		case set[name]:
			return wrong("set", "%s is set twice", name)
		}
		set[name] = true
		if err := d.Settings[i].Parse(t, value); err != nil {
			return fmt.Errorf("set: %w", err)
		}
	}
	return nil
}
