package wire

import (
	"encoding/json"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/label"
)

// Template is a template as it stands in JSON; package task reads it.
type Template json.RawMessage

// MarshalJSON implements json.Marshaler.
func (t Template) MarshalJSON() ([]byte, error) { return json.RawMessage(t).MarshalJSON() }

// UnmarshalJSON implements json.Unmarshaler.
func (t *Template) UnmarshalJSON(data []byte) error {
	*t = append((*t)[:0], data...)
	return nil
}

// Qualification is one that a worker must hold, with the least score.
type Qualification struct {
	Name string `json:"name" doc:"birds is the installation's, north/birds (or n1/birds) that of the batch's tenant, north"`
	Min  int    `json:"min" minimum:"0" maximum:"100"`
}

// BatchTerms is the definition of a batch, without its tenant. The pattern of its times
// keeps out the year 1, whose first moment would count as none given.
type BatchTerms struct {
	Name            string          `json:"name"`
	Pool            crowd.PoolID    `json:"pool,omitempty" doc:"default: the first pool"`
	Template        Template        `json:"template"`
	Redundancy      *label.Rule     `json:"redundancy,omitempty"`
	RewardMicros    crowd.Money     `json:"reward_micros" doc:"for each counted answer, in millionths of the currency" example:"50000"`
	BudgetMicros    crowd.Money     `json:"budget_micros,omitempty" minimum:"1" doc:"reserved at launch; default: the most that the batch can cost; left out of a step's batch that spends its run's"`
	Priority        float64         `json:"priority,omitempty" minimum:"0.000001" maximum:"1000000" doc:"P_b; default 1"`
	Deadline        time.Time       `json:"deadline,omitzero" pattern:"^(000[2-9]|00[1-9]|0[1-9]|[1-9])" patternDescription:"a time to come"`
	Production      bool            `json:"production,omitempty" doc:"deadline-aware policies push it towards the finish"`
	LeaseSeconds    int64           `json:"lease_seconds,omitempty" minimum:"1" maximum:"2678400" doc:"how long a worker may hold a task; default 1800"`
	TaskTimeSeconds float64         `json:"task_time_seconds,omitempty" exclusiveMinimum:"0" maximum:"2678400" doc:"your estimate for one answer; default 30"`
	EndsAt          time.Time       `json:"ends_at,omitzero" pattern:"^(000[2-9]|00[1-9]|0[1-9]|[1-9])" patternDescription:"a time to come" doc:"ended then with what there is"`
	Qualifications  []Qualification `json:"qualifications,omitempty" doc:"what a worker must hold"`
	GraceSeconds    int64           `json:"grace_seconds,omitempty" minimum:"0" maximum:"86400" doc:"how long a worker may take an answer back, after which it counts; default 0: it counts at once"`
	ReviseSeconds   int64           `json:"revise_seconds,omitempty" minimum:"0" maximum:"2678400" doc:"for how long after an answer has counted its worker may give another one in its place, while the batch runs; default 0: it stands"`
	Approval        *Approval       `json:"approval,omitempty" doc:"pay of answers that count is held until it is approved; default: answers are paid when they count"`
	PerWorker       int             `json:"per_worker,omitempty" minimum:"0" maximum:"1073741824" doc:"the most answers that count of one person; default: any number"`
	Enough          *Enough         `json:"enough,omitempty" doc:"ends the batch by itself, as soon as one of these holds"`
	Checks          *Checks         `json:"checks,omitempty" doc:"tasks with a known answer are given to people as checks, among the others, and are paid as these; default: they are asked as the others are"`
	Quality         []QualityRule   `json:"quality,omitempty" doc:"rules that act on those who do the batch, by what their answers show; at most 20"`
	Review          *Review         `json:"review,omitempty" doc:"labels that others look at once more, as tasks of a second batch; default: none"`
	Training        bool            `json:"training,omitempty" doc:"its tasks are for newcomers of the pool, who do some of them before they get others"`
}

// Enough says when a batch ends by itself. What is left out is no condition.
type Enough struct {
	Labels     int         `json:"labels,omitempty" minimum:"1" doc:"so many tasks have labels"`
	Share      float64     `json:"share,omitempty" minimum:"0.0001" maximum:"1" doc:"this share of the tasks has labels"`
	Confidence float64     `json:"confidence,omitempty" minimum:"0.0001" maximum:"1" doc:"the mean confidence over all tasks is this; a task without a label counts as 0"`
	Spent      crowd.Money `json:"spent_micros,omitempty" minimum:"1" doc:"one more answer would make the batch more expensive than this; it never gets so"`
}

