package batches

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/input"
	"github.com/throng-dev/throng/internal/server/limits"
	"github.com/throng-dev/throng/internal/server/pseudonym"
	"github.com/throng-dev/throng/internal/server/results"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/label"
)

// Annotations returns a batch with its assignments, in order, as they were kept
// at one moment. With answered, only those with an answer.
func (s *Batches) Annotations(ctx context.Context, p *access.Principal, id crowd.BatchID, answered bool) (store.Batch, iter.Seq2[results.Answer, error], error) {
	b, err := s.batch(ctx, p, access.BatchesAnnotations, id)
	if err != nil {
		return b, nil, err
	}
	weights, err := s.results.Weights(ctx, &b)
	if err != nil {
		return b, nil, err
	}
	var lessons []uint32
	if b.Spec.Trains() {
		if lessons, err = s.store.Lessons(ctx, id, 0, b.Spec.Tasks); err != nil {
			return b, nil, err
		}
	}
	seen := s.names.For(p, b.Spec.Tenant)
	return b, lists.MapRead(s.annotations(ctx, p, &b, answered), func(a store.Annotation) results.Answer {
		shown := results.Answered(seen, weights, a)
		_, shown.Training = slices.BinarySearch(lessons, a.Task.N())
		return shown
	}), nil
}

// annotations yields a batch's assignments with who has them, for p.
func (s *Batches) annotations(ctx context.Context, p *access.Principal, b *store.Batch, answered bool) iter.Seq2[store.Annotation, error] {
	return scan(ctx, s.scans, p, b.Spec.Tenant, s.store.Annotations(ctx, b.Spec.Tenant, b.Spec.ID, answered))
}

// MayName checks whether p may be told who a batch's workers are.
func (s *Batches) MayName(ctx context.Context, p *access.Principal, id crowd.BatchID) error {
	_, err := s.batch(ctx, p, access.BatchesMayName, id)
	return err
}

// scan yields rows of a tenant's batch to p, once there is room for it.
func scan[T any](ctx context.Context, s *limits.Slots, p *access.Principal, tenant crowd.TenantID, rows iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		end, err := s.Start(ctx, p.User.ID, tenant, 1)
		if err != nil {
			yield(*new(T), err)
			return
		}
		defer end()
		rows(yield)
	}
}

// Live is the method of the labels that tasks are given as their answers come in.
const Live = results.Live

// Labels returns a batch with its tasks, in order, and their labels: those that they
// were given live, or those that another method makes of all counted answers.
func (s *Batches) Labels(ctx context.Context, p *access.Principal, id crowd.BatchID, method string) (store.Batch, iter.Seq2[store.LabelledTask, error], error) {
	b, err := s.batch(ctx, p, access.BatchesLabels, id)
	if err != nil {
		return b, nil, err
	}
	tasks := scan(ctx, s.scans, p, b.Spec.Tenant, s.store.Labels(ctx, b.Spec.Tenant, id))
	if method == Live {
		return b, lists.MapRead(tasks, results.Corrected), nil
	}
	q, err := s.Quality(ctx, p, id, method)
	if err != nil {
		return b, nil, err
	}
	return b, relabelled(tasks, q.Result), nil
}

// relabelled gives tasks the labels of a result (nil: there is no answer at all).
func relabelled(tasks iter.Seq2[store.LabelledTask, error], fitted *label.Result) iter.Seq2[store.LabelledTask, error] {
	place := make(map[string]int)
	if fitted != nil {
		for i, t := range fitted.Data.Tasks() {
			place[t] = i
		}
	}
	return lists.MapRead(tasks, func(t store.LabelledTask) store.LabelledTask {
		t.Label = nil
		if i, ok := place[t.Task.String()]; ok {
			workers, _ := fitted.Data.Answers(i)
			t.Label = &engine.Label{Value: fitted.Label(i), Confidence: fitted.Confidence(i), Answers: len(workers), Tie: fitted.Ties[i]}
		}
		return results.Corrected(t)
	})
}

// Methods lists the ways to combine a batch's answers after the fact, the one
// that fits its kind best first.
func Methods(b store.Batch) ([]label.Method, error) {
	kind, err := results.KindOf(&b)
	return kind.Methods(), err
}

// Quality is a batch's answers, looked at as a whole.
type Quality struct {
	Batch   store.Batch
	Methods []label.Method // those that fit the batch's kind, the best first
	Asked   string         // the name of the method asked for
	Result  *label.Result  // by that method, or what it falls back to; nil if there is no answer
	Scale   label.Scale    // of the answers, for Alpha
	Alpha   float64        // Krippendorff's α
	AlphaOK bool           // false: undefined (nobody answered the same task)
	Unanim  float64        // share of the tasks with several answers whose answers are all equal
	Several int            // tasks with several answers; Unanim means nothing where there is none
	// Accuracy against the known answers, with ties shared, over GoldTasks
	// tasks, of a fit that has not learnt from them.
	Accuracy  float64
	GoldTasks int
	Learnt    bool                    // Result has learnt from known answers or corrections
	Named     bool                    // it is told who the workers are
	Workers   []results.WorkerQuality // those who agree least with the labels first
	Learning  []results.WorkerQuality // who has answered training tasks and nothing else that counts: By, Blocked and Taught
	Groups    []CopyGroup             // of workers who copy from each other, as robust finds them
}

