package cioppino

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/repro/experiment"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/internal/sim/pools"
	"github.com/throng-dev/throng/pool"
)

// What the Cioppino paper does not say, and what is taken for it. It is chosen
// once for all experiments: no row has a setting of its own.
const (
	apps        = 4
	low, high   = 5.0, 40.0        // people that an application keeps busy, outside and in its rush hour
	controlStep = 10 * time.Second // from one control step to the next
	lookBack    = 30 * time.Second
	training    = 10.0 // mean seconds that somebody learns who comes from another pool
	taskTime    = 20.0 // mean seconds of a generated task
	promise     = 30 * time.Second

	// What it says, for generated workloads: section 6.2.
	abandon = 0.1
	arrive  = 50.0 // 1/r seconds

	traceHorizon     = 20 * time.Minute
	generatedHorizon = 40 * time.Minute
)

// waitSalary is the paper's: $0.05 a minute.
const waitSalary = crowd.Unit / 20

// A system is a way to run the pools: one technique of each kind.
type system struct {
	name                      string
	elastic, stable, balancer string
	start                     int           // as pools.Pool.Start
	wait                      time.Duration // c* by a promise; 0: by η
	least                     float64       // preference for a pool below which nobody is called there
}

// The systems of section 6.3, and ours: best by cost, by throughput and by preference.
var (
	baseline = system{name: "baseline", elastic: "static", stable: "rule-paper", balancer: "none", start: pools.StartMean}
	cioppino = system{name: "Cioppino", elastic: paperGains, stable: "hybrid-paper", balancer: "paper", start: pools.StartOptimal}
	throng   = system{name: "Throng", elastic: "ct-t(kp=0.2)", stable: "hybrid", balancer: "search", start: pools.StartOptimal, wait: promise}
	// quick is the same with the paper's CT-t, which calls more people.
	quick = system{name: "Throng, quick", elastic: paperGains, stable: "hybrid", balancer: "search", start: pools.StartOptimal, wait: promise}
	// reserve calls for the queue that there will be, and lets some of it wait.
	reserve = system{name: "Throng, reserve", elastic: "reserve", stable: "none", balancer: "search", start: pools.StartOptimal, wait: promise}
	// ahead goes where the model says, and keeps waits short.
	ahead = system{name: "Throng, ahead", elastic: "feed-forward(band=0,chance=0)", stable: "none", balancer: "search", start: pools.StartOptimal, wait: promise}
	// choosy calls only those who like the application: one in 150.
	choosy = system{name: "Throng, choosy", elastic: "ct-t(kp=0.3)", stable: "hybrid", balancer: "search", start: pools.StartOptimal, wait: promise, least: 0.65}
	// choosyReserve is choosier, by reserve, with more work that may wait.
	choosyReserve = system{name: "Throng, choosy reserve", elastic: "reserve(beta=-1.5,hold=120s)", stable: "none", balancer: "search", start: pools.StartOptimal, wait: promise, least: 0.7}
	// liked goes for preference: it keeps more people than are needed, so that they
	// are idle by turns and move to where they like to be.
	liked = system{name: "Throng, liked", elastic: paperGains, stable: "average-rate", balancer: "paper(cap=0)", start: pools.StartOptimal}
)

func (s system) text() string {
	t := s.elastic + " + " + s.stable + " + " + s.balancer
	if s.wait > 0 {
		t += fmt.Sprintf(", c* by a promised mean wait of %g s", s.wait.Seconds())
	}
	if s.least > 0 {
		t += fmt.Sprintf(", calls only those whose preference for the pool is at least %g", s.least)
	}
	return t
}

// A shape is how the load of the applications changes.
type shape string

const (
	byTurns  shape = "by turns" // each has its rush hour, and no two at once
	together shape = "together" // low in all, and high from half time on
	even     shape = "even"     // the mean of byTurns, all the time
	oneHot   shape = "one hot"  // low everywhere for an eightieth of the time, then high in the first application for good
)

// A poolWorld is what the systems are compared in.
type poolWorld struct {
	trace           *pools.Trace // in place of the next three
	own             bool         // the trace is the user's
	task            float64      // mean seconds, exponential
	abandon, arrive float64      // the paper's α and 1/r
	load            shape
	low, high       float64
	step, horizon   time.Duration
	training        float64       // mean seconds
	rise            time.Duration // of together: when the load goes up; 0: at half time
	begun           *int          // people with whom a pool begins, but for S; nil: as its system says
}

// generated is the world of the paper's generated data.
func generated(load shape) poolWorld {
	return poolWorld{task: taskTime, abandon: abandon, arrive: arrive, load: load, low: low, high: high, step: controlStep, horizon: generatedHorizon, training: training}
}

