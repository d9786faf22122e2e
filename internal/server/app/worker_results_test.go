package app_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/pseudonym"
	"github.com/throng-dev/throng/internal/server/results"
)

func workerResults(s *scene, p *access.Principal) error {
	id := s.warned(s.workers[0])
	return second(s.Results.Worker(s.ctx, p, id, results.WorkerQuery{Worker: s.pseudonym(s.a, s.workers[0]), Limit: 1}))
}

// workerOf is a worker's part in a batch, as ann sees it.
func (w *world) workerOf(id crowd.BatchID, who *access.Principal, q results.WorkerQuery) *results.WorkerView {
	w.t.Helper()
	if q.Worker = w.pseudonym(w.a, who); q.Limit == 0 {
		q.Limit = results.MaxPage
	}
	return must(w.Results.Worker(w.ctx, w.ann, id, q))(w.t)
}

// TestWorkerOfABatch follows somebody who begins to be wrong until a rule pauses them: their figures are those by which
// the rule acted, and begin anew when it is undone.
func TestWorkerOfABatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	id := w.draft(0, halfChecks, ruled(engine.QualityRule{When: "drift > 2", Do: "pause"}, engine.QualityRule{When: "wrong > 0", Do: `warn "look twice"`}))
	must(w.Batches.Upload(w.ctx, w.ann, id, knownAndOthers(30, 60), batches.Upload{}))(t)
	must(w.Batches.Launch(w.ctx, w.ann, id, false))(t)
	who := w.workers[0]
	work := func(n int, answer json.RawMessage) (answers int) {
		for ; answers < n; answers++ {
			held := must(w.Work.Next(w.ctx, who, 0))(t)
			if held == nil {
				break
			}
			w.clock.advance(10 * time.Second)
			must(w.submit(who, held.Assignment, answer))(t)
		}
		return answers
	}
	good := work(12, yes)
	w.killed()
	all := good + work(40, no)
	if good != 12 || all == 52 {
		t.Fatalf("they gave %d and %d answers", good, all)
	}
	for range 20 {
		other := w.workers[1]
		must(w.submit(other, w.next(other).Assignment, yes))(t)
	}
	actions, _, err := w.Batches.QualityActions(w.ctx, w.ann, id, 0, 9)
	ok(t, err)
	v := w.workerOf(id, who, results.WorkerQuery{})
	if pause := actions[1]; pause.Kind != engine.PausePerson || v.Paused != pause.N || len(v.Actions) != 2 || v.Actions[1].Worker != 0 || !reflect.DeepEqual(v.Figures.Drift, pause.Figures.Drift) ||
		v.Figures.Checks != pause.Figures.Checks || v.Figures.Wrong != pause.Figures.Wrong || *v.Figures.AccuracyLow != *pause.Figures.AccuracyLow || *v.Figures.Seconds != *pause.Figures.Seconds || v.Figures.Answers != pause.Figures.Answers {
		t.Errorf("figures %s, the rule went by %s; paused by %d", v.Figures, pause.Figures, v.Paused)
	}
	reward := must(w.store.Batch(w.ctx, 0, id))(t).Spec.Reward
	if v.Answers != all || v.Counted != all || v.Late != 0 || v.Paid != crowd.Money(all)*reward || v.Typical < 10*time.Second || v.Typical > 11*time.Second || v.By != (pseudonym.Worker{Pseudonym: w.pseudonym(w.a, who)}) {
		t.Errorf("%d answers, %d count, %d late, paid %s, typically in %s, by %+v", v.Answers, v.Counted, v.Late, v.Paid, v.Typical, v.By)
	}
	for _, x := range must(w.Batches.Quality(w.ctx, w.ann, id, ""))(t).Workers {
		if x.By == v.By {
			x.By = pseudonym.Worker{}
			if !reflect.DeepEqual(*v.Quality, x) {
				t.Errorf("quality %+v, in the table %+v", *v.Quality, x)
			}
		}
	}
	last := v.Course[len(v.Course)-1]
	if v.Compared != all || len(v.Course) != all || last.Answers != all || last.Drift != v.Figures.Drift || last.Checks != v.Figures.Checks || last.Right.Of != float64(v.Right)/float64(all) || v.Course[0].Right.Of != 1 ||
		last.Recent.Of >= last.Right.Of && all > results.CourseWindow || last.Right.Low >= last.Right.Of || !reflect.DeepEqual(v.Bounds, []float64{2}) {
		t.Errorf("the course ends with %+v of %d, bounds %v", last, len(v.Course), v.Bounds)
	}

	// The pages have each answer once, the latest first; those that are wrong are the rest of those that are right.
	var pages []crowd.AssignmentID
	for cursor := ""; ; {
		p := w.workerOf(id, who, results.WorkerQuery{Limit: 5, Cursor: cursor})
		for _, r := range p.Rows {
			pages = append(pages, r.Assignment)
		}
		if cursor = p.Next; cursor == "" {
			break
		}
	}
	var whole []crowd.AssignmentID
	for i, r := range v.Rows {
		whole = append(whole, r.Assignment)
		if i > 0 && r.EndedAt.After(v.Rows[i-1].EndedAt) {
			t.Errorf("answer %d came after the one before it", i)
		}
		known := strings.HasPrefix(r.Values[0], "known")
		if r.Label == nil || known != (r.Gold == "yes") || r.Right == nil || *r.Right != (r.Key == cmp.Or(r.Gold, r.Label.Value)) || r.Took() < 10*time.Second || !r.Counted {
			t.Errorf("an answer is %+v", r)
		}
	}
	if !reflect.DeepEqual(pages, whole) || len(whole) != all || v.Matching != all {
		t.Errorf("pages have %v, one has %v", pages, whole)
	}
	wrong := w.workerOf(id, who, results.WorkerQuery{Wrong: true})
	for _, r := range wrong.Rows {
		if *r.Right {
			t.Errorf("among the wrong ones is %+v", r)
		}
	}
	if len(wrong.Rows) != all-v.Right || wrong.Matching != len(wrong.Rows) || len(wrong.Rows) == 0 || len(wrong.Course) != all {
		t.Errorf("%d of %d are wrong, %d are listed", all-v.Right, all, len(wrong.Rows))
	}

	must(w.Batches.UndoQualityAction(w.ctx, w.ann, id, 1))(t)
	must(w.Batches.UndoQualityAction(w.ctx, w.ann, id, 2))(t)
	if v := w.workerOf(id, who, results.WorkerQuery{Limit: 1}); v.Paused != 0 || v.Figures != (engine.Figures{}) || len(v.Course) != all {
		t.Errorf("begun anew they have %s, paused by %d, and %d points", v.Figures, v.Paused, len(v.Course))
	}
	if work(1, yes) != 1 {
		t.Fatal("they are paused yet")
	}
	if v := w.workerOf(id, who, results.WorkerQuery{Limit: 1}); v.Figures.Answers != 1 || v.Answers != all+1 || v.Course[len(v.Course)-1].Drift != 0 {
		t.Errorf("after one more answer they have %s", v.Figures)
	}
	_, err = w.Results.Worker(w.ctx, w.ann, id, results.WorkerQuery{Worker: w.pseudonym(w.a, who), Limit: 1, Cursor: "999999"})
	refused(t, err, crowd.Invalid)
	_, err = w.Results.Worker(w.ctx, w.ann, id, results.WorkerQuery{Worker: w.pseudonym(w.a, who), Limit: 1, Method: "median"})
	refused(t, err, crowd.Invalid)
}

