package engine_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/sched"
)

// newPool makes a pool of tenant 1 and n workers.
func newPool(t testing.TB, policy string, n int) *engine.Engine {
	t.Helper()
	e := engine.New(engine.Config{Policy: sched.MustParse(policy), Observe: true})
	must(t, e.SetTenant(start, engine.Tenant{ID: 1, Weight: 1}))
	for id := range crowd.WorkerID(n) {
		must(t, e.SetWorker(start, engine.Worker{ID: id + 1}))
	}
	return e
}

// TestInvalidSpecs spoils one field of a good batch at a time: the error names
// it, and nothing has changed.
func TestInvalidSpecs(t *testing.T) {
	t.Parallel()
	needs := func(list ...engine.Requirement) func(*engine.Spec) {
		return func(s *engine.Spec) { s.Requirements = list }
	}
	invite := func(w crowd.WorkerID, list ...uint32) func(*engine.Spec) {
		return func(s *engine.Spec) { s.Invited = map[crowd.WorkerID][]uint32{1: {1, 2, 3}, w: list} }
	}
	cases := map[string]struct {
		spoil func(*engine.Spec)
		field string
	}{
		"no id":                        {func(s *engine.Spec) { s.ID = 0 }, "id"},
		"an id that does not fit":      {func(s *engine.Spec) { s.ID = crowd.MaxBatchID + 1 }, "id"},
		"a tenant nobody knows":        {func(s *engine.Spec) { s.Tenant = 9 }, "tenant"},
		"no tasks":                     {func(s *engine.Spec) { s.Tasks = 0 }, "tasks"},
		"more answers than numbers":    {func(s *engine.Spec) { s.Tasks, s.Rule = math.MaxUint32, label.Count(1) }, "tasks"},
		"sure of answers not listed":   {func(s *engine.Spec) { s.Rule = label.Until(0.99, 2, 10) }, "redundancy"},
		"surer than can be":            {func(s *engine.Spec) { s.Rule = label.Until(1, 2, 10).WithClasses(2) }, "until"},
		"no rule":                      {func(s *engine.Spec) { s.Rule = label.Rule{} }, "redundancy"},
		"no answers":                   {func(s *engine.Spec) { s.Rule = label.Count(0) }, "count"},
		"an agreement that cannot be":  {func(s *engine.Spec) { s.Rule = label.Agree(3, 2) }, "agree"},
		"no price":                     {func(s *engine.Spec) { s.Reward = 0 }, "reward"},
		"a negative price":             {func(s *engine.Spec) { s.Reward = -1 }, "reward"},
		"a price beyond all":           {func(s *engine.Spec) { s.Reward = crowd.MaxMoney + 1 }, "reward"},
		"no budget":                    {func(s *engine.Spec) { s.Budget = 0 }, "budget"},
		"a budget short of one task":   {func(s *engine.Spec) { s.Budget = 3*s.Reward - 1 }, "budget"},
		"a budget beyond all":          {func(s *engine.Spec) { s.Budget = crowd.MaxMoney + 1 }, "budget"},
		"no priority":                  {func(s *engine.Spec) { s.Priority = 0 }, "priority"},
		"a negative priority":          {func(s *engine.Spec) { s.Priority = -1 }, "priority"},
		"a priority next to nothing":   {func(s *engine.Spec) { s.Priority = engine.MinPriority / 2 }, "priority"},
		"a priority beyond all":        {func(s *engine.Spec) { s.Priority = math.Inf(1) }, "priority"},
		"a priority that is no number": {func(s *engine.Spec) { s.Priority = math.NaN() }, "priority"},
		"a deadline that has passed":   {func(s *engine.Spec) { s.Deadline = start }, "deadline"},
		"a lease of no time":           {func(s *engine.Spec) { s.Lease = engine.MinLease - 1 }, "lease"},
		"a lease for ever":             {func(s *engine.Spec) { s.Lease = engine.MaxLease + 1 }, "lease"},
		"a grace of no time":           {func(s *engine.Spec) { s.Grace = engine.MinGrace - 1 }, "grace"},
		"a grace for ever":             {func(s *engine.Spec) { s.Grace = engine.MaxGrace + 1 }, "grace"},
		"approval of no time":          {func(s *engine.Spec) { s.Approval = &engine.Approval{Appeal: engine.MinAppeal} }, "approval.within"},
		"approval for ever": {func(s *engine.Spec) {
			s.Approval = &engine.Approval{Within: engine.MaxApproval + 1, Appeal: engine.MinAppeal}
		}, "approval.within"},
		"appeals of no time":           {func(s *engine.Spec) { s.Approval = &engine.Approval{Within: time.Hour} }, "approval.appeal"},
		"appeals for ever":             {func(s *engine.Spec) { s.Approval = &engine.Approval{Within: time.Hour, Appeal: engine.MaxAppeal + 1} }, "approval.appeal"},
		"a grace before now":           {func(s *engine.Spec) { s.Grace = -time.Second }, "grace"},
		"tasks of no time":             {func(s *engine.Spec) { s.TaskTime = 0 }, "task_time"},
		"tasks for ever":               {func(s *engine.Spec) { s.TaskTime = math.MaxInt64 }, "task_time"},
		"a lifetime that has passed":   {func(s *engine.Spec) { s.EndsAt = start }, "ends_at"},
		"a qualification without name": {needs(engine.Requirement{Min: 1}), "qualifications"},
		"a qualification of two lines": {needs(engine.Requirement{Name: "a\nb"}), "qualifications"},
		"a name too long":              {needs(engine.Requirement{Name: strings.Repeat("x", 101)}), "qualifications"},
		"a score below 0":              {needs(engine.Requirement{Name: "a", Min: -1}), "qualifications"},
		"a score above 100":            {needs(engine.Requirement{Name: "a", Min: 101}), "qualifications"},
		"a qualification twice":        {needs(engine.Requirement{Name: "a"}, engine.Requirement{Name: "a", Min: 2}), "qualifications"},
		"too many qualifications":      {needs(make([]engine.Requirement, engine.MaxRules+1)...), "qualifications"},
		"invited to nothing":           {invite(2), "invited"},
		"nobody is invited":            {invite(0, 1), "invited"},
		"invited to task 0":            {invite(2, 0, 1), "invited"},
		"invited to a task beyond":     {invite(2, 1, 4), "invited"},
		"invited out of order":         {invite(2, 2, 1), "invited"},
		"invited twice to one task":    {invite(2, 1, 1), "invited"},
		"too small a crowd for a task of all": {func(s *engine.Spec) {
			s.Invited, s.Rule, s.Budget = map[crowd.WorkerID][]uint32{1: {1, 3}}, label.Count(4), crowd.MaxMoney
		}, "redundancy"},
		"too small a crowd":      {func(s *engine.Spec) { s.Rule, s.Budget = label.Count(4), crowd.MaxMoney }, "redundancy"},
		"nobody so well trained": {needs(engine.Requirement{Name: "a"}), "redundancy"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			e := newPool(t, "fs", 3)
			s := benchSpec(1, 3)
			c.spoil(&s)
			var err *crowd.Error
			if !errors.As(e.Launch(start, s), &err) || err.Field != c.field || err.Code != crowd.Invalid && err.Code != crowd.BudgetTooSmall {
				t.Fatalf("launched with error %+v, want one of field %q", err, c.field)
			}
			var ch engine.Changes
			if e.Take(&ch); !ch.Empty() || e.Counts().Batches > 0 {
				t.Errorf("a launch that failed changed %+v", ch)
			}
			must(t, e.Launch(start, benchSpec(1, 3)))
		})
	}
}

