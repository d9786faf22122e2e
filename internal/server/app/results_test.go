package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/pseudonym"
	"github.com/throng-dev/throng/internal/server/results"
	"github.com/throng-dev/throng/internal/store"
)

// answered is a batch of ann's with answers: of three workers the third always says yes.
func (w *world) answered(file string, answers int) crowd.BatchID {
	w.t.Helper()
	id := w.draft(0, times(answers))
	must(w.Batches.Upload(w.ctx, w.ann, id, strings.NewReader(file), batches.Upload{}))(w.t)
	must(w.Batches.Launch(w.ctx, w.ann, id, false))(w.t)
	return id
}

// answerAll has a worker answer up to n tasks.
func (w *world) answerAll(worker, n int, say func(thing string) json.RawMessage) {
	w.t.Helper()
	for range n {
		x := must(w.Work.Next(w.ctx, w.workers[worker], 0))(w.t)
		if x == nil {
			return
		}
		must(w.submit(w.workers[worker], x.Assignment, say(x.Values.Values().Cells[0])))(w.t)
	}
}

func (w *world) list(id crowd.BatchID, filter string, limit int) *results.Page {
	w.t.Helper()
	return must(w.Results.List(w.ctx, w.ann, id, results.Query{Filter: must(results.ParseFilter(filter))(w.t), Limit: limit}))(w.t)
}

func listResults(s *scene, p *access.Principal) error {
	return second(s.Results.List(s.ctx, p, s.running, results.Query{Limit: 1}))
}

func allResults(s *scene, p *access.Principal) error {
	d, err := s.Results.All(s.ctx, p, s.running, results.Query{})
	if err != nil {
		return err
	}
	return drain(d.Rows, nil)
}

func taskResults(s *scene, p *access.Principal) error {
	return second(s.Results.Task(s.ctx, p, s.running.Task(1), ""))
}

func sumResults(s *scene, p *access.Principal) error {
	return second(s.Results.Summary(s.ctx, p, s.running, "", ""))
}

// numbers returns the tasks of rows.
func numbers(rows []results.Row) (list []uint32) {
	for _, r := range rows {
		list = append(list, r.Task.N())
	}
	return list
}

const aliveFile = "thing,note,_gold\na dog,Ärger,yes\na stone,,no\na cat,soft fur,\na virus,\"odd, small\",\na rock,,\n"

func TestResults(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	id := w.answered(aliveFile, 3)
	if p := w.list(id, "", 10); len(p.Rows) != 5 || p.Counts != (results.Counts{All: 5, Unanswered: 5}) || p.Next != "" || p.Rows[0].Label != nil {
		t.Errorf("without answers: %+v", p.Counts)
	}
	truth := map[string]json.RawMessage{"a dog": yes, "a stone": no, "a cat": yes, "a virus": no, "a rock": no}
	say := func(thing string) json.RawMessage { return truth[thing] }
	w.answerAll(0, 4, say)
	w.answerAll(1, 4, say)
	w.answerAll(2, 4, func(string) json.RawMessage { return yes })

	p := w.list(id, "", 10)
	if p.Counts != (results.Counts{All: 5, Differ: 2, Unanswered: 1}) || p.Matching != 5 || p.Method != "ds-map" {
		t.Errorf("counts %+v by %s", p.Counts, p.Method)
	}
	stone := p.Rows[1]
	if stone.Label.Value != "no" || !stone.Differ || stone.Wrong || stone.Gold != "no" || len(stone.Answers) != 3 || *stone.Sure() < .6 ||
		stone.Answers[2].By != (pseudonym.Worker{Pseudonym: w.pseudonym(w.a, w.workers[2])}) || stone.Answers[2].Key != "yes" || stone.Answers[2].Paid != crowd.Unit/100 {
		t.Errorf("the stone is %+v with label %+v", stone, stone.Label)
	}
	for filter, want := range map[string][]uint32{
		"agree:no": {2, 4}, "agree:yes": {1, 3}, "-agree:no": {1, 3, 5}, "answers:0": {5}, "answers:>=3": {1, 2, 3, 4}, "answers:0,3": {1, 2, 3, 4, 5},
		"known:yes": {1, 2}, "known:yes agree:no": {2}, "label:YES": {1, 3}, "label:yes,no": {1, 2, 3, 4}, "labelled:no": {5}, "worker:worker3": nil, "worker:" + w.workers[0].User.ID.String(): nil, "worker:" + w.pseudonym(w.a, w.workers[2]): {1, 2, 3, 4},
		"worker:" + w.pseudonym(w.a, w.workers[0]) + " label:no": {2, 4}, "confidence:<2": {1, 2, 3, 4}, "confidence:>2": nil, "wrong:yes": nil, "tie:no": {1, 2, 3, 4, 5},
		"soft": {3}, "ärger": {1}, `"odd, small"`: {4}, "input.note:fur,small": {3, 4}, "input.note:": {2, 5}, "answer.label:no": {2, 4}, "-answer.label:no": {1, 3, 5},
		"undecided:yes": nil, "sort:-task": {5, 4, 3, 2, 1}, "sort:answers": {5, 1, 2, 3, 4}, "a sort:-task": {5, 4, 3, 2, 1}, "nothing": nil,
	} {
		if p := w.list(id, filter, 10); !slices.Equal(numbers(p.Rows), want) || p.Matching != len(want) {
			t.Errorf("%s lists %v (%d), want %v", filter, numbers(p.Rows), p.Matching, want)
		}
	}
	for _, bad := range []string{"input.colour:red", "answer.size:1"} {
		_, err := w.Results.List(w.ctx, w.ann, id, results.Query{Filter: must(results.ParseFilter(bad))(t), Limit: 10})
		refused(t, err, crowd.Invalid)
	}
	for _, cursor := range []string{"x", "0.1", "7.x", "-1", "99.1"} {
		_, err := w.Results.List(w.ctx, w.ann, id, results.Query{Cursor: cursor, Limit: 10})
		refused(t, err, crowd.Invalid)
	}
	_, err := w.Results.List(w.ctx, w.bob, id, results.Query{Limit: 10})
	_, none := w.Results.List(w.ctx, w.bob, 999, results.Query{Limit: 10})
	if refused(t, err, crowd.NotFound); err.Error() != none.Error() {
		t.Errorf("another's batch: %v, one that is not there: %v", err, none)
	}
	_, err = w.Results.List(w.ctx, w.workers[0], id, results.Query{Limit: 10})
	refused(t, err, crowd.Forbidden)
}

