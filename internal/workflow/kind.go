package workflow

import (
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/yamlfile/fields"
)

// Kind is the kind of a step.
type Kind string

// The kinds, each described in a file of its own.
const (
	CrowdStep Kind = "crowd"
	SQLStep   Kind = "sql"
	HTTPStep  Kind = "service"
)

// Spec is what a step says that only a step of its kind says: *Crowd, *SQL or
// *HTTP.
type Spec interface {
	// MakesItems reports whether the step's rows are new items, not those that
	// came in.
	MakesItems() bool
	// WhyAllRows says why the step needs all rows at once, or "".
	WhyAllRows() string
	// Summary describes the step in a few words.
	Summary() string
}

// MakesItems reports whether the step's rows are new items, not those that came
// in.
func (s *Step) MakesItems() bool { return s.Spec.MakesItems() }

// Reshapes reports whether the step's rows have no columns but its own, and one
// item may become several rows.
func (s *Step) Reshapes() bool { return kindOf(s.Kind).reshapes }

// SplitsItems reports whether each item by itself becomes rows of the step, each an
// item made from it.
func (s *Step) SplitsItems() bool { return s.Reshapes() && !s.MakesItems() }

// AsksPeople reports whether steps of the kind have people's answers.
func (k Kind) AsksPeople() bool { return k == CrowdStep }

// JoinsItems reports whether the step waits, for each item, for what the source
// hands on of it. Else it reads the source as a table.
func (s *Step) JoinsItems(from Source) bool {
	return !s.MakesItems() && (from.Edge == Stream || !s.Reshapes())
}

// kind describes a kind of step: what may stand in the file, how it is read, and
// how pictures show it.
type kind struct {
	name     Kind          // and the field under which a step of the kind stands
	shape    *fields.Type  // of that field
	fields   fields.Fields // of the step, which no step of another kind has
	foreign  string        // what to say of these fields at a step of another kind
	reshapes bool          // see Step.Reshapes
	look     Look
	// read makes the step's Spec, columns and expected time of the value, which
	// is nil if it was refused.
	read func(r *reader, m *made, v *fields.Part)
	// typeHint says what decides the type of a column that a step of the kind adds.
	typeHint func(step, column string) string
}

// kinds are the kinds of steps. A step of two kinds is read as the first.
var kinds = []*kind{&crowdKind, &sqlKind, &httpKind}

// Kinds returns the names of the kinds.
func Kinds() []Kind {
	return lists.Map(kinds, func(k *kind) Kind { return k.name })
}

// kindOf returns the description of a kind that a checked step has.
func kindOf(name Kind) *kind {
	for _, k := range kinds {
		if k.name == name {
			return k
		}
	}
	panic("workflow: there is no step of the kind " + string(name)) // the reader takes none
}

// Outline is the form of a box in a picture.
type Outline string

// The outlines.
const (
	RoundBox Outline = "round"
	Cylinder Outline = "cylinder"
	Hexagon  Outline = "hexagon"
	Sheet    Outline = "sheet"
)

// Look is how pictures show a kind of node.
type Look struct {
	Class   string // of its boxes in the style sheet
	Word    string // in the legend
	Outline Outline
	Light   Paint
	Dark    Paint
}

// Paint is the colours of a box, as CSS has them.
type Paint struct{ Fill, Stroke string }

// InputLook is how pictures show an input.
var InputLook = Look{"input", "input", Sheet, Paint{"#eef1f4", "#7b8794"}, Paint{"#2b3440", "#9aa5b1"}}

// Looks returns how pictures show each kind of node, inputs first.
func Looks() []Look {
	list := []Look{InputLook}
	for _, k := range kinds {
		list = append(list, k.look)
	}
	return list
}

// Look returns how pictures show the step.
func (s *Step) Look() Look { return kindOf(s.Kind).look }
