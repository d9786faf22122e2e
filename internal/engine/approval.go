package engine

import (
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
)

// Approval says how the pay of a batch waits for approval. For the engine what is held is spent:
// it goes to the batch's account of held pay in place of the worker's, and what becomes of it
// there the engine does not know.
type Approval struct {
	Within time.Duration `json:"within_ns"` // after an answer has counted; what nobody has refused by then is paid
	Appeal time.Duration `json:"appeal_ns"` // after a refusal: how long its worker may appeal; as long after that, an appeal that nobody has decided is paid
}

// Bounds of what a requester may ask for.
const (
	MinApproval   = time.Second
	MaxApproval   = 30 * 24 * time.Hour
	MinAppeal     = 24 * time.Hour
	MaxAppeal     = 30 * 24 * time.Hour
	DefaultAppeal = 7 * 24 * time.Hour
)

func (s *Spec) validApproval() error {
	x := s.Approval
	switch {
	case x == nil:
		return nil
	case x.Within < MinApproval || x.Within > MaxApproval:
		return crowd.Fieldf("approval.within", "%s is not between %s and %s", format.Duration(x.Within), MinApproval, format.Duration(MaxApproval))
	case x.Appeal < MinAppeal || x.Appeal > MaxAppeal:
		return crowd.Fieldf("approval.appeal", "%s is not between %s and %s", format.Duration(x.Appeal), format.Duration(MinAppeal), format.Duration(MaxAppeal))
	}
	return nil
}

// payee is the account to which the reward of an answer to b goes that counts, and what for.
func (b *batch) payee(w *worker) (TransferKind, Account) {
	if b.spec.Approval != nil {
		return Hold, Account{HeldAccount, int64(b.spec.ID)}
	}
	return Reward, Account{WorkerAccount, int64(w.id)}
}

// holds returns what of the reward of an answer that counted at a time is paid, and what is
// held, and until when if nobody decides of it.
func (b *batch) holds(reward crowd.Money, at time.Time) (paid, held crowd.Money, due time.Time) {
	if b.spec.Approval == nil || reward == 0 {
		return reward, 0, time.Time{}
	}
	return 0, reward, at.Add(b.spec.Approval.Within)
}
