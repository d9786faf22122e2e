package engine_test

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/sched"
	"github.com/throng-dev/throng/sla"
)

// promised is an open batch of one answer a task, whose items cost 5 once when
// they end at an age of 10 minutes or more.
func promised(id crowd.BatchID) engine.Spec {
	s := benchSpec(id, 0)
	s.Open, s.Budget, s.Rule = true, 0, label.Count(1)
	s.SLA = &engine.Terms{Penalty: sla.Penalty{Kind: sla.Constant, After: 10 * time.Minute, Cost: 5 * crowd.Unit}}
	return s
}

// born makes items that began some time ago.
func born(ago ...time.Duration) []engine.Item {
	items := make([]engine.Item, len(ago))
	for i := range ago {
		items[i].Born = start.Add(-ago[i])
	}
	return items
}

// take lets a worker take a task at a time after the start, and returns its number.
func take(t *testing.T, e *engine.Engine, after time.Duration, w crowd.WorkerID) crowd.TaskID {
	t.Helper()
	h, ok, err := e.Ready(start.Add(after), w)
	must(t, err)
	if !ok {
		return 0
	}
	return h.Task
}

func TestTermsAreChecked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(*engine.Spec)
		field string
	}{
		"no penalty":                  {func(s *engine.Spec) { s.SLA = &engine.Terms{} }, "kind"},
		"no penalty of a class":       {func(s *engine.Spec) { s.SLA.Others = make([]sla.Penalty, 1) }, "kind"},
		"too many classes":            {func(s *engine.Spec) { s.SLA.Others = make([]sla.Penalty, sla.MaxClasses) }, "classes"},
		"a tail before the label":     {func(s *engine.Spec) { s.SLA.Tail = -1 }, "tail"},
		"work that is left over":      {func(s *engine.Spec) { s.SLA.Work = -1 }, "work"},
		"people invited, with an SLA": {func(s *engine.Spec) { s.Open, s.Tasks, s.Budget = false, 1, 10_000; invite1(s) }, "invited"},
		"people invited, open":        {func(s *engine.Spec) { s.SLA, s.Tasks = nil, 1; invite1(s) }, "invited"},
		"a budget below nothing":      {func(s *engine.Spec) { s.Budget = -1 }, "budget"},
		"a budget short of one task":  {func(s *engine.Spec) { s.Budget = 9_999 }, "budget"},
		"no budget, and not open":     {func(s *engine.Spec) { s.Open, s.Tasks = false, 1 }, "budget"},
		"no tasks, and not open":      {func(s *engine.Spec) { s.Open, s.Budget = false, 10_000 }, "tasks"},
		"more tasks than money":       {func(s *engine.Spec) { s.Tasks, s.Reward = 2, crowd.MaxMoney }, "items"},
		"more answers than numbers":   {func(s *engine.Spec) { s.Tasks = math.MaxUint32 }, "tasks"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newPool(t, "penalty(form=event)", 3)
			s := promised(1)
			c.spoil(&s)
			var err *crowd.Error
			if !errors.As(e.Launch(start, s), &err) || err.Field != c.field {
				t.Fatalf("launched with error %+v, want one of field %q", err, c.field)
			}
			must(t, e.Launch(start, promised(1)))
		})
	}
	e := newPool(t, "penalty(form=event)", 1)
	s := promised(1)
	must(t, e.Launch(start, s))
	s.SLA.Penalty.Cost = 0 // whoever launched it may do with it as they like
	must(t, e.Grow(start, 1, 1, born(8*time.Minute)))
	if got := e.Keys()[0].Rank[0]; got != -5_000_000 {
		t.Errorf("after its terms were changed elsewhere, a delay adds %v", -got)
	}
	must(t, wantCode(e.SetRest(start, 1, engine.Rest{Tail: -1}), crowd.Invalid))
	must(t, wantCode(e.SetRest(start, 1, engine.Rest{Work: -1}), crowd.Invalid))
	must(t, wantCode(e.SetRest(start, 1, engine.Rest{Work: engine.MaxWork + 1}), crowd.Invalid))
	must(t, wantCode(e.SetBound(start, 1, 2, start), crowd.Invalid))
	must(t, wantCode(e.SetBound(start, 1, 0, start), crowd.Invalid))
	must(t, wantCode(e.SetRest(start, 2, engine.Rest{Tail: 1}), crowd.NotFound))
}

func invite1(s *engine.Spec) { s.Invited = map[crowd.WorkerID][]uint32{1: {1}} }

