package workflow

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/condition"
	"github.com/throng-dev/throng/internal/kit/yamlfile/fields"
	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/label"
)

// Crowd is a job for people. Its own columns are named after Output: Output
// (the label: a number if the template asks for one, else a text),
// Output_confidence (a number from 0 to 1), Output_answers (a number),
// Output_undecided and Output_tie (bools), in this order.
type Crowd struct {
	Output       string          // default: the step's name
	Pool         string          // "": the first pool
	Template     json.RawMessage // see package template; it never shows what is Hidden
	Redundancy   label.Rule
	Reward       crowd.Money
	Budget       crowd.Money // of the step; 0: what the run has
	Priority     float64
	Production   bool
	Lease        time.Duration
	Grace        time.Duration // an answer may be taken back so long, and then counts; 0: it counts at once
	TaskTime     time.Duration
	Requirements []engine.Requirement
	PerWorker    int                  // the most answers of one person to the step; 0: any number
	Enough       *engine.Enough       // ends the step by itself; nil: its last row does
	NotBy        []string             // steps before it: who answered an item there is not asked about it here
	Others       []*Crowd             // those steps
	Quality      []engine.QualityRule // act on those who do it, by what their answers show
	Checks       *engine.Checks       // rows with a known answer (Truth) check people; nil: they are asked as the others are
	Truth        string               // column with the known answer, never shown to a worker; "": none
	Explain      string               // column with why it is right, of rows that teach; "": none do
	Hidden       []string             // columns that no worker is shown: Truth, Explain, and without reveal what tells the known answers of other steps
	Simulate     *Simulate            // how model workers do it; never nil
}

// Simulate says how model workers of `throng workflow run --simulate-workers` do
// a crowd step.
type Simulate struct {
	Accuracy float64       // chance that a worker gives the true answer, 0 to 1
	Time     time.Duration // mean of a lognormal
	Spread   float64       // its standard deviation by its mean
}

// MakesItems reports false: people label the items that came in.
func (c *Crowd) MakesItems() bool { return false }

// WhyAllRows returns "": each item goes by itself.
func (c *Crowd) WhyAllRows() string { return "" }

// Summary says who does it, and how many of them.
func (c *Crowd) Summary() string {
	switch r := c.Redundancy; {
	case r.Fewest() < r.Most():
		return "people · " + r.String()
	case r.Most() > 1:
		return "people · " + strconv.Itoa(r.Most()) + " answers"
	}
	return "people"
}

// Crowd returns what a crowd step says; nil for another kind.
func (s *Step) Crowd() *Crowd {
	c, _ := s.Spec.(*Crowd)
	return c
}

var crowdKind = kind{
	name:  CrowdStep,
	shape: crowdShape,
	look:  Look{"crowd", "people", RoundBox, Paint{"#fdf0d5", "#c27803"}, Paint{"#4a3714", "#e8a93a"}},
	read:  (*reader).crowd,
	typeHint: func(step, column string) string {
		return column + " is the label of " + step + ", which is a text unless its template asks for a number"
	},
}

