package chart

import (
	"bytes"
	"errors"
	"image/color"
	"image/png"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
)

// pixels are those of a point in a PNG.
const pixels = 2

// raster is the surface that becomes a PNG.
type raster struct {
	c      *vgimg.Canvas
	height float64
	fonts  fonts
}

func newRaster(size Size, f fonts) *raster {
	c := vgimg.NewWith(vgimg.UseWH(vg.Length(size.Width), vg.Length(size.Height)), vgimg.UseDPI(72*pixels))
	return &raster{c: c, height: size.Height, fonts: f}
}

func (r *raster) bytes() ([]byte, error) {
	var b bytes.Buffer
	if err := png.Encode(&b, r.c.Image()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func (r *raster) begin(string) {}
func (r *raster) end()         {}

// at turns a place upside down: the canvas counts from the bottom.
func (r *raster) at(p pt) vg.Point {
	return vg.Point{X: vg.Length(p.x), Y: vg.Length(r.height - p.y)}
}

func (r *raster) stroke(p pen, lines [][]pt) {
	if len(lines) == 0 {
		return
	}
	dash := make([]vg.Length, len(p.dash))
	for i, d := range p.dash {
		dash[i] = vg.Length(d)
	}
	r.c.SetColor(rgb(p.colour, p.alpha))
	r.c.SetLineWidth(vg.Length(p.width))
	r.c.SetLineDash(dash, 0)
	r.c.Stroke(r.path(lines, false))
}

func (r *raster) fill(colour string, alpha float64, rings [][]pt) {
	if len(rings) == 0 {
		return
	}
	r.c.SetColor(rgb(colour, alpha))
	r.c.Fill(r.path(rings, true))
}

func (r *raster) circles(colour string, alpha, radius float64, centres []pt) {
	if len(centres) == 0 {
		return
	}
	var path vg.Path
	for _, p := range centres {
		c := r.at(p)
		path.Move(vg.Point{X: c.X + vg.Length(radius), Y: c.Y})
		path.Arc(c, vg.Length(radius), 0, 2*math.Pi)
		path.Close()
	}
	r.c.SetColor(rgb(colour, alpha))
	r.c.Fill(path)
}

func (r *raster) write(l label) {
	if l.text == "" {
		return
	}
	face := r.fonts.face(l.size, l.bold)
	dx := 0.0
	switch l.align {
	case middle:
		dx = -r.fonts.width(l.text, l.size, l.bold) / 2
	case right:
		dx = -r.fonts.width(l.text, l.size, l.bold)
	}
	r.c.SetColor(rgb(l.colour, 1))
	r.c.Push()
	r.c.Translate(r.at(l.at))
	if l.turn != 0 {
		r.c.Rotate(l.turn * math.Pi / 180)
	}
	r.c.FillString(face, vg.Point{X: vg.Length(dx)}, l.text)
	r.c.Pop()
}

func (r *raster) path(lines [][]pt, closed bool) vg.Path {
	var path vg.Path
	for _, line := range lines {
		for i, p := range line {
			if i == 0 {
				path.Move(r.at(p))
			} else {
				path.Line(r.at(p))
			}
		}
		if closed {
			path.Close()
		}
	}
	return path
}

func rgb(colour string, alpha float64) color.NRGBA {
	n, _ := strconv.ParseUint(strings.TrimPrefix(colour, "#"), 16, 32)
	return color.NRGBA{R: uint8(n >> 16), G: uint8(n >> 8), B: uint8(n), A: uint8(alpha*255 + 0.5)}
}

// fonts are the two faces that charts are measured and rastered with. They are
// part of the program, so a picture does not depend on where it is made.
type fonts struct{ regular, bold font.Face }

func loadFonts() (fonts, error) {
	var f fonts
	for _, face := range liberation.Collection() {
		switch face.Name() {
		case "LiberationSans-Regular":
			f.regular = face
		case "LiberationSans-Bold":
			f.bold = face
		}
	}
	if f.regular.Face == nil || f.bold.Face == nil {
		return f, errors.New("chart: the fonts are missing")
	}
	return f, nil
}

func (f fonts) face(size float64, bold bool) font.Face {
	face := f.regular
	if bold {
		face = f.bold
	}
	face.Font.Size = vg.Length(size)
	return face
}

func (f fonts) width(text string, size float64, bold bool) float64 {
	face := f.face(size, bold)
	return float64(face.Width(text))
}

// fit shortens text to the room there is.
func (f fonts) fit(text string, size float64, bold bool, room float64) string {
	if f.width(text, size, bold) <= room {
		return text
	}
	runes := []rune(text)
	lo, hi := 0, len(runes)
	for lo < hi { // how many letters fit before the dots
		n := (lo + hi + 1) / 2
		if f.width(string(runes[:n])+"…", size, bold) <= room {
			lo = n
		} else {
			hi = n - 1
		}
	}
	if lo == 0 {
		return ""
	}
	return strings.TrimRight(string(runes[:lo]), " ,.;:(") + "…"
}

// wrap breaks text at spaces into at most so many lines.
func (f fonts) wrap(text string, size float64, bold bool, room float64, lines int) []string {
	words := strings.Fields(text)
	var out []string
	for len(words) > 0 {
		if len(out) == lines-1 {
			return append(out, f.fit(strings.Join(words, " "), size, bold, room))
		}
		n := 1
		for n < len(words) && f.width(strings.Join(words[:n+1], " "), size, bold) <= room {
			n++
		}
		out = append(out, f.fit(strings.Join(words[:n], " "), size, bold, room))
		words = words[n:]
	}
	return out
}

// clean makes one line of text: what is between words becomes one space.
func clean(text string) string {
	const limit = 300 // letters; no label is read to its end beyond that
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	if runes := []rune(text); len(runes) > limit {
		text = string(runes[:limit-1]) + "…"
	}
	return text
}
