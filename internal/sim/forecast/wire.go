package forecast

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/sla"
)

// Version is the version of a State's JSON form that this program writes. It
// reads those from OldestVersion on: version 2 did not say whose answers are
// whose, and is version 3 without that.
const (
	Version       = 3
	OldestVersion = 2
)

// wireState is the JSON form of a State. Workers are numbers.
type wireState struct {
	Version  int           `json:"version"`
	Now      time.Time     `json:"now"`
	Pool     crowd.PoolID  `json:"pool"`
	Name     string        `json:"name"`
	Policy   string        `json:"policy"`
	Stopped  bool          `json:"stopped,omitempty"`
	Tenants  []wireTenant  `json:"tenants"`
	Workers  []wireWorker  `json:"workers"`
	Batches  []wireBatch   `json:"batches"`
	Observed *wireObserved `json:"observed"`
}

type wireTenant struct {
	ID      crowd.TenantID `json:"id"`
	Weight  float64        `json:"weight"`
	Stopped bool           `json:"stopped,omitempty"`
}

type wireWorker struct {
	ID             int64            `json:"id"`
	Qualifications map[string]int   `json:"qualifications,omitempty"`
	Suspended      bool             `json:"suspended,omitempty"`
	BlockedBy      []crowd.TenantID `json:"blocked_by,omitempty"`
	Training       int              `json:"training,omitempty"` // tasks of training batches still to do
}

type wireBatch struct {
	ID              crowd.BatchID        `json:"id"`
	Name            string               `json:"name"`
	Tenant          crowd.TenantID       `json:"tenant"`
	State           crowd.BatchState     `json:"state"`
	Stopped         bool                 `json:"stopped,omitempty"`
	Tasks           uint32               `json:"tasks"`
	Redundancy      label.Rule           `json:"redundancy"`
	RewardMicros    crowd.Money          `json:"reward_micros"`
	BudgetMicros    crowd.Money          `json:"budget_micros"`
	Priority        float64              `json:"priority"`
	Deadline        time.Time            `json:"deadline,omitzero"`
	Production      bool                 `json:"production,omitempty"`
	Training        bool                 `json:"training,omitempty"`
	LeaseSeconds    float64              `json:"lease_seconds"`
	TaskTimeSeconds float64              `json:"task_time_seconds"`
	EndsAt          time.Time            `json:"ends_at,omitzero"`
	Qualifications  []engine.Requirement `json:"qualifications,omitempty"`
	Invited         map[string][]uint32  `json:"invited,omitempty"` // by worker

	Fresh         uint32           `json:"fresh"`
	Issued        uint32           `json:"issued"`
	OldestOpen    uint32           `json:"oldest_open"`
	Planned       int              `json:"planned"`
	Completed     int              `json:"completed"`
	Labelled      int              `json:"labelled"`
	EscrowMicros  crowd.Money      `json:"escrow_micros"`
	SpentMicros   crowd.Money      `json:"spent_micros"`
	WorkedSeconds float64          `json:"worked_seconds"`
	LaunchedAt    time.Time        `json:"launched_at"`
	FirstStarted  time.Time        `json:"first_started,omitzero"`
	LabelledTasks []uint32         `json:"labelled_tasks,omitempty"`
	SLA           *wireTerms       `json:"sla,omitempty"`
	Items         []wireItem       `json:"items,omitempty"`       // with an SLA: of tasks without a label
	Assignments   []wireAssignment `json:"assignments,omitempty"` // of tasks without a label
}

type wireTerms struct {
	Penalty      sla.Kind    `json:"penalty"`
	AfterSeconds float64     `json:"after_seconds"`
	CostMicros   crowd.Money `json:"cost_micros"`
	EverySeconds float64     `json:"every_seconds,omitempty"`
	AtMostMicros crowd.Money `json:"at_most_micros,omitempty"`
	TailSeconds  float64     `json:"tail_seconds"`
}

type wireItem struct {
	Task  uint32    `json:"task"`
	Born  time.Time `json:"born"`
	Bound time.Time `json:"bound,omitzero"`
}

