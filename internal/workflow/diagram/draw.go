// Package diagram draws a workflow as a picture in SVG: layers of boxes, joined by
// its edges.
package diagram

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/throng-dev/throng/internal/workflow"
)

// Counts says where a node of a run stands.
type Counts struct {
	In, Out, Waiting, Failed int64  // items
	State                    string // in one word, such as running; "": not said
}

// Options is what a picture shows besides the workflow itself.
type Options struct {
	Counts []Counts // by node; nil: none
	Links  []string // by node: the address that its box leads to; nil or "": none
}

// Sizes in pixels.
const (
	fontName, fontSmall    = 14.0, 11.5
	margin                 = 16.0
	boxPad                 = 18.0
	boxHeight              = 50.0
	lineHeight             = 17.0
	boxLeast, boxMost      = 110.0, 250.0
	pillMost, pillHeight   = 210.0, 22.0
	pillGap                = 16.0 // between a condition and its step, for the arrow
	layerGap               = 54.0
	legendHeight           = 34.0
	legendWidth            = 470.0
	comfortable            = 1100.0 // a width that most pages have
	cylinder, slant, point = 5.0, 10.0, 12.0
)

// Draw returns a picture of the workflow in SVG. Edges go to the right, or down
// if that is less wide; those of a batch are solid, those of a stream dashed.
// The kinds differ in form and colour. A condition stands before its step.
func Draw(w *workflow.Workflow, d Options) []byte {
	p := newPicture(w, d, false)
	if p.width > comfortable {
		if down := newPicture(w, d, true); down.width < p.width {
			p = down
		}
	}
	return p.svg()
}

// rect is a box of the picture.
type rect struct{ x, y, w, h float64 }

func (r rect) right() float64  { return r.x + r.w }
func (r rect) bottom() float64 { return r.y + r.h }

// picture is a layout in pixels.
type picture struct {
	w             *workflow.Workflow
	d             Options
	down          bool
	width, height float64
	boxes         []box // by node
	paths         []path
}

// box is a node of the picture.
type box struct {
	rect  rect
	pill  rect // of its condition; no width: none
	when  string
	lines []textLine
	title string // all of it, for whoever points at it or cannot see
}

// textLine is a line of text, cut to what fits.
type textLine struct {
	text  string
	class string
	size  float64
}

// path is an edge: points where it bends.
type path struct {
	from, to int
	edge     workflow.Edge
	points   []corner
}

type corner struct{ x, y float64 }

func newPicture(w *workflow.Workflow, d Options, down bool) *picture {
	p := &picture{w: w, d: d, down: down, boxes: make([]box, w.Nodes())}
	sizes := make([]float64, w.Nodes())
	height := boxHeight
	if d.Counts != nil {
		height += 2 * lineHeight
	}
	for n := range p.boxes {
		b := &p.boxes[n]
		p.describe(n, b)
		wide := boxLeast
		for _, l := range b.lines {
			wide = max(wide, textWidth(l.text, l.size)+2*boxPad)
		}
		b.rect.w, b.rect.h = wide, height
		if sizes[n] = height; down {
			sizes[n] = max(wide, b.pill.w)
		}
	}
	l := arrange(w, sizes)
	p.put(l)
	return p
}

// describe writes the lines of a node.
func (p *picture) describe(n int, b *box) {
	name, kind := p.w.NodeName(n), "input"
	b.title = "input " + name
	if s := p.w.Step(n); s != nil {
		kind = s.Spec.Summary()
		b.title = string(s.Kind) + " step " + name
		if s.When != nil {
			full := strings.Join(strings.Fields(s.When.Text()), " ")
			b.title += ", when " + full
			b.when = fit("when "+full, fontSmall, pillMost-2*10)
			b.pill.w, b.pill.h = textWidth(b.when, fontSmall)+2*10, pillHeight
		}
	}
	add := func(text, class string, size float64) {
		b.lines = append(b.lines, textLine{fit(text, size, boxMost-2*boxPad), class, size})
	}
	add(name, "name", fontName)
	add(kind, "kind", fontSmall)
	if n >= len(p.d.Counts) {
		return
	}
	c := p.d.Counts[n]
	first := grouped(c.In) + " in · " + grouped(c.Out) + " out"
	second := grouped(c.Waiting) + " waiting"
	if c.State != "" {
		second = c.State + " · " + second
	}
	class := "count"
	if c.Failed > 0 {
		second += " · " + grouped(c.Failed) + " failed"
		class = "bad"
	}
	b.title += ": " + first + ", " + second
	add(first, "count", fontSmall)
	add(second, class, fontSmall)
}

