package wire

import (
	"time"

	"github.com/throng-dev/throng/crowd"
)

// NewRun asks for a run of a workflow.
type NewRun struct {
	Tenant       crowd.TenantID `json:"tenant,omitempty" doc:"may be left out by a requester of one tenant"`
	Name         string         `json:"name,omitempty" doc:"default: that of the workflow" maxLength:"200"`
	Workflow     string         `json:"workflow" doc:"the file's text"`
	BudgetMicros crowd.Money    `json:"budget_micros,omitempty" minimum:"1" doc:"over all its crowd steps; default: that of the workflow"`
	Parent       crowd.RunID    `json:"parent,omitempty" doc:"a run that has ended, whose rows are taken over"`
	From         string         `json:"from,omitempty" doc:"a step: it and what comes after it is done again; default: all of them"`
	AskAgain     bool           `json:"ask_again,omitempty" doc:"of the steps that are done again, people are asked again also where an earlier run has the label of the same task, of no lower redundancy; default: such labels are taken over"`
	RenewAges    bool           `json:"renew_ages,omitempty" doc:"the items that are taken over start anew, for the SLA: their ages count from when the run is made; default: from when they came to the earlier run"`
	Open         []string       `json:"open,omitempty" doc:"inputs to which rows are added while the run goes, until they are sealed, besides those that the workflow calls open" maxItems:"500"`
}

// RunHead is a run of a workflow without its steps.
type RunHead struct {
	ID            crowd.RunID    `json:"id"`
	Tenant        crowd.TenantID `json:"tenant"`
	Name          string         `json:"name"`
	State         string         `json:"state" enum:"loading,running,paused,done,cancelled"`
	BudgetMicros  crowd.Money    `json:"budget_micros,omitempty" doc:"over all its crowd steps; left out: what the tenant has"`
	Deadline      time.Time      `json:"deadline,omitzero" doc:"of the run as a whole"`
	Parent        crowd.RunID    `json:"parent,omitempty" doc:"the run whose rows it took over"`
	From          string         `json:"from,omitempty" doc:"the step from which it starts again, if it has a parent"`
	AskAgain      bool           `json:"ask_again,omitempty" doc:"it takes over no labels of the steps that it repeats"`
	RenewAges     bool           `json:"renew_ages,omitempty" doc:"the items that it takes over have their ages from when it was made"`
	RedoLabels    int64          `json:"redo_labels,omitempty" doc:"it does its parent anew, in which so many labels had been corrected; left out: it was made for another reason"`
	CreatedBy     crowd.WorkerID `json:"created_by"`
	CreatedAt     time.Time      `json:"created_at"`
	StartedAt     time.Time      `json:"started_at,omitzero"`
	EndedAt       time.Time      `json:"ended_at,omitzero"`
	PenaltyMicros crowd.Money    `json:"penalty_micros" doc:"for being late, so far"`
	ItemsEnded    int64          `json:"items_ended" doc:"items that have left the workflow, if the SLA is per item"`
	ItemsLate     int64          `json:"items_late" doc:"of those, the ones with a penalty"`

	AnswersDeletedAt time.Time `json:"answers_deleted_at,omitzero" doc:"since when what was answered is not there any more, as the tenant keeps answers no longer; left out: it is there"`
	FilesDeletedAt   time.Time `json:"files_deleted_at,omitzero" doc:"likewise the rows of the run"`
}

// Run is a run as it stands.
type Run struct {
	RunHead
	Needs            []string     `json:"needs" doc:"inputs without rows yet; empty once it has started"`
	Notes            []string     `json:"notes,omitempty" doc:"which pools do not look at the SLA; how many rows are of the last class since they could not be read; of a run that was just made, also what is taken over from the parent"`
	Nodes            []RunNode    `json:"nodes" doc:"inputs first, then steps in the order in which they follow each other"`
	Outputs          []RunFile    `json:"outputs"`
	SLA              string       `json:"sla,omitempty" enum:"item,run" doc:"what the workflow promises a time for: each item, or the run as a whole; left out: nothing, and no penalty is due"`
	SpentMicros      crowd.Money  `json:"spent_micros" doc:"for answers"`
	PredictedMicros  *crowd.Money `json:"predicted_micros,omitempty" doc:"the penalty that the items in the workflow will cost, by the forecasts that outlook goes by, on top of penalty_micros; not there: not known, as long as nothing says how long they have to wait"`
	PredictedAtLeast bool         `json:"predicted_at_least,omitempty" doc:"predicted_micros rests on no forecast, as there is none, or not of all items: it is what they cost if they leave the workflow now, and it will be no less"`
	Going            int64        `json:"going" doc:"items in the workflow, counted up to a hundred thousand, if there is an SLA"`
	Classes          []RunClass   `json:"classes,omitempty" doc:"of items, in the order of the workflow, each with an SLA of its own"`
	Outlook          *RunOutlook  `json:"outlook,omitempty" doc:"of a run in which something is on its way: when that is done"`
	Stuck            bool         `json:"stuck" doc:"nothing goes on until somebody says retry or skip"`
	CorrectedLabels  int64        `json:"corrected_labels,omitempty" doc:"labels that its steps have used and that are others now, as they were corrected since, or a correction that was taken over was withdrawn"`
	Corrected        string       `json:"corrected,omitempty" doc:"corrected_labels in words, with the steps whose labels they are"`
	CorrectedRemedy  string       `json:"corrected_remedy,omitempty" doc:"what becomes of them, or the command that does the run anew with them"`
	RedoneAs         crowd.RunID  `json:"redone_as,omitempty" doc:"the run that does this one anew, with labels that were corrected"`
}

