package pool

import (
	"fmt"
	"math"
	"time"

	"github.com/throng-dev/throng/internal/kit/instant"
	"github.com/throng-dev/throng/queueing"
)

// A wish is by how many people a part of the control would change a pool, and
// why. With several reasons change is their sum.
type wish struct {
	change    int
	why       []string
	transfers []fired
}

func (w *wish) add(change int, format string, args ...any) {
	w.change += change
	w.why = append(w.why, fmt.Sprintf(format, args...))
}

// loadUnknown is why something that needs c* holds.
const loadUnknown = "the load is not known yet, so nothing is decided by it"

// A view is what a law decides by at a step.
type view struct {
	s       *spec // its text form
	m       *Metrics
	ch      change
	now     time.Time
	rnd     Random
	elastic int // of a stability: what the elasticity wants
}

// wants is what the law of a text form wants.
func (c *Controller) wants(s *spec, v view) wish {
	v.s = s
	return s.law.wants(c, &v)
}

func (c *Controller) static(v *view) (w wish) {
	s, m := v.s, v.m
	if n := int(s.get("n")) - m.Own() - m.Coming; s.has("n") && n != 0 {
		w.add(n, "%s: %s: %+d", s, m.counted(), n)
	}
	return w
}

// ruled is by the rules of the pool, or by those of the paper.
func (c *Controller) ruled(v *view) (w wish) {
	for _, f := range fire(c.parts.rules, v.m) {
		if f.rule.do.verb == transfer {
			w.transfers = append(w.transfers, f)
			continue
		}
		w.add(f.rule.do.change(), "%s", f.why)
	}
	return w
}

// forward is no feedback on an error but goes where the model says. Wanted are
//
//	c* + (L − L₀)⁺/(μ·clear) + a·d
//
// people, on duty and coming: c* for the load, L/(μ·clear) more to clear the
// queue in time, and those who will leave by themselves (a a second) within the
// time d that it takes to come. L₀ is a queue that comes and goes by chance: see
// chanceQueue. Nobody is let go while the queue is longer than the people on duty,
// and never below c*, so that one who is called to replace somebody is not the
// reason to let another one go. Of people too many, as many as spare or band say are
// kept, so that the chance of the estimates does not call and release by turns.
func (c *Controller) forward(v *view) (w wish) {
	s, m := v.s, v.m
	if m.CStar == Unknown || m.Mu <= 0 {
		w.add(0, "%s: %s", s, loadUnknown)
		return w
	}
	queue := max(0, float64(m.Queue)-chanceQueue(m, s.get("chance"))) / (m.Mu * s.get("clear"))
	leave := 0.0
	if m.Recruitment > 0 {
		leave = m.Abandonment / m.Recruitment
	}
	wanted := int(math.Ceil(min(MaxPeople, float64(m.CStar)+queue+leave) - 1e-9))
	n := wanted - m.Own() - m.Coming
	spare := max(int(s.get("spare")), c.band(s, m))
	switch {
	case n < 0 && -n <= spare:
		return w
	case n < 0:
		n = max(n+spare, -m.Coming-max(0, m.Own()-m.CStar-spare))
		if m.Queue > m.Workers {
			n = max(n, -m.Coming)
		}
	}
	if n != 0 {
		w.add(n, "%s: c* %d, %.1f to clear %d in the queue, %.1f who will have left; %s: %+d",
			s, m.CStar, queue, m.Queue, leave, m.counted(), n)
	}
	return w
}

