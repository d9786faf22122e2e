package task_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/label"
)

// stream is a task.Random.
type stream struct{ *rand.Rand }

func newStream(seed uint64) stream { return stream{rand.New(rand.NewPCG(seed, 0))} }
func (s stream) Normal() float64   { return s.NormFloat64() }
func compiled(t *testing.T, d *task.Descriptor) *task.Compiled {
	t.Helper()
	return mustCompile(t, d.Example.Template)
}

// The example of each kind is one: its template is valid and comes back from its
// JSON form, its row is shown, its answer is accepted, and its wrong answer is
// refused with an error that names the field.
func TestExamples(t *testing.T) {
	t.Parallel()
	if len(task.Descriptors()) < 8 {
		t.Fatalf("only %d kinds", len(task.Descriptors()))
	}
	for _, d := range task.Descriptors() {
		t.Run(string(d.Kind), func(t *testing.T) {
			t.Parallel()
			example := d.Example
			if d.Name == "" || d.Hint == "" || example.Template.Kind != d.Kind {
				t.Errorf("the descriptor of %q says %q, %q, an example of %q", d.Kind, d.Name, d.Hint, example.Template.Kind)
			}
			for _, problem := range example.Template.Validate(example.Row.Columns) {
				t.Error(problem)
			}
			raw, err := json.Marshal(example.Template)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(example.Template, mustParse(t, string(raw))); diff != "" {
				t.Errorf("%s comes back otherwise (-want +got):\n%s", raw, diff)
			}
			c := compiled(t, d)
			view := render(c, example.Row)
			if len(view.Controls) == 0 || view.Framed() != d.Framed {
				t.Errorf("shown as %+v", view)
			}
			shown := len(view.Cells)
			if view.Left != nil && view.Right != nil {
				shown += 2
			}
			if !d.Framed && shown != len(example.Row.Columns) {
				t.Errorf("%d of %d columns are shown", shown, len(example.Row.Columns))
			}
			if _, err := renderHTML(c, example.Row, task.Frame{Preview: true}); (err == nil) != d.Framed {
				t.Errorf("as a document: %v", err)
			}
			canonical, key, err := c.Check(example.Answer)
			if err != nil || canonical != string(example.Answer) || key == "" {
				t.Errorf("the answer %s is read as %s, compared by %q: %v", example.Answer, canonical, key, err)
			}
			if known, err := c.Known(key); err != nil || known != key {
				t.Errorf("the known answer %q has the key %q: %v", key, known, err)
			}
			if !d.Composite {
				if _, again, err := c.Check(c.FromKey(key)); err != nil || again != key {
					t.Errorf("the answer from the key %q has the key %q: %v", key, again, err)
				}
			}
			var wrong map[string]json.RawMessage
			if err := json.Unmarshal(example.Wrong, &wrong); err != nil || len(wrong) != 1 {
				t.Fatalf("the wrong answer is %s: %v", example.Wrong, err)
			}
			_, _, err = c.Check(example.Wrong)
			var refused *crowd.Error
			if !errors.As(err, &refused) || refused.Code != crowd.Invalid {
				t.Fatalf("the wrong answer %s: %v", example.Wrong, err)
			}
			if _, named := wrong[refused.Field]; !named {
				t.Errorf("%s is refused for %q: %v", example.Wrong, refused.Field, err)
			}
		})
	}
}

