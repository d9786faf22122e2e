package accounts

import (
	"context"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/live"
	"github.com/throng-dev/throng/internal/store"
)

// Erase takes away what is kept about a person, but for their number, under which what
// they did and were paid stays counted. Themself, from a session; or, for who may erase
// people, anybody.
//
// It goes on when ctx is done, and after a crash: see FinishErasures.
func (part *dataCases) Erase(ctx context.Context, p *access.Principal, id crowd.WorkerID, o ErasureOrder) error {
	s := part.accounts
	if id == p.User.ID && p.Token.Kind != store.SessionToken {
		return crowd.Errorf(crowd.Forbidden, "a token for programs cannot erase its owner: sign in")
	}
	f, err := s.BeforeErasure(ctx, p, id)
	if err != nil {
		return err
	}
	if err := o.check(f); err != nil {
		return err
	}
	if err := s.knownTexts(ctx, id, p.User.ID, o.But); err != nil {
		return err
	}
	ctx, act := s.acting(context.WithoutCancel(ctx), p, access.AccountsErase, id)
	act.After = struct{ FreeText FreeTextChoice }{o.FreeText}
	if err := s.beginErasure(ctx, p, store.Erasure{Person: id, AskedBy: p.User.ID, AskedAt: s.clock.Time(), Keep: o.FreeText == KeepText, But: o.But}); err != nil {
		return err
	}
	if err := s.ContinueErasures(ctx); err != nil {
		s.log.Warn("an erasure is not done yet, and is tried again", "person", id, "err", err)
		return &crowd.Error{Code: crowd.Unavailable, Message: "the erasure has begun, and goes on by itself; it could not be brought to its end just now", Cause: err}
	}
	return nil
}

// beginErasure begins the erasure of somebody who may be erased as everybody is when nobody
// else changes them: of two administrators who erase each other, one stays.
func (s *Accounts) beginErasure(ctx context.Context, p *access.Principal, e store.Erasure) error {
	s.people.Lock()
	defer s.people.Unlock()
	p, err := s.asNow(ctx, p)
	if err != nil {
		return err
	}
	u, err := s.personal(ctx, p, access.AccountsEraseOthers, e.Person)
	if err == nil {
		err = s.erasable(ctx, &u)
	}
	if err == nil {
		_, err = s.store.BeginErasure(ctx, e)
	}
	return err
}

// knownTexts refuses ids of texts that there are not.
func (s *Accounts) knownTexts(ctx context.Context, id, askedBy crowd.WorkerID, ids []string) error {
	missing := slices.Clone(ids)
	if len(missing) == 0 {
		return nil
	}
	for x, err := range s.freeTexts(ctx, id, askedBy) {
		if err != nil {
			return err
		}
		missing = slices.DeleteFunc(missing, func(name string) bool { return name == x.ID })
	}
	if len(missing) > 0 {
		return crowd.Fieldf("but", "%s is none of the texts that are listed", missing[0])
	}
	return nil
}

// erase brings an erasure to its end from wherever it has come to. Nothing else is kept while the
// files are written anew, so who erases themself leaves that to the quiet hour, with the files that
// package retention writes anew: no worker stops everybody else's work. The caller holds erasing.
func (s *Accounts) erase(ctx context.Context, e *store.Erasure) error {
	if e.State == store.ErasureBegun {
		if err := s.release(ctx, e.Person); err != nil {
			return err
		}
		if err := s.countComments(ctx, e); err != nil {
			return err
		}
		if err := s.eraseTexts(ctx, e); err != nil {
			return err
		}
		if err := s.eraseRows(ctx, e.Person); err != nil {
			return err
		}
	}
	if e.AskedBy == e.Person {
		return nil
	}
	return s.store.Scrub(ctx, s.clock.Time())
}

// release suspends somebody for good, and takes them out of their pool: what they hold
// goes to others, and what they might have taken back counts, so that its texts are among theirs.
func (s *Accounts) release(ctx context.Context, id crowd.WorkerID) error {
	if _, err := s.Change(ctx, id, func(u *store.User) error { u.Suspended = true; return nil }); err != nil {
		return err
	}
	countNow := func(e *engine.Engine, now time.Time) { e.CountNow(now, id) }
	if err := s.live.Each(func(r *live.Pool) error { return r.Do(ctx, countNow) }); err != nil {
		return err
	}
	_, err := s.Change(ctx, id, func(u *store.User) error {
		u.Pool, u.Home, u.MovesTo, u.Admin, u.Tenants, u.Roles, u.Prefers = 0, 0, 0, false, nil, nil, nil
		return nil
	})
	return err
}

