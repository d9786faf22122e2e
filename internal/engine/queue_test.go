package engine_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/sched"
)

// TestTrainingIsNotAhead: what comes before a batch is told without training, as its place.
func TestTrainingIsNotAhead(t *testing.T) {
	t.Parallel()
	e := newPool(t, "fifo", 2)
	training := benchSpec1(1)
	training.Training = true
	must(t, e.Launch(start, training))
	must(t, e.Launch(start.Add(time.Second), benchSpec1(2)))
	must(t, e.Launch(start.Add(2*time.Second), benchSpec1(3)))
	for id, ahead := range map[crowd.BatchID]int{2: 0, 3: 1} {
		if why, err := e.WhyBatch(id); err != nil || why.Ahead != ahead {
			t.Errorf("before %s are %d (%v), want %d", id, why.Ahead, err, ahead)
		}
		if got := e.Place(start.Add(2*time.Second), id); got.N != ahead+1 {
			t.Errorf("the place of %s is %+v, want %d", id, got, ahead+1)
		}
	}
}

// TestNothingIsAheadAtAClosedGate: what has no place in the queue has nothing before it.
func TestNothingIsAheadAtAClosedGate(t *testing.T) {
	t.Parallel()
	e := newPool(t, "fifo", 2)
	must(t, e.Launch(start, benchSpec1(1)))
	must(t, e.Launch(start.Add(time.Second), benchSpec1(2)))
	for _, gate := range []engine.Gate{{}, {On: true, Min: 9}} {
		must(t, e.SetGate(start.Add(2*time.Second), gate))
		want := 1
		if gate.On {
			want = 0
		}
		if why, err := e.WhyBatch(2); err != nil || why.Ahead != want {
			t.Errorf("with the gate %+v %d are before it (%v), want %d", gate, why.Ahead, err, want)
		}
	}
}

// TestNoPlaceAtAClosedGate: while the gate is closed no batch has a place in the queue, and the reason is
// the gate; when it has opened, each has one.
func TestNoPlaceAtAClosedGate(t *testing.T) {
	t.Parallel()
	e := newPool(t, "fifo", 2)
	must(t, e.SetGate(start, engine.Gate{On: true, Min: 2}))
	must(t, e.Launch(start, benchSpec1(1)))
	must(t, e.Launch(start.Add(time.Second), benchSpec1(2)))
	want := func(at time.Time, why crowd.Reason, places ...int) {
		t.Helper()
		list, placed, all := e.Queue(at, 9)
		if all != 2 || len(list) != 2 || placed != max(places[0], places[1]) {
			t.Fatalf("%d of %d have a place: %+v", placed, all, list)
		}
		for i, n := range places {
			q, place := list[i], e.Place(at, crowd.BatchID(i+1))
			if q.Batch != crowd.BatchID(i+1) || q.Place != n || q.Reason != why || place != (engine.Place{N: n, Of: placed}) {
				t.Errorf("%s has place %d (%s) in the queue, and is told %+v; want %d (%s)", q.Batch, q.Place, q.Reason, place, n, why)
			}
		}
	}
	want(start.Add(time.Second), crowd.GateClosed, 0, 0)
	at := start.Add(5 * time.Second)
	for w := range crowd.WorkerID(2) {
		_, _, err := e.Ready(at, w+1)
		must(t, err)
	}
	want(at, crowd.Eligible, 1, 2)
}

// TestPlacesAreAtMostASecondOld, also when there are more batches or fewer.
func TestPlacesAreAtMostASecondOld(t *testing.T) {
	t.Parallel()
	e := newPool(t, "fs", 4)
	soon, later := start.Add(time.Second+time.Microsecond), start.Add(4*time.Second)
	place := func(at time.Time, id crowd.BatchID, n, of int) {
		t.Helper()
		if got := e.Place(at, id); got != (engine.Place{N: n, Of: of}) {
			t.Errorf("%s has %+v, want %d of %d", id, got, n, of)
		}
	}
	must(t, e.Launch(start, benchSpec1(1)))
	place(start, 1, 1, 1)
	must(t, e.Launch(start.Add(time.Microsecond), benchSpec1(2)))
	place(start.Add(time.Microsecond), 2, 0, 0)
	place(start.Add(time.Microsecond), 1, 1, 1)
	place(start.Add(time.Second), 2, 2, 2)
	take(t, e, 0, 1)
	place(start.Add(time.Second), 1, 1, 2)
	place(soon, 1, 1, 2)
	place(soon.Add(time.Second), 1, 2, 2)
	place(soon.Add(time.Second), 2, 1, 2)
	soon = soon.Add(time.Second)
	e.SetPolicy(sched.MustParse("fifo"))
	place(soon, 1, 1, 2)
	training := benchSpec1(3)
	training.Training = true
	must(t, e.Launch(soon, training))
	place(soon, 3, 0, 0)
	place(soon, 2, 2, 2)
	must(t, e.Pause(soon, 1))
	place(soon, 1, 0, 0)
	place(later, 2, 1, 1)
	place(later, 4, 0, 0)
	must(t, e.Resume(later, 1))
	place(later, 1, 0, 0)
	place(later.Add(time.Second), 1, 1, 2)
	must(t, e.Pause(later.Add(time.Second), 2))
	place(later, 1, 1, 1) // the clock was put back
	must(t, e.Resume(later, 2))
	q, placed, all := e.Queue(later, 10)
	if len(q) != 2 || placed != 2 || all != 2 || q[0].Batch != 1 || q[0].Place != 1 || q[0].Running != 1 || q[0].Waiting != 4 || q[0].Reason != crowd.Eligible {
		t.Errorf("the queue is %+v", q)
	}
}

