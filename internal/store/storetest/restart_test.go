package storetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/sched"
)

// site is an engine with its store, driven by random commands.
type site struct {
	*world
	*rand.Rand
	engine  *engine.Engine
	clock   time.Time
	batches []crowd.BatchID // that were launched, and may have ended
	people  []crowd.WorkerID
	streams []*stream
	changes engine.Changes
	pool    store.Pool
	learns  map[crowd.WorkerID]int // tasks of training that each still has to do
	pay     payBook
	did     map[string]int // to prove that the run looked at something
}

// testRestart drives an engine with random commands and commits what changed
// after every few of them. Now and then it restores an engine from the store
// and compares the two. The restored one goes on with the store, the old one
// for a while without.
func testRestart(t *testing.T, w *world) {
	ok(t, w.Deposit(w.ctx, w.now, w.mine, 500_000*crowd.Unit, ""))
	ok(t, w.Deposit(w.ctx, w.now, w.other, 500_000*crowd.Unit, ""))
	s := &site{world: w, Rand: rand.New(rand.NewPCG(12, 5)), clock: w.now, people: slices.Clone(w.workers), learns: make(map[crowd.WorkerID]int), did: make(map[string]int), pay: newPayBook()}
	s.pay.accounts[tenantAccount(w.mine)], s.pay.accounts[tenantAccount(w.other)] = 500_000*crowd.Unit, 500_000*crowd.Unit
	for i := range 8 {
		u := store.User{Name: fmt.Sprint("person", i), Pool: w.pool, Qualifications: map[string]int{"birds": 10 * i}}
		s.people = append(s.people, must(w.CreateUser(w.ctx, u))(t))
	}
	s.pool = must(w.ListPools(w.ctx))(t)[0]
	s.engine = s.restore(t)
	const rounds, commands = 110, 90
	for round := range rounds {
		for range commands {
			s.command(t)
			if s.IntN(4) == 0 {
				s.commit(t)
			}
		}
		s.reviseAnswers(t, uint64(round))
		s.commit(t)
		s.restart(t)
		s.samePay(t)
	}
	s.handedOver(t)
	for _, what := range []string{"open", "review", "reviewed", "with an SLA", "grown", "sealed", "handed over", "launch", "directed", "answer", "late", "forgotten", "again", "return", "skip", "expire", "label", "done", "ended", "cancelled", "revised", "taken out", "added", "suspend", "compared", "answers of one person bounded", "by somebody else", "ended by itself", "evidence compared", "checks compared", "wrong checks compared", "lessons compared", "lessons of rules compared", "figures compared", "weights compared", "paused by a rule compared", "action undone", "disregarded", "asked again", "labelled again", "disregarded with a review", "sent back", "not sent back", "to be sent back", "sent back by a verdict that was kept", "disregarded by invitation", "disregarded checks", "disregarded and decided", "enough revised", "refused elsewhere", "refused enough", "answer revised", "check revised", "labelled anew", "not revised: conflict", "provisional", "provisional compared", "undo", "came to count", "taken back",
		"retainer", "training batch", "train", "learnt", "came", "went", "silent", "released", "unpaid", "waited", "tenant funds", "withdraw",
		"on duty compared", "in training compared", "funds compared", "outside compared", "open gate compared", "closed gate compared"} {
		if s.did[what] == 0 {
			t.Errorf("the run never came to %q: %v", what, s.did)
		}
	}
	s.cameToPay(t)
	t.Logf("what was done: %v", s.did)
	ok(t, w.CheckLedger(w.ctx))
}

func (s *site) restore(t *testing.T) *engine.Engine {
	t.Helper()
	snap := must(s.Snapshot(s.ctx, s.pool.ID))(t)
	for i := range snap.Batches {
		s.isEvidence(t, &snap.Batches[i])
	}
	return must(engine.Restore(s.clock, engine.Config{Pool: s.pool.ID, Policy: sched.MustParse(pick(s.Rand, sched.Names()))}, snap))(t)
}

