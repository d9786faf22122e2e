package task

import (
	"encoding/json"
	"math"
	"strconv"
)

// Random is a stream of random numbers.
type Random interface {
	Float64() float64 // uniform on (0, 1)
	IntN(n int) int   // uniform on 0 to n-1
	Normal() float64  // standard normal
}

// draw is what a simulated answer is made from.
type draw struct {
	gold   string // the key of the known answer; "": there is none
	right  bool   // the worker answers the truth
	truth  Random // what is true where no answer is known: the same for every worker
	chance Random // how a worker errs
}

// Simulate makes the answer of a model worker to a task whose known answer has
// the key gold, "" if none is known: the truth if right, else something else.
// Where no answer is known, the truth is drawn from the stream truth, which has
// to be the same for every worker of the task; errors are drawn from chance.
func (c *Compiled) Simulate(gold string, right bool, truth, chance Random) json.RawMessage {
	return json.RawMessage(encode(c.kind.simulate(c, draw{gold, right, truth, chance})))
}

// choice returns the truth, or one of the other values.
func (d draw) choice(values []string) string {
	if d.gold == "" {
		d.gold = values[d.truth.IntN(len(values))]
	}
	if d.right || len(values) < 2 {
		return d.gold
	}
	for {
		if v := values[d.chance.IntN(len(values))]; v != d.gold {
			return v
		}
	}
}

// number returns the truth, or a number within the bounds of the control that
// is off by about a tenth of their range.
func (d draw) number(c *control) json.Number {
	low, high := 0.0, 100.0
	if c.Min != nil {
		low, high = *c.Min, *c.Min+100
	}
	if c.Max != nil {
		high = *c.Max
		low = min(low, high)
	}
	x, err := strconv.ParseFloat(d.gold, 64)
	if err != nil {
		x = math.Round(low + (high-low)*d.truth.Float64())
	}
	if !d.right {
		x = min(max(math.Round(x+(high-low)*0.1*d.chance.Normal()), low), high)
	}
	if c.Integer {
		x = math.Round(x)
	}
	return json.Number(strconv.FormatFloat(x, 'f', -1, 64))
}

// text returns the truth, or it with a digit added.
func (d draw) text() string {
	if d.gold == "" {
		d.gold = "text " + strconv.Itoa(d.truth.IntN(1000))
	}
	if d.right {
		return d.gold
	}
	return d.gold + " " + strconv.Itoa(d.chance.IntN(10))
}