// CopyGroup is label.CopyGroup with its workers.
type CopyGroup struct {
	label.CopyGroup
	Members []pseudonym.Worker
}

// Quality combines all counted answers of a batch by a method; "" is the one that
// fits the batch's kind best.
func (s *Batches) Quality(ctx context.Context, p *access.Principal, id crowd.BatchID, method string) (*Quality, error) {
	b, err := s.batch(ctx, p, access.BatchesQuality, id)
	if err != nil {
		return nil, err
	}
	kind, err := results.KindOf(&b)
	if err != nil {
		return nil, err
	}
	m, err := kind.Method(method)
	if err != nil {
		return nil, err
	}
	seen := s.names.For(p, b.Spec.Tenant)
	q := &Quality{Named: seen.Named(), Batch: b, Methods: kind.Methods(), Asked: m.Name(), Scale: kind.Scale}
	w, err := s.results.Whole(ctx, &b, method)
	if err != nil {
		return q, err
	}
	q.listLearning(w, seen)
	if w.Learnt == nil {
		return q, nil
	}
	weights, err := s.results.Weights(ctx, &b)
	if err != nil {
		return nil, err
	}
	q.measure(m, w, weights, seen)
	return q, nil
}

// measure compares what a method made of the answers with the known ones.
func (q *Quality) measure(m label.Method, w *results.Whole, weights results.Weights, seen pseudonym.Reader) {
	d := w.Learnt.Data
	q.Result = w.Learnt
	by := func(id string) pseudonym.Worker { return seen.Show(w.Workers[id].ID, w.Workers[id].Name) }
	q.Alpha, q.AlphaOK = label.Alpha(d, q.Scale)
	q.Unanim, _ = label.Unanimity(d)
	for i := range d.Tasks() {
		if workers, _ := d.Answers(i); len(workers) > 1 {
			q.Several++
		}
	}
	q.Accuracy, q.GoldTasks = w.Blind.Accuracy(w.Truth)
	q.Learnt = w.Learnt != w.Blind
	for _, g := range q.Result.Groups {
		members := lists.Map(g.Workers, func(j int32) pseudonym.Worker { return by(d.Workers()[j]) })
		slices.SortFunc(members, pseudonym.Compare)
		q.Groups = append(q.Groups, CopyGroup{g, members})
	}
	measures := results.Measure(w.Learnt, w.Truth)
	q.Workers = make([]results.WorkerQuality, len(d.Workers()))
	for j, id := range d.Workers() {
		q.Workers[j] = measures.Of(j)
		q.Workers[j].Taught, q.Workers[j].Weight = w.Taught[w.Workers[id].ID], weights.Of(w.Workers[id].ID)
		q.Workers[j].By, q.Workers[j].Blocked = by(id), slices.Contains(w.Workers[id].BlockedBy, q.Batch.Spec.Tenant)
	}
	slices.SortFunc(q.Workers, func(a, b results.WorkerQuality) int {
		return cmp.Or(cmp.Compare(a.Agreement, b.Agreement), cmp.Compare(b.Answers, a.Answers), pseudonym.Compare(a.By, b.By))
	})
}

// listLearning lists who has answered training tasks only.
func (q *Quality) listLearning(w *results.Whole, seen pseudonym.Reader) {
	for _, x := range w.Workers {
		if x.OnlyTaught {
			q.Learning = append(q.Learning, results.WorkerQuality{By: seen.Show(x.ID, x.Name), Blocked: slices.Contains(x.BlockedBy, q.Batch.Spec.Tenant), Taught: w.Taught[x.ID], Weight: label.Full})
		}
	}
	slices.SortFunc(q.Learning, func(a, b results.WorkerQuality) int { return pseudonym.Compare(a.By, b.By) })
}

// Preview is a task as a worker would see it.
type Preview struct {
	Name     string
	Task     crowd.TaskID
	Tasks    uint32
	Template *task.Compiled
	Values   task.Fitted
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
	if !b.FilesDeletedAt.IsZero() {
		return nil, crowd.Errorf(crowd.Conflict, "the data of the tasks of %s were deleted on %s, as its tenant keeps files no longer", id, b.FilesDeletedAt.UTC().Format(time.DateOnly))
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
		Values: template.Fit(task.Values{Columns: b.Columns, Cells: t.Values}, task.MaxShownBytes)}, nil
}
