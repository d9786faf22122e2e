package forecast

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/label"
)

// Guesses, and how many observations they count for. They decide where nothing
// was seen yet, and hardly matter once a few dozen things were.
const (
	// guessedSession is how long people stay, counting for one departure.
	guessedSession = time.Hour
	// guessedAway is how long somebody who is away stays away, counting for
	// half an arrival.
	guessedAway    = 4 * time.Hour
	guessedReturns = 0.5

	// guessedSpread is the standard deviation of the logarithm of the time of
	// an answer, counting for five answers. On five batches of a real crowd, in
	// the log of Difallah et al. 2019, it was 0.59 to 1.06.
	guessedSpread = 0.8
	spreadWeight  = 5
	// estimateSpread is how far, as a standard deviation of the logarithm, the
	// requester's estimate of the time of an answer may be off: by a factor of
	// two either way.
	estimateSpread = math.Ln2
	// drift is the same for what was observed, however much it is: people's
	// pace changes.
	drift = 0.05
	// estimateWeight is how many answers the requester's estimate counts for,
	// as in the engine's own estimate.
	estimateWeight = 5

	// guessedAgreement is the share of answers that are a task's most frequent
	// one, counting for the tasks of agreementWeight. Only rules that ask for
	// equal answers look at it.
	guessedAgreement = 0.85
	agreementWeight  = 10

	// rareWeight hand-outs are added to those that were seen, none of them given
	// up, half of one lost, and half of one put aside for a time.
	rareWeight = 100
	// giveUpAfter is when people give a task up, as a share of the time that an
	// answer takes: what package sim has by default.
	giveUpAfter = 0.1
)

// A Pace is how long answers of a batch take: lognormal, for each person with a
// mean of their own.
type Pace struct {
	Mean   time.Duration // of the answers of all people so far
	Spread float64       // standard deviation of the logarithm, of one person's answers
	// PosteriorSD is the standard deviation of the logarithm of the mean itself.
	PosteriorSD float64
}

// pace estimates the time of an answer: the engine's figure, with the spread of
// recent answers. variance is that of the logarithm, of one person's answers.
func pace(b *engine.BatchSnapshot, variance float64) Pace {
	p := &b.Progress
	mean := (estimateWeight*b.Spec.TaskTime + p.Worked) / time.Duration(estimateWeight+p.Completed)
	// The variance of a lognormal figure, in squares of its mean, is exp(σ²)-1.
	precision := 1/(estimateSpread*estimateSpread) + float64(p.Completed)/math.Expm1(variance)
	return Pace{Mean: max(mean, time.Millisecond), Spread: math.Sqrt(variance), PosteriorSD: math.Sqrt(1/precision + drift*drift)}
}

// usual is the mean time of an answer of somebody of usual speed, in seconds:
// what all answers took, by what they would have been at factors of 1. The
// requester's estimate is of answers as they come.
func (m *model) usual(i int, f *factors) float64 {
	b := &m.snapshot.Batches[i]
	n := float64(b.Progress.Completed)
	took := estimateWeight*b.Spec.TaskTime.Seconds() + b.Progress.Worked.Seconds()
	return max(took/(estimateWeight*m.speeds.usual()+n*f.asTheyCame(m.state.Observed.Answers[b.Spec.ID].By)), 1e-3)
}

// survival is the probability that an answer takes longer than so many seconds.
func survival(l sim.LogNormal, seconds float64) float64 {
	if seconds <= 0 {
		return 1
	}
	return math.Erfc((math.Log(seconds)-l.Mu)/(l.Sigma*math.Sqrt2)) / 2
}

// model is what all repetitions have in common.
type model struct {
	state    *State
	snapshot *engine.Snapshot
	horizon  time.Duration
	members  []crowd.WorkerID
	paces    []Pace
	speeds   *speeds
	agrees   []float64 // by batch; 0: it does not matter
	batches  map[crowd.BatchID]sim.StartBatch
	giveUp   float64
	lost     float64
	away     float64       // how likely it is that somebody goes away with a task for a time
	silent   time.Duration // how long there has been no sign of anybody
}