// TestWhatIsRight: an answer is right if it is what the label was corrected to, or else the known answer, or else the
// label. An answer to a task that was taken out stays in the list.
func TestWhatIsRight(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	id := w.answered(aliveFile, 3)
	truth := map[string]json.RawMessage{"a dog": yes, "a stone": no, "a cat": yes, "a virus": no, "a rock": no}
	for i := range 3 {
		w.answerAll(i, 4, func(thing string) json.RawMessage {
			if i == 2 {
				return yes
			}
			return truth[thing]
		})
	}
	right := func() string {
		list := make([]string, 0, 4)
		for _, r := range w.workerOf(id, w.workers[2], results.WorkerQuery{Method: "majority"}).Rows {
			list = append(list, fmt.Sprintf("%d %t", r.Task.N(), *r.Right))
		}
		return strings.Join(list, ", ")
	}
	if got := right(); got != "4 false, 3 true, 2 false, 1 true" {
		t.Error(got)
	}
	must(w.Results.Correct(w.ctx, w.ann, id.Task(2), "yes", ""))(t)
	must(w.Results.Correct(w.ctx, w.ann, id.Task(3), "no", ""))(t)
	if got := right(); got != "4 false, 3 false, 2 true, 1 true" {
		t.Error(got)
	}
	v := w.workerOf(id, w.workers[2], results.WorkerQuery{Method: "majority"})
	if v.Figures.Checks != 2 || v.Figures.Wrong != 1 || *v.Figures.Agreement != .5 || v.Quality.Gold != 2 || v.Quality.Right != 1 || !reflect.DeepEqual(v.Bounds, []float64{engine.DriftBound}) || !v.Rows[1].Corrected || v.Rows[0].Corrected {
		t.Errorf("figures %s, quality %+v, bounds %v", v.Figures, v.Quality, v.Bounds)
	}
	w.answerAll(2, 1, func(string) json.RawMessage { return yes })
	must(w.Batches.RemoveTask(w.ctx, w.ann, id.Task(5)))(t)
	v = w.workerOf(id, w.workers[2], results.WorkerQuery{Method: "majority"})
	if out := v.Rows[0]; out.Task != id.Task(5) || !out.TakenOut || out.Right != nil || out.Label != nil || out.Key != "" || out.EndedAt.IsZero() || v.Rows[1].TakenOut || v.Answers != 5 || v.Compared != 4 {
		t.Errorf("of a task that was taken out: %+v", out)
	}
}

