package accounts

import (
	"context"
	"errors"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/live"
	"github.com/throng-dev/throng/internal/store"
)

// Change changes a person in the store and in their pool. Who holds a task does not leave
// their pool.
func (s *Accounts) Change(ctx context.Context, id crowd.WorkerID, change func(*store.User) error) (store.User, error) {
	return s.change(ctx, id, false, change)
}

// change is Change, in which what somebody holds can go to others when they leave.
func (s *Accounts) change(ctx context.Context, id crowd.WorkerID, atOnce bool, change func(*store.User) error) (store.User, error) {
	s.people.Lock()
	defer s.people.Unlock()
	u, err := s.store.User(ctx, id)
	if err != nil {
		return u, err
	}
	before := u
	if err := change(&u); err != nil {
		return u, err
	}
	if !u.ErasedAt.IsZero() { // told to who may change them, which change knows
		return u, errErased(&u)
	}
	if err := s.validUser(ctx, before, &u); err != nil {
		return u, err
	}
	if acts(&before) && !acts(&u) {
		if err := s.keepsAdmin(ctx, &before); err != nil {
			return u, err
		}
	}
	learns := false // is in the training of the old pool, and leaves before its end
	leaves := before.Pool != u.Pool && before.Pool != 0
	if leaves { // first out of the old pool: who holds a task has to finish it
		defer s.onCall.Depart(id)()
		r, err := s.live.Get(before.Pool)
		if err != nil {
			return u, err
		}
		if err := r.Command(store.WithActs(ctx), func(e *engine.Engine, now time.Time) error {
			c, _ := e.OnCall(now, id)
			learns = c.Training > 0
			if atOnce {
				if err := live.GiveBack(e, now, id); err != nil {
					return err
				}
			}
			return e.RemoveWorker(now, id)
		}); err != nil {
			return u, err
		}
	}
	err = s.keep(ctx, &before, &u)
	if err != nil {
		if leaves {
			err = errors.Join(err, s.tellPool(before, false))
		}
		return u, err
	}
	if was := before.LentBy(); was != 0 && was != u.LentBy() {
		err = s.forgetLent(was, id)
	}
	err = errors.Join(err, s.tellPool(u, before.Pool != u.Pool))
	if learns {
		s.onCall.Unlearn(id, before.Pool)
	}
	return u, err
}

// keep keeps a change of a person, who is asked at an address that is new. From a suspension on they can do nothing, and their
// event streams end; with its end, their sessions and tokens of before do, too.
func (s *Accounts) keep(ctx context.Context, before, u *store.User) error {
	ctx = inTenants(ctx, before, u)
	store.Tell(ctx, "user", *before, *u)
	if before.Suspended && !u.Suspended {
		if err := s.store.EndAccess(store.Preparing(ctx), store.Ending{User: u.ID, At: s.clock.Time(), Kinds: []store.TokenKind{store.SessionToken, store.APIToken}}); err != nil {
			return err
		}
	}
	var a *store.Asking
	if before.Email != u.Email {
		a = s.askNew(u, u.ID.String())
	}
	var err error
	if a == nil {
		err = s.store.UpdateUser(ctx, *u)
	} else if _, err = s.store.PutUserAsked(ctx, *u, *a); err == nil {
		s.outbox.Wake()
	}
	if err != nil {
		return err
	}
	s.sessions.clear()
	if before.Suspended != u.Suspended {
		s.streams.Bar(u.ID, u.Suspended)
	}
	return nil
}

// tellPool tells a user's pool what the store has of them. A newcomer starts its
// training, unless they have completed it.
func (s *Accounts) tellPool(u store.User, newcomer bool) error {
	if u.Pool == 0 {
		s.onCall.Remove(u.ID)
		return nil
	}
	s.onCall.Set(u)
	r, err := s.live.Get(u.Pool)
	if err != nil {
		return err
	}
	home := u.LentBy()
	x := engine.Worker{ID: u.ID, Qualifications: u.Qualifications, Granted: u.Granted, Suspended: u.Suspended,
		BlockedBy: u.BlockedBy, StaffOf: u.StaffOf(), Serves: u.Serves, Borrowed: home != 0}
	if home != 0 {
		lent := x
		lent.Lent, lent.Borrowed = true, false
		if err := s.tellHome(home, func(e *engine.Engine, now time.Time) error { return e.SetWorker(now, lent) }); err != nil {
			return err
		}
	}
	set := func(e *engine.Engine, now time.Time) error {
		err := e.SetWorker(now, x)
		if err == nil && u.Suspended {
			err = live.GiveBack(e, now, u.ID)
		}
		return err
	}
	p, _ := s.live.Settings(u.Pool)
	if !newcomer || p.Retainer.Training == 0 || s.onCall.Knows(u.ID, u.Pool) {
		return r.Tell(set)
	}
	return r.Command(context.Background(), func(e *engine.Engine, now time.Time) error {
		if err := set(e, now); err != nil {
			return err
		}
		return e.Train(now, u.ID, p.Retainer.Training)
	})
}

// tellHome tells a pool something of somebody whom it has lent, or had.
func (s *Accounts) tellHome(id crowd.PoolID, what func(e *engine.Engine, now time.Time) error) error {
	r, err := s.live.Get(id)
	if err != nil {
		return err
	}
	return r.Tell(what)
}

// forgetLent tells a pool that it lends somebody no longer.
func (s *Accounts) forgetLent(home crowd.PoolID, id crowd.WorkerID) error {
	return s.tellHome(home, func(e *engine.Engine, _ time.Time) error {
		e.ForgetLent(id)
		return nil
	})
}