func TestInvalidTenantsAndWorkers(t *testing.T) {
	t.Parallel()
	e := newPool(t, "fs", 0)
	for _, x := range []engine.Tenant{{ID: 0, Weight: 1}, {ID: 1}, {ID: 1, Weight: -1}, {ID: 1, Weight: math.NaN()}, {ID: 1, Weight: math.Inf(1)}, {ID: 1, Weight: 1e-9}} {
		must(t, wantCode(e.SetTenant(start, x), crowd.Invalid))
	}
	must(t, wantCode(e.SetWorker(start, engine.Worker{}), crowd.Invalid))
	if n := e.Counts().Belong; n != 0 {
		t.Errorf("%d workers", n)
	}
}

// TestInvitedByTheThousand: more people than a rule can ask, and than fit in 16 bits.
func TestInvitedByTheThousand(t *testing.T) {
	t.Parallel()
	e := newPool(t, "fs", 1)
	s := benchSpec(1, 1)
	s.Invited = make(map[crowd.WorkerID][]uint32)
	for id := range crowd.WorkerID(1<<16 + 1) {
		s.Invited[id+1] = []uint32{1}
	}
	must(t, e.Launch(start, s))
	if x, _ := e.Status(1); x.Planned != 3 {
		t.Errorf("the task wants %d answers, want 3", x.Planned)
	}
}