// onTrace is that of the end-to-end comparison: the user's trace, or one that is
// generated from the published moments.
func onTrace(o *experiment.Options) poolWorld {
	w := poolWorld{trace: o.Trace, own: o.Trace != nil, load: byTurns, low: low, high: high, step: controlStep, horizon: traceHorizon, training: training}
	if !w.own {
		w.trace = pools.Generate(1)
	}
	return w
}

// rates are the phases of application i.
func (w *poolWorld) rates(i int, task float64) []pools.Phase {
	switch w.load {
	case together:
		rise := w.rise
		if rise == 0 {
			rise = w.horizon / 2
		}
		return []pools.Phase{{Rate: w.low / task}, {From: rise, Rate: w.high / task}}
	case oneHot:
		list := []pools.Phase{{Rate: w.low / task}}
		if i == 0 {
			list = append(list, pools.Phase{From: w.horizon / 80, Rate: w.high / task})
		}
		return list
	case even:
		return []pools.Phase{{Rate: ((apps-1)*w.low + w.high) / apps / task}}
	}
	list := make([]pools.Phase, apps)
	for k := range list {
		list[k] = pools.Phase{From: w.horizon / apps * time.Duration(k), Rate: w.low / task}
		if (k+i)%apps == apps-1 {
			list[k].Rate = w.high / task
		}
	}
	return list
}

func (w *poolWorld) setup(s system) pools.Setup {
	task := w.task
	if w.trace != nil {
		task = stats.Mean(w.trace.Tasks)
	}
	u := pools.Setup{Horizon: w.horizon, Step: w.step, Salary: waitSalary, Balance: s.balancer, ForGood: true, People: pools.People{Trace: w.trace}}
	if w.trace == nil {
		u.People.Abandon, u.People.Recruitment = w.abandon, sim.Exponential(w.arrive)
	}
	start := s.start
	if w.begun != nil && start != pools.StartMean { // S has the c* of the whole load, as the paper says
		start = *w.begun
	}
	for i := range apps {
		u.Pools = append(u.Pools, pools.Pool{
			Name: fmt.Sprintf("application %d", i+1), Arrivals: w.rates(i, task), Service: sim.Exponential(task), Training: sim.Exponential(w.training), Start: start,
			Settings: pool.Settings{
				Elasticity: s.elastic, Stability: s.stable, Balance: s.balancer != "none", Window: lookBack,
				Expect: pool.Expect{TaskTime: time.Duration(task * float64(time.Second))}, Target: pool.Target{Wait: s.wait}, LeastPreference: s.least,
			},
		})
	}
	return u
}

// A poolRun is what came of one repetition.
type poolRun struct {
	throughput float64 // tasks a second
	cost       float64 // money, by the ledger
	equation2  float64 // money: s Σ max(0, c − L) over time, as the pools were at each step
	size       float64 // people on duty, mean over time
	preference float64 // of the people on duty, mean over their time
	moved      float64 // preference of those who moved for where they went
	busy, idle float64 // people with a task, and without one and not learning, means over time
	backlog    float64 // tasks in the queues at the end
	wait       float64 // mean seconds of all tasks, of those in the queues at the end so far
	calls      float64 // people who were called
	passed     float64 // people who were not called, as they like the pool too little
	use        *pools.TraceUse
	series     []pools.Series // of the first repetition
}

// net is equation 5, the sum over people in their pools, as a mean over time.
func (r *poolRun) net() float64 { return r.size * r.preference }

// A trial is a system in a world, so many times.
type trial struct {
	system
	world poolWorld
	reps  int
}

// taking is the world with what the user sets of what the paper leaves open.
func (w poolWorld) taking(p *experiment.Open) (poolWorld, error) {
	if p.Low != nil {
		w.low = *p.Low
	}
	if p.High != nil {
		w.high = *p.High
	}
	if p.Step != nil {
		w.step = *p.Step
	}
	w.begun = p.Start
	switch {
	case w.begun != nil && (*w.begun < 0 || *w.begun > surge):
		return w, crowd.Fieldf("start", "%d people a pool to begin with: from 0 to %g", *w.begun, surge)
	case !(w.low > 0):
		return w, crowd.Fieldf("low", "%g is no number of busy people (more than 0)", w.low)
	case !(w.high >= w.low && w.high <= surge):
		return w, crowd.Fieldf("high", "%g busy people in the rush hour: from those outside it, %g, to %g", w.high, w.low, surge)
	case w.step < time.Second || w.step > w.horizon/10:
		return w, crowd.Fieldf("step", "%s from one control step to the next: from 1s to %s", w.step, w.horizon/10)
	}
	return w, nil
}

// begunLow is the world in which a pool begins with as many people as its load keeps busy
// outside its rush hour.
func (w poolWorld) begunLow() poolWorld {
	people := int(math.Ceil(w.low))
	w.begun = &people
	return w
}

