package demo

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/wire"
)

// Report is what came of a demo. Acknowledged, Stored, Duplicates and Lost
// compare the clients' own records with what the server's export says.
type Report struct {
	Batches      []BatchReport `json:"batches"`
	Acknowledged int           `json:"acknowledged"` // distinct answers that a client was told are kept
	Stored       int           `json:"stored"`       // answers that the server has
	Duplicates   int           `json:"duplicates"`   // answers too many: an assignment, or a worker's answer to a task, that is there twice
	Lost         int           `json:"lost"`         // acknowledged and not there, or there as another answer or with another outcome
	WallS        float64       `json:"wall_s"`       // from the first request for a task until the last answer

	// What else the clients did.
	Resent   int `json:"resent"` // sent twice on purpose, and refused as duplicates
	Late     int `json:"late"`   // came after the lease had run out
	Skipped  int `json:"skipped"`
	Returned int `json:"returned"`
	Workers  int `json:"workers"`
}

// BatchReport is what came of one batch.
type BatchReport struct {
	ID          crowd.BatchID    `json:"id"`
	Tenant      string           `json:"tenant"`
	Name        string           `json:"name"`
	State       crowd.BatchState `json:"state"`
	Tasks       int              `json:"tasks"`
	Annotations int              `json:"annotations"` // that count
	Labels      int              `json:"labels"`
	Accuracy    *float64         `json:"accuracy"`             // of the majority against the truth, ties shared; null where no truth is known
	DawidSkene  *float64         `json:"accuracy_dawid_skene"` // likewise, by Dawid-Skene
	Share       float64          `json:"share"`                // of the time for which people held tasks of any batch
	CostMicros  crowd.Money      `json:"cost_micros"`
	CompletedAt *float64         `json:"completed_at_s"` // seconds after the start; null: not all tasks got their label
	DeadlineAt  *float64         `json:"deadline_at_s,omitempty"`
}

// OK reports whether nothing was lost or doubled, and something was done.
func (r *Report) OK() bool { return r.Lost == 0 && r.Duplicates == 0 && r.Acknowledged > 0 }

// report reads what the server has kept, and compares it with what the clients were
// told.
func (s *scene) report(ctx context.Context, took time.Duration) (*Report, error) {
	r := &Report{WallS: took.Seconds(), Batches: []BatchReport{}, Workers: len(s.people)}
	found := make(map[crowd.AssignmentID]bool)
	held := make([]float64, len(s.batches))
	total := 0.0
	told := records(s.people, r)
	for i, b := range s.batches {
		row, seconds, err := s.batchReport(ctx, b, told, found, r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", b.id, err)
		}
		r.Batches = append(r.Batches, row)
		held[i] = seconds
		total += seconds
	}
	for i := range r.Batches {
		if total > 0 {
			r.Batches[i].Share = held[i] / total
		}
	}
	for id := range told {
		if !found[id] {
			r.Lost++
		}
	}
	return r, nil
}

// records gathers what the clients were told.
func records(people []*person, r *Report) map[crowd.AssignmentID]*told {
	all := make(map[crowd.AssignmentID]*told)
	for _, p := range people {
		r.Resent += p.duplicates
		r.Skipped += p.skipped
		r.Returned += p.returned
		for id, t := range p.told {
			if all[id] != nil {
				r.Duplicates++ // one assignment to two people
			}
			all[id] = t
			if t.out.Late {
				r.Late++
			}
		}
	}
	r.Acknowledged = len(all)
	return all
}

// batchReport reads a batch's figures and its export, and compares the export
// with the records; it also returns for how long people held its tasks.
func (s *scene) batchReport(ctx context.Context, b *batch, records map[crowd.AssignmentID]*told, found map[crowd.AssignmentID]bool, r *Report) (BatchReport, float64, error) {
	now, err := s.Admin.Batch(ctx, b.id)
	if err != nil {
		return BatchReport{}, 0, err
	}
	row := BatchReport{ID: b.id, Tenant: b.tenant, Name: b.name, State: now.State, Tasks: int(now.Tasks), Labels: now.Labelled, CostMicros: now.SpentMicros}
	since := func(t time.Time) *float64 {
		seconds := max(0, t.Sub(s.begun).Seconds())
		return &seconds
	}
	if now.State == crowd.BatchDone {
		row.CompletedAt = since(now.EndedAt)
	}
	if !b.deadline.IsZero() {
		row.DeadlineAt = since(b.deadline)
	}
	for method, to := range map[string]**float64{"majority": &row.Accuracy, "dawid-skene": &row.DawidSkene} {
		q, err := s.Admin.Quality(ctx, b.id, method)
		if err != nil {
			return row, 0, err
		}
		*to = q.Accuracy
	}
	seconds := 0.0
	row.Annotations, seconds, err = s.compare(ctx, now, records, found, r)
	return row, seconds, err
}

