package workflow

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/condition"
	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/label"
)

// Crowd is a job for people. Its own columns are named after Output: Output
// (the label: a number if the template's kind is number, else a text),
// Output_confidence (a number from 0 to 1), Output_answers (a number),
// Output_undecided and Output_tie (bools), in this order.
type Crowd struct {
	Output       string          // default: the step's name
	Pool         string          // "": the first pool
	Template     json.RawMessage // see package template; it never shows Truth
	Redundancy   label.Rule
	Reward       crowd.Money
	Budget       crowd.Money // of the step; 0: what the run has
	Priority     float64
	Production   bool
	Lease        time.Duration
	TaskTime     time.Duration
	Requirements []engine.Requirement
	Truth        string    // column with the known answer, never shown to a worker; "": none
	Simulate     *Simulate // how model workers do it; never nil
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
		return column + " is the label of " + step + ", which is a number if its template's kind is number"
	},
}

var crowdShape = object("A job for people.",
	may("pool", text("The pool whose people do it. Left out: the first.", maxText)),
	must("template", templateShape),
	may("redundancy", redundancyShape),
	must("reward", money("What one counted answer is paid.")),
	may("budget", money("The most that the step pays. Left out: what the run has.")),
	may("priority", number("Its weight against other jobs. Default: 1.", engine.MinPriority, engine.MaxPriority)),
	may("production", truth("Deadline-aware policies put it before jobs that are not. Default: false.")),
	may("lease", duration("How long a worker may hold a task. Default: 30m.", engine.MinLease, engine.MaxLease)),
	may("task_time", duration("Your estimate for one answer. Default: 30s.", time.Nanosecond, engine.MaxLease)),
	may("qualifications", mapOf("What a worker must hold, each with its least score.", aText, 1, engine.MaxRules, count("", 0, 100))),
	may("truth", text("A column with the known answer, which no worker is shown.", maxColumnName)),
	may("output", &shape{form: aWord, doc: "The name of the column of labels, and the beginning of those that go with it. Default: the step's name."}),
	may("simulate", object("How model workers do it.",
		may("accuracy", number("The chance of the true answer. Default: 0.9.", 0, 1)),
		may("time", duration("The mean time of an answer (lognormal). Default: task_time.", time.Millisecond, maxDuration)),
		may("spread", number("Its standard deviation as a share of the mean. Default: 0.5.", 0, 100)),
	)),
)

var redundancyShape = object("How many answers a task gets: {count: n}, or {agree: k, of: n}. Default: {count: 1}.",
	may("count", count("Exactly so many.", 1, label.MaxAnswers)),
	may("agree", count("So many equal answers are enough.", 1, label.MaxAnswers)),
	may("of", count("The most answers that are asked for.", 1, label.MaxAnswers)),
)

// crowd reads a crowd step.
func (r *reader) crowd(m *made, v *value) {
	r.joinSources(m)
	if v == nil {
		m.loseColumns()
		return
	}
	c := &Crowd{
		Output:     or(v.get("output"), (*value).str, m.name),
		Pool:       v.get("pool").str(),
		Redundancy: r.redundancy(v.get("redundancy")),
		Reward:     v.get("reward").money(),
		Budget:     v.get("budget").money(),
		Priority:   or(v.get("priority"), (*value).number, DefaultPriority),
		Production: v.get("production").bool(),
		Lease:      or(v.get("lease"), (*value).duration, DefaultLease),
		TaskTime:   or(v.get("task_time"), (*value).duration, DefaultTaskTime),
	}
	m.step.Spec = c
	for _, score := range v.get("qualifications").items() {
		c.Requirements = append(c.Requirements, engine.Requirement{Name: score.name(), Min: score.count()})
	}
	c.Simulate = simulate(v.get("simulate"), c.TaskTime)
	if m.step.Expect == 0 {
		m.step.Expect = rounds(c.Redundancy, c.TaskTime)
	}
	r.truth(m, v.get("truth"))
	t := r.template(m, v.get("template"))
	c.Redundancy = t.Kind.Describe().Rule(c.Redundancy)
	r.money(m, v)
	r.spec(m, v)
	r.own(m, crowdColumns(c.Output, t), func(int) Place {
		if o := v.get("output"); o != nil {
			return o.at()
		}
		return m.value.start()
	})
	m.options = t.Choices()
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

func simulate(v *value, taskTime time.Duration) *Simulate {
	return &Simulate{
		Accuracy: or(v.get("accuracy"), (*value).number, DefaultAccuracy),
		Time:     or(v.get("time"), (*value).duration, taskTime),
		Spread:   or(v.get("spread"), (*value).number, DefaultSpread),
	}
}

// redundancy reads how many answers a task gets.
func (r *reader) redundancy(v *value) label.Rule {
	rule := label.Count(1)
	if v == nil {
		return rule
	}
	count, agree, of := v.get("count"), v.get("agree"), v.get("of")
	switch {
	case v.has("count") && (v.has("agree") || v.has("of")):
		r.problem(v.keyPlace("count"), "count goes alone: {count: 3}, or {agree: 2, of: 3}")
	case v.has("count"):
		if count != nil {
			rule = label.Count(count.count())
		}
	case !v.has("agree") && !v.has("of"):
		r.problem(v.start(), "say how many answers: {count: 3}, or {agree: 2, of: 3}")
	case !v.has("agree"):
		r.problem(v.keyPlace("of"), "agree is missing: {agree: 2, of: 3}")
	case !v.has("of"):
		r.problem(v.keyPlace("agree"), "of is missing: {agree: 2, of: 3}")
	case agree != nil && of != nil:
		rule = label.Agree(agree.count(), of.count())
		if agree.count() > of.count() {
			r.problem(agree.at(), "%d of %d can never agree: agree is at most of", agree.count(), of.count())
			rule = label.Count(1)
		}
	}
	return rule
}

// money checks that the budgets can pay one task.
func (r *reader) money(m *made, v *value) {
	c := m.step.Crowd()
	first, ok := c.Reward.Times(int64(c.Redundancy.Fewest()))
	if !ok || c.Reward == 0 {
		return
	}
	why := fmt.Sprintf("%s for %d answers at %s", first, c.Redundancy.Fewest(), c.Reward)
	if c.Redundancy.Fewest() == 1 {
		why = first.String()
	}
	if b := v.get("budget"); b != nil && c.Budget < first {
		r.problem(b.at(), "%s cannot pay one task (%s)", c.Budget, why)
	} else if r.w.Budget > 0 && r.w.Budget < first {
		r.problem(v.get("reward").at(), "the budget of the run, %s, cannot pay one task (%s)", r.w.Budget, why)
	}
}

// spec has the engine check what the shape could not.
func (r *reader) spec(m *made, v *value) {
	c := m.step.Crowd()
	first, ok := c.Reward.Times(int64(c.Redundancy.Fewest()))
	if !ok || c.Reward == 0 {
		return
	}
	spec := engine.Spec{ID: 1, Tasks: 1, Rule: c.Redundancy, Reward: c.Reward, Budget: first, Priority: c.Priority, Lease: c.Lease, TaskTime: c.TaskTime, Requirements: c.Requirements}
	var wrong *crowd.Error
	if err := spec.Validate(r.now); errors.As(err, &wrong) {
		at := v.start()
		if f := v.get(wrong.Field); f != nil {
			at = f.at()
		}
		r.problem(at, "%s: %s", wrong.Field, wrong.Message)
	}
}

// truth reads the column with the known answer.
func (r *reader) truth(m *made, v *value) {
	if v != nil && r.known(m, v.text, v.at()) {
		m.step.Crowd().Truth = v.text
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
