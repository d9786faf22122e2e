package engine_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/sched"
)

// A command is plain data: what it does depends on the numbers in it and on the
// world that it meets, so that a list of commands can be run again, or with
// some left out.
type command struct {
	op      string
	a, b, c uint32
}

func (c command) String() string { return fmt.Sprintf("{%q, %d, %d, %d}", c.op, c.a, c.b, c.c) }

// weights say how often each command comes. Hand-outs and answers are most of
// it; what stops work is rarer than what starts it again.
var weights = []struct {
	op string
	n  int
}{
	{"ready", 300}, {"submit", 180}, {"delay", 100}, {"deliver", 160}, {"submit again", 20}, {"submit another's", 10},
	{"submit forgotten", 15}, {"submit nonsense", 3}, {"report what ended", 2}, {"return", 20}, {"skip", 15}, {"report", 10}, {"give back again", 10}, {"undo", 40}, {"undo what stands", 10}, {"count now", 4}, {"heartbeat", 20},
	{"leave", 10}, {"tick", 70}, {"launch", 40}, {"pause", 12}, {"resume", 25}, {"cancel", 4}, {"end", 4}, {"edit", 15},
	{"revise", 25}, {"take out", 15}, {"add", 12}, {"judge", 10}, {"undo action", 15},
	{"top up", 25}, {"stop batch", 8}, {"start batch", 20}, {"stop", 4}, {"start", 20}, {"stop tenant", 5}, {"start tenant", 20},
	{"worker", 30}, {"suspend", 11}, {"remove worker", 12}, {"policy", 6}, {"restart", 8},
	{"retainer", 20}, {"start duty", 50}, {"end duty", 25}, {"fund", 25}, {"withdraw", 8}, {"train", 20}, {"renew", 25},
	{"grow", 70}, {"seal", 12}, {"set tail", 8}, {"set bound", 12}, {"take over", 4}, {"set total", 12}, {"disregard", 25}, {"revise answer", 60},
}

// policies are those under which the worlds run.
var policies = []string{
	"fifo", "fs", "wfs-ratio", "edf", "sjf", "rr", "dafs", "sdafs", "beta-fair(beta=-1)",
	"tenant-fair(dafs)", "tenant-fair(fs)", "wcfs(wfs,k=2)", "tenant-fair(wcfs(fs,k=1))",
	"penalty", "penalty(form=atc)", "tenant-fair(penalty(wfs))", "wcfs(penalty,k=2)", "penalty(form=event)", "tenant-fair(penalty(form=event))",
}

// calm reports whether a world is one of long batches that hardly anything
// disturbs, in which backlogs grow.
func calm(seed uint64) bool { return seed%5 == 4 }

// commands makes the commands for a world.
func commands(seed uint64) []command {
	r, n := rand.New(rand.NewPCG(seed, 0)), 700
	if calm(seed) {
		n = 1500
	}
	var ops []string
	for _, w := range weights {
		if calm(seed) && !slices.Contains([]string{"ready", "submit", "undo", "skip", "report", "return", "tick", "worker", "launch", "restart", "fund", "start duty", "renew", "grow", "seal", "revise", "take out", "undo action", "disregard", "revise answer"}, w.op) {
			continue
		}
		if seed%3 == 0 && w.op == "retainer" { // a pool that everybody may enter for nothing
			continue
		}
		for range w.n {
			ops = append(ops, w.op)
		}
	}
	list := make([]command, n)
	for i := range list {
		list[i] = command{ops[r.IntN(len(ops))], r.Uint32(), r.Uint32(), r.Uint32()}
	}
	return list
}

// world drives an engine with commands and holds it against the books.
type world struct {
	e       *engine.Engine
	k       *books
	store   *store
	ch      engine.Changes
	now     time.Time
	calm    bool
	overdue bool             // something was due and was not done in time
	op      string           // of the command
	last    crowd.BatchID    // launched so far
	out     []delayed        // answers under way
	given   []engine.Handout // every hand-out so far
}

type delayed struct {
	engine.Handout
	key string
}

var start = time.Date(2026, 10, 1, 9, 0, 0, 0, time.UTC)