// grouped writes a number with its thousands apart.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// put turns the layout into places.
func (p *picture) put(l *layout) {
	start := make([]float64, len(l.layers)) // of each layer, along
	end := make([]float64, len(l.layers))
	at := margin
	for i, layer := range l.layers {
		pill, long := 0.0, 0.0
		for _, s := range layer {
			if s.node < 0 {
				continue
			}
			b := &p.boxes[s.node]
			if p.down {
				long = max(long, b.rect.h)
				if b.pill.w > 0 {
					pill = pillHeight + pillGap
				}
			} else {
				long = max(long, b.rect.w)
				if b.pill.w > 0 {
					pill = max(pill, b.pill.w+pillGap)
				}
			}
		}
		start[i], end[i] = at, at+pill+long
		at = end[i] + layerGap
		for _, s := range layer {
			if s.node >= 0 {
				p.stand(&p.boxes[s.node], s.center+margin, end[i]-long, long)
			}
		}
	}
	for _, e := range l.edges {
		p.paths = append(p.paths, p.path(e, start, end))
	}
	p.width, p.height = legendWidth, 0
	for i := range p.boxes {
		b := &p.boxes[i]
		p.width = max(p.width, b.rect.right(), b.pill.right())
		p.height = max(p.height, b.rect.bottom(), b.pill.bottom())
	}
	for _, e := range p.paths {
		for _, c := range e.points {
			p.width, p.height = max(p.width, c.x), max(p.height, c.y)
		}
	}
	p.width += margin
	p.height += margin + legendHeight
}

// stand puts a box and its condition: center is across, from along.
func (p *picture) stand(b *box, center, from, long float64) {
	if p.down {
		b.rect.x, b.rect.y = center-b.rect.w/2, from
		if b.pill.w > 0 {
			b.pill.x, b.pill.y = center-b.pill.w/2, from-pillGap-pillHeight
		}
		return
	}
	b.rect.w = long
	b.rect.x, b.rect.y = from, center-b.rect.h/2
	if b.pill.w > 0 {
		b.pill.x, b.pill.y = from-pillGap-b.pill.w, center-pillHeight/2
	}
}

// path is the way of an edge: straight beside boxes, bent between layers.
func (p *picture) path(e route, start, end []float64) path {
	out := path{from: e.source.Node, to: e.to, edge: e.source.Edge}
	add := func(along, across float64) {
		if p.down {
			out.points = append(out.points, corner{across, along})
		} else {
			out.points = append(out.points, corner{along, across})
		}
	}
	for i, s := range e.spots {
		center := s.center + margin
		if i > 0 {
			add(start[s.layer], center)
		}
		if i < len(e.spots)-1 {
			if i == 0 {
				add(p.leaves(s.node), center)
			}
			add(end[s.layer], center)
		}
	}
	add(p.enters(e.to), e.spots[len(e.spots)-1].center+margin)
	return out
}

// leaves and enters say where edges touch a box, along.
func (p *picture) leaves(node int) float64 {
	if p.down {
		return p.boxes[node].rect.bottom()
	}
	return p.boxes[node].rect.right()
}

func (p *picture) enters(node int) float64 {
	r := p.boxes[node].rect
	if p.boxes[node].pill.w > 0 {
		r = p.boxes[node].pill
	}
	if p.down {
		return r.y
	}
	return r.x
}