// Checks says how many of the tasks that somebody is given are checks.
type Checks struct {
	First    float64 `json:"first,omitempty" minimum:"0.001" maximum:"0.5" doc:"the share for somebody who has shown nothing yet; default 0.1"`
	Least    float64 `json:"least,omitempty" minimum:"0.001" maximum:"0.5" doc:"the share for somebody who is fully trusted, at most first; default: a tenth of first"`
	Training int     `json:"training,omitempty" minimum:"1" maximum:"100" doc:"how many of the tasks that somebody is given first are training tasks: known ones with an explanation (columns _gold and _explain), after which they are told whether they were right; default: none"`
}

// QualityRule acts on somebody, once, when a condition holds of their answers to a batch.
type QualityRule struct {
	When string `json:"when" doc:"over answers, seconds, agreement, checks, wrong, accuracy, accuracy_low, accuracy_high and drift" example:"accuracy_high < 0.7"`
	Do   string `json:"do" doc:"warn \"TEXT\", pause, or train N: the next N tasks of theirs are training tasks that they have not had (1 to 20), or weight W: their answers count W in the labels that are made from then on (0.01 to 0.99)" example:"pause"`
}

// QualityActions is a page of what the quality rules of a batch did.
type QualityActions struct {
	Actions []QualityAction `json:"actions"`
	Next    string          `json:"next,omitempty" doc:"of the next page; empty: this is the last one"`
}

// QualityAction is what a quality rule did to somebody.
type QualityAction struct {
	N          uint32         `json:"n" doc:"among the actions in the batch, from 1"`
	Worker     string         `json:"worker" doc:"a pseudonym"`
	WorkerID   crowd.WorkerID `json:"worker_id,omitempty" doc:"for those who may see names"`
	WorkerName string         `json:"worker_name,omitempty" doc:"for those who may see names"`
	At         time.Time      `json:"at"`
	Rule       int            `json:"rule" doc:"its number in the batch, from 1"`
	When       string         `json:"when" doc:"the condition that held"`
	Kind       string         `json:"kind" enum:"warn,pause,train,weight"`
	Text       string         `json:"text,omitempty" doc:"of a warning; of train, how many training tasks there were to give"`
	Lessons    int            `json:"training_tasks,omitempty" doc:"that train gives them, or gave before it was undone"`
	Weight     float64        `json:"weight,omitempty" doc:"of weight: what an answer of theirs counts at most as long as the action stands; of several the lowest holds"`
	Figures    QualityFigures `json:"figures" doc:"of which the condition held"`
	SeenAt     time.Time      `json:"seen_at,omitzero" doc:"when the person said that they had seen it"`
	UndoneAt   time.Time      `json:"undone_at,omitzero"`
	UndoneBy   string         `json:"undone_by,omitempty" doc:"the name of who undid it"`
}

// QualityFigures is what somebody's answers to a batch had shown. What nothing told yet is left out.
type QualityFigures struct {
	Answers      int      `json:"answers" doc:"that count, those to checks among them"`
	Checks       int      `json:"checks" doc:"answers to checks that count"`
	Wrong        int      `json:"wrong" doc:"answers to checks that are not the known answer"`
	Drift        float64  `json:"drift" doc:"each wrong answer to a check adds 0.75, each right one takes 0.25, never below 0"`
	Accuracy     *float64 `json:"accuracy,omitempty" doc:"share of the checks that they were right in"`
	AccuracyLow  *float64 `json:"accuracy_low,omitempty" doc:"its lower bound (Wilson, 95 %)"`
	AccuracyHigh *float64 `json:"accuracy_high,omitempty" doc:"its upper bound"`
	Agreement    *float64 `json:"agreement,omitempty" doc:"share of the tasks with a label in which they gave the label"`
	Seconds      *float64 `json:"seconds,omitempty" doc:"mean time of an answer"`
}

// NewBatch asks for a draft.
type NewBatch struct {
	Tenant crowd.TenantID `json:"tenant,omitempty" doc:"may be left out by a requester of one tenant"`
	BatchTerms
}

