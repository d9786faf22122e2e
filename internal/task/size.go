package task

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/throng-dev/throng/crowd"
)

// MaxShownBytes bounds what goes out when a task is shown: its View, the document of
// RenderHTML and its data, together, as JSON or on a page, with all their escapes.
//
// A placeholder repeats a value wherever it stands, so that neither the length of a
// template nor that of a row bounds it.
const MaxShownBytes = 2_000_000

// cutMark stands where Fit has cut a value.
const cutMark = "… (cut: too long to be shown)"

// weight is how much of a task does not depend on its values, in bytes, and how often
// each column's value stands in it.
type weight struct {
	fixed   int
	uses    map[string]int
	columns int // how often each column's value stands in it besides
}

func (w *weight) text(t text, e *escapes) {
	for _, p := range t {
		if p.column != "" {
			w.uses[p.column]++
		} else {
			w.fixed += e.size(p.literal)
		}
	}
}

func (w *weight) cell(s Show) {
	w.fixed += framing + shownEscapes.size(s.Column) + shownEscapes.size(s.Label)
	w.uses[s.Column]++
	if s.As != "" && s.As != AsText {
		w.uses[s.Column]++ // its URL
	}
}

// total is the size of a task with these values, of which each is the size of one.
func (w *weight) total(values Values, each func(value string) int) int {
	n := w.fixed
	for i, value := range values.Cells[:min(len(values.Cells), len(values.Columns))] {
		n += (w.columns + w.uses[values.Columns[i]]) * each(value)
	}
	return n
}

// framing is as much as JSON or a page puts around a cell, a control or an option.
const framing = 160

// weigh finds the weight of what Compile has read.
func (c *Compiled) weigh() {
	c.weight = weight{fixed: framing, uses: make(map[string]int), columns: 1} // the data itself
	w := &c.weight
	for _, t := range []text{c.title, c.instructions, c.question} {
		w.text(t, &shownEscapes)
	}
	for _, s := range c.t.Show {
		w.cell(s)
	}
	if c.t.Show == nil && !c.kind.HidesColumns {
		w.columns++
	}
	if c.t.Left != nil && c.t.Right != nil {
		w.cell(*c.t.Left)
		w.cell(*c.t.Right)
	}
	for i := range c.controls {
		x := &c.controls[i]
		w.text(x.label, &shownEscapes)
		w.text(x.help, &shownEscapes)
		w.fixed += framing + shownEscapes.size(x.Name) + shownEscapes.size(x.Unit) + shownEscapes.size(x.Pattern)
		for n, label := range x.options {
			w.text(label, &shownEscapes)
			w.fixed += framing + shownEscapes.size(x.Options[n].Value)
		}
	}
	if c.page == nil {
		return
	}
	for _, name := range c.page.names {
		w.text(name, &shownEscapes)
		w.fixed += framing
	}
	c.page.weight = weight{fixed: jsonEscapes.size(bridge) + 10*framing, uses: make(map[string]int)}
	c.page.weight.text(parseText(c.t.HTML), &jsonEscapes)
}

// Size returns how many bytes go out when a task with these values is shown, or a few
// more: see MaxShownBytes. It takes little memory whatever the values.
func (c *Compiled) Size(values Values) int {
	if n := c.atMost(values); n <= MaxShownBytes {
		return n
	}
	n := c.weight.total(values, shownEscapes.size) + c.namesOf(values)
	if c.page == nil || n > MaxShownBytes {
		return n
	}
	if raw := c.page.weight.total(values, func(s string) int { return len(s) }); raw > MaxShownBytes {
		return n + raw
	}
	out := counter{most: MaxShownBytes}
	if err := c.page.write(&out, values, Frame{Preview: true}); err != nil {
		return n + out.most + 1
	}
	return n + out.n
}

// atMost bounds Size without a look at the values.
func (c *Compiled) atMost(values Values) int {
	longest := func(s string) int { return longestEscape * len(s) }
	n := c.weight.total(values, longest) + c.namesOf(values)
	if c.page != nil {
		n += c.page.weight.total(values, longest)
	}
	return n
}

// namesOf is the size of the names of the columns.
func (c *Compiled) namesOf(values Values) (n int) {
	for _, column := range values.Columns {
		n += framing + 3*longestEscape*len(column)
	}
	return n
}

