package workflow_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/internal/workflow"
)

const published = "../../docs/workflow.schema.json"

func TestSchemaIsPublished(t *testing.T) {
	if *update {
		if err := os.WriteFile(published, workflow.Schema(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(published)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text, workflow.Schema()) {
		t.Errorf("%s is not current: run the test with -update", published)
	}
}

func schemaTree(t *testing.T) map[string]any {
	t.Helper()
	var tree map[string]any
	if err := json.Unmarshal(workflow.Schema(), &tree); err != nil {
		t.Fatal(err)
	}
	return tree
}

// way is how to a mapping in a file: names of fields, "*" for a name that one
// chooses, and "-" for an item of a list.
type way []string

// wrap is a file in which value stands at the way.
func (w way) wrap(value string) string {
	for _, step := range slices.Backward(w) {
		switch step {
		case "*":
			value = "{some: " + value + "}"
		case "-":
			value = "[" + value + "]"
		default:
			value = "{" + step + ": " + value + "}"
		}
	}
	return value
}

// mappings calls visit for each mapping of known fields in a schema.
func mappings(schema map[string]any, at way, visit func(at way, fields []string)) {
	if properties, ok := schema["properties"].(map[string]any); ok {
		visit(at, slices.Sorted(maps.Keys(properties)))
		for name, p := range properties {
			mappings(p.(map[string]any), append(slices.Clone(at), name), visit)
		}
	}
	if more, ok := schema["additionalProperties"].(map[string]any); ok {
		mappings(more, append(slices.Clone(at), "*"), visit)
	}
	if items, ok := schema["items"].(map[string]any); ok {
		mappings(items, append(slices.Clone(at), "-"), visit)
	}
	if either, ok := schema["anyOf"].([]any); ok {
		for _, e := range either {
			mappings(e.(map[string]any), at, visit)
		}
	}
}

var unknownForm = regexp.MustCompile(`there is no field "([^"]*)" here: known are (.*)$`)

// TestSchemaKnowsWhatTheParserKnows walks all mappings of the schema and asks the
// parser for a field that nobody has: it answers with those that it knows.
func TestSchemaKnowsWhatTheParserKnows(t *testing.T) {
	looked, fields := 0, 0
	mappings(schemaTree(t), nil, func(at way, names []string) {
		looked++
		_, problems := workflow.Parse([]byte(at.wrap("{qqqqqqqqqqqq: 1}")), now, nil)
		found := false
		for _, p := range problems {
			m := unknownForm.FindStringSubmatch(p.Message)
			if m == nil || m[1] != "qqqqqqqqqqqq" {
				continue
			}
			found = true
			known := strings.Split(m[2], ", ")
			slices.Sort(known)
			if !slices.Equal(known, names) {
				t.Errorf("at %v the parser knows %v, the schema %v", at, known, names)
			}
		}
		if !found {
			t.Errorf("at %v the parser minds no field of any name: %v", at, problems)
		}
		for _, name := range names {
			fields++
			_, problems := workflow.Parse([]byte(append(slices.Clone(at), name).wrap("~")), now, nil)
			for _, p := range problems {
				if strings.Contains(p.Message, "there is no field "+fmt.Sprintf("%q", name)) {
					t.Errorf("at %v the parser does not know %s", at, name)
				}
			}
		}
	})
	if looked < 14 || fields < 90 {
		t.Errorf("only %d mappings with %d fields were looked at", looked, fields)
	}
}

// TestSchemaKnowsTheChoices gives the parser each word of each choice, and one
// that is none.
func TestSchemaKnowsTheChoices(t *testing.T) {
	words := 0
	var walk func(schema map[string]any, at way)
	walk = func(schema map[string]any, at way) {
		if list, ok := schema["enum"].([]any); ok {
			for _, word := range append(list, "qqqqqqqqqqqq") {
				if _, text := word.(string); !text || list[0] == true {
					continue // of a bool
				}
				words++
				_, problems := workflow.Parse([]byte(at.wrap(word.(string))), now, nil)
				refused := slices.ContainsFunc(problems, func(p workflow.Problem) bool {
					return strings.HasPrefix(p.Message, fmt.Sprintf("%q is not known here", word))
				})
				if refused != (word == "qqqqqqqqqqqq") {
					t.Errorf("at %v the word %s: refused %v", at, word, refused)
				}
			}
		}
		if properties, ok := schema["properties"].(map[string]any); ok {
			for name, p := range properties {
				walk(p.(map[string]any), append(slices.Clone(at), name))
			}
		}
		for name, sign := range map[string]string{"additionalProperties": "*", "items": "-"} {
			if s, ok := schema[name].(map[string]any); ok {
				walk(s, append(slices.Clone(at), sign))
			}
		}
		if either, ok := schema["anyOf"].([]any); ok {
			for _, e := range either {
				walk(e.(map[string]any), at)
			}
		}
	}
	walk(schemaTree(t), nil)
	if words < 50 {
		t.Errorf("only %d words were looked at", words)
	}
}

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(workflow.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("workflow.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("workflow.json") // which checks it against its own schema, too
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fits reports whether a file fits the schema, as an editor sees it.
func fits(t tester, s *jsonschema.Schema, text []byte) error {
	t.Helper()
	var v any
	if err := yaml.Load(text, &v); err != nil {
		t.Fatalf("%v", err)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatalf("%v", err)
	}
	return s.Validate(doc)
}

func TestGoodFilesFitTheSchema(t *testing.T) {
	s := compiled(t)
	files, err := filepath.Glob("testdata/good/*.yaml")
	if err != nil || len(files) < 3 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	name := "a_very_long_name_of_a_step_that_goes_on_and_on_to_the_end"
	texts := map[string]string{
		"names": "workflow: " + strings.Repeat("long ", 30) + "\ninputs: {" + name + ": {}}\nsteps:\n  x" + name + ":\n    from: " + name + "\n    when: 某列 contains \"" + strings.Repeat("W", 100) + "\"\n" + ask + "  y:\n    from: [" + name + ", x" + name + "]\n" + ask,
	}
	texts["quoted"] = "workflow: w\nbudget: '5'\ninputs: {a: {}}\nsteps:\n  s:\n    from: a\n    crowd: {template: {kind: number, min: '1', integer: 'true'}, reward: '1', redundancy: {count: '3'}, priority: '2.5', production: 'false'}\n"
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[file] = string(text)
	}
	for name, text := range texts {
		good(t, text)
		if err := fits(t, s, []byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Files whose form is wrong do not fit.
	for _, name := range []string{"unknown_fields", "missing", "units", "two_kinds", "edge", "wrong_kinds", "crowd_ranges", "template_kind"} {
		text, err := os.ReadFile("testdata/bad/" + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		if fits(t, s, text) == nil {
			t.Errorf("%s fits", name)
		}
	}
}

// TestTemplatesHaveTheFieldsOfTemplates compares the language with package
// task, which reads what it says.
func TestTemplatesHaveTheFieldsOfTemplates(t *testing.T) {
	template := schemaTree(t)
	for _, key := range []string{"properties", "steps", "additionalProperties", "properties", "crowd", "properties", "template", "properties"} {
		template = template[key].(map[string]any)
	}
	fields := slices.Collect(maps.Keys(template))
	form := template["fields"].(map[string]any)["items"].(map[string]any)["properties"].(map[string]any)
	ofForms := slices.Collect(maps.Keys(form))
	templates := jsonNames(task.Template{})
	for _, d := range task.Descriptors() {
		if own := d.Example.Template.Own; own != nil {
			templates = append(templates, jsonNames(reflect.ValueOf(own).Elem().Interface())...)
		}
	}
	for _, c := range []struct {
		of         string
		want, have []string
	}{{"a template", templates, fields}, {"a field", jsonNames(task.Field{}), ofForms}} {
		slices.Sort(c.want)
		slices.Sort(c.have)
		if !slices.Equal(c.want, c.have) {
			t.Errorf("%s has %v, the language %v", c.of, c.want, c.have)
		}
	}
}

// jsonNames are the names of a struct's fields in JSON.
func jsonNames(of any) []string {
	var names []string
	for i := range reflect.TypeOf(of).NumField() {
		if name, _, _ := strings.Cut(reflect.TypeOf(of).Field(i).Tag.Get("json"), ","); name != "-" {
			names = append(names, name)
		}
	}
	return names
}
