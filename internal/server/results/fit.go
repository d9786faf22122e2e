package results

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/label"
)

// Live is the method of the labels that tasks are given as their answers come in.
const Live = "live"

// The bounds of a fit on a server, far below those of package label: it must not take the
// memory and the processor that workers wait for.
const (
	maxClasses = 1000
	maxCells   = 1 << 24 // numbers of a fit, 128 MiB
)

// fit is what a method makes of a batch's answers.
type fit struct {
	batch store.Batch
	data  *data
	asked string           // the method; "": for each field the one that fits best
	by    []*label.Result  // of each question; nil: nobody answered it
	blind []*label.Result  // the same without known answers, where by has learnt from them
	whole [2]*label.Result // of data.whole: as of by, and as of blind; nil: there is no answer

	mu      sync.Mutex
	texts   map[string][]bool // the lines in which a word is, for each that was looked for
	counted *Counts           // nil: not yet
}

// fitKey names a fit.
type fitKey struct {
	batch  crowd.BatchID
	method string
}

// fitted returns the fit of a batch by a method.
func (s *Results) fitted(ctx context.Context, b *store.Batch, method string) (*fit, error) {
	method, err := usable(b, method)
	if err != nil {
		return nil, err
	}
	return s.fits.Get(ctx, b.Spec.Tenant, fitKey{b.Spec.ID, method}, func(ctx context.Context) (*fit, error) {
		d, err := s.datas.Get(ctx, b.Spec.Tenant, b.Spec.ID, func(ctx context.Context) (*data, error) { return s.read(ctx, b) })
		if err != nil {
			return nil, err
		}
		f := &fit{batch: *b, data: d, asked: method, by: make([]*label.Result, len(d.questions)), blind: make([]*label.Result, len(d.questions))}
		return f, f.make(ctx)
	})
}

// usable returns by which method a batch's answers can be combined if one is asked for: of
// answers that were deleted, the labels are left that tasks were given live.
func usable(b *store.Batch, method string) (string, error) {
	if b.AnswersDeletedAt.IsZero() || method == Live {
		return method, nil
	}
	if method == "" {
		return Live, nil
	}
	return "", AnswersDeleted(b)
}

// AnswersDeleted is the error about a batch whose answers were deleted.
func AnswersDeleted(b *store.Batch) error {
	return crowd.Errorf(crowd.Conflict, "what was answered in %s was deleted on %s, as its tenant keeps answers no longer: only the labels are left that its tasks were given as answers came in (method %s)", b.Spec.ID, b.AnswersDeletedAt.UTC().Format(time.DateOnly), Live)
}

// make fits each question.
func (f *fit) make(ctx context.Context) error {
	m, err := f.method()
	if err != nil {
		return err
	}
	for i := range f.data.questions {
		q, own := &f.data.questions[i], m
		if !q.Labels {
			if own, err = methodOf(q.Methods(), f.asked); err != nil {
				own = q.Methods()[0]
			}
		}
		pair, err := f.both(ctx, q, own)
		if err != nil {
			return err
		}
		f.by[i], f.blind[i] = pair[0], pair[1]
		if q == f.data.whole {
			f.whole = pair
		}
	}
	if f.data.labels == nil {
		f.whole, err = f.both(ctx, f.data.whole, m)
	}
	return err
}

// both fits a question, and again without what is known if the method learns from that.
func (f *fit) both(ctx context.Context, q *question, m label.Method) (pair [2]*label.Result, err error) {
	if q.data.Len() == 0 {
		return pair, nil
	}
	if pair[0], err = f.fit(ctx, q, m, q.learn); err != nil {
		return pair, err
	}
	pair[1] = pair[0]
	if m.UsesGold() && q.learn.Known() > 0 {
		pair[1], err = f.fit(ctx, q, m, nil)
	}
	return pair, err
}

// method is by what the labels of the tasks are made.
func (f *fit) method() (label.Method, error) {
	kind, err := KindOf(&f.batch)
	if err != nil {
		return nil, err
	}
	return methodOf(kind.Methods(), f.asked)
}

// methodOf returns the method of a name, or the first.
func methodOf(fitting []label.Method, name string) (label.Method, error) {
	if name == "" || name == Live {
		return fitting[0], nil
	}
	m, err := label.MethodNamed(name)
	if err != nil {
		return nil, err
	}
	for _, x := range fitting {
		if x.Name() == m.Name() {
			return m, nil
		}
	}
	return nil, crowd.Fieldf("method", "%s does not fit the batch", m.Name())
}

