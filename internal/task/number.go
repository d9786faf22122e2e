package task

import (
	"encoding/json"

	"github.com/throng-dev/throng/label"
)

// Number is the kind whose answer is a number from Min to Max.
const Number Kind = "number"

var number = Descriptor{
	Kind: Number, Name: "Number", Hint: "A count, a length, a price.",
	Settings: []*Setting{showSetting, minSetting, maxSetting, unitSetting, integerSetting},
	Scale:    label.Interval,
	Open:     true,
	Example: Example{
		Template: Template{Kind: Number, Question: "How many filled circles are there?", Min: new(float64), Integer: true},
		Row:      Values{Columns: []string{"row"}, Cells: []string{"●○●●○"}},
		Answer:   json.RawMessage(`{"label":3}`), Wrong: json.RawMessage(`{"label":2.5}`),
	},
	compile: func(c *checker, t Template, out *Compiled) {
		c.plain("unit", t.Unit)
		c.bounds("", t.Min, t.Max, t.Integer)
		out.controls = []control{labelControl(Control{Type: ControlNumber, Required: true, Min: t.Min, Max: t.Max, Integer: t.Integer, Unit: t.Unit})}
	},
	simulate: func(c *Compiled, d draw) any { return d.number(&c.controls[0]) },
}
