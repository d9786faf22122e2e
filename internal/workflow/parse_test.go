package workflow_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/condition"
	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/internal/workflow"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/sla"
)

func goodFile(t *testing.T, name string) *workflow.Workflow {
	t.Helper()
	text, err := os.ReadFile("testdata/good/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	return good(t, string(text))
}

// same compares by what Printf writes.
func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		t.Errorf("%s is\n%s, want\n%s", what, g, w)
	}
}

func TestEverythingThatAFileSays(t *testing.T) {
	w := goodFile(t, "match")
	same(t, "name", w.Name, "Match products")
	same(t, "budget", w.Budget, 200*crowd.Unit)
	same(t, "SLA", *w.SLA, workflow.SLA{PerItem: true, Penalty: sla.Penalty{Kind: sla.Staged, After: 48 * time.Hour, Every: 24 * time.Hour, Cost: 5 * crowd.Unit, AtMost: 50 * crowd.Unit}})
	if err := w.SLA.Penalty.Validate(); err != nil {
		t.Error(err)
	}
	same(t, "left", w.Inputs[0], workflow.Input{Name: "left", Columns: []workflow.Column{{"id", "text"}, {"title", "text"}, {"price", "number"}}, Place: workflow.Place{Line: 11, Column: 3}})
	var names []string
	for i := range w.Steps {
		names = append(names, w.Steps[i].Name)
	}
	same(t, "steps", names, []string{"pairs", "same", "score", "done"})

	pairs := w.Step(2)
	same(t, "pairs", []any{pairs.Kind, pairs.MakesItems(), pairs.SQL().RowByRow, pairs.Expect, pairs.Open}, []any{"sql", true, false, "100ms", false})
	same(t, "columns of pairs", pairs.Columns, []workflow.Column{{"left_id", "text"}, {"right_id", "text"}, {"left_title", "text"}, {"right_title", "text"}, {"known", "text"}, {"score", "number"}})

	step := w.Step(3)
	same(t, "same", []any{step.Kind, step.From, step.Join, step.When.Text(), step.OnError, step.Expect, step.MakesItems()},
		[]any{"crowd", []workflow.Source{{"pairs", 2, "stream"}}, "taken", "score > 0.3 && score < 0.9", "hold", "1h0m0s", false})
	same(t, "own columns of same", step.Own, []workflow.Column{{"verdict", "text"}, {"verdict_confidence", "number"}, {"verdict_answers", "number"}, {"verdict_undecided", "bool"}, {"verdict_tie", "bool"}})
	same(t, "owners of same", step.Owners, []int{2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3})
	c := *step.Crowd()
	tmpl, err := task.Parse(c.Template)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "template", tmpl, task.Template{Kind: task.ChooseOne, Question: "Are these the same: ${left_title}?", Options: []task.Option{{Value: "yes"}, {Value: "no"}}, Show: []task.Show{{Column: "left_title"}, {Column: "right_title"}}})
	sim := *c.Simulate
	c.Template, c.Simulate = nil, nil
	same(t, "crowd", c, workflow.Crowd{
		Output: "verdict", Pool: "main", Redundancy: label.Agree(2, 3), Reward: 50_000, Budget: 20 * crowd.Unit, Priority: 2,
		Lease: 30 * time.Minute, TaskTime: 20 * time.Second, Requirements: []engine.Requirement{{Name: "english", Min: 80}}, Truth: "known", Hidden: []string{"known"},
	})
	same(t, "simulate", sim, workflow.Simulate{Accuracy: 0.9, Time: 15 * time.Second, Spread: 0.5})

	s := *w.Step(4).HTTP()
	same(t, "columns of the answer", s.Response.Properties(), []struct {
		Name, Kind string
		Required   bool
	}{{"risk", "number", true}, {"reason", "text", false}})
	s.Response = nil
	same(t, "service", s, workflow.HTTP{
		URL: "https://scores.example/v1/score", Method: "POST", Headers: map[string]string{"Authorization": "Bearer ${secret:SCORES}"},
		Send: []string{"left_title", "right_title"}, Hidden: []string{"known"}, Timeout: 5 * time.Second, Tries: 5, Backoff: time.Second, Concurrency: 10,
	})
	same(t, "outputs", w.Outputs, []workflow.Output{
		{Name: "matches", Node: 3, Format: "csv", Columns: []string{"left_id", "right_id", "verdict"}, Place: workflow.Place{Line: 68, Column: 3}},
		{Name: "all", Node: 5, Format: "jsonl", Place: workflow.Place{Line: 69, Column: 3}},
	})
}