// TestWorkersWhoAreNotThere: whoever answered nothing in the batch is answered as who does not exist, and so is
// an id to who sees no names.
func TestWorkersWhoAreNotThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	id, theirs := w.label(w.workers[0]).Batch(), w.launchedFor(w.b)
	ask := func(p *access.Principal, id crowd.BatchID, who string) error {
		_, err := w.Results.Worker(w.ctx, p, id, results.WorkerQuery{Worker: who, Limit: 1})
		return err
	}
	there := w.workers[0].User.ID.String()
	ok(t, ask(w.ann, id, w.pseudonym(w.a, w.workers[0])))
	ok(t, ask(w.admin, id, there))
	for _, x := range []struct {
		by  *access.Principal
		who string
	}{{w.ann, there}, {w.ann, w.pseudonym(w.b, w.workers[0])}, {w.ann, w.pseudonym(w.a, w.workers[1])}, {w.ann, "w_x"}, {w.ann, w.workers[0].User.Name}, {w.ann, ""},
		{w.admin, w.workers[1].User.ID.String()}, {w.admin, "u999"}, {w.admin, w.ann.User.ID.String()}} {
		if err := ask(x.by, id, x.who); err == nil || err.Error() != pseudonym.ErrNoWorker.Error() {
			t.Errorf("%s asks for %q: %v", x.by.User.Name, x.who, err)
		}
	}
	for _, none := range []crowd.BatchID{theirs, 999} {
		if err := ask(w.ann, none, w.pseudonym(w.a, w.workers[0])); err == nil || err.Error() != results.ErrBatch.Error() {
			t.Errorf("of %s: %v", none, err)
		}
	}
	draft := w.draft(1)
	if err := ask(w.ann, draft, w.pseudonym(w.a, w.workers[0])); err == nil || err.Error() != pseudonym.ErrNoWorker.Error() {
		t.Errorf("of a draft: %v", err)
	}
}

// TestTheCourseIsShort: of many answers a point stands for several, and has the highest drift among them.
func TestTheCourseIsShort(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	const all = 450
	id := w.draft(0)
	must(w.Batches.Upload(w.ctx, w.ann, id, knownAndOthers(all, 0), batches.Upload{}))(t)
	must(w.Batches.Launch(w.ctx, w.ann, id, false))(t)
	n, drift := 0, make([]float64, 0, all)
	w.answerAll(0, all, func(string) json.RawMessage {
		n++
		wrong := n%50 == 30 || n%50 == 31
		before := 0.0
		if len(drift) > 0 {
			before = drift[len(drift)-1]
		}
		drift = append(drift, max(0, before-.25))
		if wrong {
			drift[len(drift)-1]++
			return no
		}
		return yes
	})
	v := w.workerOf(id, w.workers[0], results.WorkerQuery{Method: "majority", Limit: 1})
	if len(v.Course) > results.MaxCourse || len(v.Course) < results.MaxCourse/2 || v.Compared != all || v.Figures.Wrong != all/50*2 || v.Figures.Drift != drift[all-1] {
		t.Fatalf("%d points of %d answers, %s, drift was to be %g", len(v.Course), v.Compared, v.Figures, drift[all-1])
	}
	last := 0
	for _, p := range v.Course {
		if highest := slices.Max(drift[last:p.Answers]); p.Drift != highest || p.Checks != p.Answers {
			t.Errorf("up to answer %d: %+v, the highest drift since is %g", p.Answers, p, highest)
		}
		last = p.Answers
	}
	if last != all {
		t.Errorf("it ends with answer %d", last)
	}
}
