package forecast

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/jsonform"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/sla"
)

// Version is the version of a State's JSON form that this program writes. It
// reads those from OldestVersion on: version 2 did not say whose answers are
// whose, and is version 3 without that.
const (
	Version       = 3
	OldestVersion = 2
)

// MarshalJSON implements json.Marshaler.
func (s *State) MarshalJSON() ([]byte, error) { return s.form().MarshalJSON() }

// UnmarshalJSON implements json.Unmarshaler. What it reads is valid.
func (s *State) UnmarshalJSON(data []byte) error {
	var has struct {
		Version  *int
		Observed *struct{}
	}
	if err := json.Unmarshal(data, &has); err != nil {
		return notAState(err)
	}
	switch {
	case has.Version == nil:
		return crowd.Fieldf("version", "is missing: this is not the state of a pool")
	case *has.Version < OldestVersion || *has.Version > Version:
		return crowd.Fieldf("version", "%d is not known; this program reads versions %d to %d, so use the program's version that the server has", *has.Version, OldestVersion, Version)
	}
	*s = State{Batches: make(map[crowd.BatchID]string), Snapshot: &engine.Snapshot{}}
	if err := s.form().UnmarshalJSON(data); err != nil {
		return notAState(err)
	}
	if has.Observed == nil {
		return crowd.Fieldf("observed", "is missing")
	}
	for i := range s.Snapshot.Batches {
		spec, p := &s.Snapshot.Batches[i].Spec, &s.Snapshot.Batches[i].Progress
		p.Batch, p.Tasks, p.Removed, p.Known = spec.ID, spec.Tasks, len(s.Snapshot.Batches[i].Removed), len(spec.Known)
		spec.Priority, spec.Deadline = p.Priority, p.Deadline
		if s.NoMoney {
			payNominally(&s.Snapshot.Batches[i])
		}
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

// form is the JSON form of a state. Workers are numbers.
func (s *State) form() jsonform.Form {
	version, x := Version, s.Snapshot
	training := make(map[crowd.WorkerID]int, len(x.Duties))
	for _, d := range x.Duties {
		training[d.Worker] = d.Training
	}
	return jsonform.Object(
		"version", &version, "now", &s.Now, "pool", &s.Pool, "name", &s.Name, "policy", &s.Policy, "no_money,omitempty", &s.NoMoney, "stopped,omitempty", &x.Stopped,
		"gate,omitempty", jsonform.As(func() *gate { return gateOf(x) }, func(g *gate) { x.Gate, x.GateOpen = engine.Gate{On: true, Min: g.min, Max: g.max}, g.open }),
		"tenants", jsonform.List(&x.Tenants, func(t *engine.Tenant) jsonform.Form {
			return jsonform.Object("id", &t.ID, "weight", &t.Weight, "stopped,omitempty", &t.Stopped)
		}),
		"workers", jsonform.List(&x.Workers, func(w *engine.Worker) jsonform.Form {
			return jsonform.Object(
				"id", number(&w.ID), "qualifications,omitempty", &w.Qualifications, "granted,omitempty", &w.Granted, "suspended,omitempty", &w.Suspended, "blocked_by,omitempty", &w.BlockedBy,
				"staff_of,omitempty", &w.StaffOf, "serves,omitempty", &w.Serves,
				"training,omitempty", jsonform.As(func() int { return training[w.ID] }, func(n int) { // tasks of training batches still to do
					if n != 0 {
						x.Duties = append(x.Duties, engine.Duty{Worker: w.ID, Training: n})
					}
				}))
		}),
		"batches", jsonform.List(&x.Batches, s.batchForm),
		"observed", &s.Observed,
	)
}

func (s *State) batchForm(b *engine.BatchSnapshot) jsonform.Form {
	spec, p := &b.Spec, &b.Progress
	return jsonform.Object(
		"id", &spec.ID, "name", jsonform.As(func() string { return s.Batches[spec.ID] }, func(name string) { s.Batches[spec.ID] = name }),
		"tenant", &spec.Tenant, "state", &p.State, "stopped,omitempty", &p.Stopped, "tasks", &spec.Tasks, "redundancy", &spec.Rule,
		"reward_micros,omitempty", s.money(&spec.Reward), "budget_micros,omitempty", s.money(&spec.Budget), "priority", &p.Priority, "deadline,omitempty", &p.Deadline,
		"production,omitempty", &spec.Production, "training,omitempty", &spec.Training,
		"lease_seconds", inSeconds(&spec.Lease), "grace_seconds,omitempty", inSeconds(&spec.Grace), "task_time_seconds", inSeconds(&spec.TaskTime), "ends_at,omitempty", &spec.EndsAt,
		"qualifications,omitempty", &spec.Requirements, "approval,omitempty", &spec.Approval,
		"enough,omitempty", &spec.Enough, "per_worker,omitempty", &spec.PerWorker, "checks,omitempty", &spec.Checks, "known_tasks,omitempty", jsonform.As( // what is known of them is not told
			func() []uint32 { return slices.Sorted(maps.Keys(spec.Known)) },
			func(list []uint32) { spec.Known = hiddenKnown(list) }),
		"training_tasks,omitempty", &spec.Lessons, // of the known ones
		"checked,omitempty", jsonform.List(&b.Checked, func(x *engine.CheckSnapshot) jsonform.Form {
			return jsonform.Object("task", &x.N, "worker", number(&x.Worker), "counted,omitempty", &x.Counted, "right,omitempty", &x.Right)
		}), "not_by,omitempty", &spec.NotBy,
		"paused_by_rule,omitempty", jsonform.As(func() []int64 { return paused(b) }, func(people []int64) { pause(b, people) }),
		"weights,omitempty", jsonform.As( // of answers, in hundredths, by worker
			func() map[int64]int { return weights(b) },
			func(of map[int64]int) { weigh(b, of) }),
		"invited,omitempty", jsonform.As(
			func() map[int64][]uint32 { return keyed[int64](spec.Invited) },
			func(by map[int64][]uint32) { spec.Invited = keyed[crowd.WorkerID](by) }),
		"fresh", &p.Fresh, "issued", &p.Issued, "oldest_open", &p.OldestOpen, "planned", &p.Planned, "completed", &p.Completed, "labelled", &p.Labelled, "certainty,omitempty", &p.Certainty,
		"labels_taken_over,omitempty", &p.TakenOver.Labels, "certainty_taken_over,omitempty", &p.TakenOver.Certainty,
		"total,omitempty", &p.Total,
		"escrow_micros,omitempty", s.money(&p.Escrow), "spent_micros,omitempty", s.money(&p.Spent), "worked_seconds", inSeconds(&p.Worked),
		"launched_at", &p.LaunchedAt, "first_started,omitempty", &p.FirstStarted, "labelled_tasks,omitempty", &b.Labelled,
		"removed_tasks,omitempty", &b.Removed,
		"past_rewards,omitempty", jsonform.List(&b.Past, func(x *engine.PastReward) jsonform.Form {
			return jsonform.Object("last", &x.Last, "reward_micros", &x.Reward)
		}),
		"sla,omitempty", jsonform.As(func() *terms { return (*terms)(spec.SLA) }, func(t *terms) { spec.SLA = (*engine.Terms)(t) }),
		"excluded,omitempty", jsonform.As( // workers by task
			func() map[uint32][]int64 { return numbers(b.NotBy) },
			func(by map[uint32][]int64) { b.NotBy = workers(by) }),
		"gave,omitempty", jsonform.As( // counted answers by worker
			func() map[int64]int { return renamed[int64](b.Gave) },
			func(by map[int64]int) { b.Gave = renamed[crowd.WorkerID](by) }),
		// Of tasks without a label; items are there with an SLA.
		"items,omitempty", jsonform.List(&b.Items, func(x *engine.ItemSnapshot) jsonform.Form {
			return jsonform.Object("task", &x.N, "born", &x.Born, "class,omitempty", &x.Class, "bound,omitempty", &x.Bound)
		}),
		"assignments,omitempty", jsonform.List(&b.Assignments, func(a *engine.AssignmentSnapshot) jsonform.Form { return assignmentForm(spec.ID, a) }),
	)
}

// amount is a sum of money, which is left out of a state without money.
type amount struct {
	of *State
	at *crowd.Money
}

func (s *State) money(at *crowd.Money) any { return amount{s, at} }

// IsZero reports whether it is left out.
func (a amount) IsZero() bool { return a.of.NoMoney }

// MarshalJSON implements json.Marshaler.
func (a amount) MarshalJSON() ([]byte, error) { return json.Marshal(a.at) }

// UnmarshalJSON implements json.Unmarshaler.
func (a amount) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, a.at) }

