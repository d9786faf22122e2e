package store

import (
	"context"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
)

// ReviewTerms says which labels of a batch are reviewed, and of what terms the batch of
// their reviews is.
type ReviewTerms struct {
	engine.Review
	Reward       crowd.Money          `json:"reward"`           // of a review
	Budget       crowd.Money          `json:"budget,omitempty"` // 0: what reviews of all tasks cost
	Priority     float64              `json:"priority"`
	Deadline     time.Time            `json:"deadline,omitzero"`
	Requirements []engine.Requirement `json:"requirements,omitempty"`
	Blind        bool                 `json:"blind,omitempty"` // the reviewer sees neither the label nor the answers
}

// ReviewState is what came of a review.
type ReviewState string

// What can come of a review.
const (
	ReviewWaiting   ReviewState = "waiting"   // nobody has done it yet
	ReviewAccepted  ReviewState = "accepted"  // the reviewer gave the label, or what it was corrected to
	ReviewCorrected ReviewState = "corrected" // they gave another one, which has corrected it
	ReviewKept      ReviewState = "kept"      // they gave another one, but somebody had corrected the label before, and that holds
	ReviewSentBack  ReviewState = "sent-back" // they have sent it back, and the task was asked again
	ReviewDropped   ReviewState = "dropped"   // nobody will do it: its batch has ended, or it was taken out
)

// Done reports whether somebody has reviewed the label, which was not sent back: then it is another one by now.
func (s ReviewState) Done() bool {
	return s != "" && s != ReviewWaiting && s != ReviewDropped && s != ReviewSentBack
}

// Review is the review of a label. Each task has one at most: of labels that were sent back there is the last one.
type Review struct {
	Task      crowd.TaskID // with the label
	Review    crowd.TaskID // of the batch of reviews
	At        time.Time    // when it was asked for
	Why       engine.ReviewReason
	State     ReviewState
	DecidedAt time.Time            // zero: it is not done
	By        crowd.WorkerID       // 0: it is not done
	Answers   []crowd.AssignmentID // that the label was made of; only Reviews.Review tells them
}

// MaxComment is how many bytes the comment has at most with which an answer or a label is sent back.
const MaxComment = 1000

// SentBack is the comment with which a reviewer sent a label back.
type SentBack struct {
	Review  crowd.TaskID // of the batch of reviews
	Task    crowd.TaskID // with the label
	By      crowd.WorkerID
	At      time.Time // when it came to count
	Acts    bool      // false: the label could not be sent back any more, and stays
	Comment string    // "": it was deleted
}

// Reviews keeps reviews. They are made and decided by Commit.
type Reviews interface {
	// Review returns the review that a task of a batch of reviews is.
	Review(ctx context.Context, review crowd.TaskID) (Review, error)
	// ReviewedTask returns, as it is at one moment, what engine.Engine.SendBack has to know of the task whose label is
	// reviewed by a task. Without a label, or if it is reviewed by that task no more, it has no more than Review.
	ReviewedTask(ctx context.Context, review crowd.TaskID) (engine.AnsweredTask, error)
	// CountReviews returns how many reviews of labels of a batch there are of each state. Of a batch
	// that is not the tenant's there are none.
	CountReviews(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID) (map[ReviewState]int, error)
}
