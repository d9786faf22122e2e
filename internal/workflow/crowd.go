package workflow

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/expr-lang/expr/ast"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/condition"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/label"
)

// crowd reads a crowd step, whose sources have been joined.
func (r *reader) crowd(m *made, v *value) {
	if v == nil {
		m.lose()
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
	m.step.Crowd = c
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
	m.facts = m.facts.and(labelFacts(m, t))
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
	c := m.step.Crowd
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
	c := m.step.Crowd
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
		m.step.Crowd.Truth = v.text
	}
}

// template reads the template and checks it against the columns. It returns what
// it could read.
func (r *reader) template(m *made, v *value) task.Template {
	if v == nil {
		return task.Template{}
	}
	c := m.step.Crowd
	before := r.notes.Count()
	if c.Truth != "" {
		r.unseen(v, c.Truth)
	}
	raw, err := json.Marshal(plainValue(v))
	if err != nil {
		r.problem(v.at(), "the template cannot be read: %v", err)
		return task.Template{}
	}
	t, err := task.Parse(raw)
	if err != nil {
		r.problem(v.at(), "the template cannot be read: %v", err)
		return t
	}
	var columns []string
	if !m.open {
		columns = append([]string{}, m.columnNames()...)
	}
	for _, p := range t.Validate(columns) {
		if r.refused(v, p.Field) {
			continue // it has been noted that this part is wrong
		}
		at, message := r.inTemplate(v, p.Field, p.Message)
		r.problem(at, "%s", message)
	}
	if r.notes.Count() > before {
		return t
	}
	if c.Truth != "" && !m.open && t.Show == nil && !t.Kind.Describe().HidesColumns {
		t.Show = []task.Show{}
		for _, name := range columns {
			if name != c.Truth {
				t.Show = append(t.Show, task.Show{Column: name})
			}
		}
	}
	if c.Template, err = json.Marshal(t); err != nil {
		r.problem(v.at(), "the template cannot be written: %v", err)
	}
	return t
}

// unseen notes where a template shows a column that nobody may see.
func (r *reader) unseen(v *value, truth string) {
	const never = "%s is the known answer (truth), which no worker is shown: leave it out"
	for _, c := range append([]*value{v.get("left"), v.get("right")}, v.get("show").items()...) {
		if c != nil && c.shape.form == anObject {
			c = c.get("column")
		}
		if c.str() == truth {
			r.problem(c.at(), never, yamlfile.Quote(truth))
		}
	}
	walk(v, func(part *value) {
		if part.shape.form == aText && slices.Contains(task.Columns(part.text), truth) {
			r.problem(r.wordIn(part, "${"+truth+"}"), never, yamlfile.Quote(truth))
		}
	})
}

// walk visits the scalars of a value.
func walk(v *value, visit func(*value)) {
	if v == nil {
		return
	}
	if v.named == nil && v.list == nil {
		visit(v)
	}
	for _, c := range v.list {
		walk(c, visit)
	}
}

// plainValue is a value as JSON has it. Parts that were refused are left out.
func plainValue(v *value) any {
	switch v.shape.form {
	case aList:
		list := []any{}
		for _, c := range v.list {
			if c != nil {
				list = append(list, plainValue(c))
			}
		}
		return list
	case aMap, anObject:
		m := map[string]any{}
		for _, c := range v.list {
			m[c.name()] = plainValue(c)
		}
		return m
	case aNumber:
		return v.number()
	case aCount:
		return v.count()
	case aBool:
		return v.bool()
	}
	return v.text
}

var indexForm = regexp.MustCompile(`^([a-z_]+)\[(\d+)\]$`)

// partOf finds a part of a template by the name that package template gives it,
// such as "options[2].label", or as much of the way as there is.
func partOf(v *value, field string) (part *value, missing string) {
	for name := range strings.SplitSeq(field, ".") {
		if name == "" {
			continue
		}
		index := -1
		if f := indexForm.FindStringSubmatch(name); f != nil {
			name = f[1]
			index, _ = strconv.Atoi(f[2])
		}
		next := v.get(name)
		if next == nil {
			return v, name
		}
		v = next
		if index >= 0 {
			if index >= len(v.list) || v.list[index] == nil {
				return v, name
			}
			v = v.list[index]
		}
	}
	return v, ""
}

