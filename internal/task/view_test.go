package task_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throng-dev/throng/internal/task"
)

func TestRender(t *testing.T) {
	t.Parallel()
	values := task.Values{
		Columns: []string{"text", "pic", "empty"},
		Cells:   []string{`<b>"${pic}"</b>`, "https://example.org/a.png"},
	}
	text := task.Cell{Column: "text", Label: "text", As: task.AsText, Text: `<b>"${pic}"</b>`}
	pic := task.Cell{Column: "pic", Label: "Picture", As: task.AsImage, Text: "https://example.org/a.png", URL: "https://example.org/a.png"}
	cases := map[string]struct {
		in   string
		want task.View
	}{
		"choose_one shows all columns; values are text and put in once": {
			in: `{"kind":"choose_one","title":"T ${empty}","question":"Is it ${text}?","instructions":"Look.","options":["yes",{"value":"no","label":"not ${pic}"}]}`,
			want: task.View{
				Kind: task.ChooseOne, Title: "T ", Question: `Is it <b>"${pic}"</b>?`, Instructions: "Look.",
				Cells: []task.Cell{text, {Column: "pic", Label: "pic", As: task.AsText, Text: "https://example.org/a.png"}, {Column: "empty", Label: "empty", As: task.AsText}},
				Controls: []task.Control{{Name: "label", Type: task.ControlRadio, Required: true, Options: []task.ViewOption{
					{Value: "yes", Label: "yes", Key: "1"}, {Value: "no", Label: "not https://example.org/a.png", Key: "2"},
				}}},
			},
		},
		"choose_many with an empty list of columns": {
			in: `{"kind":"choose_many","show":[],"min":0,"options":["1","2","3","4","5","6","7","8","9","10"]}`,
			want: task.View{Kind: task.ChooseMany, Controls: []task.Control{{Name: "label", Type: task.ControlCheckboxes, Most: 10, Options: []task.ViewOption{
				{"1", "1", "1"}, {"2", "2", "2"}, {"3", "3", "3"}, {"4", "4", "4"}, {"5", "5", "5"}, {"6", "6", "6"}, {"7", "7", "7"}, {"8", "8", "8"}, {"9", "9", "9"}, {"10", "10", ""},
			}}}},
		},
		"short_text": {
			in: `{"kind":"short_text","show":[{"column":"pic","as":"image","label":"Picture"}],"max_length":5,"pattern":"[a-z]+"}`,
			want: task.View{Kind: task.ShortText, Cells: []task.Cell{pic}, Controls: []task.Control{
				{Name: "label", Type: task.ControlText, Required: true, MaxLength: 5, Pattern: "[a-z]+"},
			}},
		},
		"number": {
			in: `{"kind":"number","show":["text"],"min":1,"integer":true,"unit":"km"}`,
			want: task.View{Kind: task.Number, Cells: []task.Cell{text}, Controls: []task.Control{
				{Name: "label", Type: task.ControlNumber, Required: true, Min: ptr(1), Integer: true, Unit: "km"},
			}},
		},
		"compare_two": {
			in: `{"kind":"compare_two","left":"text","right":{"column":"pic","as":"image","label":"Picture"},"tie":true}`,
			want: task.View{Kind: task.CompareTwo, Left: &text, Right: &pic, Controls: []task.Control{
				{Name: "label", Type: task.ControlRadio, Required: true, Options: []task.ViewOption{{"left", "Left", "1"}, {"right", "Right", "2"}, {"tie", "No difference", "3"}}},
			}},
		},
		"form": {
			in: `{"kind":"form","show":[],"fields":[{"name":"who","label":"Who is ${text}?","required":true,"max_length":9},{"name":"n","type":"number","max":2},
				{"name":"c","type":"choice","options":["a","b"]},{"name":"ok","type":"checkbox"},{"name":"many","type":"checkbox","required":true,"options":["a"]},{"name":"d","type":"date"},{"name":"t","type":"textarea"}]}`,
			want: task.View{Kind: task.Form, Controls: []task.Control{
				{Name: "who", Label: `Who is <b>"${pic}"</b>?`, Type: task.ControlText, Required: true, MaxLength: 9},
				{Name: "n", Label: "n", Type: task.ControlNumber, Max: ptr(2)},
				{Name: "c", Label: "c", Type: task.ControlRadio, Options: []task.ViewOption{{"a", "a", ""}, {"b", "b", ""}}},
				{Name: "ok", Label: "ok", Type: task.ControlCheckbox},
				{Name: "many", Label: "many", Type: task.ControlCheckboxes, Required: true, Least: 1, Most: 1, Options: []task.ViewOption{{"a", "a", ""}}},
				{Name: "d", Label: "d", Type: task.ControlDate},
				{Name: "t", Label: "t", Type: task.ControlTextArea},
			}},
		},
		"html gives names only": {
			in:   `{"kind":"html","title":"T","html":"<input name=a><select name='b'></select><input name='q_${pic}'>"}`,
			want: task.View{Kind: task.HTML, Title: "T", Controls: []task.Control{{Name: "a", Type: task.ControlHTML}, {Name: "b", Type: task.ControlHTML}, {Name: "q_https://example.org/a.png", Type: task.ControlHTML}}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := render(mustCompile(t, mustParse(t, tc.in)), values)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRenderURLs(t *testing.T) {
	t.Parallel()
	cases := []struct {
		as    task.As
		value string
		want  string // "": shown as text
	}{
		{task.AsLink, "https://example.org/?a=1&b=2", "https://example.org/?a=1&b=2"},
		{task.AsLink, " HTTP://example.org ", "HTTP://example.org"},
		{task.AsLink, "javascript:alert(1)", ""},
		{task.AsLink, "java\nscript:alert(1)", ""},
		{task.AsLink, "\x01javascript:alert(1)", ""},
		{task.AsLink, "https://x\ny", ""},
		{task.AsLink, "https://", ""},
		{task.AsLink, "//example.org", ""},
		{task.AsLink, "/admin", ""},
		{task.AsLink, "data:text/html,<script>alert(1)</script>", ""},
		{task.AsLink, "data:image/png;base64,AAAA", ""},
		{task.AsLink, "vbscript:x", ""},
		{task.AsImage, "data:image/png;base64,AAAA", "data:image/png;base64,AAAA"},
		{task.AsImage, "data:text/html;base64,AAAA", ""},
		{task.AsImage, "file:///etc/passwd", ""},
		{task.AsAudio, "data:audio/ogg;base64,AAAA", "data:audio/ogg;base64,AAAA"},
		{task.AsAudio, "", ""},
		{task.AsText, "https://example.org", ""},
	}
	for _, tc := range cases {
		c := mustCompile(t, task.Template{Kind: task.ShortText, Show: []task.Show{{Column: "u", As: tc.as}}})
		cell := render(c, task.Values{Columns: []string{"u"}, Cells: []string{tc.value}}).Cells[0]
		if cell.URL != tc.want || cell.Text != tc.value || (cell.As == task.AsText) != (tc.want == "") {
			t.Errorf("%s %q: got %+v, want the URL %q", tc.as, tc.value, cell, tc.want)
		}
	}
}

// render shows a task with values that fit.
func render(c *task.Compiled, values task.Values) task.View {
	return c.Render(c.Fit(values, task.MaxShownBytes))
}

// renderHTML is its document.
func renderHTML(c *task.Compiled, values task.Values, frame task.Frame) (string, error) {
	return c.RenderHTML(c.Fit(values, task.MaxShownBytes), frame)
}