// Batch is a batch as it stands.
type Batch struct {
	ID     crowd.BatchID    `json:"id"`
	Tenant crowd.TenantID   `json:"tenant"`
	State  crowd.BatchState `json:"state" enum:"draft,running,paused,done,ended,cancelled"`
	BatchTerms
	Template     Template       `json:"template,omitempty" doc:"how a task is shown and answered; left out of lists and events"`
	Columns      []string       `json:"columns,omitzero" doc:"of its tasks; left out of lists"`
	Tasks        uint32         `json:"tasks"`
	Known        int            `json:"known,omitempty" doc:"tasks of them that check people: they have their known answers as labels"`
	Stopped      bool           `json:"stopped" doc:"emergency stop"`
	Planned      int            `json:"planned" doc:"answers wanted: T_b, those of a step that wait for money among them"`
	Completed    int            `json:"completed" doc:"answers that count: C_b"`
	Running      *int           `json:"running,omitempty" doc:"in somebody's hands, or provisional; left out of lists"`
	Provisional  int            `json:"provisional,omitempty" doc:"of running, answers that do not count yet, as their workers may take them back"`
	Waiting      *int           `json:"waiting,omitempty" doc:"wanted, in nobody's hands; left out of lists"`
	Labelled     int            `json:"labelled" doc:"tasks with a label"`
	Removed      int            `json:"removed,omitempty" doc:"of the tasks, those that were taken out: they get no label"`
	SpentMicros  crowd.Money    `json:"spent_micros" doc:"what was paid for answers"`
	HeldMicros   crowd.Money    `json:"held_micros,omitempty" doc:"pay of answers that waits for approval, or for the end of an appeal"`
	RefusedPay   crowd.Money    `json:"refused_micros,omitempty" doc:"pay that was refused and has gone back to the tenant's account"`
	Spare        crowd.Money    `json:"spare_micros,omitempty" doc:"of the budget, what the batch can no longer need, as all that is left cannot cost so much; left out of lists and of what is watched"`
	Reserved     crowd.Money    `json:"reserved_micros,omitempty" doc:"what the change that this answers reserved from the tenant's account"`
	Released     crowd.Money    `json:"released_micros,omitempty" doc:"what the change that this answers gave back to it"`
	Reason       *crowd.Reason  `json:"reason,omitempty" doc:"why what waits is not taken"`
	ReasonText   string         `json:"reason_text,omitempty"`
	ReasonRemedy string         `json:"reason_remedy,omitempty" doc:"the commands that let it be taken, where that is known"`
	Queue        *QueuePlace    `json:"queue,omitempty" doc:"its place in the pool's queue, no more than a second old; left out: nothing of it can be handed out, it is for training, the pool has more than 2,000 batches, it is new to the queue, or this answers a command"`
	Short        string         `json:"cannot_finish,omitempty" doc:"why it cannot finish with the people of the pool, such as too few who may do it"`
	NotBy        []string       `json:"not_by,omitempty" doc:"of a step's batch: the steps of its run whose people do not get the same items here"`
	ReviewOf     crowd.BatchID  `json:"review_of,omitempty" doc:"the batch whose labels its tasks review"`
	ReviewedIn   crowd.BatchID  `json:"reviewed_in,omitempty" doc:"the batch in which its labels are reviewed"`
	Reviews      map[string]int `json:"reviews,omitempty" doc:"how many reviews of its labels are waiting, accepted, corrected, kept, sent-back and dropped; left out of lists"`
	TakenOver    int            `json:"taken_over,omitempty" doc:"labels that the step of a run has from earlier runs: they are of none of the tasks, and count for enough"`
	HadEnough    string         `json:"had_enough,omitempty" doc:"what there was enough of, if it ended by itself"`
	Remedy       string         `json:"cannot_finish_remedy,omitempty" doc:"the commands that let it finish"`
	CreatedAt    time.Time      `json:"created_at"`
	LaunchedAt   time.Time      `json:"launched_at,omitzero"`
	EndedAt      time.Time      `json:"ended_at,omitzero"`

	AnswersDeletedAt time.Time `json:"answers_deleted_at,omitzero" doc:"since when what was answered is not there any more, as the tenant keeps answers no longer; left out: it is there"`
	FilesDeletedAt   time.Time `json:"files_deleted_at,omitzero" doc:"likewise what was uploaded for its tasks"`
}

// Wanted is how many tasks have a label or are to get one.
func (b *Batch) Wanted() int { return int(b.Tasks) - b.Removed }