// countComments has the comments with which reviewers sent labels back count that are within their grace and name
// the person: they could not be deleted while only the reviewer's pool has them.
func (s *Accounts) countComments(ctx context.Context, e *store.Erasure) error {
	var by []crowd.WorkerID
	for x, err := range s.store.WrittenTexts(ctx, e.Person, e.AskedBy != e.Person) {
		if err != nil {
			return err
		}
		if x.Kind == store.WrittenComment && x.N == 1 && !slices.Contains(by, x.By) {
			by = append(by, x.By)
		}
	}
	for _, id := range by {
		countNow := func(e *engine.Engine, now time.Time) { e.CountNow(now, id) }
		if err := s.live.Each(func(r *live.Pool) error { return r.Do(ctx, countNow) }); err != nil {
			return err
		}
	}
	return nil
}

// textsAtOnce bounds how many texts are replaced in one transaction.
const textsAtOnce = 500

// eraseTexts deletes the texts that are to be deleted.
func (s *Accounts) eraseTexts(ctx context.Context, e *store.Erasure) error {
	var list []store.NewText
	templates := &templates{s: s.store, known: make(map[crowd.BatchID]known)}
	for x, err := range s.freeTexts(ctx, e.Person, e.AskedBy) {
		if err != nil {
			return err
		}
		if e.Keep != slices.Contains(e.But, x.ID) {
			continue
		}
		n := store.NewText{Kind: x.Kind, ID: x.WrittenText.ID, N: x.N, Others: x.Others}
		if x.Kind == store.WrittenAnswer {
			t, err := templates.of(ctx, x.Batch)
			if err != nil {
				return err
			}
			if t.compiled != nil {
				n.Text, n.Key = t.compiled.WithoutText(x.Text)
			}
			if err := s.replaceKey(ctx, t.pool, crowd.AssignmentID(n.ID), n.Key); err != nil {
				return err
			}
		}
		list = append(list, n)
	}
	for part := range slices.Chunk(list, textsAtOnce) {
		labels, err := s.store.ReplaceTexts(ctx, part)
		if err != nil {
			return err
		}
		s.relabel(labels)
	}
	return nil
}

// replaceKey tells the pool of a batch, if it runs, what an answer says from now on. It is
// told before the store, which replaces the labels that were made until then.
func (s *Accounts) replaceKey(ctx context.Context, in crowd.PoolID, id crowd.AssignmentID, key string) error {
	r, err := s.live.Get(in)
	if err != nil {
		return err
	}
	return r.Do(ctx, func(e *engine.Engine, _ time.Time) { e.ReplaceKey(id, key) })
}

// relabel replaces labels in the events that are kept for those who follow them. Pools are
// told after the store: only it knows whose answers a label is. What makes labels has the
// new keys already, so that none of the old ones comes later.
func (s *Accounts) relabel(labels []store.NewLabel) {
	if len(labels) == 0 {
		return
	}
	to := make(map[crowd.TaskID]string, len(labels))
	for _, l := range labels {
		to[l.Task] = l.Value
	}
	_ = s.live.Each(func(r *live.Pool) error { r.Relabel(to); return nil }) // which has no error
}

// eraseRows takes away what the store has, once nobody can change the person any more.
func (s *Accounts) eraseRows(ctx context.Context, id crowd.WorkerID) error {
	s.people.Lock()
	defer s.people.Unlock()
	if err := s.whileErasing(func() error { return s.store.Erase(ctx, id, s.clock.Time()) }); err != nil {
		return err
	}
	s.sessions.clear()
	s.streams.Bar(id, true)
	s.onCall.Remove(id)
	return nil
}

// erasuresAgain is how long an erasure that failed waits until it is tried again.
const erasuresAgain = time.Minute

// FinishErasures brings erasures to their end that were begun before, until ctx is done.
func (part *dataCases) FinishErasures(ctx context.Context) {
	s := part.accounts
	tick := time.NewTicker(erasuresAgain)
	defer tick.Stop()
	for {
		if err := s.ContinueErasures(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("an erasure is not done yet, and is tried again", "err", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// ContinueErasures goes on with all erasures that are not done.
func (part *dataCases) ContinueErasures(ctx context.Context) error {
	s := part.accounts
	s.erasing.Lock()
	defer s.erasing.Unlock()
	list, err := s.store.Erasures(ctx)
	if err != nil {
		return err
	}
	for i := range list {
		if err := s.erase(ctx, &list[i]); err != nil {
			return err
		}
	}
	return nil
}