// RunClass is how the promise to a class of items is kept.
type RunClass struct {
	Class           string       `json:"class"`
	Ended           int64        `json:"items_ended"`
	Late            int64        `json:"items_late"`
	Unread          int64        `json:"items_unread,omitempty" doc:"items whose rows could not be read, which are of the last class for that alone"`
	Failed          int64        `json:"items_failed,omitempty" doc:"of items_ended, those that failed and were not late: they are neither in time nor late"`
	Judged          int64        `json:"items_judged" doc:"items that ended in time or late"`
	InTime          float64      `json:"in_time" doc:"share of items_judged that ended in time; 0: there are none"`
	PenaltyMicros   crowd.Money  `json:"penalty_micros" doc:"so far"`
	Going           int64        `json:"going" doc:"items in the workflow, as going of the run"`
	PredictedMicros *crowd.Money `json:"predicted_micros,omitempty" doc:"as predicted_micros of the run"`
}

// RunOutlook is when what is in a run is done, by the forecasts of its batches.
type RunOutlook struct {
	Median  time.Time `json:"median,omitzero" doc:"about when; not there: not known, or after horizon"`
	Low     time.Time `json:"low,omitzero" doc:"of ten times, eight are from low to high; not there: after horizon or, with median, not known, as further tasks come to people or a service decides"`
	High    time.Time `json:"high,omitzero" doc:"as low"`
	Horizon time.Time `json:"horizon,omitzero" doc:"until when the forecasts look; not there: no people are waited for"`
	At      time.Time `json:"computed_at,omitzero" doc:"when the oldest of the forecasts was made: of the state at that time"`
	Since   int       `json:"answers_since,omitempty" doc:"answers of people that came after the forecasts were made, and are not in them"`
	Then    []string  `json:"then,omitempty" doc:"crowd steps to which further tasks are to come: median takes it that these do not have to queue"`
	Why     string    `json:"why,omitempty" doc:"why it is not known"`
}

// Ended reports whether nothing happens in the run any more.
func (r *RunHead) Ended() bool { return r.State == "done" || r.State == "cancelled" }

// NodeKind is "input", or the kind of a step.
type NodeKind string

// RunNode is an input or a step of a run as it stands.
type RunNode struct {
	Name            string        `json:"name"`
	Kind            NodeKind      `json:"kind"`
	State           string        `json:"state" enum:"waiting,running,failed,done" doc:"of a run that was cancelled: as it stood then"`
	Open            bool          `json:"open,omitempty" doc:"of an input: rows are added to it while the run goes; it has not been sealed"`
	Error           string        `json:"error,omitempty" doc:"why it cannot go on, or waits"`
	Blocked         string        `json:"blocked,omitempty" doc:"why the step does not go on, and will not by itself"`
	Short           string        `json:"cannot_finish,omitempty" doc:"of a crowd step: why it cannot finish with the people of the pool"`
	Remedy          string        `json:"cannot_finish_remedy,omitempty" doc:"the commands that let it finish"`
	Lift            string        `json:"stopped_remedy,omitempty" doc:"of a crowd step that an emergency stop holds: what lifts it"`
	AddBudget       string        `json:"budget_remedy,omitempty" doc:"of a crowd step whose budget, or the run's, does not pay for one more task: what adds to it"`
	Enough          string        `json:"had_enough,omitempty" doc:"of a crowd step: what it had enough of, so that it ended by itself and what comes to it is skipped"`
	HasEnough       bool          `json:"has_enough,omitempty" doc:"of a crowd step: it has enough, hands nothing out, and ends when those at work have finished"`
	EndedEarly      bool          `json:"ended_early,omitempty" doc:"of a crowd step: somebody ended it; it asks nobody, and what comes to it fails"`
	In              int64         `json:"in" doc:"items that it has taken; of an input, rows read"`
	OK              int64         `json:"ok"`
	Skipped         int64         `json:"skipped" doc:"whose condition did not hold, for which a query gave nothing, which came when the step had enough, or were skipped before; each row says why"`
	Failed          int64         `json:"failed" doc:"given up; an input's are rows that could not be read"`
	Held            int64         `json:"held" doc:"that stay after an error, until somebody says retry or skip"`
	Waiting         int64         `json:"waiting" doc:"that have come, and were not taken yet"`
	Inside          int64         `json:"inside" doc:"taken, and not handed on; the held ones are among them"`
	ExpectedSeconds float64       `json:"expected_seconds,omitempty" doc:"for one item"`
	Batch           crowd.BatchID `json:"batch,omitempty" doc:"of a crowd step that has begun"`
	Service         *RunService   `json:"service,omitempty" doc:"of a service step that is not done, if the service is declared"`
	Answers         int           `json:"answers,omitempty" doc:"of people, that count"`
	Reused          int64         `json:"reused,omitempty" doc:"labels of a crowd step that were taken over from earlier runs"`
	Corrected       int64         `json:"corrected,omitempty" doc:"of a crowd step: its part of corrected_labels of the run"`
	SpentMicros     crowd.Money   `json:"spent_micros,omitempty"`
	StartedAt       time.Time     `json:"started_at,omitzero"`
	EndedAt         time.Time     `json:"ended_at,omitzero"`
}

