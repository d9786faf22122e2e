package jsonschema_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/jsonschema"
)

func compile(t testing.TB, raw string) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.Compile([]byte(raw))
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return s
}

func TestCheck(t *testing.T) {
	t.Parallel()
	const claim = `{"type":"object","required":["risk","why"],"additionalProperties":false,"properties":{
		"risk":{"type":"number","minimum":0,"maximum":1},"why":{"type":"string","minLength":2,"maxLength":5},"tags":{"type":"array","items":{"enum":["a","b"]},"maxItems":2,"minItems":1},
		"when":{"type":"string","format":"date"},"code":{"type":"string","pattern":"^[A-Z]+$"},"any":{"anyOf":[{"type":"string"},{"type":"object","required":["x"]}]},
		"one":{"oneOf":[{"type":"number"},{"type":"integer"}]},"no":false,"not":{"not":{"const":1}},"up":{"exclusiveMinimum":0,"exclusiveMaximum":1},"a/b~c":{"type":["null","boolean"]},"k":{"const":"v"}}}`
	s := compile(t, claim)
	for value, want := range map[string]string{
		`{"risk":0.5,"why":"yes"}`:                                  "",
		` {"risk":1,"why":"yes","tags":["a"],"when":"2026-01-31"} `: "",
		`{"risk":"high","why":"yes"}`:                               "/risk: it is a string, it should be a number",
		`{"risk":2,"why":"yes"}`:                                    "/risk: it should be at most 1",
		`{"risk":-1,"why":"yes"}`:                                   "/risk: it should be at least 0",
		`{"risk":1}`:                                                `the value: the property "why" is missing`,
		`{}`:                                                        `the value: the properties "risk", "why" are missing`,
		`{"risk":1,"why":"y"}`:                                      "/why: it has 1 characters, it should have at least 2",
		`{"risk":1,"why":"yes, it is"}`:                             "/why: it has 10 characters, it should have at most 5",
		`{"risk":1,"why":"yes","x":1}`:                              `the value: "x" should not be here`,
		`{"risk":1,"why":"yes","tags":["a","c"]}`:                   `/tags/1: value must be one of 'a', 'b'`,
		`{"risk":1,"why":"yes","tags":["a","a","a"]}`:               "/tags: it has 3 items, it should have at most 2",
		`{"risk":1,"why":"yes","tags":[]}`:                          "/tags: it has 0 items, it should have at least 1",
		`{"risk":1,"why":"yes","when":"31.1."}`:                     "/when: it should be a valid date",
		`{"risk":1,"why":"yes","code":"a"}`:                         "/code: it should match the pattern ^[A-Z]+$",
		`{"risk":1,"why":"yes","any":1}`:                            "/any: it fits none of the alternatives: it is a number, it should be a string, or it is a number, it should be an object",
		`{"risk":1,"why":"yes","any":{}}`:                           `/any: it fits none of the alternatives: it is an object, it should be a string, or the property "x" is missing`,
		`{"risk":1,"why":"yes","one":1}`:                            "/one: it fits more than one of the alternatives, it should fit one",
		`{"risk":1,"why":"yes","no":1}`:                             "/no: nothing is allowed here",
		`{"risk":1,"why":"yes","not":1}`:                            "/not: it is one of the values that are not allowed",
		`{"risk":1,"why":"yes","up":0}`:                             "/up: it should be more than 0",
		`{"risk":1,"why":"yes","up":1}`:                             "/up: it should be less than 1",
		`{"risk":1,"why":"yes","a/b~c":1}`:                          "/a~1b~0c: it is a number, it should be null or a boolean",
		`{"risk":1,"why":"yes","k":"x"}`:                            "/k: value must be 'v'",
		`{"risk":"a","why":1,"tags":1,"when":1,"code":1}`:           "/code: it is a number, it should be a string; /risk: it is a string, it should be a number; /tags: it is a number, it should be an array; and 2 more",
		`[1]`:                                "the value: it is an array, it should be an object",
		`null`:                               "the value: it is null, it should be an object",
		``:                                   "the value is not JSON: it is empty or breaks off",
		`{"risk":1`:                          "the value is not JSON: it is empty or breaks off",
		`{"risk":1,"why":"yes"} x`:           "the value is not JSON: something follows after the first value",
		`{"risk":01}`:                        "the value is not JSON: at byte 10: invalid character '1' after object key:value pair",
		`{"risk":1e2000000000,"why":"yes"}`:  "/risk: the number 1e2000000000 is too long, too large or too small",
		`{"risk":1e-2000000000,"why":"yes"}`: "/risk: the number 1e-2000000000 is too long, too large or too small",
	} {
		got := ""
		if err := s.Check([]byte(value)); err != nil {
			got = err.Error()
			if crowd.CodeOf(err) != crowd.Invalid {
				t.Errorf("%s: code %s", value, crowd.CodeOf(err))
			}
		}
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", value, got, want)
		}
	}
	if s.String() != claim {
		t.Error("String is not the text")
	}
	deep := strings.Repeat("[", 200) + strings.Repeat("]", 200)
	if err := compile(t, "true").Check([]byte(deep)); err == nil || !strings.Contains(err.Error(), "more than 100 levels deep") {
		t.Errorf("a deep value: %v", err)
	}
	if err := s.Check([]byte(`{"risk":1,"why":"yes","` + strings.Repeat("k", 10_000) + `":1}`)); err == nil || len(err.Error()) > 500 {
		t.Errorf("a long name gives a long text: %v", err)
	}
}