var crowdShape = fields.Object("A job for people.",
	fields.May("pool", fields.Text(1, maxText).Doc("The pool whose people do it. Left out: the first.")),
	fields.Must("template", templateShape),
	fields.May("redundancy", redundancyShape),
	fields.Must("reward", money.Doc("What one counted answer is paid.")),
	fields.May("budget", money.Doc("The most that the step pays. Left out: what the run has.")),
	fields.May("priority", fields.Number(engine.MinPriority, engine.MaxPriority).Doc("Its weight against other jobs. Default: 1.")),
	fields.May("production", fields.Bool.Doc("Deadline-aware policies put it before jobs that are not. Default: false.")),
	fields.May("lease", fields.Duration(engine.MinLease, engine.MaxLease).Doc("How long a worker may hold a task. Default: 30m.")),
	fields.May("grace", fields.Duration(engine.MinGrace, engine.MaxGrace).Doc("How long workers may take an answer back before it counts. Left out: it counts at once.")),
	fields.May("revise", noRevision.Doc("Steps have no revisions of answers that count: the next steps have used the labels. Only 0s, as if it were left out.")),
	fields.May("task_time", fields.Duration(time.Nanosecond, engine.MaxLease).Doc("Your estimate for one answer. Default: 30s.")),
	fields.May("qualifications", fields.Map(engine.MaxRules, anyName, fields.Count(0, 100)).Doc("What a worker must hold, each with its least score.")),
	fields.May("per_worker", fields.Count(1, engine.MaxPerWorker).Doc("The most answers of one person to the step. Left out: any number.")),
	fields.May("enough", enoughShape),
	fields.May("not_by", fields.List(1, maxNodes, word).Doc("Crowd steps before this one: who answered an item there is not asked about it here.")),
	fields.May("checks", checksShape),
	fields.May("quality", qualityShape),
	fields.May("truth", fields.Text(1, maxColumnName).Doc("A column with the known answer, which no worker is shown.")),
	fields.May("explain", fields.Text(1, maxColumnName).Doc("A column with why the known answer is right. A row with one is for training (see checks and quality): who answers it is told whether they were right, and why.")),
	fields.May("reveal", fields.Bool.Doc("Show the known answers (truth) of other steps, and what steps with checks before this one add. Default: false.")),
	fields.May("output", word.Doc("The name of the column of labels, and the beginning of those that go with it. Default: the step's name.")),
	fields.May("simulate", fields.Object("How model workers do it.",
		fields.May("accuracy", fields.Number(0, 1).Doc("The chance of the true answer. Default: 0.9.")),
		fields.May("time", fields.Duration(time.Millisecond, maxDuration).Doc("The mean time of an answer (lognormal). Default: task_time.")),
		fields.May("spread", fields.Number(0, 100).Doc("Its standard deviation as a share of the mean. Default: 0.5.")),
	)),
)

// noRevision refuses what other batches have.
var noRevision = fields.Scalar("0s is wanted", func(text string) (time.Duration, error) {
	if text != "0s" {
		return 0, errors.New("answers to a step are not revised once they count: the next steps have used the labels. Give grace for slips, or leave it out")
	}
	return 0, nil
}, "const", "0s")

var redundancyShape = fields.Object("How many answers a task gets: {count: n}, {agree: k, of: n}, or {until: p}. Default: {count: 1}.",
	fields.May("count", fields.Count(1, label.MaxAnswers).Doc("Exactly so many.")),
	fields.May("agree", fields.Count(1, label.MaxAnswers).Doc("So many equal answers are enough.")),
	fields.May("of", fields.Count(1, label.MaxAnswers).Doc("The most answers that are asked for.")),
	fields.May("until", fields.Number(label.LeastConfidence, label.MostConfidence).Doc("It is enough when the label is right with this probability, by what people's answers have shown to be worth. For questions with options.")),
	fields.May("min", fields.Count(1, label.MaxAnswers).Doc("With until: the fewest answers. Default: 2.")),
	fields.May("at_most", fields.Count(1, label.MaxAnswers).Doc("With until: the most answers. Default: 10.")),
)

// crowd reads a crowd step.
func (r *reader) crowd(m *made, v *fields.Part) {
	r.joinSources(m, m.sources)
	if v == nil {
		m.loseColumns()
		return
	}
	c := &Crowd{
		Output:     fields.Or(v, "output", m.name),
		Pool:       fields.Or(v, "pool", ""),
		Redundancy: r.redundancy(v.Get("redundancy")),
		Reward:     fields.Or[crowd.Money](v, "reward", 0),
		Budget:     fields.Or[crowd.Money](v, "budget", 0),
		Priority:   fields.Or[float64](v, "priority", engine.DefaultPriority),
		Production: fields.Or(v, "production", false),
		Lease:      fields.Or(v, "lease", engine.DefaultLease),
		Grace:      fields.Or(v, "grace", time.Duration(0)),
		TaskTime:   fields.Or(v, "task_time", engine.DefaultTaskTime),
	}
	m.step.Spec = c
	r.allowed(v, c)
	for _, score := range v.Get("qualifications").Parts() {
		c.Requirements = append(c.Requirements, r.requirement(score))
	}
	r.bounds(m, v)
	c.Simulate = simulate(v.Get("simulate"), c.TaskTime)
	if m.step.Expect == 0 {
		m.step.Expect = rounds(c.Redundancy, c.TaskTime)
	}
	r.truth(m, v.Get("truth"))
	r.explain(m, v.Get("explain"))
	r.checks(v, c)
	r.quality(v, c)
	r.lessons(v, c)
	c.Hidden = r.hidden(m, v, []string{named(v.Get("truth")), named(v.Get("explain"))}, func(column string) []Place { return r.namedInTemplate(v.Get("template"), column) })
	t := r.template(m, v.Get("template"))
	c.Redundancy = t.Rule(c.Redundancy)
	r.money(m, v)
	r.spec(m, v)
	r.own(m, crowdColumns(c.Output, t), func(int) Place {
		if o := v.Get("output"); o != nil {
			return o.At()
		}
		return m.value.Start()
	})
	m.options = t.Choices()
}

