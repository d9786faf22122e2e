package pool

import (
	"time"

	"github.com/throng-dev/throng/crowd"
)

// Recruiter is where people come from: those who are signed up and free, an
// outside platform, or the crowd of a simulation. Whoever carries Decisions out
// tells it of Decision.Recruit and Decision.Withdraw. Neither says who comes: the
// next Reading does. It asks only those whom Settings.Calls lets be called. An error says
// that nobody was asked.
type Recruiter interface {
	// Recruit asks for n people for a pool; they come later, or not at all.
	Recruit(now time.Time, p crowd.PoolID, n int) error
	// Withdraw says that n of those who were asked for and have not come are no
	// longer wanted, those asked last first. Where fewer are still coming, it is
	// all of them.
	Withdraw(now time.Time, p crowd.PoolID, n int) error
}