// TestUndecidedIsWhatTheRuleSays, of labels by whatever method, as its filter says.
func TestUndecidedIsWhatTheRuleSays(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	id := w.answered("thing\na dog\na stone\na cat\n", 3)
	w.answerAll(0, 2, func(string) json.RawMessage { return yes })
	must(w.Batches.End(w.ctx, w.ann, id))(t)
	for _, method := range []string{"", "majority", results.Live} {
		page := must(w.Results.List(w.ctx, w.ann, id, results.Query{Filter: must(results.ParseFilter("undecided:yes"))(t), Method: method, Limit: 10}))(t)
		if len(page.Rows) != 2 || !page.Rows[0].Label.Undecided || !page.Rows[1].Label.Undecided {
			t.Errorf("undecided by %q are %d tasks: %+v", method, len(page.Rows), numbers(page.Rows))
		}
	}
}

// TestEachFieldIsCombinedByItself: whole answers of a form are hardly ever equal; its fields
// are.
func TestEachFieldIsCombinedByItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	id := w.launch(2, times(3), func(n *batches.NewBatch) {
		n.Template = json.RawMessage(`{"kind":"form","question":"?","fields":[{"name":"colour","type":"choice","options":["red","blue"]},{"name":"size","type":"number"},{"name":"note","type":"textarea"}]}`)
	})
	for i, said := range []string{`{"colour":"red","size":10,"note":"It is fine"}`, `{"colour":"red","size":12,"note":"it is  fine"}`, `{"colour":"blue","size":500,"note":"no idea"}`} {
		w.answerAll(i, 2, func(string) json.RawMessage { return json.RawMessage(said) })
	}
	p := w.list(id, "", 10)
	row := p.Rows[0]
	got := make(map[string]string)
	for _, f := range row.Fields {
		got[f.Name] = f.Label.Value
	}
	if row.Label != nil || got["colour"] != "red" || got["size"] != "12" || !strings.EqualFold(strings.Join(strings.Fields(got["note"]), " "), "it is fine") || !row.Differ {
		t.Errorf("the labels are %v", got)
	}
	if n := len(w.list(id, "answer.note:idea", 10).Rows); n != 2 {
		t.Errorf("%d tasks have the answer", n)
	}
	if n := len(w.list(id, "answer.size:12 confidence:<0.5", 10).Rows); n != 2 { // the number has one answer of three
		t.Errorf("%d tasks are unsure, want both", n)
	}
}

