package task_test

import (
	"encoding/json"
	"html/template"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/task"
)

// shown returns how many bytes a task has as JSON, and as the texts of a page.
func shown(t interface{ Fatal(...any) }, c *task.Compiled, values task.Values) (asJSON, asPage int) {
	view := render(c, values)
	data := make(map[string]string)
	for i, column := range values.Columns {
		data[column] = values.Cells[i]
	}
	out := struct {
		Values map[string]string
		View   json.RawMessage
		HTML   string
	}{data, view.AppendJSON(nil), ""}
	if view.Framed() {
		var err error
		if out.HTML, err = renderHTML(c, values, task.Frame{AssignmentID: "b1-2", TaskID: "b1-1", WorkerID: "u1", SubmitTo: "https://throng.example.org"}); err != nil {
			t.Fatal(err)
		}
	}
	var text strings.Builder
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(out); err != nil {
		t.Fatal(err)
	}
	var page strings.Builder
	if err := template.Must(template.New("").Parse(`{{.}}`)).Execute(&page, strings.Join(texts(view), "")); err != nil {
		t.Fatal(err)
	}
	return text.Len(), page.Len() + len(out.HTML)
}

// texts are those of a view.
func texts(v task.View) []string {
	out := []string{v.Title, v.Instructions, v.Question}
	for _, c := range v.Cells {
		out = append(out, c.Label, c.Text, c.URL)
	}
	for _, c := range v.Controls {
		out = append(out, c.Label, c.Help, c.Name)
		for _, o := range c.Options {
			out = append(out, o.Label)
		}
	}
	return out
}

// Whatever stands in a template and in a row, what goes out is no larger than Size says,
// and with Fit it is within the bound.
func TestSizeBoundsWhatIsShown(t *testing.T) {
	nasty := rapid.Custom(func(t *rapid.T) string {
		piece := rapid.OneOf(rapid.SampledFrom([]string{"<", ">", "&", `"`, "'", "+", "\\", "\n", "\x01", "\u2028", "é", "日", "\U0001F600", "a", " ", "${a}", "data:image/png;base64,AAAA", `{"x":[1,2]}`}), rapid.StringN(0, 20, 60)).Draw(t, "piece")
		return strings.Repeat(strings.ReplaceAll(strings.ToValidUTF8(piece, "?"), "\x00", ""), rapid.SampledFrom([]int{1, 50, 20_000, 200_000}).Draw(t, "times"))
	})
	words := rapid.SampledFrom([]string{"", "Is it ${a}?", strings.Repeat("${a}${b} ", 800), "<b>" + strings.Repeat("${b}", 30)})
	pages := rapid.SampledFrom([]string{
		`<p>${a}</p><input name="x">`,
		strings.Repeat(`<p title="${a}">${b}</p>`, 100) + `<input name="${a}">`,
		`<a href="https://example.org/?q=${a}">x</a><a href=${b}>y</a><script>var d = ${a}; var s = "${b}";</script><div style="width: ${a}" onclick="f('${b}')"></div><input name=x value=${a}>`,
	})
	seen := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		tmpl := task.Template{Kind: task.ChooseOne, Title: "t", Question: "Which? " + words.Draw(t, "question"), Instructions: words.Draw(t, "instructions"),
			Options: []task.Option{{Value: "x", Label: words.Draw(t, "label")}, {Value: "y"}}}
		if rapid.Bool().Draw(t, "shows") {
			tmpl.Show = []task.Show{{Column: "a", As: task.AsImage, Label: "<&>"}, {Column: "b"}}
		}
		if rapid.Bool().Draw(t, "html") {
			tmpl = task.Template{Kind: task.HTML, HTML: pages.Draw(t, "page")}
		}
		c, err := tmpl.Compile()
		if err != nil {
			t.Fatal(err)
		}
		values := task.Values{Columns: []string{"a", "b", "c<"}, Cells: []string{nasty.Draw(t, "a"), nasty.Draw(t, "b"), nasty.Draw(t, "c")}}
		size := c.Size(values)
		if too := c.Fits(values, task.MaxShownBytes); (too != nil) != (size > task.MaxShownBytes) {
			t.Fatalf("a size of %d, and %v", size, too)
		}
		fits := c.Fit(values, task.MaxShownBytes).Values()
		if size <= task.MaxShownBytes {
			seen["fits"]++
			for i := range values.Cells {
				if fits.Cells[i] != values.Cells[i] {
					t.Fatal("a value that fits was cut")
				}
			}
		} else {
			seen["cut"]++
			size = task.MaxShownBytes
		}
		if asJSON, asPage := shown(t, c, fits); asJSON > size || asPage > size {
			t.Fatalf("%d bytes as JSON, %d on a page: more than %d", asJSON, asPage, size)
		}
	})
	if seen["fits"] == 0 || seen["cut"] == 0 {
		t.Errorf("only %v was seen", seen)
	}
}