// BatchEdit changes a running batch; what is left out stays.
type BatchEdit struct {
	Priority        *float64     `json:"priority,omitempty"`
	Deadline        *time.Time   `json:"deadline,omitempty" pattern:"^(000[2-9]|00[1-9]|0[1-9]|[1-9])" patternDescription:"a time to come"`
	ClearDeadline   bool         `json:"clear_deadline,omitempty"`
	RewardMicros    *crowd.Money `json:"reward_micros,omitempty" doc:"for what is handed out from now on; who holds a task is paid what they were promised"`
	Redundancy      *label.Rule  `json:"redundancy,omitempty" doc:"of all tasks without a label: those that have enough answers by it get theirs at once"`
	Production      *bool        `json:"production,omitempty"`
	Enough          *Enough      `json:"enough,omitempty" doc:"ends the batch by itself; without any condition, it does not any more"`
	Stopped         *bool        `json:"stopped,omitempty" doc:"emergency stop"`
	AddBudget       bool         `json:"add_budget,omitempty" doc:"reserve what the budget lacks for the change from the tenant's account; without it such a change is refused, but of the batch of a run's step without a budget of its own, for which that is reserved in any case"`
	ReleaseBudget   bool         `json:"release_budget,omitempty" doc:"give back to the tenant's account what the batch can no longer need after the change"`
	AllowSmallCrowd bool         `json:"allow_small_crowd,omitempty" doc:"even if the pool has fewer people than a task then needs answers from"`
}

// TopUp adds to the budget of a batch or a run.
type TopUp struct {
	AmountMicros crowd.Money `json:"amount_micros"`
}

// Uploaded reports what became of an upload.
type Uploaded struct {
	Columns   []string    `json:"columns"`
	Tasks     int         `json:"tasks" doc:"rows kept"`
	Bad       int         `json:"bad" doc:"rows that were wrong"`
	Dropped   int64       `json:"dropped" doc:"rows that were there before"`
	Delimiter string      `json:"delimiter,omitempty" doc:"what stood between the cells: , ; | or tab; left out where nothing does"`
	Reserved  crowd.Money `json:"reserved_micros,omitempty" doc:"what was reserved for tasks added to a running batch, from the tenant's account"`
	Problems  []FieldNote `json:"problems" doc:"the first of them"`
}

// Preview is a task of a draft as a worker will see it.
type Preview struct {
	Task   crowd.TaskID `json:"task"`
	Tasks  uint32       `json:"tasks"`
	Values Values       `json:"values"`
	View   task.View    `json:"view"`
	HTML   string       `json:"html,omitempty" doc:"of kind html: a document for a sandboxed frame"`
}

// Held is a task in somebody's hands.
type Held struct {
	Assignment crowd.AssignmentID `json:"assignment"`
	Task       crowd.TaskID       `json:"task"`
	Worker     string             `json:"worker" doc:"the tenant's pseudonym of the worker" example:"w_qk3ybd5nn2l7xw6dlbrnqhzcaq"`
	WorkerID   crowd.WorkerID     `json:"worker_id,omitempty" doc:"if you may see who workers are"`
	WorkerName string             `json:"worker_name,omitempty" doc:"likewise"`
	Since      time.Time          `json:"since"`
	ExpiresAt  time.Time          `json:"expires_at"`
}

// Why is what keeps a batch waiting.
type Why struct {
	Reason  crowd.Reason   `json:"reason"`
	Text    string         `json:"text"`
	Ahead   int            `json:"ahead" doc:"running batches before it in the policy's order"`
	Workers map[string]int `json:"workers" doc:"people of the pool, by the reason why they could not take it now"`
}

// Quality is a batch's answers, measured together.
type Quality struct {
	Batch     crowd.BatchID   `json:"batch"`
	Asked     string          `json:"method_asked" doc:"the method asked for, or the default of the batch's kind"`
	Method    string          `json:"method" doc:"the method used: ds-map falls back to majority where a task has under 2 answers"`
	Scale     string          `json:"alpha_scale" enum:"nominal,ordinal,interval" doc:"which alpha: ordinal for ratings, interval for numbers, nominal for all else"`
	Alpha     *float64        `json:"alpha,omitempty" doc:"Krippendorff's alpha; left out where undefined"`
	Unanimous float64         `json:"unanimous" doc:"share of the tasks with several answers whose answers are all equal"`
	Several   int             `json:"several_tasks" doc:"tasks with several answers; where there is none, unanimous means nothing"`
	Accuracy  *float64        `json:"accuracy,omitempty" doc:"against known answers, ties shared, of labels that have not learnt from them"`
	GoldTasks int             `json:"gold_tasks"`
	Learnt    bool            `json:"learnt" doc:"the labels have learnt from the known answers"`
	Workers   []WorkerQuality `json:"workers" doc:"those who agree least with the labels first"`
	Groups    []CopyGroup     `json:"groups" doc:"of workers whose answers agree more than honest ones do, by the method robust, which counts each as one voter; a reason to look, not a verdict"`
	Learning  []Learner       `json:"only_trained,omitempty" doc:"those who have answered training tasks and nothing else that counts; they are not among the workers"`
}