// TestGrowHasBounds: of answers in a batch, and of money.
func TestGrowHasBounds(t *testing.T) {
	t.Parallel()
	e := newPool(t, "fs", 3)
	s := benchSpec(1, 0)
	s.Open, s.Budget, s.Rule = true, crowd.MaxMoney, label.Count(2)
	must(t, e.Launch(start, s))
	const most = engine.MaxBatchAnswers / 2
	many := make([]engine.Item, 1<<20)
	for known := uint32(0); known < 1<<22; known += 1 << 20 {
		must(t, e.Grow(start, 1, known+1, many))
	}
	rich := benchSpec(2, 0)
	rich.Open, rich.Budget, rich.Reward = true, 0, crowd.MaxMoney/4
	must(t, e.Launch(start, rich))
	must(t, e.Grow(start, 2, 1, make([]engine.Item, 1)))
	var why *crowd.Error
	if !errors.As(e.Grow(start, 2, 2, make([]engine.Item, 1)), &why) || why.Field != "items" {
		t.Errorf("reserved more than a batch holds: %v", why)
	}
	last := benchSpec(3, 0)
	last.Open, last.Tasks, last.Budget, last.Rule = true, most-1, crowd.MaxMoney, label.Count(2)
	must(t, e.Launch(start, last))
	must(t, e.Grow(start, 3, most, make([]engine.Item, 1)))
	if !errors.As(e.Grow(start, 3, most+1, make([]engine.Item, 1)), &why) || why.Field != "tasks" {
		t.Errorf("more answers than assignments have numbers: %v", why)
	}
	if x, _ := e.Status(3); x.Tasks != most || x.Planned != engine.MaxBatchAnswers {
		t.Errorf("%d tasks, %d planned", x.Tasks, x.Planned)
	}
	must(t, e.Check())
}

// TestAnItemInDangerGoesFirst: a task takes a minute. At the start the item of task
// 2, 8 minutes old, would just be late by a delay; that of task 3 is late anyway,
// and of the others a delay adds nothing yet.
func TestAnItemInDangerGoesFirst(t *testing.T) {
	t.Parallel()
	grow := func(t *testing.T, s engine.Spec, items []engine.Item) *engine.Engine {
		e := newPool(t, "penalty(form=event)", 9)
		must(t, e.Launch(start, s))
		must(t, e.Grow(start, 1, 1, items))
		return e
	}
	order := func(t *testing.T, e *engine.Engine, after time.Duration) (list []uint32) {
		t.Helper()
		for w := range crowd.WorkerID(9) {
			if id := take(t, e, after, w+1); id != 0 {
				list = append(list, id.N())
			}
			must(t, e.Check())
		}
		return list
	}
	items := born(0, 8*time.Minute, 9*time.Minute, 7*time.Minute)
	for name, c := range map[string]struct {
		change func(*testing.T, *engine.Engine)
		after  time.Duration
		want   []uint32
	}{
		"at once": {func(*testing.T, *engine.Engine) {}, 0, []uint32{2, 1, 3, 4}},
		"a minute later": {func(t *testing.T, e *engine.Engine) {
			if at, ok := e.NextTimer(); !ok || !at.Equal(start.Add(time.Minute)) {
				t.Errorf("the calendar says %s (%t)", at, ok)
			}
			e.Tick(start.Add(time.Minute))
		}, time.Minute, []uint32{4, 1, 2, 3}},
		"with another minute after it": {func(t *testing.T, e *engine.Engine) { must(t, e.SetRest(start, 1, engine.Rest{Tail: time.Minute})) }, 0, []uint32{4, 1, 2, 3}},
		"with another branch that ends too late": {func(t *testing.T, e *engine.Engine) {
			must(t, e.SetBound(start, 1, 2, start.Add(time.Hour)))
		}, 0, []uint32{1, 2, 3, 4}},
	} {
		t.Run(name, func(t *testing.T) {
			e := grow(t, promised(1), items)
			c.change(t, e)
			if got := order(t, e, c.after); !slices.Equal(got, c.want) {
				t.Errorf("handed out %d, want %d", got, c.want)
			}
			must(t, e.Seal(start.Add(time.Hour), 1))
		})
	}
	t.Run("by a tail of its spec", func(t *testing.T) {
		s := promised(1)
		s.SLA.Tail = time.Minute
		if got := order(t, grow(t, s, items), 0); !slices.Equal(got, []uint32{4, 1, 2, 3}) {
			t.Errorf("handed out %d", got)
		}
	})
}