// TestLoneWorkerGoesThroughAll: one person alone in a batch of 100,000 tasks of
// three answers passes all that they have done already. Walked from the start each
// time, these would be 5·10^9 steps, and the test would not end.
func TestLoneWorkerGoesThroughAll(t *testing.T) {
	t.Parallel()
	const tasks = 100_000
	for _, invited := range []bool{false, true} {
		e := newPool(t, "fs", 3)
		s := benchSpec(1, tasks)
		if invited {
			s.Invited = invite(3, tasks, 3)
		}
		must(t, e.Launch(start, s))
		var ch engine.Changes
		if invited { // somebody sits on their first task all the while
			_, _, err := e.Ready(start, 2)
			must(t, err)
			_, _, err = e.Ready(start, 3)
			must(t, err)
		}
		done := 0
		for h, ok, err := e.Ready(start, 1); ok; h, ok, err = e.Ready(start, 1) {
			must(t, err)
			_, err = e.Submit(start, 1, h.Assignment, "1", "1")
			must(t, err)
			e.Take(&ch)
			done++
		}
		if done != tasks {
			t.Errorf("invited %t: they did %d tasks of %d", invited, done, tasks)
		}
		must(t, e.Check())
	}
}

// TestNothingAfterTheEnd: a lease and the lifetime of its batch run out in one
// tick, so the event that the lease produced meets a task that is gone.
func TestNothingAfterTheEnd(t *testing.T) {
	t.Parallel()
	e := newPool(t, "fs", 2)
	s := benchSpec(1, 1)
	s.Rule, s.EndsAt = label.Count(2), start.Add(2*time.Hour)
	must(t, e.Launch(start, s))
	first, _, err := e.Ready(start, 1)
	must(t, err)
	_, _, err = e.Ready(start, 2)
	must(t, err)
	_, err = e.Submit(start, 1, first.Assignment, "1", "1")
	must(t, err)
	var ch engine.Changes
	e.Take(&ch)
	e.Tick(start.Add(3 * time.Hour))
	e.Take(&ch)
	if len(ch.Ends) != 1 || ch.Ends[0].State != crowd.Expired || len(ch.Labels) != 1 || len(ch.Progress) != 1 {
		t.Errorf("want the lease to run out before the batch ends: %+v", ch)
	}
	if len(ch.Events) > 0 {
		t.Errorf("events of a task that is gone: %+v", ch.Events)
	}
}

// TestTurnOfTenantOutlivesPolicy: a policy that comes later knows when each
// tenant was served last, though the batches it was served from have ended.
func TestTurnOfTenantOutlivesPolicy(t *testing.T) {
	t.Parallel()
	e := newPool(t, "fs", 1)
	must(t, e.SetTenant(start, engine.Tenant{ID: 2, Weight: 1}))
	launch := func(id crowd.BatchID, tenant crowd.TenantID) {
		s := benchSpec(id, 1)
		s.Tenant, s.Rule = tenant, label.Count(1)
		must(t, e.Launch(start, s))
	}
	launch(1, 1)
	h, _, err := e.Ready(start, 1)
	must(t, err)
	_, err = e.Submit(start, 1, h.Assignment, "1", "1")
	must(t, err)
	launch(2, 1)
	launch(3, 2)
	e.SetPolicy(sched.MustParse("tenant-fair(fifo)"))
	if h, _, _ := e.Ready(start, 1); h.Task.Batch() != 3 {
		t.Errorf("%s is served from %s, want b3: its tenant has not been served yet", h.Worker, h.Task.Batch())
	}
}

// restored makes an engine from one batch of two answers with one assignment.
func restored(t *testing.T, a engine.AssignmentSnapshot, workers ...engine.Worker) (*engine.Engine, error) {
	t.Helper()
	s := benchSpec(1, 2)
	s.Rule = label.Count(2)
	p := engine.Progress{
		Batch: 1, State: crowd.BatchRunning, Priority: 1, Fresh: 2, Issued: 1, OldestOpen: 1, Planned: 4,
		Escrow: s.Budget, LaunchedAt: start, FirstStarted: start,
	}
	if a.Counted {
		p.Completed, p.Spent, p.Escrow = 1, a.Paid, p.Escrow-a.Paid
	}
	a.ID, a.Task, a.At, a.Expires = s.ID.Assignment(1), s.ID.Task(1), start, start.Add(s.Lease)
	return engine.Restore(start, engine.Config{Policy: sched.MustParse("fs")}, &engine.Snapshot{
		Tenants: []engine.Tenant{{ID: 1, Weight: 1}}, Workers: workers,
		Batches: []engine.BatchSnapshot{{Spec: s, Progress: p, Assignments: []engine.AssignmentSnapshot{a}}},
	})
}

