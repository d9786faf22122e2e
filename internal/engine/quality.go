package engine

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/label"
)

// Action is what a quality rule did.
type Action struct {
	Batch   crowd.BatchID
	N       uint32 // among those in the batch, from 1
	Worker  crowd.WorkerID
	At      time.Time
	Rule    int // from 1
	When    string
	Kind    ActionKind
	Text    string       // of a warning; or how many lessons there were to give
	Lessons int          // that somebody is given by it, or after it was undone, was
	Weight  label.Weight // that their answers have at most by it; 0: it lowers none
	Figures Figures
	Undoing
}

// Undoing is how an action was undone.
type Undoing struct {
	UndoneAt time.Time // zero: it was not
	UndoneBy crowd.WorkerID
	// From is the number of the first assignment in the batch that counts for the person's
	// figures from then on, and After the actions that the batch had then: later ones count.
	From, After uint32
}

// ActionUndone says that an action was undone.
type ActionUndone struct {
	Batch   crowd.BatchID
	N       uint32
	Lessons int // what is left of Action.Lessons
	Undoing
}

// Standing is what is kept of somebody's answers to a batch with quality rules: those that counted when they
// came, of assignments from the latest Undoing.From on.
type Standing struct {
	Worker   crowd.WorkerID
	Answers  int
	Took     time.Duration // in all, in whole microseconds each
	Labelled int           // answers to tasks with labels, but for checks
	Agreed   int           // of them, those that are the label
}

// quality is what a batch with rules knows of people.
type quality struct {
	rules []qualityRule
	of    map[crowd.WorkerID]*standing
	acts  []act
	light map[crowd.WorkerID]label.Weight // of those whose answers count less than in full
}

// act is an action, as far as it is needed to undo it.
type act struct {
	worker  crowd.WorkerID
	undone  bool
	lessons int
	weight  label.Weight // 0: it lowers none
}

// standing is what the rules of a batch know of somebody.
type standing struct {
	QualityCounts
	from    uint32 // number of the first assignment that counts
	acted   uint32 // a bit for each rule
	paused  uint32 // the number of the action that paused them; 0: they are not
	changed bool   // they are in Engine.assessed
}

// assessed names somebody whose figures have changed.
type assessed struct {
	batch  crowd.BatchID
	worker crowd.WorkerID
}

// useQuality begins the rules of a batch, which are valid.
func (b *batch) useQuality() {
	if len(b.spec.Quality) == 0 {
		return
	}
	rules, err := compileQuality(b.spec.Quality, b.spec.Checks != nil)
	if err != nil {
		panic("engine: " + err.Error())
	}
	b.quality = &quality{rules: rules, of: make(map[crowd.WorkerID]*standing), light: make(map[crowd.WorkerID]label.Weight)}
}

// paused reports whether a rule keeps somebody from a batch.
func (q *quality) paused(w crowd.WorkerID) bool {
	if q == nil {
		return false
	}
	s := q.of[w]
	return s != nil && s.paused > 0
}

// pauses reports whether a rule keeps somebody from a batch: one of its own, or of the batch
// whose labels it reviews. Who is not trusted with answers is not asked whether others' are right.
func (b *batch) pauses(w crowd.WorkerID) bool { return b.quality.paused(w) || b.reviewed.paused(w) }

// person returns what is known of somebody.
func (q *quality) person(w crowd.WorkerID) *standing {
	s := q.of[w]
	if s == nil {
		s = &standing{QualityCounts: QualityCounts{Standing: Standing{Worker: w}}}
		q.of[w] = s
	}
	return s
}

// assess says that somebody's figures have changed.
func (e *Engine) assess(b *batch, s *standing) {
	if !s.changed {
		s.changed = true
		e.assessed = append(e.assessed, assessed{b.spec.ID, s.Worker})
	}
}

// noteAnswer enters an answer that counts, which came at a time, for the rules of its batch.
func (e *Engine) noteAnswer(a *assignment, at time.Time) {
	b := a.task.batch
	s := b.quality.person(a.worker.id)
	if a.n < s.from {
		return
	}
	s.Answer(a.at, at, b.spec.Lease)
	if a.task.isCheck {
		s.Check(a.key == b.backlog.known[a.task.n])
	}
	e.assess(b, s)
}

// noteLabel enters that a task has its label, for the rules of its batch, or with n = -1 that this is
// withdrawn. What somebody has shown stays so if their answers are disregarded.
func (e *Engine) noteLabel(t *task, value string, n int) {
	q := t.batch.quality
	for _, a := range t.given {
		if !a.counted {
			continue
		}
		s := q.person(a.worker.id)
		if a.n < s.from {
			continue
		}
		s.Label(a.key == value, n)
		e.assess(t.batch, s)
	}
}

// applyRules has the rules of batches act on those whose figures have changed.
func (e *Engine) applyRules(now time.Time) {
	for _, x := range e.assessed {
		b := e.batches[x.batch]
		if b == nil || !b.state.Open() || b.quality == nil {
			continue
		}
		s := b.quality.person(x.worker)
		s.changed = false
		f := s.Figures()
		values := f.values()
		for i := range b.quality.rules {
			r := &b.quality.rules[i]
			if s.acted&(1<<i) != 0 || r.do == PausePerson && s.paused > 0 || r.do == LowerWeight && r.weight >= b.quality.weightOf(x.worker) {
				continue
			}
			holds, err := r.when.Eval(values)
			if err != nil { // every name has its value
				panic("engine: " + err.Error())
			}
			if !holds {
				continue
			}
			s.acted |= 1 << i
			done := act{worker: x.worker}
			n, text := uint32(len(b.quality.acts)+1), r.text
			switch r.do {
			case PausePerson:
				s.paused = n
			case Train:
				done.lessons, text = b.checks.grant(x.worker, r.lessons)
			case LowerWeight:
				done.weight = r.weight
			}
			b.quality.acts = append(b.quality.acts, done)
			if done.weight > 0 {
				e.reweigh(b, x.worker)
			}
			e.changes.Actions = append(e.changes.Actions, Action{
				Batch: x.batch, N: n, Worker: x.worker, At: now, Rule: i + 1, When: r.When, Kind: r.do, Text: text, Lessons: done.lessons, Weight: done.weight, Figures: f,
			})
		}
	}
	e.assessed = emptied(e.assessed)
}