func TestDefaults(t *testing.T) {
	w := good(t, "workflow: w\nsla: {penalty: constant, after: 1h, cost: 1}\ninputs: {a: {}}\nsteps:\n  first:\n    from: a\n"+ask+
		"  second: {from: a, service: {url: 'http://x.example', response: {type: object, properties: {b: {}}}}}\n  third: {from: {first: stream}, sql: select 1}\n")
	first, second, third := w.Step(1), w.Step(2), w.Step(3)
	same(t, "per", w.SLA.PerItem, true)
	same(t, "edge", first.From[0].Edge, "batch")
	c := *first.Crowd()
	same(t, "simulate", *c.Simulate, workflow.Simulate{Accuracy: 0.9, Time: 30 * time.Second, Spread: 0.5})
	c.Template, c.Simulate = nil, nil
	same(t, "crowd", c, workflow.Crowd{Output: "first", Redundancy: label.Count(1), Reward: 50_000, Priority: 1, Lease: 30 * time.Minute, TaskTime: 30 * time.Second})
	s := *second.HTTP()
	s.Response = nil
	same(t, "service", s, workflow.HTTP{URL: "http://x.example", Method: "POST", Timeout: 10 * time.Second, Tries: 5, Backoff: time.Second, Concurrency: 10})
	same(t, "expected", expected(w), []time.Duration{30 * time.Second, time.Second, 100 * time.Millisecond})
	same(t, "outputs", w.Outputs, []workflow.Output{{Name: "second", Node: 2, Format: "csv"}, {Name: "third", Node: 3, Format: "csv"}})
	same(t, "open", []bool{w.Inputs[0].Open(), first.Open, second.Open, third.Open}, []bool{true, true, true, true})
	if third.SQL().Why != "" || third.SQL().Time != 0 || third.SQL().Rows != 0 {
		t.Errorf("%+v", third.SQL())
	}
}

// TestFormsOfUnits: 0 needs no unit, blanks may stand between the parts of a
// duration, and digits may be grouped; the schema says so, too.
func TestFormsOfUnits(t *testing.T) {
	text := "workflow: w\ninputs: {a: {}}\nsteps:\n  s: {from: a, service: {url: 'http://x.example', backoff: 0, timeout: 1m 30s, response: {type: object, properties: {b: {}}}}}\n" +
		"  q: {from: s, expect: ' 1h 1s ', sql: {query: select 1, rows: 1_000_000, time: '5s'}}\n"
	w := good(t, text)
	same(t, "service", []any{w.Step(1).HTTP().Backoff, w.Step(1).HTTP().Timeout}, []any{"0s", "1m30s"})
	same(t, "query", []any{w.Step(2).SQL().Rows, w.Step(2).SQL().Time, w.Step(2).Expect}, []any{1_000_000, "5s", "1h0m1s"})
	if err := fits(t, compiled(t), []byte(text)); err != nil {
		t.Error(err)
	}
	simulated := good(t, "workflow: w\ninputs: {a: {}}\nsteps:\n  s: {from: a, crowd: {template: {kind: short_text}, reward: 1, simulate: {accuracy: .75, time: 2s, spread: 2.5e-1}}}\n")
	same(t, "simulate", *simulated.Step(1).Crowd().Simulate, workflow.Simulate{Accuracy: 0.75, Time: 2 * time.Second, Spread: 0.25})
	_, problems := workflow.Parse([]byte(strings.Replace(text, "1_000_000", "-5", 1)), now, nil)
	same(t, "a negative count", lines(problems), "5:64: \"-5\" is negative: a whole number from 1 to 100000000 is wanted\n")
	for _, wrong := range []string{"1 0s", "5", "-1s", "1_0s"} {
		bad := strings.Replace(text, "backoff: 0", "backoff: "+wrong, 1)
		if _, problems := workflow.Parse([]byte(bad), now, nil); len(problems) != 1 || problems[0].Line != 4 {
			t.Errorf("%s: %v", wrong, problems)
		}
		if fits(t, compiled(t), []byte(bad)) == nil {
			t.Errorf("%s fits the schema", wrong)
		}
	}
}