// newWorld makes a pool of some tenants and workers; perm gives the order in
// which they are made known.
func newWorld(seed uint64, seen happenings, perm func(n int) []int) (*world, error) {
	r := rand.New(rand.NewPCG(seed, 1))
	w := &world{k: newBooks(seen), store: newStore(), now: start, calm: calm(seed)}
	w.k.now = start
	w.k.policy = policies[seed%uint64(len(policies))]
	w.e = engine.New(engine.Config{Pool: poolID, Policy: sched.MustParse(w.k.policy), Observe: true})
	w.k.begin()
	var tenants []engine.Tenant
	for n := range 1 + r.IntN(3) {
		tenants = append(tenants, engine.Tenant{ID: crowd.TenantID(n + 1), Weight: []float64{1, 2, 0.5}[r.IntN(3)]})
	}
	for _, i := range perm(len(tenants)) {
		if err := w.setTenant(tenants[i]); err != nil {
			return nil, err
		}
	}
	var workers []engine.Worker
	for n := range 3 + r.IntN(6) {
		workers = append(workers, w.randomWorker(crowd.WorkerID(n+1), r))
	}
	for _, i := range perm(len(workers)) {
		if err := w.setWorker(workers[i]); err != nil {
			return nil, err
		}
	}
	return w, nil
}

func (w *world) randomWorker(id crowd.WorkerID, r *rand.Rand) engine.Worker {
	x := engine.Worker{ID: id, Qualifications: make(map[string]int)}
	for _, name := range []string{"english", "biology"} {
		if r.IntN(4) > 0 {
			x.Qualifications[name] = r.IntN(101)
		}
	}
	if r.IntN(3) == 0 {
		x.Granted = []engine.Grant{{Tenant: crowd.TenantID(1 + r.IntN(3)), Name: "english", Score: r.IntN(101)}}
	}
	if r.IntN(6) == 0 {
		x.BlockedBy = []crowd.TenantID{crowd.TenantID(1 + r.IntN(3))}
	}
	switch r.IntN(12) {
	case 0:
		x.StaffOf = []crowd.TenantID{crowd.TenantID(1 + r.IntN(3))}
	case 1:
		x.Serves = []crowd.TenantID{crowd.TenantID(1 + r.IntN(3))}
	}
	return x
}

// holds reports whether a worker holds what a batch requires, of the installation or of
// the batch's tenant.
func holds(w engine.Worker, s engine.Spec) bool {
	for _, r := range s.Requirements {
		score, met := w.Qualifications[r.Name]
		met = met && score >= r.Min && r.Owner == ""
		for _, g := range w.Granted {
			met = met || r.Owner != "" && g.Tenant == s.Tenant && g.Name == r.Name && g.Score >= r.Min
		}
		if !met {
			return false
		}
	}
	return true
}

// randomSpec makes a batch; some cannot be launched.
func (w *world) randomSpec(r *rand.Rand) engine.Spec {
	rules := []label.Rule{label.Count(1), label.Count(2), label.Count(3), label.Agree(2, 3), label.Agree(2, 5), label.Agree(3, 4), label.Agree(2, 2), label.Agree(1, 3), until, label.Until(0.6, 1, 3).WithClasses(3)}
	s := engine.Spec{
		ID: w.last + 1, Tenant: crowd.TenantID(1 + r.IntN(len(w.k.tenants))), Tasks: uint32(1 + r.IntN(10)),
		Rule: rules[r.IntN(len(rules))], Reward: crowd.Money(1+r.IntN(5)) * 10_000,
		Priority: []float64{0.5, 1, 2, 10}[r.IntN(4)], Production: r.IntN(2) == 0,
		Lease: time.Duration(1+r.IntN(10)) * time.Minute, TaskTime: time.Duration(1+r.IntN(300)) * time.Second,
		SmallCrowdOK: r.IntN(3) > 0,
	}
	if w.calm {
		s.Tasks, s.Rule = uint32(50+r.IntN(150)), []label.Rule{rules[2], rules[3], rules[4], until}[r.IntN(4)]
	}
	most := s.Reward * crowd.Money(s.Rule.Most()) * crowd.Money(s.Tasks)
	least := s.Reward * crowd.Money(s.Rule.Fewest())
	s.Budget = most
	if r.IntN(2) == 0 {
		s.Budget = least + crowd.Money(r.Int64N(int64(most-least+1)))
	}
	if r.IntN(2) == 0 {
		s.Deadline = w.now.Add(time.Duration(1+r.IntN(60)) * time.Minute)
	}
	if r.IntN(3) == 0 && !w.calm {
		s.EndsAt = w.now.Add(time.Duration(1+r.IntN(40)) * time.Minute)
	}
	if r.IntN(3) == 0 {
		s.Requirements = []engine.Requirement{{Name: "english", Min: r.IntN(60), Owner: []string{"", "own"}[r.IntN(2)]}, {Name: "biology", Min: r.IntN(60)}}[:1+r.IntN(2)]
	}
	s.Training = r.IntN(6) == 0
	if r.IntN(4) == 0 {
		s.Invited = make(map[crowd.WorkerID][]uint32)
		shared := r.IntN(2) == 0
		for id := range crowd.WorkerID(8) {
			for n := range s.Tasks {
				if r.IntN(2) == 0 && !(shared && n%3 == 1) {
					s.Invited[id+1] = append(s.Invited[id+1], n+1)
				}
			}
		}
	}
	w.promise(&s, r)
	w.bound(&s, r)
	if r.IntN(3) == 0 {
		s.Grace = time.Duration(1+r.IntN(150)) * time.Second
	}
	w.know(&s, r)
	w.rule(&s, r)
	if r.IntN(3) == 0 {
		s.Approval = &engine.Approval{Within: time.Duration(1+r.IntN(150)) * time.Second, Appeal: engine.DefaultAppeal}
	}
	if r.IntN(3) > 0 && !s.Open && s.SLA == nil && len(s.NotBy) == 0 {
		s.Revise = time.Duration(1+r.IntN(60)) * time.Minute
	}
	return s
}