func (s *site) commit(t *testing.T) {
	t.Helper()
	s.engine.Take(&s.changes)
	ok(t, s.Commit(s.ctx, &s.changes))
	s.pay.committed(&s.changes)
	s.did["label"] += len(s.changes.Labels)
	s.did["taken back"] += len(s.changes.Undone)
	s.did["review"] += len(s.changes.Reviews)
	for _, l := range s.changes.Labels {
		if x, err := s.Review(s.ctx, l.Task); err == nil && x.State.Done() && x.By == l.By[0] {
			s.did["reviewed"]++
		}
	}
	s.countSentBack()
	for _, a := range s.changes.Answers {
		if a.Kept {
			s.did["came to count"]++
		}
	}
	for _, p := range s.changes.Progress {
		s.did[string(p.State)]++
		if p.HadEnough {
			s.did["ended by itself"]++
		}
	}
	for _, e := range s.changes.Ends {
		if e.State == crowd.Expired {
			s.did["expire"]++
		}
	}
	s.countDuty()
}

// seen is what can be seen of an engine, apart from what a restart is allowed
// to forget: who waits, and whose turn it is among equals.
type seen struct {
	Status  map[crowd.BatchID]engine.Status
	Holding []engine.Handout
	Batch   map[crowd.BatchID]engine.Why
	Worker  map[crowd.WorkerID]map[crowd.Reason]int
	Counts  engine.Counts
	Undo    map[crowd.WorkerID][]engine.Undoable
	Checked map[crowd.BatchID][]engine.Checked
	Figures map[crowd.BatchID][]engine.Acted
	OnCall  onCall
}

func (s *site) look(t *testing.T, e *engine.Engine) seen {
	t.Helper()
	ok(t, e.Check())
	v := seen{
		Status: make(map[crowd.BatchID]engine.Status), Holding: e.Holding(0), Batch: make(map[crowd.BatchID]engine.Why),
		Worker: make(map[crowd.WorkerID]map[crowd.Reason]int), Undo: make(map[crowd.WorkerID][]engine.Undoable), Counts: e.Counts(), OnCall: s.lookOnCall(e), Checked: make(map[crowd.BatchID][]engine.Checked), Figures: make(map[crowd.BatchID][]engine.Acted),
	}
	for _, id := range s.batches {
		if status, running := e.Status(id); running {
			why := must(e.WhyBatch(id))(t)
			why.Ahead = 0
			for _, r := range []*crowd.Reason{&status.Reason, &why.Reason} {
				if *r == crowd.OtherBatchFirst { // by whose turn it is
					*r = crowd.NoWorkerReady
				}
			}
			v.Status[id] = status
			v.Checked[id] = e.Checked(id)
			for _, x := range v.Checked[id] {
				s.did["checks compared"] += x.Right
				s.did["wrong checks compared"] += x.Wrong
				s.did["lessons compared"] += x.Lessons
				s.did["lessons of rules compared"] += max(x.Lessons-1, 0)
			}
			v.Figures[id] = e.Figures(id)
			for _, x := range v.Figures[id] {
				s.did["figures compared"]++
				s.did["weights compared"] += int(label.Full - x.Weight)
				if x.Paused > 0 {
					s.did["paused by a rule compared"]++
				}
			}
			v.Batch[id] = why
			s.did["refused elsewhere"] += why.Workers[crowd.AnsweredElsewhere]
			s.did["refused enough"] += why.Workers[crowd.AnsweredEnough]
		}
	}
	for _, id := range s.people {
		v.Worker[id] = must(e.WhyWorker(id))(t)
		v.Undo[id] = e.Undoable(id)
		s.did["provisional compared"] += len(v.Undo[id])
	}
	return v
}

