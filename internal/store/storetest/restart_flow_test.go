package storetest

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/sla"
)

// stream is a run whose only step is the open batch that its items go to.
type stream struct {
	run   crowd.RunID
	batch crowd.BatchID
	items int64
	told  uint32 // tasks that the engine knows
}

// open launches an open batch, half of them with an SLA.
func (s *site) open(t *testing.T) {
	spec := engine.Spec{
		Tenant: s.mine, Rule: label.Agree(2, 3), Reward: 1000, Budget: 60_000, Priority: 1, Lease: 2 * time.Minute, TaskTime: 30 * time.Second,
		SmallCrowdOK: true, Open: true,
	}
	if s.IntN(2) == 0 {
		spec.SLA = &engine.Terms{Penalty: sla.Penalty{Kind: sla.Linear, After: time.Minute, Cost: 7, Every: time.Minute}, Tail: time.Duration(s.IntN(100)) * time.Second}
		for range s.IntN(3) {
			spec.SLA.Others = append(spec.SLA.Others, sla.Penalty{Kind: sla.Constant, After: 5 * time.Minute, Cost: crowd.Money(1 + s.IntN(20))})
		}
		s.did["with an SLA"]++
	}
	s.bound(&spec)
	x := &stream{}
	x.run = must(s.CreateRun(s.ctx, store.Run{Tenant: s.mine, State: store.RunRunning}, []store.Node{{Node: input}, {Node: ask}}))(t)
	x.batch = must(s.Advance(s.ctx, &store.Advance{Run: x.run, Create: &store.Batch{Pool: s.pool.ID, Node: ask, Spec: spec}}))(t)
	ok(t, s.engine.Launch(s.clock, must(s.Batch(s.ctx, s.mine, x.batch))(t).Spec))
	s.batches, s.streams = append(s.batches, x.batch), append(s.streams, x)
	s.did["open"]++
}

// grow adds to an open batch: the store has the tasks first, and the engine may
// be told of them later, or twice. Now and then it says that no more come.
func (s *site) grow(t *testing.T) {
	if len(s.streams) < 4 || s.IntN(20) == 0 {
		s.open(t)
		return
	}
	x := pick(s.Rand, s.streams)
	if _, running := s.engine.Status(x.batch); !running {
		return
	}
	kept := must(s.Batch(s.ctx, s.mine, x.batch))(t)
	if n := s.IntN(4); kept.Progress.State.Open() && n > 0 && s.IntN(3) > 0 {
		a := store.Advance{Run: x.run, Batch: x.batch}
		for range n {
			a.Rows = append(a.Rows, store.Row{Node: input, Born: s.clock.Truncate(time.Second), At: s.clock, State: store.RowOK})
		}
		must(s.Advance(s.ctx, &a))(t)
		a.Rows = nil
		for range n {
			x.items++
			a.Tasks = append(a.Tasks, s.newTask(&kept, x.items))
		}
		must(s.Advance(s.ctx, &a))(t)
	}
	if s.IntN(3) == 0 {
		return // the engine hears of it another time
	}
	all := must(s.Tasks(s.ctx, x.batch.Task(1), 1000))(t)
	first := max(1, x.told-min(x.told, uint32(s.IntN(3))))
	var items []engine.Item
	for _, task := range all[min(int(first-1), len(all)):] {
		items = append(items, engine.Item{Born: task.Born, Class: task.Class, Bound: task.Bound, NotBy: task.NotBy})
	}
	err := s.engine.Grow(s.clock, x.batch, first, items)
	if crowd.CodeOf(err) == crowd.Conflict {
		return // no more come
	}
	ok(t, err)
	x.told = uint32(len(all))
	s.did["grown"] += len(items)
	if len(all) > 8 {
		ok(t, s.engine.Seal(s.clock, x.batch))
		s.did["sealed"]++
	}
}

