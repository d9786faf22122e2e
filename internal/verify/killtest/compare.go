package killtest

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/store/sqlite"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/sched"
)

// journal is what the clients know in the end.
type journal struct {
	answers   map[crowd.AssignmentID]*sent
	requester *requester
	planner   *planner
	scores    *scores
}

// compare compares the journal with the database in a file that no server has
// open, and the database with itself.
func (j *journal) compare(ctx context.Context, path string, report *Report) (err error) {
	if err := integrity(ctx, path, report); err != nil {
		return err
	}
	st, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	batches, err := allBatches(ctx, st)
	if err != nil {
		return err
	}
	t := &comparison{report: report, journal: j, seen: make(map[crowd.AssignmentID]bool), earned: make(map[crowd.WorkerID]crowd.Money), batches: make(map[crowd.BatchID]store.Batch)}
	for _, b := range batches {
		t.batches[b.Spec.ID] = b
		if err := t.batch(ctx, st, b); err != nil {
			return err
		}
	}
	t.answers()
	if err := t.money(ctx, st); err != nil {
		return err
	}
	t.requester()
	if err := t.runs(ctx, st); err != nil {
		return err
	}
	return engines(ctx, st, report)
}

// integrity has SQLite check the file.
func integrity(ctx context.Context, path string, report *Report) error {
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		return err
	}
	defer db.Close()
	var text string
	if err := db.QueryRowContext(ctx, "pragma integrity_check").Scan(&text); err != nil {
		return err
	}
	if text != "ok" {
		report.problem("the database is damaged: %s", text)
	}
	return nil
}

func allBatches(ctx context.Context, st store.Store) (all []store.Batch, err error) {
	const page = 500
	for before := crowd.BatchID(0); ; {
		list, err := st.ListBatches(ctx, 0, before, page)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
		if len(list) < page {
			return all, nil
		}
		before = list[len(list)-1].Spec.ID
	}
}

// comparison is what was found while reading the store.
type comparison struct {
	report  *Report
	journal *journal
	seen    map[crowd.AssignmentID]bool // stored answers
	earned  map[crowd.WorkerID]crowd.Money
	batches map[crowd.BatchID]store.Batch
}

// batch reads one batch: every answer against the journal, every task against
// its rule, and the batch's own figures.
func (t *comparison) batch(ctx context.Context, st store.Store, b store.Batch) error {
	id, p, r := b.Spec.ID, b.Progress, t.report
	r.Batches++
	type pair struct {
		task   crowd.TaskID
		worker crowd.WorkerID
	}
	pairs := make(map[pair]crowd.AssignmentID)
	tasks := make(map[crowd.TaskID]*answered)
	n, last := 0, uint32(0)
	for a, err := range st.Annotations(ctx, b.Spec.Tenant, id, false) {
		if err != nil {
			return err
		}
		last = max(last, a.Assignment.N())
		if other, twice := pairs[pair{a.Task, a.Worker}]; twice {
			r.problem("%s was given to %s twice: %s and %s", a.Task, a.Worker, other, a.Assignment)
		}
		pairs[pair{a.Task, a.Worker}] = a.Assignment
		task := tasks[a.Task]
		if task == nil {
			task = &answered{}
			tasks[a.Task] = task
		}
		if a.State == crowd.Assigned {
			task.live++
		}
		if !a.State.Answered() {
			continue
		}
		t.answer(a)
		if !a.Counted {
			if a.Paid != 0 {
				r.problem("%s does not count, but was paid %s", a.Assignment, a.Paid)
			}
			continue
		}
		if a.Paid != b.Spec.Reward {
			r.problem("%s counts, and was paid %s in place of %s", a.Assignment, a.Paid, b.Spec.Reward)
		}
		t.earned[a.Worker] += a.Paid
		task.counted = append(task.counted, keyed{a.EndedAt, a.Key})
		n++
	}
	r.Counted += n
	if last > p.Issued {
		r.problem("%s: %d assignments were handed out, but it says %d", id, last, p.Issued)
	}
	if n != p.Completed || p.Spent != b.Spec.Reward*crowd.Money(n) {
		r.problem("%s: %d answers count, but it says %d, and %s spent", id, n, p.Completed, p.Spent)
	}
	if p.State == crowd.BatchDone && p.Labelled != int(b.Spec.Tasks) {
		r.problem("%s is done with %d labels of %d", id, p.Labelled, b.Spec.Tasks)
	}
	return t.labels(ctx, st, b, tasks)
}

