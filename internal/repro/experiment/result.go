package experiment

import (
	"encoding/json"
	"math"

	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/stats"
)

// A Verdict says how ours compares with what was published. A row that has nothing
// to be compared with has none: see Row.NoVerdict.
type Verdict string

const (
	Reproduced Verdict = "reproduced"
	Differs    Verdict = "differs"
	Imprecise  Verdict = "imprecise" // too imprecise to say: see the package comment
)

// Verdicts lists them in the order in which they are counted.
func Verdicts() []Verdict { return []Verdict{Reproduced, Differs, Imprecise} }

// A Kind says what a row's verdict is about. Rows of unlike weight are counted apart.
type Kind string

const (
	OfFigure Kind = "figure" // a printed figure or range, by the paper's own method
	OfOrder  Kind = "order"  // which of two is said to be greater, by the paper's own method
	OfClaim  Kind = "claim"  // what the paper says in words, by its own method
	OfOurs   Kind = "ours"   // a figure or claim of the paper that a method of ours is held against
	OfFitted Kind = "fitted" // a constant was chosen with this row in view
)

// Kinds lists them in the order in which they are counted.
func Kinds() []Kind { return []Kind{OfFigure, OfOrder, OfClaim, OfOurs, OfFitted} }

// Why a row has no verdict.
const (
	NotSimulatable = "not simulatable"  // it depends on how people behaved on a marketplace
	NotInPaper     = "not in the paper" // ours alone, or the published figure is not to be had
)

// A Number is a figure that may be missing: NaN or infinite, in JSON null.
type Number float64

// MarshalJSON writes null for what is no number.
func (n Number) MarshalJSON() ([]byte, error) {
	if n.Missing() {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

var Missing = Number(math.NaN())

// Missing reports whether there is no figure.
func (n Number) Missing() bool { return !stats.Finite(float64(n)) }

// A Row is one comparison.
type Row struct {
	Name      string `json:"name"` // policy, metric and statistic
	Policy    string `json:"policy,omitempty"`
	Metric    string `json:"metric"`
	Statistic string `json:"statistic"`       // "mean of 49 scenarios"
	Unit      string `json:"unit,omitempty"`  // "s", "ratio"
	Claim     string `json:"claim,omitempty"` // what the paper says in words, where it prints no figure
	Published Number `json:"published"`
	// PublishedCI95 is half the width of the published figure's own interval, of which the verdict
	// took account; missing: it is not known, or chance has no part.
	PublishedCI95 Number  `json:"published_ci95"`
	Ours          Number  `json:"ours"`
	CI95          Number  `json:"ci95"` // half the width of the interval from Low to High
	Low           Number  `json:"low"`
	High          Number  `json:"high"`
	Kind          Kind    `json:"kind,omitempty"`
	Verdict       Verdict `json:"verdict,omitempty"`
	NoVerdict     string  `json:"no_verdict,omitempty"` // why there is neither a kind nor a verdict
	Why           string  `json:"why,omitempty"`        // codes, with ", " between them: see Result.Doc
	Source        string  `json:"source,omitempty"`     // of the published figure

	reps  int // repetitions that the figure is of; 0: it is not of repetitions
	least int // the fewest of which its interval holds
}

// A Result is what an experiment came to.
type Result struct {
	Name     string    `json:"name"`
	Title    string    `json:"title"`
	What     string    `json:"what"`
	Source   string    `json:"source"`
	Doc      string    `json:"-"` // the document that explains the reasons of the rows
	Seed     uint64    `json:"seed"`
	Reps     int       `json:"reps"`
	Extra    int       `json:"extra_reps,omitempty"`
	File     string    `json:"trace,omitempty"`    // the user's own trace
	Small    bool      `json:"small,omitempty"`    // Options.Small
	Settings string    `json:"settings,omitempty"` // flags of Options.Open, if any are set
	WallS    float64   `json:"wall_s"`
	Rows     []Row     `json:"rows"`
	Notes    []string  `json:"notes,omitempty"`
	Pictures []Picture `json:"-"`
}

// Count returns how many rows of a kind have a verdict.
func (r *Result) Count(k Kind, v Verdict) int {
	return lists.Count(r.Rows, func(row Row) bool { return row.Kind == k && row.Verdict == v })
}

// CountNone returns how many rows have no verdict for that reason.
func (r *Result) CountNone(why string) int {
	return lists.Count(r.Rows, func(row Row) bool { return row.NoVerdict == why })
}

// Add adds rows.
func (r *Result) Add(rows ...Row) { r.Rows = append(r.Rows, rows...) }

// Draw adds pictures.
func (r *Result) Draw(pictures ...Picture) { r.Pictures = append(r.Pictures, pictures...) }

func (r *Result) Note(text string) { r.Notes = append(r.Notes, text) }
