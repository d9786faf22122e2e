package engine_test

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/label"
)

// books are an independent account of a pool. They are kept from what the
// driver asked for (and was granted) and from engine.Changes alone, and know
// the rules of an engine in their plainest form. Every method returns the
// first breach it sees.
type books struct {
	now      time.Time
	policy   string
	looked   time.Duration // how far orders looked ahead after the last command
	stopped  bool
	tenants  map[crowd.TenantID]engine.Tenant
	workers  map[crowd.WorkerID]engine.Worker
	batches  map[crowd.BatchID]*batchBook
	rows     map[crowd.AssignmentID]*row
	holding  map[crowd.WorkerID]*row
	graces   map[crowd.AssignmentID]*row // answered provisionally
	waiting  []crowd.WorkerID            // longest wait first
	accounts map[engine.Account]crowd.Money
	seen     happenings
	stays
	corrected map[crowd.TaskID]bool         // of what the command disregards
	before    map[crowd.TaskID]string       // the labels that it withdraws
	counting  crowd.WorkerID                // whose provisional answers are to count by the command
	ending    map[crowd.BatchID]bool        // batches that end with it
	weighed   map[crowd.BatchID][]lightBook // what answers weighed in the course of it
}

// batchBook is one batch, ended ones included.
type batchBook struct {
	spec     engine.Spec
	launched time.Time
	stopped  bool
	kept     engine.Progress // as last told
	tasks    []*taskBook     // by number - 1
	issued   uint32
	running  int
	counted  int
	worked   time.Duration
	labelled int
	early    bool // a label was made that the rule does not give
	revised  bool // its rule was changed: a task may have enough answers without a new one
	releases bool // by the last command: it is to give back what is spare

	suffices    bool // its budget, for all that it can cost
	sufficedFor int  // so many tasks

	growth
	ruling
	takenOver engine.TakenOver
	total     int // that was said; 0: nobody knows
}

type taskBook struct {
	id      crowd.TaskID
	rule    label.Rule
	invited map[crowd.WorkerID]bool // nil: everybody
	held    map[crowd.WorkerID]int  // how often, ever
	back    map[crowd.WorkerID]bool // they let go of it, and may get it again
	kept    map[crowd.WorkerID]bool // they have answered it, in time or late, skipped it or lost it
	first   uint32                  // number of its first assignment
	wanted  int                     // the most annotations that it wanted so far
	told    int                     // annotations wanted, by an event of this command
	live    int
	answers []string             // counted, and not disregarded
	from    []crowd.AssignmentID // that they are of
	by      []crowd.WorkerID     // who gave them
	batch   *batchBook
	without int // answers to it that were disregarded
	label   *engine.Label
	known   string // "": its answer is not known
	lesson  bool   // with known: it teaches
	removed bool   // taken out
	reports int    // how often somebody said that something is wrong with it
	wait
}

// row is an assignment.
type row struct {
	engine.Handout
	state    crowd.AssignmentState
	answer   *engine.Answer
	kept     *engine.Answer // while it is provisional
	rewarded bool
	revising
	disregarded bool
}

// happenings counts what happened, so that a test can prove that it looked.
type happenings map[string]int

func newBooks(seen happenings) *books {
	return &books{
		tenants:  make(map[crowd.TenantID]engine.Tenant),
		workers:  make(map[crowd.WorkerID]engine.Worker),
		batches:  make(map[crowd.BatchID]*batchBook),
		rows:     make(map[crowd.AssignmentID]*row),
		holding:  make(map[crowd.WorkerID]*row),
		graces:   make(map[crowd.AssignmentID]*row),
		accounts: make(map[engine.Account]crowd.Money),
		seen:     seen,
		stays:    newStays(),
	}
}

func (k *books) launch(s engine.Spec) {
	b := &batchBook{spec: s, launched: k.now, growth: newGrowth(k.now, &s, k.form())}
	b.kept.State, b.kept.Priority, b.kept.Deadline = crowd.BatchRunning, s.Priority, s.Deadline
	k.batches[s.ID] = b
	k.grow(b, make([]engine.Item, s.Tasks))
}