func TestCompileRefuses(t *testing.T) {
	t.Parallel()
	double := `{"$defs":{"a0":{"type":"string"}`
	for i := range 40 {
		double += fmt.Sprintf(`,"a%d":{"allOf":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]}`, i+1, i, i)
	}
	double += `},"$ref":"#/$defs/a40"}`
	for raw, want := range map[string]string{
		``:                                     "the schema is not JSON: it is empty or breaks off",
		`{"type":}`:                            "the schema is not JSON: at byte 9",
		`{"type":"nummer"}`:                    "#/type: it fits none of the alternatives: value must be one of 'array', 'boolean'",
		`{"properties":{"a/b":{"type":7}}}`:    "#/properties/a~1b/type: it fits none of the alternatives",
		`{"required":"risk"}`:                  "#/required: it is a string, it should be an array",
		`{"properties":[]}`:                    "#/properties: it is an array, it should be an object",
		`{"minLength":-1}`:                     "#/minLength: it should be at least 0",
		`{"properties":{"a":{"pattern":"("}}}`: "#/properties/a/pattern: it should be a valid regex",
		`{"$ref":"#/$defs/x"}`:                 "#/$defs/x: the schema has no such place to refer to",
		`{"$ref":"#x"}`:                        "#x: the schema has no such anchor to refer to",
		`{"$ref":"#"}`:                         "#: the schema refers to itself in a circle",
		`{"properties":{"a":{"$ref":"#"}}}`:    "#: the schema refers to itself in a circle",
		`{"$defs":{"a":{"items":{"$ref":"#/$defs/b"}},"b":{"not":{"$ref":"#/$defs/a"}}},"$ref":"#/$defs/a"}`: "#/$defs/a: the schema refers to itself in a circle",
		`{"$dynamicRef":"#x","$defs":{"a":{"$dynamicAnchor":"x"}}}`:                                          "#: $dynamicRef and $recursiveRef cannot be used here: use $ref",
		double:                    "the schema unfolds to more than 2000 schemas: refer to fewer",
		`{"minimum":1e999999999}`: "#/minimum: the number 1e999999999 is too long",
		`{"properties":{"a":true,"b":true,"a":{}}}`:               "#/properties/a: the property stands here twice",
		`{"$schema":"https://example.org/mine"}`:                  "https://example.org/mine: nothing outside of the schema is loaded",
		`{"$ref":"https://json-schema.org/draft/2020-12/schema"}`: "#",
		`7`: "#: it is a number, it should be a boolean or an object",
		`{"a":"` + strings.Repeat("x", 70_000) + `"}`: "the schema has 70008 bytes, at most 64 KiB are allowed",
	} {
		_, err := jsonschema.Compile([]byte(raw))
		if err == nil || !strings.HasPrefix(err.Error(), want) || len(err.Error()) > 600 {
			t.Errorf("%.300s:\n got %v\nwant %s", raw, err, want)
		}
		if err != nil && crowd.CodeOf(err) == crowd.Internal {
			t.Errorf("%.300s: not an error for a user: %v", raw, err)
		}
	}
}

// Patterns are counted as often as they are applied, and a value that would take long to
// match is refused before it does.
func TestPatterns(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]int{
		`{"pattern":"^a"}`:                       4,
		`{"properties":{"a":{"type":"number"}}}`: 0,
		`{"patternProperties":{"x{1,1000}":{}}}`: 2001,
		`{"$defs":{"a":{"pattern":"^a"}},"items":{"$ref":"#/$defs/a"},"properties":{"x":{"$ref":"#/$defs/a"}}}`: 8,
		`{"allOf":[` + strings.Repeat(`{"pattern":"(?:[a-z]{0,1000}){0,1}"},`, 1500) + `{}]}`:                   1500 * 2004,
	} {
		if got := compile(t, raw).Patterns(); got < want || got > want+want/100 {
			t.Errorf("%.100s: %d, want %d", raw, got, want)
		}
	}
	s := compile(t, `{"type":"object","properties":{"a":{"type":"string","pattern":"(x?x?x?){1,300}y"}}}`)
	text := func(n int) []byte { return []byte(`{"a":"` + strings.Repeat("x", n) + `"}`) }
	if err := s.Check(text(1000)); err == nil || !strings.HasPrefix(err.Error(), "/a: it should match the pattern") {
		t.Errorf("a short text: %v", err)
	}
	if err := s.Check(text(1 << 20)); crowd.CodeOf(err) != crowd.TooLarge || !strings.HasPrefix(err.Error(), "the value has 1048584 bytes, and against the patterns of its schema at most ") {
		t.Errorf("a long text: %v", err)
	}
	if err := compile(t, `{"properties":{"a":{"pattern":"^x+$"}}}`).Check(text(1 << 20)); err != nil {
		t.Errorf("a long text and a short pattern: %v", err)
	}
}

