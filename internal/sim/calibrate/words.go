package calibrate

import (
	"fmt"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/throng-dev/throng/internal/kit/stats"
)

// Table is what was fitted and how well, for people.
func (m *Model) Table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Fitted to %d answers of %d workers in %d visits; a stored x stands for %s.\n", m.Answers, m.Workers, m.Visits, roundings[m.Rounding])
	if m.Left != (Left{}) {
		fmt.Fprintf(&b, "Left out:%s\n", strings.TrimSuffix(strings.TrimPrefix(m.Left.words(), " (left out:"), ")"))
	}
	b.WriteString("\nTime of an answer of somebody new, of usual speed, who comes from the same kind:\n")
	rows := [][]string{{"kind", "n", "workers", "median s", "95 %", "sigma", "95 %", "KS lognormal", "KS exponential", "ΔAIC exp-logn", "written", "because"}}
	for _, k := range m.Kinds {
		s := &k.Service
		rows = append(rows, []string{k.Name, fmt.Sprint(k.N), fmt.Sprint(k.Workers), say(k.Median.Value, 3), between(k.Median, 3), say(k.Sigma.Value, 2), between(k.Sigma, 2),
			fixed(s.LogNormal.KS, 3), fixed(s.Exponential.KS, 3), fixed(s.Exponential.AIC-s.LogNormal.AIC, 0), s.Family, s.Why})
	}
	lines(&b, rows)

	b.WriteString("\nEffects, each kind's own and as written (drawn towards each other):\n")
	rows = [][]string{{"kind", "switch ×", "95 %", "cells", "written", "n^-learning", "95 %", "cells", "written", "given up", "of hand-outs"}}
	for _, k := range m.Kinds {
		gave := orZero(k.Skip) + orZero(k.Return) + orZero(k.Vanish)
		if math.IsNaN(k.Skip) {
			gave = math.NaN()
		}
		rows = append(rows, []string{k.Name, estimated(k.Switch), between(k.Switch, 3), fmt.Sprint(k.Switch.Cells), fixed(k.SwitchFactor, 2),
			estimated(k.Learning), between(k.Learning, 3), fmt.Sprint(k.Learning.Cells), fixed(k.LearningExponent, 2), fixed(gave, 3), fmt.Sprint(k.HandOuts)})
	}
	rows = append(rows, []string{"all kinds", estimated(m.Switch), between(m.Switch, 3), fmt.Sprint(m.Switch.Cells), "", estimated(m.Learning), between(m.Learning, 3), fmt.Sprint(m.Learning.Cells), "", "", ""},
		[]string{"without practice", estimated(m.SwitchAlone), between(m.SwitchAlone, 3), fmt.Sprint(m.SwitchAlone.Cells), "", "", "", "", "", "", ""})
	lines(&b, rows)
	fmt.Fprintf(&b, "Workers differ: standard deviation of ln speed %s %s.\n", say(m.Speed.Sigma.Value, 3), bracket(m.Speed.Sigma, 3))

	if m.Kinds[0].Check.MeanData > 0 {
		b.WriteString("\nThe same workers and tasks in the same order, simulated (the middle 95 % of the simulated logs), seconds:\n")
		rows = [][]string{{"kind", "10 %", "simulated", "50 %", "simulated", "90 %", "simulated", "mean", "simulated", "KS"}}
		for i := range m.Kinds {
			k, c := m.Kinds[i], m.Kinds[i].Check
			row := []string{k.Name}
			for q := range shares {
				row = append(row, say(c.Data[q], 3), fmt.Sprintf("%s (%s-%s)", say(c.Simulated[q], 3), say(c.Lo[q], 3), say(c.Hi[q], 3)))
			}
			rows = append(rows, append(row, say(c.MeanData, 3), say(c.Mean, 3), fixed(c.KS, 3)))
		}
		lines(&b, rows)
	}

	m.peopleTable(&b)
	if len(m.Notes) > 0 {
		b.WriteString("\nNotes:\n")
		for _, n := range m.Notes {
			b.WriteString("- " + n + "\n")
		}
	}
	return b.String()
}

// peopleTable is how people come, stay and pause, and how well that fits.
func (m *Model) peopleTable(b *strings.Builder) {
	b.WriteString("\nPeople, seconds:\n")
	rows := [][]string{{"what", "n", "mean", "median", "KS lognormal", "KS exponential", "written", "because"}}
	add := func(what string, s *Seconds) {
		if s != nil {
			rows = append(rows, []string{what, fmt.Sprint(s.N), say(stats.Mean(s.values), 3), say(median(s.values), 3), fixed(s.LogNormal.KS, 3), fixed(s.Exponential.KS, 3), s.Family, s.Why})
		}
	}
	c := &m.Crowd
	if c.Gaps != nil {
		rows = append(rows, []string{"between arrivals", fmt.Sprint(c.Gaps.N), say(stats.Mean(c.gaps), 3), say(median(c.gaps), 3), fixed(c.Gaps.LogNormal.KS, 3), fixed(c.Gaps.Exponential.KS, 3),
			"exponential", fmt.Sprintf("a rate, of %d people (the median of %d runs)", c.Count, c.Runs)})
	}
	add("session", c.Session)
	add("pause", c.Pause)
	add("until given up", m.GaveUp)
	lines(b, rows)
}

var roundings = map[Rounding]string{
	Nearest: "[x-0.5, x+0.5)", Down: "[x, x+1)", Exact: "itself",
}

// lines writes rows in aligned columns.
func lines(b *strings.Builder, rows [][]string) {
	if len(rows) < 2 {
		b.WriteString("nothing known\n")
		return
	}
	t := tabwriter.NewWriter(b, 0, 8, 2, ' ', 0)
	for _, row := range rows {
		_, _ = fmt.Fprintln(t, strings.TrimRight(strings.Join(row, "\t"), "\t")) // into memory
	}
	_ = t.Flush()
}

// say writes a figure with so many digits; "-" for none.
func say(v float64, digits int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "-"
	}
	if a := math.Abs(v); a >= 1000 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.*g", digits, v)
}

func fixed(v float64, places int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "-"
	}
	return fmt.Sprintf("%.*f", places, v)
}

func estimated(e Effect) string {
	if !e.Known() || math.IsNaN(e.Lo) {
		return "-"
	}
	return say(e.Value, 3)
}

func between(e Effect, digits int) string {
	if math.IsNaN(e.Lo) {
		return "-"
	}
	return say(e.Lo, digits) + ".." + say(e.Hi, digits)
}

func bracket(e Effect, digits int) string {
	if math.IsNaN(e.Lo) {
		return "(no interval: too few workers)"
	}
	return "(95 % " + between(e, digits) + ")"
}