// TestPagesWhileAnswersCome: on pages that follow each other each task is once, whatever is
// answered in between, and in whatever order.
func TestPagesWhileAnswersCome(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	const tasks = 23
	id := w.launch(tasks, times(3))
	for round, sort := range []string{"", "sort:-task", "sort:confidence", "sort:-answers"} {
		var seen []uint32
		q := results.Query{Filter: must(results.ParseFilter(sort))(t), Limit: 4}
		for {
			p := must(w.Results.List(w.ctx, w.ann, id, q))(t)
			seen = append(seen, numbers(p.Rows)...)
			for i := range w.workers {
				w.answerAll(i, 1, func(string) json.RawMessage { return []json.RawMessage{yes, no}[(i+round)%2] })
			}
			if p.Next == "" {
				break
			}
			q.Cursor = p.Next
		}
		slices.Sort(seen)
		if want := numbers(w.list(id, "", 100).Rows); !slices.Equal(seen, want) {
			t.Errorf("%q lists %v, want each of %d tasks once", sort, seen, tasks)
		}
	}
}

// TestWhatIsDownloadedIsWhatIsListed: by random filters.
func TestWhatIsDownloadedIsWhatIsListed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	id := w.answered(aliveFile, 3)
	rng := rand.New(rand.NewPCG(1, 2))
	terms := []string{"agree:no", "tie:yes", "label:yes", "worker:worker1", "answers:>1", "confidence:<0.99", "known:yes", "a", "o", "input.note:f", "answer.label:no", "sort:confidence", "sort:-answers", "labelled:yes"}
	for range 40 {
		w.answerAll(rng.IntN(3), 1, func(string) json.RawMessage { return []json.RawMessage{yes, no}[rng.IntN(2)] })
		var text []string
		for range rng.IntN(3) {
			text = append(text, []string{"", "", "-"}[rng.IntN(3)]+terms[rng.IntN(len(terms))])
		}
		filter, err := results.ParseFilter(strings.Join(text, " "))
		if err != nil {
			continue // -sort
		}
		q := results.Query{Filter: filter, Limit: 2}
		var listed []results.Row
		for {
			p := must(w.Results.List(w.ctx, w.ann, id, q))(t)
			listed = append(listed, p.Rows...)
			if q.Cursor = p.Next; p.Next == "" {
				break
			}
		}
		var all []results.Row
		for row, err := range must(w.Results.All(w.ctx, w.ann, id, q))(t).Rows {
			ok(t, err)
			all = append(all, row)
		}
		if got, want := fmt.Sprint(told(all)), fmt.Sprint(told(listed)); got != want {
			t.Errorf("%v downloads\n%s\nand lists\n%s", text, got, want)
		}
	}
}

func told(rows []results.Row) (list []string) {
	for _, r := range rows {
		x := fmt.Sprint(r.Task, r.Values, r.Gold, r.Differ, r.Wrong)
		if r.Label != nil {
			x += fmt.Sprint(r.Label.Value, r.Label.Confidence)
		}
		for _, a := range r.Answers {
			x += fmt.Sprint(a.Assignment, a.By, a.Key)
		}
		list = append(list, x)
	}
	return list
}

// heldStore counts the reads of all answers, and holds them as long as it is told to.
type heldStore struct {
	store.Store
	reads  atomic.Int32
	held   atomic.Bool
	begun  chan struct{}
	let    chan struct{}
	ended  chan error // why a read that was held ended
	claims atomic.Int64
}

func (h *heldStore) Answers(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID) iter.Seq2[store.Annotation, error] {
	return func(yield func(store.Annotation, error) bool) {
		h.reads.Add(1)
		if h.held.Load() {
			h.begun <- struct{}{}
			select {
			case <-h.let:
			case <-ctx.Done():
				h.ended <- ctx.Err()
				yield(store.Annotation{}, ctx.Err())
				return
			}
		}
		h.Store.Answers(ctx, tenant, id)(yield)
	}
}

func (h *heldStore) Batch(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID) (store.Batch, error) {
	b, err := h.Store.Batch(ctx, tenant, id)
	b.Progress.Completed += int(h.claims.Load())
	return b, err
}

// held puts a heldStore into a world.
func (w *world) held() *heldStore {
	h := &heldStore{begun: make(chan struct{}, 100), let: make(chan struct{}), ended: make(chan error, 100)}
	w.wrap = func(s store.Store) store.Store { h.Store = s; return h }
	w.reopen()
	return h
}

