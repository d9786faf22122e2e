package task

import (
	"encoding/json"
	"strconv"

	"github.com/throng-dev/throng/label"
)

// Rating is the kind whose answer is a point of a scale, as of Likert: a whole
// number from 1 to RatingSettings.Points.
const Rating Kind = "rating"

// RatingSettings are the settings of a Rating.
type RatingSettings struct {
	Points int    `json:"points,omitempty"` // 2 to 11; 0 stands for 5
	Low    string `json:"low,omitempty"`    // what 1 means; may have placeholders
	High   string `json:"high,omitempty"`   // what the last point means; may have placeholders
}

const defaultPoints = 5

var rating = Descriptor{
	Kind: Rating, Name: "Rating", Hint: "A point of a scale whose ends you name. Keys 1–9, 0 and - answer.",
	Settings: []*Setting{
		showSetting,
		ownSetting(Setting{Name: "points", Doc: "rating: how many points the scale has, 2 to 11. Left out: 5.",
			Input: Input{Name: "points", Label: "Points", Placeholder: strconv.Itoa(defaultPoints), Least: "2", Whole: true}},
			func(own *RatingSettings) any { return &own.Points }),
		ownSetting(Setting{Name: "low", Doc: "rating: what the first point, 1, means.",
			Input: Input{Name: "low", Label: "The first point means", Placeholder: "very bad"}},
			func(own *RatingSettings) any { return &own.Low }),
		ownSetting(Setting{Name: "high", Doc: "rating: what the last point means.",
			Input: Input{Name: "high", Label: "The last point means", Placeholder: "very good"}},
			func(own *RatingSettings) any { return &own.High }),
	},
	Scale: label.Ordinal, Asks: true,
	Example: Example{
		Template: Template{Kind: Rating, Question: "How useful is this answer?", Own: &RatingSettings{Points: 7, Low: "useless", High: "very useful"}},
		Row:      Values{Columns: []string{"answer"}, Cells: []string{"Turn it off and on again."}},
		Answer:   json.RawMessage(`{"label":4}`), Wrong: json.RawMessage(`{"label":8}`),
	},
	own: func() any { return new(RatingSettings) },
	compile: func(c *checker, t Template, out *Compiled) {
		own := *t.Own.(*RatingSettings)
		if own.Points == 0 {
			own.Points = defaultPoints
		}
		if own.Points < 2 || own.Points > len(keys) {
			c.badf("points", "%d points make no scale: use 2 to %d", own.Points, len(keys))
			return
		}
		points := make([]Option, own.Points)
		for i := range points {
			points[i].Value = strconv.Itoa(i + 1)
		}
		labels := c.options("points", points, 2)
		for i, end := range []text{c.text("low", own.Low), c.text("high", own.High)} {
			at := i * (own.Points - 1)
			if len(end) > 0 {
				labels[at] = append(text{{literal: points[at].Value + ": "}}, end...)
			}
		}
		low, high := 1.0, float64(own.Points)
		scale := labelControl(Control{Type: ControlRadio, Required: true, Min: &low, Max: &high, Integer: true})
		scale.setOptions(points, labels, keys)
		out.controls = []control{scale}
	},
	// A worker who errs is off by about a point, seldom by more.
	simulate: func(c *Compiled, d draw) any {
		points := len(c.controls[0].Options)
		x, err := strconv.Atoi(d.gold)
		if err != nil {
			x = 1 + d.truth.IntN(points)
		}
		if d.right {
			return x
		}
		off := 1
		for off < points && d.chance.Float64() < 0.25 {
			off++
		}
		if up := x+off <= points; up && (x-off < 1 || d.chance.IntN(2) == 0) {
			return x + off
		}
		return max(x-off, 1)
	},
}