// TestOfManyTheFirstAreTold: those at the beginning of the file, though they
// were found last.
func TestOfManyTheFirstAreTold(t *testing.T) {
	text := "workflow: w\ninputs: {unread: {}}\nsteps:\n  s: {from: none, sql: select 1}\n"
	for i := range 300 {
		text += fmt.Sprintf("x%d: 1\n", i)
	}
	_, problems := workflow.Parse([]byte(text), now, nil)
	if len(problems) != 101 || problems[0].Line != 2 || problems[1].Line != 4 || problems[2].Line != 5 || problems[100].Message != "and 202 more errors" {
		t.Errorf("%d problems: %v", len(problems), problems[:3])
	}
}

func TestClaims(t *testing.T) {
	w := goodFile(t, "claims")
	same(t, "deadline", []any{w.SLA.PerItem, w.SLA.Deadline, w.SLA.Penalty.After}, []any{false, time.Date(2026, 12, 24, 12, 0, 0, 0, time.UTC), "0s"})
	if _, problems := workflow.Parse(w.Text(), time.Date(2026, 12, 24, 12, 0, 0, 0, time.UTC), sqlEngine{}); len(problems) != 1 || problems[0].Line != 2 {
		t.Errorf("a deadline that is now: %v", problems)
	}
	same(t, "label of numbers", w.Step(2).Own[0], workflow.Column{Name: "damage", Type: condition.Number})
	same(t, "label of a form", w.Step(3).Own[0], workflow.Column{Name: "expert", Type: condition.Text})
	same(t, "drop", w.Step(2).OnError, "drop")
	same(t, "form shows all", strings.Contains(string(w.Step(3).Crowd().Template), "show"), false)
	same(t, "show nothing", strings.Contains(string(w.Step(2).Crowd().Template), `"show":[]`), true)
	same(t, "answer", w.Step(1).Own, []workflow.Column{{"number", "number"}, {"urgent", "bool"}})
	// register, damage, expert, decide: a fork and a join.
	p := w.Plan()
	same(t, "plan", [][]int{p.After(0), p.After(1), p.After(2), p.After(3)}, [][]int{{}, {0}, {1}, {0, 1, 2}})
	same(t, "tails", p.Tails(expected(w)), []time.Duration{61 * time.Second, 31 * time.Second, time.Second, 0})
}

func TestRoundsOfRedundancy(t *testing.T) {
	for rule, want := range map[string]time.Duration{
		"{count: 5}": time.Minute, "{agree: 1, of: 1}": time.Minute, "{agree: 2, of: 3}": 2 * time.Minute, "{agree: 3, of: 7}": 5 * time.Minute,
		"{agree: 1, of: 1000}": 1000 * time.Minute,
	} {
		w := good(t, "workflow: w\ninputs: {a: {}}\nsteps:\n  s:\n    from: a\n    crowd: {template: {kind: short_text}, reward: 1, task_time: 1m, redundancy: "+rule+"}\n")
		if got := expected(w)[0]; got != want {
			t.Errorf("%s takes %s, want %s", rule, got, want)
		}
	}
}

