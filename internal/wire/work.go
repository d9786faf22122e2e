package wire

import (
	"encoding/json"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/task"
)

// Work is a task in a worker's hands.
type Work struct {
	Assignment   crowd.AssignmentID `json:"assignment"`
	Task         crowd.TaskID       `json:"task"`
	Batch        crowd.BatchID      `json:"batch"`
	Name         string             `json:"name" doc:"of the batch"`
	ExpiresAt    time.Time          `json:"expires_at" doc:"submit, or send a heartbeat, before"`
	LeaseSeconds int64              `json:"lease_seconds"`
	RewardMicros crowd.Money        `json:"reward_micros"`
	Values       Values             `json:"values" doc:"the task's data, by column"`
	View         task.View          `json:"view" doc:"what to show and ask"`
	Training     bool               `json:"training,omitempty" doc:"it is for training: the reply to your answer tells whether you were right, and why; it is paid as any other"`
	IsReview     bool               `json:"is_review,omitempty" doc:"it has been answered by others, and you say what is right"`
	Review       *WorkReview        `json:"review,omitempty" doc:"of a review, what it is of; left out where it is blind"`
	Reply        string             `json:"reply,omitempty" doc:"what the requester answered to reports that something is wrong with this task, or the comment with which an answer or a label was sent back"`
	ByReviewer   bool               `json:"reply_by_reviewer,omitempty" doc:"the reply is the comment of a reviewer, not of the requester"`
	HTML         string             `json:"html,omitempty" doc:"of kind html: a document for a sandboxed frame"`
}

// Next holds a task, or why there is none.
type Next struct {
	Work *Work          `json:"work,omitempty" doc:"left out: there is none now"`
	Why  map[string]int `json:"why,omitempty" doc:"when there is none: running batches by the reason why not"`
}

// Submit is an answer.
type Submit struct {
	Answer json.RawMessage `json:"answer,omitempty" doc:"an object with the fields of view.controls; for a single control its value will do"`
	Accept bool            `json:"accept,omitempty" doc:"in place of an answer, of a review: the label is right as it stands"`
	// SendBack is a comment.
	SendBack string `json:"send_back,omitempty" doc:"in place of an answer, of a review: the label is wrong, and its task is asked again of others, who are told this comment of 1 to 1000 bytes" example:"Look at the ears."`
	Next     bool   `json:"next,omitempty" doc:"also get the next task"`
}

// NewReport is what is wrong with a task.
type NewReport struct {
	Text string `json:"text" doc:"what is wrong, in 1 to 1000 characters" example:"the picture is missing"`
	Next bool   `json:"next,omitempty" doc:"also get the next task"`
}

// OwnReports are a worker's latest reports.
type OwnReports struct {
	Reports []OwnReport `json:"reports" doc:"the latest first"`
}

// OwnReport is what a worker said themselves is wrong with a task.
type OwnReport struct {
	Assignment crowd.AssignmentID `json:"assignment"`
	Task       crowd.TaskID       `json:"task"`
	Name       string             `json:"name" doc:"of the batch"`
	At         time.Time          `json:"at"`
	Text       string             `json:"text" doc:"empty: it was deleted"`
	Reply      string             `json:"reply,omitempty" doc:"what the requester answered to the reports of the task"`
	RepliedAt  time.Time          `json:"replied_at,omitzero"`
}

// WorkNotes is what the quality rules of batches have for a worker.
type WorkNotes struct {
	Notes []WorkNote `json:"notes" doc:"the oldest first, at most 20"`
}

// WorkNote is what a quality rule of a batch did to a worker.
type WorkNote struct {
	Batch crowd.BatchID `json:"batch"`
	N     uint32        `json:"n" doc:"its number in the batch"`
	Name  string        `json:"name" doc:"of the batch"`
	At    time.Time     `json:"at"`
	Kind  string        `json:"kind" enum:"warn,pause" doc:"pause: you get no more tasks of the batch until somebody lets you back in"`
	Text  string        `json:"text,omitempty" doc:"of a warning"`
}

// Submitted is the reply to an answer.
type Submitted struct {
	Outcome Outcome `json:"outcome"`
	Work    *Work   `json:"work,omitempty" doc:"the next task, if asked for and there is one"`
}

