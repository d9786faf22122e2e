package task

import "encoding/json"

// ShortText is the kind whose answer is a line of text.
const ShortText Kind = "short_text"

var shortText = Descriptor{
	Kind: ShortText, Name: "Short text", Hint: "A word, a name, a transcript.",
	Settings: []*Setting{showSetting, maxLengthSetting, patternSetting},
	Open:     true,
	Example: Example{
		Template: Template{Kind: ShortText, Question: "Which word is on the sign?", MaxLength: 20},
		Row:      Values{Columns: []string{"sign"}, Cells: []string{"K 7 R T"}},
		Answer:   json.RawMessage(`{"label":"K7RT"}`), Wrong: json.RawMessage(`{"label":"a text of more than twenty characters"}`),
	},
	compile: func(c *checker, t Template, out *Compiled) {
		c.length("max_length", t.MaxLength)
		line := labelControl(Control{Type: ControlText, Required: true, MaxLength: t.MaxLength, Pattern: t.Pattern})
		line.regexp = c.regexp("pattern", t.Pattern)
		out.controls = []control{line}
	},
	simulate: func(_ *Compiled, d draw) any { return d.text() },
}
