package calibrate

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/sim"
)

// WriteModel writes the kinds and the crowd as a scenario has them, with a table
// of how well they fit in comments above.
func (m *Model) WriteModel(w io.Writer) error {
	var b strings.Builder
	m.head(&b)
	m.sections(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteScenario writes a whole scenario: the model, and a batch of each kind of
// the size that it had in a run of the log, a second apart so that policies that
// go by age have an order.
func (m *Model) WriteScenario(w io.Writer, name string) error {
	var b strings.Builder
	m.head(&b)
	fmt.Fprintf(&b, "scenario: %s\n", quote(name))
	fmt.Fprintf(&b, "about: %s\n", quote(fmt.Sprintf("A crowd as in a log of %d answers, and a batch of each kind of the size it had there.", m.Answers)))
	b.WriteString("policies: [fs, rr, fifo]\nrepetitions: 10\n\n")
	m.sections(&b)
	b.WriteString("\nbatches:\n")
	for i, k := range m.Kinds {
		fmt.Fprintf(&b, "  - {name: %s, kind: %s, at: %ds, tasks: %d, redundancy: %d}\n", quote(k.Name), quote(k.Name), i, max(k.Tasks, 1), max(k.PerTask, 1))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// head writes the table as comments.
func (m *Model) head(b *strings.Builder) {
	for _, line := range strings.Split(strings.TrimRight(m.Table(), "\n"), "\n") {
		b.WriteString(strings.TrimRight("# "+line, " ") + "\n")
	}
	b.WriteString("\n")
}

func (m *Model) sections(b *strings.Builder) {
	b.WriteString("kinds:\n")
	for _, k := range m.Kinds {
		fmt.Fprintf(b, "  - name: %s\n", quote(k.Name))
		fmt.Fprintf(b, "    service: %s\n", duration(k.Service.Dist, 1e-6))
		if k.SwitchFactor > 1 {
			fmt.Fprintf(b, "    switch: {factor: %s}\n", short(min(k.SwitchFactor, 1000)))
		}
		if k.LearningExponent > 0 {
			fmt.Fprintf(b, "    learning: %s\n", short(min(k.LearningExponent, 5)))
		}
		gives := false
		for _, p := range []struct {
			name  string
			value float64
		}{{"skip", k.Skip}, {"return", k.Return}, {"vanish", k.Vanish}} {
			if p.value > 0 {
				fmt.Fprintf(b, "    %s: %s\n", p.name, short(p.value))
				gives = true
			}
		}
		if gives && m.GaveUp != nil {
			fmt.Fprintf(b, "    give_up_after: %s\n", duration(m.GaveUp.Dist, 0))
		}
	}
	c := &m.Crowd
	b.WriteString("\ncrowd:\n  - name: people\n")
	if c.Rate > 0 {
		fmt.Fprintf(b, "    arrive: {rate: %s/h, count: %d}\n", short(c.Rate), c.Count)
	} else {
		fmt.Fprintf(b, "    arrive: {count: %d}\n", c.Count)
	}
	if c.Session != nil {
		fmt.Fprintf(b, "    session: %s\n", duration(c.Session.Dist, 1e-6))
	}
	if c.Pause != nil && c.Pause.Dist.Mean() > 0 {
		fmt.Fprintf(b, "    pause: %s\n", duration(c.Pause.Dist, 0))
	}
	if m.Speed.Sigma.Value > 0 {
		fmt.Fprintf(b, "    speed: {lognormal: {median: 1, sigma: %s}}\n", short(min(m.Speed.Sigma.Value, mostSigma)))
	}
}

// duration writes a distribution of seconds, whose figures are at least so much.
func duration(d sim.Dist, least float64) string {
	switch d := d.(type) {
	case sim.Exponential:
		return fmt.Sprintf("{exponential: %s}", seconds(max(float64(d), 1e-6)))
	case sim.LogNormal:
		return fmt.Sprintf("{lognormal: {median: %s, sigma: %s}}", seconds(max(math.Exp(d.Mu), 1e-6)), short(d.Sigma))
	case *sim.Empirical:
		list := lists.Map(d.Values(), func(v float64) string { return seconds(max(v, least)) })
		return "{empirical: [" + strings.Join(list, ", ") + "]}"
	}
	return seconds(max(d.Mean(), least))
}

// seconds writes a duration with its unit, to four digits.
func seconds(s float64) string { return short(s) + "s" }

// short writes a figure to four digits, without an exponent.
func short(v float64) string {
	if v == 0 {
		return "0"
	}
	digits := max(0, 3-int(math.Floor(math.Log10(math.Abs(v)))))
	text := strconv.FormatFloat(v, 'f', min(digits, 9), 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// quote writes a text as YAML.
func quote(s string) string {
	plain := s != ""
	for i, c := range s {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		plain = plain && (letter || i > 0 && (c >= '0' && c <= '9' || c == '_' || c == '-'))
	}
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf":
		plain = false
	}
	if plain {
		return s
	}
	return strconv.Quote(strings.ToValidUTF8(s, "\uFFFD")) // whose escapes are those of YAML, too
}