// paperGains is the paper's CT-t, where the paper's own combination or figure has it.
const paperGains = "ct-t-paper"

// tuned is the system with the gains that the user sets, if it is the paper's CT-t.
func (s system) tuned(p *experiment.Open) system {
	if s.elastic != paperGains {
		return s
	}
	var list []string
	if p.Kp != nil {
		list = append(list, fmt.Sprintf("kp=%g", *p.Kp))
	}
	if p.Ki != nil {
		list = append(list, fmt.Sprintf("ki=%g", *p.Ki))
	}
	if len(list) > 0 {
		s.elastic += "(" + strings.Join(list, ",") + ")"
	}
	return s
}

// try runs trials on common random numbers: repetition n of all meets the same
// tasks and people.
func try(ctx context.Context, o *experiment.Options, trials []trial) ([][]*poolRun, error) {
	reps := lists.Map(trials, func(t trial) int { return t.reps })
	return experiment.Repeat(ctx, o, reps, func(i, rep int) (*poolRun, error) {
		t := &trials[i]
		out, err := pools.Run{Setup: t.world.setup(t.tuned(&o.Open)), Seed: o.Seed, Rep: rep, Record: t.world.step}.Do(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.name, err)
		}
		return summary(out, t.world.step, t.world.horizon, rep == 0), nil
	})
}

func summary(out *pools.Outcome, step, horizon time.Duration, keep bool) *poolRun {
	t := &out.Total
	r := &poolRun{
		throughput: t.Throughput, cost: float64(t.Cost) / float64(crowd.Unit), size: t.MeanSize, preference: t.Preference,
		moved: t.MovedAfter, busy: t.Worked / horizon.Seconds(), idle: t.Idled / horizon.Seconds(), backlog: float64(t.Queue), wait: t.MeanWaitAll,
		calls: float64(t.Asked), passed: float64(t.PassedOver), use: out.Trace,
	}
	if t.MeanSize == 0 {
		r.preference = 0 // of nobody the sum is nothing
	}
	for _, s := range out.Series {
		for _, x := range s.Samples {
			r.equation2 += float64(max(0, x.Size-x.Queue)) * step.Minutes()
		}
	}
	r.equation2 *= float64(waitSalary) / float64(crowd.Unit)
	if keep {
		r.series = out.Series
	}
	return r
}

// A gain is a figure by which a system is compared with another: how many times
// it is as good.
type gain struct {
	metric string
	of     func(*poolRun) float64
	less   bool // the less the better
}

var (
	gainThroughput = gain{"throughput, times as high", func(r *poolRun) float64 { return r.throughput }, false}
	gainCost       = gain{"cost, times lower", func(r *poolRun) float64 { return r.cost }, true}
	gainNet        = gain{"net preference, times as high", (*poolRun).net, false}
	gainSize       = gain{"people on duty, times as many", func(r *poolRun) float64 { return r.size }, false}
	gainPreference = gain{"mean preference, times as high", func(r *poolRun) float64 { return r.preference }, false}
	gainMoved      = gain{"preference of those who moved, times as high", func(r *poolRun) float64 { return r.moved }, false}
	gainEquation2  = gain{"cost by equation 2, times lower", func(r *poolRun) float64 { return r.equation2 }, true}

	gains = []gain{gainThroughput, gainCost, gainNet}
)

// logs are the logarithms of the gain of a over b by repetition, NaN where one
// of the figures is 0.
func (g gain) logs(a, b []*poolRun) []float64 {
	list := make([]float64, min(len(a), len(b)))
	for i := range list {
		if list[i] = math.Log(g.of(a[i])) - math.Log(g.of(b[i])); g.less {
			list[i] = -list[i]
		}
		if math.IsInf(list[i], 0) {
			list[i] = math.NaN()
		}
	}
	return list
}

// times turns logarithms of ratios into their geometric mean with its interval.
func times(logs []float64) experiment.Estimate {
	e := experiment.Mean.Of(logs)
	return experiment.Estimate{Value: math.Exp(e.Value), Low: math.Exp(e.Low), High: math.Exp(e.High)}
}

// compare is a row of a over b that has nothing to be compared with.
func (w *poolWorld) compare(name string, g gain, a, b []*poolRun) experiment.Row {
	return w.timesRow(name, g.metric, g.logs(a, b))
}

func (w *poolWorld) timesRow(name, metric string, logs []float64) experiment.Row {
	r := experiment.NewRow(name, metric, "ratio", times(logs)).Repeated(experiment.Mean, lists.Count(logs, func(x float64) bool { return !math.IsNaN(x) }))
	r.Statistic = fmt.Sprintf("mean ratio of %d", len(logs))
	switch {
	case w.own:
		r.Statistic += ", your trace"
	case w.trace != nil:
		r.Statistic += ", generated trace"
	}
	return r
}
