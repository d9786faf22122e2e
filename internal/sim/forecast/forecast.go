package forecast

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/instant"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/sim"
)

// Options are what to forecast, and how much to spend on it.
type Options struct {
	Policies []string // in addition to the pool's own, which comes first
	Reps     int      // 0: 200, or as many as the budget allows, at least MinReps
	Seed     uint64
	// Horizon is how far to look. 0: DefaultHorizon, or until the last deadline
	// of a batch if that is later, at most MaxHorizon.
	Horizon time.Duration
	Budget  int64 // simulated assignments, over all repetitions; 0: DefaultBudget
	Cores   int   // at a time; 0: all
	// Progress, which may be nil, is called with how many runs of how many have ended;
	// from several goroutines.
	Progress func(ended, of int)
}

// Defaults and bounds.
const (
	DefaultReps    = 200
	MinReps        = 10
	MaxReps        = 100_000
	DefaultBudget  = 3_000_000
	DefaultHorizon = 24 * time.Hour
	MaxHorizon     = 14 * 24 * time.Hour
	longestHorizon = 366 * 24 * time.Hour
	// maxArrivals bounds how often people come in a repetition, whatever the
	// budget: each is kept in memory while it lasts.
	maxArrivals = 5_000_000
)

// Result is a forecast of a pool.
type Result struct {
	Pool     crowd.PoolID `json:"pool"`
	At       time.Time    `json:"at"`      // the state's time
	Horizon  time.Time    `json:"horizon"` // nothing was looked at beyond
	Policies []string     `json:"policies"`
	Reps     int          `json:"reps"`
	Seed     uint64       `json:"seed"`
	Cycles   int64        `json:"cycles"` // simulated assignments
	Basis    Basis        `json:"basis"`
	Batches  []Batch      `json:"batches"` // in order of id
}

// Batch is what is expected of a batch.
type Batch struct {
	ID       crowd.BatchID    `json:"id"`
	Name     string           `json:"name"`
	State    crowd.BatchState `json:"state"`
	Stopped  bool             `json:"stopped,omitempty"`
	Left     int              `json:"left"` // answers
	Deadline time.Time        `json:"deadline,omitzero"`
	Answer   float64          `json:"answer_s"` // seconds, on average
	Answers  int              `json:"answers"`  // that this is known from, with the requester's estimate
	Finish   []Finish         `json:"finish"`   // by policy
}

// Finish is when a batch will be done under a policy. Of ten repetitions, eight
// end from Low to High. A zero time is one after the horizon.
type Finish struct {
	Policy     string    `json:"policy"`
	Low        time.Time `json:"low,omitzero"`
	Median     time.Time `json:"median,omitzero"`
	High       time.Time `json:"high,omitzero"`
	LowIn      *float64  `json:"low_s"` // from now, in seconds
	MedianIn   *float64  `json:"median_s"`
	HighIn     *float64  `json:"high_s"`
	Unfinished float64   `json:"unfinished"` // share of repetitions that had not ended at the horizon
	Chance     *Chance   `json:"chance,omitempty"`
}

// Chance is the probability to meet the deadline, with the 95 % interval that
// the number of repetitions leaves (Wilson 1927).
type Chance struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Basis is what a forecast rests on.
type Basis struct {
	Since          time.Time `json:"since"`
	Members        int       `json:"members"`        // of the pool, not suspended
	Present        float64   `json:"present"`        // people who are there, as expected
	Gone           float64   `json:"gone"`           // people who hold a task and are away from it, as expected
	PerHour        float64   `json:"per_hour"`       // people who come, if all were away
	SessionSeconds float64   `json:"session_s"`      // how long people stay, on average
	Arrivals       float64   `json:"arrivals"`       // seen
	Departures     float64   `json:"departures"`     // seen
	RecentHandOuts int       `json:"recent_answers"` // hand-outs that ended since then
	GivenUp        int       `json:"given_up"`
	Lost           int       `json:"lost"`
	ToldApart      int       `json:"told_apart"`   // people whose own speed is estimated
	SpeedSpread    float64   `json:"speed_spread"` // standard deviation between people of ln(seconds for an answer)
}

