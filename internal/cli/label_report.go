package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/label"
)

// labelReport is what label prints.
type labelReport struct {
	File       string       `json:"file"`
	Asked      string       `json:"method_asked"`
	Method     string       `json:"method"` // the one that was used
	Rows       int          `json:"rows"`
	Answers    int          `json:"answers"` // without repeats
	Tasks      int          `json:"tasks"`
	Classes    int          `json:"classes"`
	Redundancy float64      `json:"redundancy"`  // answers a task
	Scale      string       `json:"alpha_scale"` // nominal, ordinal or interval
	Alpha      *float64     `json:"alpha"`       // nil: not defined
	AlphaLow   *float64     `json:"alpha_low"`   // bounds of 95 %
	AlphaHigh  *float64     `json:"alpha_high"`  //
	Kappa      *float64     `json:"kappa"`       // mean of Cohen's over pairs who share kappaTasks; nil: there are none, or too many
	Unanimous  *float64     `json:"unanimous"`   // nil: no task has two answers
	Ties       int          `json:"ties"`        // tasks
	Iterations int          `json:"iterations"`  // 0: the method makes none
	Converged  bool         `json:"converged"`   //
	Accuracy   *float64     `json:"accuracy"`    // nil: no truth
	Scored     int          `json:"scored"`      // tasks whose truth is known
	Gold       int          `json:"gold"`        // tasks learnt from
	GoldUnused []string     `json:"gold_unused"` // tasks of the gold that nobody answered
	GoldUnsaid []string     `json:"gold_unsaid"` // labels of the gold that nobody gave to any task
	Bad        int          `json:"bad"`         // rows left out
	NotCounted int          `json:"not_counted"` // rows whose column "counted" is false
	Groups     []labelGroup `json:"groups"`      // workers who copy from each other, as robust finds them
	Workers    []labelling  `json:"workers"`
	Labels     []labelled   `json:"labels"`

	truth bool // known labels are there to score by
}

// kappaTasks is how many tasks a pair must share for its κ to count.
const kappaTasks = 5

// labelled is the label of a task.
type labelled struct {
	Task         string       `json:"task"`
	Value        string       `json:"value"`
	Confidence   float64      `json:"confidence"`
	Distribution distribution `json:"distribution"`
	Answers      int          `json:"answers"`
	Tie          bool         `json:"tie"`
}

// distribution is what a label may be, with its probabilities, written by name when it is
// printed: a million of them are not kept.
type distribution struct {
	result *label.Result
	task   int
}

// MarshalJSON writes an object of numbers.
func (d distribution) MarshalJSON() ([]byte, error) {
	return json.Marshal(maps.Collect(d.result.Distribution(d.task)))
}

// labelling is how a worker did.
type labelling struct {
	Worker      string   `json:"worker"`
	Skill       float64  `json:"skill"`
	Low         float64  `json:"low"`
	High        float64  `json:"high"`
	Answers     int      `json:"answers"`
	Information *float64 `json:"information,omitempty"`
}

// labelGroup are workers who copy from each other.
type labelGroup struct {
	Workers   []string `json:"workers"`
	Shared    int      `json:"shared"`
	Agreement float64  `json:"agreement"`
	Chance    float64  `json:"chance"`
	Beyond    float64  `json:"beyond_chance"`
	Honest    float64  `json:"beyond_chance_if_honest"`
}

// unsaid lists the known labels that nobody gave to any task: they are compared letter by letter,
// and whoever knows "Yes" of answers that say "yes" has everybody wrong.
func unsaid(data *label.Dataset, gold label.Truth) []string {
	said := make(map[label.Class]bool)
	for i := range data.Tasks() {
		_, labels := data.Answers(i)
		for _, l := range labels {
			said[l] = true
		}
	}
	list := []string{}
	for _, l := range gold {
		if l != label.None && !said[l] {
			said[l] = true
			list = append(list, data.Classes()[l])
		}
	}
	slices.Sort(list)
	return list
}

