package pool

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/instant"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/similarity"
	"github.com/throng-dev/throng/internal/kit/textform"
)

// maxForm bounds a text form, which comes in over the network.
const maxForm = 200

// Form is one kind of elasticity or stability, for help texts and pages.
type Form struct {
	Name    string   `json:"name"`
	Doc     string   `json:"doc"`
	Options []Option `json:"options"`
}

// Option is one option of a Form. Its value in a text form is a number, or a
// duration such as 60s if the unit is "s".
type Option struct {
	Name    string  `json:"name"`
	Default float64 `json:"default"`
	Least   float64 `json:"least"`
	Most    float64 `json:"most"`
	Whole   bool    `json:"whole"` // a whole number
	Unit    string  `json:"unit,omitempty"`
	Doc     string  `json:"doc"`

	Words []string `json:"words,omitempty"` // its value is one of these, by default the first; else a number
}

// maxGain bounds the gains of a PID controller.
const maxGain = 1000

func gain(name string, otherwise float64, of string) Option {
	return Option{Name: name, Default: otherwise, Most: maxGain, Doc: "gain of " + of}
}

func gains(kp, ki, kd float64) []Option {
	return []Option{gain("kp", kp, "the error"), gain("ki", ki, "the sum of the errors"), gain("kd", kd, "the change of the error")}
}

func coming(otherwise float64) Option {
	return Option{Name: "coming", Default: otherwise, Most: 1, Whole: true, Doc: "1: people asked for and not here yet count as people; 0: they do not"}
}

func slack(otherwise float64) Option {
	return Option{Name: "slack", Default: otherwise, Most: MaxPeople, Whole: true, Doc: "people below c* that nothing is done about"}
}

func band(otherwise float64) Option {
	return Option{Name: "band", Default: otherwise, Most: 10, Doc: "people too many that nothing is done about, in standard deviations of the estimate of the load"}
}

var window = Option{Name: "window", Default: 60, Least: 1, Most: MaxWindow.Seconds(), Unit: "s", Doc: "how far back those who left are counted"}

// notGiven is the default of an option that has none.
var notGiven = -1.0

// A law is a kind of elasticity or stability: its form, and what it wants of a pool
// at a step.
type law struct {
	Form
	wants func(*Controller, *view) wish
}

// elasticities are the ways to follow the load (section 3.2 of the paper).
var elasticities = []law{
	{Form{"static", "the size at which the pool was started; with n, that many people", []Option{
		{Name: "n", Default: notGiven, Most: MaxPeople, Whole: true, Doc: "people on duty and coming"}}}, (*Controller).static},
	{Form{"rules", "the rules of the pool, all of them at every step", nil}, (*Controller).ruled},
	{Form{"rules-paper", "the paper's two rules (section 6.2): recruit 1 if queue > 10 or c* - c > 5; release 1 if c* - c < -5", []Option{coming(0)}}, (*Controller).ruled},
	{Form{"ct-t", "PID on throughput: the error is what arrived less what was completed in the step. Nobody is called above c*, or above what clears the queue in a minute, if that is more",
		append(gains(throughputKp, throughputKi, 0), coming(1))}, (*Controller).throughput},
	{Form{"ct-p", "PID on the pool's size: the error is c* less the people", append(gains(sizeKp, 0, 0), coming(1), band(1))}, (*Controller).size},
	{Form{"feed-forward", "Throng's own: straight to c*, and to what clears the queue in time, and to who will have left before those who are called now can come",
		[]Option{
			{Name: "clear", Default: 60, Least: 1, Most: MaxWindow.Seconds(), Unit: "s", Doc: "time in which the queue should be gone"},
			{Name: "spare", Default: 1, Most: MaxPeople, Whole: true, Doc: "people too many that nothing is done about"},
			band(1),
			{Name: "chance", Default: 0.1, Most: 0.5, Doc: "a queue that c* people have this often by chance calls nobody; 0: every queue does"},
		}}, (*Controller).forward},
	{Form{"reserve", "Throng's own, where a little waiting costs less than idle people: calls for the queue that there will be when those who are called come, and lets some of it wait",
		[]Option{
			{Name: "beta", Default: -0.5, Least: -3, Most: 3, Doc: "people beyond the load a, in √a"},
			{Name: "clear", Default: 120, Least: 1, Most: MaxWindow.Seconds(), Unit: "s", Doc: "time in which what waits beyond hold should be gone"},
			{Name: "hold", Default: 80, Most: MaxWindow.Seconds(), Unit: "s", Doc: "arrivals of so long may wait"},
			{Name: "delay", Default: 60, Most: maxDelay, Unit: "s", Doc: "time to come, until it has been seen"},
			{Name: "window", Default: 600, Least: 1, Most: MaxWindow.Seconds(), Unit: "s", Doc: "how far back those who left are counted"},
		}}, (*Controller).foresee},
	{Form{"ct-t-paper", "PID on throughput as in the paper: nothing but the error counts",
		append(gains(paperThroughputKp, paperThroughputKi, 0), coming(0))}, (*Controller).throughput},
	{Form{"ct-p-paper", "PID on the pool's size as in the paper: people who are coming do not count", append(gains(paperSizeKp, 0, 0), coming(0))}, (*Controller).size},
}