// A schema that would be there for the loading is not loaded.
func TestNothingIsLoaded(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Path
		fmt.Fprint(w, `{"type":"string"}`)
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "s.json")
	if err := os.WriteFile(file, []byte(`{"type":"string"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	port := server.Listener.Addr().(*net.TCPAddr).Port
	for _, ref := range []string{
		server.URL + "/s.json", fmt.Sprintf("http://localhost:%d/s.json", port), "file://" + file, file, "file:" + file, "other.json", "../other.json", "ftp://example.org/x", "urn:x:y", "//example.org/x",
	} {
		quoted, _ := json.Marshal(ref)
		for _, raw := range []string{
			`{"$ref":%s}`, `{"properties":{"a":{"$ref":%s}}}`, `{"$schema":%s}`, `{"$defs":{"a":{"$id":"x","$schema":%s}},"$ref":"#/$defs/a"}`,
		} {
			if _, err := jsonschema.Compile(fmt.Appendf(nil, raw, quoted)); err == nil {
				t.Errorf("%s with %s: it was compiled", raw, ref)
			} else if strings.Contains(raw, `$ref":%s`) && !strings.Contains(err.Error(), "nothing outside of the schema is loaded") {
				t.Errorf("%s with %s: %v", raw, ref, err)
			}
		}
	}
	if len(asked) > 0 {
		t.Errorf("the server was asked for %s", <-asked)
	}
}

func TestProperties(t *testing.T) {
	t.Parallel()
	s := compile(t, `{"title":"x","$defs":{"n":{"type":"number"},"m":{"$ref":"#/$defs/n"},"properties":{"type":"string"}},"required":["z","a"],"properties":{
		"z":{"type":"number"},"a":{"type":"integer"},"m":{"type":"boolean"},"s":{"type":"string"},"l":{"type":"array"},"o":{"type":"object","properties":{"inner":{"type":"number"}}},
		"nn":{"type":["null","number"]},"in":{"type":["integer","number"]},"mix":{"type":["number","string"]},"ref":{"$ref":"#/$defs/m"},"e":{"enum":[1,2,null]},"es":{"enum":["a",1]},"eb":{"const":true},"any":true,"nil":{"type":"null"},"":{}}}`)
	const n, b, x = jsonschema.Number, jsonschema.Bool, jsonschema.Text
	want := []jsonschema.Property{
		{"z", n, true}, {"a", n, true}, {"m", b, false}, {"s", x, false}, {"l", x, false}, {"o", x, false}, {"nn", n, false}, {"in", n, false}, {"mix", x, false},
		{"ref", n, false}, {"e", n, false}, {"es", x, false}, {"eb", b, false}, {"any", x, false}, {"nil", x, false}, {"", x, false},
	}
	if diff := cmp.Diff(want, s.Properties()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, raw := range []string{`true`, `{}`, `{"type":"array"}`, `{"items":{"properties":{"a":true}}}`} {
		if got := compile(t, raw).Properties(); len(got) > 0 {
			t.Errorf("%s: %v", raw, got)
		}
	}
	old := compile(t, `{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"a":{"type":"number"}},"properties":{"x":{"$ref":"#/definitions/a"}},"dependencies":{"x":{"required":["y"]}}}`)
	if err := old.Check([]byte(`{"x":1}`)); err == nil || len(old.Properties()) != 1 {
		t.Errorf("draft 7: %v, %v", err, old.Properties())
	}
	if err := compile(t, `{"prefixItems":[{"type":"number"}]}`).Check([]byte(`["a"]`)); err == nil {
		t.Error("without $schema it is not draft 2020-12")
	}
}

// FuzzSchema looks for panics, and for errors that are not for a user.
func FuzzSchema(f *testing.F) {
	for _, s := range []string{`{"type":"object","properties":{"a":{"type":"number","multipleOf":0.1}}}`, `{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[true,false]}}}`, `{"$id":"x","$anchor":"y","items":{"$ref":"#y"}}`, `{"if":{"minProperties":1},"then":{"uniqueItems":true}}`} {
		f.Add(s, `{"a":1}`)
		f.Add(s, `[1,"a",{"a":null}]`)
	}
	f.Fuzz(func(t *testing.T, raw, value string) {
		if len(raw) > 2000 || len(value) > 2000 {
			return
		}
		s, err := jsonschema.Compile([]byte(raw))
		if err != nil {
			if crowd.CodeOf(err) == crowd.Internal || err.Error() == "" {
				t.Errorf("%q: %v", raw, err)
			}
			return
		}
		s.Properties()
		if err := s.Check([]byte(value)); err != nil && (crowd.CodeOf(err) != crowd.Invalid || len(err.Error()) > 2000) {
			t.Errorf("%q: %v", value, err)
		}
	})
}