// ArrivalsSince is from when arrivals are counted, at most now: whoever is seen
// before may have been there all the time.
func (b *Basis) ArrivalsSince(now time.Time) time.Time { return instant.Earlier(now, b.Since.Add(Gap)) }

// Early is how many people were seen before arrivals are counted: those who are
// there, or away with a task, are these and those who came, less those who left.
func (b *Basis) Early() float64 { return max(b.Present+b.Gone+b.Departures-b.Arrivals, 0) }

// Rough costs, in assignments, of what a repetition does besides them.
const (
	costOfWorker     = 0.25 // to be restored
	costOfAssignment = 0.5  // the same
	costOfBatch      = 4
	costOfPart       = 0.5 // a person's answers to a batch, to draw their speed from
)

// Forecast runs the pool on from its state. The same state, options but for
// Cores, and seed give the same result. A pool that is too big for the budget
// is refused with TooLarge.
func Forecast(ctx context.Context, s *State, o Options) (*Result, error) {
	policies, err := policyNames(s.Policy, o.Policies)
	if err != nil {
		return nil, err
	}
	horizon, err := o.horizon(s)
	if err != nil {
		return nil, err
	}
	m := newModel(s, horizon)
	res := &Result{
		Pool: s.Pool, At: s.Now, Horizon: s.Now.Add(horizon), Policies: policies, Seed: o.Seed, Basis: s.Basis(), Batches: m.results(),
	}
	res.Basis.Gone = min(m.gone(), res.Basis.Present)
	res.Basis.Present -= res.Basis.Gone
	res.Basis.ToldApart, res.Basis.SpeedSpread = len(m.speeds.ids), math.Sqrt(m.speeds.between)
	if len(res.Batches) == 0 {
		return res, nil
	}
	if n := res.Basis.PerHour * horizon.Hours(); n > maxArrivals {
		return nil, crowd.Errorf(crowd.TooLarge, "the pool is too big to forecast so far ahead: people would come %s times until %s, and the bound is %s", round(n), res.Horizon.UTC().Format(time.RFC3339), round(maxArrivals))
	}
	if res.Reps, err = o.reps(m.cost() * float64(len(policies))); err != nil {
		return nil, err
	}
	ends, err := m.run(ctx, res, o)
	if err != nil {
		return nil, err
	}
	for i := range res.Batches {
		for p, policy := range policies {
			times := make([]time.Duration, 0, res.Reps)
			for rep := range res.Reps {
				times = append(times, ends[p*res.Reps+rep][i])
			}
			res.Batches[i].Finish = append(res.Batches[i].Finish, res.finish(policy, res.Batches[i].Deadline, times))
		}
	}
	return res, nil
}

// policyNames returns the names of the pool's policy and of others, each once.
func policyNames(own string, others []string) ([]string, error) {
	var names []string
	for _, text := range append([]string{own}, others...) {
		p, err := sim.ParsePolicy(text)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(names, p.Name()) {
			names = append(names, p.Name())
		}
	}
	return names, nil
}

func (o *Options) horizon(s *State) (time.Duration, error) {
	switch {
	case o.Horizon < 0 || o.Horizon > longestHorizon:
		return 0, crowd.Fieldf("horizon", "%s is not between 0 and %s", o.Horizon, longestHorizon)
	case o.Horizon > 0:
		return o.Horizon, nil
	}
	horizon := DefaultHorizon
	for i := range s.Snapshot.Batches {
		if d := s.Snapshot.Batches[i].Progress.Deadline; !d.IsZero() {
			horizon = max(horizon, d.Sub(s.Now)+time.Minute)
		}
	}
	return min(horizon, MaxHorizon), nil
}