// TestRestoreAnswered: an answer that comes again after a restart is a
// duplicate, whatever state it is in by then.
func TestRestoreAnswered(t *testing.T) {
	t.Parallel()
	states := slices.DeleteFunc(crowd.AssignmentStates(), func(s crowd.AssignmentState) bool { return !s.Answered() })
	if len(states) == 0 {
		t.Fatal("no state is that of an answer")
	}
	for _, state := range states {
		t.Run(string(state), func(t *testing.T) {
			e, err := restored(t, engine.AssignmentSnapshot{Worker: 1, State: state, Counted: true, Key: "1", Paid: 10_000}, engine.Worker{ID: 1})
			must(t, err)
			must(t, e.Check())
			out, err := e.Submit(start, 1, crowd.BatchID(1).Assignment(1), "1", "1")
			if want := (engine.Outcome{Counted: true, Duplicate: true, Paid: 10_000}); err != nil || out != want {
				t.Errorf("sent again: %+v, %v; want %+v", out, err, want)
			}
		})
	}
}

// TestRestoreWithoutHolder: the store holds a task in the hands of somebody who
// is no longer in the pool. The pool runs all the same; the lease runs out, and
// until then they may answer.
func TestRestoreWithoutHolder(t *testing.T) {
	t.Parallel()
	for _, answers := range []bool{false, true} {
		e, err := restored(t, engine.AssignmentSnapshot{Worker: 7, State: crowd.Assigned}, engine.Worker{ID: 1}, engine.Worker{ID: 2})
		must(t, err)
		must(t, e.Check())
		if answers {
			_, err := e.Submit(start, 7, crowd.BatchID(1).Assignment(1), "1", "1")
			must(t, err)
		} else {
			e.Tick(start.Add(2 * time.Hour))
		}
		if n := len(e.Holding(0)); n != 0 {
			t.Errorf("%d tasks still in hand", n)
		}
		must(t, e.Check())
		_, _, err = e.Ready(start, 7)
		must(t, wantCode(err, crowd.Forbidden))
		must(t, e.RemoveWorker(start, 7))
	}
}

func TestRestoreRefusesNonsense(t *testing.T) {
	t.Parallel()
	cfg := engine.Config{Policy: sched.MustParse("fs")}
	twice := engine.AssignmentSnapshot{Worker: 1, State: crowd.Assigned}
	for name, s := range map[string]engine.Snapshot{
		"a tenant without weight": {Tenants: []engine.Tenant{{ID: 1}}},
		"a worker without id":     {Workers: []engine.Worker{{}}},
		"a batch without tenant":  {Batches: []engine.BatchSnapshot{{Spec: benchSpec(1, 1)}}},
		"two tasks in one hand": {
			Tenants: []engine.Tenant{{ID: 1, Weight: 1}}, Workers: []engine.Worker{{ID: 1}},
			Batches: []engine.BatchSnapshot{{Spec: benchSpec(1, 3), Assignments: []engine.AssignmentSnapshot{
				with(twice, 1), with(twice, 2),
			}}},
		},
	} {
		if _, err := engine.Restore(start, cfg, &s); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func with(a engine.AssignmentSnapshot, n uint32) engine.AssignmentSnapshot {
	a.ID, a.Task = crowd.BatchID(1).Assignment(n), crowd.BatchID(1).Task(n)
	return a
}

// TestAccountNames are what ledgers print.
func TestAccountNames(t *testing.T) {
	t.Parallel()
	for want, a := range map[string]engine.Account{
		"outside": {Kind: engine.Outside}, "n3": {Kind: engine.TenantAccount, ID: 3},
		"b17": {Kind: engine.BatchAccount, ID: 17}, "u42": {Kind: engine.WorkerAccount, ID: 42},
	} {
		if a.String() != want {
			t.Errorf("%+v is %q, want %q", a, a.String(), want)
		}
	}
}

// TestViews are the questions that callers ask in passing.
func TestViews(t *testing.T) {
	t.Parallel()
	e := newPool(t, "fifo", 2)
	must(t, e.Launch(start, benchSpec1(2)))
	must(t, e.Launch(start.Add(time.Second), benchSpec1(1)))
	keys := e.Keys()
	if len(keys) != 2 || keys[0].Batch != 1 || keys[1].Batch != 2 || !keys[1].Before(keys[0]) || e.PolicyName() != "fifo" {
		t.Errorf("%s has the keys %+v, want those of b1 and b2, b2 before b1", e.PolicyName(), keys)
	}
	if _, ok := e.Holds(1); ok {
		t.Error("u1 holds something")
	}
	h, _, err := e.Ready(start.Add(time.Minute), 1)
	must(t, err)
	if got, ok := e.Holds(1); got != h || !ok {
		t.Errorf("u1 holds %v, want %v", got, h)
	}
	if got := e.Holding(1); len(got) != 0 {
		t.Errorf("of b1 %v is in hand, want nothing", got)
	}
}

func benchSpec1(id crowd.BatchID) engine.Spec {
	s := benchSpec(id, 5)
	s.Rule = label.Count(1)
	return s
}
