package store

import (
	"context"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// PayState is how far it is with pay that was held.
type PayState string

// The states of held pay.
const (
	PayAwaiting PayState = "awaiting" // nobody has decided; paid when it is due
	PayRefused  PayState = "refused"  // its worker may appeal; back to the tenant when it is due
	PayAppealed PayState = "appealed" // paid when it is due
	PayPaid     PayState = "paid"
	PayReturned PayState = "returned" // to the tenant's account
)

// AllPayStates lists the states in the order in which they come.
func AllPayStates() []PayState {
	return []PayState{PayAwaiting, PayRefused, PayAppealed, PayPaid, PayReturned}
}

// IsOpen reports whether the money is still held.
func (s PayState) IsOpen() bool { return s.Due() != "" }

// Due is the state that follows when nobody has decided in time; "": none does.
func (s PayState) Due() PayState {
	switch s {
	case PayAwaiting, PayAppealed:
		return PayPaid
	case PayRefused:
		return PayReturned
	}
	return ""
}

// PayMove is what somebody does about held pay.
type PayMove string

// The moves.
const (
	ApprovePay PayMove = "approve" // pays it; also takes a refusal back
	RefusePay  PayMove = "refuse"
	AppealPay  PayMove = "appeal" // by its worker
	GrantPay   PayMove = "grant"  // an appeal: pays it
	UpholdPay  PayMove = "uphold" // a refusal, against an appeal
)

// payMoves says from which states each move leads where, and what is said with it.
var payMoves = map[PayMove]struct {
	from []PayState
	to   PayState
	says string
}{
	ApprovePay: {[]PayState{PayAwaiting, PayRefused}, PayPaid, ""},
	RefusePay:  {[]PayState{PayAwaiting}, PayRefused, "refusal"},
	AppealPay:  {[]PayState{PayRefused}, PayAppealed, "appeal"},
	GrantPay:   {[]PayState{PayAppealed}, PayPaid, "decision"},
	UpholdPay:  {[]PayState{PayAppealed}, PayReturned, "decision"},
}

// To is the state to which the move leads.
func (m PayMove) To() PayState { return payMoves[m].to }

// Says is the kind of text that comes with the move; "": none does.
func (m PayMove) Says() string { return payMoves[m].says }

// Allowed says why the move cannot be made of p at a time, if so. What was due by then counts as
// decided, even if that has not been kept yet.
func (m PayMove) Allowed(p *HeldPay, at time.Time) error {
	state := p.State
	if due := state.Due(); due != "" && !at.Before(p.DueAt) {
		state = due
	}
	if slices.Contains(payMoves[m].from, state) {
		return nil
	}
	why := map[PayState]string{
		PayAwaiting: "its pay awaits approval", PayRefused: "its pay is refused already", PayAppealed: "its worker has appealed against the refusal: decide the appeal",
		PayPaid: "it is paid already", PayReturned: "its refusal is final: the money has gone back",
	}[state]
	switch {
	case m == AppealPay && state == PayAwaiting:
		why = "its pay is not refused"
	case m == AppealPay && state == PayAppealed:
		why = "you have appealed already"
	case m == AppealPay && state == PayReturned && p.Appeal.At.IsZero():
		why = "the time to appeal is over"
	case m == AppealPay && state == PayReturned:
		why = "your appeal is decided"
	case (m == GrantPay || m == UpholdPay) && (state == PayAwaiting || state == PayRefused):
		why = "there is no appeal to decide"
	}
	return crowd.Errorf(crowd.Conflict, "%s: %s", p.Assignment, why)
}

// PaySaid is what somebody said about held pay.
type PaySaid struct {
	At     time.Time // zero: nothing was said
	By     crowd.WorkerID
	ByName string // "": nobody knows them any more
	Text   string // "": it has been deleted, or nothing was said
}

// HeldPay is the pay of an answer that counts, in a batch whose pay is approved.
type HeldPay struct {
	Assignment crowd.AssignmentID
	Task       crowd.TaskID
	Worker     crowd.WorkerID
	WorkerName string
	Tenant     crowd.TenantID
	BatchName  string
	Amount     crowd.Money
	State      PayState
	HeldAt     time.Time
	DueAt      time.Time // when it is decided by itself; zero: it is decided
	ClosedAt   time.Time // zero: it is not decided
	ClosedBy   crowd.WorkerID
	Refusal    PaySaid
	Appeal     PaySaid
	Decision   PaySaid // of the appeal
}

// PayChange is a move of held pay.
type PayChange struct {
	Assignment crowd.AssignmentID
	Move       PayMove
	At         time.Time
	By         crowd.WorkerID
	Text       string    // where the move says something
	Due        time.Time // where the pay stays held
	// From is the state in which the pay was seen; "": any that the move is made from. In another one it is
	// a Conflict.
	From PayState
	// NotRefuser has the move refused to who refused the pay.
	NotRefuser bool
}

// ErrRefuser is the error of who decides an appeal against a refusal of their own.
var ErrRefuser = crowd.Errorf(crowd.Forbidden, "you have refused this pay yourself: somebody else who may decides the appeal")

// PayQuery asks for held pay; zero fields for that of any.
type PayQuery struct {
	Tenant crowd.TenantID
	Batch  crowd.BatchID
	Worker crowd.WorkerID
	State  PayState
	After  crowd.AssignmentID // that with higher ids; with Latest with lower ones, 0: from the last one on
	Latest bool               // the highest ids first
	Limit  int
}

// PaySums is what a worker's held pay comes to.
type PaySums struct {
	Awaiting crowd.Money // approval, or the decision of an appeal
	Refused  crowd.Money // and may yet be appealed
}

// Approvals keeps pay that waits for approval. It comes by Commit, with the answer. All of it is
// in the account of its batch's held pay.
type Approvals interface {
	// ListPay returns held pay in order of its assignments.
	ListPay(ctx context.Context, q PayQuery) ([]HeldPay, error)
	// PayOf returns the pay of one assignment of the tenant's (0: of any); NotFound: it was never held.
	PayOf(ctx context.Context, tenant crowd.TenantID, id crowd.AssignmentID) (HeldPay, error)
	// PaySums returns what a worker's held pay comes to.
	PaySums(ctx context.Context, worker crowd.WorkerID) (PaySums, error)
	// ChangePay makes moves, and the transfers that follow, of the tenant's (0: of any): all of them, or
	// none. It returns what is changed, as it is then, in order of the assignments.
	ChangePay(ctx context.Context, tenant crowd.TenantID, changes []PayChange) ([]HeldPay, error)
	// SettlePay decides what is due, up to limit, the earliest first. next is when something is due
	// then; zero: nothing is held. It returns the batches of which it decided something.
	SettlePay(ctx context.Context, now time.Time, limit int) (batches []crowd.BatchID, next time.Time, err error)
}