// TestOneFitForAll: who asks while a fit is made waits for that one, and who asks later gets
// the same until an answer comes.
func TestOneFitForAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	h := w.held()
	id := w.answered(aliveFile, 3)
	w.answerAll(0, 3, func(string) json.RawMessage { return yes })
	h.held.Store(true)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			var err error
			if i%2 == 0 {
				_, err = w.Batches.Quality(w.ctx, w.ann, id, "")
			} else {
				_, err = w.Results.List(w.ctx, w.ann, id, results.Query{Limit: 2})
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	<-h.begun
	close(h.let)
	all.Wait()
	h.held.Store(false)
	must(w.Batches.Quality(w.ctx, w.ann, id, ""))(t)
	must(w.Batches.Quality(w.ctx, w.ann, id, "majority"))(t)
	if n := h.reads.Load(); n != 1 {
		t.Errorf("the answers were read %d times, want once", n)
	}
	w.answerAll(1, 1, func(string) json.RawMessage { return yes })
	if q := must(w.Batches.Quality(w.ctx, w.ann, id, ""))(t); h.reads.Load() != 2 || len(q.Workers) != 2 {
		t.Errorf("after an answer they were read %d times, by %d workers", h.reads.Load(), len(q.Workers))
	}
}

// TestAFitEndsWithWhoAskedForIt: when all have gone, not before.
func TestAFitEndsWithWhoAskedForIt(t *testing.T) {
	bubble(t, 1, func(t *testing.T, w *world) {
		h := w.held()
		id := w.answered(aliveFile, 1)
		w.answerAll(0, 3, func(string) json.RawMessage { return yes })
		h.held.Store(true)
		var leave []context.CancelFunc
		done := make(chan error, 2)
		for range 2 {
			ctx, cancel := context.WithCancel(w.ctx)
			defer cancel()
			leave = append(leave, cancel)
			go func() { done <- second(w.Batches.Quality(ctx, w.ann, id, "")) }()
		}
		synctest.Wait() // both wait for the one read
		if n := h.reads.Load(); n != 1 {
			t.Fatalf("the answers are read %d times, want once", n)
		}
		leave[0]()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("who has gone gets %v", err)
		}
		synctest.Wait()
		select {
		case err := <-h.ended:
			t.Errorf("the read ended with %v while somebody waits", err)
		default:
		}
		leave[1]()
		if err := <-h.ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the read ended with %v", err)
		}
		<-done
		h.held.Store(false)
		must(w.Batches.Quality(w.ctx, w.ann, id, ""))(t)
	})
}

// TestABigBatchIsListedWithoutAFit: with the labels that were given live, and all answers
// that count; what is asked for by a filter is fitted.
func TestABigBatchIsListedWithoutAFit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	h := w.held()
	id := w.answered(aliveFile, 2)
	w.answerAll(0, 5, func(string) json.RawMessage { return yes })
	w.answerAll(1, 3, func(string) json.RawMessage { return no })
	small := must(w.Results.List(w.ctx, w.ann, id, results.Query{Limit: 5, Method: results.Live}))(t)
	reads := h.reads.Load()
	h.claims.Store(1_000_000)
	var rows []results.Row
	q := results.Query{Limit: 2}
	for {
		p := must(w.Results.List(w.ctx, w.ann, id, q))(t)
		rows = append(rows, p.Rows...)
		if q.Cursor = p.Next; p.Next == "" {
			break
		}
		if p.Counted || p.Method != results.Live {
			t.Errorf("a big batch is counted, by %s", p.Method)
		}
	}
	if got, want := fmt.Sprint(told(rows)), fmt.Sprint(told(small.Rows)); got != want {
		t.Errorf("a big batch lists\n%s\nwant\n%s", got, want)
	}
	var all []results.Row
	for row, err := range must(w.Results.All(w.ctx, w.ann, id, q))(t).Rows {
		ok(t, err)
		all = append(all, row)
	}
	if fmt.Sprint(told(all)) != fmt.Sprint(told(rows)) || h.reads.Load() != reads {
		t.Errorf("the download is\n%v, after %d more reads of all answers", told(all), h.reads.Load()-reads)
	}
	if p := w.list(id, "agree:no", 10); !p.Counted || p.Method == results.Live || len(p.Rows) != 3 {
		t.Errorf("by a filter it lists %d tasks by %s", len(p.Rows), p.Method)
	}
}