// Every simulated answer is accepted; a worker who is right gives the known
// answer or what the others take for true, one who errs does not always.
func TestSimulatedAnswersAreAccepted(t *testing.T) {
	t.Parallel()
	for _, d := range task.Descriptors() {
		t.Run(string(d.Kind), func(t *testing.T) {
			t.Parallel()
			c := compiled(t, d)
			_, gold, err := c.Check(d.Example.Answer)
			if err != nil {
				t.Fatal(err)
			}
			answer := func(gold string, right bool, truth, chance uint64) string {
				raw := c.Simulate(gold, right, newStream(truth), newStream(chance))
				_, key, err := c.Check(raw)
				if err != nil {
					t.Fatalf("%s: %v", raw, err)
				}
				return key
			}
			errors := 0
			for seed := range uint64(200) {
				if key := answer(gold, true, seed, seed+1); key != gold {
					t.Errorf("who is right answers %q, not %q", key, gold)
				}
				if one, other := answer("", true, seed, 1), answer("", true, seed, 2); one != other {
					t.Errorf("two who are right answer %q and %q", one, other)
				}
				answer("", false, seed, seed+1)
				if answer(gold, false, seed, seed+1) != gold {
					errors++
				}
			}
			if errors < 100 {
				t.Errorf("of 200 who err, %d do", errors)
			}
		})
	}
}

// No two kinds have an own setting, or a field of the requester's form with
// another meaning, of one name; every setting can be set from text and is
// refused where it does not belong.
func TestSettings(t *testing.T) {
	t.Parallel()
	names := make(map[string]bool)
	for _, s := range task.Settings() {
		if names[s.Name] {
			t.Errorf("two settings are called %s", s.Name)
		}
		names[s.Name] = true
	}
	written := map[string]string{
		"*string": "x", "*bool": "true", "*int": "7", "**float64": "3", "*[]task.Option": `["a","b"]`, "*[]task.Show": `["c"]`, "**task.Show": "c", "*[]task.Field": `[{"name":"n"}]`,
	}
	types := make(map[string]string)
	for _, d := range task.Descriptors() {
		for _, s := range d.Settings {
			tmpl := task.Template{Kind: d.Kind}
			kind := reflect.TypeOf(s.In(&tmpl)).String()
			if before, twice := types[s.Input.Name]; twice && before != kind || s.Input.Name == "" || s.Input.Label == "" || !names[s.Name] {
				t.Errorf("%s: the form asks for %s as %+v", d.Kind, s.Name, s.Input)
			}
			types[s.Input.Name] = kind
			if err := s.Parse(&tmpl, written[kind]); err != nil {
				t.Errorf("%s of type %s: %v", s.Name, kind, err)
			}
			if reflect.ValueOf(s.In(&tmpl)).Elem().IsZero() {
				t.Errorf("%s of %s is not set", s.Name, d.Kind)
			}
			if err := s.Parse(&tmpl, "{"); kind != "*string" && kind != "**task.Show" && (err == nil || crowd.CodeOf(err) != crowd.Invalid) {
				t.Errorf("%s of %s takes {: %v", s.Name, d.Kind, err)
			}
		}
	}
}

