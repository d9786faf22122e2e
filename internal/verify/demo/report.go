package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/wire"
)

// Kept compares the clients' own records with what the server's export says.
type Kept struct {
	Acknowledged int     `json:"acknowledged"` // distinct answers that a client was told are kept
	Stored       int     `json:"stored"`       // answers that the server has
	Duplicates   int     `json:"duplicates"`   // answers too many: an assignment, or a worker's answer to a task, that is there twice
	Lost         int     `json:"lost"`         // acknowledged and not there, or there as another answer or with another outcome
	WallS        float64 `json:"wall_s"`       // from the first request for a task until the last answer
}

func (k *Kept) String() string {
	return fmt.Sprintf("acknowledged %d, stored %d, duplicates %d, lost %d", k.Acknowledged, k.Stored, k.Duplicates, k.Lost)
}

// BatchesReport is what came of the scene of batches.
type BatchesReport struct {
	Batches []BatchReport `json:"batches"`
	Kept

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

// Err returns an error if something was lost or doubled, or nothing was done.
func (r *BatchesReport) Err() error {
	if r.Lost != 0 || r.Duplicates != 0 || r.Acknowledged == 0 {
		return errors.New("answers were lost or doubled (or none was given): see the counts above")
	}
	return nil
}

// report reads what the server has kept, and compares it with what the clients were
// told.
func (s *server) report(ctx context.Context, took time.Duration) (Report, error) {
	kept, list, err := s.compare(ctx, took)
	if err != nil {
		return nil, err
	}
	r := &BatchesReport{Kept: kept, Batches: []BatchReport{}, Workers: len(s.people)}
	for _, p := range s.people {
		r.Resent += p.duplicates
		r.Skipped += p.skipped
		r.Returned += p.returned
		for _, x := range p.receipts {
			if x.out.Late {
				r.Late++
			}
		}
	}
	since := func(t time.Time) *float64 {
		seconds := max(0, t.Sub(s.begun).Seconds())
		return &seconds
	}
	for _, b := range list {
		row := BatchReport{
			ID: b.id, Tenant: b.tenant, Name: b.name, State: b.now.State, Tasks: int(b.now.Tasks), Annotations: b.counted,
			Labels: b.now.Labelled, Share: b.share, CostMicros: b.now.SpentMicros,
		}
		if b.now.State == crowd.BatchDone {
			row.CompletedAt = since(b.now.EndedAt)
		}
		if !b.deadline.IsZero() {
			row.DeadlineAt = since(b.deadline)
		}
		for method, to := range map[string]**float64{"majority": &row.Accuracy, "ds-map": &row.DawidSkene} {
			q, err := s.Admin.Quality(ctx, b.id, method)
			if method == "ds-map" && crowd.CodeOf(err) == crowd.Invalid { // of numbers and texts, which nobody confuses
				continue
			}
			if err != nil {
				return nil, err
			}
			*to = q.Accuracy
		}
		r.Batches = append(r.Batches, row)
	}
	return r, nil
}

// keptBatch is what the server has of a batch in the end.
type keptBatch struct {
	*batch
	now     wire.Batch
	counted int     // answers that count
	seconds float64 // for which people held tasks
	share   float64 // of those of all batches
}

// comparison compares what clients were told with exports.
type comparison struct {
	Kept
	told  map[crowd.AssignmentID]*receipt
	found map[crowd.AssignmentID]bool // as it was told
}

// compare compares what the clients were told with the export of every batch.
func (s *server) compare(ctx context.Context, took time.Duration) (Kept, []keptBatch, error) {
	c := &comparison{Kept: Kept{WallS: took.Seconds()}, told: make(map[crowd.AssignmentID]*receipt), found: make(map[crowd.AssignmentID]bool)}
	for _, p := range s.people {
		for id, r := range p.receipts {
			if c.told[id] != nil {
				c.Duplicates++ // one assignment to two people
			}
			c.told[id] = r
		}
	}
	c.Acknowledged = len(c.told)
	list, total := make([]keptBatch, len(s.batches)), 0.0
	for i, b := range s.batches {
		list[i].batch = b
		if err := c.batch(ctx, s, &list[i]); err != nil {
			return c.Kept, nil, fmt.Errorf("%s: %w", b.id, err)
		}
		total += list[i].seconds
	}
	for i := range list {
		if total > 0 {
			list[i].share = list[i].seconds / total
		}
	}
	for id := range c.told {
		if !c.found[id] {
			c.Lost++
		}
	}
	return c.Kept, list, nil
}

// batch compares a batch's export with what was told, and with the batch's own
// figures.
func (c *comparison) batch(ctx context.Context, s *server, b *keptBatch) (err error) {
	if b.now, err = s.Admin.Batch(ctx, b.id); err != nil {
		return err
	}
	type pair struct {
		task   crowd.TaskID
		worker crowd.WorkerID
	}
	pairs := make(map[pair]bool)
	r, w := io.Pipe()
	defer r.Close()
	go func() {
		_ = w.CloseWithError(s.Admin.Annotations(ctx, b.id, w, client.TableForm{Format: "jsonl", Names: true}, true))
	}()
	for in := json.NewDecoder(r); ; {
		var a annotation
		if err := in.Decode(&a); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		b.seconds += a.Seconds
		if a.State != crowd.Submitted {
			continue
		}
		c.Stored++
		if a.Counted {
			b.counted++
		}
		if c.found[a.Assignment] || pairs[pair{a.Task, a.Worker}] {
			c.Duplicates++
		}
		pairs[pair{a.Task, a.Worker}] = true
		if t := c.told[a.Assignment]; t != nil { // else somebody joined in with a browser
			c.found[a.Assignment] = a.is(t)
		}
	}
	if b.counted != b.now.Completed || crowd.Money(b.counted)*b.now.RewardMicros != b.now.SpentMicros {
		return fmt.Errorf("the export has %d answers that count, but the batch says %d, and %s spent", b.counted, b.now.Completed, b.now.SpentMicros)
	}
	return nil
}

// annotation is a row of the export of annotations, as far as it is compared.
type annotation struct {
	Assignment crowd.AssignmentID    `json:"assignment"`
	Task       crowd.TaskID          `json:"task"`
	Worker     crowd.WorkerID        `json:"worker_id"`
	State      crowd.AssignmentState `json:"state"`
	Seconds    float64               `json:"seconds"`
	Answer     struct{ Label any }   `json:"answer"`
	Counted    bool                  `json:"counted"`
	Paid       crowd.Money           `json:"paid_micros"`
}

// is reports whether an answer was kept as it was sent and acknowledged.
func (a *annotation) is(r *receipt) bool {
	var sent any
	return json.Unmarshal([]byte(r.answer), &sent) == nil && reflect.DeepEqual(sent, a.Answer.Label) &&
		r.task == a.Task && r.out.Counted == a.Counted && r.out.PaidMicros == a.Paid
}

// table writes rows of cells in aligned columns, the header first.
func table(to *strings.Builder, rows [][]any) {
	t := tabwriter.NewWriter(to, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range rows {
		for _, cell := range row {
			_, _ = fmt.Fprint(t, cell, "\t") // a Builder cannot fail
		}
		_, _ = fmt.Fprintln(t)
	}
	_ = t.Flush()
}

// WriteTable writes the report for people.
func (r *BatchesReport) WriteTable(to io.Writer) {
	rows := [][]any{{"batch", "tenant", "name", "tasks", "annotations", "labels", "majority", "Dawid-Skene", "done after", "deadline", "share", "cost"}}
	for _, b := range r.Batches {
		rows = append(rows, []any{
			b.ID, b.Tenant, b.Name, b.Tasks, b.Annotations, b.Labels, number(b.Accuracy, "%.3f", "-"), number(b.DawidSkene, "%.3f", "-"),
			number(b.CompletedAt, "%.1f s", "-"), number(b.DeadlineAt, "%.1f s", "-"), fmt.Sprintf("%.1f%%", 100*b.Share), b.CostMicros,
		})
	}
	var text strings.Builder
	table(&text, rows)
	_, _ = fmt.Fprintf(&text, "\n%d workers, %.1f s: %d skipped, %d returned, %d late, %d sent twice and refused\n%s\n",
		r.Workers, r.WallS, r.Skipped, r.Returned, r.Late, r.Resent, &r.Kept)
	_, _ = io.WriteString(to, text.String()) // the caller's writer keeps its error
}
