package wire

import (
	"encoding/json"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// Results is a page of what came of a batch's tasks.
type Results struct {
	Batch    crowd.BatchID `json:"batch"`
	Method   string        `json:"method" doc:"by which the labels are made; live: as they were given while answers came in"`
	At       time.Time     `json:"at" doc:"as of when the labels and counts are"`
	Fields   []ResultField `json:"fields" doc:"of the answers, each combined by itself"`
	Tasks    []ResultTask  `json:"tasks"`
	Next     string        `json:"next,omitempty" doc:"cursor of the next page; left out: this is the last"`
	Matching *int          `json:"matching,omitempty" doc:"tasks that meet the filter, on all pages; left out: not counted"`
	Counts   *ResultCounts `json:"counts,omitempty" doc:"of all tasks, whatever the filter; left out: not counted"`
}

// ResultField is a field of the answers.
type ResultField struct {
	Name    string   `json:"name"`
	Type    string   `json:"type"`
	Options []string `json:"options,omitempty"`
	Labels  bool     `json:"labels,omitempty" doc:"its label is the task's"`
}

// ResultCounts is how many tasks are such.
type ResultCounts struct {
	All        int `json:"all"`
	Disagree   int `json:"disagree" doc:"several answers, which are not all equal"`
	Tie        int `json:"tie"`
	Wrong      int `json:"wrong" doc:"the label is not the known answer, before learning from it"`
	Undecided  int `json:"undecided"`
	Unanswered int `json:"unanswered"`
	Corrected  int `json:"corrected" doc:"somebody has said what the label is"`
	Reviewed   int `json:"reviewed" doc:"somebody has reviewed the label"`
	Waiting    int `json:"review_waiting" doc:"the label waits for a review"`
}

// ResultTask is a task with what came of it.
type ResultTask struct {
	Task      crowd.TaskID           `json:"task"`
	Input     map[string]string      `json:"input" doc:"its row of the file"`
	Known     string                 `json:"known,omitempty" doc:"the known answer"`
	Training  bool                   `json:"training,omitempty" doc:"the task is for training: its answers count in no figure"`
	Label     *ResultLabel           `json:"label,omitempty" doc:"left out: none yet, or each field has its own"`
	Fields    map[string]ResultLabel `json:"fields,omitempty" doc:"the label of each field that somebody answered"`
	Agree     *bool                  `json:"agree,omitempty" doc:"all answers are equal; left out: there are none or one"`
	Wrong     bool                   `json:"wrong,omitempty" doc:"the label is not the known answer, before learning from it"`
	Corrected *Correction            `json:"corrected,omitempty" doc:"what somebody has said that the label is; left out: nobody has"`
	Review    *ResultReview          `json:"review,omitempty" doc:"of the label; left out: there is none"`
	SentBack  []SentBack             `json:"sent_back,omitempty" doc:"labels of it that reviewers have sent back, the first one first"`
	Answers   []ResultAnswer         `json:"answers" doc:"those that count"`
}

// ResultLabel is a label and how sure it is.
type ResultLabel struct {
	Value      string  `json:"value"`
	Confidence float64 `json:"confidence"`
	Answers    int     `json:"answers"`
	Tie        bool    `json:"tie,omitempty"`
	Undecided  bool    `json:"undecided,omitempty" doc:"the rule of redundancy was not met"`
}

// ResultAnswer is what somebody answered.
type ResultAnswer struct {
	Assignment crowd.AssignmentID `json:"assignment"`
	Worker     string             `json:"worker" doc:"the tenant's pseudonym of the worker" example:"w_qk3ybd5nn2l7xw6dlbrnqhzcaq"`
	WorkerID   crowd.WorkerID     `json:"worker_id,omitempty" doc:"if you may see who workers are"`
	WorkerName string             `json:"worker_name,omitempty" doc:"likewise"`
	AnsweredAt time.Time          `json:"answered_at"`
	Seconds    float64            `json:"seconds" doc:"from hand-out to answer"`
	Label      string             `json:"label" doc:"what is compared"`
	Answer     json.RawMessage    `json:"answer"`
	PaidMicros crowd.Money        `json:"paid_micros"`
	Weight     float64            `json:"weight,omitempty" doc:"what it counts in labels that are made from now on, by a rule that acted on the worker; left out: 1"`
	Revised    int                `json:"revised,omitempty" doc:"how often its worker has revised it since it counted"`
	RevisedAt  time.Time          `json:"revised_at,omitzero" doc:"when they revised it last"`
	Revisions  []ResultRevision   `json:"revisions,omitempty" doc:"what they answered in the course of that and does not count, in order: what came before, or of a check, of which the first answer counts, what came after"`
}

// ResultRevision is what somebody answered and does not count, since they have revised it, or since it is a revision of an answer to a check.
type ResultRevision struct {
	N      int             `json:"n" doc:"0: the first answer; else the number of the revision"`
	At     time.Time       `json:"at" doc:"when it was given"`
	Label  string          `json:"label" doc:"what is compared"`
	Answer json.RawMessage `json:"answer,omitempty" doc:"left out: it was deleted"`
}

// Disregarded is what it comes to that a worker's answers to a batch are disregarded.
type Disregarded struct {
	Worker     string         `json:"worker" doc:"the tenant's pseudonym of the worker" example:"w_qk3ybd5nn2l7xw6dlbrnqhzcaq"`
	WorkerID   crowd.WorkerID `json:"worker_id,omitempty" doc:"if you may see who workers are"`
	WorkerName string         `json:"worker_name,omitempty" doc:"likewise"`
	Answers    int            `json:"answers" doc:"that are disregarded"`
	Tasks      int            `json:"tasks" doc:"that are decided anew; the others are there to check people, were taken out, or have a label that somebody has corrected or reviewed"`
	Withdrawn  int            `json:"withdrawn" doc:"labels that are withdrawn"`
	Relabelled int            `json:"relabelled" doc:"tasks that have a label again at once, from the answers that are left; beforehand those of a batch with redundancy until are not foreseen"`
	CostMicros crowd.Money    `json:"cost_micros" doc:"the most that asking again makes the batch more expensive by"`
	Missing    crowd.Money    `json:"missing_micros,omitempty" doc:"beforehand: what the budget lacks for that"`
	Reserved   crowd.Money    `json:"reserved_micros,omitempty" doc:"what was added to the budget from the tenant's account"`
}

// BatchWorker is one worker's part in a batch.
type BatchWorker struct {
	Batch      crowd.BatchID  `json:"batch"`
	Worker     string         `json:"worker" doc:"the tenant's pseudonym of the worker" example:"w_qk3ybd5nn2l7xw6dlbrnqhzcaq"`
	WorkerID   crowd.WorkerID `json:"worker_id,omitempty" doc:"if you may see who workers are"`
	WorkerName string         `json:"worker_name,omitempty" doc:"likewise"`
	Blocked    bool           `json:"blocked,omitempty" doc:"the batch's tenant has blocked the worker"`
	Method     string         `json:"method" doc:"by which the labels are made"`
	At         time.Time      `json:"at" doc:"as of when labels, figures and the list are"`

	Given      int         `json:"given" doc:"their answers, whether they count or not"`
	Counted    int         `json:"counted" doc:"of them, those that count"`
	Late       int         `json:"late" doc:"of them, those that came too late to count"`
	Out        int         `json:"disregarded,omitempty" doc:"of them, those that counted and are disregarded"`
	PaidMicros crowd.Money `json:"paid_micros"`
	Typical    *float64    `json:"typical_seconds,omitempty" doc:"median time from getting a task to answering it, of answers that count"`

	Quality     *WorkerQuality  `json:"quality,omitempty" doc:"as the quality of the batch has it; left out: no answer counts, or the answers were deleted"`
	Figures     QualityFigures  `json:"figures" doc:"as the quality rules of the batch count them, since an action on the worker was undone last; of a batch without checks, answers to tasks with a known answer stand for checks"`
	Paused      uint32          `json:"paused_by,omitempty" doc:"the number of the action of a rule that keeps them from the batch"`
	Weight      float64         `json:"weight,omitempty" doc:"what an answer of theirs counts in labels that are made from now on, by a rule; left out: 1"`
	Actions     []QualityAction `json:"actions" doc:"what the quality rules did to the worker, the latest 500"`
	DriftBounds []float64       `json:"drift_bounds" doc:"above which drift the rules act; without such a rule 3"`
	Compared    int             `json:"compared" doc:"answers that can be right or wrong: they count, and their task has a label, a known answer or a correction"`
	Right       int             `json:"right" doc:"of them, those that are what the label was corrected to, or else the known answer, or else the label"`
	Course      []WorkerPoint   `json:"course" doc:"how they did, in the order in which their answers came; of more than 200 answers a point stands for several"`
	Answers     []WorkerAnswer  `json:"answers" doc:"the latest first"`
	Matching    int             `json:"matching" doc:"answers that are asked for, on all pages"`
	Next        string          `json:"next,omitempty" doc:"cursor of the next page; left out: this is the last"`
}

// WorkerPoint is how somebody did up to an answer. Shares are from 0 to 1, their bounds Wilson's of 95 %.
type WorkerPoint struct {
	Answers    int       `json:"answers" doc:"that could be right or wrong, up to this one"`
	At         time.Time `json:"at" doc:"when it came"`
	Right      float64   `json:"right" doc:"share of all of them that are right"`
	RightLow   float64   `json:"right_low"`
	RightHigh  float64   `json:"right_high"`
	Recent     float64   `json:"recent" doc:"share of the last 20 of them that are right, or of all if they are fewer"`
	RecentLow  float64   `json:"recent_low"`
	RecentHigh float64   `json:"recent_high"`
	Checks     int       `json:"checks" doc:"answers to tasks with a known answer, since the figures began at nothing"`
	Drift      float64   `json:"drift" doc:"the highest since the point before"`
}

// WorkerAnswer is an answer of a worker with what it is compared with.
type WorkerAnswer struct {
	Assignment crowd.AssignmentID `json:"assignment"`
	Task       crowd.TaskID       `json:"task"`
	Input      map[string]string  `json:"input,omitempty" doc:"the task's row of the file"`
	TakenOut   bool               `json:"taken_out,omitempty" doc:"the task was taken out, and nothing is told of what was answered"`
	AnsweredAt time.Time          `json:"answered_at"`
	Seconds    float64            `json:"seconds" doc:"from hand-out to answer"`
	Said       string             `json:"label" doc:"of the answer, what is compared"`
	Answer     json.RawMessage    `json:"answer,omitempty"`
	Counted    bool               `json:"counted"`
	Late       bool               `json:"late,omitempty"`
	OutAt      time.Time          `json:"disregarded_at,omitzero" doc:"since when it does not count, though it did; left out: it is not disregarded"`
	PaidMicros crowd.Money        `json:"paid_micros"`
	Label      *ResultLabel       `json:"task_label,omitempty" doc:"of the task, by whole answers; left out: none yet"`
	Known      string             `json:"known,omitempty" doc:"the known answer"`
	Training   bool               `json:"training,omitempty" doc:"the task is for training: the answer counts in no figure"`
	Corrected  bool               `json:"corrected,omitempty" doc:"somebody has said what the label is"`
	Right      *bool              `json:"right,omitempty" doc:"left out: it does not count, or there is nothing to compare it with"`
}

// Correction is what somebody says that the label of a task is.
type Correction struct {
	N         uint32    `json:"n" doc:"among those of the task, from 1"`
	At        time.Time `json:"at"`
	By        string    `json:"by" doc:"the name of who said it; of a reviewer the tenant's pseudonym, or their name if you may see it"`
	Value     string    `json:"value" doc:"the label"`
	Withdrawn bool      `json:"withdrawn,omitempty" doc:"the correction before it was taken back"`
	Note      string    `json:"note,omitempty"`

	Review crowd.TaskID `json:"review,omitempty" doc:"the task of the batch of reviews that it is from; left out: it is from staff"`
}

// Corrections is the history of a task's corrections.
type Corrections struct {
	Corrections []Correction `json:"corrections" doc:"the latest first; it holds unless it is withdrawn"`
}

// NewCorrection says what the label of a task is.
type NewCorrection struct {
	Value string `json:"value" doc:"as a known answer is written in a file; where each field of the answers has its own label, the whole answer as JSON" example:"yes"`
	Note  string `json:"note,omitempty" doc:"why, up to 1000 characters"`
}

// Reports is a page of what workers said is wrong with a batch's tasks.
type Reports struct {
	Reports []Report `json:"reports" doc:"in the order of their assignments"`
	Next    string   `json:"next,omitempty" doc:"after of the next page; left out: this is the last"`
}

// Report is what a worker said is wrong with a task.
type Report struct {
	Assignment crowd.AssignmentID `json:"assignment"`
	Task       crowd.TaskID       `json:"task"`
	Worker     string             `json:"worker" doc:"the tenant's pseudonym"`
	WorkerID   crowd.WorkerID     `json:"worker_id,omitempty" doc:"with the permission people.names"`
	WorkerName string             `json:"worker_name,omitempty" doc:"with the permission people.names"`
	At         time.Time          `json:"at"`
	Text       string             `json:"text" doc:"empty: it was deleted"`
	Reply      string             `json:"reply,omitempty" doc:"what was answered to the reports of the task"`
	RepliedAt  time.Time          `json:"replied_at,omitzero"`
}

// SendBack sends an answer back.
type SendBack struct {
	Comment   string `json:"comment" doc:"1 to 1000 bytes, told to whoever gets the task from then on, in place of what they were told before" example:"Look at the ears."`
	AddBudget bool   `json:"add_budget,omitempty" doc:"reserve what the budget lacks for asking again from the tenant's account, which needs the permission budgets.change as well"`
}

// NewReply answers the reports of a task.
type NewReply struct {
	Text string `json:"text" doc:"1 to 1000 characters, shown to whoever gets the task later" example:"The picture is there now."`
}