// reps returns how many repetitions there are to be, at a cost for each.
func (o *Options) reps(cost float64) (int, error) {
	budget := float64(cmp.Or(o.Budget, DefaultBudget))
	switch {
	case o.Reps < 0 || o.Reps > MaxReps:
		return 0, crowd.Fieldf("reps", "%d is not between 1 and %d", o.Reps, MaxReps)
	case cost*MinReps > budget:
		return 0, crowd.Errorf(crowd.TooLarge, "the pool is too big to forecast: %d repetitions would simulate %s assignments, and the bound is %s", MinReps, round(cost*MinReps), round(budget))
	}
	return int(min(float64(cmp.Or(o.Reps, DefaultReps)), max(budget/cost, MinReps))), nil
}

func round(f float64) string { return fmt.Sprintf("%.2g million", f/1e6) }

// cost is what a repetition costs, in assignments.
func (m *model) cost() float64 {
	work, fastest, restore := 0.0, math.Inf(1), costOfWorker*float64(len(m.snapshot.Workers))+costOfPart*float64(len(m.speeds.cells))
	known := m.speeds.expected()
	for i := range m.snapshot.Batches {
		b := &m.snapshot.Batches[i]
		if b.Progress.State == crowd.BatchRunning {
			work += float64(left(&b.Progress)) / (1 - m.lost - m.giveUp)
		}
		fastest = min(fastest, m.usual(i, &known))
		restore += costOfBatch + costOfAssignment*float64(len(b.Assignments))
	}
	// No more is done than people can do; half as much again, to be sure.
	basis := m.state.Basis()
	each := basis.PerHour * basis.SessionSeconds / 3600 / max(float64(basis.Members), 1) // coming against leaving
	there := max(basis.Present, float64(basis.Members)*each/(1+each))
	quick := 1 / m.speeds.usual() // answers in the time of one of somebody of usual speed, on average
	for _, p := range m.state.Observed.Present {
		quick = max(quick, math.Exp(-known.of(p.Worker)))
	}
	fastest *= 1 - m.giveUp + m.giveUp*giveUpAfter
	most := 1.5 * (there + 1) * quick * m.horizon.Seconds() / fastest
	return min(work, most) + restore + basis.PerHour*m.horizon.Hours()
}

// run runs every repetition under every policy and returns when each batch
// ended, or -1.
func (m *model) run(ctx context.Context, res *Result, o Options) ([][]time.Duration, error) {
	runs := len(res.Policies) * res.Reps
	ends := make([][]time.Duration, runs)
	cores := min(cmp.Or(o.Cores, runtime.GOMAXPROCS(0)), runs)
	var ended, cycles atomic.Int64
	_, err := sim.Sweep(ctx, cores, func(first int) (struct{}, error) {
		for i := first; i < runs; i += cores {
			if err := ctx.Err(); err != nil {
				return struct{}{}, err
			}
			// A repetition is the same world under each policy.
			policy, rep := res.Policies[i/res.Reps], i%res.Reps
			setup, start := m.draw(o.Seed, rep)
			out, err := (&sim.Run{Setup: setup, Policy: policy, Seed: o.Seed, Rep: rep, Start: start}).DoContext(ctx)
			if err != nil {
				return struct{}{}, err
			}
			ends[i] = make([]time.Duration, len(res.Batches))
			for k := range ends[i] {
				ends[i][k] = out.Batches[k].Completed
			}
			cycles.Add(out.HandOuts)
			n := ended.Add(1)
			if o.Progress != nil {
				o.Progress(int(n), runs)
			}
		}
		return struct{}{}, nil
	}, nil)
	res.Cycles = cycles.Load()
	return ends, err
}

// results lists the batches, without what is expected of them.
func (m *model) results() []Batch {
	list := make([]Batch, 0, len(m.snapshot.Batches))
	for i := range m.snapshot.Batches {
		spec, p := &m.snapshot.Batches[i].Spec, &m.snapshot.Batches[i].Progress
		list = append(list, Batch{
			ID: spec.ID, Name: m.state.Batches[spec.ID], State: p.State, Stopped: p.Stopped, Left: left(p), Deadline: p.Deadline,
			Answer: m.paces[i].Mean.Seconds(), Answers: p.Completed,
		})
	}
	return list
}