// allowed notes what the step may not do of what it says.
func (r *reader) allowed(v *fields.Part, c *Crowd) {
	if r.checker == nil {
		return
	}
	for _, x := range []struct{ field, wrong string }{
		{"pool", r.checker.CheckPool(c.Pool)},
		{"priority", r.checker.CheckPriority(c.Priority)},
	} {
		at := v.Start()
		if said := v.Get(x.field); said != nil {
			at = said.At()
		}
		if x.wrong != "" {
			r.problem(at, "%s: %s", x.field, x.wrong)
		}
	}
}

// requirement reads a qualification, written by its full name, with its least score. In the
// file of a run any owner stands for the run's tenant: another one was refused when the run
// was made, and the tenant may have another name by now.
func (r *reader) requirement(score *fields.Part) engine.Requirement {
	q := crowd.Qualification{Name: score.Name(), Score: score.Scalar.(int)}
	asked := engine.ParseRequirement(q)
	if r.checker == nil || r.now.IsZero() || !strings.Contains(q.Name, "/") {
		return asked
	}
	if wrong := r.checker.CheckQualification(&asked); wrong != "" {
		r.problem(score.At(), "qualifications: %s", wrong)
	}
	return asked
}

// rounds is the time that a task takes if all of its answers are wanted: those
// that it needs are given side by side, and each further one after the one
// before. So agreement of k of n is 1 + n − k rounds, and a count is one.
func rounds(rule label.Rule, taskTime time.Duration) time.Duration {
	n := time.Duration(1 + rule.Most() - rule.Fewest())
	if n < 1 || taskTime > maxDuration/n {
		return maxDuration
	}
	return n * taskTime
}

func simulate(v *fields.Part, taskTime time.Duration) *Simulate {
	return &Simulate{
		Accuracy: fields.Or(v, "accuracy", DefaultAccuracy),
		Time:     fields.Or(v, "time", taskTime),
		Spread:   fields.Or(v, "spread", DefaultSpread),
	}
}

// redundancy reads how many answers a task gets.
func (r *reader) redundancy(v *fields.Part) label.Rule {
	rule := label.Count(1)
	if v == nil {
		return rule
	}
	const forms = "{count: 3}, {agree: 2, of: 3}, or {until: 0.99}"
	is, field, wrong := label.WhichRule(v.Has)
	if wrong != "" {
		r.problem(v.KeyPlace(field), "%s %s: %s", field, wrong, forms)
		return rule
	}
	switch is {
	case "":
		r.problem(v.Start(), "say how many answers: %s", forms)
	case "count":
		rule = label.Count(fields.Or(v, "count", 1))
	case "until":
		least, most := fields.Or(v, "min", label.DefaultFewest), fields.Or(v, "at_most", label.DefaultMost)
		if least > most {
			r.problem(v.KeyPlace("min"), "min is at most at_most: %d answers are more than %d", least, most)
			break
		}
		rule = label.Until(fields.Or(v, "until", label.DefaultUntil), least, most)
	case "agree":
		if v.Get("agree") == nil || v.Get("of") == nil {
			break
		}
		agree, of := fields.Or(v, "agree", 0), fields.Or(v, "of", 0)
		if agree > of {
			r.problem(v.Get("agree").At(), "%d of %d can never agree: agree is at most of", agree, of)
			break
		}
		rule = label.Agree(agree, of)
	}
	return rule
}

