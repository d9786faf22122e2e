package sim

import (
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/sched"
)

// A Start is a live pool to go on from. Its batches and people are those of the
// snapshot; the setup is how people work (Kinds, Groups), who else will come
// and what else there will be to do.
type Start struct {
	Snapshot *engine.Snapshot
	Now      time.Time
	Batches  map[crowd.BatchID]StartBatch
	// Present lists the people who are there, with the group whose habits they
	// have. A worker who holds a task is there in any case, unless they are Lost.
	Present map[crowd.WorkerID]int
	// Lost are those who hold a task and are not at it. They carry on with it when
	// they come, as anybody does or as Returns says; else it is free again when its
	// lease runs out.
	Lost map[crowd.WorkerID]bool
	// Returns are when people who are away come back, from Now. They are of Present
	// only by their group.
	Returns map[crowd.WorkerID]time.Duration
	// Members, when not nil, are the people who come and go: each arrival of a
	// group is one of them, any of them as likely, and if they are there already
	// nobody comes. Nil: all who arrive are new to the pool.
	Members []crowd.WorkerID
}

// A StartBatch is what a snapshot does not say of a batch.
type StartBatch struct {
	Name string
	Kind int // index in Setup.Kinds
}

// goOn restores the pool and puts its people back to work: who holds a task
// began it when they were given it, and have the rest of the time before them that
// somebody has who has come that far.
func (w *world) goOn(s *Start, policy sched.Policy) error {
	w.epoch = s.Now
	var err error
	if w.engine, err = engine.Restore(s.Now, engine.Config{Policy: policy, Seed: w.run.Seed ^ uint64(w.run.Rep)}, w.knowing(s)); err != nil {
		return err
	}
	active := make(map[crowd.WorkerID]bool, len(s.Snapshot.Workers))
	for i := range s.Snapshot.Workers {
		p := &s.Snapshot.Workers[i]
		active[p.ID] = !p.Suspended
		w.firstID = max(w.firstID, p.ID+1)
	}
	for i := range s.Snapshot.Batches {
		w.restoreBatch(s, int32(i))
	}
	there := lists.Map(w.out.Batches, func(x BatchOutcome) Batch { return x.Batch })
	w.cast.Batches = append(there, w.cast.Batches...)
	holding := w.engine.Holding(0)
	if w.audit != nil {
		w.audit.goOn(s, holding)
	}
	for _, h := range holding {
		w.firstID = max(w.firstID, h.Worker+1)
	}
	for _, h := range holding {
		if s.Lost[h.Worker] {
			at := w.batch(h.Task.Batch())
			w.update(at, w.batches[at].running+1, w.batches[at].completed, w.batches[at].planned)
			continue
		}
		who := w.come(int32(s.Present[h.Worker]), h.Worker, member(h.Worker))
		w.workers[who].leaving = !active[h.Worker] // the task in hand may be finished
		w.carryOn(who, h, w.epoch.Sub(h.At).Seconds(), false)
	}
	for _, p := range s.Snapshot.Workers {
		group, present := s.Present[p.ID]
		if in, away := s.Returns[p.ID]; away && !p.Suspended {
			w.schedule(int64(in), event{kind: workerReturns, who: int32(len(w.returns))})
			w.returns = append(w.returns, p.ID)
			continue
		}
		if _, holds := w.engine.Holds(p.ID); holds || !present || p.Suspended {
			continue
		}
		w.ready(w.come(int32(group), p.ID, member(p.ID)))
	}
	w.spent = lists.Sum(w.out.Batches, func(b BatchOutcome) crowd.Money { return b.Spent })
	w.members = NewStream(w.run.Seed, w.run.Rep, "members")
	w.read()
	return w.err
}

// knowing is the snapshot of a start in which what is known of tasks is what people here take for
// right: a snapshot need not say what the answers are.
func (w *world) knowing(s *Start) *engine.Snapshot {
	snapshot := *s.Snapshot
	snapshot.Batches = slices.Clone(snapshot.Batches)
	for i := range snapshot.Batches {
		spec := &snapshot.Batches[i].Spec
		known := make(map[uint32]string, len(spec.Known))
		for n := range spec.Known {
			known[n] = w.rightAnswer(&w.setup.Kinds[s.Batches[spec.ID].Kind], spec.ID.Task(n))
		}
		if spec.Checks != nil {
			spec.Known = known
		}
	}
	return &snapshot
}