// refused says whether a part stands there, but was no part of a template.
func (r *reader) refused(v *value, field string) bool {
	part, missing := partOf(v, field)
	if missing != "" && part.has(missing) && part.get(missing) == nil {
		return true
	}
	// A list with an item that was refused is shorter than it stands there.
	return part.shape.form == aList && slices.Contains(part.list, nil)
}

// inTemplate returns the place of a problem of a template, and its message.
func (r *reader) inTemplate(v *value, field, message string) (Place, string) {
	part, missing := partOf(v, field)
	at := part.at()
	switch {
	case missing != "":
		return part.start(), field + ": " + message
	case strings.HasPrefix(message, "${"):
		word, _, _ := strings.Cut(message, "}")
		at = r.wordIn(part, word+"}")
	case part.shape.form == anObject && part.get("column") != nil && strings.Contains(message, "no such column"):
		at = part.get("column").at()
	}
	return at, message
}

// wordIn is the place of a word in a text.
func (r *reader) wordIn(v *value, word string) Place {
	i := strings.Index(v.text, word)
	if i < 0 {
		return v.at()
	}
	line, column := lineColumn(v.text, len([]rune(v.text[:i])))
	return v.node.At(line, column)
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

// labelFacts is what holds for the columns that a crowd step adds.
func labelFacts(m *made, t task.Template) facts {
	output := m.step.Crowd.Output
	of := map[key]domain{
		{m, output + "_confidence"}: between(0, 1, false, false),
		{m, output + "_answers"}:    between(0, math.Inf(1), false, false),
	}
	if list := t.Choices(); list != nil {
		of[key{m, output}] = only(list...)
	}
	return facts{of: of}
}

// labels notes comparisons of a condition with a label that nobody can give, and
// of a confidence with what none is.
func (r *reader) labels(m *made, tree ast.Node, v *value) {
	ast.Walk(&tree, visitor(func(n ast.Node) {
		b, ok := n.(*ast.BinaryNode)
		if !ok {
			return
		}
		name, other := b.Left, b.Right
		if _, named := name.(*ast.IdentifierNode); !named {
			name, other = other, name
		}
		i, named := name.(*ast.IdentifierNode)
		if !named {
			return
		}
		c, known := m.column(i.Value)
		if !known || c.owner.step == nil || c.owner.step.Crowd == nil {
			return
		}
		others := []ast.Node{other}
		if list, ok := other.(*ast.ArrayNode); ok {
			others = list.Nodes
		}
		for _, o := range others {
			if wrong := strangeLabel(c, b.Operator, o); wrong != "" {
				r.problem(v.node.At(lineColumn(v.text, o.Location().From)), "when: %s", wrong)
			}
		}
	}))
}

// strangeLabel says what is wrong with a constant that a column of a crowd step
// is compared with. The empty text is the label of a branch that was not taken.
func strangeLabel(c owned, operator string, n ast.Node) string {
	output := c.owner.step.Crowd.Output
	if text, ok := n.(*ast.StringNode); ok && c.Name == output && (operator == "==" || operator == "!=" || operator == "in") && text.Value != "" {
		options := c.owner.options
		if len(options) == 0 || slices.Contains(options, text.Value) {
			return ""
		}
		if near := condition.Nearest(text.Value, options); near != "" {
			return fmt.Sprintf("%s is no answer of %s: did you mean %q?", yamlfile.Quote(text.Value), c.owner.name, near)
		}
		return fmt.Sprintf("%s is no answer of %s: they are %s", yamlfile.Quote(text.Value), c.owner.name, yamlfile.Enumerate(options))
	}
	if f, ok := constant(n); ok && c.Name == output+"_confidence" && (f < 0 || f > 1) {
		return fmt.Sprintf("a confidence is from 0 to 1, so it says nothing to compare it with %s", yamlfile.Digits(f))
	}
	return ""
}