// money checks that the budgets can pay one task.
func (r *reader) money(m *made, v *fields.Part) {
	c := m.step.Crowd()
	first, why, ok := c.oneTask()
	if !ok {
		return
	}
	if b := v.Get("budget"); b != nil && c.Budget < first {
		r.problem(b.At(), "%s cannot pay one task (%s)", c.Budget, why)
	} else if r.w.Budget > 0 && r.w.Budget < first {
		r.problem(v.Get("reward").At(), "the budget of the run, %s, cannot pay one task (%s)", r.w.Budget, why)
	}
}

// oneTask is the least that a task of the step costs, also in words; false: nothing, or more
// than there can be.
func (c *Crowd) oneTask() (cost crowd.Money, why string, ok bool) {
	cost, ok = c.Reward.Times(int64(c.Redundancy.Fewest()))
	why = fmt.Sprintf("%s for %d answers at %s", cost, c.Redundancy.Fewest(), c.Reward)
	if c.Redundancy.Fewest() == 1 {
		why = cost.String()
	}
	return cost, why, ok && c.Reward > 0
}

// CheckBudget returns an error if a budget of a run, above 0, cannot pay one task of each step
// that has no budget of its own, as a budget in the file must. 0 is no budget.
func (w *Workflow) CheckBudget(budget crowd.Money) error {
	for i := range w.Steps {
		c := w.Steps[i].Crowd()
		if c == nil || c.Budget > 0 || budget == 0 {
			continue
		}
		if first, why, ok := c.oneTask(); ok && budget < first {
			return crowd.Fieldf("budget", "%s cannot pay one task of the step %s (%s)", budget, w.Steps[i].Name, why)
		}
	}
	return nil
}

// spec has the engine check what the shape could not.
func (r *reader) spec(m *made, v *fields.Part) {
	c := m.step.Crowd()
	first, ok := c.Reward.Times(int64(c.Redundancy.Fewest()))
	if !ok || c.Reward == 0 {
		return
	}
	spec := engine.Spec{ID: 1, Tasks: 1, Rule: c.Redundancy, Reward: c.Reward, Budget: first, Priority: c.Priority, Lease: c.Lease, TaskTime: c.TaskTime, Requirements: c.Requirements,
		PerWorker: c.PerWorker, Enough: c.Enough, Grace: c.Grace, Checks: c.Checks, Quality: c.Quality}
	var wrong *crowd.Error
	if err := spec.Validate(r.now); errors.As(err, &wrong) {
		at, part := v.Start(), v
		for key := range strings.SplitSeq(wrong.Field, ".") {
			if part = part.Get(key); part != nil {
				at = part.At()
			}
		}
		r.problem(at, "%s: %s", wrong.Field, wrong.Message)
	}
}

// truth reads the column with the known answer.
func (r *reader) truth(m *made, v *fields.Part) {
	if v != nil && r.known(m, v.Text(), v.At()) {
		m.step.Crowd().Truth = v.Text()
	}
}

// named is the column that a file names, whether there is one of that name or not; "": none.
func named(v *fields.Part) string {
	if v == nil {
		return ""
	}
	return v.Text()
}

// explain reads the column with why the known answer is right.
func (r *reader) explain(m *made, v *fields.Part) {
	if v != nil && r.known(m, v.Text(), v.At()) {
		m.step.Crowd().Explain = v.Text()
	}
}

// crowdColumns are the columns that a crowd step adds.
func crowdColumns(output string, t task.Template) []Column {
	typ := condition.Text
	if t.NumericLabel() {
		typ = condition.Number
	}
	return []Column{
		{output, typ}, {output + "_confidence", condition.Number}, {output + "_answers", condition.Number},
		{output + "_undecided", condition.Bool}, {output + "_tie", condition.Bool},
	}
}
