package wire

import (
	"time"

	"github.com/throng-dev/throng/crowd"
)

// Approval says how the pay of a batch is approved.
type Approval struct {
	WithinSeconds int64 `json:"within_seconds" minimum:"1" maximum:"2592000" doc:"so long after an answer has come to count; what nobody has refused by then is paid"`
	AppealSeconds int64 `json:"appeal_seconds,omitempty" minimum:"86400" maximum:"2592000" doc:"how long after a refusal its worker may appeal; an appeal that nobody decides within as long again is paid; default 604800, a week"`
}

// PaySaid is what somebody said about held pay.
type PaySaid struct {
	At   time.Time `json:"at"`
	By   string    `json:"by,omitempty" doc:"who of the tenant; left out of what a worker said, and of what workers are told"`
	Text string    `json:"text,omitempty" doc:"left out: it was deleted"`
}

// HeldPay is the pay of an answer that was held for approval.
type HeldPay struct {
	Assignment crowd.AssignmentID `json:"assignment"`
	Task       crowd.TaskID       `json:"task"`
	Name       string             `json:"name" doc:"of the batch"`
	Tenant     crowd.TenantID     `json:"tenant"`
	Worker     string             `json:"worker" doc:"the tenant's pseudonym of the worker" example:"w_qk3ybd5nn2l7xw6dlbrnqhzcaq"`
	WorkerID   crowd.WorkerID     `json:"worker_id,omitempty" doc:"if you may see who workers are"`
	WorkerName string             `json:"worker_name,omitempty" doc:"likewise"`
	Own        bool               `json:"own,omitempty" doc:"it is your own, of which somebody else decides"`

	HeldPayState
}

// HeldPayState is how far it is with held pay.
type HeldPayState struct {
	AmountMicros crowd.Money `json:"amount_micros"`
	State        string      `json:"state" enum:"awaiting,refused,appealed,paid,returned" doc:"awaiting: approval, without which it is paid when it is due; refused: it goes back when it is due, unless its worker appeals; appealed: it is paid when it is due, unless somebody decides that it stays refused; returned: it has gone back to the tenant's account"`
	HeldAt       time.Time   `json:"held_at" doc:"when the answer was given"`
	DueAt        time.Time   `json:"due_at,omitzero" doc:"when it is decided by itself; left out: it is decided"`
	ClosedAt     time.Time   `json:"closed_at,omitzero" doc:"when it was paid, or has gone back"`
	Refusal      *PaySaid    `json:"refusal,omitempty"`
	Appeal       *PaySaid    `json:"appeal,omitempty"`
	Decision     *PaySaid    `json:"decision,omitempty" doc:"of the appeal"`
}

// HeldPays is a page of held pay.
type HeldPays struct {
	Pay  []HeldPay `json:"pay" doc:"in order of the assignments"`
	Next string    `json:"next,omitempty" doc:"after of the next page; left out: there is no more"`
}

// ApprovePay says what pay is approved: give one of both.
type ApprovePay struct {
	Assignments []crowd.AssignmentID `json:"assignments,omitempty" doc:"of whose answers, at most 500: all of them are approved or none" example:"[\"a17.5\"]"`
	Worker      string               `json:"worker,omitempty" doc:"all of this worker in the batch that awaits approval, in parts of 500" example:"w_qk3ybd5nn2l7xw6dlbrnqhzcaq"`
}

// RefusePay says what pay is refused, and why.
type RefusePay struct {
	ApprovePay
	Reason string `json:"reason" doc:"that the worker reads, in 1 to 1000 characters" example:"the boxes are around other animals"`
}

// PayDecided is what was decided.
type PayDecided struct {
	Answers      int         `json:"answers"`
	AmountMicros crowd.Money `json:"amount_micros"`
}

// AppealDecision decides an appeal.
type AppealDecision struct {
	Pay  bool   `json:"pay" doc:"the answer is paid; else the refusal stays, and the money goes back to the tenant's account"`
	Text string `json:"text" doc:"that the worker reads, in 1 to 1000 characters" example:"you are right, there is a cat behind the chair"`
}

// OwnPay is what of a worker's pay was held for approval.
type OwnPay struct {
	AwaitingMicros crowd.Money  `json:"awaiting_micros" doc:"all that awaits approval, or the decision of an appeal"`
	RefusedMicros  crowd.Money  `json:"refused_micros" doc:"all that is refused and may yet be appealed"`
	Pay            []OwnHeldPay `json:"pay" doc:"that of the latest batches first"`
	Next           string       `json:"next,omitempty" doc:"after of the next page; left out: there is no more"`
}

// OwnHeldPay is the pay of one answer of a worker's.
type OwnHeldPay struct {
	Assignment crowd.AssignmentID `json:"assignment"`
	Name       string             `json:"name" doc:"of the batch"`

	HeldPayState
}

// NewAppeal says why a refusal is wrong.
type NewAppeal struct {
	Text string `json:"text" doc:"that whoever decides reads, in 1 to 1000 characters" example:"the cat is behind the chair"`
}