// foresee calls people for the queue that there will be when they come, and keeps a
// small queue on purpose, so that few are idle. With a = λ/μ people at work, N on duty
// and K coming, who leave at θ each and come after d on average, there will be
//
//	N′ = N·e^(−θd) people, with (N + N′)/2 + K·early at work meanwhile, and
//	q = (L + (a − that)·μ·d)⁺ − hold·λ
//
// answers waiting beyond what may wait. Wanted are a + β√a + q/(μ·clear): square-root
// staffing with a β that may be negative, corrected by the queue ahead. Nobody is let
// go while anything waits, nor below a.
func (c *Controller) foresee(v *view) (w wish) {
	s, m := v.s, v.m
	if m.CStar == Unknown || m.Mu <= 0 {
		w.add(0, "%s: %s", s, loadUnknown)
		return w
	}
	left := c.leaving(v)
	delay := s.get("delay")
	if m.Recruitment > 0 {
		delay = min(1/m.Recruitment, maxDelay)
	}
	load, own := m.Lambda/m.Mu, float64(m.Own())
	stay := own
	if own > 0 {
		stay *= math.Exp(-left / own * delay)
	}
	atWork := (own+stay)/2 + early*float64(m.Coming)
	ahead := max(0, float64(m.Queue)+(load-atWork)*m.Mu*delay) - s.get("hold")*m.Lambda
	wanted := min(MaxPeople, load+s.get("beta")*math.Sqrt(load)+ahead/(m.Mu*s.get("clear")))
	n := int(math.Ceil(wanted - stay - float64(m.Coming) - 1e-9))
	if n < 0 {
		letGo := 0 // who is here
		if m.Queue == 0 {
			letGo = min(m.Idle, max(0, m.Own()-int(math.Ceil(load))))
		}
		n = max(n, -m.Coming-letGo)
	}
	if n != 0 {
		w.add(n, "%s: %.1f at work by the load, %.1f in the queue ahead beyond what may wait, %.1f left of %d in %.0f s; %s: %+d",
			s, load, ahead, stay, m.Own(), delay, m.counted(), n)
	}
	return w
}

const (
	maxDelay = 300.0 // seconds: who takes longer to come is not foreseen
	early    = 0.4   // of the time ahead that those who are coming are there already
)

// leaving is how many people a second leave by themselves, over option window; before it
// was seen nobody left.
func (c *Controller) leaving(v *view) float64 {
	span := v.s.get("window")
	if c.gone == nil {
		c.gone = queueing.NewWindow(instant.Seconds(span))
	}
	if v.ch.length > 0 {
		c.gone.Add(v.now, v.ch.abandoned, v.ch.length.Seconds())
	}
	seen := c.gone.Rate(v.now)
	return seen.Events / max(span, seen.Exposure)
}

// size is CT-p: e_t = c* − c.
func (c *Controller) size(v *view) (w wish) {
	s, m, ch := v.s, v.m, v.ch
	if m.CStar == Unknown {
		w.add(0, "%s: %s", s, loadUnknown)
		return w
	}
	part := c.share(s, ch)
	n := c.pid.step(c.beyondBand(s, m, float64(m.CStar-m.people(s))), part, part)
	if n != 0 {
		w.add(n, "%s: c* %d, %s: %+d", s, m.CStar, m.counted(), n)
	}
	return w
}

// chanceQueue is L₀: the length that the queue of a pool of c* people exceeds with
// the probability chance, once everybody is busy: in an M/M/c queue its length is
// then geometric, P(L ≥ n) = (λ/(μ c*))ⁿ. 0 without a chance.
func chanceQueue(m *Metrics, chance float64) float64 {
	busy := m.Lambda / (m.Mu * float64(m.CStar))
	if !(chance > 0 && busy > 0 && busy < 1) { // also where nothing arrives, and c* is 0
		return 0
	}
	return math.Log(chance) / math.Log(busy)
}

// band is by how many people a pool may be too large by the chance of its estimate
// of λ: option band times its standard deviation, in people: √(λ/window)/μ.
func (c *Controller) band(s *spec, m *Metrics) int {
	if m.Mu <= 0 {
		return 0
	}
	return int(math.Ceil(s.options["band"]*math.Sqrt(m.Lambda/c.seen.span.Seconds())/m.Mu - 1e-9))
}

// beyondBand is an error of the size without what is within the band of too many.
func (c *Controller) beyondBand(s *spec, m *Metrics, e float64) float64 {
	if e >= 0 {
		return e
	}
	return min(0, e+float64(c.band(s, m)))
}

// share is how much of a step for which its gains are meant the last one was, in
// an elasticity of ours; in the paper's every step is one.
func (c *Controller) share(s *spec, ch change) float64 {
	if !s.counts() {
		return 1
	}
	return share(ch.length)
}

// people are those who count for a part of the control.
func (m *Metrics) people(s *spec) int {
	if s.counts() {
		return m.Own() + m.Coming
	}
	return m.Own()
}

