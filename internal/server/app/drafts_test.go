package app_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/store"
)

// slowStore is a store that is slow at one batch: a change of its draft waits for
// goOn.
type slowStore struct {
	store.Store
	slow       crowd.BatchID
	came, goOn chan struct{}
}

func (s *slowStore) UpdateDraft(ctx context.Context, b store.Batch) error {
	if b.Spec.ID == s.slow {
		close(s.came)
		<-s.goOn
	}
	return s.Store.UpdateDraft(ctx, b)
}

// While one draft is being changed, whatever that takes, others are changed and
// launched; the same one waits.
func TestDraftsDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	mine, other, third := w.draft(1), w.draft(1), w.draft(1)
	slow := &slowStore{slow: mine, came: make(chan struct{}), goOn: make(chan struct{})}
	w.wrap = func(st store.Store) store.Store { slow.Store = st; return slow }
	w.reopen()
	same := func(*batches.NewBatch) error { return nil }
	edited, launched := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := w.Batches.EditDraft(w.ctx, w.admin, mine, same)
		edited <- err
	}()
	<-slow.came
	must(w.Batches.Launch(w.ctx, w.admin, other, false))(t)
	must(w.Batches.EditDraft(w.ctx, w.admin, third, same))(t)
	must(w.Batches.Upload(w.ctx, w.admin, third, things(2), batches.Upload{}))(t)
	must(w.Batches.Cancel(w.ctx, w.admin, third))(t)
	go func() {
		_, err := w.Batches.Launch(w.ctx, w.admin, mine, false)
		launched <- err
	}()
	select {
	case err := <-launched:
		t.Errorf("launched while it was being changed: %v", err)
	default:
	}
	close(slow.goOn)
	ok(t, <-edited)
	ok(t, <-launched)
}

// racingStore is a store in which something happens once, after a batch was read.
type racingStore struct {
	store.Store
	then func()
}

func (s *racingStore) Batch(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID) (store.Batch, error) {
	b, err := s.Store.Batch(ctx, tenant, id)
	if then := s.then; then != nil {
		s.then = nil
		then()
	}
	return b, err
}

// Who loses a race for a batch or an assignment of their own hears what became of
// it, and not that there is none.
func TestLosersOfARaceHearOfAConflict(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	race := &racingStore{}
	w.wrap = func(st store.Store) store.Store { race.Store = st; return race }
	w.reopen()
	for name, do := range map[string]func(id crowd.BatchID) error{
		"end":    func(id crowd.BatchID) error { _, err := w.Batches.End(w.ctx, w.admin, id); return err },
		"cancel": func(id crowd.BatchID) error { _, err := w.Batches.Cancel(w.ctx, w.admin, id); return err },
		"top up": func(id crowd.BatchID) error { _, err := w.Batches.TopUp(w.ctx, w.admin, id, 1); return err },
	} {
		id := w.launch(1)
		race.then = func() { must(w.Batches.Cancel(w.ctx, w.admin, id))(t) }
		if err := do(id); crowd.CodeOf(err) != crowd.Conflict {
			t.Errorf("%s: %v", name, err)
		}
	}
	w.launch(1)
	mine, me, other := w.next(w.workers[0]), w.workers[0], w.workers[1]
	_, _, err := w.Work.Submit(w.ctx, me, mine.Assignment, json.RawMessage(`"yes"`), false, 0)
	ok(t, err)
	for name, do := range map[string]func(p int) error{
		"return": func(p int) error { return w.Work.Return(w.ctx, w.workers[p], mine.Assignment) },
		"skip":   func(p int) error { _, err := w.Work.Skip(w.ctx, w.workers[p], mine.Assignment, 0); return err },
		"beat":   func(p int) error { _, err := w.Work.Heartbeat(w.ctx, w.workers[p], mine.Assignment); return err },
	} {
		if err := do(0); crowd.CodeOf(err) != crowd.Conflict {
			t.Errorf("%s of one's own: %v", name, err)
		}
		if err := do(1); crowd.CodeOf(err) != crowd.NotFound {
			t.Errorf("%s of another's, %s: %v", name, other.User.Name, err)
		}
	}
}

// The one-time link of somebody who is suspended is refused, and good again after.
func TestSetupOfTheSuspended(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	id := w.workers[0].User.ID
	link := must(w.Accounts.NewSetupLink(w.ctx, w.admin, id))(t)
	for _, suspended := range []bool{true, false} {
		must(w.Accounts.ChangeUser(w.ctx, w.admin, id, func(u *store.User) error { u.Suspended = suspended; return nil }))(t)
		_, err := w.Accounts.Setup(w.ctx, link, "correct horse battery")
		if suspended != (crowd.CodeOf(err) == crowd.Forbidden) || !suspended && err != nil {
			t.Errorf("suspended %t: %v", suspended, err)
		}
	}
}
