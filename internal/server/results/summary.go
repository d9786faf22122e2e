package results

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/label"
)

// TaskView is a single task with all that came of it.
type TaskView struct {
	Batch store.Batch
	Row   Row // whose Answers are all of its assignments, those without an answer, too
	// Corrections are all corrections of the task, the latest first.
	Corrections []store.Correction
	Correctable bool     // whoever may review and has not answered it may correct it
	Options     []string // that a label can be; nil: any text
	Whole       bool     // it is corrected by a whole answer: each field has a label of its own
	Method      string
	At          time.Time
}

// Task returns a task with all that came of it.
func (s *Results) Task(ctx context.Context, p *access.Principal, id crowd.TaskID, method string) (*TaskView, error) {
	b, err := s.find(ctx, p, access.ResultsTask, id.Batch())
	if err != nil {
		return nil, err
	}
	list, err := s.readTasks(ctx, &b, []crowd.TaskID{id}, true)
	if err == nil && len(list) == 0 {
		err = errTask
	}
	if err != nil {
		return nil, err
	}
	questions, err := questionsOf(&b)
	if err != nil {
		return nil, err
	}
	v := &TaskView{Batch: b, Row: rowOf(&list[0]), Method: Live, At: s.clock.Time()}
	if quick(&b, &Filter{}, method) {
		v.Row.Label = Corrected(list[0].LabelledTask).Label
	} else if err := s.fillTask(ctx, v, method); err != nil {
		return nil, err
	}
	v.Whole, v.Correctable = true, correctable(&b, &list[0]) == nil
	for i := range questions {
		if questions[i].Labels {
			v.Options, v.Whole = questions[i].Options, false
		}
	}
	seen, err := s.answersViewer(ctx, p, &b)
	if err != nil {
		return nil, err
	}
	if v.Corrections, err = s.corrections(ctx, &b, id, seen); err != nil {
		return nil, err
	}
	if err := seen.showReview(ctx, &v.Row); err != nil {
		return nil, err
	}
	v.Row.Answers = nil
	for _, a := range list[0].Annotations {
		v.Row.Answers = append(v.Row.Answers, Answered(seen.workers, seen.weights, a))
	}
	return v, nil
}

// fillTask gives a task its labels, with what else they may be.
func (s *Results) fillTask(ctx context.Context, v *TaskView, method string) error {
	f, err := s.fitted(ctx, &v.Batch, method)
	if err != nil {
		return err
	}
	line, there := slices.BinarySearchFunc(f.data.lines, v.Row.Task.N(), func(x line, n uint32) int { return cmp.Compare(x.n, n) })
	if !there {
		return nil // it was added since
	}
	f.fill(&v.Row, int32(line))
	v.Method, v.At = f.usedMethod(), f.data.at
	for n, r := range f.by {
		at := f.data.questions[n].place[line]
		if r == nil || at < 0 {
			continue
		}
		for value, share := range r.Distribution(int(at)) {
			v.Row.Fields[n].Distribution = append(v.Row.Fields[n].Distribution, Chance{value, share})
		}
		slices.SortStableFunc(v.Row.Fields[n].Distribution, func(x, y Chance) int { return cmp.Compare(y.Share, x.Share) })
	}
	return nil
}

// Summary is what came of a batch in figures, for pictures.
type Summary struct {
	Batch    store.Batch
	Method   string
	At       time.Time
	Counts   Counts
	Field    string      // of whose labels it tells
	Labels   []LabelUse  // those of most tasks first
	Mixed    [][]float64 // Mixed[k][l] is the share of the answers to tasks with label Labels[k] that say Labels[l]
	Sure     []float64   // of each labelled task, how sure its label is
	Answered []time.Time // when each answer that counts came, in order
}

// LabelUse is a label with how many tasks have it.
type LabelUse struct {
	Value string
	Tasks int
}

// mostLabels is how many labels a summary has.
const mostLabels = 12

// Summary tells of a field ("": the one that labels the tasks, or the first).
func (s *Results) Summary(ctx context.Context, p *access.Principal, id crowd.BatchID, method, field string) (*Summary, error) {
	b, err := s.find(ctx, p, access.ResultsSummary, id)
	if err != nil {
		return nil, err
	}
	f, err := s.fitted(ctx, &b, method)
	if err != nil {
		return nil, err
	}
	n := max(0, slices.IndexFunc(f.data.questions, func(q question) bool { return field == "" && q.Labels }))
	if field != "" {
		if n = slices.IndexFunc(f.data.questions, func(q question) bool { return q.Name == field }); n < 0 {
			return nil, crowd.Fieldf("field", "the answers have no field %q", field)
		}
	}
	out := &Summary{Batch: b, Method: f.usedMethod(), At: f.data.at, Counts: f.counts(), Field: f.data.questions[n].Name}
	uses := make(map[string]int)
	labels := make([]*engine.Label, len(f.data.lines))
	for i := range f.data.lines {
		if l := f.labelOf(int32(i), n); l != nil {
			labels[i] = l
			uses[l.Value]++
			out.Sure = append(out.Sure, l.Confidence)
		}
	}
	for value, tasks := range uses {
		out.Labels = append(out.Labels, LabelUse{value, tasks})
	}
	slices.SortFunc(out.Labels, func(x, y LabelUse) int {
		return cmp.Or(cmp.Compare(y.Tasks, x.Tasks), cmp.Compare(x.Value, y.Value))
	})
	out.Labels = out.Labels[:min(len(out.Labels), mostLabels)]
	out.mix(&f.data.questions[n], labels)
	for _, at := range f.data.answered {
		out.Answered = append(out.Answered, time.Unix(at, 0))
	}
	return out, nil
}

// mix compares answers with labels.
func (s *Summary) mix(q *question, labels []*engine.Label) {
	place := make(map[string]int)
	s.Mixed = make([][]float64, len(s.Labels))
	for k, l := range s.Labels {
		place[l.Value] = k
		s.Mixed[k] = make([]float64, len(s.Labels))
	}
	all := make([]float64, len(s.Labels))
	for i, l := range labels {
		if l == nil || q.place[i] < 0 {
			continue
		}
		k, shown := place[l.Value]
		if !shown {
			continue
		}
		_, classes := q.data.Answers(int(q.place[i]))
		for _, c := range classes {
			all[k]++
			if said, shown := place[className(q.data, c)]; shown {
				s.Mixed[k][said]++
			}
		}
	}
	for k := range s.Mixed {
		for l := range s.Mixed[k] {
			s.Mixed[k][l] /= max(1, all[k])
		}
	}
}

func className(d *label.Dataset, c label.Class) string { return d.Classes()[c] }
