package control

import (
	"context"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/live"
)

// Following is somebody's following the events of a pool.
type Following struct {
	More <-chan struct{} // has a signal when there are some; closed: the server closes
	Stop func()          // must be called in the end

	told  uint64 // number of the last event that was told, or as missed
	after func(n uint64) live.Followed
}

// Events are events of a pool, in order.
type Events struct {
	live.Followed
	NoLabels bool // what the labels are is left out
}

// News reports whether there is something to tell.
func (e Events) News() bool { return len(e.List) > 0 || e.Missed > 0 || e.Restarted }

// Follow follows the five events of a pool, from the one after a number on, or
// from the first that is kept if that is later; nil: from now on.
// Who may see pools of the installation only: they are about all tenants.
func (s *Pools) Follow(ctx context.Context, p *access.Principal, id crowd.PoolID, after *uint64) (*Following, error) {
	r, err := s.find(p, access.PoolsFollow, id)
	if err != nil {
		return nil, err
	}
	newest, more, list, stop, err := r.Follow(ctx)
	if err != nil {
		return nil, err
	}
	end, err := s.cfg.Streams.Open(p.User.ID, 0, stop)
	if err != nil {
		stop()
		return nil, err
	}
	f := &Following{More: more, Stop: func() { stop(); end() }, told: newest, after: list}
	if after != nil {
		f.told = *after
	}
	return f, nil
}

// Followed returns the events since the last call, or that some were missed, for somebody who may still see them. Who may
// not see results is not told what the labels are.
func (s *Pools) Followed(_ context.Context, p *access.Principal, f *Following) (e Events, err error) {
	if err := p.May(access.PoolsFollowed); err != nil {
		return e, err
	}
	e.Followed = f.after(f.told)
	if e.NoLabels = p.May(access.PoolsFollowedLabels) != nil; e.NoLabels {
		for i := range e.List { // a copy, of this follower
			e.List[i].Label, e.List[i].Clipped = "", false
		}
	}
	f.told = e.Last
	return e, nil
}