// UndoAction undoes what a rule of a running batch did to somebody: whoever it paused may get tasks of the
// batch again, a warning that they have not seen is not shown, lessons that they were not given yet are
// not, and answers whose weight it lowered have the least that other actions gave them, or count in full. They
// start anew: their figures begin at nothing, and all rules may act on them again. by is who undoes it.
func (e *Engine) UndoAction(now time.Time, id crowd.BatchID, n uint32, by crowd.WorkerID) error {
	b, err := e.launched(id)
	if err != nil {
		return err
	}
	q := b.quality
	if q == nil || n < 1 || int(n) > len(q.acts) {
		return &crowd.Error{Code: crowd.NotFound, Field: "action", Message: fmt.Sprintf("%s has no action %d", id, n)}
	}
	done := &q.acts[n-1]
	if done.undone {
		return crowd.Errorf(crowd.Conflict, "action %d was undone before", n)
	}
	done.undone = true
	if done.lessons > 0 {
		done.lessons -= b.checks.withdraw(done.worker, done.lessons)
	}
	u := Undoing{UndoneAt: now, UndoneBy: by, From: b.log.next(), After: uint32(len(q.acts))}
	q.person(done.worker).startAnew(n, &u)
	if done.weight > 0 {
		e.reweigh(b, done.worker)
	}
	e.changes.Undoings = append(e.changes.Undoings, ActionUndone{Batch: id, N: n, Lessons: done.lessons, Undoing: u})
	e.mayServe(b)
	if r := e.batches[b.reviewedIn]; r != nil {
		e.mayServe(r)
	}
	e.run(now)
	return nil
}

// startAnew forgets what s has shown, as action n was undone.
func (s *standing) startAnew(n uint32, u *Undoing) {
	paused, changed := s.paused, s.changed
	if paused == n {
		paused = 0
	}
	*s = standing{QualityCounts: QualityCounts{Standing: Standing{Worker: s.Worker}}, from: u.From, paused: paused, changed: changed}
}

// restoreQuality takes in what the rules of a batch did, and what they go by.
func (b *batch) restoreQuality(s *BatchSnapshot) error {
	q := b.quality
	if q == nil {
		if len(s.Actions) > 0 {
			return errors.New("it has no quality rules, but these have acted")
		}
		return nil
	}
	restarts := make(map[crowd.WorkerID]*Undoing) // the latest
	for i := range s.Actions {
		a := &s.Actions[i]
		if int(a.N) != i+1 || a.Rule < 1 || a.Rule > len(q.rules) {
			return fmt.Errorf("action %d, of rule %d, is out of order", a.N, a.Rule)
		}
		q.acts = append(q.acts, act{worker: a.Worker, undone: !a.UndoneAt.IsZero(), lessons: a.Lessons, weight: a.Weight})
		if a.Lessons > 0 {
			b.checks.record(a.Worker).granted += a.Lessons
		}
		if last := restarts[a.Worker]; !a.UndoneAt.IsZero() && (last == nil || a.From > last.From || a.From == last.From && a.After > last.After) {
			restarts[a.Worker] = &a.Undoing
		}
	}
	for i := range s.Actions {
		a := &s.Actions[i]
		q.weigh(a.Worker)
		p, last := q.person(a.Worker), restarts[a.Worker]
		if last != nil {
			p.from = last.From
		}
		if last == nil || a.N > last.After {
			p.acted |= 1 << (a.Rule - 1)
		}
		if a.Kind == PausePerson && a.UndoneAt.IsZero() {
			p.paused = a.N
		}
	}
	for _, x := range s.Standings {
		q.person(x.Worker).Standing = x
	}
	for _, x := range s.Checked {
		if p := q.person(x.Worker); x.Counted && x.Assignment.N() >= p.from && !b.checks.teaches(x.N) {
			p.Check(x.Right)
		}
	}
	return nil
}

// Acted is what the rules of a running batch know of somebody.
type Acted struct {
	Worker  crowd.WorkerID
	Figures Figures
	Paused  uint32 // the number of the action that paused them; 0: they are not
	Weight  label.Weight
}

// Figures lists what the quality rules of a running batch know of those who have answered or
// were acted on, in order of their ids.
func (e *Engine) Figures(id crowd.BatchID) []Acted {
	b := e.batches[id]
	if b == nil || b.quality == nil {
		return nil
	}
	list := make([]Acted, 0, len(b.quality.of))
	for _, w := range slices.SortedFunc(maps.Keys(b.quality.of), cmp.Compare[crowd.WorkerID]) {
		s := b.quality.of[w]
		if s.Answers > 0 || s.acted > 0 || s.from > 0 || s.paused > 0 {
			list = append(list, Acted{w, s.Figures(), s.paused, b.quality.weightOf(w)})
		}
	}
	return list
}