// TestTheForms: recomputed every half response time, the order is what it was
// until then; by the calendar it changes when it changes. A policy's form counts
// from when it is set.
func TestTheForms(t *testing.T) {
	t.Parallel()
	const minute = time.Minute
	at := func(t *testing.T, policies []string, after time.Duration) crowd.TaskID {
		e := newPool(t, policies[0], 2)
		s := promised(1)
		must(t, e.Launch(start, s))
		must(t, e.Grow(start, 1, 1, born(0, 7*minute+50*time.Second))) // task 2 is in danger from 10 s on
		for _, p := range policies[1:] {
			e.SetPolicy(sched.MustParse(p))
			must(t, e.Check())
		}
		for next, ok := e.NextTimer(); ok && !next.After(start.Add(after)); next, ok = e.NextTimer() {
			e.Tick(next)
			must(t, e.Check())
		}
		return take(t, e, after, 1)
	}
	for _, c := range []struct {
		policies []string
		after    time.Duration
		want     uint32
	}{
		{[]string{"penalty"}, 0, 2}, // its step is the nearest from the beginning
		{[]string{"fifo"}, 0, 2},
		{[]string{"wcfs(penalty,k=1)"}, 0, 2},
		{[]string{"penalty", "penalty(form=event)"}, 9 * time.Second, 1},
		{[]string{"penalty(form=loop)", "penalty"}, 9 * time.Second, 2},
		{[]string{"penalty(form=event)"}, 9 * time.Second, 1},
		{[]string{"penalty(form=event)"}, 10 * time.Second, 2},
		{[]string{"penalty(form=loop)"}, 10 * time.Second, 1},
		{[]string{"penalty(form=loop)"}, 29 * time.Second, 1},
		{[]string{"penalty(form=loop)"}, 30 * time.Second, 2},
		{[]string{"tenant-fair(wcfs(penalty(form=loop),k=1))"}, 29 * time.Second, 1},
		{[]string{"penalty(form=event)", "penalty(form=loop)"}, 29 * time.Second, 1},
		{[]string{"penalty(form=loop)", "penalty(form=event)"}, 10 * time.Second, 2},
		{[]string{"penalty(form=loop)", "fifo"}, 10 * time.Second, 2},
	} {
		if got := at(t, c.policies, c.after); got.N() != c.want {
			t.Errorf("under %v, after %s: task %d, want %d", c.policies, c.after, got.N(), c.want)
		}
	}
}

// TestTheResponseTimeIsWhatIsSeen: while a task is expected to take a minute, the item of task
// 42 is in no danger; when people have come to take more than a tenth longer, it is.
func TestTheResponseTimeIsWhatIsSeen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ took, age, want int }{ // seconds of an answer and of the item, which costs when it ends after 600
		{180, 360, 42},
		{80, 465, 42},
		{64, 475, 31},
	} {
		e := newPool(t, "penalty(form=event)", 3)
		must(t, e.Launch(start, promised(1)))
		must(t, e.Grow(start, 1, 1, born(make([]time.Duration, 40)...)))
		now := start
		for range 30 {
			h, _, err := e.Ready(now, 1)
			must(t, err)
			now = now.Add(time.Duration(c.took) * time.Second)
			for next, ok := e.NextTimer(); ok && !next.After(now); next, ok = e.NextTimer() {
				e.Tick(next)
			}
			_, err = e.Submit(now, 1, h.Assignment, "1", "1")
			must(t, err)
			must(t, e.Check())
		}
		must(t, e.Grow(now, 1, 41, []engine.Item{{Born: now}, {Born: now.Add(-time.Duration(c.age) * time.Second)}}))
		if got := take(t, e, now.Sub(start), 2); int(got.N()) != c.want {
			t.Errorf("answers took %d s: task %d, want %d: the item of 42 is %d s old", c.took, got.N(), c.want, c.age)
		}
	}
}

// TestASlopeMovesEachTaskOnceASecond at most, however short tasks are.
func TestASlopeMovesEachTaskOnceASecond(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"penalty", "penalty(form=event)"} {
		e := newPool(t, policy, 1)
		s := promised(1)
		s.TaskTime = 1
		s.SLA.Penalty = sla.Penalty{Kind: sla.Linear, Cost: crowd.Unit, Every: time.Second}
		must(t, e.Launch(start, s))
		must(t, e.Grow(start, 1, 1, born(make([]time.Duration, 10)...)))
		end, ticks := start.Add(20*time.Second), 0
		for next, ok := e.NextTimer(); ok && !next.After(end); next, ok = e.NextTimer() {
			e.Tick(next)
			if ticks++; ticks > 1000 {
				t.Fatalf("%s: %d ticks up to %s", policy, ticks, next)
			}
		}
		if policy == "penalty" && ticks < 15 {
			t.Errorf("%s: %d ticks only", policy, ticks)
		}
	}
}

