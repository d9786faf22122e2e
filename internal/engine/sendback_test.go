package engine_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/label"
)

// reviewedTask reads what the engine has to know of the task whose label is reviewed.
func (s *store) reviewedTask(review crowd.TaskID) engine.AnsweredTask {
	t := engine.AnsweredTask{Review: review}
	task := s.reviews[review]
	if task == 0 {
		return t
	}
	t.N = task.N()
	l, labelled := s.labels[task]
	if !labelled {
		return t
	}
	t.Label, t.SentBackBy = &l, slices.Clone(s.sentBack[task])
	for _, r := range s.rows {
		if r.Task == task {
			t.Assignments = append(t.Assignments, *r)
		}
	}
	slices.SortFunc(t.Assignments, func(x, y engine.AssignmentSnapshot) int { return cmp.Compare(x.ID, y.ID) })
	return t
}

// sentBacks is what a reviewWorld notes of labels that are sent back.
type sentBacks struct {
	by   map[crowd.TaskID][]crowd.WorkerID // who must not be given a task, until it has a label: who sent it back, and who answered it before
	seen map[string]int
}

// enter checks what must hold of labels that are sent back. The rows have been kept already.
func (s *sentBacks) enter(w *reviewWorld, c *engine.Changes) error {
	if s.by == nil {
		s.by, s.seen = make(map[crowd.TaskID][]crowd.WorkerID), make(map[string]int)
	}
	out := make(map[crowd.AssignmentID]bool, len(c.Disregarded))
	for _, x := range c.Disregarded {
		out[x.Assignment] = true
	}
	for _, x := range c.SentBack {
		r := w.kept.rows[x.Assignment]
		verdict := slices.IndexFunc(c.Answers, func(a engine.Answer) bool { return a.Assignment == x.Assignment })
		if r.Worker != x.By || r.Task != x.Review || w.of[x.Review] != x.Task || !out[x.Assignment] || verdict < 0 || x.Comment != "look again" || c.Answers[verdict].SendBack != x.Comment {
			return fmt.Errorf("%+v is of %+v, of a review of %s; disregarded: %t", x, r, w.of[x.Review], out[x.Assignment])
		}
		if c.Answers[verdict].Paid != w.reviews.Reward {
			return fmt.Errorf("the review of %s is paid %s", x.Task, c.Answers[verdict].Paid)
		}
		gone := slices.ContainsFunc(c.Unlabelled, func(u engine.Unlabelled) bool { return u.Task == x.Task })
		told := slices.ContainsFunc(c.Notes, func(n engine.TaskNote) bool {
			return n.Task == x.Task && n.By == x.By && n.ByReviewer && n.Text == x.Comment
		})
		if gone != x.Acts || told != x.Acts {
			return fmt.Errorf("%+v: the label is withdrawn: %t, and its comment told: %t", x, gone, told)
		}
		if !x.Acts {
			s.seen["kept"]++
			continue
		}
		s.seen["acts"]++
		if c.Answers[verdict].Kept {
			s.seen["acts after a grace"]++
		}
		s.by[x.Task] = append(s.by[x.Task], x.By)
		if n := len(w.kept.sentBack[x.Task]); n == engine.MaxSendBacks {
			s.seen["twice"]++
		} else if n > engine.MaxSendBacks {
			return fmt.Errorf("%s is sent back %d times", x.Task, n)
		}
		for _, r := range w.kept.rows {
			if r.Task != x.Task || !r.State.Answered() {
				continue
			}
			if r.Counted && !r.Disregarded {
				return fmt.Errorf("%s counts yet, and the label is sent back", r.ID)
			}
			if s.by[x.Task] = append(s.by[x.Task], r.Worker); !r.Counted {
				s.seen["late meanwhile"]++
			}
		}
	}
	for _, h := range c.Handouts {
		if people, asked := s.by[h.Task]; asked {
			s.seen["asked again"]++
			if slices.Contains(people, h.Worker) {
				return fmt.Errorf("%s is given %s again, after %v", h.Worker, h.Task, people)
			}
		}
	}
	for _, l := range c.Labels {
		if s.by[l.Task] != nil {
			s.seen["labelled again"]++
			if slices.ContainsFunc(c.Reviews, func(x engine.ReviewAsked) bool { return x.Task == l.Task }) {
				s.seen["reviewed again"]++
			}
		}
	}
	return nil
}