// TestTheFirstOfTheQueue are the same, however many are asked for.
func TestTheFirstOfTheQueue(t *testing.T) {
	t.Parallel()
	e := newPool(t, "edf", 1)
	r := rand.New(rand.NewPCG(3, 4))
	for id := range crowd.BatchID(60) {
		s := benchSpec1(1 + id)
		s.Deadline = start.Add(time.Duration(1+r.IntN(1000)) * time.Minute)
		must(t, e.Launch(start, s))
		if id%7 == 0 {
			must(t, e.Pause(start, 1+id))
		}
	}
	whole, placed, all := e.Queue(start, 1000)
	if len(whole) != 60 || all != 60 || placed != 51 || whole[50].Place != 51 || whole[51].Place != 0 {
		t.Fatalf("%d of %d, %d with a place", len(whole), all, placed)
	}
	for limit := 1; limit <= 60; limit++ {
		q, placed, all := e.Queue(start, limit)
		if placed != 51 || all != 60 {
			t.Fatalf("the first %d: %d of %d have a place", limit, placed, all)
		}
		if diff := cmp.Diff(whole[:limit], q); diff != "" {
			t.Fatalf("the first %d differ:\n%s", limit, diff)
		}
	}
}

// TestTheQueueIsAsOfNow: where the order of a policy depends on the time, it is that of
// when somebody looks, also if nobody asked for a task meanwhile.
func TestTheQueueIsAsOfNow(t *testing.T) {
	t.Parallel()
	e := newPool(t, "laxity", 2)
	must(t, e.Launch(start, benchSpec1(3)))
	take(t, e, 0, 1) // so that what has no deadline has its share
	for id, due := range map[crowd.BatchID]time.Duration{1: time.Hour, 2: 30 * time.Minute} {
		s := benchSpec1(id)
		s.Production, s.Deadline = true, start.Add(due)
		must(t, e.Launch(start, s))
	}
	for _, x := range []struct {
		after time.Duration
		first crowd.BatchID
	}{{0, 2}, {40 * time.Minute, 1}} { // by then nothing saves the other
		if q, _, _ := e.Queue(start.Add(x.after), 10); len(q) != 3 || q[0].Batch != x.first {
			t.Errorf("after %s the queue is %+v, want %s first", x.after, q, x.first)
		}
	}
}

