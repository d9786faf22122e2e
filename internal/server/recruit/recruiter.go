package recruit

import (
	"context"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/pool"
)

// Recruiter carries out what controllers decide of people who are not on duty, and
// brings those on duty who come. Its methods may be called at the same time.
type Recruiter interface {
	pool.Recruiter
	// Follow lets what was begun go on; each control step calls it first.
	Follow(ctx context.Context, now time.Time) error
	// Coming returns how many people were asked for a pool and may still come, how
	// many have come, and how long it has waited for people in all.
	Coming(now time.Time, id crowd.PoolID) (coming int, joined int64, awaited time.Duration)
	// Exhausted reports whether nobody is left whom a pool could ask, nor anybody who was
	// asked beyond those wanted.
	Exhausted(id crowd.PoolID) bool

	// Place returns a pool's open call if it has a place left, and the person's
	// notice of it, if they have one.
	Place(id crowd.PoolID, worker crowd.WorkerID) (call *store.Call, notice *store.Notice)
	// ComeIn takes a place of the pool's open call for a person and brings them on
	// duty. If there is none left, and no closed gate waits for them, the error thanks
	// them.
	ComeIn(ctx context.Context, now time.Time, id crowd.PoolID, worker crowd.WorkerID) error
	// Decline keeps that a person does not come.
	Decline(ctx context.Context, now time.Time, id crowd.PoolID, worker crowd.WorkerID) error
}
