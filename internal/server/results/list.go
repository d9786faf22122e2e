package results

import (
	"context"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/task"
)

// Query asks for tasks.
type Query struct {
	Filter Filter
	Method string // by which answers are combined, or Live; "": what fits best
	Cursor string // Page.Next of the page before; "": the first one
	Limit  int    // 1 to MaxPage
}

// MaxPage is how many tasks a page has at most.
const MaxPage = 500

// Page is a part of a list of tasks.
type Page struct {
	Batch     store.Batch
	Questions []task.Question
	Rows      []Row
	Next      string    // of the next page; "": this is the last
	Method    string    // by which the labels are made, or Live
	At        time.Time // as of when
	Counted   bool      // Matching, Before and Counts are known
	Matching  int       // tasks that meet the filter
	Before    int       // of those, on earlier pages
	Counts    Counts    // of all tasks
}

// bigBatch is from how many answers on a list of all tasks, by no method in particular, has
// the labels that they were given live: to combine the answers takes too long to wait for.
const bigBatch = 200_000

// quick reports whether a list needs no fit.
func quick(b *store.Batch, f *Filter, method string) bool {
	return f.plain() && (method == "" || method == Live) && b.Progress.Completed > bigBatch
}

// List returns a page of the tasks that meet a filter. In order of task, a task is on one
// page of those that follow each other, whatever comes in meanwhile; in another order they
// are of one moment.
func (s *Results) List(ctx context.Context, p *access.Principal, id crowd.BatchID, q Query) (*Page, error) {
	b, err := s.find(ctx, p, access.ResultsList, id)
	if err != nil {
		return nil, err
	}
	at, err := parseCursor(q.Cursor)
	if err != nil {
		return nil, err
	}
	v, err := s.answersViewer(ctx, p, &b)
	if err != nil {
		return nil, err
	}
	if quick(&b, &q.Filter, q.Method) {
		page, err := s.quickPage(ctx, &b, at, q.Limit)
		if err == nil {
			err = v.show(ctx, page.Rows)
		}
		return page, err
	}
	q.Filter.byIDs(v.workers)
	f, err := s.fitAt(ctx, &b, &q, at)
	if err != nil {
		return nil, err
	}
	lines, err := s.selected(ctx, f, &q.Filter)
	if err != nil {
		return nil, err
	}
	page := f.page()
	page.Matching, page.Before = len(lines), at.skip(f, lines, &q.Filter)
	lines = lines[page.Before:]
	more := len(lines) > q.Limit
	lines = lines[:min(len(lines), q.Limit)]
	if page.Rows, err = s.rows(ctx, f, lines); err != nil {
		return nil, err
	}
	if err := v.show(ctx, page.Rows); err != nil {
		return nil, err
	}
	if more {
		next := cursor{after: f.data.lines[lines[len(lines)-1]].n}
		if q.Filter.Sort != "" && q.Filter.Sort != "task" || q.Filter.Descend {
			next = cursor{state: f.data.state, offset: page.Before + len(lines)}
			s.pin(f)
		}
		page.Next = next.String()
	}
	return page, nil
}

// page is what all pages of a list have.
func (f *fit) page() *Page {
	page := &Page{Batch: f.batch, Method: f.usedMethod(), At: f.data.at, Counted: true}
	for i := range f.data.questions {
		page.Questions = append(page.Questions, f.data.questions[i].Question)
	}
	page.Counts = f.counts()
	return page
}

// usedMethod is by what the labels are made.
func (f *fit) usedMethod() string {
	if f.asked == Live {
		return Live
	}
	if f.whole[0] != nil {
		return f.whole[0].Method
	}
	m, err := f.method()
	if err != nil {
		return f.asked
	}
	return m.Name()
}

func (f *fit) counts() Counts {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.counted != nil {
		return *f.counted
	}
	c := Counts{All: len(f.data.lines)}
	for i := range f.data.lines {
		x := &f.data.lines[i]
		for _, count := range []struct {
			n  *int
			is bool
		}{
			{&c.Differ, x.answers > 1 && x.differ}, {&c.Undecided, x.undecided()}, {&c.Corrected, x.right != nil}, {&c.Reviewed, x.review.Done()}, {&c.Waiting, x.review == store.ReviewWaiting}, {&c.Unanswered, x.answers == 0},
			{&c.Tie, f.anyLabel(int32(i), func(l *engine.Label) bool { return l.Tie })}, {&c.Wrong, f.wrong(int32(i))},
		} {
			if count.is {
				*count.n++
			}
		}
	}
	f.counted = &c
	return c
}

