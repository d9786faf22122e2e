package soak

import (
	"fmt"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/sched"
)

// drawn is the run of a seed.
func drawn(seed uint64) *sim.Run {
	d := draw{sim.NewStream(seed, 0, "soak").At(0)}
	s := d.setup()
	checks := draw{sim.NewStream(seed, 0, "soak checks").At(0)} // apart, so that all else of a seed stays as it was
	checks.checks(s)
	return &sim.Run{
		Setup: s, Policy: d.policy(), Seed: seed, Rep: pick(&d, 0, 0, 3), Check: true,
		Record: sim.Record{Samples: d.between(4, 40), Allocation: d.chance(0.5), Finished: true},
	}
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
	if d.chance(0.1) {
		s.Horizon = 0 // until nothing is left to do
	}
	if d.chance(0.2) {
		s.Classes = []sim.Class{{Name: "few", Most: d.between(1, 10)}, {Name: "many"}}
	}
	for i := range d.between(1, 3) {
		s.Tenants = append(s.Tenants, sim.Tenant{Name: fmt.Sprint("tenant ", i), Weight: pick(d, 1, 2, 0.5)})
	}
	for i := range d.between(1, 3) {
		s.Kinds = append(s.Kinds, d.kind(i))
	}
	for i := range d.between(1, 3) {
		s.Groups = append(s.Groups, d.group(i, s.Kinds))
	}
	for i := range d.between(1, 6) {
		b := d.batch(s, fmt.Sprint("batch ", i))
		b.Tasks, b.At = d.between(1, 40), d.seconds(0, 300)
		s.Batches = append(s.Batches, b)
	}
	if d.chance(0.5) {
		f := sim.Flow{
			Batch: d.batch(s, "flow"), Size: sim.Zipf{A: 1.5 + d.upTo(1.5), Max: 50},
			Arrive: d.arrivals(25),
		}
		if d.chance(0.6) {
			f.Alpha = &sim.AlphaRule{Share: d.Float64(), Alpha: d.upTo(2), Workers: d.between(1, 50), Service: 1 + d.upTo(30), Form: pick(d, sim.AlphaCode, sim.AlphaPaper)}
		}
		s.Flows = append(s.Flows, f)
	}
	for range d.IntN(3) {
		f := sim.Fault{At: d.seconds(1, 1500)}
		which := d.between(1, 7) // one of them, or several at once
		if which&1 != 0 {
			f.Vanish = d.Float64()
		}
		if which&2 != 0 {
			f.Policy = d.policy()
		}
		if which&4 != 0 {
			f.Stop = d.seconds(1, 300)
		}
		s.Faults = append(s.Faults, f)
	}
	if d.chance(0.2) {
		least := d.between(1, 5)
		s.Gate = engine.Gate{On: true, Min: least, Max: pick(d, 0, least, least+3)}
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
	if len(k.Answers) > 1 && d.chance(0.4) {
		for range k.Answers {
			k.Confusion = append(k.Confusion, d.shares(len(k.Answers)))
		}
	}
	return k
}

// shares are n figures that sum to 1.
func (d *draw) shares(n int) []float64 {
	list, sum := make([]float64, n), 0.0
	for i := range list {
		list[i] = d.Float64()
		sum += list[i]
	}
	for i := range list {
		list[i] /= sum
	}
	return list
}

// arrivals draws when people or batches come, in every way but that of a band.
func (d *draw) arrivals(most int) sim.Arrivals {
	switch d.IntN(3) {
	case 0:
		return sim.Arrivals{Count: d.between(1, most), From: d.seconds(0, 100)}
	case 1:
		times := []time.Duration{time.Second, time.Second, time.Minute, 5 * time.Minute}
		return sim.Arrivals{Times: times[:d.between(2, len(times))]}
	}
	a := sim.Arrivals{Rate: 20 + d.upTo(300), Count: d.between(1, most)}
	if d.chance(0.2) {
		a.Gap, a.Rate = d.dist(1+d.upTo(10)), 0
	}
	if d.chance(0.5) {
		a.From = d.seconds(1, 300)
	}
	if d.chance(0.5) {
		a.Until = a.From + d.seconds(1, 1000)
		if d.chance(0.5) {
			a.Count = 0 // it is the time that ends it
			if a.Gap == nil {
				a.Rate = min(a.Rate, 100)
			}
		}
	}
	return a
}

func (d *draw) group(i int, kinds []sim.Kind) sim.Group {
	g := sim.Group{
		Name: fmt.Sprint("group ", i), Session: d.maybe(0.5, 300), Patience: d.maybe(0.3, 60), Pause: d.maybe(0.3, 5), Speed: d.maybe(0.3, 1),
	}
	if d.chance(0.75) {
		g.Arrive = d.arrivals(30)
	} else {
		least := d.between(1, 5)
		g.Arrive = sim.Arrivals{Rate: 60 + d.upTo(1000), Min: least, Max: least + d.IntN(5), Count: 60}
	}
	if d.chance(0.3) {
		g.Accuracy = map[string]float64{}
		for _, k := range kinds {
			if d.chance(0.7) {
				g.Accuracy[k.Name] = d.Float64()
			}
		}
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
	if d.chance(0.2) {
		b.TaskTime = d.seconds(1, 100) // right or wrong
	}
	if d.chance(0.15) {
		b.Lifetime = d.seconds(10, 1500)
	}
	if d.chance(0.2) {
		b.Requires = map[string]int{"english": d.between(0, 100)}
	}
	if d.chance(0.1) {
		b.PerWorker = d.between(1, 5)
	}
	if d.chance(0.15) {
		b.Enough = d.enough()
	}
	if len(s.Kinds[b.Kind].Answers) > 1 && d.chance(0.25) {
		b.Rule = label.Until(pick(d, 0.7, 0.95), d.between(1, 2), d.between(2, 6))
	}
	if d.chance(0.15) {
		b.Grace = d.seconds(1, 300)
	}
	return b
}

// checks draws which batches have known tasks among the others, and how often these check people.
func (d *draw) checks(s *sim.Setup) {
	draw := func(b *sim.Batch) {
		if len(s.Kinds[b.Kind].Answers) == 0 || !d.chance(0.2) { // without answers there is nothing to know
			return
		}
		c := engine.Checks{First: pick(d, 0, engine.MinChecks, engine.MaxChecks, 0.05+d.upTo(0.4))}.Completed()
		c.Least = pick(d, c.Least, c.First)
		b.Checks, b.Known = &c, d.between(1, 12)
	}
	for i := range s.Batches {
		draw(&s.Batches[i])
	}
	for i := range s.Flows {
		draw(&s.Flows[i].Batch)
	}
}

// enough draws what ends a batch by itself: one of its figures, or several.
func (d *draw) enough() *engine.Enough {
	x, which := &engine.Enough{}, d.between(1, 15)
	if which&1 != 0 {
		x.Labels = d.between(1, 20)
	}
	if which&2 != 0 {
		x.Share = 0.1 + d.upTo(0.9)
	}
	if which&4 != 0 {
		x.Confidence = 0.1 + d.upTo(0.9)
	}
	if which&8 != 0 {
		x.Spent = crowd.Money(d.between(50_000, 2_000_000))
	}
	return x
}

// policy draws any policy, wrapped or not, and wrapped again.
func (d *draw) policy() string {
	names := append(sched.Names(), "market", "market(stay=0.2,size=0.5)", "laxity(share=0.5,pace=2)", "beta-fair(beta=2)", "beta-fair(beta=inf,x=fs)")
	name := names[d.IntN(len(names))]
	if strings.HasPrefix(name, "market") {
		return name // exists only by itself
	}
	for depth := 0; depth < 3 && d.chance(0.4); depth++ {
		if d.chance(0.5) {
			name = fmt.Sprintf("wcfs(%s,k=%d)", name, d.IntN(4))
		} else {
			name = fmt.Sprintf("tenant-fair(%s)", name)
		}
	}
	return name
}