// restart compares the engine with one from the store, and goes on with that.
func (s *site) restart(t *testing.T) {
	t.Helper()
	old := s.engine
	s.quiet(t)
	for _, h := range old.Holding(0) { // a restart starts every lease again
		if _, err := old.Heartbeat(s.clock, h.Worker, h.Assignment); err != nil {
			t.Fatal(err)
		}
	}
	s.engine = s.restore(t)
	same(t, "the restored engine", s.look(t, s.engine), s.look(t, old))
	same(t, "the pool's balance", must(s.Balance(s.ctx, poolAccount(s.pool.ID)))(t), old.RetainerFunds(s.clock).Funds)
	s.did["compared"] += len(old.Holding(0))

	// The old one, too, goes on; nothing of that is kept. Batches are neither
	// launched nor edited, since that is for the store to know.
	alone := &site{world: s.world, Rand: rand.New(rand.NewPCG(s.Uint64(), 1)), engine: old, clock: s.clock, pool: s.pool, batches: s.batches, people: s.people, streams: s.streams, did: make(map[string]int)}
	for range 30 {
		if alone.IntN(6) == 0 {
			alone.duty(t)
		} else {
			alone.work(t)
		}
		ok(t, old.Check())
	}
}

func (s *site) command(t *testing.T) {
	s.clock = s.clock.Add(time.Duration(s.IntN(20_000)) * time.Millisecond)
	switch n := s.IntN(100); {
	case n < 4 && len(s.running()) < 7:
		s.launch(t)
	case n < 12 && len(s.running()) > 0:
		s.manage(t)
	case n < 13:
		s.suspend(t)
	case n < 14:
		s.retain(t)
	case n < 16:
		s.fund(t)
	case n < 24:
		s.duty(t)
	case n < 32:
		s.grow(t)
	case n < 35 && len(s.running()) > 0:
		s.disregard(t, pick(s.Rand, s.running()))
	case n < 37:
		s.decide(t)
	case n < 41:
		s.sendBack(t)
	default:
		s.work(t)
	}
}

func (s *site) running() []crowd.BatchID {
	var list []crowd.BatchID
	for _, id := range s.batches {
		if _, running := s.engine.Status(id); running {
			list = append(list, id)
		}
	}
	return list
}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

func (s *site) launch(t *testing.T) {
	spec := engine.Spec{
		Tenant: pick(s.Rand, []crowd.TenantID{s.mine, s.other}), Rule: pick(s.Rand, []label.Rule{label.Count(1), label.Count(3), label.Agree(2, 3), label.Agree(2, 4), label.Until(0.8, 2, 4).WithClasses(3)}),
		Reward: 1000, Budget: 1000 * crowd.Money(20+s.IntN(60)), Priority: 1 + s.Float64(), Lease: time.Duration(1+s.IntN(3)) * time.Minute,
		TaskTime: 30 * time.Second, SmallCrowdOK: true,
	}
	if s.IntN(3) == 0 {
		spec.EndsAt = s.clock.Add(time.Duration(s.IntN(60)+1) * time.Minute)
	}
	if s.IntN(3) == 0 {
		spec.Requirements = []engine.Requirement{{Name: "birds", Min: 10 * s.IntN(6)}}
	}
	s.bound(&spec)
	directed := s.IntN(3) == 0
	if s.IntN(4) == 0 {
		spec.Training = true
		s.did["training batch"]++
	}
	if s.IntN(3) == 0 {
		spec.Grace = time.Duration(1+s.IntN(4)) * time.Minute
	}
	if len(s.batches)%3 > 0 {
		spec.Revise = time.Hour
	}
	s.approve(&spec)
	list := make([]store.Task, 1+s.IntN(15))
	if !directed && len(s.batches)%3 > 0 {
		spec.Checks = &engine.Checks{First: 0.5, Least: 0.25}
	}
	trains := spec.Checks != nil && len(list) > 4 && s.IntN(2) == 0
	if trains {
		spec.Checks.Training = 1
	}
	if spec.Checks != nil {
		spec.Quality = []engine.QualityRule{{When: "drift > 0.5 or agreement < 0.9", Do: "pause"}, {When: "seconds > 20", Do: `warn "so slow"`}, {When: "seconds > 15 or wrong > 0", Do: "weight 0.3"}}
		if trains {
			spec.Quality = append(spec.Quality, engine.QualityRule{When: "answers > 1", Do: "train 1"})
		}
	}
	for i := range list {
		if spec.Checks != nil && i%3 == 1 {
			list[i].Gold = "cat"
			if trains && i%2 == 0 {
				list[i].Explain = "It says so."
			}
		}
		for directed && len(list[i].Invited) < 1+i%3 {
			if p := pick(s.Rand, s.people); !slices.Contains(list[i].Invited, p) {
				list[i].Invited = append(list[i].Invited, p)
			}
		}
	}
	var review *store.ReviewTerms
	if s.IntN(3) == 0 {
		review = &store.ReviewTerms{Review: engine.Review{Undecided: s.IntN(2) == 0, Confidence: 0.9, Share: 0.5, NewWorkers: 2}, Reward: 700, Priority: 2}
	}
	id := must(s.CreateBatch(s.ctx, store.Batch{Spec: spec, Pool: s.pool.ID, Review: review}))(t)
	ok(t, s.AddTasks(s.ctx, id, list))
	b := must(s.Batch(s.ctx, spec.Tenant, id))(t)
	if b.Directed {
		b.Spec.Invited = must(s.Invitations(s.ctx, id))(t)
		s.did["directed"]++
	}
	if spec.Checks != nil {
		b.Spec.Known = must(s.Known(s.ctx, id, 0, b.Spec.Tasks))(t)
		b.Spec.Lessons = must(s.Lessons(s.ctx, id, 0, b.Spec.Tasks))(t)
	}
	s.batches = append(s.batches, id)
	s.did["launch"]++
	if review == nil {
		ok(t, s.engine.Launch(s.clock, b.Spec))
		return
	}
	reviews := store.Batch{Spec: engine.Spec{Rule: label.Count(1), Reward: review.Reward, Budget: 50_000, Priority: review.Priority, Lease: time.Minute, TaskTime: time.Second, Grace: spec.Grace}, Pool: s.pool.ID}
	reviews.Spec.ReviewsOf(&b.Spec)
	reviews.Spec.ID = must(s.CreateBatch(s.ctx, reviews))(t)
	ok(t, s.engine.LaunchReviewed(s.clock, b.Spec, reviews.Spec))
	s.batches = append(s.batches, reviews.Spec.ID)
}