// grow enters more tasks of a batch.
func (k *books) grow(b *batchBook, items []engine.Item) {
	s := &b.spec
	for _, item := range items {
		n := uint32(len(b.tasks))
		t := &taskBook{batch: b, id: s.ID.Task(n + 1), rule: s.Rule, held: make(map[crowd.WorkerID]int), back: make(map[crowd.WorkerID]bool), kept: make(map[crowd.WorkerID]bool)}
		if t.invited = invitedTo(s, n+1); t.invited != nil {
			t.rule = s.Rule.Capped(len(t.invited))
		} else if s.Invited != nil {
			k.seen["for everybody among invited ones"]++
		}
		t.known = cmp.Or(item.Known, s.Known[n+1])
		t.lesson = item.Lesson || slices.Contains(s.Lessons, n+1)
		t.wanted = t.want()
		if b.tasks = append(b.tasks, t); !s.Training {
			k.tally.Arrived += int64(t.wanted)
		}
		t.item, t.since, t.born, t.bound = item, k.now, item.Born, item.Bound
		if t.born.IsZero() {
			t.born = k.now
		}
		if t.known == "" {
			b.stand(k.now, t)
		}
	}
}

func (k *books) task(id crowd.TaskID) (*batchBook, *taskBook, error) {
	b := k.batches[id.Batch()]
	if b == nil || id.N() < 1 || int(id.N()) > len(b.tasks) {
		return nil, nil, fmt.Errorf("%s: no such task", id)
	}
	return b, b.tasks[id.N()-1], nil
}

// apply enters what one command changed. Within a command hand-outs come last.
func (k *books) apply(ch *engine.Changes) error {
	for _, x := range ch.Ends {
		if err := k.end(x); err != nil {
			return fmt.Errorf("end of %s: %w", x.Assignment, err)
		}
	}
	if err := k.provisional(ch); err != nil {
		return err
	}
	for i := range ch.Answers {
		if err := k.answer(ch.Answers[i]); err != nil {
			return fmt.Errorf("answer to %s: %w", ch.Answers[i].Assignment, err)
		}
	}
	if err := k.disregarded(ch); err != nil {
		return err
	}
	k.weigh(ch)
	for i := range ch.Labels {
		if err := k.label(ch.Labels[i]); err != nil {
			return fmt.Errorf("label of %s: %w", ch.Labels[i].Task, err)
		}
	}
	for _, x := range ch.Transfers {
		if err := k.transfer(x, ch); err != nil {
			return fmt.Errorf("transfer %v: %w", x, err)
		}
	}
	if err := cmp.Or(k.reports(ch), k.shifts(ch.Shifts)); err != nil {
		return err
	}
	for _, x := range ch.Progress {
		if err := k.progress(x); err != nil {
			return fmt.Errorf("progress of %s: %w", x.Batch, err)
		}
	}
	rules := k.ruled(ch) // before people are given tasks
	k.settleWeights(ch)
	served := slices.DeleteFunc(slices.Clone(ch.Served), func(h engine.Handout) bool { return !slices.Contains(ch.Handouts, h) }) // else taken back
	for _, x := range ch.Handouts {
		if slices.Contains(k.waiting, x.Worker) {
			if len(served) == 0 || served[0] != x {
				return fmt.Errorf("%s waited and was given %s, but is not next among those to be told: %v", x.Worker, x.Assignment, served)
			}
			served = served[1:]
			k.seen["served while waiting"]++
		}
		if err := k.handout(x); err != nil {
			return fmt.Errorf("hand-out of %s to %s: %w", x.Task, x.Worker, err)
		}
	}
	if len(served) > 0 {
		return fmt.Errorf("told of hand-outs to people who did not wait: %v", served)
	}
	return cmp.Or(rules, k.settleWaits(), k.duties(ch.Duties))
}