type wireAssignment struct {
	N          uint32                `json:"n"`
	Task       uint32                `json:"task"`
	Worker     int64                 `json:"worker"`
	State      crowd.AssignmentState `json:"state"`
	At         time.Time             `json:"at"`
	Expires    time.Time             `json:"expires"`
	AnsweredAt time.Time             `json:"answered_at,omitzero"`
	Answer     int                   `json:"answer,omitempty"` // equal answers to a task have equal numbers
	Late       bool                  `json:"late,omitempty"`
	Counted    bool                  `json:"counted,omitempty"`
	PaidMicros crowd.Money           `json:"paid_micros,omitempty"`
}

type wireObserved struct {
	Since           time.Time              `json:"since"`
	Present         []wirePerson           `json:"present"`
	Arrivals        float64                `json:"arrivals"`
	AwaySeconds     float64                `json:"away_seconds"`
	Departures      float64                `json:"departures"`
	PresenceSeconds float64                `json:"presence_seconds"`
	HandOuts        int                    `json:"hand_outs"`
	GivenUp         int                    `json:"given_up"`
	Lost            int                    `json:"lost"`
	Answers         map[string]wireAnswers `json:"answers"` // by batch
}

type wirePerson struct {
	Worker int64   `json:"worker"`
	Chance float64 `json:"chance"`
}

type wireAnswers struct {
	N       int        `json:"n"`
	LogMean float64    `json:"log_mean"`
	LogSD   float64    `json:"log_sd"`
	By      []wirePart `json:"by,omitempty"`
}

// wirePart is what one person has of the answers to a batch.
type wirePart struct {
	Worker  int64   `json:"worker"`
	N       int     `json:"n"`
	LogMean float64 `json:"log_mean"`
	LogSD   float64 `json:"log_sd"`
}

// MarshalJSON implements json.Marshaler.
func (s *State) MarshalJSON() ([]byte, error) {
	out := wireState{
		Version: Version, Now: s.Now, Pool: s.Pool, Name: s.Name, Policy: s.Policy, Stopped: s.Snapshot.Stopped,
		Tenants: []wireTenant{}, Workers: []wireWorker{}, Batches: []wireBatch{}, Observed: s.Observed.wire(),
	}
	for _, t := range s.Snapshot.Tenants {
		out.Tenants = append(out.Tenants, wireTenant(t))
	}
	training := make(map[crowd.WorkerID]int, len(s.Snapshot.Duties))
	for _, d := range s.Snapshot.Duties {
		training[d.Worker] = d.Training
	}
	for _, w := range s.Snapshot.Workers {
		out.Workers = append(out.Workers, wireWorker{int64(w.ID), w.Qualifications, w.Suspended, w.BlockedBy, training[w.ID]})
	}
	for i := range s.Snapshot.Batches {
		b := wireOf(&s.Snapshot.Batches[i])
		b.Name = s.Batches[b.ID]
		out.Batches = append(out.Batches, b)
	}
	return json.Marshal(out)
}

// UnmarshalJSON implements json.Unmarshaler. What it reads is valid.
func (s *State) UnmarshalJSON(data []byte) error {
	var version struct{ Version *int }
	if err := json.Unmarshal(data, &version); err != nil {
		return notAState(err)
	}
	switch {
	case version.Version == nil:
		return crowd.Fieldf("version", "is missing: this is not the state of a pool")
	case *version.Version < OldestVersion || *version.Version > Version:
		return crowd.Fieldf("version", "%d is not known; this program reads versions %d to %d, so use the program's version that the server has", *version.Version, OldestVersion, Version)
	}
	var in wireState
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return notAState(err)
	}
	if in.Observed == nil {
		return crowd.Fieldf("observed", "is missing")
	}
	observed, err := in.Observed.observed()
	if err != nil {
		return err
	}
	*s = State{
		Now: in.Now, Pool: in.Pool, Name: in.Name, Policy: in.Policy, Batches: make(map[crowd.BatchID]string),
		Snapshot: &engine.Snapshot{Stopped: in.Stopped}, Observed: observed,
	}
	for _, t := range in.Tenants {
		s.Snapshot.Tenants = append(s.Snapshot.Tenants, engine.Tenant(t))
	}
	for _, w := range in.Workers {
		s.Snapshot.Workers = append(s.Snapshot.Workers, engine.Worker{
			ID: crowd.WorkerID(w.ID), Qualifications: w.Qualifications, Suspended: w.Suspended, BlockedBy: w.BlockedBy,
		})
		if w.Training != 0 {
			s.Snapshot.Duties = append(s.Snapshot.Duties, engine.Duty{Worker: crowd.WorkerID(w.ID), Training: w.Training})
		}
	}
	for i := range in.Batches {
		b, err := in.Batches[i].batch()
		if err != nil {
			return err
		}
		s.Batches[b.Spec.ID] = in.Batches[i].Name
		s.Snapshot.Batches = append(s.Snapshot.Batches, b)
	}
	return s.Validate()
}

