package results

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"strconv"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/pseudonym"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/label"
)

// WorkerQuery asks for what a worker answered in a batch.
type WorkerQuery struct {
	Worker string // as who asks calls them: the tenant's pseudonym, or an id
	Method string // as in Query, but for Live
	Wrong  bool   // only answers that are not right
	Cursor string // WorkerView.Next of the page before; "": the first one
	Limit  int    // answers of a page, 1 to MaxPage
}

// WorkerView is one worker's part in a batch.
type WorkerView struct {
	Batch   store.Batch
	By      pseudonym.Worker
	Blocked bool // by the batch's tenant
	Method  string
	At      time.Time // as of when labels, figures and the list are

	Answers int // all, whether they count or not
	Counted int
	Late    int
	// Disregarded are those that counted and do so no more.
	Disregarded int
	Paid        crowd.Money
	Typical     time.Duration  // median time from getting a task to answering it, of answers that count; 0: none does
	Quality     *WorkerQuality // without By and Blocked; nil: no answer counts, or the answers were deleted
	Figures     engine.Figures // as the quality rules of the batch count them; without checks, known answers stand for them
	Actions     []store.QualityAction
	Paused      uint32       // the number of the action that keeps them from the batch; 0: they are not paused
	Weight      label.Weight // that their answers count

	Compared int // answers that can be right or wrong
	Right    int
	Course   []CoursePoint // of them, in the order in which they came
	Bounds   []float64     // of drift, ascending; at least one

	Rows     []WorkerAnswer // the latest first
	Matching int            // answers that are asked for, on all pages
	Next     string         // of the next page; "": this is the last
}

// WorkerAnswer is an answer of a worker with what it is compared with.
type WorkerAnswer struct {
	Answer
	Label     *engine.Label // of the task; nil: none yet
	Gold      string
	Corrected bool  // the label is what somebody has said that it is
	Lesson    bool  // it was training: Gold was told afterwards
	TakenOut  bool  // the task was; nothing is told of what was answered
	Right     *bool // nil: there is nothing to compare it with, or it does not count
}

// LessWeight reports whether a rule has lowered the weight of their answers.
func (v *WorkerView) LessWeight() bool { return v.Weight < label.Full }

// IsRight reports whether it is known to be right.
func (a *WorkerAnswer) IsRight() bool { return a.Right != nil && *a.Right }

// maxActions is how many actions of rules on one person in one batch are looked at.
const maxActions = 500

// record is an answer, as far as a worker's figures need it.
type record struct {
	assignment    crowd.AssignmentID
	task          crowd.TaskID
	line          int32 // -1: the task was taken out
	given, ended  time.Time
	paid          crowd.Money
	counted, late bool
	disregarded   time.Time // since when it does not count, though it did; zero: it is not disregarded
	said          string    // what is compared
	says          bool      // said is known
	right         *bool
}

var yes, no = true, false

