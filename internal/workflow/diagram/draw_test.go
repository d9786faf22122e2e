package diagram_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-dev/throng/internal/workflow"
	"github.com/throng-dev/throng/internal/workflow/diagram"
)

const ask = "    crowd: {template: {kind: choose_one, question: \"?\", options: [yes, no]}, reward: 0.05}\n"

// tester is a test or a property.
type tester interface {
	Helper()
	Errorf(string, ...any)
	Error(...any)
	Fatalf(string, ...any)
}

// good parses a file that must be good.
func good(t tester, text string) *workflow.Workflow {
	t.Helper()
	w, problems := workflow.Parse([]byte(text), time.Time{}, nil)
	if problems != nil {
		t.Fatalf("problems of a good file: %v\n%s", problems, text)
	}
	return w
}

// samples are workflows of several forms.
func samples() map[string]string {
	var wide, long strings.Builder
	wide.WriteString("workflow: wide\ninputs: {rows: {columns: [id, kind]}}\nsteps:\n  part0:\n    from: rows\n" + ask)
	names := "part0: batch, rows: stream"
	for i := 1; i <= 27; i++ {
		fmt.Fprintf(&wide, "  part%d:\n    from: {part0: stream}\n    when: kind == \"%d\"\n%s", i, i, ask)
		names += fmt.Sprintf(", part%d: stream", i)
	}
	fmt.Fprintf(&wide, "  end0:\n    from: {%s}\n%s", names, ask)
	long.WriteString("workflow: long\ninputs: {rows: {}}\nsteps:\n  s0:\n    from: rows\n" + ask)
	for i := 1; i < 30; i++ {
		fmt.Fprintf(&long, "  s%d:\n    from: {s%d: stream, s%d: batch}\n    when: s0 == \"yes\"\n%s", i, i-1, max(i-3, 0), ask)
	}
	name := "a_very_long_name_of_a_step_that_goes_on_and_on_to_the_end"
	return map[string]string{
		"one":   "workflow: one\ninputs: {rows: {}}\nsteps:\n  s:\n    from: rows\n" + ask,
		"chain": "workflow: <chain> & \"more\"\ninputs: {rows: {}}\nsteps:\n  ask:\n    from: rows\n" + ask + "  again:\n    from: {ask: stream}\n    when: ask == \"yes\" and ask_confidence < 0.8\n" + ask + "  service:\n    from: again\n    service: {url: \"https://scores.example/\", response: {type: object, properties: {risk: {type: number}}}}\n",
		"wide":  wide.String(),
		"long":  strings.ReplaceAll(long.String(), "{s0: stream, s0: batch}", "s0"),
		"names": "workflow: " + strings.Repeat("long ", 30) + "\ninputs: {" + name + ": {}}\nsteps:\n  x" + name + ":\n    from: " + name + "\n    when: 某列 contains \"" + strings.Repeat("W", 100) + "\"\n" + ask + "  y:\n    from: [" + name + ", x" + name + "]\n" + ask,
	}
}

// element is one of a picture.
type element struct {
	name, class string
	attr        map[string]string
	text        string
}

func elements(t tester, svg []byte) []element {
	t.Helper()
	var list []element
	var open []int
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatalf("the picture is not XML: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			e := element{name: token.Name.Local, attr: map[string]string{}}
			for _, a := range token.Attr {
				e.attr[a.Name.Local] = a.Value
			}
			e.class = e.attr["class"]
			open = append(open, len(list))
			list = append(list, e)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) > 0 {
				list[open[len(open)-1]].text += string(token)
			}
		}
	}
}

// numbers reads the numbers of a path or of attributes.
func numbers(t tester, texts ...string) []float64 {
	t.Helper()
	var list []float64
	for _, text := range texts {
		for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !strings.ContainsRune("0123456789.-", r) }) {
			var f float64
			if _, err := fmt.Sscan(word, &f); err != nil {
				t.Fatalf("%q: %v", word, err)
			}
			list = append(list, f)
		}
	}
	return list
}

type area struct{ x, y, right, bottom float64 }

