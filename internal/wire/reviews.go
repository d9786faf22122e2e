package wire

import (
	"time"

	"github.com/throng-dev/throng/crowd"
)

// Review says which labels of a batch are reviewed by somebody who had no part in them, and on what
// terms: they are tasks of a batch of their own, launched with it. A label is reviewed if any of
// the conditions holds that are set.
type Review struct {
	Undecided      bool            `json:"undecided,omitempty" doc:"labels whose rule of redundancy was not met"`
	Confidence     float64         `json:"confidence,omitempty" minimum:"0" maximum:"1" doc:"labels that are less sure than this"`
	Share          float64         `json:"share,omitempty" minimum:"0" maximum:"1" doc:"this share of all labels, drawn at random; from 0.001"`
	NewWorkers     int             `json:"new_workers,omitempty" minimum:"0" maximum:"1000" doc:"labels from an answer that was among the first so many of somebody to this batch"`
	RewardMicros   crowd.Money     `json:"reward_micros" doc:"for each review, in millionths of the currency" example:"80000"`
	BudgetMicros   crowd.Money     `json:"budget_micros,omitempty" doc:"reserved at launch, next to the batch's; default: what reviews of all tasks cost"`
	Priority       float64         `json:"priority,omitempty" doc:"of the reviews; default 1"`
	Deadline       time.Time       `json:"deadline,omitzero" pattern:"^(000[2-9]|00[1-9]|0[1-9]|[1-9])" patternDescription:"a time to come"`
	Qualifications []Qualification `json:"qualifications,omitempty" doc:"what a reviewer must hold"`
	Blind          bool            `json:"blind,omitempty" doc:"the reviewer sees neither the label nor the answers"`
}

// WorkReview is what a reviewer sees of the label that they review.
type WorkReview struct {
	Label      string     `json:"label" doc:"as it stands"`
	Confidence float64    `json:"confidence"`
	Corrected  bool       `json:"corrected,omitempty" doc:"somebody has said that this is the label, whatever was answered"`
	Acceptable bool       `json:"acceptable" doc:"it can be accepted by accept in place of an answer"`
	Answers    []WorkSaid `json:"answers" doc:"of which it was made, those of most people first"`
}

// WorkSaid is what people have answered to a task that is reviewed.
type WorkSaid struct {
	Label  string `json:"label" doc:"what is compared"`
	People int    `json:"people"`
}

// ResultReview is the review of a label.
type ResultReview struct {
	Task       crowd.TaskID   `json:"task" doc:"of the batch of reviews"`
	State      string         `json:"state" enum:"waiting,accepted,corrected,kept,sent-back,dropped" doc:"accepted: the reviewer gave the label; corrected: another one, which is the label since; kept: they did not agree, but the label stays, as somebody had corrected it before or it could not be sent back any more; sent-back: they sent it back, and the task was asked again; dropped: nobody will do it"`
	Why        []string       `json:"why" doc:"for what it was picked: undecided, confidence, share, new_worker"`
	AskedAt    time.Time      `json:"asked_at"`
	DecidedAt  time.Time      `json:"decided_at,omitzero"`
	Reviewer   string         `json:"reviewer,omitempty" doc:"the tenant's pseudonym of who did it"`
	ReviewerID crowd.WorkerID `json:"reviewer_id,omitempty" doc:"if you may see who workers are"`
}

// SentBack is the comment with which a reviewer sent a label of a task back.
type SentBack struct {
	Review     crowd.TaskID   `json:"review" doc:"the task of the batch of reviews"`
	Comment    string         `json:"comment,omitempty" doc:"left out: it was deleted"`
	At         time.Time      `json:"at"`
	AskedAgain bool           `json:"asked_again" doc:"false: when the review came to count the label could not be sent back any more, and it stays"`
	Reviewer   string         `json:"reviewer" doc:"the tenant's pseudonym of who did it"`
	ReviewerID crowd.WorkerID `json:"reviewer_id,omitempty" doc:"if you may see who workers are"`
}