func TestYesAndNoAreTexts(t *testing.T) {
	w := goodFile(t, "texts")
	same(t, "name", w.Name, "on")
	var names []string
	for _, c := range w.Inputs[0].Columns {
		names = append(names, c.Name)
	}
	same(t, "columns", names, []string{"yes", "no", "on", "off", "y", "true", "12", "price"})
	var options struct {
		Question string
		Options  []string
		Show     []string
	}
	if err := json.Unmarshal(w.Step(1).Crowd().Template, &options); err != nil {
		t.Fatal(err)
	}
	same(t, "question", options.Question, "yes")
	same(t, "options", options.Options, []string{"yes", "no", "on", "off", "true", "1.0"})
	same(t, "show", options.Show, []string{"yes", "off"})
	same(t, "from", w.Step(1).From, []workflow.Source{{"n", 0, "batch"}})
	same(t, "query", []any{w.Step(2).SQL().RowByRow, w.Step(2).SQL().Time, w.Step(2).SQL().Rows}, []any{true, "5s", 1000})
}

// TestTruthIsNotShown: where a template says nothing of what it shows, it shows
// all columns but the known answer.
func TestTruthIsNotShown(t *testing.T) {
	text := "workflow: w\ninputs: {a: {columns: [id, text, known]}}\nsteps:\n  s:\n    from: a\n    crowd: {template: {kind: short_text}, reward: 1, truth: known}\n"
	same(t, "template", string(good(t, text).Step(1).Crowd().Template), `{"kind":"short_text","show":["id","text"]}`)
	for _, other := range []string{"KNOWN", "Known"} { // which SQL takes for the same name
		renamed := text + "  q: {from: s, sql: 'select id, known as " + other + " from s'}\n  r:\n    from: q\n    crowd: {template: {kind: short_text}, reward: 1}\n"
		same(t, "template of "+other, string(good(t, renamed).Step(3).Crowd().Template), `{"kind":"short_text","show":["id"]}`)
		for _, names := range []string{"show: [" + other + "]", "question: \"${" + other + "}?\""} {
			shows := strings.Replace(renamed, "{kind: short_text}, reward: 1}\n", "{kind: short_text, "+names+"}, reward: 1}\n", 1)
			_, problems := workflow.Parse([]byte(shows), now, sqlEngine{})
			if !strings.Contains(lines(problems), "is the known answer (truth)") {
				t.Errorf("%s: %v\n%s", names, lines(problems), shows)
			}
		}
	}
	sent := text + "  q: {from: s, sql: 'select id, known as KNOWN from s'}\n  c: {from: q, service: {url: 'https://x.example/', send: [id, KNOWN], response: {type: object, properties: {a: {type: string}}}}}\n"
	if _, problems := workflow.Parse([]byte(sent), now, sqlEngine{}); !strings.Contains(lines(problems), "is the known answer (truth)") {
		t.Errorf("send: %s", lines(problems))
	}
	open := strings.Replace(text, "{columns: [id, text, known]}", "{}", 1)
	w := good(t, open)
	same(t, "open template", string(w.Step(1).Crowd().Template), `{"kind":"short_text"}`)
	fit, problems := w.Fit(map[string][]string{"a": {"known", "id"}}, now, sqlEngine{})
	if problems != nil {
		t.Fatal(problems)
	}
	same(t, "fit template", string(fit.Step(1).Crowd().Template), `{"kind":"short_text","show":["id"]}`)
}

