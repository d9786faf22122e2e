package killtest

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server"
	"github.com/throng-dev/throng/internal/server/live"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/label"
)

// comparison is what was found while reading the store.
type comparison struct {
	*Report
	clients *test
	store   store.Store
	sent    map[crowd.AssignmentID]*sent // by all workers
	seen    map[crowd.AssignmentID]bool  // stored answers
	earned  map[crowd.WorkerID]crowd.Money
	batches map[crowd.BatchID]store.Batch
}

// all is more than there are of anything.
const all = 1_000_000

// compare compares what the clients know with a database that no server has open, and the
// database with itself.
func (t *test) compare(ctx context.Context, place server.Place, report *Report) (err error) {
	c := &comparison{
		Report: report, clients: t, sent: make(map[crowd.AssignmentID]*sent), seen: make(map[crowd.AssignmentID]bool),
		earned: make(map[crowd.WorkerID]crowd.Money), batches: make(map[crowd.BatchID]store.Batch),
	}
	c.gather()
	if path := place.File(); path != "" {
		if err := c.integrity(ctx, path); err != nil {
			return err
		}
	}
	if c.store, err = place.Open(ctx, 0, nil, slog.New(slog.DiscardHandler)); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.store.Close()) }()
	batches, err := c.store.ListBatches(ctx, 0, 0, all)
	if err != nil {
		return err
	}
	for _, b := range batches {
		c.batches[b.Spec.ID] = b
		if err := c.batch(ctx, b); err != nil {
			return err
		}
	}
	c.answers()
	c.requester()
	for _, check := range []func(context.Context) error{c.money, c.runs, c.engines} {
		if err := check(ctx); err != nil {
			return err
		}
	}
	return nil
}

// gather adds up what the clients know and what they found themselves.
func (c *comparison) gather() {
	t := c.clients
	found := slices.Concat(t.requester.problems, t.planner.problems, t.scores.problems)
	for _, w := range t.workers {
		for id, s := range w.sent {
			if other := c.sent[id]; other != nil {
				c.problem("%s was handed to both %s and %s", id, other.worker, s.worker)
			}
			c.sent[id] = s
		}
		c.Unknown += w.unknown
		c.Kept += w.kept
		c.Resent += w.resent
		c.Duplicates += w.duplicates
		found = append(found, w.problems...)
	}
	for _, p := range found {
		c.problem("%s", p)
	}
	c.RunsCompared, c.RunMoves = t.planner.looked, t.planner.moves
	c.Moves, c.States, c.PaidAgain = t.requester.moves, t.requester.states, t.payer.resent
}

// integrity has SQLite check the file.
func (c *comparison) integrity(ctx context.Context, path string) error {
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		return err
	}
	defer db.Close()
	var text string
	err = db.QueryRowContext(ctx, "pragma integrity_check").Scan(&text)
	c.must(err != nil || text == "ok", "the database is damaged: %s", text)
	return err
}

// batch compares every answer of a batch with what was sent, every label with what
// the rule makes of the answers, and the batch's own figures with both.
func (c *comparison) batch(ctx context.Context, b store.Batch) error {
	id, p := b.Spec.ID, b.Progress
	c.Batches++
	type pair struct {
		task   crowd.TaskID
		worker crowd.WorkerID
	}
	pairs, counted := make(map[pair]crowd.AssignmentID), make(map[pair]bool)
	tasks := make(map[crowd.TaskID]*answered)
	n, last := 0, uint32(0)
	for a, err := range c.store.Annotations(ctx, b.Spec.Tenant, id, false) {
		if err != nil {
			return err
		}
		last = max(last, a.Assignment.N())
		other, twice := pairs[pair{a.Task, a.Worker}]
		c.must(!twice, "%s was given to %s twice: %s and %s", a.Task, a.Worker, other, a.Assignment)
		if a.State != crowd.Returned && a.State != crowd.Expired && !a.Late { // else it may come back to them
			pairs[pair{a.Task, a.Worker}] = a.Assignment
		}
		task := tasks[a.Task]
		if task == nil {
			task = &answered{}
			tasks[a.Task] = task
		}
		task.live = task.live || a.State == crowd.Assigned || a.State == crowd.Provisional
		if !a.State.Answered() {
			continue
		}
		c.answer(a)
		if !a.Counted {
			c.must(a.Paid == 0, "%s does not count, but was paid %s", a.Assignment, a.Paid)
			continue
		}
		if !c.must(!counted[pair{a.Task, a.Worker}], "two answers of %s to %s count", a.Worker, a.Task) {
			c.Doubled++
		}
		counted[pair{a.Task, a.Worker}] = true
		c.must(a.Paid == b.Spec.Reward, "%s counts, and was paid %s in place of %s", a.Assignment, a.Paid, b.Spec.Reward)
		c.earned[a.Worker] += a.Paid
		task.counted = append(task.counted, a)
		n++
	}
	c.Counted += n
	c.must(last <= p.Issued, "%s: %d assignments were handed out, but it says %d", id, last, p.Issued)
	c.must(n == p.Completed && p.Spent == b.Spec.Reward*crowd.Money(n), "%s: %d answers count, but it says %d, and %s spent", id, n, p.Completed, p.Spent)
	c.must(p.State != crowd.BatchDone || p.Labelled == int(b.Spec.Tasks), "%s is done with %d labels of %d", id, p.Labelled, b.Spec.Tasks)
	return c.labels(ctx, b, tasks)
}