// TestTheHeadIsTold: the policy knows the batch's first task as new tasks, the
// calendar, a hand-out and a skip change it.
func TestTheHeadIsTold(t *testing.T) {
	t.Parallel()
	e := newPool(t, "penalty(form=event)", 3)
	must(t, e.Launch(start, promised(1)))
	must(t, e.Launch(start.Add(time.Second), benchSpec1(2)))
	head := func(what string, id int, added crowd.Money, since time.Duration) {
		t.Helper()
		keys := e.Keys()
		rank := keys[slices.IndexFunc(keys, func(k sched.Key) bool { return k.Batch == crowd.BatchID(id) })].Rank
		if rank[0] != sched.Number(-added) || rank[1] != sched.Number(start.Add(since).Unix()) {
			t.Errorf("%s: the policy has %v, want %d since %s", what, rank, added, since)
		}
	}
	const five = 5 * crowd.Unit
	head("nothing was promised", 2, 0, time.Second)
	if keys := e.Keys(); len(keys) != 1 {
		t.Errorf("a batch without a task is in the order: %v", keys)
	}
	if why, err := e.WhyBatch(1); err != nil || why.Ahead != 0 || why.Reason != crowd.NoTaskYet {
		t.Errorf("it waits because of %+v", why)
	}
	must(t, e.Grow(start.Add(2*time.Second), 1, 1, born(0)))
	head("one task", 1, 0, 2*time.Second)
	must(t, e.Grow(start.Add(3*time.Second), 1, 2, born(8*time.Minute)))
	head("one in danger", 1, five, 3*time.Second)
	if got := take(t, e, 4*time.Second, 1); got != crowd.BatchID(1).Task(2) {
		t.Fatalf("handed out %s", got)
	}
	head("it is handed out", 1, 0, 2*time.Second)
	must(t, e.Skip(start.Add(5*time.Second), 1, crowd.BatchID(1).Assignment(1)))
	head("it is back, in its place", 1, five, 3*time.Second)
	e.Tick(start.Add(time.Minute))
	head("too late", 1, 0, 2*time.Second)
	must(t, e.SetRest(start.Add(time.Minute), 1, engine.Rest{Tail: 7 * time.Minute}))
	head("the other one in danger", 1, five, 2*time.Second)
	must(t, e.SetBound(start.Add(time.Minute), 1, 1, start.Add(time.Hour)))
	head("late by another branch", 1, 0, 2*time.Second)
	must(t, e.Check())
}

// TestTheStepIsTold is TestTheHeadIsTold by apparent tardiness cost: until when the
// first task is to be handed out, and what is at stake. A task takes a minute, and so
// is to begin 1 min 18 s before its item's ten minutes are over.
func TestTheStepIsTold(t *testing.T) {
	t.Parallel()
	e := newPool(t, "penalty(form=atc)", 3)
	must(t, e.Launch(start, promised(1)))
	head := func(what string, due, since time.Duration) {
		t.Helper()
		keys := e.Keys()
		got := map[string]sched.Number{}
		for _, f := range keys[0].Figures {
			got[f.Name] = f.Value
		}
		want := map[string]sched.Number{"due": sched.Number(start.Add(due).Unix()), "stake": sched.Number(5 * crowd.Unit), "since": sched.Number(start.Add(since).Unix()), "worth": got["worth"], "response_time": 60}
		if due == 0 {
			want = map[string]sched.Number{"since": want["since"]}
		}
		if len(keys) != 1 || !maps.Equal(got, want) {
			t.Errorf("%s: the policy has %v, want %v", what, got, want)
		}
	}
	far, near := 8*time.Minute+42*time.Second, 42*time.Second
	must(t, e.Grow(start.Add(2*time.Second), 1, 1, born(0)))
	head("one task", far, 2*time.Second)
	must(t, e.Grow(start.Add(3*time.Second), 1, 2, born(8*time.Minute)))
	head("one whose time is sooner up", near, 3*time.Second)
	if got := take(t, e, 4*time.Second, 1); got != crowd.BatchID(1).Task(2) {
		t.Fatalf("handed out %s", got)
	}
	head("it is handed out", far, 2*time.Second)
	must(t, e.Skip(start.Add(5*time.Second), 1, crowd.BatchID(1).Assignment(1)))
	head("it is back, in its place", near, 3*time.Second)
	if at, ok := e.NextTimer(); !ok || !at.Equal(start.Add(near)) {
		t.Errorf("the next timer is at %s (%t)", at, ok)
	}
	e.Tick(start.Add(near - 1))
	head("just in time", near, 3*time.Second)
	e.Tick(start.Add(near))
	head("too late", far, 2*time.Second)
	must(t, e.SetRest(start.Add(time.Minute), 1, engine.Rest{Tail: 7 * time.Minute}))
	head("more is to be done behind it", far-7*time.Minute, 2*time.Second)
	e.SetPolicy(sched.MustParse("penalty(form=loop)"))
	e.SetPolicy(sched.MustParse("penalty(form=atc)"))
	head("from a policy to another and back", far-7*time.Minute, 2*time.Second)
	must(t, e.SetBound(start.Add(time.Minute), 1, 1, start.Add(time.Hour)))
	head("late by another branch", 0, 2*time.Second)
	must(t, e.Check())
}