func (k *books) handout(x engine.Handout) error {
	b, t, err := k.task(x.Task)
	if err != nil {
		return err
	}
	if t.known != "" {
		right := k.rightCheck
		if t.lesson {
			right = k.rightLesson
		}
		if err := cmp.Or(right(x, b, t), k.underLooks(func() error { return k.rightBatch(x, b) })); err != nil {
			return err
		}
	}
	again := t.unfit(x.Worker) == "held before" && t.comesBack(x.Worker)
	if due := k.dueLesson(x.Worker, b); due != nil && due != t && !again {
		return fmt.Errorf("%s is due, for training", due.id)
	}
	if why := cmp.Or(k.refused(x.Worker, b), t.unfit(x.Worker)); why != "" && t.known == "" && !(again && k.refused(x.Worker, b) == "") {
		return fmt.Errorf("must not be: %s", why)
	}
	if h := k.holding[x.Worker]; h != nil {
		return fmt.Errorf("already holds %s", h.Assignment)
	}
	b.issued++
	want := engine.Handout{
		Assignment: b.spec.ID.Assignment(b.issued), Task: x.Task, Worker: x.Worker,
		At: k.now, Expires: k.now.Add(b.spec.Lease), Reward: b.spec.Reward,
	}
	if x != want {
		return fmt.Errorf("got %v, want %v", x, want)
	}
	if t.known != "" {
		t.wanted++
	} else if again {
		if err := k.rightlyAgain(x, b, t); err != nil {
			return err
		}
	} else if err := cmp.Or(k.rightTask(x, b, t), k.underLooks(func() error { return k.rightBatch(x, b) })); err != nil {
		return err
	}
	k.noteBounds(x, b, t)
	for _, ahead := range k.waiting {
		if ahead == x.Worker {
			break
		}
		if k.takes(ahead, b) != nil {
			return fmt.Errorf("%s waits longer and could do it", ahead)
		}
	}
	if !k.person(x.Worker).on {
		return fmt.Errorf("off duty")
	}
	k.stopWaiting(x.Worker)
	k.person(x.Worker).left = time.Time{}
	if !b.spec.Training {
		k.handed = append(k.handed, handed{x, b.waitsFrom})
	} else {
		k.seen["handed out to learn from"]++
	}
	r := &row{Handout: x, state: crowd.Assigned}
	k.rows[x.Assignment], k.holding[x.Worker] = r, r
	if len(t.held) == 0 {
		t.first = b.issued
	}
	t.held[x.Worker], t.back[x.Worker] = t.held[x.Worker]+1, false
	t.live++
	b.running++
	k.seen["handed out"]++
	k.seen["handed out under "+k.policy]++
	if t.invited != nil {
		k.seen["handed out by invitation"]++
	}
	return nil
}

func (k *books) answer(x engine.Answer) error {
	r := k.rows[x.Assignment]
	if r == nil || r.Worker != x.Worker || x.At != k.now && !x.Kept {
		return fmt.Errorf("of %s at %s: not theirs", x.Worker, x.At)
	}
	if r.answer != nil {
		return fmt.Errorf("there was one already")
	}
	b, t, err := k.task(r.Task)
	if err != nil {
		return err
	}
	if err := k.graceEnds(b, r, &x); err != nil {
		return err
	}
	late := r.state != crowd.Assigned && !x.Kept
	counts := !late || t.label == nil && !b.kept.State.Ended() &&
		t.live+len(t.answers) < t.want() && k.promised(b)+r.Reward <= k.accounts[b.account()]
	if h := k.holding[r.Worker]; late && counts && (t.kept[r.Worker] || h != nil && h.Task == r.Task) {
		counts = false
		k.seen["late, and they have it again"]++
	}
	if late && counts && (k.beyond(b, r) || !k.mayGiveLate(r.Worker, b)) {
		counts = false
	}
	if x.Late != late || x.Counted != counts {
		return fmt.Errorf("late %t, counted %t; want %t, %t", x.Late, x.Counted, late, counts)
	}
	if err := k.rewards(b, r, &x); err != nil {
		return err
	}
	k.noteAnswer(b, t, r, x.Counted)
	switch {
	case x.Kept:
		k.unclaim(r)
		delete(k.graces, x.Assignment)
		r.kept = nil
	case late:
		k.person(r.Worker).seen = k.now
	default:
		k.person(r.Worker).seen = k.now
		k.letGo(r)
		k.learn(r)
	}
	r.state, r.answer = crowd.Submitted, &x
	t.kept[r.Worker] = true
	k.noteCheck(t, fmt.Sprintf("answered, right %t, counted %t", x.Key == t.known, x.Counted))
	if x.Counted {
		b.counted++
		b.worked += min(x.At.Sub(r.At), b.spec.Lease)
		k.used[b.spec.Tenant] += min(x.At.Sub(r.At), b.spec.Lease)
		if !b.spec.Training {
			k.tally.Completed++
		}
		t.answers, t.from, t.by = append(t.answers, x.Key), append(t.from, x.Assignment), append(t.by, x.Worker)
		if t.live+len(t.answers) >= t.wanted { // it stands no more, if only until its rule wants another one
			t.stands = false
		}
		if b.expect(k.now) {
			k.seen["response time moved"]++
		}
	}
	k.seen[fmt.Sprintf("answer late=%t counted=%t", x.Late, x.Counted)]++
	if late && x.Counted && t.without > 0 {
		k.seen["disregard: late answer to a task asked again"]++
	}
	if x.Kept {
		k.seen["undo: an answer came to count"]++
	}
	return nil
}

