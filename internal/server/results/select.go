package results

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/pseudonym"
	"github.com/throng-dev/throng/label"
)

// test reports whether a line meets a condition.
type test func(line int32) bool

// selected returns the lines that meet a filter, in its order.
func (s *Results) selected(ctx context.Context, f *fit, q *Filter) ([]int32, error) {
	tests := make([]test, len(q.Terms))
	for i := range q.Terms {
		t := &q.Terms[i]
		meets, err := s.test(ctx, f, t)
		if err != nil {
			return nil, err
		}
		tests[i] = meets
		if t.Not {
			tests[i] = func(line int32) bool { return !meets(line) }
		}
	}
	var list []int32
	for i := range f.data.lines {
		if i%4096 == 0 {
			runtime.Gosched()
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
		}
		if !slices.ContainsFunc(tests, func(meets test) bool { return !meets(int32(i)) }) {
			list = append(list, int32(i))
		}
	}
	f.sort(list, q)
	return list, nil
}

// sort orders lines, those that are equal by number. What has no label comes last.
func (f *fit) sort(list []int32, q *Filter) {
	var by func(int32) float64
	switch q.Sort {
	case keySure:
		by = func(i int32) float64 {
			if sure, labelled := f.sure(i); labelled {
				return sure
			}
			if q.Descend {
				return -1
			}
			return 2
		}
	case keyAnswers:
		by = func(i int32) float64 { return float64(f.data.lines[i].answers) }
	default:
		if q.Descend {
			slices.Reverse(list)
		}
		return
	}
	keys := make(map[int32]float64, len(list))
	for _, i := range list {
		keys[i] = by(i)
	}
	slices.SortFunc(list, func(x, y int32) int {
		order := cmp.Compare(keys[x], keys[y])
		if q.Descend {
			order = -order
		}
		return cmp.Or(order, cmp.Compare(x, y))
	})
}

// test makes the test of a term.
func (s *Results) test(ctx context.Context, f *fit, t *Term) (test, error) {
	yes := slices.Contains(t.Values, "yes")
	is := func(holds test) test { return func(i int32) bool { return holds(i) == yes } }
	switch t.Key {
	case keyAgree:
		return func(i int32) bool { // of one answer nobody knows
			return f.data.lines[i].answers > 1 && f.data.lines[i].differ != yes
		}, nil
	case keyTie:
		return is(func(i int32) bool { return f.anyLabel(i, func(l *engine.Label) bool { return l.Tie }) }), nil
	case keyUndecided:
		return is(func(i int32) bool { return f.data.lines[i].undecided() }), nil
	case keyWrong:
		return is(f.wrong), nil
	case keyCorrected:
		return is(func(i int32) bool { return f.data.lines[i].right != nil }), nil
	case keyReviewed:
		return is(func(i int32) bool { return f.data.lines[i].review.Done() }), nil
	case keyReview:
		return func(i int32) bool { return slices.Contains(t.Values, string(f.data.lines[i].review)) }, nil
	case keyKnown:
		return is(func(i int32) bool { return f.data.lines[i].gold != "" }), nil
	case keyLabelled:
		return is(func(i int32) bool { _, labelled := f.sure(i); return labelled }), nil
	case keyAnswers:
		return func(i int32) bool {
			return slices.ContainsFunc(t.Values, func(v string) bool { return compares(float64(f.data.lines[i].answers), t.Op, v) })
		}, nil
	case keySure:
		return func(i int32) bool {
			sure, labelled := f.sure(i)
			return labelled && slices.ContainsFunc(t.Values, func(v string) bool { return compares(sure, t.Op, v) })
		}, nil
	case keyLabel:
		return func(i int32) bool {
			return f.anyLabel(i, func(l *engine.Label) bool {
				return slices.ContainsFunc(t.Values, func(v string) bool { return strings.EqualFold(v, l.Value) })
			})
		}, nil
	case keyWorker:
		return s.byWorker(ctx, f, t)
	case keyAnswer:
		return f.byAnswer(t)
	}
	return s.byText(ctx, f, t)
}

// byIDs has the terms about workers name them by ids, or by names where the reader sees who
// they are. What names nobody is nobody's id.
func (q *Filter) byIDs(seen pseudonym.Reader) {
	q.Terms = slices.Clone(q.Terms)
	for i := range q.Terms {
		t := &q.Terms[i]
		if t.Key != keyWorker {
			continue
		}
		t.Values = lists.Map(t.Values, func(v string) string {
			if id, err := seen.Find(v); err == nil || !seen.Named() {
				return id.String()
			}
			return v
		})
	}
}