// TestATaskInHandKeepsItsTerms: what is said of a task while somebody holds it counts
// when it comes back.
func TestATaskInHandKeepsItsTerms(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		say  func(e *engine.Engine) error
		want crowd.Money
	}{
		"nothing":         {func(*engine.Engine) error { return nil }, 5 * crowd.Unit},
		"a late branch":   {func(e *engine.Engine) error { return e.SetBound(start, 1, 1, start.Add(time.Hour)) }, 0},
		"a longer tail":   {func(e *engine.Engine) error { return e.SetRest(start, 1, engine.Rest{Tail: 5 * time.Minute}) }, 0},
		"another's":       {func(e *engine.Engine) error { return e.SetBound(start, 1, 2, start.Add(time.Hour)) }, 5 * crowd.Unit},
		"an early branch": {func(e *engine.Engine) error { return e.SetBound(start, 1, 1, start) }, 5 * crowd.Unit},
	} {
		e := newPool(t, "penalty(form=event)", 1)
		must(t, e.Launch(start, promised(1)))
		must(t, e.Grow(start, 1, 1, born(8*time.Minute, 0)))
		if got := take(t, e, 0, 1); got.N() != 1 {
			t.Fatalf("%s: handed out %s", name, got)
		}
		must(t, c.say(e))
		must(t, e.Return(start, 1, crowd.BatchID(1).Assignment(1)))
		if got := e.Keys()[0].Rank[0]; got != sched.Number(-c.want) {
			t.Errorf("%s: added %v, want %d", name, -got, c.want)
		}
		must(t, e.Check())
	}
}