func TestRating(t *testing.T) {
	t.Parallel()
	c := mustCompile(t, mustParse(t, `{"kind":"rating","show":[],"points":11,"low":"bad for ${who}","high":"good"}`))
	control := render(c, task.Values{Columns: []string{"who"}, Cells: []string{"cats"}}).Controls[0]
	if n := len(control.Options); n != 11 || control.Type != task.ControlRadio || *control.Min != 1 || *control.Max != 11 {
		t.Fatalf("%+v", control)
	}
	for i, want := range map[int]task.ViewOption{
		0: {Value: "1", Label: "1: bad for cats", Key: "1"}, 1: {Value: "2", Label: "2", Key: "2"}, 8: {Value: "9", Label: "9", Key: "9"},
		9: {Value: "10", Label: "10", Key: "0"}, 10: {Value: "11", Label: "11: good", Key: "-"},
	} {
		if control.Options[i] != want {
			t.Errorf("point %d is %+v, want %+v", i+1, control.Options[i], want)
		}
	}
	for raw, want := range map[string]string{`4`: `{"label":4}`, `"11"`: `{"label":11}`, `{"label":" 1 "}`: `{"label":1}`} {
		if canonical, _, err := c.Check(json.RawMessage(raw)); err != nil || canonical != want {
			t.Errorf("%s is read as %s, %v", raw, canonical, err)
		}
	}
	for _, raw := range []string{`0`, `12`, `2.5`, `"four"`, `""`, `[4]`, `null`} {
		if canonical, _, err := c.Check(json.RawMessage(raw)); crowd.CodeOf(err) != crowd.Invalid {
			t.Errorf("%s is read as %s, %v", raw, canonical, err)
		}
	}
	if r := c.Template().Rule(label.Count(3)); r != label.Count(3).WithMedian(true) {
		t.Errorf("ratings are combined by %v", r)
	}
	for text, want := range map[string]string{
		`{"kind":"rating","question":"?","points":1}`:               `points: 1 points make no scale: use 2 to 11`,
		`{"kind":"rating","question":" "}`:                          `question: is missing: without it nobody knows what the answer says`,
		`{"kind":"rating","question":"?","points":12}`:              `points: 12 points make no scale: use 2 to 11`,
		`{"kind":"rating","question":"?","low":"${a b}"}`:           "low: ${a b} is not a placeholder: a name has only letters, digits, \"_\", \"-\" and \".\", so rename the column if need be",
		`{"kind":"rating","question":"?","options":["a","b"]}`:      `options: does not belong to the kind rating: leave it out`,
		`{"kind":"rating","question":"?","points":5,"high":"${x}"}`: `high: ${x}: there is no such column: the data has id`,
	} {
		problems := mustParse(t, text).Validate([]string{"id"})
		if len(problems) != 1 || problems[0].Error() != want {
			t.Errorf("%s: %v, want %s", text, problems, want)
		}
	}
	stranger := task.Template{Kind: task.Number, Own: &task.RatingSettings{}}
	if problems := stranger.Validate(nil); len(problems) != 1 || problems[0].Field != "kind" {
		t.Errorf("a number with the settings of a rating: %v", problems)
	}
	if problems := mustParse(t, `{"kind":"rating","question":"?"}`).Validate(nil); len(problems) > 0 {
		t.Errorf("of five points by default: %v", problems)
	}
	for text, want := range map[string]string{
		`{"kind":"number","points":5}`:      `template: unknown field "points"`,
		`{"kind":"rating","point":5}`:       `template: unknown field "point"`,
		`{"kind":"rating","points":"many"}`: `points: "many" should be a whole number`,
		`{"kind":"rating","points":null}`:   `points: null should be a whole number`,
		`{"kind":"rating","low":3}`:         `low: 3 should be a text`,
	} {
		if _, err := task.Parse([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// Each kind offers the methods that fit its answers, the best first, and says
// which they are where another is asked for.
func TestMethodsOfAKind(t *testing.T) {
	t.Parallel()
	for kind, want := range map[task.Kind]string{
		task.Rating:     "median majority ds-map robust onecoin wawa incremental ds mean trimmed weighted",
		task.Number:     "median majority mean trimmed weighted",
		task.ShortText:  "central majority",
		task.ChooseOne:  "ds-map majority robust onecoin wawa incremental ds",
		task.ChooseMany: "per-option majority ds-map robust onecoin wawa incremental ds",
		"":              "ds-map majority median robust onecoin wawa incremental ds mean trimmed weighted central per-option regions", // not known: any may fit
	} {
		var names []string
		for _, m := range kind.Describe().Methods() {
			names = append(names, m.Name())
			if got, err := kind.Describe().Method(m.Name()); err != nil || got != m {
				t.Errorf("%q by %s: %v, %v", kind, m.Name(), got, err)
			}
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%q: %s, want %s", kind, got, want)
		}
		if m, err := kind.Describe().Method(""); err != nil || m.Name() != names[0] {
			t.Errorf("%q by default: %v, %v", kind, m, err)
		}
	}
	for name, want := range map[string]string{
		"median": "method: median does not fit the kind choose_one: use ds-map, majority, robust, onecoin, wawa, incremental, ds",
		"meen":   `method: "meen" is not known; did you mean "mean"? (majority, median, ds-map, robust, onecoin, wawa, incremental, ds, mean, trimmed, weighted, central, per-option, regions)`,
	} {
		if _, err := task.ChooseOne.Describe().Method(name); crowd.CodeOf(err) != crowd.Invalid || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