// sendBack has somebody send the label back whose review they hold.
func (w *reviewWorld) sendBack(who crowd.WorkerID) error {
	h, holds := w.e.Holds(who)
	if !holds || h.Task.Batch() != 2 {
		return nil
	}
	x := engine.SendBack{Comment: "look again", Of: w.kept.reviewedTask(h.Task), Settled: w.e.Settled(1)}
	out, err := w.e.SendBack(w.now, who, h.Assignment, "{}", x)
	if err == nil && out.CountsAt.IsZero() && (!out.Counted || out.Paid != w.reviews.Reward) {
		return fmt.Errorf("the review of %s came to %+v", h.Task, out)
	}
	if code := crowd.CodeOf(err); code == crowd.Conflict || code == crowd.BudgetTooSmall {
		w.back.seen["refused"]++
		if again, still := w.e.Holds(who); !still || again.Assignment != h.Assignment {
			return fmt.Errorf("%s holds %s no more, though %w", who, h.Assignment, err)
		}
		return nil
	}
	if h.Assignment.N()%8 == 0 { // staff correct it; a restart forgets that here
		w.e.DecideLabel(w.mine.ID.Task(x.Of.N), true)
	}
	return err
}

// paid checks that a batch has paid each answer that counted when it came, and nothing else.
func (w *reviewWorld) paid(id crowd.BatchID) error {
	sum, spec := crowd.Money(0), w.kept.specs[id]
	for _, r := range w.kept.rows {
		if r.ID.Batch() == id && r.Counted {
			sum += spec.Reward
		}
	}
	if p := w.kept.progress[id]; p.Spent != sum {
		return fmt.Errorf("%s has spent %s, and its answers are paid %s", id, p.Spent, sum)
	}
	return nil
}

// do has somebody answer what they are given next, or hold it where key is "".
func (w *reviewWorld) do(t *testing.T, who crowd.WorkerID, key string) engine.Handout {
	t.Helper()
	h, ok, err := w.e.Ready(w.now, who)
	if err != nil || !ok {
		t.Fatalf("%s gets nothing: %v", who, err)
	}
	if key != "" {
		_, err = w.e.Submit(w.now, who, h.Assignment, key, key)
		must(t, err)
	}
	must(t, w.take())
	return h
}

// verdict is what a reviewer says who holds h.
func (w *reviewWorld) verdict(h engine.Handout) engine.SendBack {
	return engine.SendBack{Comment: "look again", Of: w.kept.reviewedTask(h.Task), Settled: w.e.Settled(1)}
}

// TestWhatIsSentBackIsForOthers: not for who answered the task, nor for who sent it back, though they had it before
// and gave it back, and also after a restart.
func TestWhatIsSentBackIsForOthers(t *testing.T) {
	t.Parallel()
	for _, restart := range []bool{false, true} {
		w := newReviewWorldOf(t, engine.Review{Share: 1}, label.Count(1), func(s *engine.Spec) { s.Tasks = 2 })
		h := w.do(t, 2, "")
		must(t, w.e.Return(w.now, 2, h.Assignment)) // it may come back to them
		must(t, w.take())
		if got := w.do(t, 1, "yes"); got.Task != h.Task {
			t.Fatalf("%s was answered, want %s", got.Task, h.Task)
		}
		review := w.do(t, 2, "")
		if w.of[review.Task] != h.Task {
			t.Fatalf("who gave it back got %s", review.Task)
		}
		_, err := w.e.SendBack(w.now, 2, review.Assignment, "{}", w.verdict(review))
		must(t, err)
		must(t, w.take())
		if restart {
			w.restart(t)
		}
		for _, who := range []crowd.WorkerID{1, 2} { // the other task, and then nothing
			if got := w.do(t, who, ""); got.Task == h.Task {
				t.Errorf("restart %t: %s is given the task again", restart, who)
			} else {
				must(t, w.e.Skip(w.now, who, got.Assignment))
				must(t, w.take())
			}
			if got, ok, err := w.e.Ready(w.now, who); ok || err != nil {
				t.Errorf("restart %t: %s is given %s, %v", restart, who, got.Task, err)
			}
		}
		if why, err := w.e.WhyWorker(2); err != nil || why[crowd.AnsweredElsewhere] == 0 {
			t.Errorf("who sent it back gets nothing for %v, %v", why, err)
		}
		if got := w.do(t, 3, "no"); got.Task != h.Task || w.kept.labels[h.Task].Value != "no" {
			t.Errorf("restart %t: somebody else is given %s, and the label is %+v", restart, got.Task, w.kept.labels[h.Task])
		}
	}
}