// fit combines the answers and fills the report. It returns the labels to score by, too.
func (l *Label) fit(method label.Method, data *label.Dataset, truth, gold map[string]string, report *labelReport) (*label.Result, label.Truth, error) {
	goldTruth, err := data.Truth(gold)
	if err != nil {
		return nil, nil, err
	}
	if gold == nil {
		goldTruth = nil
	}
	result, err := method.Fit(data, goldTruth)
	if err != nil {
		return nil, nil, err
	}
	report.GoldUnused = slices.Sorted(maps.Keys(gold))
	report.GoldUnused = append([]string{}, lists.Filter(report.GoldUnused, func(id string) bool {
		_, answered := slices.BinarySearch(data.Tasks(), id)
		return !answered
	})...)
	report.GoldUnsaid = []string{}
	if method.Takes() == label.Classes {
		report.GoldUnsaid = unsaid(data, goldTruth)
	}
	report.Gold = goldTruth.Known()
	report.measure(result, l.scale(method))
	if truth == nil {
		return result, nil, nil
	}
	known, err := data.Truth(truth)
	if err != nil {
		return nil, nil, err
	}
	for i := range goldTruth {
		if goldTruth[i] != label.None {
			known[i] = label.None // what was learnt from proves nothing
		}
	}
	if accuracy, n := result.Accuracy(known); n > 0 {
		report.Accuracy, report.Scored = &accuracy, n
	}
	return result, known, nil
}

// scale is that of the kind of question; of numbers of no known kind the order counts.
func (l *Label) scale(method label.Method) label.Scale {
	if method.Takes() == label.Numbers && l.Kind == "" {
		return label.Ordinal
	}
	return task.Kind(l.Kind).Describe().Scale
}

// measure fills in what a result and its data say.
func (r *labelReport) measure(result *label.Result, scale label.Scale) {
	data := result.Data
	r.Method, r.Iterations, r.Converged = result.Method, result.Iterations, result.Converged
	r.Answers, r.Tasks, r.Classes, r.Redundancy, r.Scale = data.Len(), len(data.Tasks()), len(data.Classes()), data.Redundancy(), scale.String()
	if alpha, low, high, ok := label.AlphaInterval(data, scale); ok {
		r.Alpha, r.AlphaLow, r.AlphaHigh = &alpha, &low, &high
	} else if alpha, ok := label.Alpha(data, scale); ok {
		r.Alpha = &alpha
	}
	if pairs, err := label.PairAgreements(data, kappaTasks); err == nil {
		pairs = lists.Filter(pairs, func(p label.PairAgreement) bool { return p.KappaOK })
		if len(pairs) > 0 {
			mean := stats.Mean(lists.Map(pairs, func(p label.PairAgreement) float64 { return p.Kappa }))
			r.Kappa = &mean
		}
	}
	if share, ok := label.Unanimity(data); ok {
		r.Unanimous = &share
	}
	r.Ties = lists.Count(result.Ties, func(tie bool) bool { return tie })
	r.Labels = make([]labelled, r.Tasks)
	for i, id := range data.Tasks() {
		workers, _ := data.Answers(i)
		r.Labels[i] = labelled{id, result.Label(i), result.Confidence(i), distribution{result, i}, len(workers), result.Ties[i]}
	}
	r.Workers = make([]labelling, len(data.Workers()))
	for j, x := range result.Reliabilities() {
		r.Workers[j] = labelling{Worker: data.Workers()[j], Skill: x.Skill, Low: x.Low, High: x.High, Answers: x.Answers}
		if result.Model != nil {
			if score, ok := result.Model.SpammerScore(j); ok {
				r.Workers[j].Information = &score
			}
		}
	}
	r.Groups = make([]labelGroup, len(result.Groups))
	for n, g := range result.Groups {
		r.Groups[n] = labelGroup{lists.Map(g.Workers, func(j int32) string { return data.Workers()[j] }), g.Shared, g.Agreement, g.Chance, g.Low, g.Honest}
	}
}