func TestFit(t *testing.T) {
	w := good(t, `workflow: w
inputs:
  a: {}
  b: {columns: [key, {n: number}]}
steps:
  s:
    from: a
    when: kind == "x"
    crowd: {template: {kind: short_text, question: "${title}"}, reward: 1}
  q:
    from: [s, b]
    sql: |
      select s.title, b.n
      from s join b on s.id = b.key
  r:
    from: {q: stream}
    when: n > 1
`+ask)
	fit, problems := w.Fit(map[string][]string{"a": {"id", "kind", "title"}, "b": {"n", "more", "key"}}, now, sqlEngine{})
	if problems != nil {
		t.Fatal(problems)
	}
	same(t, "a", fit.Inputs[0].Columns, []workflow.Column{{"id", "text"}, {"kind", "text"}, {"title", "text"}})
	same(t, "b", fit.Inputs[1].Columns, []workflow.Column{{"key", "text"}, {"n", "number"}})
	same(t, "q", []any{fit.Step(3).Columns, fit.Step(3).Open}, []any{[]workflow.Column{{"title", "text"}, {"n", "number"}}, false})
	for _, c := range []struct {
		name  string
		files map[string][]string
		want  string
	}{
		{"another column", map[string][]string{"a": {"id", "kinds", "titles"}, "b": {"key", "n"}},
			"8:11: when: there is no column \"kind\": did you mean kinds?\n9:53: ${title}: there is no such column: did you mean \"titles\"? the data has id, kinds, titles\n13:14: sql: there is no column s.title\n"},
		{"sql", map[string][]string{"a": {"nr", "kind", "title"}, "b": {"key", "n"}}, "14:24: sql: there is no column s.id\n"},
		{"declared", map[string][]string{"a": {"id", "kind", "title"}, "b": {"keys"}},
			"4:17: the file for b has no column \"key\": did you mean keys?\n4:23: the file for b has no column \"n\": known are keys\n"},
		{"none", nil, "3:3: no file is given for the input a\n4:3: no file is given for the input b\n"},
		{"strange", map[string][]string{"a": {"id", "ID", "kind", "title", ""}, "b": {"key", "n"}, "c": {"x"}},
			"2:1: there is no input \"c\" for which a file is given: known are a, b\n3:3: the file has two columns \"ID\"; large and small letters are the same here\n3:3: the file: a column has a name\n"},
		{"empty", map[string][]string{"a": {}, "b": {"key", "n"}}, "3:3: the file for a has no columns\n"},
	} {
		_, problems := w.Fit(c.files, now, sqlEngine{})
		if got := lines(problems); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", c.name, got, c.want)
		}
	}
}

// TestPlacesInTexts writes a condition with one unknown name in every form that
// YAML has for a text, and finds the name.
func TestPlacesInTexts(t *testing.T) {
	for name, form := range map[string]string{
		"plain":         "    when: id == \"ä\" and qqq > 1\n",
		"plain, folded": "    when: id == \"ä\"\n\n      and qqq > 1\n",
		"single":        "    when: 'id == \"it''s\" and qqq > 1'\n",
		"single, lines": "    when: 'id == \"it''s\"\n     and   qqq > 1'\n",
		"double":        "    when: \"id == \\\"\\t\\x41\\u00e4\\U0001F600 \\\\\\\\ \\\" and qqq > 1\"\n",
		"double, lines": "    when: \"id == 'a \\\n       b'\\n\n\n      and qqq > 1\"\n",
		"literal":       "    when: |\n\n      id == \"ä\"\n        and qqq > 1\n",
		"literal, 2":    "    when: |2-\n       id == \"ä\"\n\n        and qqq > 1\n\n",
		"folded":        "    when: >\n      id == \"ä\"\n      and\n\n      qqq > 1\n",
		"folded, more":  "    when: >+\n      id == \"ä\"\n         and qqq\n        > 1\n",
		"comment":       "    # qqq\n    when: >- # qqq\n      id == \"ä\"\n      and qqq > 1\n",
	} {
		text := "workflow: w\ninputs: {a: {columns: [id, {n: number}]}}\nsteps:\n  s:\n    from: a\n" + ask + form
		for _, text := range []string{text, strings.ReplaceAll(text, "\n", "\r\n")} {
			_, problems := workflow.Parse([]byte(text), now, nil)
			at := strings.LastIndex(text, "qqq")
			line := 1 + strings.Count(text[:at], "\n")
			column := 1 + len([]rune(text[strings.LastIndexByte(text[:at], '\n')+1:at]))
			if len(problems) != 1 || problems[0].Line != line || problems[0].Column != column || !strings.Contains(problems[0].Message, "qqq") {
				t.Errorf("%s: %v, want one at %d:%d", name, problems, line, column)
			}
		}
	}
}

