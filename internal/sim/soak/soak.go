// Package soak looks for what nobody thought of: it draws worlds from seeds,
// with every habit, fault and policy that there is, runs them with all checks on,
// and names the seed that breaks something. The seed replays exactly.
package soak

import (
	"context"
	"fmt"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/sched"
)

// Options says how long to look.
type Options struct {
	Seed     uint64 // of the first world; the others follow
	Rounds   int
	Progress func(done int) // may be nil
}

// A Result says what was looked at, and what was found.
type Result struct {
	Worlds   int    `json:"worlds"`
	Seed     uint64 `json:"seed"`
	HandOuts int64  `json:"hand_outs"`
	Answers  int64  `json:"answers"`
	Labels   int64  `json:"labels"`
	Expired  int64  `json:"expired"`
	GivenUp  int64  `json:"given_up"`
	Late     int64  `json:"late"`
	// Failed is the seed of the world that broke, and Problem what broke; nil
	// and "" if none did.
	Failed  *uint64 `json:"failed"`
	Problem string  `json:"problem,omitempty"`
}

// failure is the error of a world that broke.
type failure struct {
	seed uint64
	err  error
}

func (f *failure) Error() string { return f.err.Error() }

// Run runs worlds until one breaks. The error is the context's.
func Run(ctx context.Context, o Options) (*Result, error) {
	list, err := sim.Sweep(ctx, o.Rounds, func(i int) (*sim.Outcome, error) {
		seed := o.Seed + uint64(i)
		out, err := World(seed)
		if err != nil {
			return nil, &failure{seed, err}
		}
		return out, nil
	}, o.Progress)
	r := &Result{Seed: o.Seed, Worlds: o.Rounds}
	if f, broke := err.(*failure); broke {
		r.Failed, r.Problem = &f.seed, f.err.Error()
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	for _, out := range list {
		r.HandOuts += out.HandOuts
		r.Answers += out.Answers
		r.Labels += out.Labels
		r.Expired += out.Expired
		r.GivenUp += out.GivenUp
		r.Late += out.Late
	}
	return r, nil
}

// World draws the world of a seed and runs it, all checks on.
func World(seed uint64) (*sim.Outcome, error) {
	d := draw{sim.NewStream(seed, 0, "soak").At(0)}
	s := d.setup()
	run := sim.Run{Setup: s, Policy: d.policy(), Seed: seed, Check: true, Record: sim.Record{Samples: 16, Allocation: d.chance(0.5), Finished: true}}
	out, err := run.Do()
	if err != nil {
		return nil, err
	}
	return out, conserved(out)
}

// conserved checks the totals of a run against each other.
func conserved(o *sim.Outcome) error {
	answers, running, labels := int64(0), 0, int64(0)
	for i := range o.Batches {
		b := &o.Batches[i]
		answers += int64(b.Answers)
		running += b.Running
		labels += int64(b.Labelled)
		if b.Completed >= 0 && b.Running != 0 {
			return fmt.Errorf("%s ended and %d people still hold tasks of it", b.Name, b.Running)
		}
		if b.Answers > b.Planned {
			return fmt.Errorf("%s has %d answers of %d", b.Name, b.Answers, b.Planned)
		}
	}
	switch {
	case answers != o.Answers:
		return fmt.Errorf("%d answers count in the batches, %d in all", answers, o.Answers)
	case labels != o.Labels:
		return fmt.Errorf("%d labels in the batches, %d in all", labels, o.Labels)
	case o.HandOuts < o.Answers+o.GivenUp:
		return fmt.Errorf("%d hand-outs came to %d answers and %d given up", o.HandOuts, o.Answers, o.GivenUp)
	case o.Crowd.Worked+o.Crowd.Waited > o.Crowd.Present:
		return fmt.Errorf("people worked %s and waited %s of %s", o.Crowd.Worked, o.Crowd.Waited, o.Crowd.Present)
	}
	return nil
}

// draw takes a world apart into choices.
type draw struct{ sim.Rand }

func (d *draw) chance(p float64) bool { return d.Float64() < p }

func (d *draw) between(lo, hi int) int { return lo + d.IntN(hi-lo+1) }

func (d *draw) upTo(f float64) float64 { return f * d.Float64() }

func (d *draw) seconds(lo, hi int) time.Duration {
	return time.Duration(d.between(lo*1000, hi*1000)) * time.Millisecond
}

func pick[T any](d *draw, of ...T) T { return of[d.IntN(len(of))] }

// maybe returns a distribution of some mean, or none.
func (d *draw) maybe(p, mean float64) sim.Dist {
	if !d.chance(p) {
		return nil
	}
	return d.dist(mean)
}

func (d *draw) dist(mean float64) sim.Dist {
	switch d.IntN(5) {
	case 0:
		return sim.Constant(mean)
	case 1:
		return sim.Exponential(mean)
	case 2:
		return sim.Uniform{Min: 0, Max: 2 * mean}
	case 3:
		e, _ := sim.NewEmpirical([]float64{mean / 2, mean, mean, 2 * mean}) // four finite values
		return e
	}
	return sim.LogNormalByMean(mean, mean*d.Float64())
}

func (d *draw) setup() *sim.Setup {
	s := &sim.Setup{Horizon: d.seconds(60, 4000)}
	for i := range d.between(1, 3) {
		s.Tenants = append(s.Tenants, sim.Tenant{Name: fmt.Sprint("tenant ", i), Weight: pick(d, 1, 2, 0.5)})
	}
	for i := range d.between(1, 3) {
		s.Kinds = append(s.Kinds, d.kind(i))
	}
	for i := range d.between(1, 3) {
		s.Groups = append(s.Groups, d.group(i))
	}
	for i := range d.between(1, 6) {
		b := d.batch(s, fmt.Sprint("batch ", i))
		b.Tasks, b.At = d.between(1, 40), d.seconds(0, 300)
		s.Batches = append(s.Batches, b)
	}
	if d.chance(0.5) {
		f := sim.Flow{
			Batch: d.batch(s, "flow"), Size: sim.Zipf{A: 1.5 + d.upTo(1.5), Max: 50},
			Arrive: sim.Arrivals{Rate: 20 + d.upTo(200), Count: d.between(1, 25)},
		}
		if d.chance(0.6) {
			f.Alpha = &sim.AlphaRule{Share: d.Float64(), Alpha: d.upTo(2), Workers: d.between(1, 50), Service: 1 + d.upTo(30), Form: pick(d, sim.AlphaCode, sim.AlphaPaper)}
		}
		s.Flows = append(s.Flows, f)
	}
	for range d.IntN(3) {
		f := sim.Fault{At: d.seconds(1, 1500)}
		switch d.IntN(3) {
		case 0:
			f.Vanish = d.Float64()
		case 1:
			f.Policy = d.policy()
		case 2:
			f.Stop = d.seconds(1, 300)
		}
		s.Faults = append(s.Faults, f)
	}
	return s
}

func (d *draw) kind(i int) sim.Kind {
	k := sim.Kind{
		Name: fmt.Sprint("kind ", i), Service: d.dist(1 + d.upTo(40)),
		SwitchFactor: pick(d, 0, 1, 1.5), SwitchTime: d.maybe(0.3, 3), Learning: pick(d, 0, 0, 0.2),
		Skip: pick(d, 0, 0, d.upTo(0.2)), Return: pick(d, 0, 0, d.upTo(0.05)), Vanish: pick(d, 0, 0, d.upTo(0.05)),
		Silent: pick(d, 0, 0, 0.5), GiveUpAfter: d.maybe(0.3, 4), Accuracy: pick(d, 0, 0.6, 0.9),
	}
	if d.chance(0.6) {
		k.Answers = []string{"a", "b", "c"}[:d.between(1, 3)]
	}
	return k
}

func (d *draw) group(i int) sim.Group {
	g := sim.Group{
		Name: fmt.Sprint("group ", i), Session: d.maybe(0.5, 300), Patience: d.maybe(0.3, 60), Pause: d.maybe(0.3, 5), Speed: d.maybe(0.3, 1),
	}
	switch d.IntN(4) {
	case 0:
		g.Arrive = sim.Arrivals{Count: d.between(1, 15), From: d.seconds(0, 100)}
	case 1:
		g.Arrive = sim.Arrivals{Rate: 20 + d.upTo(300), Count: d.between(1, 30)}
	case 2:
		g.Arrive = sim.Arrivals{Times: []time.Duration{time.Second, time.Second, time.Minute}}
	case 3:
		least := d.between(1, 5)
		g.Arrive = sim.Arrivals{Rate: 60 + d.upTo(1000), Min: least, Max: least + d.IntN(5), Count: 60}
	}
	if d.chance(0.5) {
		g.Qualifications = map[string]int{"english": d.between(0, 100)}
	}
	return g
}

func (d *draw) batch(s *sim.Setup, name string) sim.Batch {
	b := sim.Batch{
		Name: name, Tenant: d.IntN(len(s.Tenants)), Kind: d.IntN(len(s.Kinds)), Priority: pick(d, 0, 0.5, 3),
		Rule:   pick(d, label.Rule{}, label.Count(1), label.Count(3), label.Agree(2, 3), label.Agree(2, 5)),
		Reward: pick[crowd.Money](d, 0, 1, 50_000), Lease: pick(d, 0, d.seconds(1, 60)), Production: d.chance(0.4),
	}
	if d.chance(0.4) {
		b.Deadline = d.seconds(1, 1000)
	}
	if d.chance(0.15) {
		b.Lifetime = d.seconds(10, 1500)
	}
	if d.chance(0.2) {
		b.Requires = map[string]int{"english": d.between(0, 100)}
	}
	return b
}

// policy draws any policy, wrapped or not.
func (d *draw) policy() string {
	names := append(sched.Names(), "market", "market(stay=0.2,size=0.5)", "laxity(share=0.5,pace=2)", "beta-fair(beta=2)", "beta-fair(beta=inf,x=fs)")
	name := names[d.IntN(len(names))]
	if len(name) >= 6 && name[:6] == "market" {
		return name // exists only by itself
	}
	switch d.IntN(5) {
	case 0:
		return fmt.Sprintf("wcfs(%s,k=%d)", name, d.IntN(4))
	case 1:
		return fmt.Sprintf("tenant-fair(%s)", name)
	}
	return name
}
