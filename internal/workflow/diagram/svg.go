package diagram

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/workflow"
)

// style is the style sheet of a picture; %s stands for the kinds of nodes by dark.
const style = `
.wf a:focus .box,.wf a:hover .box{stroke-width:3}
@media (prefers-color-scheme:dark){
.wf text{fill:#f0f4f8}
.wf .kind,.wf .count,.wf .legend{fill:#b8c4d0}
.wf .bad{fill:#ff9b8f}
.wf .blocked{stroke:#ff9b8f}
.wf .edge{stroke:#9aa5b1}
.wf .head{fill:#9aa5b1}
%s.wf .pill{fill:#1b222b;stroke:#7b8794}
}
`

const fonts = `system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif`

// paint is the look of a class without a style sheet, in the light theme. The
// style sheet adds the dark.
var paint = map[string]string{
	"name": `fill="#1f2933" font-weight="600"`, "kind": `fill="#52606d"`, "count": `fill="#52606d"`, "legend": `fill="#52606d"`, "bad": `fill="#b42318"`,
	"blocked": `fill="none" stroke="#b42318" stroke-width="3.2"`,
	"batch":   `fill="none" stroke="#7b8794" stroke-width="1.8"`, "stream": `fill="none" stroke="#7b8794" stroke-width="1.8" stroke-dasharray="6 4"`,
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
	if b.blocked {
		fmt.Fprintf(out, `<path %s d="%s"/>`, of("blocked"), outline(look.Outline, b.rect))
	}
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

// legend explains what the lines and the forms mean.
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

// inWords describes the picture, for screen readers.
func (p *picture) inWords() string {
	var b strings.Builder
	for i := range p.w.Inputs {
		fmt.Fprintf(&b, "%s. ", p.boxes[i].title)
	}
	for i := range p.w.Steps {
		s := &p.w.Steps[i]
		from := lists.Map(s.From, func(f workflow.Source) string { return f.Name + " (" + string(f.Edge) + ")" })
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