func newModel(s *State, horizon time.Duration) *model {
	m := &model{
		state: s, horizon: horizon, batches: make(map[crowd.BatchID]sim.StartBatch), speeds: newSpeeds(s.Observed.Answers),
		giveUp: float64(s.Observed.GivenUp) / float64(s.Observed.HandOuts+rareWeight),
		lost:   (float64(s.Observed.Lost) + 0.5) / float64(s.Observed.HandOuts+rareWeight),
		away:   0.5 / float64(s.Observed.HandOuts+rareWeight), silent: s.silence(),
	}
	for _, w := range s.Snapshot.Workers {
		if !w.Suspended {
			m.members = append(m.members, w.ID)
		}
	}
	copied := *s.Snapshot
	copied.Batches = slices.Clone(copied.Batches)
	for i := range copied.Batches {
		b := &copied.Batches[i]
		m.batches[b.Spec.ID] = sim.StartBatch{Name: s.Batches[b.Spec.ID], Kind: i}
		m.paces = append(m.paces, pace(b, m.speeds.withinOf(b.Spec.ID, s.Observed.Answers[b.Spec.ID])))
		a := 0.0
		switch {
		case b.Spec.Rule.FollowsAnswers():
			a = accuracyOf(b)
			b.Spec.Rule, b.Answers = b.Spec.Rule.WithClasses(2).WithAccuracy(a), nil
			b.Assignments = undecided(b.Assignments, a)
		case !b.Spec.Rule.Fixed():
			a = agreement(b)
			b.Assignments = undecided(b.Assignments, a)
		}
		m.agrees = append(m.agrees, a)
	}
	m.snapshot = &copied
	return m
}

// The two answers of a task of a rule that asks for equal ones: the most
// frequent one, and another.
const mostly, otherwise = "1", "2"

// undecided lets lone answers be the less frequent one as often as they are:
// where there is only one, nobody knows which it will turn out to be.
func undecided(list []engine.AssignmentSnapshot, agrees float64) []engine.AssignmentSnapshot {
	out := slices.Clone(list)
	votes := make(map[crowd.TaskID]int)
	for i := range out {
		votes[out[i].Task] += btoi(out[i].Counts())
	}
	lone := sim.NewStream(0, 0, "lone answers")
	for i := range out {
		a := &out[i]
		if !a.Counts() || votes[a.Task] != 1 {
			continue
		}
		if r := lone.At(uint64(a.Task)); r.Float64() >= agrees {
			a.Key = otherwise
		}
	}
	return out
}

// agreement estimates the share of a batch's answers that are the task's most
// frequent one, from how many answers its labels took.
func agreement(b *engine.BatchSnapshot) float64 {
	counted := lists.Count(b.Assignments, func(a engine.AssignmentSnapshot) bool { return a.Counted })
	rule, n := b.Spec.Rule, float64(b.Progress.Labelled)
	took := float64(max(b.Progress.Completed-counted, 0)) // by tasks with a label
	want := (took + agreementWeight*answersWanted(rule, guessedAgreement)) / (n + agreementWeight)
	lo, hi := 0.5, 1.0 // the more they agree, the fewer answers
	for range 30 {
		if mid := (lo + hi) / 2; answersWanted(rule, mid) > want {
			lo = mid
		} else {
			hi = mid
		}
	}
	return (lo + hi) / 2
}

// answersWanted is the mean number of answers to a task of a rule k of n whose
// answers are one thing with probability a and another one otherwise: until one
// of them has k votes, or there are n.
func answersWanted(rule label.Rule, a float64) float64 {
	k, n := rule.Fewest(), rule.Most()
	row := make([]float64, k) // row[i]: probability of i votes for the one, and t-i for the other, nothing decided
	row[0] = 1
	mean := 0.0
	for t := 0; t < n; t++ {
		next, alive := make([]float64, k), 0.0
		for i, p := range row {
			if p == 0 {
				continue
			}
			alive += p
			if i+1 < k {
				next[i+1] += p * a
			}
			if t-i+1 < k {
				next[i] += p * (1 - a)
			}
		}
		mean += alive
		row = next
	}
	return mean
}