// answered is what the store has of a task.
type answered struct {
	live    int
	counted []keyed
}

type keyed struct {
	at  time.Time
	key string
}

// keys returns the counted answers in the order in which they came.
func (a *answered) keys() []string {
	slices.SortStableFunc(a.counted, func(x, y keyed) int { return x.at.Compare(y.at) })
	keys := make([]string, len(a.counted))
	for i, k := range a.counted {
		keys[i] = k.key
	}
	return keys
}

// labels compares every label with what the rule makes of the answers.
func (t *comparison) labels(ctx context.Context, st store.Store, b store.Batch, tasks map[crowd.TaskID]*answered) error {
	n := 0
	for task, err := range st.Labels(ctx, b.Spec.Tenant, b.Spec.ID) {
		if err != nil {
			return err
		}
		got := tasks[task.Task]
		if got == nil {
			got = &answered{}
		}
		keys := got.keys()
		if most := b.Spec.Rule.Most(); len(keys) > most {
			t.report.problem("%s has %d counted answers, and at most %d are wanted", task.Task, len(keys), most)
		}
		switch {
		case task.Label == nil:
			if d := b.Spec.Rule.Decide(task.Task, keys, 0); d.Enough && got.live == 0 && b.Progress.State.Open() {
				t.report.problem("%s has all that it needs, %q, and no label", task.Task, keys)
			}
			continue
		case task.Label.Answers != len(keys):
			t.report.problem("%s has a label from %d answers, but %d count", task.Task, task.Label.Answers, len(keys))
		default:
			rule := b.Spec.Rule
			if b.Progress.State == crowd.BatchStopped && task.Label.Undecided {
				rule = label.Count(len(keys)) // ended early
			}
			if d := rule.Decide(task.Task, keys, 0); !d.Enough || d.Label != task.Label.Value {
				t.report.problem("%s has the label %q, but its answers are %q", task.Task, task.Label.Value, keys)
			}
		}
		n++
	}
	if n != b.Progress.Labelled {
		t.report.problem("%s: %d labels, but it says %d", b.Spec.ID, n, b.Progress.Labelled)
	}
	return nil
}

// answer compares a stored answer with what its worker sent.
func (t *comparison) answer(a store.Annotation) {
	r := t.report
	r.Stored++
	if t.seen[a.Assignment] {
		r.problem("%s is stored twice", a.Assignment)
	}
	t.seen[a.Assignment] = true
	s := t.journal.answers[a.Assignment]
	if s == nil || len(s.texts) == 0 {
		r.problem("%s has an answer that nobody sent", a.Assignment)
		return
	}
	var body struct{ Note string }
	if err := json.Unmarshal(a.Body, &body); err != nil {
		r.problem("%s: %v", a.Assignment, err)
		return
	}
	may := s.texts
	if s.told && s.first >= 0 {
		may = s.texts[s.first : s.first+1]
	}
	fits := false
	for _, text := range may {
		fits = fits || text == body.Note
	}
	if fits && s.choices[body.Note] != a.Key {
		r.problem("%s said %q (%s), and is counted as %q", a.Assignment, s.choices[body.Note], body.Note, a.Key)
	}
	switch {
	case s.worker != a.Worker || s.task != a.Task:
		r.problem("%s was of %s for %s, and is stored of %s for %s", a.Assignment, s.worker, s.task, a.Worker, a.Task)
	case !fits:
		r.problem("%s was acknowledged as one of %q, and is stored as %q", a.Assignment, may, body.Note)
	case s.told && (s.out.Counted != a.Counted || s.out.PaidMicros != a.Paid):
		r.problem("%s was acknowledged as %+v, and is stored as counted %t, paid %s", a.Assignment, s.out, a.Counted, a.Paid)
	}
}

// answers looks for what was acknowledged and is not there.
func (t *comparison) answers() {
	for id, s := range t.journal.answers {
		if len(s.texts) == 0 {
			continue
		}
		if s.told {
			t.report.Acknowledged++
			if !t.seen[id] {
				t.report.problem("%s was acknowledged and is lost (%q)", id, s.texts)
			}
		} else if t.seen[id] {
			t.report.Kept++
		}
	}
}