// restoreBatch enters a batch of the pool.
func (w *world) restoreBatch(s *Start, i int32) {
	spec, p := &s.Snapshot.Batches[i].Spec, &s.Snapshot.Batches[i].Progress
	b := Batch{
		Name: s.Batches[spec.ID].Name, ID: spec.ID, At: p.LaunchedAt.Sub(s.Now), Kind: s.Batches[spec.ID].Kind,
		Tasks: int(spec.Tasks) - len(spec.Known), Rule: spec.Rule, Priority: p.Priority, Production: spec.Production,
		Reward: spec.Reward, Lease: spec.Lease, TaskTime: spec.TaskTime, PerWorker: spec.PerWorker, Enough: spec.Enough, Grace: spec.Grace, Checks: spec.Checks, Known: len(spec.Known),
	}
	if !p.Deadline.IsZero() {
		b.Deadline = p.Deadline.Sub(p.LaunchedAt)
	}
	w.add(&b, spec.Lease, spec.Rule, int32(p.Planned))
	provisional := lists.Count(s.Snapshot.Batches[i].Assignments, func(a engine.AssignmentSnapshot) bool { return a.State == crowd.Provisional })
	w.batches[i].provisional = int32(provisional)
	w.update(i, 0, int32(p.Completed+provisional), int32(p.Planned))
	out := &w.out.Batches[i]
	out.Planned, out.Answers, out.Labelled, out.Spent = p.Planned, p.Completed, p.Labelled, p.Spent
}

// member is the number of a person of a Start's pool, for their figures.
func member(id crowd.WorkerID) uint64 { return 1<<63 | uint64(id) }

// comer returns who it is that arrives, or false if they are there already.
func (w *world) comer() (crowd.WorkerID, bool) {
	s := w.run.Start
	if s == nil || s.Members == nil {
		w.comers++
		return w.firstID + w.comers - 1, true
	}
	if len(s.Members) == 0 {
		return 0, false
	}
	r := w.members.At(w.called)
	w.called++
	id := s.Members[r.IntN(len(s.Members))]
	if _, here := w.people[id]; here {
		return 0, false
	}
	return id, true
}

// comeBack lets somebody return who was away at the start, if they have not come meanwhile.
func (w *world) comeBack(id crowd.WorkerID) {
	if _, here := w.people[id]; here {
		return
	}
	who := w.come(int32(w.run.Start.Present[id]), id, member(id))
	if w.err == nil {
		w.takeUp(who)
	}
}

// takeUp lets somebody who has come carry on with the task that they left with, if it is theirs
// still, or else ask for one. They begin it again.
func (w *world) takeUp(who int32) {
	h, holds := w.engine.Holds(w.workers[who].id)
	if !holds {
		w.ready(who)
		return
	}
	delete(w.missed, h.Assignment)
	w.release(w.batch(h.Task.Batch())) // it was in hand all the time
	w.carryOn(who, h, 0, false)
}

// goOn opens the books of a pool that is not empty.
func (a *audit) goOn(s *Start, holding []engine.Handout) {
	for _, h := range holding {
		a.hands[h.Assignment] = h
		a.holder[h.Worker] = h.Assignment
	}
	for i := range s.Snapshot.Batches {
		b := &s.Snapshot.Batches[i]
		id := b.Spec.ID
		a.counted[id] = b.Progress.Completed
		a.balance[engine.Account{Kind: engine.BatchAccount, ID: int64(id)}] += b.Progress.Escrow
		a.balance[engine.Account{Kind: engine.Outside}] -= b.Progress.Escrow
		for k := range b.Assignments {
			x := &b.Assignments[k]
			if x.State != crowd.Returned && x.State != crowd.Expired {
				a.given[x.Task] = append(a.given[x.Task], x.Worker)
			}
			a.answered[x.ID] = x.State.Answered()
		}
		a.know(&b.Spec)
		for _, x := range b.Checked {
			a.given[id.Task(x.N)] = append(a.given[id.Task(x.N)], x.Worker)
		}
		for _, n := range b.Labelled {
			a.labelled[id.Task(n)] = true
		}
	}
}

// rightAnswer is the key of the right answer to a task.
func (w *world) rightAnswer(k *Kind, task crowd.TaskID) string {
	if len(k.Answers) == 0 {
		return noChoice
	}
	return k.Answers[w.truth(k, task)]
}

// noChoice is the key of the answer to a task of a kind without answers.
const noChoice = "done"
