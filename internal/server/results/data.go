package results

import (
	"context"
	"encoding/json"
	"runtime"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/input"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/label"
)

// data is all answers of a batch as they were at one time, without what they are about.
type data struct {
	state     uint64 // see Results.state
	at        time.Time
	lines     []line                      // of the tasks, in order
	questions []question                  // one for each field of the answers
	whole     *question                   // by what answers are compared while the batch runs; it may be one of questions
	labels    *question                   // that of questions whose labels are the tasks' labels; nil: each field has its own
	workers   map[string]int              // answers of each that count, by id
	gave      map[crowd.WorkerID][]uint32 // the assignments that each answered, whether it counts or not, by their numbers, ascending
	answers   int                         // that count
	taught    map[crowd.WorkerID]Taught   // whoever answered lessons
	answered  []int64                     // when each of them came, in seconds since 1970, ascending
}

// line is a task.
type line struct {
	n       uint32
	answers uint32 // that count
	given   given
	gold    string
	lesson  bool // gold teaches
	live    liveLabel
	differ  bool // not all answers are equal, to the field that labels the task, or to any
	review  store.ReviewState
	right   *string // what somebody says that the label is; nil: nobody has corrected it
}

// undecided reports whether the label was not decided, by the answers or by a correction.
func (x *line) undecided() bool { return x.given&isUndecided != 0 && x.right == nil }

// given says what a task has.
type given uint8

const (
	hasLabel given = 1 << iota
	isTie
	isUndecided
)

// liveLabel is the label that a task was given as its answers came in.
type liveLabel struct {
	value      string
	confidence float32
}

// question is a field of the answers with what everybody answered.
type question struct {
	task.Question
	data  *label.Dataset
	place []int32 // of each line's task in data; -1: nobody answered
	gold  label.Truth
	learn label.Truth // gold, and what labels were corrected to: what methods learn from
}

// reader makes a data.
type reader struct {
	s        *Results
	b        *store.Batch
	out      *data
	builders []label.Builder
	whole    label.Builder
	own      bool              // no field labels the tasks: whole answers are compared
	blank    bool              // nobody can have given an empty answer: such a one was erased
	texts    map[string]string // each once
	lessons  map[uint32]string // what is right, by the numbers of the tasks
}

// Taught is how somebody did on lessons. What they answered to these says nothing of them, and is in no other
// figure.
type Taught struct {
	Done, Right int
}

// read reads all answers of a batch.
func (s *Results) read(ctx context.Context, b *store.Batch) (*data, error) {
	compiled, err := input.Compile(b.Template)
	if err != nil {
		return nil, err
	}
	s.watchReviews(b)
	r := &reader{s: s, b: b, own: true, texts: make(map[string]string), out: &data{state: s.state(b.Spec.ID), at: s.clock.Time(), workers: make(map[string]int), taught: make(map[crowd.WorkerID]Taught), gave: make(map[crowd.WorkerID][]uint32)}}
	_, _, err = compiled.Check(json.RawMessage(erased))
	r.blank = err != nil
	for _, q := range compiled.Questions() {
		r.out.questions = append(r.out.questions, question{Question: q})
		r.own = r.own && !q.Labels
	}
	r.builders = make([]label.Builder, len(r.out.questions))
	if err := r.findLessons(ctx); err != nil {
		return nil, err
	}
	counted := make(map[uint32]uint32)
	n := 0
	for a, err := range s.store.Answers(ctx, b.Spec.Tenant, b.Spec.ID) {
		if err != nil {
			return nil, err
		}
		if n++; n%1024 == 0 {
			runtime.Gosched()
		}
		r.out.gave[a.Worker] = append(r.out.gave[a.Worker], a.Assignment.N())
		if a.Counted && !(r.blank && a.Key == "" && string(a.Body) == erased) {
			if right, lesson := r.lessons[a.Task.N()]; lesson {
				r.teach(&a, right)
			} else {
				r.add(&a)
			}
			counted[a.Task.N()]++
		}
	}
	if err := r.tasks(ctx, counted); err != nil {
		return nil, err
	}
	return r.out, r.finish()
}