func (s *site) manage(t *testing.T) {
	id := pick(s.Rand, s.running())
	var err error
	switch s.IntN(16) {
	case 0:
		err = s.engine.End(s.clock, id)
	case 1:
		err = s.engine.Cancel(s.clock, id)
	case 2, 3:
		err = s.engine.Pause(s.clock, id)
	case 4, 5, 6:
		err = s.engine.Resume(s.clock, id)
	case 7:
		err = s.engine.TopUp(s.clock, id, 5000)
	case 8:
		priority, deadline := 3*s.Float64()+0.1, s.clock.Add(time.Hour)
		err = s.engine.Edit(s.clock, id, engine.Edit{Priority: &priority, Deadline: &deadline})
	case 9:
		err = s.revise(id)
	case 10, 11:
		b := must(s.Batch(s.ctx, 0, id))(t)
		if err = s.engine.Remove(s.clock, id, 1+uint32(s.IntN(int(max(b.Spec.Tasks, 1))))); err == nil {
			s.did["taken out"]++
		}
		if code := crowd.CodeOf(err); code == crowd.Conflict || code == crowd.Invalid {
			err = nil // it has its label, or there is none yet
		}
	case 12:
		err = s.add(t, id)
	case 13, 14:
		if err = s.engine.UndoAction(s.clock, id, 1+uint32(s.IntN(2)), s.people[0]); err == nil {
			s.did["action undone"]++
		} else if code := crowd.CodeOf(err); code == crowd.Conflict || code == crowd.NotFound {
			err = nil // it was undone, or there is none
		}
	default:
		stopped := s.IntN(4) == 0
		err = s.engine.Edit(s.clock, id, engine.Edit{Stopped: &stopped})
	}
	ok(t, err)
}