func (k *books) progress(x engine.Progress) error {
	b := k.batches[x.Batch]
	if b == nil {
		return fmt.Errorf("no such batch")
	}
	if b.kept.State != x.State {
		if !b.kept.State.May(x.State) {
			return fmt.Errorf("%s → %s", b.kept.State, x.State)
		}
		k.seen["batch "+string(x.State)]++
		k.reportedBatch(b, x.State)
		if b.open {
			k.seen["open batch "+string(x.State)]++
		}
	}
	if x.State.Ended() && (x.EndedAt != k.now || x.Planned != x.Completed || x.Escrow != 0 || x.Spent+x.Released != b.funded || k.accounts[b.account()] != 0 || b.running != 0) {
		return fmt.Errorf("it has ended with %+v, and %s in its account", x, k.accounts[b.account()])
	}
	if all := b.left() == 0 && !b.open; x.State == crowd.BatchDone && !all || x.State.Open() && all {
		return fmt.Errorf("%s with %d labels of %d", x.State, b.labelled, len(b.tasks))
	}
	if x.Removed != b.removed() || x.Wanted() != len(b.tasks)-b.removed() {
		return fmt.Errorf("%d taken out, %d wanted; want %d of %d", x.Removed, x.Wanted(), b.removed(), len(b.tasks))
	}
	if int(x.Tasks) != len(b.tasks) || x.Open != (b.open && x.State.Open()) {
		return fmt.Errorf("%d tasks, open %t; want %d, %t", x.Tasks, x.Open, len(b.tasks), b.open && x.State.Open())
	}
	b.kept = x
	return k.endedBecause(b, &x)
}

// check compares the books with what the engine shows of itself.
func (k *books) check(e *engine.Engine) error {
	for _, b := range k.batches {
		for _, t := range b.tasks {
			if t.known != "" {
				continue
			}
			if more := max(t.want(), t.told) - t.wanted; b.kept.State.Open() {
				t.wanted += more
				if more > 0 && !b.spec.Training {
					k.tally.Arrived += int64(more)
				}
			} else if more := t.told - t.wanted; more > 0 && !b.spec.Training { // in the command by which the batch ended
				k.tally.Arrived += int64(more)
			}
			t.told = 0
		}
		b.settle(k.now)
		if err := k.checkBatch(e, b); err != nil {
			return fmt.Errorf("%s: %w", b.spec.ID, err)
		}
	}
	if got, want := e.Holding(0), k.heldRows(); !slices.Equal(got, want) {
		return fmt.Errorf("in people's hands:\n got %v\nwant %v", got, want)
	}
	if c := e.Counts(); c.Waiting != len(k.waiting) || c.Working != len(k.holding) || c.Belong != len(k.workers) || c.Stopped != k.stopped {
		return fmt.Errorf("counts %+v; the books have %d waiting, %d working, %d workers", c, len(k.waiting), len(k.holding), len(k.workers))
	}
	return cmp.Or(k.checkNobodyIdles(), k.checkMoney(), k.released(), k.checkStays(e))
}

