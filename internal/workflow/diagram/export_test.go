package diagram

import (
	"github.com/throng-dev/throng/internal/workflow"
)

// Placed is where things stand in a picture, for tests.
type Placed struct {
	Down  bool
	Boxes [][4]float64 // x, y, width, height
	Pills [][4]float64
	Paths [][][2]float64
	Texts [][]PlacedText
}

// PlacedText is a text and its estimated width.
type PlacedText struct {
	Text  string
	Width float64
}

// Places returns where Draw puts things.
func Places(w *workflow.Workflow, d Options) Placed {
	p := newPicture(w, d, false)
	if p.width > comfortable {
		if down := newPicture(w, d, true); down.width < p.width {
			p = down
		}
	}
	out := Placed{Down: p.down}
	for _, b := range p.boxes {
		out.Boxes = append(out.Boxes, [4]float64{b.rect.x, b.rect.y, b.rect.w, b.rect.h})
		out.Pills = append(out.Pills, [4]float64{b.pill.x, b.pill.y, b.pill.w, b.pill.h})
		var texts []PlacedText
		for _, l := range b.lines {
			texts = append(texts, PlacedText{l.text, textWidth(l.text, l.size)})
		}
		out.Texts = append(out.Texts, texts)
	}
	for _, e := range p.paths {
		var points [][2]float64
		for _, c := range e.points {
			points = append(points, [2]float64{c.x, c.y})
		}
		out.Paths = append(out.Paths, points)
	}
	return out
}