// A question of 3 kB that repeats a cell of 400 kB.
func TestALongCellShownOften(t *testing.T) {
	c, err := task.Template{Kind: task.ShortText, Question: strings.Repeat("${a}", 800), Show: []task.Show{}}.Compile()
	if err != nil {
		t.Fatal(err)
	}
	long := task.Values{Columns: []string{"n", "a"}, Cells: []string{"1", strings.Repeat("x", 400_000)}}
	too := c.Fits(long, task.MaxShownBytes)
	const says = "some 320400"
	if too == nil || too.Code != crowd.TooLarge || too.Field != "a" || !strings.Contains(too.Message, says) || !strings.Contains(too.Message, "has 400000 and goes out 801 times") {
		t.Errorf("got %v", too)
	}
	for _, most := range []int{task.MaxShownBytes, 100 * task.MaxShownBytes} { // nothing is shown that is larger
		if n := len(c.Render(c.Fit(long, most)).Question); n > task.MaxShownBytes {
			t.Errorf("of at most %d bytes, the question has %d", most, n)
		}
	}
	cut := c.Fit(long, task.MaxShownBytes).Values()
	view := render(c, cut)
	if n := len(view.Question); n > task.MaxShownBytes || n < 100_000 {
		t.Errorf("the question has %d bytes", n)
	}
	if cut.Cells[0] != "1" || !strings.HasSuffix(cut.Cells[1], "… (cut: too long to be shown)") {
		t.Errorf("the cells are cut to %q and …%q", cut.Cells[0], cut.Cells[1][len(cut.Cells[1])-40:])
	}
	if once := (task.Values{Columns: long.Columns, Cells: []string{"1", strings.Repeat("x", 2000)}}); c.Fits(once, task.MaxShownBytes) != nil {
		t.Error("800 times 2 kB do not fit")
	}
}

// A template that is too long without any value is refused when it comes.
func TestATemplateTooLongToBeShown(t *testing.T) {
	quotes := task.Template{Kind: task.HTML, HTML: `<input name="x">` + strings.Repeat(`"`, task.MaxHTMLBytes-20)}
	problems := quotes.Validate(nil)
	if len(problems) != 1 || problems[0].Code != crowd.TooLarge {
		t.Errorf("got %v", problems)
	}
}

// A template that would take much memory to prepare is refused before it is prepared.
func TestAnHTMLTemplateOfTooManyParts(t *testing.T) {
	for what, part := range map[string]string{"placeholders": "${n}", "comments": "<!---->", "scripts": "<script></script>"} {
		for n, refused := range map[int]bool{task.MaxHTMLParts: false, task.MaxHTMLParts + 1: true} {
			problems := (task.Template{Kind: task.HTML, HTML: strings.Repeat(part, n) + `<input name="x">`}).Validate([]string{"n"})
			if (len(problems) > 0) != refused || refused && !strings.Contains(problems[0].Message, "at most 5000 are allowed") {
				t.Errorf("%d %s: %v", n, what, problems)
			}
		}
	}
}