func notAState(err error) error {
	var known *crowd.Error
	if errors.As(err, &known) {
		return err
	}
	return &crowd.Error{Code: crowd.Invalid, Message: fmt.Sprintf("this is not the state of a pool: %v", err), Cause: err}
}

func wireOf(b *engine.BatchSnapshot) wireBatch {
	spec, p := &b.Spec, &b.Progress
	out := wireBatch{
		ID: spec.ID, Tenant: spec.Tenant, State: p.State, Stopped: p.Stopped, Tasks: spec.Tasks, Redundancy: spec.Rule,
		RewardMicros: spec.Reward, BudgetMicros: spec.Budget, Priority: p.Priority, Deadline: p.Deadline, Production: spec.Production, Training: spec.Training,
		LeaseSeconds: spec.Lease.Seconds(), TaskTimeSeconds: spec.TaskTime.Seconds(), EndsAt: spec.EndsAt, Qualifications: spec.Requirements,
		Fresh: p.Fresh, Issued: p.Issued, OldestOpen: p.OldestOpen, Planned: p.Planned, Completed: p.Completed, Labelled: p.Labelled,
		EscrowMicros: p.Escrow, SpentMicros: p.Spent, WorkedSeconds: p.Worked.Seconds(), LaunchedAt: p.LaunchedAt, FirstStarted: p.FirstStarted,
		LabelledTasks: b.Labelled,
	}
	if t := spec.SLA; t != nil {
		out.SLA = &wireTerms{
			Penalty: t.Penalty.Kind, AfterSeconds: t.Penalty.After.Seconds(), CostMicros: t.Penalty.Cost, EverySeconds: t.Penalty.Every.Seconds(),
			AtMostMicros: t.Penalty.AtMost, TailSeconds: t.Tail.Seconds(),
		}
		for _, x := range b.Items {
			out.Items = append(out.Items, wireItem{x.N, x.Born, x.Bound})
		}
	}
	if spec.Invited != nil {
		out.Invited = make(map[string][]uint32, len(spec.Invited))
		for w, list := range spec.Invited {
			out.Invited[strconv.FormatInt(int64(w), 10)] = list
		}
	}
	for i := range b.Assignments {
		a := &b.Assignments[i]
		x := wireAssignment{
			N: a.ID.N(), Task: a.Task.N(), Worker: int64(a.Worker), State: a.State, At: a.At, Expires: a.Expires,
			AnsweredAt: a.AnsweredAt, Late: a.Late, Counted: a.Counted, PaidMicros: a.Paid,
		}
		x.Answer, _ = strconv.Atoi(a.Key) // Hide has made it a number; else it stays here
		out.Assignments = append(out.Assignments, x)
	}
	return out
}

