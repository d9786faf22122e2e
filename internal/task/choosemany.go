package task

import (
	"encoding/json"
	"math"
)

// ChooseMany is the kind whose answer is a list of Min to Max of Options.
const ChooseMany Kind = "choose_many"

var chooseMany = Descriptor{
	Kind: ChooseMany, Name: "Choose several", Hint: "Any number of options, or none.",
	Settings: []*Setting{
		showSetting, optionsSetting,
		minSetting.with(Input{Name: "least", Label: "Choose at least", Placeholder: "1", Least: "0", Whole: true}),
		maxSetting.with(Input{Name: "most", Label: "Choose at most", Placeholder: "all", Least: "1", Whole: true}),
	},
	Sets: true,
	Example: Example{
		Template: Template{Kind: ChooseMany, Question: "Which topics does the headline name?", Min: new(float64), Options: []Option{{Value: "sport"}, {Value: "weather"}, {Value: "money"}}},
		Row:      Values{Columns: []string{"headline"}, Cells: []string{"Storm delays the cup final"}},
		Answer:   json.RawMessage(`{"label":["sport","weather"]}`), Wrong: json.RawMessage(`{"label":["music"]}`),
	},
	compile: func(c *checker, t Template, out *Compiled) {
		boxes := labelControl(Control{Type: ControlCheckboxes})
		boxes.setOptions(t.Options, c.options("options", t.Options, 2), keys[:9])
		boxes.Least, boxes.Most = c.counts(t)
		boxes.Required = boxes.Least > 0
		out.controls = []control{boxes}
	},
	simulate: func(c *Compiled, d draw) any {
		boxes := &c.controls[0]
		if d.gold != "" && d.right {
			return json.RawMessage(d.gold)
		}
		from := d.truth
		if !d.right {
			from = d.chance
		}
		return boxes.values()[:1+from.IntN(max(boxes.Most, 1))]
	},
}

// counts checks and returns how many options may be chosen.
func (c *checker) counts(t Template) (low, high int) {
	low, high = 1, len(t.Options)
	for _, b := range []struct {
		name  string
		bound *float64
		count *int
	}{{"min", t.Min, &low}, {"max", t.Max, &high}} {
		if b.bound == nil {
			continue
		}
		if !(*b.bound >= 0 && *b.bound <= float64(len(t.Options)) && *b.bound == math.Trunc(*b.bound)) {
			c.badf(b.name, "%v is not a count of options: use a whole number from 0 to %d", *b.bound, len(t.Options))
			return 0, 0
		}
		*b.count = int(*b.bound)
	}
	if least := max(low, 1); high < least {
		c.badf("max", "%d is too small: at least %d is needed", high, least)
	}
	return low, high
}