// findLessons reads which tasks are lessons.
func (r *reader) findLessons(ctx context.Context) error {
	if !r.b.Spec.Trains() {
		return nil
	}
	id, tasks := r.b.Spec.ID, r.b.Spec.Tasks
	lessons, err := r.s.store.Lessons(ctx, id, 0, tasks)
	if err != nil || len(lessons) == 0 {
		return err
	}
	known, err := r.s.store.Known(ctx, id, 0, tasks)
	r.lessons = make(map[uint32]string, len(lessons))
	for _, n := range lessons {
		r.lessons[n] = known[n]
	}
	return err
}

// teach adds an answer that counts to a lesson.
func (r *reader) teach(a *store.Annotation, right string) {
	t := r.out.taught[a.Worker]
	t.Done++
	if a.Key == right {
		t.Right++
	}
	r.out.taught[a.Worker] = t
}

func (r *reader) once(s string) string {
	if t, there := r.texts[s]; there {
		return t
	}
	r.texts[s] = s
	return s
}

// erased is what is left of an answer that was one text.
const erased = `{}`

// add adds an answer that counts.
func (r *reader) add(a *store.Annotation) {
	x := label.Answer{Task: a.Task.String(), Worker: a.Worker.String(), Label: r.once(a.Key)}
	r.out.workers[x.Worker]++
	r.out.answers++
	r.out.answered = append(r.out.answered, a.EndedAt.Unix())
	if !r.b.AnswersDeletedAt.IsZero() {
		return
	}
	if r.own {
		r.whole.Add(x)
	}
	var fields map[string][]byte
	for i := range r.out.questions {
		q := &r.out.questions[i]
		if q.Labels {
			if x.Label != "" || q.Scale() == label.Nominal {
				r.builders[i].Add(x)
			}
			continue
		}
		if fields == nil {
			fields = make(map[string][]byte)
			for name, value := range task.Fields(a.Body) {
				fields[name] = value
			}
		}
		if key, ok := q.Key(fields[q.Name]); ok {
			r.builders[i].Add(label.Answer{Task: x.Task, Worker: x.Worker, Label: r.once(key)})
		}
	}
}

// tasks reads the tasks.
func (r *reader) tasks(ctx context.Context, counted map[uint32]uint32) error {
	for t, err := range r.s.store.Labels(ctx, r.b.Spec.Tenant, r.b.Spec.ID) {
		if err != nil {
			return err
		}
		x := line{n: t.Task.N(), answers: counted[t.Task.N()], gold: r.once(t.Gold), lesson: t.Lesson}
		if l := t.Label; l != nil {
			x.given = hasLabel
			if l.Tie {
				x.given |= isTie
			}
			if l.Undecided {
				x.given |= isUndecided
			}
			x.live = liveLabel{r.once(l.Value), float32(l.Confidence)}
		}
		if t.Review != nil {
			x.review = t.Review.State
		}
		r.out.lines = append(r.out.lines, x)
		if t.Gold != "" && !t.Lesson {
			r.known(t.Gold)
		}
		if t.Corrected != nil && !t.Lesson {
			right := r.once(t.Corrected.Value)
			r.out.lines[len(r.out.lines)-1].right = &right
			r.known(right)
		}
	}
	return nil
}

// known makes sure that what is known is a class.
func (r *reader) known(key string) {
	r.whole.Class(key)
	fields := task.Fields([]byte(key))
	for i := range r.out.questions {
		q := &r.out.questions[i]
		if q.Labels {
			r.builders[i].Class(key)
		} else if part, ok := q.Key(fields[q.Name]); r.own && ok {
			r.builders[i].Class(part)
		}
	}
}