// TestSentBackAndTakenOut: a task that was sent back, asked again, and then taken out keeps nobody from anything, also
// after a restart.
func TestSentBackAndTakenOut(t *testing.T) {
	t.Parallel()
	w := newReviewWorldOf(t, engine.Review{Share: 1}, label.Count(2), func(s *engine.Spec) { s.Tasks = 2 })
	first := w.do(t, 5, "yes").Task // it stays open, so what was handed out since is read by a restart
	gets := func(who crowd.WorkerID, is func(crowd.TaskID) bool) engine.Handout {
		h := w.do(t, who, "")
		for !is(h.Task) {
			must(t, w.e.Skip(w.now, who, h.Assignment))
			must(t, w.take())
			h = w.do(t, who, "")
		}
		return h
	}
	answers := func(who crowd.WorkerID) (task crowd.TaskID) { // the other task
		h := gets(who, func(id crowd.TaskID) bool { return id.Batch() == 1 && id != first })
		_, err := w.e.Submit(w.now, who, h.Assignment, "yes", "yes")
		must(t, err)
		must(t, w.take())
		return h.Task
	}
	task := answers(1)
	answers(3)
	review := gets(2, func(id crowd.TaskID) bool { return w.of[id] == task })
	_, err := w.e.SendBack(w.now, 2, review.Assignment, "{}", w.verdict(review))
	must(t, err)
	must(t, w.take())
	answers(4)
	must(t, w.e.Remove(w.now, 1, task.N()))
	must(t, w.take())
	must(t, w.e.Check())
	w.restart(t)
	must(t, w.e.Check())
}

// TestALabelIsNotSentBack where it makes no sense, or costs more than there is, and the reviewer still holds the review.
func TestALabelIsNotSentBack(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		spec   func(mine *engine.Spec)
		before func(w *reviewWorld)
		say    func(x *engine.SendBack)
		want   string
		code   crowd.Code
	}{
		"decided":   {say: func(x *engine.SendBack) { x.Of.Decided = true }, want: "somebody has decided meanwhile", code: crowd.Conflict},
		"too often": {say: func(x *engine.SendBack) { x.Of.SentBackBy = []crowd.WorkerID{3, 4} }, want: "2 labels of this task were sent back before", code: crowd.Conflict},
		"ended":     {before: func(w *reviewWorld) { _ = w.e.End(w.now, 1) }, want: "b1 has ended, and nobody is asked again", code: crowd.Conflict},
		"stale":     {say: func(x *engine.SendBack) { x.Settled++ }, want: engine.ErrSettled.Message, code: crowd.Conflict},
		"withdrawn": {before: func(w *reviewWorld) {
			_, _ = w.e.Disregard(w.now, 1, engine.Disregard{Worker: 1, Settled: w.e.Settled(1), Reserve: crowd.Unit, Tasks: w.reviewedBy(1)})
		}, want: "the label was withdrawn meanwhile", code: crowd.Conflict},
		"no money":              {spec: func(s *engine.Spec) { s.Budget = 3 * s.Reward }, want: "b1 has no money to ask again: accept the label or answer the task", code: crowd.BudgetTooSmall},
		"no money for a review": {want: "b2 has no money for a further review: accept the label or answer the task", code: crowd.BudgetTooSmall},
	} {
		w := newReviewWorldOf(t, engine.Review{Share: 1}, label.Count(1), func(s *engine.Spec) {
			s.Tasks = 3
			if x.spec != nil {
				x.spec(s)
			}
		})
		if name == "no money for a review" {
			w = poorReviews(t)
		}
		w.do(t, 1, "yes")
		h := w.do(t, 2, "")
		if h.Task.Batch() != 2 {
			t.Fatalf("%s: no review, but %s", name, h.Task)
		}
		said := w.verdict(h)
		if x.before != nil {
			x.before(w)
			said.Settled = w.e.Settled(1)
		}
		if x.say != nil {
			x.say(&said)
		}
		must(t, w.take())
		money := w.gone[2]
		_, err := w.e.SendBack(w.now, 2, h.Assignment, "{}", said)
		if crowd.CodeOf(err) != x.code || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %s: %s", name, err, x.code, x.want)
		}
		if held, ok := w.e.Holds(2); !ok || held.Assignment != h.Assignment {
			t.Errorf("%s: they hold %+v", name, held)
		}
		must(t, w.take())
		if w.gone[2] != money || len(w.kept.sentBack) > 0 {
			t.Errorf("%s: half of it is done", name)
		}
	}
	w := newReviewWorldOf(t, engine.Review{Share: 1}, label.Count(1), func(s *engine.Spec) { s.Tasks = 2 })
	h := w.do(t, 1, "")
	if _, err := w.e.SendBack(w.now, 1, h.Assignment, "{}", engine.SendBack{Comment: "x"}); crowd.CodeOf(err) != crowd.Invalid {
		t.Errorf("a task that is no review is sent back: %v", err)
	}
	if _, err := w.e.SendBack(w.now, 2, h.Assignment, "{}", engine.SendBack{Comment: "x"}); crowd.CodeOf(err) != crowd.NotFound {
		t.Errorf("somebody else's task is sent back: %v", err)
	}
}