func (a area) overlaps(b area) bool {
	return a.x < b.right && b.x < a.right && a.y < b.bottom && b.y < a.bottom
}

func TestPictures(t *testing.T) {
	for name, text := range samples() {
		for _, counted := range []bool{false, true} {
			t.Run(fmt.Sprint(name, counted), func(t *testing.T) {
				w := good(t, text)
				var d diagram.Options
				if counted {
					for i := range w.Nodes() {
						d.Counts = append(d.Counts, diagram.Counts{In: math.MaxInt64, Out: 1234567, Waiting: -1, Failed: int64(i % 2), State: "running"})
						d.Links = append(d.Links, fmt.Sprintf("/runs/r1?node=%d&x=<", i))
					}
				}
				svg := diagram.Draw(w, d)
				list := elements(t, svg)
				checkParts(t, w, list, counted)
				checkRoom(t, w, d, list)
				if again := diagram.Draw(w, d); !bytes.Equal(svg, again) {
					t.Error("drawn twice, it differs")
				}
			})
		}
	}
}

// checkParts looks for what a picture must have.
func checkParts(t *testing.T, w *workflow.Workflow, list []element, counted bool) {
	t.Helper()
	count := map[string]int{}
	for _, e := range list {
		count[e.name+" "+e.class]++
	}
	edges := map[workflow.Edge]int{"batch": 1, "stream": 1} // of the legend
	conditions := 0
	for i := range w.Steps {
		for _, f := range w.Steps[i].From {
			edges[f.Edge]++
		}
		if w.Steps[i].When != nil {
			conditions++
			edges["batch"]++ // from the condition to its step
		}
	}
	for edge, want := range edges {
		if got := count["path edge "+string(edge)]; got != want {
			t.Errorf("%d lines of %s, want %d", got, edge, want)
		}
	}
	if got := count["rect pill"]; got != conditions {
		t.Errorf("%d conditions, want %d", got, conditions)
	}
	if got := count["text name"]; got != w.Nodes() {
		t.Errorf("%d names, want %d", got, w.Nodes())
	}
	links := 0
	if counted {
		links = w.Nodes()
	}
	if got := count["a "]; got != links {
		t.Errorf("%d links, want %d", got, links)
	}
	if list[0].attr["aria-labelledby"] == "" || list[1].name != "title" || list[1].text != "Workflow "+w.Name || list[2].name != "desc" {
		t.Errorf("the picture is not told in words: %v %v %v", list[0], list[1], list[2])
	}
	for i := range w.Steps {
		if !strings.Contains(list[2].text, w.Steps[i].Name+" ") && !strings.Contains(list[2].text, w.Steps[i].Name+":") && !strings.Contains(list[2].text, w.Steps[i].Name+",") {
			t.Errorf("%s is not told", w.Steps[i].Name)
		}
	}
}

