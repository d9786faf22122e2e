package jsonform_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/kit/jsonform"
)

type box struct {
	name   string
	open   bool
	filled time.Time
	wait   time.Duration
	parts  []part
	marks  map[string]int
}

type part struct{ n int }

func (b *box) form() jsonform.Form {
	return jsonform.Object(
		"name", &b.name, "open,omitempty", &b.open, "filled,omitempty", &b.filled,
		"wait_s", jsonform.As(b.wait.Seconds, func(s float64) { b.wait = time.Duration(s * float64(time.Second)) }),
		"parts,omitempty", jsonform.List(&b.parts, func(p *part) jsonform.Form { return jsonform.Object("n", &p.n) }),
		"marks,omitempty", &b.marks,
	)
}

// TestBothWays: what a form writes, it reads.
func TestBothWays(t *testing.T) {
	t.Parallel()
	for _, want := range []string{
		`{"name":"a","wait_s":0}`,
		`{"name":"<b>","open":true,"filled":"2026-05-04T09:00:00Z","wait_s":1.5,"parts":[{"n":1},{"n":2}],"marks":{"x":3}}`,
	} {
		var b box
		if err := b.form().UnmarshalJSON([]byte(want)); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		e := json.NewEncoder(&out)
		e.SetEscapeHTML(false)
		if err := e.Encode(b.form()); err != nil || strings.TrimSpace(out.String()) != want {
			t.Errorf("%s, %v; want %s", out.String(), err, want)
		}
	}
}

// TestRefused: what has no place, or does not fit, is refused with its name.
func TestRefused(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		`{"name":"a","colour":"red"}`:    `unknown field "colour"`,
		`{"zoo":1,"colour":2,"size":3}`:  `unknown field "colour"`,
		`{"parts":[{"n":1},{"m":2}]}`:    `parts: unknown field "m"`,
		`{"name":7}`:                     "name: json: cannot unmarshal number",
		`{"wait_s":"long"}`:              "wait_s: json: cannot unmarshal string",
		`[]`:                             "cannot unmarshal array",
		`{"parts":{}}`:                   "parts: json: cannot unmarshal object",
		`{"filled":"yesterday evening"}`: "filled: parsing time",
	} {
		var b box
		if err := b.form().UnmarshalJSON([]byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", text, err, says)
		}
	}
}

// TestFigures: what is no figure is null, and there is one zero.
func TestFigures(t *testing.T) {
	t.Parallel()
	out, err := json.Marshal(jsonform.Object(
		"none", math.NaN(), "far", math.Inf(1), "zero", math.Copysign(0, -1), "list", jsonform.Figures([]float64{1, math.NaN()}),
		"empty", jsonform.Object(), "nothing", nil, "left,omitempty", "", "out,omitempty", []int{},
	).With("a,omitempty", ""))
	if want := `{"none":null,"far":null,"zero":0,"list":[1,null],"empty":{},"nothing":null,"a,omitempty":""}`; err != nil || string(out) != want {
		t.Errorf("%s, %v; want %s", out, err, want)
	}
}