// quickPage is a page of all tasks with the labels that they were given live.
func (s *Results) quickPage(ctx context.Context, b *store.Batch, at cursor, limit int) (*Page, error) {
	compiled, err := task.Parse(b.Template)
	if err != nil {
		return nil, err
	}
	c, err := compiled.Compile()
	if err != nil {
		return nil, err
	}
	page := &Page{Batch: *b, Questions: c.Questions(), Method: Live, At: s.clock.Time()}
	for after := at.after; len(page.Rows) < limit && after < b.Spec.Tasks; {
		var ids []crowd.TaskID
		for ; after < b.Spec.Tasks && len(ids) < limit-len(page.Rows); after++ {
			ids = append(ids, b.Spec.ID.Task(after+1))
		}
		list, err := s.readTasks(ctx, b, ids, false)
		if err != nil {
			return nil, err
		}
		for i := range list {
			row := rowOf(&list[i])
			row.Label = Corrected(list[i].LabelledTask).Label
			row.Differ = slices.ContainsFunc(row.Answers, func(a Answer) bool { return a.Key != row.Answers[0].Key })
			row.Wrong = row.Gold != "" && row.Label != nil && row.Label.Value != row.Gold
			page.Rows = append(page.Rows, row)
		}
		if after < b.Spec.Tasks {
			page.Next = cursor{after: after}.String()
		} else {
			page.Next = ""
		}
	}
	return page, nil
}

// rowOf is a task with its answers that count.
func rowOf(t *store.TaskResult) Row {
	row := Row{Task: t.Task, Values: t.Values, Gold: t.Gold, Lesson: t.Lesson, Corrected: t.Corrected, Review: t.Review}
	for _, x := range t.SentBack {
		row.SentBack = append(row.SentBack, SentBack{SentBack: x})
	}
	for _, a := range t.Annotations {
		if a.Counted {
			row.Answers = append(row.Answers, Answer{Annotation: a})
		}
	}
	return row
}

