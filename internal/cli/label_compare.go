package cli

import (
	"io"
	"math"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/label"
)

// compareMethod is the method of items that were compared: Bradley and Terry's.
const compareMethod = "bt"

// compareReport is what label prints of items that were compared.
type compareReport struct {
	File        string      `json:"file"`
	Method      string      `json:"method"`
	Comparisons int         `json:"comparisons"`
	Groups      int         `json:"groups"` // of items that were compared, if by way of others
	Ties        float64     `json:"ties"`   // how ready people are to see no difference
	Converged   bool        `json:"converged"`
	Bad         int         `json:"bad"`
	Labels      []standing  `json:"labels"` // the best first
	Workers     []labelling `json:"workers"`
}

// standing is how an item stands.
type standing struct {
	Task       string   `json:"task"` // the item
	Value      float64  `json:"value"`
	Low        *float64 `json:"low"` // nil: too many items
	High       *float64 `json:"high"`
	Confidence *float64 `json:"confidence"` // that it is better than the next; nil: it is the last of its group, or there are too many
	Group      int      `json:"group"`
	Wins       int      `json:"wins"`
	Losses     int      `json:"losses"`
	Ties       int      `json:"ties"`
}

// compared is a row of comparisons: of two items, or a ranking of several.
type compared struct{ worker, left, right, label, ranking string }

// rank ranks the items of a file of comparisons.
func (l *Label) rank(c *Context) error {
	if l.Gold != "" || l.Truth != "" || l.Kind != "" || l.Picture != "" || l.KeepRepeats {
		return wrong("method", "bt goes without --gold, --truth, --kind, --picture and --keep-repeats")
	}
	report := compareReport{File: l.File, Method: compareMethod, Workers: []labelling{}}
	var list []label.Comparison
	var err error
	report.Bad, err = readTable(c, l, l.File, func(x *compared) error {
		more, err := x.comparisons()
		list = append(list, more...)
		return err
	},
		table.Column[compared]{Name: "worker", Required: true, Filled: true, Read: table.Text(func(x *compared) *string { return &x.worker })},
		table.Column[compared]{Name: "left", Read: table.Text(func(x *compared) *string { return &x.left })},
		table.Column[compared]{Name: "right", Read: table.Text(func(x *compared) *string { return &x.right })},
		table.Column[compared]{Name: "label", Read: table.Text(func(x *compared) *string { return &x.label })},
		table.Column[compared]{Name: "ranking", Read: table.Text(func(x *compared) *string { return &x.ranking })})
	if err != nil {
		return err
	}
	s, err := label.DefaultBradleyTerry().Fit(list)
	if err != nil {
		return ofFile(l.File, err)
	}
	report.fill(s, len(list))
	if sameFile(l.File, l.Out) || sameFile(l.File, l.Workers) {
		return crowd.Fieldf("out", "is the file that is read; it would be overwritten")
	}
	if l.Out != "" {
		if err := c.save(l.Out, func(w io.Writer) error { return report.writeItems(w, l.Out) }); err != nil {
			return err
		}
	}
	if l.Workers != "" {
		if err := c.save(l.Workers, func(w io.Writer) error { return report.writeWorkers(w, l.Workers) }); err != nil {
			return err
		}
	}
	if l.Out == "-" || l.Workers == "-" {
		c = &Context{Stdout: c.Stderr}
	}
	return l.print(c, report, report.show)
}

// comparisons reads a row.
func (x *compared) comparisons() ([]label.Comparison, error) {
	if x.ranking != "" {
		items := strings.Split(x.ranking, ">")
		seen := make(map[string]bool)
		for n, item := range items {
			items[n] = strings.TrimSpace(item)
			if items[n] == "" || seen[items[n]] {
				return nil, crowd.Fieldf("ranking", "%q is not a ranking: it should be different items, the best first, such as a > b > c", x.ranking)
			}
			seen[items[n]] = true
		}
		return label.Ranking(x.worker, items...), nil
	}
	if x.left == "" || x.right == "" {
		return nil, crowd.Fieldf("left", "is empty: a row has left, right and label, or a ranking")
	}
	if x.left == x.right {
		return nil, crowd.Fieldf("right", "%q is compared with itself", x.right)
	}
	out := label.Comparison{Worker: x.worker, Left: x.left, Right: x.right}
	switch x.label {
	case x.left, task.Left:
		out.Outcome = label.LeftWins
	case x.right, task.Right:
		out.Outcome = label.RightWins
	case task.Tie:
		out.Outcome = label.Neither
	default:
		return nil, crowd.Fieldf("label", "%q is neither of the two: it should be left, right, tie, %q or %q", x.label, x.left, x.right)
	}
	return []label.Comparison{out}, nil
}

func (r *compareReport) fill(s *label.Standings, comparisons int) {
	r.Comparisons, r.Groups, r.Ties, r.Converged = comparisons, s.Groups, s.Ties, s.Converged
	for n, x := range s.Items {
		row := standing{Task: x.Item, Value: x.Score, Group: x.Group, Wins: x.Wins, Losses: x.Losses, Ties: x.Ties}
		if !math.IsNaN(x.Low) {
			row.Low, row.High = &x.Low, &x.High
			if next := n + 1; next < len(s.Items) && s.Items[next].Group == x.Group && !math.IsNaN(s.Items[next].Low) {
				p := x.Beats(&s.Items[next])
				row.Confidence = &p
			}
		}
		r.Labels = append(r.Labels, row)
	}
	for j, x := range s.Workers {
		r.Workers = append(r.Workers, labelling{Worker: s.Names[j], Skill: x.Skill, Low: x.Low, High: x.High, Answers: x.Answers})
	}
}

func (r compareReport) show(w io.Writer) {
	pairs(w, "comparisons", r.Comparisons, "items", len(r.Labels), "workers", len(r.Workers), "rows left out", when(r.Bad > 0, format.Count(r.Bad, "row")), "method", "bt (Bradley and Terry, with ties)")
	if r.Groups > 1 {
		say(w, "\nThe items are %d groups that were not compared with each other: scores of different groups say nothing of each other.\n", r.Groups)
	}
	rows := [][]string{{"ITEM", "SCORE", "95 %", "WON", "LOST", "TIED", "GROUP"}}
	for _, x := range r.Labels {
		bounds := "-"
		if x.Low != nil {
			bounds = fixed(2, *x.Low) + " to " + fixed(2, *x.High)
		}
		rows = append(rows, cells(x.Task, fixed(2, x.Value), bounds, x.Wins, x.Losses, x.Ties, x.Group))
	}
	say(w, "\n")
	columns(w, rows)
}

func (r *compareReport) writeItems(w io.Writer, name string) error {
	out, err := tableOut(w, name, []string{"item"}, []string{"score", "low", "high", "group", "wins", "losses", "ties"})
	if err != nil {
		return err
	}
	bound := func(f *float64) string {
		if f == nil {
			return ""
		}
		return figure(*f)
	}
	for _, x := range r.Labels {
		if err := out.Write(cells(x.Task, x.Value, bound(x.Low), bound(x.High), x.Group, x.Wins, x.Losses, x.Ties)); err != nil {
			return err
		}
	}
	return out.Flush()
}

func (r *compareReport) writeWorkers(w io.Writer, name string) error {
	out, err := tableOut(w, name, []string{"worker"}, []string{"answers", "skill", "low", "high"})
	if err != nil {
		return err
	}
	for _, x := range r.Workers {
		if err := out.Write(cells(x.Worker, x.Answers, x.Skill, x.Low, x.High)); err != nil {
			return err
		}
	}
	return out.Flush()
}
