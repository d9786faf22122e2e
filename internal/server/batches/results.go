package batches

import (
	"context"
	"iter"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/input"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/label"
)

// Annotations returns a batch with its assignments, in order, as they were kept
// at one moment. With answered, only those with an answer.
func (s *Batches) Annotations(ctx context.Context, p *access.Principal, id crowd.BatchID, answered bool) (store.Batch, iter.Seq2[store.Annotation, error], error) {
	b, err := s.batch(ctx, p, access.BatchesAnnotations, id)
	if err != nil {
		return b, nil, err
	}
	return b, s.store.Annotations(ctx, b.Spec.Tenant, id, answered), nil
}

// Labels returns a batch with its tasks, in order, and the labels that they were
// given as their answers came in.
func (s *Batches) Labels(ctx context.Context, p *access.Principal, id crowd.BatchID) (store.Batch, iter.Seq2[store.LabelledTask, error], error) {
	b, err := s.batch(ctx, p, access.BatchesLabels, id)
	if err != nil {
		return b, nil, err
	}
	return b, s.store.Labels(ctx, b.Spec.Tenant, id), nil
}

// Methods lists the ways to combine answers into labels after the fact.
func Methods() []label.Method { return []label.Method{label.Majority{}, label.DefaultDawidSkene()} }

// Quality is a batch's answers, looked at as a whole.
type Quality struct {
	Batch   store.Batch
	Result  *label.Result // by the method asked for; nil if there is no answer
	Alpha   float64       // Krippendorff's α
	AlphaOK bool          // false: undefined (nobody answered the same task)
	Unanim  float64       // share of the tasks with several answers whose answers are all equal
	Gold    map[string]string
	// Accuracy against the known answers, with ties shared, over GoldTasks
	// tasks.
	Accuracy  float64
	GoldTasks int
	Names     map[string]string // workers' names by id
}

// Quality combines all counted answers of a batch by a method.
func (s *Batches) Quality(ctx context.Context, p *access.Principal, id crowd.BatchID, method string) (*Quality, error) {
	var m label.Method
	for _, x := range Methods() {
		if x.Name() == method {
			m = x
		}
	}
	if m == nil {
		return nil, crowd.Fieldf("method", "%q is not known (majority, dawid-skene)", method)
	}
	b, annotations, err := s.Annotations(ctx, p, id, true)
	if err != nil {
		return nil, err
	}
	q := &Quality{Batch: b, Gold: make(map[string]string), Names: make(map[string]string)}
	var data label.Builder
	for a, err := range annotations {
		if err != nil {
			return nil, err
		}
		if a.Counted {
			data.Add(label.Answer{Task: a.Task.String(), Worker: a.Worker.String(), Label: a.Key})
			q.Names[a.Worker.String()] = a.WorkerName
		}
	}
	for t, err := range s.store.Labels(ctx, b.Spec.Tenant, id) {
		if err != nil {
			return nil, err
		}
		if t.Gold != "" {
			q.Gold[t.Task.String()] = t.Gold
			data.Class(t.Gold)
		}
	}
	if len(q.Names) == 0 {
		return q, nil
	}
	d := data.Build()
	q.Alpha, q.AlphaOK = label.Alpha(d)
	q.Unanim, _ = label.Unanimity(d)
	if q.Result, err = m.Fit(d, nil); err != nil {
		return nil, err
	}
	truth, err := d.Truth(q.Gold)
	if err != nil {
		return nil, err
	}
	q.Accuracy, q.GoldTasks = q.Result.Accuracy(truth)
	return q, nil
}

// Preview is a task as a worker would see it.
type Preview struct {
	Name     string
	Task     crowd.TaskID
	Tasks    uint32
	Template *task.Compiled
	Values   task.Values
}

// Preview shows the n-th task (from 1) of a batch as a worker sees it.
func (s *Batches) Preview(ctx context.Context, p *access.Principal, id crowd.BatchID, n uint32) (*Preview, error) {
	b, err := s.batch(ctx, p, access.BatchesPreview, id)
	if err != nil {
		return nil, err
	}
	if n < 1 || n > b.Spec.Tasks || len(b.Columns) == 0 { // no columns: an upload is under way
		return nil, &crowd.Error{Code: crowd.NotFound, Field: "task", Message: "there is no such task"}
	}
	template, err := input.Compile(b.Template)
	if err != nil {
		return nil, err
	}
	t, err := s.store.Task(ctx, id.Task(n))
	if err != nil {
		return nil, err
	}
	return &Preview{Name: b.Name, Task: t.ID, Tasks: b.Spec.Tasks, Template: template,
		Values: task.Values{Columns: b.Columns, Cells: t.Values}}, nil
}