// show prints the report for people.
func (r labelReport) show(w io.Writer) {
	share := func(f *float64) string {
		if f == nil {
			return "not defined"
		}
		return fixed(4, *f)
	}
	method := r.Method
	if r.Method != r.Asked {
		method += " (" + r.Asked + " needs more answers a task, or gold)"
	} else if r.Iterations > 0 {
		method += " (" + format.Count(r.Iterations, "iteration") + ")"
	}
	alpha := share(r.Alpha) + " (" + r.Scale + ")"
	if r.AlphaLow != nil {
		alpha = share(r.Alpha) + ", " + fixed(4, *r.AlphaLow) + " to " + fixed(4, *r.AlphaHigh) + " (" + r.Scale + ")"
	}
	accuracy := share(r.Accuracy) + " of " + format.Count(r.Scored, "task") + " with known truth, ties shared"
	pairs(w, "answers", r.Answers, "tasks", r.Tasks, "workers", len(r.Workers), "classes", r.Classes, "answers a task", fixed(2, r.Redundancy),
		"rows left out", when(r.Bad > 0, strconv.Itoa(r.Bad)), "method", method, "gold", when(r.Gold > 0, format.Count(r.Gold, "task")+" learnt from"),
		"alpha", alpha, "kappa", when(r.Kappa != nil, share(r.Kappa)+", mean over pairs of workers"), "unanimous", share(r.Unanimous), "ties", format.Count(r.Ties, "task"),
		"accuracy", when(r.Accuracy != nil, accuracy)+when(r.truth && r.Accuracy == nil, "not known: no task that was answered, and not learnt from, is in the file of --truth"))
	for _, g := range r.Groups {
		say(w, "\nThese %d answer alike more than honest people do, and count as one: %s\n", len(g.Workers), format.Clip(strings.Join(g.Workers, ", "), 200))
		say(w, "  %s\n", evidence(g.Agreement, g.Chance, g.Beyond, g.Honest, g.Shared))
	}
}

// evidence says in words why a group of workers seems to copy.
func evidence(agreement, chance, beyond, honest float64, shared int) string {
	return fmt.Sprintf("%.1f %% of %s alike, %.1f %% would be by chance. Beyond that they agree in at least %.0f %% of the rest, honest people in %.0f %%.",
		100*agreement, format.Count(shared, "shared answer"), 100*chance, 100*beyond, 100*honest)
}

// tableOut begins a table of texts and figures in the format that the file's name
// says.
func tableOut(w io.Writer, name string, texts, figures []string) (*table.Writer, error) {
	f, err := formatOut("", name)
	if err != nil {
		return nil, err
	}
	return table.NewWriter(w, slices.Concat(texts, figures), table.WriterOptions{Format: f, JSONColumns: figures})
}

func writeLabels(w io.Writer, name string, r *label.Result) error {
	out, err := tableOut(w, name, []string{"task", "label"}, []string{"confidence", "answers", "tie"})
	if err != nil {
		return err
	}
	for i, id := range r.Data.Tasks() {
		workers, _ := r.Data.Answers(i)
		if err := out.Write(cells(id, r.Label(i), r.Confidence(i), len(workers), r.Ties[i])); err != nil {
			return err
		}
	}
	return out.Flush()
}

func writeWorkers(w io.Writer, name string, r *label.Result) error {
	out, err := tableOut(w, name, []string{"worker"}, []string{"answers", "agreement", "accuracy", "information", "skill", "low", "high"})
	if err != nil {
		return err
	}
	answered, agreement, reliable := r.Data.Answered(), r.Agreement(), r.Reliabilities()
	for j, worker := range r.Data.Workers() {
		accuracy, information := "", ""
		if r.Model != nil {
			accuracy = figure(r.Model.Accuracy(j))
			if score, ok := r.Model.SpammerScore(j); ok {
				information = figure(score)
			}
		}
		if err := out.Write(cells(worker, answered[j], agreement[j], accuracy, information, reliable[j].Skill, reliable[j].Low, reliable[j].High)); err != nil {
			return err
		}
	}
	return out.Flush()
}