// Basis returns what a forecast of the state rests on. Who holds a task counts as there.
func (s *State) Basis() Basis {
	o := &s.Observed
	b := Basis{
		Since: o.Since, Arrivals: o.Arrivals, Departures: o.Departures,
		SessionSeconds: (guessedSession + o.Presence).Seconds() / (1 + o.Departures),
		RecentHandOuts: o.HandOuts, GivenUp: o.GivenUp, Lost: o.Lost,
		Members: lists.Count(s.Snapshot.Workers, func(w engine.Worker) bool { return !w.Suspended }),
		Present: lists.Sum(o.Present, func(p Person) float64 { return p.Chance }) + float64(s.heldLong()),
	}
	b.PerHour = float64(b.Members) * (guessedReturns + o.Arrivals) / (guessedReturns*guessedAway.Hours() + o.Away.Hours())
	return b
}

// heldLong is how many people hold a task that they were given before anybody
// was looked at: there is no other sign of them.
func (s *State) heldLong() int {
	seen := make(map[crowd.WorkerID]bool, len(s.Observed.Present))
	for _, p := range s.Observed.Present {
		seen[p.Worker] = true
	}
	for _, w := range s.Snapshot.Workers {
		seen[w.ID] = seen[w.ID] || w.Suspended
	}
	n := 0
	for i := range s.Snapshot.Batches {
		for k := range s.Snapshot.Batches[i].Assignments {
			a := &s.Snapshot.Batches[i].Assignments[k]
			if a.State == crowd.Assigned && a.At.Before(s.Observed.Since) && !seen[a.Worker] {
				seen[a.Worker] = true
				n++
			}
		}
	}
	return n
}

// finish sums up when a batch ended in all repetitions.
func (r *Result) finish(policy string, deadline time.Time, ends []time.Duration) Finish {
	f := Finish{Policy: policy}
	inTime, unfinished := 0, 0
	for i, end := range ends {
		if end < 0 {
			unfinished++
			ends[i] = math.MaxInt64
			continue
		}
		inTime += btoi(!r.At.Add(end).After(deadline))
	}
	slices.Sort(ends)
	set := func(q float64, at *time.Time, in **float64) {
		if d := quantile(ends, q); d < math.MaxInt64 {
			seconds := d.Seconds()
			*at, *in = r.At.Add(d).Truncate(time.Millisecond), &seconds
		}
	}
	set(0.1, &f.Low, &f.LowIn)
	set(0.5, &f.Median, &f.MedianIn)
	set(0.9, &f.High, &f.HighIn)
	f.Unfinished = float64(unfinished) / float64(len(ends))
	if !deadline.IsZero() && (unfinished == 0 || !deadline.After(r.Horizon)) {
		f.Chance = chance(inTime, len(ends))
	}
	return f
}

// quantile returns the value below which another draw from the same
// distribution is with probability q: order statistic q(n+1), between two of
// them by interpolation. MaxInt64 stands for later than anything.
func quantile(sorted []time.Duration, q float64) time.Duration {
	at := min(max(q*float64(len(sorted)+1)-1, 0), float64(len(sorted)-1))
	i := int(at)
	part := at - float64(i)
	switch {
	case part == 0 || i+1 == len(sorted):
		return sorted[i]
	case sorted[i+1] == math.MaxInt64:
		return math.MaxInt64
	}
	return sorted[i] + time.Duration(part*float64(sorted[i+1]-sorted[i]))
}

// chance estimates a probability from k of n, with Wilson's 95 % interval.
func chance(k, n int) *Chance {
	const z = 1.959964
	p, m := float64(k)/float64(n), float64(n)
	middle := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return &Chance{Value: p, Low: max(middle-half, 0), High: min(middle+half, 1)}
}
