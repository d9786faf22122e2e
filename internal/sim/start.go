package sim

import (
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/sched"
)

// A Start is a live pool to go on from. Its batches and people are those of the
// snapshot; the setup says how people work (Kinds, Groups), who else will come
// and what else there will be to do.
type Start struct {
	Snapshot *engine.Snapshot
	Now      time.Time
	Batches  map[crowd.BatchID]StartBatch
	// Present lists the people who are there, with the group whose habits they
	// have. Who holds a task is there in any case.
	Present map[crowd.WorkerID]int
}

// A StartBatch is what a snapshot does not say of a batch.
type StartBatch struct {
	Name string
	Kind int // index in Setup.Kinds
}

// goOn restores the pool and puts its people back to work: who holds a task
// began it when he was given it, and has the rest of the time before him that
// somebody has who has come that far.
func (w *world) goOn(s *Start, policy sched.Policy) error {
	w.epoch = s.Now
	var err error
	if w.engine, err = engine.Restore(s.Now, engine.Config{Policy: policy}, s.Snapshot); err != nil {
		return err
	}
	w.people = make(map[crowd.WorkerID]int32, len(s.Snapshot.Workers))
	classes := w.classes()
	for i := range s.Snapshot.Batches {
		from := &s.Snapshot.Batches[i]
		spec, p := &from.Spec, &from.Progress
		b := Batch{
			Name: s.Batches[spec.ID].Name, ID: spec.ID, At: p.LaunchedAt.Sub(s.Now), Kind: s.Batches[spec.ID].Kind,
			Tasks: int(spec.Tasks), Rule: spec.Rule, Priority: p.Priority, Production: spec.Production,
			Reward: spec.Reward, Lease: spec.Lease, TaskTime: spec.TaskTime,
		}
		if !p.Deadline.IsZero() {
			b.Deadline = p.Deadline.Sub(p.LaunchedAt)
		}
		w.add(&b, int32(spec.Lease.Seconds()), spec.Rule.Most() > 1, int32(p.Planned))
		st := &w.batches[i]
		st.completed = int32(p.Completed)
		out := &w.out.Batches[i]
		out.Class = int(classOf(classes, b.Tasks))
		out.Planned, out.Answers, out.Labelled, out.Spent = p.Planned, p.Completed, p.Labelled, p.Spent
	}
	w.cast.Batches = append(batchesOf(w.out.Batches), w.cast.Batches...)
	for _, h := range w.engine.Holding(0) {
		group := s.Present[h.Worker]
		who := w.joins(h.Worker, int32(group))
		w.takesUp(who, h)
	}
	for _, p := range s.Snapshot.Workers {
		group, present := s.Present[p.ID]
		if _, known := w.people[p.ID]; known || !present || p.Suspended {
			continue
		}
		w.ready(w.joins(p.ID, int32(group)))
	}
	for _, p := range s.Snapshot.Workers {
		w.firstID = max(w.firstID, p.ID+1)
	}
	return nil
}

func batchesOf(list []BatchOutcome) []Batch {
	out := make([]Batch, len(list))
	for i := range list {
		out[i] = list[i].Batch
	}
	return out
}

func (w *world) joins(id crowd.WorkerID, group int32) int32 {
	who := w.come(group, id)
	w.people[id] = who
	return who
}

// takesUp lets a worker go on with what he holds.
func (w *world) takesUp(who int32, h engine.Handout) {
	w.carryOn(who, h, w.epoch.Sub(h.At).Seconds())
}