// stabilities are the ways to replace people who leave (section 4.2 of the paper).
// None lets anybody go.
var stabilities = []law{
	{Form{"none", "nobody", nil}, func(*Controller, *view) wish { return wish{} }},
	{Form{"rule", "n people whenever the pool is more than slack below c*, or, with least, has fewer people than that", []Option{
		slack(5), {Name: "least", Default: notGiven, Most: MaxPeople, Whole: true, Doc: "people that there should be; then c* and slack do not count"},
		{Name: "n", Default: 1, Least: 1, Most: MaxPeople, Whole: true, Doc: "people to call at a step"}, coming(1)}}, (*Controller).rule},
	{Form{"rule-paper", "the paper's rule: recruit 1 if c* - c > 5", []Option{slack(5), coming(0)}}, (*Controller).rule},
	{Form{"average-rate", "as many as left on average over the window", []Option{window}}, (*Controller).averageRate},
	{Form{"hybrid", "average-rate, but only up to slack below c*", []Option{window, slack(0), coming(1)}}, (*Controller).averageRate},
	{Form{"hybrid-paper", "average-rate while c* - c > 5, as in the paper", []Option{window, slack(5), coming(0)}}, (*Controller).averageRate},
}

// Elasticities lists the forms of the ways to follow the load:
//
//	elasticity = name [ "(" option "=" value { "," option "=" value } ")" ]
//
// in which spaces do not count.
func Elasticities() []Form { return forms(elasticities) }

// Stabilities lists the forms of the ways to replace people who leave, in the
// grammar of Elasticities.
func Stabilities() []Form { return forms(stabilities) }

func forms(laws []law) []Form {
	return lists.Map(laws, func(l law) Form { return l.Form })
}

// spec is a text form taken apart: every option of its form has a value.
type spec struct {
	law     law
	options map[string]float64
	text    string // the shortest text form of the same
}

func (s *spec) get(name string) float64 { return s.options[name] }
func (s *spec) has(name string) bool    { x, ok := s.options[name]; return ok && x != notGiven }
func (s *spec) counts() bool            { return s.options["coming"] != 0 }
func (s *spec) String() string          { return s.text }

// parseForm reads a text form of one of laws; field names it in errors. Without a
// text it is the first of them.
func parseForm(field, text string, laws []law) (spec, error) {
	known := lists.Map(laws, func(l law) string { return l.Name })
	if strings.TrimSpace(text) == "" {
		text = known[0]
	}
	refuse := func(format string, args ...any) (spec, error) {
		return spec{}, crowd.Fieldf(field, "%s (known: %s)", fmt.Sprintf(format, args...), strings.Join(known, ", "))
	}
	f, err := textform.Parse(text, maxForm)
	if err != nil {
		return refuse("%s", err)
	}
	at := slices.Index(known, f.Name)
	if at < 0 {
		return refuse("there is no %q%s", f.Name, similarity.DidYouMean(f.Name, known))
	}
	s := spec{law: laws[at], options: map[string]float64{}}
	for _, o := range s.law.Options {
		s.options[o.Name] = o.take(f)
	}
	if err := f.Finish(0, ""); err != nil {
		return refuse("%s", err)
	}
	s.text = f.String()
	return s, nil
}

// take takes the option out of a text form.
func (o *Option) take(f *textform.Form) float64 {
	if o.Unit == "s" {
		return f.Duration(o.Name, textform.Range[time.Duration]{Usual: instant.Seconds(o.Default), Least: instant.Seconds(o.Least), Most: instant.Seconds(o.Most)}).Seconds()
	}
	return f.Number(o.Name, textform.Range[float64]{Usual: o.Default, Least: o.Least, Most: o.Most, Whole: o.Whole})
}

func parseElasticity(text string) (spec, error) { return parseForm("elasticity", text, elasticities) }

func parseStability(text string) (spec, error) { return parseForm("stability", text, stabilities) }