// revise changes reward and redundancy.
func (s *site) revise(id crowd.BatchID) error {
	rule, reward := pick(s.Rand, []label.Rule{label.Count(1), label.Count(2), label.Count(4), label.Agree(2, 3), label.Until(0.7, 1, 4).WithClasses(3)}), crowd.Money(500*(1+s.IntN(5)))
	err := s.engine.Edit(s.clock, id, engine.Edit{Rule: &rule, Reward: &reward, SmallCrowdOK: true, Reserve: 100 * crowd.Unit})
	s.did["revised"]++
	if err == nil && s.IntN(3) == 0 {
		err = s.engine.Edit(s.clock, id, engine.Edit{Enough: &engine.Enough{Labels: s.IntN(20)}})
		s.did["enough revised"]++
	}
	if crowd.CodeOf(err) == crowd.NotFound { // it had enough, and has ended
		err = nil
	}
	return err
}

// add adds tasks to a batch that is no step's.
func (s *site) add(t *testing.T, id crowd.BatchID) error {
	s.commit(t)
	b := must(s.Batch(s.ctx, 0, id))(t)
	if b.Spec.Open || b.Run != 0 || !b.Progress.State.Open() {
		return nil
	}
	more := make([]store.Task, 1+s.IntN(4))
	if b.Spec.Checks != nil {
		more[0].Gold = "cat"
		if b.Spec.Checks.Training > 0 && s.IntN(2) == 0 {
			more[0].Explain = "It says so."
		}
	}
	ok(t, s.DropStaged(s.ctx, b.Spec.Tenant, id))
	ok(t, s.StageTasks(s.ctx, b.Spec.Tenant, id, more))
	if s.IntN(4) == 0 {
		return nil // it was cut off
	}
	s.did["added"]++
	var known map[uint32]string
	var lessons []uint32
	if b.Spec.Checks != nil {
		lessons = must(s.Lessons(s.ctx, id, b.Spec.Tasks, b.Spec.Tasks+uint32(len(more))))(t)
		known = must(s.Known(s.ctx, id, b.Spec.Tasks, b.Spec.Tasks+uint32(len(more))))(t)
	}
	return s.engine.Add(s.clock, id, engine.Addition{Had: b.Spec.Tasks, Tasks: uint32(len(more)), Known: known, Lessons: lessons, Reserve: 100 * crowd.Unit})
}

func (s *site) suspend(t *testing.T) {
	u := must(s.User(s.ctx, pick(s.Rand, s.people)))(t)
	u.Suspended = s.IntN(4) == 0
	u.BlockedBy = nil
	if s.IntN(4) == 0 {
		u.BlockedBy = []crowd.TenantID{s.other}
	}
	u.Serves = nil
	if s.IntN(8) == 0 {
		u.Serves = []crowd.TenantID{s.other}
	}
	ok(t, s.UpdateUser(s.ctx, u))
	ok(t, s.engine.SetWorker(s.clock, engine.Worker{ID: u.ID, Qualifications: u.Qualifications, Granted: u.Granted, Suspended: u.Suspended, BlockedBy: u.BlockedBy, Serves: u.Serves}))
	s.did["suspend"]++
}

// work is what workers do.
func (s *site) work(t *testing.T) {
	w := pick(s.Rand, s.people)
	h, holds := s.engine.Holds(w)
	var err error
	switch n := s.IntN(20); {
	case n == 0:
		s.clock = s.clock.Add(2 * time.Minute)
		s.engine.Tick(s.clock)
	case n == 1:
		s.late(t)
	case holds && n == 2:
		err = s.engine.Return(s.clock, w, h.Assignment)
		s.did["return"]++
	case holds && n == 3:
		err = s.engine.Skip(s.clock, w, h.Assignment)
		s.did["skip"]++
	case holds && n < 14:
		s.submit(t, w, h.Assignment)
	case n == 14 && len(s.engine.Undoable(w)) > 0:
		if _, _, err = s.engine.Undo(s.clock, w, pick(s.Rand, s.engine.Undoable(w)).Assignment); err == nil {
			s.did["undo"]++
		} else if code := crowd.CodeOf(err); code == crowd.OffDuty || code == crowd.Conflict {
			err = nil // nor would they get another task
		}
	default:
		if _, _, err = s.engine.Ready(s.clock, w); crowd.CodeOf(err) == crowd.OffDuty {
			err = s.engine.StartDuty(s.clock, w)
		}
	}
	if err != nil && crowd.CodeOf(err) != crowd.Forbidden {
		t.Fatal(err)
	}
}