// draw makes the world of one repetition.
func (m *model) draw(seed uint64, rep int) (*sim.Setup, *sim.Start) {
	o := &m.state.Observed
	r := sim.NewStream(seed, rep, "people's rates").At(0)
	// Who left in the middle of a task is counted as lost, not as departed.
	departures := max(o.Departures-float64(o.Lost), 0)
	leaves := gamma(&r, 1+departures) / (guessedSession + o.Presence).Hours()
	comes := gamma(&r, guessedReturns+o.Arrivals) / (guessedReturns*guessedAway.Hours() + o.Away.Hours())

	gaveUp, vanish := m.rare(seed, rep)
	people, f := groups{session: sim.Exponential(3600 / max(leaves, 1e-6)), at: make(map[int]int)}, m.speeds.draw(seed, rep)
	setup := &sim.Setup{Horizon: m.horizon, Kinds: make([]sim.Kind, len(m.paces))}
	visits := m.visits(seed, rep, comes, &people, &f)
	setup.Cast = func(uint64, int) (*sim.Cast, error) { return &sim.Cast{Visits: visits}, nil }
	errors := sim.NewStream(seed, rep, "paces")
	for i, p := range m.paces {
		b := &m.snapshot.Batches[i].Spec
		r := errors.At(uint64(b.ID))
		k := &setup.Kinds[i]
		k.Name = strconv.Itoa(i)
		k.Service = sim.LogNormal{Mu: math.Log(m.usual(i, &f)) - p.Spread*p.Spread/2 + p.PosteriorSD*r.Normal(), Sigma: p.Spread}
		k.Skip, k.Vanish = gaveUp, vanish
		if a := m.agrees[i]; a > 0 {
			k.Answers = []string{mostly, otherwise}
			k.Confusion = [][]float64{{a, 1 - a}, {a, 1 - a}}
		}
	}
	start := &sim.Start{
		Snapshot: m.snapshot, Now: m.state.Now, Batches: m.batches, Members: m.members,
		Present: make(map[crowd.WorkerID]int, len(o.Present)), Lost: make(map[crowd.WorkerID]bool),
		Returns: make(map[crowd.WorkerID]time.Duration),
	}
	if m.members == nil {
		start.Members = []crowd.WorkerID{}
	}
	m.presence(seed, rep, setup, start, &people, &f, vanish)
	setup.Groups = people.list
	return setup, start
}

// rare draws how likely it is that a task is given up, and that its worker
// vanishes with it: from the Dirichlet distribution that is left by the counts.
func (m *model) rare(seed uint64, rep int) (giveUp, vanish float64) {
	o := &m.state.Observed
	r := sim.NewStream(seed, rep, "rare events").At(0)
	vanish = gamma(&r, float64(o.Lost)+0.5)
	if o.GivenUp > 0 {
		giveUp = gamma(&r, float64(o.GivenUp))
	}
	all := giveUp + vanish + gamma(&r, float64(o.HandOuts-o.GivenUp-o.Lost)+rareWeight-0.5)
	return giveUp / all, vanish / all
}

// visits draws when people come, who are each as quick as they are: at a rate an
// hour for each member. Who comes is drawn by package sim, from its stream
// "members", and read from there (TestWhoComesIsForeseen).
func (m *model) visits(seed uint64, rep int, rate float64, people *groups, f *factors) []sim.Visit {
	list := []sim.Visit{} // nil would let the groups come
	if len(m.members) == 0 {
		return list
	}
	times, who := sim.NewStream(seed, rep, "arrivals"), sim.NewStream(seed, rep, "members")
	gap := 3600 / (rate * float64(len(m.members)))
	for at := 0.0; ; {
		r, comer := times.At(uint64(len(list))), who.At(uint64(len(list)))
		if at += gap * r.Exp(); !(at <= m.horizon.Seconds()) {
			return list
		}
		id := m.members[comer.IntN(len(m.members))]
		list = append(list, sim.Visit{At: time.Duration(at * float64(time.Second)), Group: people.of(f.of(id))})
	}
}

// gamma draws from the gamma distribution of a shape > 0 and scale 1, by the
// method of Marsaglia and Tsang ("A simple method for generating gamma
// variables", 2000).
func gamma(r *sim.Rand, shape float64) float64 {
	if shape < 1 {
		return gamma(r, shape+1) * math.Pow(r.Float64(), 1/shape)
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := r.Normal()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(r.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}