// answered is what the store has of a task.
type answered struct {
	live    bool // somebody holds it, or may take their answer back
	counted []store.Annotation
}

// keys returns the counted answers in the order in which they came.
func (a *answered) keys() []string {
	slices.SortStableFunc(a.counted, func(x, y store.Annotation) int { return x.EndedAt.Compare(y.EndedAt) })
	return lists.Map(a.counted, func(k store.Annotation) string { return k.Key })
}

// labels compares every label with what the rule makes of the answers.
func (c *comparison) labels(ctx context.Context, b store.Batch, tasks map[crowd.TaskID]*answered) error {
	n := 0
	for task, err := range c.store.Labels(ctx, b.Spec.Tenant, b.Spec.ID) {
		if err != nil {
			return err
		}
		got := tasks[task.Task]
		if got == nil {
			got = &answered{}
		}
		keys, rule := got.keys(), b.Spec.Rule
		c.must(len(keys) <= rule.Most(), "%s has %d counted answers, and at most %d are wanted", task.Task, len(keys), rule.Most())
		if task.Label == nil {
			missing := !got.live && b.Progress.State.Open() && rule.Decide(task.Task, keys, 0).Enough
			c.must(!missing, "%s has all that it needs, %q, and no label", task.Task, keys)
			continue
		}
		n++
		c.must(task.Label.Answers == len(keys), "%s has a label from %d answers, but %d count", task.Task, task.Label.Answers, len(keys))
		if b.Progress.State == crowd.BatchStopped && task.Label.Undecided {
			rule = label.Count(len(keys)) // ended early
		}
		d := rule.Decide(task.Task, keys, 0)
		c.must(d.Enough && d.Label == task.Label.Value, "%s has the label %q, but its answers are %q", task.Task, task.Label.Value, keys)
	}
	c.must(n == b.Progress.Labelled, "%s: %d labels, but it says %d", b.Spec.ID, n, b.Progress.Labelled)
	return nil
}

// answer compares a stored answer with what its worker sent.
func (c *comparison) answer(a store.Annotation) {
	c.Stored++
	if !c.must(!c.seen[a.Assignment], "%s is stored twice", a.Assignment) {
		c.Doubled++
	}
	c.seen[a.Assignment] = true
	s := c.sent[a.Assignment]
	if s == nil || len(s.texts) == 0 {
		c.problem("%s has an answer that nobody sent", a.Assignment)
		return
	}
	var body struct{ Note string }
	if err := json.Unmarshal(a.Body, &body); err != nil {
		c.problem("%s: %v", a.Assignment, err)
		return
	}
	may := s.texts
	if s.told && s.first >= 0 {
		may = s.texts[s.first : s.first+1]
	}
	choice := s.choices[body.Note]
	c.must(slices.Contains(may, body.Note), "%s was acknowledged as one of %q, and is stored as %q", a.Assignment, may, body.Note)
	c.must(choice == a.Key, "%s said %q (%s), and is counted as %q", a.Assignment, choice, body.Note, a.Key)
	c.must(s.worker == a.Worker && s.task == a.Task, "%s was of %s for %s, and is stored of %s for %s", a.Assignment, s.worker, s.task, a.Worker, a.Task)
	c.must(!s.told || s.out.Counted == a.Counted && s.out.PaidMicros == a.Paid, "%s was acknowledged as %+v, and is stored as counted %t, paid %s", a.Assignment, s.out, a.Counted, a.Paid)
}