func assignmentForm(of crowd.BatchID, a *engine.AssignmentSnapshot) jsonform.Form {
	return jsonform.Object(
		"n", jsonform.As(func() uint32 { return a.ID.N() }, func(n uint32) { a.ID = of.Assignment(n) }),
		"task", jsonform.As(func() uint32 { return a.Task.N() }, func(n uint32) { a.Task = of.Task(n) }),
		"worker", number(&a.Worker), "state", &a.State, "at", &a.At, "expires", &a.Expires, "answered_at,omitempty", &a.AnsweredAt,
		// Equal answers to a task have equal numbers: Hide has made their keys these.
		"answer,omitempty", jsonform.As(func() int { n, _ := strconv.Atoi(a.Key); return n }, func(n int) {
			if n > 0 {
				a.Key = strconv.Itoa(n)
			}
		}),
		"late,omitempty", &a.Late, "counted,omitempty", &a.Counted, "disregarded,omitempty", &a.Disregarded, "paid_micros,omitempty", &a.Paid,
	)
}

// gate is the pool's gate, of a snapshot that has one.
type gate struct {
	min, max int
	open     bool
}

func gateOf(x *engine.Snapshot) *gate {
	if !x.Gate.On {
		return nil
	}
	return &gate{x.Gate.Min, x.Gate.Max, x.GateOpen}
}

func (g *gate) form() jsonform.Form {
	return jsonform.Object("min,omitempty", &g.min, "max,omitempty", &g.max, "open,omitempty", &g.open)
}