// Worker returns a worker's part in a batch, with a page of their answers. Who has answered nothing there
// is answered as who does not exist. All of the worker's answers are read, but what they wrote.
func (s *Results) Worker(ctx context.Context, p *access.Principal, id crowd.BatchID, q WorkerQuery) (*WorkerView, error) {
	b, err := s.find(ctx, p, access.ResultsWorker, id)
	if err != nil {
		return nil, err
	}
	seen := s.names.For(p, b.Spec.Tenant)
	who, err := seen.Find(q.Worker)
	if err != nil {
		return nil, err
	}
	f, err := s.fitted(ctx, &b, q.Method)
	if err != nil {
		return nil, err
	}
	numbers := f.data.gave[who]
	if len(numbers) == 0 {
		return nil, pseudonym.ErrNoWorker
	}
	user, err := s.store.User(ctx, who)
	if err != nil {
		return nil, err
	}
	v := &WorkerView{Batch: b, By: seen.Show(who, user.Name), Blocked: slices.Contains(user.BlockedBy, b.Spec.Tenant), Method: f.usedMethod(), At: f.data.at, Bounds: engine.DriftBounds(b.Spec.Quality)}
	place := -1
	if r := f.whole[0]; r != nil {
		if place = slices.Index(r.Data.Workers(), who.String()); place >= 0 {
			of := Measure(r, f.data.whole.gold).Of(place)
			of.Taught = f.data.taught[who]
			v.Quality = &of
		}
	}
	records, err := s.records(ctx, p, f, place, numbers)
	if err != nil {
		return nil, err
	}
	actions, err := s.store.WorkerActions(ctx, b.Spec.Tenant, id, who, maxActions)
	if err != nil {
		return nil, err
	}
	staff := pseudonym.StaffFor(s.store, p, b.Spec.Tenant)
	for _, a := range actions {
		if a.UndoneByName, err = staff.Show(ctx, a.UndoneBy, a.UndoneByName); err != nil {
			return nil, err
		}
		a.Worker, a.WorkerName, a.UndoneBy = 0, "", 0
		v.Actions = append(v.Actions, a)
		if a.Kind == engine.PausePerson && a.UndoneAt.IsZero() {
			v.Paused = a.N
		}
	}
	weights, err := s.Weights(ctx, &b)
	if err != nil {
		return nil, err
	}
	v.Weight = weights.Of(who)
	if v.Quality != nil {
		v.Quality.Weight = v.Weight
	}
	v.sum(records)
	v.follow(f, records)
	return v, s.workerRows(ctx, v, f, records, &q, seen)
}

// readAtOnce is how many of a worker's answers are read by one call, and more than how many are read only
// when there is room for one more download.
const readAtOnce = 10_000

// records reads a worker's answers, in the order in which they came. place is theirs in the data of whole answers; -1:
// they have none.
func (s *Results) records(ctx context.Context, p *access.Principal, f *fit, place int, numbers []uint32) ([]record, error) {
	if len(numbers) > readAtOnce {
		end, err := s.scans.Start(ctx, p.User.ID, f.batch.Spec.Tenant, 1)
		if err != nil {
			return nil, err
		}
		defer end()
	}
	list := make([]record, 0, len(numbers))
	for some := range slices.Chunk(numbers, readAtOnce) {
		answers, err := s.store.GivenAnswers(ctx, f.batch.Spec.Tenant, f.batch.Spec.ID, lists.Map(some, f.batch.Spec.ID.Assignment))
		if err != nil {
			return nil, err
		}
		for i := range answers {
			a := &answers[i]
			r := record{assignment: a.Assignment, task: a.Task, line: f.line(a.Task), given: a.AssignedAt, ended: a.EndedAt, paid: a.Paid, counted: a.Counted, late: a.Late, disregarded: a.DisregardedAt}
			if r.counted && r.line >= 0 {
				r.said, r.says = f.said(r.line, place)
			}
			if !r.disregarded.IsZero() { // what it has shown stays so
				r.said = a.Key
			}
			if truth, known := f.truth(r.line); known && r.says {
				r.right = &no
				if r.said == truth {
					r.right = &yes
				}
			}
			list = append(list, r)
		}
	}
	slices.SortStableFunc(list, func(x, y record) int { return x.ended.Compare(y.ended) })
	return list, nil
}

// line is that of a task; -1: there is none.
func (f *fit) line(t crowd.TaskID) int32 {
	i, there := slices.BinarySearchFunc(f.data.lines, t.N(), func(x line, n uint32) int { return cmp.Compare(x.n, n) })
	if !there {
		return -1
	}
	return int32(i)
}

// said is what a worker answered to the task of a line, as whole answers are compared.
func (f *fit) said(line int32, worker int) (string, bool) {
	q := f.data.whole
	if q.place[line] < 0 || worker < 0 {
		return "", false
	}
	workers, classes := q.data.Answers(int(q.place[line]))
	at := slices.Index(workers, int32(worker))
	if at < 0 {
		return "", false
	}
	return className(q.data, classes[at]), true
}