// Fits checks that a task with these values, when it is shown, takes at most so many
// bytes. The error's Field is the column that takes the most.
func (c *Compiled) Fits(values Values, most int) *crowd.Error {
	size := c.Size(values)
	if size <= most {
		return nil
	}
	var worst, times, part int
	for i, value := range values.Cells[:min(len(values.Cells), len(values.Columns))] {
		n := c.weight.columns + c.weight.uses[values.Columns[i]]
		if c.page != nil {
			n += c.page.weight.uses[values.Columns[i]]
		}
		if n*len(value) > part {
			worst, times, part = i, n, n*len(value)
		}
	}
	if part == 0 {
		return tooLarge("template", size, most)
	}
	return &crowd.Error{Code: crowd.TooLarge, Field: values.Columns[worst], Message: fmt.Sprintf(
		"is too long to be shown: the task would be sent as some %d bytes, and at most %d are allowed; this value has %d and goes out %d times: as data, and for the places where the template shows it",
		size, most, len(values.Cells[worst]), times)}
}

// Fitted are values of a task that may be shown. Only Fit makes them, so that there is no
// way to show a task that passes MaxShownBytes.
type Fitted struct{ values Values }

// Values returns them.
func (f Fitted) Values() Values { return f.values }

// Fit returns values with the longest of them cut, so that the task, when it is shown,
// takes at most so many bytes, and no more than MaxShownBytes. Values that Fits takes stay
// as they are: what else there is was kept before there was this bound, or came before its
// template.
func (c *Compiled) Fit(values Values, most int) Fitted {
	return Fitted{c.fit(values, min(most, MaxShownBytes))}
}

func (c *Compiled) fit(values Values, most int) Values {
	if c.atMost(values) <= most || c.Size(values) <= most {
		return values
	}
	cut := Values{Columns: values.Columns, Cells: make([]string, len(values.Cells))}
	for room := most / 2; ; room /= 2 {
		for i, value := range values.Cells {
			cut.Cells[i] = shortened(value, room)
		}
		if room == 0 || c.Size(cut) <= most {
			return cut
		}
	}
}

// FitTexts returns texts that go out with a task, with the longest of them cut, so that when they are
// shown they take at most so many bytes.
func FitTexts(texts []string, most int) []string {
	if SizeOfTexts(texts) <= most {
		return texts
	}
	cut := make([]string, len(texts))
	for room := most / 2; ; room /= 2 {
		for i, s := range texts {
			cut[i] = shortened(s, room)
		}
		if room == 0 || SizeOfTexts(cut) <= most {
			return cut
		}
	}
}

// SizeOfTexts is how many bytes texts take at most when they are shown.
func SizeOfTexts(texts []string) (n int) {
	for _, s := range texts {
		n += shownEscapes.size(s)
	}
	return n
}

// shortened cuts a value to so many bytes, and says so if there is room for that.
func shortened(value string, room int) string {
	if len(value) <= room {
		return value
	}
	keep := max(room-len(cutMark), 0)
	for keep > 0 && !utf8.RuneStart(value[keep]) {
		keep--
	}
	if keep == 0 {
		return ""
	}
	return value[:keep] + cutMark
}

// escapes is how many bytes each byte of a text becomes.
type escapes [256]uint8

// longestEscape is the most that a byte becomes in JSON, HTML, a URL or a script.
const longestEscape = 6

func (e *escapes) size(s string) (n int) {
	for i := range len(s) {
		n += int(e[s[i]])
	}
	return n
}

var (
	jsonEscapes  = escapesOf("")      // of a document, sent as a string
	shownEscapes = escapesOf(`<>&'+`) // of a text, in JSON or on a page
)

// escapesOf returns the escapes of JSON, with those of HTML for these characters.
func escapesOf(html string) (e escapes) {
	for b := range e {
		switch {
		case b == '\n' || b == '\t' || b == '\r' || b == '\\':
			e[b] = 2
		case b < ' ':
			e[b] = longestEscape
		case b == '"':
			e[b] = 2
			if html != "" {
				e[b] = 5
			}
		case b < utf8.RuneSelf && strings.IndexByte(html, byte(b)) >= 0:
			e[b] = 5
		case b == 0xE2: // begins U+2028 and U+2029, three bytes that become six
			e[b] = 4
		default:
			e[b] = 1
		}
	}
	return e
}

// counter counts the bytes that a document takes as a string in JSON. It refuses those
// beyond most.
type counter struct{ n, most int }

func (c *counter) Write(p []byte) (int, error) {
	for _, b := range p {
		c.n += int(jsonEscapes[b])
	}
	if c.n > c.most {
		return 0, errTooLong
	}
	return len(p), nil
}

var errTooLong = crowd.Errorf(crowd.TooLarge, "the document is too long")