// textWidth estimates how wide a text is, rather too wide than too narrow.
func textWidth(s string, size float64) float64 {
	sum := 0.0
	for _, c := range s {
		sum += runeWidth(c)
	}
	return sum * size
}

// runeWidth is the width of a character at size 1.
func runeWidth(c rune) float64 {
	switch {
	case strings.ContainsRune("iljtfrI.,:;'|!()[] ·", c):
		return 0.36
	case strings.ContainsRune("mwMW@%…", c):
		return 0.95
	case c >= 0x1100:
		return 1.05
	case unicode.IsUpper(c):
		return 0.72
	}
	return 0.60
}

// fit cuts a text to a width.
func fit(s string, size, most float64) string {
	room, end := most-textWidth("…", size), 0
	sum := 0.0
	for i, c := range s {
		if sum += runeWidth(c) * size; sum > most {
			return strings.TrimRight(s[:end], " ") + "…"
		}
		if sum <= room {
			end = i + utf8.RuneLen(c)
		}
	}
	return s
}

// style is the style sheet of a picture; %s stands for the kinds of nodes by dark.
const style = `
.wf a:focus .box,.wf a:hover .box{stroke-width:3}
@media (prefers-color-scheme:dark){
.wf text{fill:#f0f4f8}
.wf .kind,.wf .count,.wf .legend{fill:#b8c4d0}
.wf .bad{fill:#ff9b8f}
.wf .edge{stroke:#9aa5b1}
.wf .head{fill:#9aa5b1}
%s.wf .pill{fill:#1b222b;stroke:#7b8794}
}
`

const fonts = `system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif`

// paint is how a class looks where no style sheet is taken: by daylight. The
// style sheet adds the dark.
var paint = map[string]string{
	"name": `fill="#1f2933" font-weight="600"`, "kind": `fill="#52606d"`, "count": `fill="#52606d"`, "legend": `fill="#52606d"`, "bad": `fill="#b42318"`,
	"batch": `fill="none" stroke="#7b8794" stroke-width="1.8"`, "stream": `fill="none" stroke="#7b8794" stroke-width="1.8" stroke-dasharray="6 4"`,
	"pill": `fill="#ffffff" stroke="#9aa5b1"`, "head": `fill="#7b8794"`,
}

// of returns the class of an element and how it looks.
func of(class string) string {
	last := class[strings.LastIndexByte(class, ' ')+1:]
	return `class="` + class + `" ` + paint[last]
}

// boxOf returns the class of a node's box and how it looks.
func boxOf(look workflow.Look) string {
	return fmt.Sprintf(`class="box %s" fill="%s" %s`, look.Class, look.Light.Fill, strokeOf(look))
}

func strokeOf(look workflow.Look) string {
	return fmt.Sprintf(`stroke="%s" stroke-width="1.6"`, look.Light.Stroke)
}

// styleSheet returns the style sheet of a picture.
func styleSheet() string {
	var dark strings.Builder
	for _, l := range workflow.Looks() {
		fmt.Fprintf(&dark, ".wf .%s{fill:%s;stroke:%s}\n", l.Class, l.Dark.Fill, l.Dark.Stroke)
	}
	return fmt.Sprintf(style, dark.String())
}

// svg writes the picture.
func (p *picture) svg() []byte {
	var out bytes.Buffer
	role := "img"
	if slices.ContainsFunc(p.d.Links, func(l string) bool { return l != "" }) {
		role = "group" // links within must be reachable
	}
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" class="wf" role="%s" aria-labelledby="wf-title wf-desc" viewBox="0 0 %s %s" width="%s" height="%s" font-family="`+fonts+`">`,
		role, px(p.width), px(p.height), px(p.width), px(p.height))
	fmt.Fprintf(&out, "\n<title id=\"wf-title\">%s</title>\n<desc id=\"wf-desc\">%s</desc>\n<style>%s</style>\n", escape("Workflow "+p.w.Name), escape(p.inWords()), styleSheet())
	out.WriteString(`<defs><marker id="wf-head" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path ` + of("head") + ` d="M0 0L8 4L0 8z"/></marker></defs>` + "\n")
	for _, e := range p.paths {
		p.edge(&out, e)
	}
	for n := range p.boxes {
		p.node(&out, n)
	}
	p.legend(&out)
	out.WriteString("</svg>\n")
	return out.Bytes()
}