// answers looks for what was acknowledged and is not there.
func (c *comparison) answers() {
	for id, s := range c.sent {
		switch {
		case s.told:
			c.Acknowledged++
			if !c.must(c.seen[id], "%s was acknowledged and is lost (%q)", id, s.texts) {
				c.Lost++
			}
		case c.seen[id]:
			c.Kept++
		}
	}
}

// money checks the ledger: that it sums to zero, that each worker has what their
// answers earned, and that what was paid in is there.
func (c *comparison) money(ctx context.Context) error {
	if err := c.store.CheckLedger(ctx); err != nil {
		c.problem("the ledger: %v", err)
	}
	var sum, paidIn crowd.Money
	balance := func(kind engine.AccountKind, id int64) crowd.Money {
		m, err := c.store.Balance(ctx, engine.Account{Kind: kind, ID: id})
		if err != nil {
			c.problem("the balance of %c%d: %v", kind, id, err)
		}
		sum += m
		return m
	}
	for w, want := range c.earned {
		have := balance(engine.WorkerAccount, int64(w))
		c.must(have == want, "%s has %s, but their answers earned %s", w, have, want)
	}
	for id, b := range c.batches {
		have := balance(engine.BatchAccount, int64(id))
		c.must(have == b.Progress.Escrow, "%s has %s, but it says %s", id, have, b.Progress.Escrow)
	}
	for _, tenant := range c.clients.requester.tenants {
		balance(engine.TenantAccount, int64(tenant))
		in, err := c.deposits(ctx, tenant)
		if err != nil {
			return err
		}
		paidIn += in
	}
	c.must(sum == paidIn, "%s was paid in, and all accounts together have %s", paidIn, sum)
	return nil
}

// deposits compares the deposits in a tenant's account with those that were made, and
// adds them up.
func (c *comparison) deposits(ctx context.Context, tenant crowd.TenantID) (sum crowd.Money, err error) {
	list, err := c.store.Entries(ctx, engine.Account{Kind: engine.TenantAccount, ID: int64(tenant)}, 0, all)
	booked, r, p := make(map[string]bool), c.clients.requester, c.clients.payer
	for _, e := range list {
		if e.Kind != engine.Deposit {
			continue
		}
		sum += e.Amount
		c.must(e.Amount == deposit, "%s to %s is of %s", e.Note, tenant, e.Amount)
		if !c.must(!booked[e.Note], "%s to %s was booked more than once", e.Note, tenant) {
			c.Doubled++
		}
		c.must(r.paidIn[e.Note] == tenant || r.paidX[e.Note] == tenant || p.paidIn[e.Note] == tenant || p.next == e.Note && p.into == tenant, "%s to %s is booked, and nobody made it", e.Note, tenant)
		booked[e.Note] = true
	}
	for _, paidIn := range []map[string]crowd.TenantID{r.paidIn, p.paidIn} {
		for note, of := range paidIn {
			if of == tenant {
				c.Deposits++
				if !c.must(booked[note], "%s to %s was acknowledged and is lost", note, tenant) {
					c.Lost++
				}
			}
		}
	}
	return sum, err
}

// requester compares every batch with its requester's record.
func (c *comparison) requester() {
	for _, p := range c.clients.requester.batches {
		b, ok := c.batches[p.id]
		if !ok {
			c.problem("%s was made and is lost", p.id)
			continue
		}
		state := b.Progress.State
		c.must(p.unsure || state == p.state || p.state.Open() && state == crowd.BatchDone, "%s was acknowledged to be %s, and is stored as %s", p.id, p.state, state)
		if !state.Open() {
			continue
		}
		// What it ever had is what it has and has spent. No budget was named.
		reserved := b.Spec.Reward * crowd.Money(b.Spec.Rule.Most()) * crowd.Money(b.Spec.Tasks)
		extra := b.Progress.Escrow + b.Progress.Spent - reserved
		c.must(extra >= topUp*crowd.Money(p.toppedN) && extra <= topUp*crowd.Money(p.toppedN+p.toppedX),
			"%s: %d top-ups of %s were acknowledged and %d are unknown, but %s was added", p.id, p.toppedN, topUp, p.toppedX, extra)
	}
}

// engines restores every pool as a server would, and lets each engine check itself.
func (c *comparison) engines(ctx context.Context) error {
	pools, err := c.store.ListPools(ctx)
	for _, p := range pools {
		e, err := live.Restore(ctx, c.store, p.ID, time.Now().UTC())
		if err == nil {
			err = e.Check()
		}
		if err != nil {
			c.problem("pool %s: %v", p.Name, err)
		}
	}
	return err
}