// invitedTo returns who is invited to a task; nil: it is for everybody.
func invitedTo(s *engine.Spec, n uint32) (people map[crowd.WorkerID]bool) {
	for w, list := range s.Invited {
		if slices.Contains(list, n) {
			if people == nil {
				people = make(map[crowd.WorkerID]bool)
			}
			people[w] = true
		}
	}
	return people
}

// do runs one command and holds the outcome against the books.
func (w *world) do(c command) error {
	w.op = c.op
	if c.op != "tick" { // a tick says itself how long it waits
		if err := w.pass(w.now.Add(time.Duration(c.c%15)*time.Second+time.Duration(c.c%1000)), c.c/16); err != nil {
			return err
		}
	}
	w.k.begin()
	if err := w.exec(c); err != nil {
		return err
	}
	return w.settle()
}

// settle takes the changes and checks everything.
func (w *world) settle() error {
	w.e.Take(&w.ch)
	if len(w.ch.Served) > 0 {
		op := w.op
		if op == "deliver" {
			op = "submit"
		}
		w.k.seen["waiting worker served by "+op]++
	}
	if err := w.checkEvents(); err != nil {
		return err
	}
	if err := w.k.apply(&w.ch); err != nil {
		return err
	}
	if err := w.checkAttempts(); err != nil {
		return err
	}
	w.store.apply(&w.ch)
	w.given = append(w.given, w.ch.Handouts...)
	if err := w.e.Check(); err != nil {
		return fmt.Errorf("Check: %w", err)
	}
	if w.op != "tick" && w.k.short() { // by the command: for a gap, or for parts of micro-units
		w.overdue = true
	}
	if err := w.k.check(w.e); err != nil {
		return err
	}
	return w.k.checkRests(w.e) // after check, which notes what has come back with this command
}

// checkEvents checks that a job's events come in order: of one task 2, 3, then
// 4 or 5; nothing after 5; labels in the order of their events.
func (w *world) checkEvents() error {
	before := make(map[crowd.TaskID]engine.EventKind)
	labels := w.ch.Labels
	kept := slices.ContainsFunc(w.ch.Answers, func(x engine.Answer) bool { return x.Kept })          // of which one command may count several
	weighed := slices.ContainsFunc(w.ch.Actions, func(x engine.Action) bool { return x.Weight > 0 }) // rules act when all else is done
	for _, ev := range w.ch.Events {
		w.k.seen["event "+ev.Kind.String()]++
		was := before[ev.Task]
		before[ev.Task] = ev.Kind
		ok := ev.At == w.now
		switch ev.Kind {
		case engine.ReadyToWork:
			ok = ok && ev.Worker != 0 && ev.Task == 0
		case engine.ReadyToAggregate:
			ok = ok && (was == 0 || kept) && ev.Worker != 0
		case engine.TryToAggregate:
			ok = ok && (was == engine.ReadyToAggregate || was == 0 || kept && w.followed(ev.Task) || was == engine.UpdateTask && weighed) // 0: a lease ended
		case engine.UpdateTask:
			_, t, err := w.k.task(ev.Task)
			if ok = ok && (was == engine.TryToAggregate || was == 0 && w.unlabelled(ev.Task)) && ev.Number > 0 && err == nil; ok {
				t.told = ev.Number
			}
		case engine.RemoveTask:
			i := slices.IndexFunc(labels, func(l engine.Label) bool { return l.Task == ev.Task })
			_, t, err := w.k.task(ev.Task)
			ok = ok && was == engine.TryToAggregate && err == nil && (i < 0 && (t.removed || t.known != "") && ev.Label == "" || i >= 0 && labels[i].Value == ev.Label)
		}
		if _, t, err := w.k.task(ev.Task); ev.Task != 0 && (err != nil || t.label != nil && t.known == "" && !w.unlabelled(ev.Task)) {
			ok = false
		}
		// Without a new answer a try makes no label; but one can come of the end, if the batch then has enough.
		itself := slices.ContainsFunc(w.ch.Progress, func(p engine.Progress) bool { return p.Batch == ev.Task.Batch() && p.HadEnough })
		early := slices.IndexFunc(labels, func(l engine.Label) bool { return l.Task == ev.Task }) >= 0 && ev.Kind == engine.TryToAggregate && w.ch.Answers == nil && !itself && !w.k.batches[ev.Task.Batch()].revised && !w.followed(ev.Task) && !w.unlabelled(ev.Task) && w.op != "revise answer" && w.op != "undo action"
		if !ok || early {
			return fmt.Errorf("event %+v after %v", ev, was)
		}
	}
	return nil
}

