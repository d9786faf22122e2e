package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

// What a commit runs, prepared once.
const (
	insertAssignment = `insert into assignments (id, task, worker, state, assigned_at, expires_at) values ($1, $2, $3, 'assigned', $4, $5)`
	endAssignment    = `update assignments set state = $2, ended_at = $3 where id = $1 and state = 'assigned' and not exists (select 1 from answers where id = $1)`
	insertAnswer     = `insert into answers (id, answered_at, late, counted, paid, prev_answer, answer_key, body)
		select id, $3, $4, $5, $6, $7, $8, $9 from assignments where id = $1 and worker = $2 and state in ('assigned', 'provisional', 'expired', 'withdrawn')
		on conflict (id) do nothing`
	answeredAlready = `select case when a.worker = $2 then 1 else 0 end from assignments a join answers n on n.id = a.id where a.id = $1`
	insertLabel     = `insert into labels (task, labelled_at, value, confidence, answers, tie, undecided) values ($1, $2, $3, $4, $5, $6, $7)`
	lockLedger      = `select last from counters where name = 'ledger'`
	lastEntry       = `select coalesce(max(id), 0) from ledger`
	insertEntry     = `insert into ledger (id, entered_at, kind, source, target, amount, assignment, source_prev, target_prev, note, author)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`
	reviseBatch   = `update batches set rule = $2, reward = $3, production = $4, tasks = tasks + $5, enough = $6 where id = $1`
	insertPast    = `insert into past_rewards (batch, last, reward) values ($1, $2, $3) on conflict (batch, last) do nothing`
	insertRemoval = `insert into removals (task, removed_at) values ($1, $2)`
	keepAccount   = `insert into accounts (account, balance, last_entry, last_answer) values ($1, $2, $3, $4)
		on conflict (account) do update set balance = accounts.balance + excluded.balance, last_entry = excluded.last_entry, last_answer = excluded.last_answer`
)

// accountsAtOnce is how many accounts are read by one query. One by one they
// took a fifth of a commit's time.
const accountsAtOnce = 64

// Prepare prepares what commits and imports run. Without it they prepare it
// each time.
func (s *Store) Prepare(ctx context.Context) error {
	for _, text := range []string{
		insertAssignment, endAssignment, insertAnswer, insertLabel, lastEntry, insertEntry,
		s.accountsQuery, keepAccount, duties.insert, keepProgress.text, insertTask, insertInvited,
		insertRow, insertRows, labelRow, countRows, addUsage, keepNode.text, oneNode + s.dialect.RowLock,
	} {
		if _, err := s.write.prepared(ctx, text); err != nil {
			return fmt.Errorf("prepare %q: %w", text, err)
		}
	}
	return nil
}

// Commit implements store.Journal.
func (s *Store) Commit(ctx context.Context, c *engine.Changes) error {
	if c.Empty() {
		return nil
	}
	return s.change(ctx, "commit", func(ctx context.Context, tx transaction) error {
		w := writer{ctx: ctx, tx: tx, store: s}
		if err := w.touch(c.Answers, c.Transfers); err != nil {
			return err
		}
		for _, step := range [...]func(*engine.Changes) error{w.handouts, w.undone, w.ends, w.provisional, w.answers, w.held, w.revised, w.disregarded, w.notes, w.unlabelled, w.sentBack, w.removals, w.reviews, w.labels} {
			if err := step(c); err != nil {
				return err
			}
		}
		if err := w.transfers(c.Transfers, ""); err != nil {
			return err
		}
		if err := w.accounts(); err != nil {
			return err
		}
		for _, step := range [...]func(*engine.Changes) error{w.duties, w.revisions, w.reports, w.actions, w.undoings} {
			if err := step(c); err != nil {
				return err
			}
		}
		if err := w.progress(c); err != nil {
			return err
		}
		if err := w.usage(); err != nil {
			return err
		}
		return w.gates(c)
	})
}