// Outcome is what became of an answer.
type Outcome struct {
	Counted    bool        `json:"counted"`
	Late       bool        `json:"late" doc:"it came after the lease had run out, or the batch had ended; such an answer is paid only if it counts"`
	Duplicate  bool        `json:"duplicate"`
	BatchEnded bool        `json:"batch_ended,omitempty" doc:"it is late and does not count, and its batch has ended; else its time was up, and it was not wanted any more"`
	PaidMicros crowd.Money `json:"paid_micros"`
	HeldMicros crowd.Money `json:"held_micros,omitempty" doc:"the pay that waits for approval; of a duplicate it may have been decided since: GET /v1/work/pay"`
	CountsAt   time.Time   `json:"counts_at,omitzero" doc:"when the answer comes to count and is paid, of a batch with a grace; until then you may take it back"`
	Feedback   *Feedback   `json:"feedback,omitempty" doc:"of a task for training"`
}

// Feedback is what somebody is told of their answer to a task for training.
type Feedback struct {
	Right       bool   `json:"right"`
	Answer      string `json:"answer" doc:"the known answer, as answers are compared"`
	Explanation string `json:"explanation" doc:"why it is right"`
}

// Undone is a task whose answer was taken back.
type Undone struct {
	Work   *Work           `json:"work" doc:"you hold it again"`
	Answer json.RawMessage `json:"answer,omitempty" doc:"what you had answered; of a label that you had sent back an object with send_back; left out: it was taken back before"`
}

// UndoableList lists the answers that a worker may take back.
type UndoableList struct {
	Answers []Undoable `json:"answers" doc:"the latest first"`
}

// Undoable is an answer that its worker may take back.
type Undoable struct {
	Assignment  crowd.AssignmentID `json:"assignment"`
	Task        crowd.TaskID       `json:"task"`
	Name        string             `json:"name" doc:"of the batch"`
	SubmittedAt time.Time          `json:"submitted_at"`
	CountsAt    time.Time          `json:"counts_at" doc:"it cannot be taken back from then on"`
}

// Lease is when the lease of a task ends.
type Lease struct {
	ExpiresAt time.Time `json:"expires_at"`
}

// Earnings is what a worker has earned in all.
type Earnings struct {
	EarnedMicros crowd.Money `json:"earned_micros" doc:"that is paid"`
	Awaiting     crowd.Money `json:"awaiting_micros" doc:"on top of that: what awaits approval, or the decision of an appeal"`
	Latest       []Done      `json:"latest" doc:"your latest answers, newest first"`
}

// Done is an answer of the worker's.
type Done struct {
	Assignment  crowd.AssignmentID `json:"assignment"`
	SubmittedAt time.Time          `json:"submitted_at"`
	Counted     bool               `json:"counted"`
	Late        bool               `json:"late"`
	PaidMicros  crowd.Money        `json:"paid_micros"`
	Revised     int                `json:"revised,omitempty" doc:"how often you have revised it"`
	RevisedAt   time.Time          `json:"revised_at,omitzero" doc:"when you revised it last"`
	ReviseUntil time.Time          `json:"revise_until,omitzero" doc:"until when you may give another answer in its place; left out: you may not"`
}

// Revisable is an answer that its worker may revise, with its task.
type Revisable struct {
	Assignment  crowd.AssignmentID `json:"assignment"`
	Task        crowd.TaskID       `json:"task"`
	Batch       crowd.BatchID      `json:"batch"`
	Name        string             `json:"name" doc:"of the batch"`
	Answer      json.RawMessage    `json:"answer" doc:"what you answered last"`
	Revised     int                `json:"revised,omitempty" doc:"how often you have revised it, of 5 times"`
	ReviseUntil time.Time          `json:"revise_until"`
	Values      Values             `json:"values" doc:"the task's data, by column"`
	View        task.View          `json:"view" doc:"what to show and ask"`
	HTML        string             `json:"html,omitempty" doc:"of kind html: a document for a sandboxed frame"`
}

// NewRevision is an answer in place of one that counts.
type NewRevision struct {
	Answer json.RawMessage `json:"answer" doc:"as to submit: an object with the fields of view.controls; for a single control its value will do"`
}

// Revised is an answer that was revised.
type Revised struct {
	Assignment  crowd.AssignmentID `json:"assignment"`
	Answer      json.RawMessage    `json:"answer" doc:"what you have answered now"`
	Revised     int                `json:"revised,omitempty" doc:"how often you have revised it; the same answer again is none"`
	RevisedAt   time.Time          `json:"revised_at,omitzero" doc:"when you revised it last"`
	ReviseUntil time.Time          `json:"revise_until" doc:"until when you may revise it again"`
}