// truth is what an answer to the task of a line has to be to be right: what the label was corrected to, or the
// known answer, or the label.
func (f *fit) truth(line int32) (string, bool) {
	if line < 0 {
		return "", false
	}
	x := &f.data.lines[line]
	if x.right == nil && x.gold != "" {
		return x.gold, true
	}
	l := f.labelBy(line, f.data.whole, f.whole[0])
	if l == nil {
		return "", false
	}
	return l.Value, true
}

// sum counts the answers.
func (v *WorkerView) sum(records []record) {
	var took []time.Duration
	v.Answers = len(records)
	for i := range records {
		r := &records[i]
		v.Paid = v.Paid.Plus(r.paid)
		switch {
		case r.counted:
			v.Counted++
			took = append(took, r.ended.Sub(r.given))
		case !r.disregarded.IsZero():
			v.Disregarded++
		case r.late:
			v.Late++
		}
		if r.right != nil {
			v.Compared++
			if *r.right {
				v.Right++
			}
		}
	}
	if n := len(took); n > 0 {
		slices.Sort(took)
		v.Typical = (took[(n-1)/2] + took[n/2]) / 2
	}
}

// workerRows reads the page of answers that is asked for.
func (s *Results) workerRows(ctx context.Context, v *WorkerView, f *fit, records []record, q *WorkerQuery, seen pseudonym.Reader) error {
	wanted := func(r *record) bool { return !q.Wrong || r.right != nil && !*r.right }
	v.Matching = lists.Count(records, func(r record) bool { return wanted(&r) })
	end := len(records)
	if q.Cursor != "" {
		n, err := strconv.ParseUint(q.Cursor, 10, 32)
		if end = slices.IndexFunc(records, func(r record) bool { return uint64(r.assignment.N()) == n }); err != nil || end < 0 {
			return errCursor
		}
	}
	var page []*record
	for i := end - 1; i >= 0; i-- {
		if r := &records[i]; wanted(r) {
			if len(page) == q.Limit {
				v.Next = strconv.FormatUint(uint64(page[len(page)-1].assignment.N()), 10)
				break
			}
			page = append(page, r)
		}
	}
	tasks, err := s.store.TaskResults(ctx, f.batch.Spec.Tenant, f.batch.Spec.ID, lists.Map(page, func(r *record) crowd.TaskID { return r.task }),
		lists.Map(page, func(r *record) crowd.AssignmentID { return r.assignment }))
	if err != nil {
		return err
	}
	for _, r := range page {
		row := WorkerAnswer{TakenOut: true, Right: r.right, Answer: Answer{By: v.By, Weight: v.Weight, Annotation: store.Annotation{
			Assignment: r.assignment, Task: r.task, State: crowd.Submitted, AssignedAt: r.given, EndedAt: r.ended, Counted: r.counted, Late: r.late, Paid: r.paid, DisregardedAt: r.disregarded}}}
		at := sort.Search(len(tasks), func(i int) bool { return tasks[i].Task >= r.task })
		if at < len(tasks) && tasks[at].Task == r.task {
			row.fill(f, r, &tasks[at], seen)
		}
		v.Rows = append(v.Rows, row)
	}
	return nil
}

// fill tells of an answer to a task that is there.
func (row *WorkerAnswer) fill(f *fit, r *record, t *store.TaskResult, seen pseudonym.Reader) {
	row.TakenOut, row.Gold, row.Lesson, row.Corrected = false, t.Gold, t.Lesson, t.Corrected != nil
	if r.line >= 0 {
		row.Label = f.labelBy(r.line, f.data.whole, f.whole[0])
	}
	for _, a := range t.Annotations {
		if a.Assignment == r.assignment {
			weight := row.Weight
			row.Answer = Answered(seen, nil, a)
			row.Weight = weight
		}
	}
	row.Values = t.Values
}