// TestReservedWords has the real engine read from a table of each name that a
// step may have, and some that it may not.
func TestReservedWords(t *testing.T) {
	free := []string{"left", "right", "score", "key", "row", "action", "end_", "rows", "first", "value", "filter", "window", "temp", "view", "x1"}
	for _, name := range free {
		good(t, "workflow: w\ninputs: {"+name+": {columns: [id]}}\nsteps: {s: {from: "+name+", sql: select "+name+".id from "+name+" where "+name+".id = 1}}\n")
	}
	refused := 0
	for _, name := range workflow.Reserved() {
		_, problems := workflow.Parse([]byte("workflow: w\ninputs: {"+name+": {columns: [id]}}\nsteps: {s: {from: "+name+", sql: select 1}}\n"), now, nil)
		if len(problems) == 0 {
			t.Errorf("%s is taken", name)
		}
		refused++
	}
	if refused < 50 {
		t.Errorf("only %d words", refused)
	}
}

// TestConditionsAreCheckedForNamesAndTypesOnly makes up two conditions whose names
// and types are right: the file is taken whether or not they can hold together,
// one step behind the other and as branches of a join of all.
func TestConditionsAreCheckedForNamesAndTypesOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one, other := madeCondition(t, 2), madeCondition(t, 2)
		if rapid.Bool().Draw(t, "opposite") {
			other = "not (" + one + ")"
		}
		quoted := func(text string) string { return "    when: '" + strings.ReplaceAll(text, "'", "''") + "'\n" }
		w := good(t, "workflow: w\ninputs: {a: {columns: [{n: number}, {m: number}, k, {b: bool}]}}\nsteps:\n  x:\n    from: a\n"+quoted(one)+ask+
			"  y:\n    from: {x: stream}\n"+quoted(other)+ask+"  z:\n    from: a\n"+quoted(other)+ask+"  both:\n    from: [x, z]\n    join: all\n"+ask)
		if w.Steps[0].When.Text() != one {
			t.Fatalf("the condition of x is %q, want %q", w.Steps[0].When.Text(), one)
		}
	})
}

// madeCondition makes up a condition over n, m, k and b.
func madeCondition(t *rapid.T, depth int) string {
	if depth > 0 {
		switch rapid.IntRange(0, 4).Draw(t, "form") {
		case 0:
			return "(" + madeCondition(t, depth-1) + " and " + madeCondition(t, depth-1) + ")"
		case 1:
			return "(" + madeCondition(t, depth-1) + " || " + madeCondition(t, depth-1) + ")"
		case 2:
			return "not (" + madeCondition(t, depth-1) + ")"
		}
	}
	number := fmt.Sprint(rapid.IntRange(0, 3).Draw(t, "number"))
	word := rapid.SampledFrom([]string{"p", "q", "r"}).Draw(t, "word")
	operator := rapid.SampledFrom([]string{"<", "<=", ">", ">=", "==", "!="}).Draw(t, "operator")
	switch rapid.IntRange(0, 8).Draw(t, "part") {
	case 0:
		return number + " " + operator + " n"
	case 1:
		return "k == \"" + word + "\""
	case 2:
		return "k != '" + word + "'"
	case 3:
		return "k in ['" + word + "', 'q']"
	case 4:
		return "k not in ['" + word + "', 'q']"
	case 5:
		return rapid.SampledFrom([]string{"b", "!b", "b == true", "b != true", "b == false"}).Draw(t, "bool")
	case 6:
		return "k contains '" + word + "'"
	case 7:
		return "n + m " + operator + " " + number
	}
	return "n " + operator + " " + number
}

// TestStepsAreInOrder: after their sources, else in the order of the file.
func TestStepsAreInOrder(t *testing.T) {
	w := good(t, "workflow: w\ninputs: {a: {}}\nsteps:\n  x:\n    from: m\n"+ask+"  y:\n    from: a\n"+ask+"  m:\n    from: a\n"+ask+"  z:\n    from: a\n"+ask)
	var names []string
	for i := range w.Steps {
		names = append(names, w.Steps[i].Name)
	}
	same(t, "order", names, []string{"y", "m", "x", "z"})
}