// compare compares a batch's export with the records. It returns how many answers
// count, and for how long people held tasks.
func (s *server) compare(ctx context.Context, b wire.Batch, records map[crowd.AssignmentID]*told, found map[crowd.AssignmentID]bool, r *Report) (counted int, seconds float64, err error) {
	type pair struct{ task, worker string }
	pairs := make(map[pair]bool)
	err = s.export(ctx, b.ID, func(a exported) error {
		seconds += a.seconds
		if a.state != string(crowd.Submitted) {
			return nil
		}
		r.Stored++
		if a.counted {
			counted++
		}
		if found[a.id] || pairs[pair{a.task, a.worker}] {
			r.Duplicates++
		}
		pairs[pair{a.task, a.worker}] = true
		t := records[a.id]
		if t == nil {
			return nil // somebody joined in with a browser
		}
		same, err := sameAnswer(t.answer, a.answer)
		if err != nil {
			return err
		}
		found[a.id] = same && t.task.String() == a.task && t.out.Counted == a.counted && int64(t.out.PaidMicros) == a.paid
		return nil
	})
	if err == nil && (counted != b.Completed || crowd.Money(counted)*b.RewardMicros != b.SpentMicros) {
		err = fmt.Errorf("the export has %d answers that count, but the batch says %d, and %s spent", counted, b.Completed, b.SpentMicros)
	}
	return counted, seconds, err
}

// sameAnswer compares an answer as it was sent with the one that was kept,
// which is an object with the field "label".
func sameAnswer(sent, kept string) (bool, error) {
	var a any
	var b struct{ Label any }
	if err := errors.Join(json.Unmarshal([]byte(sent), &a), json.Unmarshal([]byte(kept), &b)); err != nil {
		return false, err
	}
	x, err := json.Marshal(a)
	if err != nil {
		return false, err
	}
	y, err := json.Marshal(b.Label)
	return string(x) == string(y), err
}

// exported is a row of the export of annotations.
type exported struct {
	id                          crowd.AssignmentID
	task, worker, state, answer string
	seconds                     float64
	counted                     bool
	paid                        int64
}

// export reads every assignment of a batch.
func (s *server) export(ctx context.Context, id crowd.BatchID, row func(exported) error) error {
	r, w := io.Pipe()
	defer r.Close()
	go func() { _ = w.CloseWithError(s.Admin.Annotations(ctx, id, w, "csv", true)) }()
	in := csv.NewReader(r)
	in.ReuseRecord = true
	header, err := in.Read()
	if err != nil {
		return err
	}
	var place [9]int
	for i, name := range [...]string{"assignment", "task", "worker", "state", "answer", "seconds", "counted", "paid_micros"} {
		if place[i] = slices.Index(header, name); place[i] < 0 {
			return fmt.Errorf("the export has no column %q: %s", name, header)
		}
	}
	for {
		cells, err := in.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		a := exported{task: cells[place[1]], worker: cells[place[2]], state: cells[place[3]], answer: cells[place[4]], counted: cells[place[6]] == "true"}
		if a.id, err = crowd.ParseAssignmentID(cells[place[0]]); err != nil {
			return err
		}
		if text := cells[place[5]]; text != "" {
			if a.seconds, err = strconv.ParseFloat(text, 64); err != nil {
				return err
			}
		}
		if a.paid, err = strconv.ParseInt(cells[place[7]], 10, 64); err != nil {
			return err
		}
		if err := row(a); err != nil {
			return err
		}
	}
}

// WriteTable writes the report for people.
func (r *Report) WriteTable(to io.Writer) {
	var text strings.Builder
	t := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(t, "batch\ttenant\tname\ttasks\tannotations\tlabels\tmajority\tDawid-Skene\tdone after\tdeadline\tshare\tcost\t") // a Builder cannot fail
	for _, b := range r.Batches {
		_, _ = fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%d\t%d\t%s\t%s\t%s\t%s\t%.1f%%\t%s\t\n", b.ID, b.Tenant, b.Name, b.Tasks, b.Annotations, b.Labels,
			number(b.Accuracy, "%.3f"), number(b.DawidSkene, "%.3f"), number(b.CompletedAt, "%.1f s"), number(b.DeadlineAt, "%.1f s"), 100*b.Share, b.CostMicros)
	}
	_ = t.Flush()
	_, _ = fmt.Fprintf(&text, "\n%d workers, %.1f s: %d skipped, %d returned, %d late, %d sent twice and refused\n", r.Workers, r.WallS, r.Skipped, r.Returned, r.Late, r.Resent)
	_, _ = fmt.Fprintf(&text, "acknowledged %d, stored %d, duplicates %d, lost %d\n", r.Acknowledged, r.Stored, r.Duplicates, r.Lost)
	_, _ = io.WriteString(to, text.String()) // the caller's writer keeps its error
}

func number(x *float64, format string) string {
	if x == nil {
		return "-"
	}
	return fmt.Sprintf(format, *x)
}