// RunFile is a file that a run writes.
type RunFile struct {
	Name   string `json:"name"`
	Step   string `json:"step" doc:"whose rows it holds"`
	Format string `json:"format" enum:"csv,jsonl,parquet"`
}

// Loaded reports what became of an input's file.
type Loaded struct {
	Input     string      `json:"input"`
	Rows      int64       `json:"rows" doc:"in all, the bad ones among them"`
	Bad       int64       `json:"bad" doc:"rows that could not be read: items that have failed, and are told at the input's faults"`
	Dropped   int64       `json:"dropped" doc:"rows that were there before: they are no items"`
	Delimiter string      `json:"delimiter,omitempty" doc:"what stood between the cells: , ; | or tab; left out where nothing does"`
	Problems  []FieldNote `json:"problems" doc:"the first hundred of them"`
	Needs     []string    `json:"needs" doc:"inputs without rows yet"`
}

// AddedRows reports what became of rows for an open input.
type AddedRows struct {
	Input string `json:"input"`
	Added int64  `json:"added" doc:"rows; each is an item whose age begins now"`
	Known int64  `json:"known" doc:"rows that had been added before, as they are of the same feed"`
	Feed  int64  `json:"feed_rows,omitempty" doc:"rows that the input has of the feed by now; left out without a feed"`

	Dropped   int64  `json:"dropped" doc:"rows that the input has, or that were there before among these"`
	Delimiter string `json:"delimiter,omitempty" doc:"what stood between the cells: , ; | or tab; left out where nothing does"`
}

// Feed is how far an input has got the rows of a feed.
type Feed struct {
	Input string `json:"input"`
	Feed  string `json:"feed"`
	Rows  int64  `json:"rows" doc:"of the feed that were added; 0: it is not known"`
}

// Retried counts what is tried again.
type Retried struct {
	Items int `json:"items"`
	Steps int `json:"steps" doc:"that had failed as a whole"`
}

// Skipped counts what was given up.
type Skipped struct {
	Items int `json:"items"`
}

// SlowItem is an item in the workflow.
type SlowItem struct {
	Item          int64        `json:"item"`
	Class         string       `json:"class,omitempty" doc:"of the SLA, if that has classes"`
	Step          string       `json:"step"`
	Why           string       `json:"why" doc:"it waits"`
	Since         time.Time    `json:"since" doc:"it is at the step"`
	Born          time.Time    `json:"born" doc:"it entered the workflow"`
	Ends          time.Time    `json:"ends,omitzero" doc:"its end, as foreseen if nothing has to queue; not there while it is held, or the run does not go on"`
	PenaltyMicros *crowd.Money `json:"penalty_micros,omitempty" doc:"if it left the workflow at ends; not there: not known, as ends is not, or the run has no SLA per item"`
}

// ItemStop is where an item has been.
type ItemStop struct {
	Step   string            `json:"step"`
	Kind   NodeKind          `json:"kind"`
	Item   int64             `json:"item" doc:"that it was there: of a row made from others, the item that it comes from"`
	Class  string            `json:"class,omitempty" doc:"of the SLA, if that has classes"`
	State  string            `json:"state" enum:"ok,skipped,failed,held"`
	At     time.Time         `json:"at"`
	Values map[string]string `json:"values,omitempty" doc:"what the step has added"`
	Error  string            `json:"error,omitempty" doc:"why it failed, is held or was skipped"`
	Tries  int               `json:"tries,omitempty" doc:"of one that is held"`

	Corrected bool `json:"corrected,omitempty" doc:"the label is the correction of one of an earlier run"`
}

// Item is what a step has made of an item.
type Item struct {
	N      int64     `json:"n" doc:"in the order in which the step made them"`
	Item   int64     `json:"item"`
	Origin int64     `json:"origin,omitempty" doc:"the item that it was made from"`
	State  string    `json:"state" enum:"ok,skipped,failed"`
	Born   time.Time `json:"born"`
	At     time.Time `json:"at"`
	Error  string    `json:"error,omitempty" doc:"why it failed or was skipped; of one that was skipped, not there if that was before this was kept"`
	Values []string  `json:"values" doc:"what the step has added"`

	Corrected bool `json:"corrected,omitempty" doc:"the label is the correction of one of an earlier run"`
}

// Fault is an item that a step holds after an error.
type Fault struct {
	Step  string    `json:"step"`
	Item  int64     `json:"item"`
	At    time.Time `json:"at"`
	Tries int       `json:"tries"`
	Error string    `json:"error"`
}