// TestWhatHasNoValueIsRefused in conditions of files that are new; those that are kept may
// have it.
func TestWhatHasNoValueIsRefused(t *testing.T) {
	t.Parallel()
	text := `workflow: w
sla:
  classes:
    large: {when: n / 0 > 2, penalty: staged, after: 1h, every: 1h, cost: 2}
    small: {penalty: constant, after: 2h, cost: 1}
inputs:
  a: {columns: [{n: number}]}
steps:
  first: {from: {a: stream}, when: n > 1 / (2 - 2), ` + strings.TrimSpace(ask) + `}
`
	_, problems := workflow.Parse([]byte(text), now, sqlEngine{})
	if len(problems) != 2 || problems[0].Message != "when: nothing is divided by 0" || problems[0].Line != 4 || problems[1].Message != problems[0].Message || problems[1].Line != 9 {
		t.Errorf("a new file:\n%s", lines(problems))
	}
	if _, problems = workflow.Parse([]byte(text), time.Time{}, sqlEngine{}); problems != nil {
		t.Errorf("a kept file:\n%s", lines(problems))
	}
}

// TestClassesOfItems: a class has its condition for each node in which items begin that go
// through steps one by one, over the columns there.
func TestClassesOfItems(t *testing.T) {
	text := `workflow: w
sla:
  classes:
    large: {when: n > 2, penalty: staged, after: 1h, every: 1h, cost: 2}
    small: {penalty: constant, after: 2h, cost: 1}
inputs:
  a: {columns: [{n: number}]}
  b: {}
  c: {columns: [id]}
steps:
  first: {from: {a: stream}, ` + strings.TrimSpace(ask) + `}
  sums: {from: [b, c], sql: "select b.id, 3 as n from b join c", columns: {n: number}}
  second: {from: {sums: stream}, ` + strings.TrimSpace(ask) + `}
  total: {from: second, sql: select count(*) as many from second}
`
	w := good(t, text)
	s := w.SLA
	same(t, "classes", []any{s.PerItem, s.ClassName(0), s.ClassName(1), s.ClassName(2), s.Of(0).Cost, s.Of(1).Kind, s.Classes[1].When == nil}, []any{true, "large", "small", "", 2 * crowd.Unit, sla.Constant, true})
	var nodes []string
	for n, c := range s.Classes[0].When {
		is, err := c.Eval(map[string]any{"n": 3.0})
		if err != nil || !is {
			t.Errorf("the condition at %s does not hold: %v", w.NodeName(n), err)
		}
		nodes = append(nodes, w.NodeName(n))
	}
	slices.Sort(nodes)
	same(t, "where items begin", nodes, []string{"a", "sums"})
	if none := (*workflow.SLA)(nil); none.ClassName(0) != "" {
		t.Error("there is a class without an SLA")
	}
	if _, problems := w.Fit(map[string][]string{"a": {"n"}, "b": {"id"}, "c": {"id"}}, now, sqlEngine{}); problems != nil {
		t.Errorf("with its files:\n%s", lines(problems))
	}
	open := strings.Replace(text, "[{n: number}]", "[id]", 1)
	if _, problems := workflow.Parse([]byte(open), now, sqlEngine{}); len(problems) != 1 || problems[0].Message != `when: there is no column "n" in the input a: known are id` || problems[0].Line != 4 {
		t.Errorf("without the column:\n%s", lines(problems))
	}
	// Of an input without columns it is found out with the file.
	w = good(t, strings.NewReplacer("{columns: [{n: number}]}", "{}", "n > 2", "n == '3'", "3 as n", "'3' as n", ", columns: {n: number}}", "}").Replace(text))
	if _, problems := w.Fit(map[string][]string{"a": {"id"}, "b": {"id"}, "c": {"id"}}, now, sqlEngine{}); len(problems) != 1 || problems[0].Line != 4 {
		t.Errorf("with a file without the column:\n%s", lines(problems))
	}
}
