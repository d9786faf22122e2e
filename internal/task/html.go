package task

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/throng-dev/throng/crowd"
)

// HTML is the kind whose answer is whatever the controls in a requester's HTML
// give.
const HTML Kind = "html"

var requesterHTML = Descriptor{
	Kind: HTML, Name: "Your HTML", Hint: "MTurk and Turkle templates work as they are.",
	Settings: []*Setting{
		htmlSetting,
		labelFieldSetting.with(Input{Name: "html_label_field", Label: "Answers agree if this control does",
			Help: "Optional: the name of a control. Otherwise the whole answer is compared."}),
	},
	Framed: true, HidesColumns: true, Composite: true,
	Example: Example{
		Template: Template{Kind: HTML, HTML: "<p>Who wrote “${title}”?</p>\n<input name=\"author\" required>", LabelField: "author"},
		Row:      Values{Columns: []string{"title"}, Cells: []string{"The Origin of Species"}},
		Answer:   json.RawMessage(`{"author":"Charles Darwin"}`), Wrong: json.RawMessage(`{"writer":"Charles Darwin"}`),
	},
	compile: func(c *checker, t Template, out *Compiled) { out.page = c.html(t) },
	simulate: func(c *Compiled, d draw) any {
		name := c.t.LabelField
		switch {
		case name != "":
		case c.page.fixed[LabelField]:
			name = LabelField
		default:
			name = c.page.names[0].fill(Values{})
		}
		return map[string]string{name: d.text()}
	},
}

// check returns the answer with values of type string and []string.
func (p *page) check(given map[string]json.RawMessage) (map[string]any, error) {
	answer := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if isReserved(name) {
			continue
		}
		if !p.hasControl(name) {
			return nil, unknownField(name, slices.Sorted(maps.Keys(p.fixed)))
		}
		value, err := htmlValue(name, given[name])
		if err != nil {
			return nil, err
		}
		if value != nil {
			answer[name] = value
		}
	}
	return answer, nil
}

// isReserved reports whether name is one that MTurk's protocol keeps for
// itself; such fields are never part of an answer.
func isReserved(name string) bool {
	switch name {
	case "assignmentId", "hitId", "workerId", "turkSubmitTo":
		return true
	}
	return false
}

// hasControl reports whether a control of the page may have this name. A name
// with placeholders fits whatever they may become.
func (p *page) hasControl(name string) bool {
	return p.fixed[name] || slices.ContainsFunc(p.names, func(t text) bool { return len(t.columns()) > 0 && t.matches(name) })
}

// matches reports whether s can be t with some values put in.
func (t text) matches(s string) bool {
	if len(s) > MaxNameBytes || strings.ContainsRune(s, 0) {
		return false
	}
	for i, p := range t {
		switch {
		case p.column != "":
		case i == len(t)-1:
			return strings.HasSuffix(s, p.literal) && (i > 0 || s == p.literal)
		case i == 0:
			if !strings.HasPrefix(s, p.literal) {
				return false
			}
			s = s[len(p.literal):]
		default:
			_, after, found := strings.Cut(s, p.literal)
			if !found {
				return false
			}
			s = after
		}
	}
	return true
}

// htmlValue reads a string or a list of strings; nil means none.
func htmlValue(name string, raw json.RawMessage) (any, error) {
	if one, ok := stringOf(raw); ok {
		return cleanLines(one), nil
	}
	many, ok := stringsOf(raw)
	switch {
	case !ok:
		return nil, crowd.Fieldf(clip(name), "it should be a text or a list of texts")
	case len(many) > MaxAnswerValues:
		return nil, crowd.Fieldf(clip(name), "has %d values, at most %d are allowed", len(many), MaxAnswerValues)
	case len(many) == 0:
		return nil, nil
	case len(many) == 1:
		return cleanLines(many[0]), nil
	}
	for i := range many {
		many[i] = cleanLines(many[i])
	}
	return many, nil
}