// rows reads the tasks of some lines.
func (s *Results) rows(ctx context.Context, f *fit, lines []int32) ([]Row, error) {
	ids := lists.Map(lines, f.task)
	list, err := s.readTasks(ctx, &f.batch, ids, true)
	if err != nil {
		return nil, err
	}
	of := make(map[crowd.TaskID]*store.TaskResult, len(list))
	for i := range list {
		of[list[i].Task] = &list[i]
	}
	var rows []Row
	for n, id := range ids {
		if t := of[id]; t != nil { // else it was taken out just now
			row := rowOf(t)
			f.fill(&row, lines[n])
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// fill gives a row its labels.
func (f *fit) fill(row *Row, line int32) {
	for n := range f.data.questions {
		l := f.labelOf(line, n)
		if row.Corrected != nil { // as it is now, which the fit may not know yet
			if value, said := f.data.questions[n].part(row.Corrected.Value); said {
				l = corrected(&engine.Label{Task: row.Task, Value: value, Answers: int(f.data.lines[line].answers)})
			}
		}
		row.Fields = append(row.Fields, FieldLabel{Name: f.data.questions[n].Name, Label: l})
		if f.data.questions[n].Labels {
			row.Label = l
		}
	}
	row.Differ, row.Wrong = f.data.lines[line].differ, f.wrong(line)
}

// fitAt returns the fit that a page is of.
func (s *Results) fitAt(ctx context.Context, b *store.Batch, q *Query, at cursor) (*fit, error) {
	if at.state == 0 {
		return s.fitted(ctx, b, q.Method)
	}
	method, err := usable(b, q.Method)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.pinned {
		if f.batch.Spec.ID == b.Spec.ID && f.asked == method && f.data.state == at.state {
			return f, nil
		}
	}
	return nil, crowd.Fieldf("cursor", "is of a list that is no longer kept: begin again at its first page")
}

// mostPinned is how many lists are kept for who goes on with them.
const mostPinned = 16

func (s *Results) pin(f *fit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pinned = append(slices.DeleteFunc(s.pinned, func(x *fit) bool { return x == f }), f)
	size := 0
	for i := len(s.pinned) - 1; i >= 0; i-- {
		if size += s.pinned[i].data.size() + s.pinned[i].size(); size > fitsKept || len(s.pinned)-i > mostPinned {
			s.pinned = slices.Clone(s.pinned[min(i+1, len(s.pinned)-1):])
			return
		}
	}
}

// cursor is where a page begins: after a task, or at a place of a list of one moment.
type cursor struct {
	after  uint32
	state  uint64
	offset int
}

func (c cursor) String() string {
	if c.state == 0 {
		return strconv.FormatUint(uint64(c.after), 10)
	}
	return strconv.FormatUint(c.state, 10) + "." + strconv.Itoa(c.offset)
}

func parseCursor(text string) (c cursor, err error) {
	if text == "" {
		return c, nil
	}
	state, offset, two := strings.Cut(text, ".")
	if !two {
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return c, errCursor
		}
		return cursor{after: uint32(n)}, nil
	}
	if c.state, err = strconv.ParseUint(state, 10, 64); err != nil || c.state == 0 {
		return c, errCursor
	}
	if c.offset, err = strconv.Atoi(offset); err != nil || c.offset < 0 {
		return c, errCursor
	}
	return c, nil
}

var errCursor = crowd.Fieldf("cursor", "is none: use next of the page before")

// skip returns how many lines come before the page.
func (c cursor) skip(f *fit, lines []int32, q *Filter) int {
	if c.state != 0 {
		return min(c.offset, len(lines))
	}
	if q.Sort != "" && q.Sort != "task" || q.Descend {
		return 0
	}
	n, _ := slices.BinarySearchFunc(lines, c.after+1, func(i int32, n uint32) int { return int(f.data.lines[i].n) - int(n) })
	return n
}

// Download is all tasks that meet a filter.
type Download struct {
	Batch     store.Batch
	Questions []task.Question
	Rows      iter.Seq2[Row, error]
}

// exported is how many tasks of a download are read at a time.
const exported = 500

// All returns the tasks that List has on all its pages.
func (s *Results) All(ctx context.Context, p *access.Principal, id crowd.BatchID, q Query) (*Download, error) {
	b, err := s.find(ctx, p, access.ResultsAll, id)
	if err != nil {
		return nil, err
	}
	if quick(&b, &q.Filter, q.Method) {
		first, err := s.quickPage(ctx, &b, cursor{}, 0)
		if err != nil {
			return nil, err
		}
		return &Download{b, first.Questions, s.slotted(ctx, p, &b, func(yield func(Row, error) bool) {
			for at := (cursor{}); ; {
				page, err := s.quickPage(ctx, &b, at, exported)
				if err != nil {
					yield(Row{}, err)
					return
				}
				for _, row := range page.Rows {
					if !yield(row, nil) {
						return
					}
				}
				if page.Next == "" {
					return
				}
				at, _ = parseCursor(page.Next)
			}
		})}, nil
	}
	q.Filter.byIDs(s.names.For(p, b.Spec.Tenant))
	f, err := s.fitted(ctx, &b, q.Method)
	if err != nil {
		return nil, err
	}
	lines, err := s.selected(ctx, f, &q.Filter)
	if err != nil {
		return nil, err
	}
	return &Download{b, f.page().Questions, s.slotted(ctx, p, &b, func(yield func(Row, error) bool) {
		for some := range slices.Chunk(lines, exported) {
			rows, err := s.rows(ctx, f, some)
			if err != nil {
				yield(Row{}, err)
				return
			}
			for _, row := range rows {
				if !yield(row, nil) {
					return
				}
			}
		}
	})}, nil
}

// slotted yields rows as p sees them, once there is room for one more download.
func (s *Results) slotted(ctx context.Context, p *access.Principal, b *store.Batch, rows iter.Seq2[Row, error]) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		end, err := s.scans.Start(ctx, p.User.ID, b.Spec.Tenant, 1)
		if err != nil {
			yield(Row{}, err)
			return
		}
		defer end()
		v, err := s.answersViewer(ctx, p, b)
		if err != nil {
			yield(Row{}, err)
			return
		}
		rows(func(row Row, err error) bool {
			list := []Row{row}
			if err == nil {
				err = v.show(ctx, list)
			}
			return yield(list[0], err)
		})
	}
}