func (p *picture) edge(out *bytes.Buffer, e path) {
	var d strings.Builder
	for i, c := range e.points {
		switch {
		case i == 0:
			fmt.Fprintf(&d, "M%s %s", px(c.x), px(c.y))
		case p.across(c) != p.across(e.points[i-1]):
			a := e.points[i-1]
			if p.down {
				middle := (a.y + c.y) / 2
				fmt.Fprintf(&d, "C%s %s %s %s %s %s", px(a.x), px(middle), px(c.x), px(middle), px(c.x), px(c.y))
			} else {
				middle := (a.x + c.x) / 2
				fmt.Fprintf(&d, "C%s %s %s %s %s %s", px(middle), px(a.y), px(middle), px(c.y), px(c.x), px(c.y))
			}
		default:
			fmt.Fprintf(&d, "L%s %s", px(c.x), px(c.y))
		}
	}
	head := ` marker-end="url(#wf-head)"`
	if p.boxes[e.to].pill.w > 0 {
		head = ""
	}
	fmt.Fprintf(out, `<path %s d="%s"%s/>`+"\n", of("edge "+string(e.edge)), d.String(), head)
}

func (p *picture) across(c corner) float64 {
	if p.down {
		return c.x
	}
	return c.y
}

func (p *picture) node(out *bytes.Buffer, n int) {
	b := &p.boxes[n]
	link := ""
	if n < len(p.d.Links) {
		link = p.d.Links[n]
	}
	if link != "" {
		fmt.Fprintf(out, `<a href="%s" aria-label="%s">`, escape(link), escape(b.title))
	}
	fmt.Fprintf(out, "<g><title>%s</title>", escape(b.title))
	if b.pill.w > 0 {
		r := b.pill
		fmt.Fprintf(out, `<rect %s x="%s" y="%s" width="%s" height="%s" rx="11"/>`, of("pill"), px(r.x), px(r.y), px(r.w), px(r.h))
		fmt.Fprintf(out, `<text %s x="%s" y="%s" font-size="%s" text-anchor="middle">%s</text>`, of("kind"), px(r.x+r.w/2), px(r.y+r.h/2+4), px(fontSmall), escape(b.when))
		if p.down {
			fmt.Fprintf(out, `<path %s d="M%s %sV%s" marker-end="url(#wf-head)"/>`, of("edge batch"), px(r.x+r.w/2), px(r.bottom()), px(b.rect.y))
		} else {
			fmt.Fprintf(out, `<path %s d="M%s %sH%s" marker-end="url(#wf-head)"/>`, of("edge batch"), px(r.right()), px(r.y+r.h/2), px(b.rect.x))
		}
	}
	look := workflow.InputLook
	if s := p.w.Step(n); s != nil {
		look = s.Look()
	}
	fmt.Fprintf(out, `<path %s d="%s"/>`, boxOf(look), outline(look.Outline, b.rect))
	y := b.rect.y + (b.rect.h-lineHeight*float64(len(b.lines)))/2 + 13
	if look.Outline == workflow.Cylinder {
		r := b.rect
		fmt.Fprintf(out, `<path class="box %s" fill="none" %s d="M%s %sA%s %s 0 0 0 %s %s"/>`, look.Class, strokeOf(look),
			px(r.x), px(r.y+cylinder), px(r.w/2), px(cylinder), px(r.right()), px(r.y+cylinder))
		y += cylinder / 2
	}
	for _, l := range b.lines {
		fmt.Fprintf(out, `<text %s x="%s" y="%s" font-size="%s" text-anchor="middle">%s</text>`, of(l.class), px(b.rect.x+b.rect.w/2), px(y), px(l.size), escape(l.text))
		y += lineHeight
	}
	out.WriteString("</g>")
	if link != "" {
		out.WriteString("</a>")
	}
	out.WriteString("\n")
}