// reviewedBy lists what somebody answered to b1, with the reviews of the labels.
func (w *reviewWorld) reviewedBy(who crowd.WorkerID) []engine.AnsweredTask {
	list := w.kept.answeredBy(1, who)
	for i := range list {
		list[i].Review = w.asked[w.mine.ID.Task(list[i].N)].Review
	}
	return list
}

// poorReviews is a world whose reviews can be paid once.
func poorReviews(t *testing.T) *reviewWorld {
	t.Helper()
	return newReviewWorldAt(t, engine.Review{Share: 1}, label.Count(1), func(s *engine.Spec) { s.Tasks = 3 }, func(r *engine.Spec) { r.Budget = r.Reward })
}

// TestAVerdictWithinItsGrace acts when it comes to count, as things are then; taken back it never does.
func TestAVerdictWithinItsGrace(t *testing.T) {
	t.Parallel()
	late := func(w *reviewWorld) { // an answer to the task that the engine has forgotten
		for _, r := range w.kept.rows {
			if r.Worker == 5 {
				w.e.KeepLate(w.now, 5, r.ID, "late", "late")
			}
		}
	}
	for name, x := range map[string]struct {
		meanwhile func(w *reviewWorld)
		acts      bool
		says      bool
	}{
		"nothing": {func(*reviewWorld) {}, true, true},
		"late":    {late, true, true},
		"erased": {func(w *reviewWorld) {
			w.e.ReplaceKey(w.kept.reviewedTask(crowd.BatchID(2).Task(1)).Assignments[1].ID, "other")
		}, true, true},
		"corrected": {func(w *reviewWorld) { w.e.DecideLabel(w.mine.ID.Task(1), true) }, false, true},
		"corrected, and taken back": {func(w *reviewWorld) {
			w.e.DecideLabel(w.mine.ID.Task(1), true)
			w.e.DecideLabel(w.mine.ID.Task(1), false)
		}, true, true},
		"ended": {func(w *reviewWorld) { _ = w.e.End(w.now, 1) }, false, true},
		"spent": {func(w *reviewWorld) {
			_ = w.e.Edit(w.now, 1, engine.Edit{Release: true})
		}, false, true},
		"withdrawn": {func(w *reviewWorld) {
			_, err := w.e.Disregard(w.now, 1, engine.Disregard{Worker: 1, Settled: w.e.Settled(1), Reserve: crowd.Unit, Tasks: w.reviewedBy(1)})
			if err != nil {
				panic(err)
			}
		}, false, false},
		"taken back": {func(w *reviewWorld) {
			if _, a, err := w.e.Undo(w.now, 2, w.e.Undoable(2)[0].Assignment); err != nil || a.SendBack != "look again" {
				panic(fmt.Sprint(a, err))
			}
		}, false, false},
	} {
		for _, restart := range []bool{false, true} {
			w := newReviewWorldOf(t, engine.Review{Share: 1}, label.Count(1), func(s *engine.Spec) { s.Tasks, s.Grace = 3, 2*time.Hour })
			w.do(t, 5, "") // runs out
			w.now = w.now.Add(90 * time.Minute)
			w.e.Tick(w.now)
			w.do(t, 1, "yes")
			w.now = w.now.Add(3 * time.Hour)
			w.e.Tick(w.now)
			must(t, w.take())
			h := w.do(t, 2, "")
			if h.Task.Batch() != 2 || len(w.kept.labels) != 1 {
				t.Fatalf("%s: no review, but %s", name, h.Task)
			}
			out, err := w.e.SendBack(w.now, 2, h.Assignment, "{}", w.verdict(h))
			must(t, err)
			must(t, w.take())
			if out.CountsAt.IsZero() || w.kept.labels[w.mine.ID.Task(1)].Value != "yes" || len(w.kept.sentBack) > 0 || w.gone[2] != w.reviews.Budget {
				t.Fatalf("%s: within its grace it came to %+v", name, out)
			}
			if again, err := w.e.SendBack(w.now, 2, h.Assignment, "{}", w.verdict(h)); err != nil || !again.Duplicate {
				t.Errorf("%s: said twice: %+v, %v", name, again, err)
			}
			if restart && name != "corrected" && name != "corrected, and taken back" && name != "erased" { // which this store is not told
				x.meanwhile(w)
				must(t, w.take())
				w.restart(t)
			} else {
				x.meanwhile(w)
				must(t, w.take())
			}
			w.now = w.now.Add(3 * time.Hour)
			w.e.Tick(w.now)
			must(t, w.take())
			seen := w.back.seen
			if acts := seen["acts"] == 1; acts != x.acts || x.says != (seen["acts"]+seen["kept"] == 1) {
				t.Errorf("%s, restart %t: it came to %v", name, restart, seen)
			}
			l := w.kept.labels[w.mine.ID.Task(1)]
			if withdrawn := l.Task == 0; withdrawn != (x.acts || name == "withdrawn") {
				t.Errorf("%s, restart %t: the label is %+v", name, restart, l)
			}
			if spent := w.reviews.Budget - w.gone[2]; spent != w.reviews.Reward && name != "taken back" && name != "ended" {
				t.Errorf("%s, restart %t: the review is paid %s", name, restart, spent)
			}
		}
	}
}