// TestRestoreWithItems: what has an SLA goes on with the items that were kept.
func TestRestoreWithItems(t *testing.T) {
	t.Parallel()
	restore := func(tasks uint32, labelled int, items ...engine.ItemSnapshot) (*engine.Engine, error) {
		s := promised(1)
		p := engine.Progress{Batch: 1, State: crowd.BatchRunning, Priority: 1, Tasks: tasks, Open: true, Fresh: 1, Labelled: labelled, Completed: labelled,
			OldestOpen: 1, Planned: int(tasks), Worked: time.Duration(labelled) * time.Minute, Escrow: 10_000 * crowd.Money(int(tasks)-labelled), LaunchedAt: start.Add(-time.Hour)}
		e, err := engine.Restore(start, engine.Config{Policy: sched.MustParse("penalty(form=event)")}, &engine.Snapshot{
			Tenants: []engine.Tenant{{ID: 1, Weight: 1}}, Workers: []engine.Worker{{ID: 1}, {ID: 2}, {ID: 3}},
			Batches: []engine.BatchSnapshot{{Spec: s, Progress: p, Items: items}},
		})
		if err == nil {
			err = e.Check()
		}
		return e, err
	}
	item := func(n uint32, ago time.Duration) engine.ItemSnapshot {
		return engine.ItemSnapshot{N: n, Born: start.Add(-ago)}
	}
	for name, c := range map[string]struct {
		labelled int
		items    []engine.ItemSnapshot
		want     string
	}{
		"none":               {0, nil, "items of 0"},
		"one missing":        {0, []engine.ItemSnapshot{item(1, 0), item(3, 0)}, "items of 2"},
		"one with a label":   {1, []engine.ItemSnapshot{item(1, 0), item(2, 0), item(3, 0)}, "items of 3"},
		"one twice":          {0, []engine.ItemSnapshot{item(1, 0), item(2, 0), item(2, 0)}, "twice"},
		"one without number": {0, []engine.ItemSnapshot{item(0, 0), item(2, 0), item(3, 0)}, "twice"},
	} {
		if _, err := restore(3, c.labelled, c.items...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
	}
	// A clock that went back: what is born after now has not come after now.
	e, err := restore(1, 0, item(1, -time.Hour))
	must(t, err)
	if k := e.Keys()[0]; k.Rank[1] != sched.Number(start.Add(-time.Hour).Unix()) {
		t.Errorf("the head is %v, want it since the launch", k.Rank)
	}
	// Not in order, and two that the engine was not told of.
	e, err = restore(3, 1, item(5, 8*time.Minute), item(3, 8*time.Minute), item(4, 0), item(2, 5*time.Minute))
	must(t, err)
	if x, _ := e.Status(1); x.Tasks != 3 || !x.Open || x.Waiting != 2 {
		t.Errorf("restored as %+v", x)
	}
	if k := e.Keys()[0]; k.Rank[0] != -5_000_000 || k.Rank[1] != sched.Number(start.Add(-5*time.Minute).Unix()) {
		t.Errorf("the head is %v: task 3 came no earlier than the item of task 2", k.Rank)
	}
	must(t, e.Grow(start, 1, 2, []engine.Item{{}, {}, {Born: start}, {Born: start.Add(-8 * time.Minute)}}))
	for w, want := range []uint32{3, 5, 2} {
		if got := take(t, e, 0, crowd.WorkerID(w+1)); got.N() != want {
			t.Errorf("u%d got task %d, want %d", w+1, got.N(), want)
		}
	}
	must(t, e.Check())
}

// TestRestoreWithoutTheItemInHand: of a task in somebody's hands the item is not there.
func TestRestoreWithoutTheItemInHand(t *testing.T) {
	t.Parallel()
	s := promised(1)
	p := engine.Progress{Batch: 1, State: crowd.BatchRunning, Priority: 1, Tasks: 3, Open: true, Fresh: 2, Labelled: 1, Issued: 2,
		OldestOpen: 2, Planned: 3, Completed: 1, Escrow: 20_000, LaunchedAt: start}
	_, err := engine.Restore(start, engine.Config{Policy: sched.MustParse("penalty(form=event)")}, &engine.Snapshot{
		Tenants: []engine.Tenant{{ID: 1, Weight: 1}}, Workers: []engine.Worker{{ID: 1}},
		Batches: []engine.BatchSnapshot{{Spec: s, Progress: p, Items: []engine.ItemSnapshot{{N: 2}, {N: 3}}, Assignments: []engine.AssignmentSnapshot{
			{ID: s.ID.Assignment(2), Task: s.ID.Task(1), Worker: 1, State: crowd.Assigned, At: start},
		}}},
	})
	if err == nil || !strings.Contains(err.Error(), "the item of t1.1 is not there") {
		t.Errorf("restored with error %v", err)
	}
}

// TestASealedBatchStaysSealed over a restart: its Spec says what it was launched as.
func TestASealedBatchStaysSealed(t *testing.T) {
	t.Parallel()
	s := benchSpec1(1)
	s.Open, s.Tasks = true, 0
	p := engine.Progress{Batch: 1, State: crowd.BatchRunning, Priority: 1, Tasks: 2, Fresh: 1, OldestOpen: 1, Planned: 2, Escrow: s.Budget, LaunchedAt: start}
	e, err := engine.Restore(start, engine.Config{Policy: sched.MustParse("fs")}, &engine.Snapshot{
		Tenants: []engine.Tenant{{ID: 1, Weight: 1}}, Workers: []engine.Worker{{ID: 1}}, Batches: []engine.BatchSnapshot{{Spec: s, Progress: p}},
	})
	must(t, err)
	must(t, e.Check())
	must(t, wantCode(e.Grow(start, 1, 3, make([]engine.Item, 1)), crowd.Conflict))
	must(t, e.Seal(start, 1))
	if x, _ := e.Status(1); x.Open || x.Tasks != 2 {
		t.Errorf("restored as %+v", x)
	}
}
