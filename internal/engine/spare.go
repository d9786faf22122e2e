package engine

import (
	"time"

	"github.com/throng-dev/throng/crowd"
)

// Spare is what the budget of a running batch holds beyond the most that it can still
// cost; 0 of a batch that is not running.
func (e *Engine) Spare(id crowd.BatchID) crowd.Money {
	if b := e.batches[id]; b != nil {
		return b.spare()
	}
	return 0
}

// spare is what of the budget nothing can be paid from any more.
func (b *batch) spare() crowd.Money {
	most, ok := b.most(&b.spec)
	if !ok || b.spec.ReviewOf != 0 && b.spec.Open { // more reviews may come
		return 0
	}
	return max(b.escrow-most, 0)
}

// releaseSpare returns to the tenant what of b's budget nothing can be paid from any more.
func (e *Engine) releaseSpare(now time.Time, b *batch) {
	if b.state.Ended() {
		return // all of it went back
	}
	spare := b.spare()
	b.escrow -= spare
	e.transfer(Transfer{At: now, Kind: Release, From: Account{BatchAccount, int64(b.spec.ID)}, To: Account{TenantAccount, int64(b.spec.Tenant)}, Amount: spare})
	e.touch(now, b, nil)
}
