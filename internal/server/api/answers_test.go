package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// asDocumented checks each JSON answer that comes through it against the OpenAPI
// document, so that every test of the API tests the document too.
type asDocumented struct {
	http.RoundTripper
	t testing.TB
}

func (d asDocumented) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := d.RoundTripper.RoundTrip(req)
	if err != nil || resp.Header.Get("Content-Type") != "application/json" || resp.StatusCode/100 != 2 {
		return resp, err
	}
	operation := keptDocument().find(req.Method, req.URL.Path)
	if operation == nil {
		return resp, nil // a page of the documentation, or the document itself
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(body))
	if err != nil {
		return resp, err
	}
	for _, fault := range keptDocument().faults(operation, resp.StatusCode, body) {
		d.t.Errorf("%s %s: %s", req.Method, req.URL.Path, fault)
	}
	return resp, nil
}

// schema is what the checks read of a JSON schema.
type schema struct {
	Ref        string `json:"$ref"`
	Type       any    // a string or a list of them
	Properties map[string]*schema
	Required   []string
	Items      *schema
	More       json.RawMessage `json:"additionalProperties"`
	Enum       []any
}

// answered is what the checks read of an operation.
type answered struct {
	Responses map[string]struct {
		Content map[string]struct{ Schema *schema }
	}
}

type schemas struct {
	Paths      map[string]map[string]*answered
	Components struct{ Schemas map[string]*schema }
}

var keptDocument = sync.OnceValue(func() *schemas {
	var doc schemas
	text, err := os.ReadFile(filepath.Join("testdata", "openapi.json"))
	if err == nil {
		err = json.Unmarshal(text, &doc)
	}
	if err != nil {
		panic(err)
	}
	return &doc
})

// find returns the operation of a request, or nil. Of two paths that fit, the one with
// fewer variables is meant.
func (d *schemas) find(method, path string) (best *answered) {
	segments := strings.Split(path, "/")
	fewest := math.MaxInt
	for pattern, methods := range d.Paths {
		parts := strings.Split(pattern, "/")
		if methods[strings.ToLower(method)] == nil || len(parts) != len(segments) {
			continue
		}
		variables := 0
		for i, part := range parts {
			if strings.HasPrefix(part, "{") {
				variables++
			} else if part != segments[i] {
				variables = math.MaxInt
				break
			}
		}
		if variables < fewest {
			best, fewest = methods[strings.ToLower(method)], variables
		}
	}
	return best
}

// faults returns what is not as documented in an answer.
func (d *schemas) faults(o *answered, status int, body []byte) []string {
	of := o.Responses[strconv.Itoa(status)].Content["application/json"].Schema
	if of == nil {
		return []string{fmt.Sprintf("an answer of %d with JSON is not documented", status)}
	}
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return []string{err.Error()}
	}
	return d.check(of, v, "the answer")
}

func (d *schemas) check(s *schema, v any, at string) (faults []string) {
	if s.Ref != "" {
		name := strings.TrimPrefix(s.Ref, "#/components/schemas/")
		if s = d.Components.Schemas[name]; s == nil {
			return []string{at + ": no schema " + name}
		}
	}
	if kind := kindOf(v); s.Type != nil && !s.allows(kind) && (kind != "integer" || !s.allows("number")) {
		return []string{fmt.Sprintf("%s is of type %s, want %v", at, kind, s.Type)}
	}
	if len(s.Enum) > 0 && v != nil && !slices.Contains(s.Enum, v) {
		faults = append(faults, fmt.Sprintf("%s is %v, want one of %v", at, v, s.Enum))
	}
	switch v := v.(type) {
	case nil:
		if s.allows("array") { // in what is sent to the server it is allowed
			faults = append(faults, at+" is null, want a list")
		}
	case []any:
		for i, x := range v {
			faults = append(faults, d.check(s.Items, x, fmt.Sprintf("%s[%d]", at, i))...)
		}
	case map[string]any:
		for _, name := range s.Required {
			if _, there := v[name]; !there {
				faults = append(faults, at+" has no "+name)
			}
		}
		for name, x := range v {
			switch of := s.Properties[name]; {
			case of != nil:
				faults = append(faults, d.check(of, x, at+"."+name)...)
			case string(s.More) == "false":
				faults = append(faults, at+" has "+name+", which is not documented")
			case len(s.More) > 0 && s.More[0] == '{':
				var of schema
				if err := json.Unmarshal(s.More, &of); err != nil {
					faults = append(faults, err.Error())
				}
				faults = append(faults, d.check(&of, x, at+"."+name)...)
			}
		}
	}
	return faults
}

// allows reports whether values of a kind are allowed by name.
func (s *schema) allows(kind string) bool {
	switch of := s.Type.(type) {
	case string:
		return of == kind
	case []any:
		return slices.Contains(of, any(kind))
	}
	return false
}

// kindOf returns the name of a value's kind in a schema.
func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case float64:
		if v == math.Trunc(v) {
			return "integer"
		}
		return "number"
	}
	return "object"
}

// TestAnswersAreChecked: the check of all tests finds what is not as documented.
func TestAnswersAreChecked(t *testing.T) {
	o := keptDocument().find(http.MethodGet, "/v1/tests")
	if o == nil || keptDocument().find(http.MethodGet, "/v1/nothing") != nil || keptDocument().find(http.MethodGet, "/v1/runs/r1/items/7") == nil {
		t.Fatal("operations are not found")
	}
	for body, want := range map[string]string{
		"[]":              "",
		"null":            "the answer is null, want a list",
		"{}":              "the answer is of type object",
		"[1]":             "the answer[0] is of type integer",
		"[{}]":            "the answer[0] has no id",
		`[{"name": 1}]`:   "the answer[0].name is of type integer",
		`[{"strange":1}]`: "the answer[0] has strange, which is not documented",
		"[":               "unexpected end of JSON input",
	} {
		if got := strings.Join(keptDocument().faults(o, http.StatusOK, []byte(body)), "; "); !strings.Contains(got, want) || (want == "") != (got == "") {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
	if got := keptDocument().faults(o, http.StatusCreated, []byte("[]")); len(got) != 1 {
		t.Errorf("another status: %v", got)
	}
}