// finish builds the sets of answers.
func (r *reader) finish() error {
	slices.Sort(r.out.answered)
	places := make(map[string]int32, len(r.out.lines))
	for i := range r.out.lines {
		places[r.b.Spec.ID.Task(r.out.lines[i].n).String()] = int32(i)
	}
	complete := func(q *question, b *label.Builder, known func(gold string) (string, bool)) error {
		q.data = b.Build()
		q.place = make([]int32, len(r.out.lines))
		for i := range q.place {
			q.place[i] = -1
		}
		for i, name := range q.data.Tasks() {
			if at, there := places[name]; there { // else it was taken out
				q.place[at] = int32(i)
			}
		}
		gold, learn := make(map[string]string), make(map[string]string)
		for i := range r.out.lines {
			x := &r.out.lines[i]
			if x.lesson {
				continue
			}
			name := r.b.Spec.ID.Task(x.n).String()
			if key, ok := known(x.gold); ok && x.gold != "" {
				gold[name], learn[name] = key, key
			}
			if x.right != nil {
				delete(learn, name)
				if key, ok := known(*x.right); ok {
					learn[name] = key
				}
			}
		}
		var err error
		if q.gold, err = q.data.Truth(gold); err == nil {
			q.learn, err = q.data.Truth(learn)
		}
		return err
	}
	same := func(gold string) (string, bool) { return gold, true }
	for i := range r.out.questions {
		q := &r.out.questions[i]
		known := func(gold string) (string, bool) {
			if !r.own {
				return "", false // only the label is known
			}
			return q.Key(task.Fields([]byte(gold))[q.Name])
		}
		if q.Labels {
			r.out.whole, r.out.labels, known = q, q, same
		}
		if err := complete(q, &r.builders[i], known); err != nil {
			return err
		}
		r.differ(q)
	}
	if r.out.whole == nil {
		r.out.whole = &question{Question: task.Question{Labels: true}}
		if err := complete(r.out.whole, &r.whole, same); err != nil {
			return err
		}
	}
	return nil
}

// differ marks the tasks to which answers differ.
func (r *reader) differ(q *question) {
	if !r.own && !q.Labels {
		return
	}
	for i, at := range q.place {
		if at < 0 {
			continue
		}
		_, classes := q.data.Answers(int(at))
		for _, c := range classes[1:] {
			if c != classes[0] {
				r.out.lines[i].differ = true
			}
		}
	}
}

// Whole is what a method makes of the answers as they are compared while a batch runs.
type Whole struct {
	Learnt  *label.Result     // nil: there is no answer
	Blind   *label.Result     // without learning from what is known; it may be Learnt
	Truth   label.Truth       // what is known
	Workers map[string]Worker // by their ids in the data
	Taught  map[crowd.WorkerID]Taught
}

// Worker is who has answered, before it is known who sees them.
type Worker struct {
	ID        crowd.WorkerID
	Name      string
	BlockedBy []crowd.TenantID
	// OnlyTaught is whether they have answered lessons and nothing else that counts: they are not in the data.
	OnlyTaught bool
}

// Whole combines a batch's answers, for a use case that has checked who asks.
func (s *Results) Whole(ctx context.Context, b *store.Batch, method string) (*Whole, error) {
	if !b.AnswersDeletedAt.IsZero() {
		return nil, AnswersDeleted(b)
	}
	f, err := s.fitted(ctx, b, method)
	if err != nil {
		return nil, err
	}
	workers, err := s.workers(ctx, f.data)
	for who := range f.data.taught {
		if _, there := workers[who.String()]; there || err != nil {
			continue
		}
		var u store.User
		u, err = s.store.User(ctx, who)
		if err == nil {
			workers[who.String()] = Worker{ID: who, Name: u.Name, BlockedBy: u.BlockedBy, OnlyTaught: true}
		}
	}
	return &Whole{Learnt: f.whole[0], Blind: f.whole[1], Truth: f.data.whole.gold, Workers: workers, Taught: f.data.taught}, err
}

// size is about how many bytes the data takes.
func (d *data) size() int {
	n := 100 * len(d.lines)
	for _, list := range d.gave {
		n += 50 + 4*cap(list)
	}
	for i := range d.questions {
		n += 4*len(d.lines) + 12*d.answers + 60*len(d.questions[i].data.Tasks())
		for _, c := range d.questions[i].data.Classes() {
			n += 16 + len(c)
		}
	}
	return n
}

// task is the id of a line's task.
func (f *fit) task(line int32) crowd.TaskID { return f.batch.Spec.ID.Task(f.data.lines[line].n) }
