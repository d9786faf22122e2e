package experiment

import (
	"encoding/json"
	"math"

	"github.com/throng-dev/throng/internal/kit/lists"
)

// A Verdict says how ours compares with the published figure.
type Verdict string

const (
	Reproduced     Verdict = "reproduced"
	Differs        Verdict = "differs"
	NotSimulatable Verdict = "not simulatable"
	NotInPaper     Verdict = "not in the paper" // ours alone
)

// A Number is a figure that may be missing: NaN, in JSON null.
type Number float64

// MarshalJSON writes null for what is no number.
func (n Number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(n)) || math.IsInf(float64(n), 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

var Missing = Number(math.NaN())

// Missing reports whether there is no figure.
func (n Number) Missing() bool { return math.IsNaN(float64(n)) }

// A Row is one comparison.
type Row struct {
	Name      string  `json:"name"` // policy, metric and statistic
	Policy    string  `json:"policy,omitempty"`
	Metric    string  `json:"metric"`
	Statistic string  `json:"statistic"`       // "mean of 49 scenarios"
	Unit      string  `json:"unit,omitempty"`  // "s", "ratio"
	Claim     string  `json:"claim,omitempty"` // what the paper says in words, where it prints no figure
	Published Number  `json:"published"`
	Ours      Number  `json:"ours"`
	CI95      Number  `json:"ci95"` // half the width of the interval from Low to High
	Low       Number  `json:"low"`
	High      Number  `json:"high"`
	Verdict   Verdict `json:"verdict"`
	Why       string  `json:"why,omitempty"`    // codes, with ", " between them: see Result.Doc
	Source    string  `json:"source,omitempty"` // of the published figure

	sampled bool // it is the statistic of a sample
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
	File     string    `json:"trace,omitempty"` // the user's own trace
	WallS    float64   `json:"wall_s"`
	Rows     []Row     `json:"rows"`
	Notes    []string  `json:"notes,omitempty"`
	Pictures []Picture `json:"-"`
}

// Count returns how many rows have a verdict.
func (r *Result) Count(v Verdict) int {
	return lists.Count(r.Rows, func(row Row) bool { return row.Verdict == v })
}

// Add adds rows.
func (r *Result) Add(rows ...Row) { r.Rows = append(r.Rows, rows...) }

// Draw adds pictures.
func (r *Result) Draw(pictures ...Picture) { r.Pictures = append(r.Pictures, pictures...) }

func (r *Result) Note(text string) { r.Notes = append(r.Notes, text) }