// TestShares: the time of people is theirs who have it, also after their batch has ended
// or a task was given back; training is nobody's.
func TestShares(t *testing.T) {
	t.Parallel()
	e := newPool(t, "fs", 3)
	one := benchSpec1(1)
	one.Tasks = 1
	must(t, e.Launch(start, one))
	h, _, err := e.Ready(start, 1)
	must(t, err)
	must(t, e.Launch(start, benchSpec1(2)))
	back, _, err := e.Ready(start.Add(time.Second), 2)
	must(t, err)
	batches, tenants := e.Shares(start.Add(3 * time.Second))
	if len(batches) != 2 || batches[0].Held != 3*time.Second || batches[0].Wanted != 1 || batches[1].Held != 2*time.Second || batches[1].Wanted != 5 || batches[1].Running != 1 || batches[1].Planned != 5 {
		t.Errorf("batches: %+v", batches)
	}
	if len(tenants) != 1 || tenants[0].Held != 5*time.Second || tenants[0].Weight != 1 {
		t.Errorf("tenants: %+v", tenants)
	}
	if _, err := e.Submit(start.Add(4*time.Second), 1, h.Assignment, `"yes"`, "yes"); err != nil {
		t.Fatal(err)
	}
	must(t, e.Return(start.Add(5*time.Second), 2, back.Assignment))
	must(t, e.Pause(start.Add(5*time.Second), 2))
	batches, tenants = e.Shares(start.Add(time.Hour))
	if len(batches) != 2 || batches[0].Batch != 2 || batches[0].Held != 4*time.Second || batches[0].Wanted != 0 || batches[1].Batch != 1 || batches[1].Held != 4*time.Second || batches[1].Wanted != 0 || tenants[0].Held != 8*time.Second {
		t.Errorf("after an hour: %+v, %+v", batches, tenants)
	}
	if batches, _ = e.Shares(start.Add(time.Hour)); len(batches) != 1 || batches[0].Batch != 2 {
		t.Errorf("what has ended is told again: %+v", batches)
	}
	training := benchSpec1(3)
	training.Training = true
	must(t, e.Launch(start.Add(time.Hour), training))
	must(t, e.Train(start.Add(time.Hour), 3, 1))
	h, ok, err := e.Ready(start.Add(time.Hour), 3)
	if err != nil || !ok || h.Task.Batch() != 3 {
		t.Fatalf("to learn from, they get %+v, %t, %v", h, ok, err)
	}
	for _, end := range []bool{false, true} {
		if end {
			must(t, e.Cancel(start.Add(2*time.Hour), 3))
		}
		batches, tenants = e.Shares(start.Add(2 * time.Hour))
		if len(batches) != 1 || batches[0].Batch != 2 || tenants[0].Held != 8*time.Second {
			t.Errorf("with somebody in training, its batch ended: %t: %+v, %+v", end, batches, tenants)
		}
	}
	must(t, e.Check())
}

// TestSharesOfNobody: a batch that nobody of the pool may do wants nobody; one whose people
// are away, busy or lent, or have had its tasks, does.
func TestSharesOfNobody(t *testing.T) {
	t.Parallel()
	const staffed, served, blocked, other = 2, 3, 4, 5 // tenants
	serves := []crowd.TenantID{1, served, staffed, blocked}
	e := newPool(t, "fs", 0)
	for id := crowd.TenantID(staffed); id <= other; id++ {
		must(t, e.SetTenant(start, engine.Tenant{ID: id, Weight: 1}))
	}
	person := func(id crowd.WorkerID, change func(*engine.Worker)) {
		w := engine.Worker{ID: id, StaffOf: []crowd.TenantID{staffed}, BlockedBy: []crowd.TenantID{blocked}, Serves: serves}
		change(&w)
		must(t, e.SetWorker(start, w))
	}
	person(1, func(w *engine.Worker) { w.Qualifications, w.Serves = map[string]int{"french": 50}, serves[:1] })
	person(2, func(w *engine.Worker) { w.Granted = []engine.Grant{{Tenant: 1, Name: "german", Score: 50}} })
	person(3, func(w *engine.Worker) { w.Qualifications = map[string]int{"latin": 50}; w.Suspended = true })
	person(4, func(w *engine.Worker) {
		w.Qualifications, w.Serves, w.Lent = map[string]int{"greek": 50}, serves[1:], true
	})
	var id crowd.BatchID
	want := make(map[crowd.BatchID]int)
	launch := func(wanted int, tenant crowd.TenantID, requires ...engine.Requirement) crowd.BatchID {
		id++
		s := benchSpec1(id)
		s.Tenant, s.Requirements, s.SmallCrowdOK = tenant, requires, true
		must(t, e.Launch(start, s))
		want[id] = wanted
		return id
	}
	none := func(name string) engine.Requirement { return engine.Requirement{Name: name, Min: 50} }
	own := func(name string) engine.Requirement { return engine.Requirement{Name: name, Min: 50, Owner: "x"} }
	launch(5, 1)
	launch(5, 1, none("french"))
	launch(0, served, none("french"))
	launch(0, 1, engine.Requirement{Name: "french", Min: 51})
	launch(0, 1, none("spanish"))
	launch(0, 1, none("french"), none("spanish"))
	german := launch(5, 1, own("german"))
	launch(0, served, own("german"))
	launch(0, 1, none("latin"))
	launch(0, 1, none("greek"))
	launch(5, served, none("greek"))
	launch(5, served)
	launch(0, staffed)
	launch(0, staffed, none("french"))
	launch(0, blocked)
	launch(0, other)
	compare := func(when string) {
		t.Helper()
		batches, _ := e.Shares(start)
		got := make(map[crowd.BatchID]int)
		for _, b := range batches {
			got[b.Batch] = b.Wanted
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s, wanted by batch (- wanted, + got):\n%s", when, diff)
		}
	}
	compare("at first")

	for want[german] > 0 { // until they have had all but one task
		h, ok, err := e.Ready(start, 2)
		must(t, err)
		if !ok {
			t.Fatalf("they get nothing")
		}
		if _, err := e.Submit(start, 2, h.Assignment, `"yes"`, "yes"); err != nil {
			t.Fatal(err)
		}
		if want[h.Task.Batch()]--; want[h.Task.Batch()] == 1 {
			break
		}
	}
	compare("with answers")

	h, ok, err := e.Ready(start, 1)
	if err != nil || !ok {
		t.Fatalf("nothing for 1: %v", err)
	}
	holds := h.Task.Batch()
	person(1, func(w *engine.Worker) { w.Serves = []crowd.TenantID{other} })
	person(2, func(w *engine.Worker) { w.Serves = []crowd.TenantID{other} })
	person(4, func(w *engine.Worker) { w.Serves, w.Lent = []crowd.TenantID{other}, true })
	for id := range want {
		want[id] = 0
	}
	want[holds], want[16] = 1, 5
	compare("when all work for another tenant")
	must(t, e.Check())
}