// counted is who was counted, for people.
func (m *Metrics) counted() string {
	if m.Lent == 0 && m.Borrowed == 0 {
		return fmt.Sprintf("%d on duty, %d coming", m.Workers, m.Coming)
	}
	return fmt.Sprintf("%d on duty with %d lent and without %d borrowed, %d coming", m.Own(), m.Lent, m.Borrowed, m.Coming)
}

// clearIn is the time in which what waits should be gone; it says when those who
// are coming suffice.
const clearIn = time.Minute

// throughput is CT-t: e_t = arrived − withdrawn − completed in the step. As the sum of that is
// the number of answers in the pool, the sum alone would call people for as long
// as anything is in hand. So ct-t, which counts those who are coming, calls nobody
// above c*, or above what it takes to clear the queue in clearIn, if that is more.
func (c *Controller) throughput(v *view) (w wish) {
	s, m, ch := v.s, v.m, v.ch
	if ch.length == 0 {
		return w
	}
	if s.counts() && m.CStar == Unknown {
		w.add(0, "%s: %s", s, loadUnknown)
		return w
	}
	n := c.pid.step(m.Backlog, c.share(s, ch), 1)
	if n > 0 && s.counts() {
		clear := math.Ceil((m.Lambda + float64(m.Queue)/clearIn.Seconds()) / m.Mu)
		most := int(min(MaxPeople, max(float64(m.CStar), clear))) - m.people(s)
		if most = max(0, most); n > most {
			n = most
			c.pid.cut(1)
		}
	}
	if n != 0 {
		w.add(n, "%s: %.0f arrived and %.0f completed in %s, %d in the queue: %+d", s, ch.arrived-ch.withdrawn, ch.completed, ch.length, m.Queue, n)
	}
	return w
}

// short is how many people a stability counts, and how many there should be at
// least; known is false where that goes by a c* that is not known.
func (v *view) short() (people, least float64, known bool) {
	people = float64(v.m.people(v.s))
	if v.s.counts() {
		people += float64(max(0, v.elastic)) // they are coming, too
	}
	if v.s.has("least") {
		return people, v.s.get("least"), true
	}
	return people, float64(v.m.CStar) - v.s.get("slack"), v.m.CStar != Unknown
}

func (c *Controller) rule(v *view) (w wish) {
	n := max(1, int(v.s.get("n")))
	switch people, least, known := v.short(); {
	case !known:
		w.add(0, "%s: %s", v.s, loadUnknown)
	case people < least:
		w.add(n, "%s: %.0f people, fewer than %.4g: +%d", v.s, people, least, n)
	}
	return w
}

// averageRate is that of the people who left, also of the hybrids: they look at c*,
// too.
func (c *Controller) averageRate(v *view) (w wish) {
	n, left := c.replace(v)
	people, least, known := v.short()
	if _, hybrid := v.s.options["slack"]; hybrid {
		switch {
		case !known:
			w.add(0, "%s: %s", v.s, loadUnknown)
			return w
		case people >= least:
			return w
		}
		if v.s.law.Name == "hybrid" {
			n = min(n, int(least-people))
		}
	}
	if n > 0 {
		w.add(n, "%s: %.0f left in %s, %.0f people: +%d", v.s, left, instant.Seconds(v.s.get("window")), people, n)
	}
	return w
}

// replace draws how many people to call for those who left: â a second on
// average, with â = n_window/t_window, over the length of the step (section 4.2
// of the paper, whose steps are seconds): ⌊â·length⌋, and one more with the
// probability of the fraction. It draws one number at every step, whatever comes
// of it, so that the stream does not depend on the state of a pool.
func (c *Controller) replace(v *view) (n int, left float64) {
	ch, now := v.ch, v.now
	span := v.s.get("window")
	if c.left == nil {
		c.left = queueing.NewWindow(instant.Seconds(span))
	}
	if ch.length > 0 {
		c.left.Add(now, ch.abandoned, ch.length.Seconds())
	}
	draw := v.rnd.Float64()
	seen := c.left.Rate(now)
	left = seen.Events
	// The window holds whole steps, so a little more than its span.
	whole, part := math.Modf(min(MaxPeople, left/max(span, seen.Exposure)*ch.length.Seconds()))
	n = int(whole)
	if draw < part {
		n++
	}
	return n, left
}
