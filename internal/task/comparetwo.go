package task

import "encoding/json"

// CompareTwo is the kind whose answer is Left or Right, or a tie if Tie.
const CompareTwo Kind = "compare_two"

// The answers of CompareTwo.
const (
	Left  = "left"
	Right = "right"
	Tie   = "tie"
)

var compareTwo = Descriptor{
	Kind: CompareTwo, Name: "Compare two", Hint: "Which of two is better, side by side.",
	Settings:     []*Setting{showSetting, leftSetting, rightSetting, tieSetting},
	HidesColumns: true,
	Example: Example{
		Template: Template{Kind: CompareTwo, Question: "Which word has more letters?", Left: &Show{Column: "one"}, Right: &Show{Column: "other"}, Tie: true},
		Row:      Values{Columns: []string{"one", "other"}, Cells: []string{"bird", "sparrow"}},
		Answer:   json.RawMessage(`{"label":"right"}`), Wrong: json.RawMessage(`{"label":"both"}`),
	},
	compile: func(c *checker, t Template, out *Compiled) {
		c.side("left", t.Left)
		c.side("right", t.Right)
		if t.Left != nil && t.Right != nil && t.Left.Column == t.Right.Column && t.Left.Column != "" {
			c.badf("right", "is the same column as left")
		}
		sides := []Option{{Left, "Left"}, {Right, "Right"}}
		if t.Tie {
			sides = append(sides, Option{Tie, "No difference"})
		}
		labels := make([]text, len(sides))
		for i, s := range sides {
			labels[i] = text{{literal: s.Label}}
		}
		radio := labelControl(Control{Type: ControlRadio, Required: true})
		radio.setOptions(sides, labels, keys)
		out.controls = []control{radio}
	},
	simulate: func(c *Compiled, d draw) any { return d.choice(c.controls[0].values()) },
}

// side checks a column of CompareTwo.
func (c *checker) side(name string, s *Show) {
	if s == nil {
		c.badf(name, "names no column")
		return
	}
	c.show(name, *s)
}