// TestASentBackLabelIsTheSameAfterARestart: an engine that goes on from the store makes the same labels of the same
// answers as the one before, whatever the rule.
func TestASentBackLabelIsTheSameAfterARestart(t *testing.T) {
	t.Parallel()
	for _, rule := range []label.Rule{label.Count(1), label.Agree(2, 3), label.Until(0.7, 2, 5).WithClasses(2)} {
		ends, only := make([]map[crowd.TaskID]engine.Label, 2), crowd.TaskID(0)
		for i := range ends {
			w := newReviewWorldOf(t, engine.Review{Share: 1}, rule, func(s *engine.Spec) { s.Tasks = 16 })
			back, backs := 0, 2
			only = 0
			if rule.FollowsAnswers() { // of another order of tasks it learns otherwise
				backs = 1
			}
			work := func(who crowd.WorkerID, tasks int) { // of b1, and reviews as long as labels are to be sent back
				for n := 0; n < tasks; {
					h, ok, err := w.e.Ready(w.now, who)
					must(t, err)
					if !ok {
						w.e.Leave(w.now, who)
						return
					}
					key := []string{"no", "yes", "yes"}[(int(h.Task.N())+int(who))%3]
					switch {
					case h.Task.Batch() == 1 && who != 6 && (only == 0 || only == h.Task):
						n++
						_, err = w.e.Submit(w.now, who, h.Assignment, key, key)
					case h.Task.Batch() == 2 && who == 6 && back < backs:
						back++
						_, err = w.e.SendBack(w.now, who, h.Assignment, "{}", w.verdict(h))
					default:
						err = w.e.Skip(w.now, who, h.Assignment)
					}
					must(t, err)
					must(t, w.take())
					if i == 1 && (!rule.FollowsAnswers() || h.Task.Batch() == 2 && who == 6) { // a model is made anew with it, as by a restart
						w.restart(t)
					}
				}
			}
			first := 4
			if rule.FollowsAnswers() { // it takes more to be sure
				first = 12
			}
			for who := range crowd.WorkerID(3) {
				work(who+1, first)
			}
			work(6, 1)
			if back != backs {
				t.Fatalf("%s: %d labels were sent back, of %v", rule, back, w.kept.labels)
			}
			for task := range w.kept.sentBack {
				if rule.FollowsAnswers() {
					only = task
				}
			}
			for _, who := range []crowd.WorkerID{4, 5, 3, 2, 1} {
				work(who, 20)
			}
			ends[i] = w.kept.labels
		}
		if len(ends[0]) < 4 || len(ends[0]) != len(ends[1]) && !rule.FollowsAnswers() {
			t.Errorf("%s: %d labels with restarts, %d without", rule, len(ends[1]), len(ends[0]))
		}
		for id, l := range ends[0] {
			near := 1e-9
			if rule.FollowsAnswers() { // other tasks are sure by what is learnt from it, and a restart learns near that
				if near = 0.1; id != only {
					continue
				}
			}
			if x := ends[1][id]; x.Value != l.Value || math.Abs(x.Confidence-l.Confidence) > near || x.Answers != l.Answers {
				t.Errorf("%s: with restarts %s is %+v, and without %+v", rule, id, x, l)
			}
		}
	}
}