func (k *books) checkBatch(e *engine.Engine, b *batchBook) error {
	s, running := e.Status(b.spec.ID)
	if running != b.kept.State.Open() {
		return fmt.Errorf("running: %t, but it is %s", running, b.kept.State)
	}
	if b.early && b.kept.State != crowd.BatchStopped {
		return fmt.Errorf("a label was made too early, it is %s", b.kept.State)
	}
	if !running {
		return nil
	}
	if err := k.checkEnough(b, &s); err != nil {
		return err
	}
	if s.Progress != b.kept {
		return fmt.Errorf("it stands at\n%+v, but what was kept is\n%+v", s.Progress, b.kept)
	}
	if n := k.provisionalOf(b); s.Provisional != n {
		return fmt.Errorf("%d provisional answers, want %d", s.Provisional, n)
	}
	planned, fresh, oldest, shared := 0, 1, b.issued+1, false
	for i, t := range b.tasks {
		planned += t.want() + t.without
		if t.live+len(t.answers) > t.want() {
			return fmt.Errorf("%s: %d live and %d counted, %d wanted", t.id, t.live, len(t.answers), t.want())
		}
		if t.label == nil && !t.removed && t.live == 0 && t.agreed() {
			return fmt.Errorf("%s: %q is enough, and there is no label", t.id, t.answers)
		}
		if t.known != "" {
			shared = true
			continue
		}
		if shared = shared || t.invited == nil; len(t.held) > 0 && t.invited == nil {
			fresh = i + 2
		}
		if len(t.held) > 0 && t.label == nil && !(t.removed && t.live == 0) {
			oldest = min(oldest, t.first)
		}
	}
	for _, r := range k.rows {
		if r.Task.Batch() == b.spec.ID && b.tasks[r.Task.N()-1].known != "" && (r.state == crowd.Assigned || r.kept != nil) {
			oldest = min(oldest, r.Assignment.N())
		}
	}
	for shared && fresh <= len(b.tasks) && (b.tasks[fresh-1].known != "" && b.spec.SLA == nil || b.tasks[fresh-1].invited != nil || b.tasks[fresh-1].removed && b.spec.SLA == nil) {
		fresh++
	}
	got := [...]int{s.Planned, s.Completed, s.Running, s.Waiting, s.Labelled, int(s.Issued), int(s.Escrow), int(s.Worked), int(s.Fresh), int(s.OldestOpen)}
	want := [...]int{planned, b.counted, b.running, planned - b.counted - b.running, b.labelled, int(b.issued),
		int(k.accounts[b.account()]), int(b.worked), fresh, int(oldest)}
	if got != want {
		return fmt.Errorf("planned, completed, running, waiting, labelled, issued, escrow, worked, fresh, oldest open:\n got %v\nwant %v", got, want)
	}
	if s.Escrow+s.Spent != b.funded {
		return fmt.Errorf("%s left and %s spent of %s", s.Escrow, s.Spent, b.funded)
	}
	if err := cmp.Or(k.checkBudget(b, &s), k.checkShown(e, b), k.checkRules(e, b)); err != nil {
		return err
	}
	if b.open && s.Reason == crowd.BudgetSpent {
		k.seen["budget of an open batch spent"]++
	}
	if here, sure := k.here(b); sure && s.Here != here {
		return fmt.Errorf("%d people are on duty for it, the books have %d", s.Here, here)
	}
	if (s.Reason == crowd.NoTaskYet) != (k.idle(b)) {
		return fmt.Errorf("waits because of %s, with %d running and %d waiting", s.Reason, s.Running, s.Waiting)
	}
	if promised := k.promised(b); promised > s.Escrow {
		return fmt.Errorf("%d in hand, promised %s, and %s in the account", b.running, promised, s.Escrow)
	}
	return nil
}