// checkAttempts checks that it was tried to make a label (event 3) just when
// the last one who held a task, of those with answers, let go of it.
func (w *world) checkAttempts() error {
	tried := make(map[crowd.TaskID]bool)
	for _, ev := range w.ch.Events {
		tried[ev.Task] = tried[ev.Task] || ev.Kind == engine.TryToAggregate
	}
	letGo := make(map[crowd.TaskID]bool)
	for _, x := range w.ch.Ends {
		letGo[w.k.rows[x.Assignment].Task] = true
	}
	for _, x := range w.ch.Answers {
		if x.Counted {
			letGo[w.k.rows[x.Assignment].Task] = true
		}
	}
	for id := range letGo {
		b, t, _ := w.k.task(id)
		if t.known != "" { // each hand-out is a task of its own
			delete(tried, id)
			continue
		}
		live := t.live // before anybody was given it again
		for _, h := range w.ch.Handouts {
			if h.Task == id {
				live--
			}
		}
		itself := b.kept.State == crowd.BatchStopped && w.k.enough(b) != ""
		if itself && (w.op == "tick" || w.op == "end") {
			delete(tried, id)
			continue // what was in hand was withdrawn, or let go of before
		}
		if kept := func(x engine.Answer) bool { return x.Kept && x.Assignment.Batch() == id.Batch() }; w.op == "tick" && w.k.ending[id.Batch()] && slices.ContainsFunc(w.ch.Answers, kept) {
			delete(tried, id)
			continue // some came to count in their time, others when the batch then ended
		}
		want := live == 0 && (len(t.answers) > 0 || t.removed) && (b.kept.State.Open() || b.kept.State == crowd.BatchDone || itself)
		if tried[id] != want {
			return fmt.Errorf("%s: %d live, %d answers, %s; tried to aggregate: %t", id, live, len(t.answers), b.kept.State, tried[id])
		}
		delete(tried, id)
	}
	delete(tried, 0)
	for id, yes := range tried {
		if yes && w.op != "revise" && w.op != "take out" && w.op != "disregard" && w.op != "revise answer" && !(w.followed(id) && len(w.ch.Answers)+len(w.ch.Actions) > 0) && w.op != "undo action" {
			return fmt.Errorf("%s: tried to aggregate, but nobody let go of it", id)
		}
		if _, t, err := w.k.task(id); yes && w.followed(id) && w.op != "revise" && err == nil && t.label != nil {
			w.k.seen["label: sure by answers to other tasks"]++
		}
	}
	return nil
}

// run makes a world and runs the commands; the error says after which.
func run(seed uint64, list []command, seen happenings) error {
	w, err := newWorld(seed, seen, inOrder)
	if err != nil {
		return err
	}
	for i, c := range list {
		if err := w.do(c); err != nil {
			return fmt.Errorf("command %d of %d, %s (policy %s): %w", i+1, len(list), c, w.k.policy, err)
		}
	}
	return nil
}

func inOrder(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// shrink leaves out commands as long as what is left still fails.
func shrink(seed uint64, list []command) []command {
	fails := func(l []command) bool { return run(seed, l, make(happenings)) != nil }
	for size := len(list) / 2; size > 0; size /= 2 {
		for at := 0; at+size <= len(list); {
			if shorter := slices.Delete(slices.Clone(list), at, at+size); fails(shorter) {
				list = shorter
			} else {
				at += size
			}
		}
	}
	return list
}

func listing(list []command) string {
	lines := make([]string, len(list))
	for i, c := range list {
		lines[i] = "\t" + c.String() + ","
	}
	return strings.Join(lines, "\n")
}