// writer writes one commit, row by row.
type writer struct {
	ctx   context.Context
	tx    transaction
	store *Store

	accts []account // in order of key
	index map[int64]int

	texts map[crowd.TenantID]int64 // bytes that were kept
}

// account is what a commit does to an account.
type account struct {
	key, change           int64
	lastEntry, lastAnswer int64
}

// row writes one row, which must change exactly one.
func (w *writer) row(stmt *sql.Stmt, args ...any) error {
	n, err := w.rows(stmt, args...)
	if err == nil && n != 1 {
		err = errNoMatch
	}
	return err
}

var errNoMatch = errors.New("what is kept does not allow it")

func (w *writer) rows(stmt *sql.Stmt, args ...any) (int64, error) {
	result, err := stmt.ExecContext(w.ctx, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// forEach runs do with each of list and a statement, if there are any.
func forEach[T any](w *writer, text string, list []T, do func(*sql.Stmt, *T) error) error {
	if len(list) == 0 {
		return nil
	}
	stmt, err := w.tx.stmt(w.ctx, text)
	for i := 0; err == nil && i < len(list); i++ {
		err = do(stmt, &list[i])
	}
	return err
}

func (w *writer) handouts(c *engine.Changes) error {
	return forEach(w, insertAssignment, c.Handouts, func(stmt *sql.Stmt, h *engine.Handout) error {
		if err := w.row(stmt, int64(h.Assignment), int64(h.Task), int64(h.Worker), micros(h.At), micros(h.Expires)); err != nil {
			return fmt.Errorf("hand out %s: %w", h.Assignment, err)
		}
		return nil
	})
}

func (w *writer) ends(c *engine.Changes) error {
	return forEach(w, endAssignment, c.Ends, func(stmt *sql.Stmt, e *engine.End) error {
		if err := w.row(stmt, int64(e.Assignment), string(e.State), micros(e.At)); err != nil {
			return fmt.Errorf("end %s as %s: %w", e.Assignment, e.State, err)
		}
		return nil
	})
}

func (w *writer) answers(c *engine.Changes) error {
	return forEach(w, insertAnswer, c.Answers, func(stmt *sql.Stmt, a *engine.Answer) error {
		acct, err := w.account(engine.Account{Kind: engine.WorkerAccount, ID: int64(a.Worker)})
		if err != nil {
			return err
		}
		n, err := w.rows(stmt, int64(a.Assignment), int64(a.Worker), micros(a.At), a.Late, a.Counted, int64(a.Paid), acct.lastAnswer, a.Key, a.Body)
		if err == nil && n == 0 {
			err = w.again(a)
		} else if err == nil {
			acct.lastAnswer = int64(a.Assignment)
			var of place
			of, err = w.place(a.Assignment.Batch())
			if a.Kept { // and its text is counted; a comment goes to the label that it is about
				w.grown(of.tenant, -int64(len(a.SendBack)))
				return errors.Join(err, w.dropProvisional(a.Assignment))
			}
			w.grown(of.tenant, int64(len(a.Body)))
		}
		if err != nil {
			return fmt.Errorf("answer %s: %w", a.Assignment, err)
		}
		return nil
	})
}

// again allows an answer that is kept already: a late one that was sent twice.
// One that counts would be paid twice.
func (w *writer) again(a *engine.Answer) error {
	if a.Counted {
		return errNoMatch
	}
	answered, ok, err := one(w.ctx, w.tx, number[int64], answeredAlready, int64(a.Assignment), int64(a.Worker))
	if err == nil && (!ok || answered == 0) {
		err = errNoMatch
	}
	return err
}

func (w *writer) labels(c *engine.Changes) error {
	var batch crowd.BatchID
	var to place
	var goOn []handed
	err := forEach(w, insertLabel, c.Labels, func(stmt *sql.Stmt, l *engine.Label) (err error) {
		if err := w.row(stmt, int64(l.Task), micros(l.At), l.Value, l.Confidence, int64(l.Answers), l.Tie, l.Undecided); err != nil {
			return fmt.Errorf("label %s: %w", l.Task, err)
		}
		if b := l.Task.Batch(); b != batch {
			if to, err = w.place(b); err != nil {
				return err
			}
			batch = b
		}
		w.grown(to.tenant, int64(len(l.Value)))
		if to.reviews != 0 {
			return w.decide(l)
		}
		if to.run != 0 && !l.Check {
			goOn = append(goOn, handed{to, l})
		}
		return nil
	})
	if err != nil {
		return err
	}
	return w.handOver(goOn)
}

func (w *writer) transfers(list []engine.Transfer, note string) error {
	if len(list) == 0 {
		return nil
	}
	id, _, err := one(w.ctx, w.tx, number[int64], lastEntry)
	if err != nil {
		return err
	}
	return forEach(w, insertEntry, list, func(stmt *sql.Stmt, t *engine.Transfer) error {
		id++
		if err := w.transfer(stmt, id, t, note); err != nil {
			return fmt.Errorf("%s of %s from %s to %s: %w", t.Kind, t.Amount, t.From, t.To, err)
		}
		return nil
	})
}

func (w *writer) transfer(stmt *sql.Stmt, id int64, t *engine.Transfer, note string) error {
	if t.Amount <= 0 || t.From == t.To {
		return errors.New("not a payment")
	}
	from, err := w.account(t.From)
	if err != nil {
		return err
	}
	to, err := w.account(t.To)
	if err != nil {
		return err
	}
	err = w.row(stmt, id, micros(t.At), string(t.Kind), from.key, to.key, int64(t.Amount), int64(t.Assignment), from.lastEntry, to.lastEntry, note, int64(t.Author))
	from.change -= int64(t.Amount)
	to.change += int64(t.Amount)
	from.lastEntry, to.lastEntry = id, id
	return err
}

// account returns what is being done to an account that touch was told of.
func (w *writer) account(a engine.Account) (*account, error) {
	key, err := accountKey(a)
	if err != nil {
		return nil, err
	}
	return &w.accts[w.index[key]], nil
}

// touch reads the accounts that are about to change. Where there are several
// writers, only one at a time has got past here.
func (w *writer) touch(answers []engine.Answer, transfers []engine.Transfer) error {
	w.index = make(map[int64]int, 2*len(answers)+8)
	meet := func(a engine.Account) error {
		key, err := accountKey(a)
		if _, met := w.index[key]; err != nil || met {
			return err
		}
		w.index[key] = 0
		w.accts = append(w.accts, account{key: key})
		return nil
	}
	for i := range answers {
		if err := meet(engine.Account{Kind: engine.WorkerAccount, ID: int64(answers[i].Worker)}); err != nil {
			return err
		}
	}
	for i := range transfers {
		if err := errors.Join(meet(transfers[i].From), meet(transfers[i].To)); err != nil {
			return err
		}
	}
	if len(w.accts) == 0 {
		return nil
	}
	if lock := w.store.dialect.RowLock; lock != "" { // also against accounts that are not there yet
		if _, _, err := one(w.ctx, w.tx, number[int64], lockLedger+lock); err != nil {
			return fmt.Errorf("lock the ledger: %w", err)
		}
	}
	slices.SortFunc(w.accts, func(x, y account) int { return cmp.Compare(x.key, y.key) })
	for i := range w.accts {
		w.index[w.accts[i].key] = i
	}
	for chunk := range slices.Chunk(w.accts, accountsAtOnce) {
		var keys [accountsAtOnce]any
		for i := range keys {
			keys[i] = chunk[min(i, len(chunk)-1)].key
		}
		err := each(w.ctx, w.tx, func(r row) error {
			var key, lastEntry, lastAnswer int64
			err := r.Scan(&key, &lastEntry, &lastAnswer)
			a := &w.accts[w.index[key]]
			a.lastEntry, a.lastAnswer = lastEntry, lastAnswer
			return err
		}, w.store.accountsQuery, keys[:]...)
		if err != nil {
			return fmt.Errorf("read accounts: %w", err)
		}
	}
	return nil
}

// accounts writes what was done to the accounts.
func (w *writer) accounts() error {
	return forEach(w, keepAccount, w.accts, func(stmt *sql.Stmt, a *account) error {
		if err := w.row(stmt, a.key, a.change, a.lastEntry, a.lastAnswer); err != nil {
			return fmt.Errorf("account %s: %w", accountOf(a.key), err)
		}
		return nil
	})
}

func (w *writer) revisions(c *engine.Changes) error {
	return forEach(w, reviseBatch, c.Revisions, func(stmt *sql.Stmt, r *engine.Revision) error {
		rule, err := encode(r.Rule, false)
		if err == nil {
			err = w.row(stmt, int64(r.Batch), rule, int64(r.Reward), r.Production, int64(r.Added), encoded{&r.Enough})
		}
		if err == nil && r.Was.Reward != 0 {
			_, err = w.tx.exec(w.ctx, insertPast, int64(r.Batch), int64(r.Was.Last), int64(r.Was.Reward))
		}
		if err != nil {
			return fmt.Errorf("revise %s: %w", r.Batch, err)
		}
		return nil
	})
}

func (w *writer) removals(c *engine.Changes) error {
	return forEach(w, insertRemoval, c.Removals, func(stmt *sql.Stmt, r *engine.Removal) error {
		if err := w.row(stmt, int64(r.Task), micros(r.At)); err != nil {
			return fmt.Errorf("take out %s: %w", r.Task, err)
		}
		return nil
	})
}

func (w *writer) progress(c *engine.Changes) error {
	return forEach(w, keepProgress.text, c.Progress, func(stmt *sql.Stmt, p *engine.Progress) error {
		// Plain values, not the cells of progress, whose types database/sql looks at by reflection.
		if err := w.row(stmt, int64(p.Batch), string(p.State), p.Stopped, p.Priority, micros(p.Deadline), int64(p.Fresh), int64(p.Issued), int64(p.OldestOpen),
			int64(p.Planned), int64(p.Completed), int64(p.Labelled), int64(p.Escrow), int64(p.Spent), int64(p.Worked),
			micros(p.LaunchedAt), micros(p.EndedAt), micros(p.FirstStarted), int64(p.Tasks), p.Open, int64(p.Released), int64(p.Removed), p.Certainty, p.HadEnough, int64(p.TakenOver.Labels), p.TakenOver.Certainty, int64(p.Known), int64(p.Total), micros(p.WaitsFrom)); err != nil {
			return fmt.Errorf("progress of %s to %s: %w", p.Batch, p.State, err)
		}
		if !p.State.Ended() {
			return nil
		}
		h, err := lockHead(w.ctx, w.tx, w.store.dialect.RowLock, p.Batch)
		if err == nil {
			err = ended(w.ctx, w.tx, h.tenant, h.tasks)
		}
		return err
	})
}

// grown notes that texts of a tenant were kept. They were wanted when there was room for
// their task, so there is no refusing them.
func (w *writer) grown(tenant crowd.TenantID, bytes int64) {
	if w.texts == nil {
		w.texts = make(map[crowd.TenantID]int64)
	}
	w.texts[tenant] += bytes
}

// usage counts the texts that were kept: once for each tenant.
func (w *writer) usage() error {
	for _, tenant := range slices.Sorted(maps.Keys(w.texts)) {
		if _, err := grow(w.ctx, w.tx, tenant, store.StoredBytes, w.texts[tenant]); err != nil {
			return fmt.Errorf("usage of %s: %w", tenant, err)
		}
	}
	return nil
}