// byWorker is for what some workers answered, by their ids or names.
func (s *Results) byWorker(ctx context.Context, f *fit, t *Term) (test, error) {
	members, err := s.workers(ctx, f.data)
	if err != nil {
		return nil, err
	}
	q := f.data.whole
	wanted := make([]bool, len(q.data.Workers()))
	for j, id := range q.data.Workers() {
		wanted[j] = slices.ContainsFunc(t.Values, func(v string) bool { return v == id || strings.EqualFold(v, members[id].Name) })
	}
	return func(i int32) bool {
		at := q.place[i]
		if at < 0 {
			return false
		}
		workers, _ := q.data.Answers(int(at))
		return slices.ContainsFunc(workers, func(j int32) bool { return wanted[j] })
	}, nil
}

// byAnswer is for what somebody answered to a field.
func (f *fit) byAnswer(t *Term) (test, error) {
	n := slices.IndexFunc(f.data.questions, func(q question) bool { return q.Name == t.Name })
	if n < 0 {
		return nil, crowd.Fieldf("filter", "the answers have no field %q", t.Name)
	}
	q := &f.data.questions[n]
	return q.answered(func(class string) bool {
		return slices.ContainsFunc(t.Values, func(v string) bool { return v == "" && class == "" || v != "" && contains(class, label.Fold(v)) })
	}), nil
}

// answered is for lines of which somebody gave an answer that is such.
func (q *question) answered(is func(class string) bool) test {
	such := make([]bool, len(q.data.Classes()))
	for k, class := range q.data.Classes() {
		such[k] = is(class)
	}
	return func(i int32) bool {
		at := q.place[i]
		if at < 0 {
			return false
		}
		_, classes := q.data.Answers(int(at))
		return slices.ContainsFunc(classes, func(k label.Class) bool { return such[k] })
	}
}

// contains reports whether a folded text is in another.
func contains(text, folded string) bool { return strings.Contains(label.Fold(text), folded) }

// byText is for texts in columns of the task, or for a word anywhere.
func (s *Results) byText(ctx context.Context, f *fit, t *Term) (test, error) {
	column := -1
	if t.Key == keyInput {
		if column = slices.Index(f.batch.Columns, t.Name); column < 0 {
			return nil, crowd.Fieldf("filter", "the tasks have no column %q", t.Name)
		}
	}
	found := make([]bool, len(f.data.lines))
	for _, v := range t.Values {
		in, err := s.linesWith(ctx, f, column, v)
		if err != nil {
			return nil, err
		}
		for i, has := range in {
			found[i] = found[i] || has
		}
	}
	tests := []test{func(i int32) bool { return found[i] }}
	if t.Key == "" {
		for n := range f.data.questions {
			tests = append(tests, f.data.questions[n].answered(func(class string) bool { return contains(class, label.Fold(t.Values[0])) }))
		}
	}
	return func(i int32) bool { return slices.ContainsFunc(tests, func(meets test) bool { return meets(i) }) }, nil
}

// textsKept is for how many texts a fit remembers where they are.
const textsKept = 8

// linesWith reads in which lines a text is in a column, or in any (-1).
func (s *Results) linesWith(ctx context.Context, f *fit, column int, text string) ([]bool, error) {
	folded := label.Fold(text)
	key := string(rune(column+1)) + folded
	f.mu.Lock()
	found, known := f.texts[key]
	f.mu.Unlock()
	if known {
		return found, nil
	}
	found = make([]bool, len(f.data.lines))
	i := 0
	for t, err := range s.store.Labels(ctx, f.batch.Spec.Tenant, f.batch.Spec.ID) {
		if err != nil {
			return nil, err
		}
		for i < len(f.data.lines) && f.data.lines[i].n < t.Task.N() {
			i++
		}
		if i == len(f.data.lines) {
			break
		}
		if f.data.lines[i].n == t.Task.N() {
			for c, cell := range t.Values {
				has := contains(cell, folded)
				if column >= 0 && text == "" {
					has = cell == ""
				}
				found[i] = found[i] || has && (column < 0 || column == c)
			}
		}
		if i%256 == 0 {
			runtime.Gosched()
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.texts) >= textsKept || f.texts == nil {
		f.texts = make(map[string][]bool)
	}
	f.texts[key] = found
	return found, nil
}
