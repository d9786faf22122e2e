package engine_test

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
)

// store is the simplest store: rows made from Changes alone, kind by kind in
// the order of the fields, and a snapshot made from the rows.
type store struct {
	specs    map[crowd.BatchID]engine.Spec
	items    map[crowd.BatchID][]engine.Item // by number of the task - 1; of open batches also some that the engine was not told of
	tenants  map[crowd.TenantID]engine.Tenant
	workers  map[crowd.WorkerID]engine.Worker
	progress map[crowd.BatchID]engine.Progress
	rows     map[crowd.AssignmentID]*engine.AssignmentSnapshot
	labels   map[crowd.TaskID]engine.Label
	removed  map[crowd.BatchID][]uint32
	past     map[crowd.BatchID][]engine.PastReward
	actions  map[crowd.BatchID][]engine.Action
	duties   map[crowd.WorkerID]engine.Duty
	reviews  map[crowd.TaskID]crowd.TaskID     // the tasks whose labels are reviewed, by their reviews
	sentBack map[crowd.TaskID][]crowd.WorkerID // who has sent labels of a task back
	bodies   map[crowd.AssignmentID]string     // of answers, as they were given last
	revised  map[crowd.AssignmentID]int        // how often
	funds    crowd.Money
	retainer engine.Retainer
	gate     engine.Gate
	gateOpen bool
}

func newStore() *store {
	return &store{
		specs:    make(map[crowd.BatchID]engine.Spec),
		items:    make(map[crowd.BatchID][]engine.Item),
		tenants:  make(map[crowd.TenantID]engine.Tenant),
		workers:  make(map[crowd.WorkerID]engine.Worker),
		progress: make(map[crowd.BatchID]engine.Progress),
		rows:     make(map[crowd.AssignmentID]*engine.AssignmentSnapshot),
		labels:   make(map[crowd.TaskID]engine.Label),
		removed:  make(map[crowd.BatchID][]uint32),
		past:     make(map[crowd.BatchID][]engine.PastReward),
		actions:  make(map[crowd.BatchID][]engine.Action),
		duties:   make(map[crowd.WorkerID]engine.Duty),
		reviews:  make(map[crowd.TaskID]crowd.TaskID),
		sentBack: make(map[crowd.TaskID][]crowd.WorkerID),
		bodies:   make(map[crowd.AssignmentID]string),
		revised:  make(map[crowd.AssignmentID]int),
	}
}

func (s *store) apply(ch *engine.Changes) {
	for _, x := range ch.Handouts {
		s.rows[x.Assignment] = &engine.AssignmentSnapshot{
			ID: x.Assignment, Task: x.Task, Worker: x.Worker, State: crowd.Assigned, At: x.At, Expires: x.Expires,
		}
	}
	for _, x := range ch.Undone {
		r := s.rows[x.Assignment]
		r.State, r.AnsweredAt, r.Key, r.Body, r.Expires, r.SendBack = crowd.Assigned, time.Time{}, "", "", x.Expires, nil
	}
	for _, x := range ch.Ends {
		s.rows[x.Assignment].State = x.State
	}
	for _, x := range ch.Provisional {
		r := s.rows[x.Assignment]
		r.State, r.AnsweredAt, r.Key, r.Body = crowd.Provisional, x.At, x.Key, x.Body
		if x.SendBack != "" {
			r.SendBack = &engine.SendBack{Comment: x.SendBack}
		}
	}
	for _, x := range ch.Answers {
		r := s.rows[x.Assignment]
		r.State, r.AnsweredAt, r.Key, r.Late, r.Counted, r.Paid = crowd.Submitted, x.At, x.Key, x.Late, x.Counted, x.Paid
		r.SendBack = nil
		s.bodies[x.Assignment] = x.Body
	}
	for _, x := range ch.Revised {
		s.bodies[x.Assignment], s.revised[x.Assignment] = x.Body, x.N
		if !x.Check {
			s.rows[x.Assignment].Key = x.Key
		}
	}
	for _, x := range ch.Disregarded {
		s.rows[x.Assignment].Disregarded = true
	}
	for _, x := range ch.SentBack {
		if x.Acts {
			s.sentBack[x.Task] = append(s.sentBack[x.Task], x.By)
		}
	}
	for _, x := range ch.Unlabelled {
		delete(s.labels, x.Task)
	}
	for _, x := range ch.Labels {
		s.labels[x.Task] = x
	}
	for _, x := range ch.Reviews {
		id := x.Review.Batch()
		s.items[id] = append(s.items[id], engine.Item{NotBy: x.NotBy})
		for review, task := range s.reviews {
			if task == x.Task {
				delete(s.reviews, review)
			}
		}
		s.reviews[x.Review] = x.Task
	}
	for _, x := range ch.Transfers {
		if x.To == poolAccount {
			s.funds += x.Amount
		}
		if x.From == poolAccount {
			s.funds -= x.Amount
		}
	}
	for _, x := range ch.Duties {
		s.duties[x.Worker] = x
	}
	for _, x := range ch.Gates {
		s.gateOpen = x.Open
	}
	for _, x := range ch.Revisions {
		spec := s.specs[x.Batch]
		spec.Rule, spec.Reward, spec.Production, spec.Tasks, spec.Enough = x.Rule, x.Reward, x.Production, spec.Tasks+x.Added, x.Enough
		s.specs[x.Batch] = spec
		known := func(p engine.PastReward) bool { return p.Last == x.Was.Last }
		if x.Was.Reward != 0 && !slices.ContainsFunc(s.past[x.Batch], known) {
			s.past[x.Batch] = append(s.past[x.Batch], x.Was)
		}
	}
	for _, x := range ch.Undoings {
		a := &s.actions[x.Batch][x.N-1]
		a.Undoing, a.Lessons = x.Undoing, x.Lessons
	}
	for _, x := range ch.Actions {
		s.actions[x.Batch] = append(s.actions[x.Batch], x)
	}
	for _, x := range ch.Removals {
		s.removed[x.Task.Batch()] = append(s.removed[x.Task.Batch()], x.Task.N())
	}
	for _, x := range ch.Progress {
		s.progress[x.Batch] = x
	}
}