// TestSharesOfManyEndedBatches: of batches that have ended between two looks, a thousand are
// told, and their time is their tenant's all the same.
func TestSharesOfManyEndedBatches(t *testing.T) {
	t.Parallel()
	const told, ended = 1000, 1003
	e := newPool(t, "fs", 1)
	now := start
	for id := range crowd.BatchID(ended) {
		b := benchSpec1(id + 1)
		b.Tasks = 1
		must(t, e.Launch(now, b))
		h, _, err := e.Ready(now, 1)
		must(t, err)
		now = now.Add(time.Second)
		if _, err := e.Submit(now, 1, h.Assignment, `"yes"`, "yes"); err != nil {
			t.Fatal(err)
		}
	}
	batches, tenants := e.Shares(now)
	if len(batches) != told || batches[0].Batch != 1 || batches[told-1].Batch != told || tenants[0].Held != ended*time.Second {
		t.Errorf("%d batches, tenants %+v", len(batches), tenants)
	}
}

// TestSharesByWhomPeopleWorkFor: of five tenants, those want people for whom somebody works.
func TestSharesByWhomPeopleWorkFor(t *testing.T) {
	t.Parallel()
	type list = []crowd.TenantID
	but := func(blockedBy, staffOf list) engine.Worker {
		return engine.Worker{BlockedBy: blockedBy, StaffOf: staffOf}
	}
	for _, x := range []struct {
		people []engine.Worker
		want   list
	}{
		{nil, nil},
		{[]engine.Worker{{}}, list{1, 2, 3, 4, 5}},
		{[]engine.Worker{but(list{1}, list{2})}, list{3, 4, 5}},
		{[]engine.Worker{but(list{1, 3}, list{2}), but(list{1}, list{3, 5})}, list{2, 4, 5}},
		{[]engine.Worker{but(list{1}, nil), but(nil, list{2})}, list{1, 2, 3, 4, 5}},
		{[]engine.Worker{but(list{1, 2}, nil), {Serves: list{2, 4}}}, list{2, 3, 4, 5}},
		{[]engine.Worker{{Serves: list{1, 2, 3}, BlockedBy: list{2}, StaffOf: list{3}}, {Serves: list{3, 4}}}, list{1, 3, 4}},
		{[]engine.Worker{but(list{1}, nil), {}, but(list{2}, nil)}, list{1, 2, 3, 4, 5}},
		{[]engine.Worker{{Suspended: true}, but(list{1, 2, 3, 4}, nil)}, list{5}},
	} {
		e := newPool(t, "fs", 0)
		for id := range crowd.TenantID(5) {
			must(t, e.SetTenant(start, engine.Tenant{ID: id + 1, Weight: 1}))
			s := benchSpec1(crowd.BatchID(id + 1))
			s.Tenant, s.SmallCrowdOK = id+1, true
			must(t, e.Launch(start, s))
		}
		for i, w := range x.people {
			w.ID = crowd.WorkerID(i + 1)
			must(t, e.SetWorker(start, w))
		}
		batches, _ := e.Shares(start)
		var got list
		for _, b := range batches {
			if b.Wanted > 0 {
				got = append(got, b.Tenant)
			}
		}
		if !slices.Equal(got, x.want) {
			t.Errorf("with %+v, the tenants that want people are %v, not %v", x.people, got, x.want)
		}
	}
}