func (in *wireBatch) batch() (engine.BatchSnapshot, error) {
	b := engine.BatchSnapshot{
		Spec: engine.Spec{
			ID: in.ID, Tenant: in.Tenant, Tasks: in.Tasks, Rule: in.Redundancy, Reward: in.RewardMicros, Budget: in.BudgetMicros,
			Priority: in.Priority, Deadline: in.Deadline, Production: in.Production, Training: in.Training, Lease: duration(in.LeaseSeconds),
			TaskTime: duration(in.TaskTimeSeconds), EndsAt: in.EndsAt, Requirements: in.Qualifications,
		},
		Progress: engine.Progress{
			Batch: in.ID, State: in.State, Stopped: in.Stopped, Priority: in.Priority, Deadline: in.Deadline,
			Fresh: in.Fresh, Issued: in.Issued, OldestOpen: in.OldestOpen, Planned: in.Planned, Completed: in.Completed, Labelled: in.Labelled,
			Escrow: in.EscrowMicros, Spent: in.SpentMicros, Worked: duration(in.WorkedSeconds), LaunchedAt: in.LaunchedAt, FirstStarted: in.FirstStarted,
		},
		Labelled: in.LabelledTasks,
	}
	b.Progress.Tasks = in.Tasks
	if t := in.SLA; t != nil {
		b.Spec.SLA = &engine.Terms{Tail: duration(t.TailSeconds), Penalty: sla.Penalty{
			Kind: t.Penalty, After: duration(t.AfterSeconds), Cost: t.CostMicros, Every: duration(t.EverySeconds), AtMost: t.AtMostMicros,
		}}
		for _, x := range in.Items {
			b.Items = append(b.Items, engine.ItemSnapshot{N: x.Task, Born: x.Born, Bound: x.Bound})
		}
	}
	if in.Invited != nil {
		b.Spec.Invited = make(map[crowd.WorkerID][]uint32, len(in.Invited))
		for text, list := range in.Invited {
			w, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return b, crowd.Fieldf("batches", "%s: %q is no worker", in.ID, text)
			}
			b.Spec.Invited[crowd.WorkerID(w)] = list
		}
	}
	for _, a := range in.Assignments {
		x := engine.AssignmentSnapshot{
			ID: in.ID.Assignment(a.N), Task: in.ID.Task(a.Task), Worker: crowd.WorkerID(a.Worker), State: a.State, At: a.At, Expires: a.Expires,
			AnsweredAt: a.AnsweredAt, Late: a.Late, Counted: a.Counted, Paid: a.PaidMicros,
		}
		if a.Answer > 0 {
			x.Key = strconv.Itoa(a.Answer)
		}
		b.Assignments = append(b.Assignments, x)
	}
	return b, nil
}

func (o *Observed) wire() *wireObserved {
	out := &wireObserved{
		Since: o.Since, Present: []wirePerson{}, Arrivals: o.Arrivals, AwaySeconds: o.Away.Seconds(),
		Departures: o.Departures, PresenceSeconds: o.Presence.Seconds(),
		HandOuts: o.HandOuts, GivenUp: o.GivenUp, Lost: o.Lost, Answers: make(map[string]wireAnswers, len(o.Answers)),
	}
	for _, p := range o.Present {
		out.Present = append(out.Present, wirePerson{int64(p.Worker), p.Chance})
	}
	for id, a := range o.Answers {
		x := wireAnswers{N: a.N, LogMean: a.LogMean, LogSD: a.LogSD}
		for _, p := range a.By {
			x.By = append(x.By, wirePart{int64(p.Worker), p.N, p.LogMean, p.LogSD})
		}
		out.Answers[id.String()] = x
	}
	return out
}

func (in *wireObserved) observed() (Observed, error) {
	o := Observed{
		Since: in.Since, Arrivals: in.Arrivals, Away: duration(in.AwaySeconds),
		Departures: in.Departures, Presence: duration(in.PresenceSeconds),
		HandOuts: in.HandOuts, GivenUp: in.GivenUp, Lost: in.Lost, Answers: make(map[crowd.BatchID]Answers, len(in.Answers)),
	}
	for _, p := range in.Present {
		o.Present = append(o.Present, Person{crowd.WorkerID(p.Worker), p.Chance})
	}
	for text, a := range in.Answers {
		id, err := crowd.ParseBatchID(text)
		if err != nil {
			return o, crowd.Fieldf("observed", "%q is not a batch", text)
		}
		x := Answers{N: a.N, LogMean: a.LogMean, LogSD: a.LogSD}
		for _, p := range a.By {
			x.By = append(x.By, Part{crowd.WorkerID(p.Worker), p.N, p.LogMean, p.LogSD})
		}
		o.Answers[id] = x
	}
	return o, nil
}

// duration reads seconds; what does not fit is negative, which nothing may be.
func duration(seconds float64) time.Duration {
	ns := math.Round(seconds * float64(time.Second))
	if !(math.Abs(ns) < math.MaxInt64/2) {
		return -1
	}
	return time.Duration(ns)
}