// outline returns the path of a box.
func outline(form workflow.Outline, r rect) string {
	switch form {
	case workflow.Sheet:
		return fmt.Sprintf("M%s %sH%sL%s %sH%sz", px(r.x+slant), px(r.y), px(r.right()), px(r.right()-slant), px(r.bottom()), px(r.x))
	case workflow.Cylinder:
		return fmt.Sprintf("M%[1]s %[2]sA%[5]s %[6]s 0 0 1 %[3]s %[2]sV%[4]sA%[5]s %[6]s 0 0 1 %[1]s %[4]sz",
			px(r.x), px(r.y+cylinder), px(r.right()), px(r.bottom()-cylinder), px(r.w/2), px(cylinder))
	case workflow.Hexagon:
		middle := px(r.y + r.h/2)
		return fmt.Sprintf("M%s %sH%sL%s %sL%s %sH%sL%s %sz", px(r.x+point), px(r.y), px(r.right()-point), px(r.right()), middle, px(r.right()-point), px(r.bottom()), px(r.x+point), px(r.x), middle)
	}
	const round = 16
	return fmt.Sprintf("M%[1]s %[2]sH%[3]sa%[7]d %[7]d 0 0 1 %[7]d %[7]dV%[5]sa%[7]d %[7]d 0 0 1 -%[7]d %[7]dH%[1]sa%[7]d %[7]d 0 0 1 -%[7]d -%[7]dV%[4]sa%[7]d %[7]d 0 0 1 %[7]d -%[7]dz",
		px(r.x+round), px(r.y), px(r.right()-round), px(r.y+round), px(r.bottom()-round), px(r.bottom()), round)
}

// legend says what the lines and the forms mean.
func (p *picture) legend(out *bytes.Buffer) {
	y := p.height - legendHeight/2
	x := margin
	for _, e := range []workflow.Edge{workflow.Batch, workflow.Stream} {
		fmt.Fprintf(out, `<path %s d="M%s %sH%s"/>`, of("edge "+string(e)), px(x), px(y), px(x+30))
		fmt.Fprintf(out, `<text %s x="%s" y="%s" font-size="%s">%s</text>`, of("legend"), px(x+36), px(y+4), px(fontSmall), e)
		x += 36 + textWidth(string(e), fontSmall) + 18
	}
	for _, l := range workflow.Looks() {
		fmt.Fprintf(out, `<rect %s x="%s" y="%s" width="14" height="14" rx="3"/>`, boxOf(l), px(x), px(y-7))
		fmt.Fprintf(out, `<text %s x="%s" y="%s" font-size="%s">%s</text>`, of("legend"), px(x+20), px(y+4), px(fontSmall), l.Word)
		x += 20 + textWidth(l.Word, fontSmall) + 16
	}
	out.WriteString("\n")
}

// inWords tells the picture to whoever cannot see it.
func (p *picture) inWords() string {
	var b strings.Builder
	for i := range p.w.Inputs {
		fmt.Fprintf(&b, "%s. ", p.boxes[i].title)
	}
	for i := range p.w.Steps {
		s := &p.w.Steps[i]
		var from []string
		for _, f := range s.From {
			from = append(from, f.Name+" ("+string(f.Edge)+")")
		}
		fmt.Fprintf(&b, "%s reads %s. ", p.boxes[s.Node].title, strings.Join(from, ", "))
	}
	return strings.TrimSpace(b.String())
}

// px writes a length with at most one place.
func px(f float64) string { return strconv.FormatFloat(float64(int64(f*10+0.5))/10, 'f', -1, 64) }

func escape(s string) string {
	var b bytes.Buffer
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		return ""
	}
	return b.String()
}