// Learner is somebody who has answered training tasks only.
type Learner struct {
	Worker   string         `json:"worker" doc:"the tenant's pseudonym of the worker" example:"w_qk3ybd5nn2l7xw6dlbrnqhzcaq"`
	WorkerID crowd.WorkerID `json:"worker_id,omitempty" doc:"if you may see who workers are"`
	Name     string         `json:"name,omitempty" doc:"likewise"`
	Right    int            `json:"training_right" doc:"answers that equal the known answer"`
	Answers  int            `json:"training_answers"`
}

// CopyGroup are workers who seem to copy from each other, with the evidence.
type CopyGroup struct {
	Workers   []string `json:"workers" doc:"the tenant's pseudonyms of the workers"`
	Names     []string `json:"names,omitempty" doc:"if you may see who workers are"`
	Shared    int      `json:"shared" doc:"answers to the same task, by pairs"`
	Agreement float64  `json:"agreement" doc:"share of them that are equal"`
	Chance    float64  `json:"chance" doc:"share that would be equal by chance"`
	Beyond    float64  `json:"beyond_chance" doc:"agreement beyond chance, 0 to 1, at least"`
	Honest    float64  `json:"beyond_chance_if_honest" doc:"what their agreement with the others explains of it"`
}

// WorkerQuality is how the answers of one worker compare.
type WorkerQuality struct {
	Worker string `json:"worker" doc:"the tenant's pseudonym of the worker" example:"w_qk3ybd5nn2l7xw6dlbrnqhzcaq"`
	Name   string `json:"name,omitempty" doc:"if you may see who workers are"`

	WorkerID crowd.WorkerID `json:"worker_id,omitempty" doc:"likewise"`

	Blocked     bool     `json:"blocked,omitempty" doc:"the batch's tenant has blocked the worker"`
	Answers     int      `json:"answers"`
	Agreement   float64  `json:"agreement" doc:"share of the answers that equal the task's label"`
	Skill       float64  `json:"skill" doc:"how often they are right, by the labels' probabilities"`
	SkillLow    float64  `json:"skill_low" doc:"bounds of 95 %, as if the labels were known"`
	SkillHigh   float64  `json:"skill_high"`
	GoldRight   int      `json:"gold_right" doc:"answers that equal the task's known answer"`
	GoldAnswers int      `json:"gold_answers" doc:"answers to tasks with a known answer"`
	TaughtRight int      `json:"training_right,omitempty" doc:"answers to training tasks that equal the known answer; they count in none of the other figures"`
	Taught      int      `json:"training_answers,omitempty" doc:"answers to training tasks"`
	Accuracy    *float64 `json:"accuracy,omitempty" doc:"estimated by the method"`
	Information *float64 `json:"information,omitempty" doc:"0: the answers do not depend on the truth"`
	Weight      float64  `json:"weight,omitempty" doc:"what an answer of theirs counts in labels that are made from now on, by a rule; left out: 1"`
}

// Forecast is when a batch will be done.
type Forecast struct {
	Status     string    `json:"status" enum:"ready,pending,unknown,nobody,too_few,paused,stopped,too_big,failed,draft,over" doc:"ready: there is a forecast; else why there is none"`
	Text       string    `json:"text,omitempty" doc:"the same in words"`
	ComputedAt time.Time `json:"computed_at,omitzero" doc:"the moment that it starts from"`
	Policy     string    `json:"policy,omitempty" doc:"under which it was computed"`
	Left       *int      `json:"left,omitempty" doc:"answers wanted then, those in people's hands among them"`
	Low        time.Time `json:"low,omitzero" doc:"done before with 10 % probability; left out: after the horizon"`
	Median     time.Time `json:"median,omitzero" doc:"done before with 50 % probability; left out: after the horizon"`
	High       time.Time `json:"high,omitzero" doc:"done before with 90 % probability; left out: after the horizon"`
	Horizon    time.Time `json:"horizon,omitzero" doc:"how far was looked"`
	Unfinished *float64  `json:"unfinished,omitempty" doc:"probability that it is not done at the horizon"`
	Deadline   time.Time `json:"deadline,omitzero"`
	Chance     *float64  `json:"chance,omitempty" doc:"probability to meet the deadline"`
	ChanceLow  *float64  `json:"chance_low,omitempty" doc:"95 % bound that the number of repetitions leaves"`
	ChanceHigh *float64  `json:"chance_high,omitempty"`
	Reps       *int      `json:"reps,omitempty" doc:"repetitions"`
	Basis      string    `json:"basis,omitempty" doc:"what it rests on, in words"`
}