func (g *gate) MarshalJSON() ([]byte, error)    { return g.form().MarshalJSON() }
func (g *gate) UnmarshalJSON(text []byte) error { return g.form().UnmarshalJSON(text) }

// terms are an SLA in JSON.
type terms engine.Terms

func (t *terms) form() jsonform.Form {
	return append(penaltyForm(&t.Penalty), jsonform.Object(
		"tail_seconds", inSeconds(&t.Tail), "work_seconds,omitempty", inSeconds(&t.Work), "other_classes,omitempty", jsonform.List(&t.Others, penaltyForm),
	)...)
}

func penaltyForm(p *sla.Penalty) jsonform.Form {
	return jsonform.Object(
		"penalty", &p.Kind, "after_seconds", inSeconds(&p.After), "cost_micros", &p.Cost,
		"every_seconds,omitempty", inSeconds(&p.Every), "at_most_micros,omitempty", &p.AtMost,
	)
}

// MarshalJSON implements json.Marshaler.
func (t *terms) MarshalJSON() ([]byte, error) { return t.form().MarshalJSON() }

// UnmarshalJSON implements json.Unmarshaler. Earlier programs wrote two names with
// ",omitempty" in them, which are read as well.
func (t *terms) UnmarshalJSON(text []byte) error {
	return t.form().With("work_seconds,omitempty", inSeconds(&t.Work)).With("other_classes,omitempty", jsonform.List(&t.Others, penaltyForm)).UnmarshalJSON(text)
}

func (o *Observed) form() jsonform.Form {
	return jsonform.Object(
		"since", &o.Since, "present", jsonform.List(&o.Present, func(p *Person) jsonform.Form {
			return jsonform.Object("worker", number(&p.Worker), "chance", &p.Chance)
		}),
		"arrivals", &o.Arrivals, "away_seconds", inSeconds(&o.Away), "departures", &o.Departures, "presence_seconds", inSeconds(&o.Presence),
		"hand_outs", &o.HandOuts, "given_up", &o.GivenUp, "lost", &o.Lost, "answers", &o.Answers,
	)
}

// MarshalJSON implements json.Marshaler.
func (o *Observed) MarshalJSON() ([]byte, error) { return o.form().MarshalJSON() }

// UnmarshalJSON implements json.Unmarshaler.
func (o *Observed) UnmarshalJSON(text []byte) error {
	o.Answers = map[crowd.BatchID]Answers{}
	return o.form().UnmarshalJSON(text)
}

func (a *Answers) form() jsonform.Form {
	return jsonform.Object("n", &a.N, "log_mean", &a.LogMean, "log_sd", &a.LogSD, "by,omitempty", jsonform.List(&a.By, func(p *Part) jsonform.Form {
		return jsonform.Object("worker", number(&p.Worker), "n", &p.N, "log_mean", &p.LogMean, "log_sd", &p.LogSD)
	}))
}

// MarshalJSON implements json.Marshaler.
func (a Answers) MarshalJSON() ([]byte, error) { return a.form().MarshalJSON() }

// UnmarshalJSON implements json.Unmarshaler.
func (a *Answers) UnmarshalJSON(text []byte) error { return a.form().UnmarshalJSON(text) }

// number is a worker as a number.
func number(w *crowd.WorkerID) any {
	return jsonform.As(func() int64 { return int64(*w) }, func(n int64) { *w = crowd.WorkerID(n) })
}

// inSeconds is a duration in seconds. What does not fit is read as negative, which
// nothing may be.
func inSeconds(d *time.Duration) any {
	return jsonform.As(d.Seconds, func(s float64) {
		if *d = -1; math.Abs(s) < (math.MaxInt64/2)/float64(time.Second) {
			*d = time.Duration(math.Round(s * float64(time.Second)))
		}
	})
}

// keyed is a map by another type of number; nil for nil.
func keyed[To, From ~int64](by map[From][]uint32) map[To][]uint32 {
	if by == nil {
		return nil
	}
	out := make(map[To][]uint32, len(by))
	for n, list := range by {
		out[To(n)] = list
	}
	return out
}

// numbers and workers turn lists of workers into lists of numbers, and back; nil for nil.
func numbers(by map[uint32][]crowd.WorkerID) map[uint32][]int64 {
	return mapped(by, func(w crowd.WorkerID) int64 { return int64(w) })
}

func workers(by map[uint32][]int64) map[uint32][]crowd.WorkerID {
	return mapped(by, func(n int64) crowd.WorkerID { return crowd.WorkerID(n) })
}

func mapped[From, To any](by map[uint32][]From, f func(From) To) map[uint32][]To {
	if by == nil {
		return nil
	}
	out := make(map[uint32][]To, len(by))
	for n, list := range by {
		out[n] = lists.Map(list, f)
	}
	return out
}

// renamed is a map by another type of number; nil for nil.
func renamed[To, From ~int64](by map[From]int) map[To]int {
	if by == nil {
		return nil
	}
	out := make(map[To]int, len(by))
	for n, x := range by {
		out[To(n)] = x
	}
	return out
}
