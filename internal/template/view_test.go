package template_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throng-dev/throng/internal/template"
)

func TestRender(t *testing.T) {
	t.Parallel()
	values := template.Values{
		Columns: []string{"text", "pic", "empty"},
		Cells:   []string{`<b>"${pic}"</b>`, "https://example.org/a.png"},
	}
	text := template.Cell{Column: "text", Label: "text", As: template.AsText, Text: `<b>"${pic}"</b>`}
	pic := template.Cell{Column: "pic", Label: "Picture", As: template.AsImage, Text: "https://example.org/a.png", URL: "https://example.org/a.png"}
	cases := map[string]struct {
		in   string
		want template.View
	}{
		"choose_one shows all columns; values are text and put in once": {
			in: `{"kind":"choose_one","title":"T ${empty}","question":"Is it ${text}?","instructions":"Look.","options":["yes",{"value":"no","label":"not ${pic}"}]}`,
			want: template.View{
				Kind: template.ChooseOne, Title: "T ", Question: `Is it <b>"${pic}"</b>?`, Instructions: "Look.",
				Cells: []template.Cell{text, {Column: "pic", Label: "pic", As: template.AsText, Text: "https://example.org/a.png"}, {Column: "empty", Label: "empty", As: template.AsText}},
				Controls: []template.Control{{Name: "label", Type: template.ControlRadio, Required: true, Options: []template.ViewOption{
					{Value: "yes", Label: "yes", Key: "1"}, {Value: "no", Label: "not https://example.org/a.png", Key: "2"},
				}}},
			},
		},
		"choose_many with an empty list of columns": {
			in: `{"kind":"choose_many","show":[],"min":0,"options":["1","2","3","4","5","6","7","8","9","10"]}`,
			want: template.View{Kind: template.ChooseMany, Controls: []template.Control{{Name: "label", Type: template.ControlCheckboxes, Most: 10, Options: []template.ViewOption{
				{"1", "1", "1"}, {"2", "2", "2"}, {"3", "3", "3"}, {"4", "4", "4"}, {"5", "5", "5"}, {"6", "6", "6"}, {"7", "7", "7"}, {"8", "8", "8"}, {"9", "9", "9"}, {"10", "10", ""},
			}}}},
		},
		"short_text": {
			in: `{"kind":"short_text","show":[{"column":"pic","as":"image","label":"Picture"}],"max_length":5,"pattern":"[a-z]+"}`,
			want: template.View{Kind: template.ShortText, Cells: []template.Cell{pic}, Controls: []template.Control{
				{Name: "label", Type: template.ControlText, Required: true, MaxLength: 5, Pattern: "[a-z]+"},
			}},
		},
		"number": {
			in: `{"kind":"number","show":["text"],"min":1,"integer":true,"unit":"km"}`,
			want: template.View{Kind: template.Number, Cells: []template.Cell{text}, Controls: []template.Control{
				{Name: "label", Type: template.ControlNumber, Required: true, Min: ptr(1), Integer: true, Unit: "km"},
			}},
		},
		"compare_two": {
			in: `{"kind":"compare_two","left":"text","right":{"column":"pic","as":"image","label":"Picture"},"tie":true}`,
			want: template.View{Kind: template.CompareTwo, Left: &text, Right: &pic, Controls: []template.Control{
				{Name: "label", Type: template.ControlRadio, Required: true, Options: []template.ViewOption{{"left", "Left", "1"}, {"right", "Right", "2"}, {"tie", "No difference", "3"}}},
			}},
		},
		"form": {
			in: `{"kind":"form","show":[],"fields":[{"name":"who","label":"Who is ${text}?","required":true,"max_length":9},{"name":"n","type":"number","max":2},
				{"name":"c","type":"choice","options":["a","b"]},{"name":"ok","type":"checkbox"},{"name":"many","type":"checkbox","required":true,"options":["a"]},{"name":"d","type":"date"},{"name":"t","type":"textarea"}]}`,
			want: template.View{Kind: template.Form, Controls: []template.Control{
				{Name: "who", Label: `Who is <b>"${pic}"</b>?`, Type: template.ControlText, Required: true, MaxLength: 9},
				{Name: "n", Label: "n", Type: template.ControlNumber, Max: ptr(2)},
				{Name: "c", Label: "c", Type: template.ControlRadio, Options: []template.ViewOption{{"a", "a", ""}, {"b", "b", ""}}},
				{Name: "ok", Label: "ok", Type: template.ControlCheckbox},
				{Name: "many", Label: "many", Type: template.ControlCheckboxes, Required: true, Least: 1, Most: 1, Options: []template.ViewOption{{"a", "a", ""}}},
				{Name: "d", Label: "d", Type: template.ControlDate},
				{Name: "t", Label: "t", Type: template.ControlTextArea},
			}},
		},
		"html gives names only": {
			in:   `{"kind":"html","title":"T","html":"<input name=a><select name='b'></select><input name='q_${pic}'>"}`,
			want: template.View{Kind: template.HTML, Title: "T", Controls: []template.Control{{Name: "a", Type: template.ControlHTML}, {Name: "b", Type: template.ControlHTML}, {Name: "q_https://example.org/a.png", Type: template.ControlHTML}}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := mustCompile(t, mustParse(t, tc.in)).Render(values)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRenderURLs(t *testing.T) {
	t.Parallel()
	cases := []struct {
		as    template.As
		value string
		want  string // "": shown as text
	}{
		{template.AsLink, "https://example.org/?a=1&b=2", "https://example.org/?a=1&b=2"},
		{template.AsLink, " HTTP://example.org ", "HTTP://example.org"},
		{template.AsLink, "javascript:alert(1)", ""},
		{template.AsLink, "java\nscript:alert(1)", ""},
		{template.AsLink, "\x01javascript:alert(1)", ""},
		{template.AsLink, "https://x\ny", ""},
		{template.AsLink, "https://", ""},
		{template.AsLink, "//example.org", ""},
		{template.AsLink, "/admin", ""},
		{template.AsLink, "data:text/html,<script>alert(1)</script>", ""},
		{template.AsLink, "data:image/png;base64,AAAA", ""},
		{template.AsLink, "vbscript:x", ""},
		{template.AsImage, "data:image/png;base64,AAAA", "data:image/png;base64,AAAA"},
		{template.AsImage, "data:text/html;base64,AAAA", ""},
		{template.AsImage, "file:///etc/passwd", ""},
		{template.AsAudio, "data:audio/ogg;base64,AAAA", "data:audio/ogg;base64,AAAA"},
		{template.AsAudio, "", ""},
		{template.AsText, "https://example.org", ""},
	}
	for _, tc := range cases {
		c := mustCompile(t, template.Template{Kind: template.ShortText, Show: []template.Show{{Column: "u", As: tc.as}}})
		cell := c.Render(template.Values{Columns: []string{"u"}, Cells: []string{tc.value}}).Cells[0]
		if cell.URL != tc.want || cell.Text != tc.value || (cell.As == template.AsText) != (tc.want == "") {
			t.Errorf("%s %q: got %+v, want the URL %q", tc.as, tc.value, cell, tc.want)
		}
	}
}