// Duty is what somebody on call has to know.
type Duty struct {
	Pool      crowd.PoolID `json:"pool"`
	PoolName  string       `json:"pool_name"`
	CallsOnly bool         `json:"calls_only" doc:"the pool takes only those who come when it calls; else whoever asks for work is on duty"`
	On        bool         `json:"on" doc:"on duty"`
	Since     time.Time    `json:"since,omitzero" doc:"on duty since"`
	IdleSince time.Time    `json:"idle_since,omitzero" doc:"on duty without a task since"`
	Waiting   bool         `json:"waiting" doc:"for a task, right now"`
	Gate      string       `json:"gate,omitempty" doc:"why the pool's gate keeps work from you" example:"Work begins when 3 people are here; 2 are."`
	Outside   int          `json:"outside,omitempty" doc:"your place among those whom the gate does not let in; waiting there is not paid"`
	Leaves    string       `json:"leaves,omitempty" enum:"left,silent,released,moved,unpaid" doc:"why you go off duty as soon as you have finished your task"`
	Training  int          `json:"training" doc:"tasks of training batches to do before others"`
	Earned    crowd.Money  `json:"earned_micros" doc:"by waiting, since you came on duty"`
	Rate      crowd.Money  `json:"rate_micros_per_minute" doc:"what waiting in this pool pays you, also if you are lent to it; 0: nothing, as while you are outside its gate, or the pool has no money for it"`
	Unpaid    bool         `json:"unpaid,omitempty" doc:"this pool pays for waiting, and its money for that is used up"`
	Lent      *Loan        `json:"lent,omitempty" doc:"you help in this pool and belong to another one; left out: this pool is your own"`
	Called    *Called      `json:"called,omitempty" doc:"you are asked to come"`
	Place     bool         `json:"place" doc:"you may come: there is a place, or the pool is open to all"`
	Unliked   string       `json:"unliked,omitempty" doc:"why the pool does not call you: it calls only those who like its work better, which PUT /v1/me/wishes says"`
	Seen      string       `json:"seen" doc:"stands for this state; send it back to wait for another one"`
}

// Loan says whose somebody is who helps in another pool than their own.
type Loan struct {
	Home     crowd.PoolID `json:"home" doc:"the pool that has lent you, to which you return when it has work for you or you go off duty"`
	HomeName string       `json:"home_name"`
	Since    time.Time    `json:"since,omitzero" doc:"when you came to the pool in which you are"`
}

// Called is a call that a worker has not answered yet.
type Called struct {
	Call    int64     `json:"call"`
	AskedAt time.Time `json:"asked_at"`
	EndsAt  time.Time `json:"ends_at"`
}

// Wishes are a worker's wishes.
type Wishes struct {
	Prefers map[string]float64 `json:"prefers,omitempty" doc:"how much you like each pool's work, from 0 to 1; others: 0.5" example:"{\"p1\": 0.8}"`
	Away    bool               `json:"away,omitempty" doc:"you are not called at all"`
	NoMail  bool               `json:"no_mail,omitempty" doc:"you are not called by e-mail"`
}

// WishesView is a worker's wishes, with the pools that they can prefer.
type WishesView struct {
	Wishes
	Pools []NamedPool `json:"pools" doc:"of which you can say how much you like them: your own, and those to which people of it are moved"`
	Asks  bool        `json:"asks,omitempty" doc:"say it: it counts, and you have not said it of any of them"`
}

// PushKey is the key with which browsers subscribe to push messages.
type PushKey struct {
	Key string `json:"key" doc:"applicationServerKey, base64url; empty: this server sends no push messages"`
}

// PushSubscription is a browser that takes push messages.
type PushSubscription struct {
	ID        int64     `json:"id"`
	Endpoint  string    `json:"endpoint"`
	CreatedAt time.Time `json:"created_at"`
}

// NewPushSubscription is a browser's PushSubscription, as JSON.stringify writes it.
type NewPushSubscription struct {
	Endpoint string   `json:"endpoint"`
	Expires  any      `json:"expirationTime,omitempty" doc:"not used"`
	Keys     PushKeys `json:"keys"`
}

// PushKeys are the keys with which push messages to a browser are encrypted.
type PushKeys struct {
	P256dh string `json:"p256dh"`
	Auth   string `json:"auth"`
}

// ID is the id of what was made.
type ID struct {
	ID int64 `json:"id"`
}