// fit fits one question. What is too large for a method is by majority, unless the method
// was asked for.
func (f *fit) fit(ctx context.Context, q *question, m label.Method, gold label.Truth) (*label.Result, error) {
	t, w, k := len(q.data.Tasks()), len(q.data.Workers()), len(q.data.Classes())
	if m.Takes() == label.Classes && (k > maxClasses || t > maxCells/k || w > maxCells/k/k) {
		if f.asked == m.Name() {
			return nil, crowd.Errorf(crowd.TooLarge, "%d different answers from %d workers to %d tasks are too many for %s on a server: use majority, or download the answers and use throng label", k, w, t, m.Name())
		}
		m, gold = label.Majority{}, nil
	}
	r, err := label.FitUntil(m, q.data, gold, func() bool {
		runtime.Gosched() // whoever waits for a task goes first
		return ctx.Err() != nil
	})
	if errors.Is(err, label.ErrStopped) {
		err = ctx.Err()
	}
	return r, err
}

// size is about how many bytes the fit takes, without the data.
func (f *fit) size() int {
	n := 0
	for _, r := range f.by {
		if r == nil {
			continue
		}
		n += 5 * len(r.Labels)
		if r.Model != nil {
			n += 8 * len(r.Data.Classes()) * (len(r.Labels) + len(r.Data.Workers())*len(r.Data.Classes()))
		}
	}
	return n
}

// labelOf returns the label of a line by a question.
func (f *fit) labelOf(i int32, question int) *engine.Label {
	return f.labelBy(i, &f.data.questions[question], f.by[question])
}

// labelBy returns the label of a line by a question, of which a method made r.
func (f *fit) labelBy(i int32, q *question, r *label.Result) *engine.Label {
	x := &f.data.lines[i]
	if x.right != nil {
		if value, said := q.part(*x.right); said {
			return corrected(&engine.Label{Task: f.task(i), Value: value, Answers: int(x.answers)})
		}
	}
	if q.Labels && f.asked == Live {
		return x.label(f.task(i))
	}
	at := q.place[i]
	if r == nil || at < 0 {
		return nil
	}
	workers, _ := q.data.Answers(int(at))
	return &engine.Label{Task: f.task(i), Value: r.Label(int(at)), Confidence: r.Confidence(int(at)), Answers: len(workers), Tie: r.Ties[at],
		Undecided: q.Labels && x.undecided()} // by the rule of redundancy, which no method changes
}

// part is what an answer, or a label, to a task says of a question, as a label; false: nothing.
func (q *question) part(key string) (string, bool) {
	if q.Labels {
		return key, true
	}
	return q.Key(task.Fields([]byte(key))[q.Name])
}

// corrected makes a label one that somebody has decided.
func corrected(l *engine.Label) *engine.Label {
	l.Confidence, l.Tie, l.Undecided = 1, false, false
	return l
}

// Corrected replaces the label of a task by its correction, if one holds.
func Corrected(t store.LabelledTask) store.LabelledTask {
	t.Label = t.RightLabel()
	return t
}

// label is the label that the task was given live.
func (x *line) label(t crowd.TaskID) *engine.Label {
	if x.given&hasLabel == 0 {
		return nil
	}
	return &engine.Label{Task: t, Value: x.live.value, Confidence: float64(x.live.confidence), Answers: int(x.answers), Tie: x.given&isTie != 0, Undecided: x.given&isUndecided != 0}
}

// sure is how sure a line's label is, or the least sure of its fields; false: there is none.
func (f *fit) sure(i int32) (least float64, labelled bool) {
	least = 1
	for n := range f.data.questions {
		if q := &f.data.questions[n]; f.data.labels != nil && !q.Labels {
			continue
		}
		if l := f.labelOf(i, n); l != nil {
			least, labelled = min(least, l.Confidence), true
		}
	}
	return least, labelled
}

// anyLabel reports whether some label of a line is such.
func (f *fit) anyLabel(i int32, is func(*engine.Label) bool) bool {
	for n := range f.data.questions {
		if q := &f.data.questions[n]; f.data.labels != nil && !q.Labels {
			continue
		}
		if l := f.labelOf(i, n); l != nil && is(l) {
			return true
		}
	}
	return false
}

// wrong reports whether a line's label is not the answer that is known, before learning from
// it.
func (f *fit) wrong(i int32) bool {
	x := &f.data.lines[i]
	if x.gold == "" {
		return false
	}
	if x.right != nil {
		return *x.right != x.gold
	}
	if f.asked == Live && f.data.labels != nil {
		return x.given&hasLabel != 0 && x.live.value != x.gold
	}
	for n, r := range f.blind {
		q := &f.data.questions[n]
		if at := q.place[i]; r != nil && at >= 0 && q.gold[at] != label.None && r.Label(int(at)) != q.data.Classes()[q.gold[at]] {
			return true
		}
	}
	return false
}