// snapshot reads what a store would read for a restart: of each running batch
// the assignments from OldestOpen on, of tasks without a label.
func (s *store) snapshot(stopped bool) *engine.Snapshot {
	out := &engine.Snapshot{Stopped: stopped, Retainer: s.retainer, Gate: s.gate, GateOpen: s.gateOpen, Funds: s.funds}
	for _, id := range slices.Sorted(maps.Keys(s.tenants)) {
		out.Tenants = append(out.Tenants, s.tenants[id])
	}
	for _, id := range slices.Sorted(maps.Keys(s.workers)) {
		out.Workers = append(out.Workers, s.workers[id])
	}
	for _, id := range slices.Sorted(maps.Keys(s.duties)) {
		if d := s.duties[id]; d.On || d.Training > 0 {
			out.Duties = append(out.Duties, d)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.progress)) {
		if p := s.progress[id]; p.State.Open() {
			out.Batches = append(out.Batches, s.batch(id, p))
		}
	}
	return out
}

func (s *store) batch(id crowd.BatchID, p engine.Progress) engine.BatchSnapshot {
	b := engine.BatchSnapshot{Spec: s.specs[id], Progress: p, Removed: s.removed[id], Past: slices.Clone(s.past[id])}
	for _, r := range s.rows {
		if _, labelled := s.labels[r.Task]; r.ID.Batch() == id && r.ID.N() >= p.OldestOpen && (!labelled || r.State == crowd.Assigned || r.State == crowd.Provisional) {
			a := *r
			if r.SendBack != nil {
				a.SendBack = &engine.SendBack{Comment: r.SendBack.Comment, Of: s.reviewedTask(r.Task)}
			}
			b.Assignments = append(b.Assignments, a)
		}
	}
	slices.SortFunc(b.Assignments, func(x, y engine.AssignmentSnapshot) int { return cmp.Compare(x.ID, y.ID) })
	for task := range s.labels {
		if task.Batch() == id {
			b.Labelled = append(b.Labelled, task.N())
		}
	}
	slices.Sort(b.Labelled)
	if len(b.Spec.NotBy) > 0 {
		b.NotBy = make(map[uint32][]crowd.WorkerID)
		for i, item := range s.items[id] {
			if n := uint32(i + 1); s.labels[id.Task(n)].Task == 0 && len(item.NotBy) > 0 {
				b.NotBy[n] = item.NotBy
			}
		}
	}
	if b.Spec.Review != nil {
		b.NotBy = make(map[uint32][]crowd.WorkerID)
		for task, people := range s.sentBack {
			if task.Batch() == id && s.labels[task].Task == 0 {
				b.NotBy[task.N()] = people
			}
		}
	}
	if b.Spec.PerWorker > 0 || b.Spec.Review != nil {
		b.Gave = make(map[crowd.WorkerID]int)
		for _, r := range s.rows {
			if r.ID.Batch() == id && r.Counted {
				b.Gave[r.Worker]++
			}
		}
	}
	if b.Spec.Checks != nil {
		b.Spec.Known, b.Spec.Lessons, b.Checked = s.known(id), s.lessons(id), s.checked(id)
	}
	if b.Spec.Quality != nil {
		b.Actions, b.Standings = slices.Clone(s.actions[id]), s.standings(id)
	}
	for _, a := range s.actions[b.Spec.ReviewOf] {
		if a.Kind == engine.PausePerson && a.UndoneAt.IsZero() {
			b.Paused = append(b.Paused, a.Worker)
		}
	}
	if b.Spec.Rule.FollowsAnswers() {
		b.Answers = s.evidence(id)
	}
	if b.Spec.SLA != nil {
		b.Items = s.unlabelled(id)
	}
	return b
}