// handedOver checks that each label of the open batches is in the log of its
// node, and nothing else.
func (s *site) handedOver(t *testing.T) {
	for _, x := range s.streams {
		labels := make(map[int64]bool)
		for l, err := range s.Labels(s.ctx, s.mine, x.batch) {
			ok(t, err)
			if l.Label != nil {
				labels[must(s.Task(s.ctx, l.Task))(t).Item] = true
			}
		}
		rows := must(s.Rows(s.ctx, x.run, ask, 0, all, nil))(t)
		for _, r := range rows {
			if !labels[r.Item] {
				t.Errorf("%s has a row of item %d, which has no label", x.run, r.Item)
			}
		}
		same(t, "rows and labels", len(rows), len(labels))
		same(t, "without a label", len(must(s.Staying(s.ctx, x.batch, 0, all))(t)), int(x.items)-len(labels))
		s.did["handed over"] += len(rows)
	}
}

// bound gives a batch terms that a restart has to find again.
func (s *site) bound(spec *engine.Spec) {
	if s.IntN(3) == 0 {
		spec.PerWorker = 1 + s.IntN(3)
		s.did["answers of one person bounded"]++
	}
	if spec.Open && s.IntN(4) > 0 {
		spec.NotBy = []string{"draft", "review"}
		s.did["by somebody else"]++
	}
	spec.TellsWho = s.IntN(2) == 0
	if s.IntN(4) == 0 {
		spec.Enough = &engine.Enough{Confidence: 0.4 + s.Float64()/2, Labels: 5 + s.IntN(8)}
	}
}

// newTask is the task of an item of a batch.
func (s *site) newTask(b *store.Batch, item int64) store.Task {
	t := store.Task{Item: item, Born: s.clock.Truncate(time.Second)}
	if b.Spec.SLA != nil {
		t.Class = s.IntN(1 + len(b.Spec.SLA.Others))
	}
	if s.IntN(2) == 0 {
		t.Bound = t.Born.Add(time.Duration(1+s.IntN(600)) * time.Second)
	}
	for range s.IntN(12) {
		if p := pick(s.Rand, s.people); len(b.Spec.NotBy) > 0 && !slices.Contains(t.NotBy, p) {
			t.NotBy = append(t.NotBy, p)
		}
	}
	return t
}

// late sends an answer to some assignment of the past.
func (s *site) late(t *testing.T) {
	if len(s.batches) == 0 {
		return
	}
	id := pick(s.Rand, s.batches)
	b := must(s.Batch(s.ctx, 0, id))(t)
	if b.Progress.Issued == 0 {
		return
	}
	a, err := s.Assignment(s.ctx, id.Assignment(1+uint32(s.IntN(int(b.Progress.Issued)))))
	if crowd.CodeOf(err) == crowd.NotFound {
		return // not committed yet
	}
	ok(t, err)
	s.submit(t, a.Worker, a.Assignment)
}

func (s *site) submit(t *testing.T, w crowd.WorkerID, id crowd.AssignmentID) {
	key := pick(s.Rand, []string{"cat", "cat", "dog"})
	out, err := s.engine.Submit(s.clock, w, id, `{"is":"`+key+`"}`, key)
	switch {
	case errors.Is(err, engine.ErrForgotten):
		a := must(s.Assignment(s.ctx, id))(t)
		if a.State == crowd.Expired || a.State == crowd.Withdrawn || s.IntN(2) == 0 && a.State == crowd.Submitted && !a.Counted {
			s.engine.KeepLate(s.clock, w, id, "{}", key)
			s.did["forgotten"]++
		}
	case crowd.CodeOf(err) == crowd.Conflict: // returned or skipped
	case err != nil:
		t.Fatal(err)
	case out.Duplicate:
		s.did["again"]++
	case out.Late:
		s.did["late"]++
	case !out.CountsAt.IsZero():
		s.did["provisional"]++
	default:
		s.did["answer"]++
	}
}
