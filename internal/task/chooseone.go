package task

import "encoding/json"

// ChooseOne is the kind whose answer is one of Options.
const ChooseOne Kind = "choose_one"

var chooseOne = Descriptor{
	Kind: ChooseOne, Name: "Choose one", Hint: "One of a few options. Keys 1–9 answer.",
	Settings: []*Setting{showSetting, optionsSetting},
	Example: Example{
		Template: Template{Kind: ChooseOne, Question: "How does the writer feel?", Options: []Option{{Value: "positive"}, {Value: "neutral"}, {Value: "negative"}}},
		Row:      Values{Columns: []string{"review"}, Cells: []string{"I use this kettle every day and love it."}},
		Answer:   json.RawMessage(`{"label":"positive"}`), Wrong: json.RawMessage(`{"label":"angry"}`),
	},
	compile: func(c *checker, t Template, out *Compiled) {
		radio := labelControl(Control{Type: ControlRadio, Required: true})
		radio.setOptions(t.Options, c.options("options", t.Options, 2), keys[:9])
		out.controls = []control{radio}
	},
	simulate: func(c *Compiled, d draw) any { return d.choice(c.controls[0].values()) },
}