// checkRoom checks that nothing lies on another, edges go forward, and texts fit.
func checkRoom(t tester, w *workflow.Workflow, d diagram.Options, list []element) {
	t.Helper()
	p := diagram.Places(w, d)
	var all []area
	for i, r := range p.Boxes {
		all = append(all, area{r[0], r[1], r[0] + r[2], r[1] + r[3]})
		if q := p.Pills[i]; q[2] > 0 {
			all = append(all, area{q[0], q[1], q[0] + q[2], q[1] + q[3]})
		}
	}
	width, height := numbers(t, list[0].attr["width"])[0], numbers(t, list[0].attr["height"])[0]
	for i, a := range all {
		if a.x < 0 || a.y < 0 || a.right > width || a.bottom > height-30 {
			t.Errorf("%v is outside of the picture, %v × %v", a, width, height)
		}
		for _, b := range all[i+1:] {
			if a.overlaps(b) {
				t.Errorf("%v and %v overlap", a, b)
			}
		}
	}
	lines := 0
	for _, e := range p.Paths {
		for i, c := range e {
			if i == 0 {
				continue
			}
			before := e[i-1]
			forward, sideways := c[0]-before[0], c[1]-before[1]
			if p.Down {
				forward, sideways = sideways, forward
			}
			if forward < -0.01 {
				t.Errorf("an edge goes back from %v to %v", before, c)
			}
			if sideways != 0 && forward < 20 {
				t.Errorf("an edge bends in too little room from %v to %v", before, c)
			}
			// A piece lies in the rectangle of its ends, whatever its bend.
			piece := area{min(before[0], c[0]) + .5, min(before[1], c[1]) + .5, max(before[0], c[0]) - .5, max(before[1], c[1]) - .5}
			if sideways == 0 { // a straight piece is thin
				if p.Down {
					piece.x, piece.right = c[0]-.5, c[0]+.5
				} else {
					piece.y, piece.bottom = c[1]-.5, c[1]+.5
				}
			}
			for _, box := range all {
				if piece.x < piece.right && piece.y < piece.bottom && piece.overlaps(box) {
					t.Errorf("an edge from %v to %v crosses the box %v", before, c, box)
				}
			}
			lines++
		}
	}
	if lines == 0 {
		t.Error("no edge was looked at")
	}
	texts := 0
	for i, list := range p.Texts {
		for _, text := range list {
			texts++
			if text.Width > p.Boxes[i][2]-2*10 {
				t.Errorf("%q is wider than its box: %v of %v", text.Text, text.Width, p.Boxes[i][2])
			}
		}
	}
	if texts < 2*w.Nodes() {
		t.Errorf("%d texts of %d nodes", texts, w.Nodes())
	}
}

func TestPicturesOfAnyWorkflow(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := good(rt, drawn(rt))
		svg := diagram.Draw(w, diagram.Options{})
		checkRoom(t, w, diagram.Options{}, elements(t, svg))
	})
}

// drawn makes up a workflow: each step reads some of the nodes before it.
func drawn(t *rapid.T) string {
	var b strings.Builder
	b.WriteString("workflow: made up\ninputs: {rows: {columns: [id, {n: number}]}}\nsteps:\n  step0: {from: rows, service: {url: 'http://x.example', response: {type: object, properties: {r0: {type: number}}}}}\n")
	for i := range rapid.IntRange(1, 12).Draw(t, "steps") {
		fmt.Fprintf(&b, "  step%d:\n    from: {step%d: %s", i+1, i, rapid.SampledFrom([]string{"batch", "stream"}).Draw(t, "edge"))
		for j := range i {
			if rapid.IntRange(0, 3).Draw(t, "joined") == 0 {
				fmt.Fprintf(&b, ", step%d: %s", j, rapid.SampledFrom([]string{"batch", "stream"}).Draw(t, "edge"))
			}
		}
		b.WriteString("}\n")
		if rapid.Bool().Draw(t, "when") {
			fmt.Fprintf(&b, "    when: 'n > %d and id != \"x\"'\n", rapid.IntRange(-5, 50).Draw(t, "bound"))
		}
		if rapid.Bool().Draw(t, "crowd") {
			b.WriteString(ask)
		} else {
			fmt.Fprintf(&b, "    service: {url: 'http://x.example', response: {type: object, properties: {r%d: {type: number}}}}\n", i+1)
		}
	}
	return b.String()
}

// TestABlockedStepSaysWhy: what is inside a step that is blocked is not said to be under way, and
// the box says why it stays.
func TestABlockedStepSaysWhy(t *testing.T) {
	w := good(t, "workflow: w\ninputs: {items: {columns: [id]}}\nsteps:\n  pick: {from: items, sql: select id from items}\n")
	counts := []diagram.Counts{{In: 2, Out: 2}, {In: 2, Working: 2, State: "blocked", Blocked: "nobody is there"}}
	svg := string(diagram.Draw(w, diagram.Options{Counts: counts}))
	if !strings.Contains(svg, "0 waiting · 2 inside") || !strings.Contains(svg, ">blocked: nobody is there<") || strings.Contains(svg, "2 under way") {
		t.Errorf("the picture is %s", svg)
	}
	counts[1].Blocked = ""
	if svg := string(diagram.Draw(w, diagram.Options{Counts: counts})); !strings.Contains(svg, "0 waiting · 2 under way") {
		t.Errorf("a step that goes on: %s", svg)
	}
}