// money checks the ledger: that it sums to zero, that each worker has what their
// answers earned, and that what was paid in is there.
func (t *comparison) money(ctx context.Context, st store.Store) error {
	r, who := t.report, t.journal.requester
	if err := st.CheckLedger(ctx); err != nil {
		r.problem("the ledger: %v", err)
	}
	balance := func(kind engine.AccountKind, id int64) crowd.Money {
		m, err := st.Balance(ctx, engine.Account{Kind: kind, ID: id})
		if err != nil {
			r.problem("the balance of %c%d: %v", kind, id, err)
		}
		return m
	}
	var sum crowd.Money
	for w, want := range t.earned {
		have := balance(engine.WorkerAccount, int64(w))
		if sum += have; have != want {
			r.problem("%s has %s, but their answers earned %s", w, have, want)
		}
	}
	for id, b := range t.batches {
		have := balance(engine.BatchAccount, int64(id))
		if sum += have; have != b.Progress.Escrow {
			r.problem("%s has %s, but it says %s", id, have, b.Progress.Escrow)
		}
	}
	paidIn := crowd.Money(0)
	for _, tenant := range who.tenants {
		sum += balance(engine.TenantAccount, int64(tenant))
		notes, err := deposits(ctx, st, tenant)
		if err != nil {
			return err
		}
		for note, n := range notes {
			paidIn += deposit * crowd.Money(n)
			switch {
			case n > 1:
				r.problem("%s to %s was booked %d times", note, tenant, n)
			case who.paidIn[note] != tenant && who.paidX[note] != tenant:
				r.problem("%s to %s is booked, and nobody made it", note, tenant)
			}
		}
		for note, of := range who.paidIn {
			if of == tenant {
				if r.Deposits++; notes[note] == 0 {
					r.problem("%s to %s was acknowledged and is lost", note, tenant)
				}
			}
		}
	}
	if sum != paidIn {
		r.problem("%s was paid in, and all accounts together have %s", paidIn, sum)
	}
	return nil
}

// deposits returns how often each deposit is in a tenant's account.
func deposits(ctx context.Context, st store.Store, tenant crowd.TenantID) (map[string]int, error) {
	const page = 1000
	notes := make(map[string]int)
	for before := int64(0); ; {
		list, err := st.Entries(ctx, engine.Account{Kind: engine.TenantAccount, ID: int64(tenant)}, before, page)
		if err != nil {
			return nil, err
		}
		for _, e := range list {
			if before = e.ID; e.Kind == engine.Deposit {
				if e.Amount != deposit {
					return nil, fmt.Errorf("%s is of %s", e.Note, e.Amount)
				}
				notes[e.Note]++
			}
		}
		if len(list) < page {
			return notes, nil
		}
	}
}

// requester compares every batch with its requester's record.
func (t *comparison) requester() {
	r := t.journal.requester
	t.report.Moves, t.report.States = r.moves, r.states
	for _, p := range r.batches {
		b, ok := t.batches[p.id]
		if !ok {
			t.report.problem("%s was made and is lost", p.id)
			continue
		}
		if !p.unsure && b.Progress.State != p.state && (!p.state.Open() || b.Progress.State != crowd.BatchDone) {
			t.report.problem("%s was acknowledged to be %s, and is stored as %s", p.id, p.state, b.Progress.State)
		}
		if b.Progress.State.Open() { // what it ever had is what it has and has spent
			reserved := b.Spec.Reward * crowd.Money(b.Spec.Rule.Most()) * crowd.Money(b.Spec.Tasks) // no budget was named
			extra := b.Progress.Escrow + b.Progress.Spent - reserved
			if extra < topUp*crowd.Money(p.toppedN) || extra > topUp*crowd.Money(p.toppedN+p.toppedX) {
				t.report.problem("%s: %d top-ups of %s were acknowledged and %d are unknown, but %s was added", p.id, p.toppedN, topUp, p.toppedX, extra)
			}
		}
	}
}

// engines restores every pool as a server would, and lets each engine check
// itself.
func engines(ctx context.Context, st store.Store, report *Report) error {
	pools, err := st.ListPools(ctx)
	if err != nil {
		return err
	}
	for _, p := range pools {
		snapshot, err := st.Snapshot(ctx, p.ID)
		if err != nil {
			return err
		}
		policy, err := sched.Parse(p.Policy)
		if err != nil {
			return err
		}
		e, err := engine.Restore(time.Now().UTC(), engine.Config{Policy: policy}, snapshot)
		if err == nil {
			err = e.Check()
		}
		if err != nil {
			report.problem("pool %s: %v", p.Name, err)
		}
	}
	return nil
}
