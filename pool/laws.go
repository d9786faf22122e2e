package pool

import (
	"fmt"
	"math"
	"time"

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

// elasticity is what the pool's elasticity wants at a step.
func (c *Controller) elasticity(m *Metrics, ch change) (w wish) {
	s := &c.parts.elastic
	switch s.form.Name {
	case "static":
		if n := int(s.get("n")) - m.Workers - m.Coming; s.has("n") && n != 0 {
			w.add(n, "%s: %d on duty, %d coming: %+d", s, m.Workers, m.Coming, n)
		}
	case "rules", "rules-paper":
		for _, f := range fire(c.parts.rules, m) {
			if f.rule.do.verb == transfer {
				w.transfers = append(w.transfers, f)
				continue
			}
			w.add(f.rule.do.change(), "%s", f.why)
		}
	case "ct-p", "ct-p-paper":
		c.size(&w, s, m, ch)
	case "ct-t", "ct-t-paper":
		c.throughput(&w, s, m, ch)
	case "feed-forward":
		c.forward(&w, s, m)
	}
	return w
}

// forward is no feedback on an error but goes where the model says. Wanted are
//
//	c* + L/(μ·clear) + a·d
//
// people, on duty and coming: c* for the load, L/(μ·clear) more to clear the
// queue in time, and those who will leave by themselves (a a second) within the
// time d that it takes to come. Nobody is let go while the queue is longer than
// the people on duty, and never below c*, so that one who is called to replace
// somebody is not the reason to let another one go.
func (c *Controller) forward(w *wish, s *spec, m *Metrics) {
	if m.CStar == Unknown || m.Mu <= 0 {
		w.add(0, "%s: %s", s, loadUnknown)
		return
	}
	queue := float64(m.Queue) / (m.Mu * s.get("clear"))
	leave := 0.0
	if m.Recruitment > 0 {
		leave = m.Abandonment / m.Recruitment
	}
	wanted := int(math.Ceil(min(MaxPeople, float64(m.CStar)+queue+leave) - 1e-9))
	n := wanted - m.Workers - m.Coming
	spare := int(s.get("spare"))
	switch {
	case n < 0 && -n <= spare:
		return
	case n < 0:
		n = max(n+spare, -m.Coming-max(0, m.Workers-m.CStar-spare))
		if m.Queue > m.Workers {
			n = max(n, -m.Coming)
		}
	}
	if n != 0 {
		w.add(n, "%s: c* %d, %.1f to clear %d in the queue, %.1f who will have left; %d on duty, %d coming: %+d",
			s, m.CStar, queue, m.Queue, leave, m.Workers, m.Coming, n)
	}
}

// size is CT-p: e_t = c* − c.
func (c *Controller) size(w *wish, s *spec, m *Metrics, ch change) {
	if m.CStar == Unknown {
		w.add(0, "%s: %s", s, loadUnknown)
		return
	}
	part := c.share(s, ch)
	n := c.pid.step(float64(m.CStar-m.people(s)), part, part)
	if n != 0 {
		w.add(n, "%s: c* %d, %d on duty, %d coming: %+d", s, m.CStar, m.Workers, m.Coming, n)
	}
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
		return m.Workers + m.Coming
	}
	return m.Workers
}

// clearIn is the time in which what waits should be gone; it says when those who
// are coming suffice.
const clearIn = time.Minute

// throughput is CT-t: e_t = arrived − completed in the step. As the sum of that is
// the number of answers in the pool, the sum alone would call people for as long
// as anything is in hand. So ct-t, which counts those who are coming, calls nobody
// above c*, or above what it takes to clear the queue in clearIn, if that is more.
func (c *Controller) throughput(w *wish, s *spec, m *Metrics, ch change) {
	if ch.length == 0 {
		return
	}
	if s.counts() && m.CStar == Unknown {
		w.add(0, "%s: %s", s, loadUnknown)
		return
	}
	n := c.pid.step(ch.arrived-ch.completed, c.share(s, ch), 1)
	if n > 0 && s.counts() {
		clear := math.Ceil((m.Lambda + float64(m.Queue)/clearIn.Seconds()) / m.Mu)
		most := int(min(MaxPeople, max(float64(m.CStar), clear))) - m.people(s)
		if most = max(0, most); n > most {
			n = most
			c.pid.cut(1)
		}
	}
	if n != 0 {
		w.add(n, "%s: %.0f arrived and %.0f completed in %s, %d in the queue: %+d", s, ch.arrived, ch.completed, ch.length, m.Queue, n)
	}
}

// stability is what the pool's stability wants, when its elasticity wants
// elastic. It never lets anybody go.
func (c *Controller) stability(m *Metrics, ch change, now time.Time, elastic int, rnd Random) (w wish) {
	s := &c.parts.stable
	threshold, people := 0.0, float64(m.people(s))
	if s.counts() {
		people += float64(max(0, elastic)) // they are coming, too
	}
	known := m.CStar != Unknown
	if slack, ok := s.options["slack"]; ok {
		threshold = float64(m.CStar) - slack
	}
	switch s.form.Name {
	case "rule", "rule-paper":
		n := 1
		if s.form.Name == "rule" {
			n = int(s.get("n"))
			if s.has("least") {
				threshold, known = s.get("least"), true
			}
		}
		switch {
		case !known:
			w.add(0, "%s: %s", s, loadUnknown)
		case people < threshold:
			w.add(n, "%s: %.0f people, fewer than %.4g: +%d", s, people, threshold, n)
		}
	case "average-rate", "hybrid", "hybrid-paper":
		n, left := c.averageRate(s, ch, now, rnd)
		if s.form.Name != "average-rate" {
			switch {
			case !known:
				w.add(0, "%s: %s", s, loadUnknown)
				return w
			case people >= threshold:
				return w
			}
			if s.form.Name == "hybrid" {
				n = min(n, int(threshold-people))
			}
		}
		if n > 0 {
			w.add(n, "%s: %.0f left in %s, %.0f people: +%d", s, left, seconds(s.get("window")), people, n)
		}
	}
	return w
}

// averageRate draws how many people to call for those who left: â a second on
// average, with â = n_window/t_window, over the length of the step (section 4.2
// of the paper, whose steps are seconds): ⌊â·length⌋, and one more with the
// probability of the fraction. It draws one number at every step, whatever comes
// of it, so that the stream does not depend on the state of a pool.
func (c *Controller) averageRate(s *spec, ch change, now time.Time, rnd Random) (n int, left float64) {
	span := s.get("window")
	if c.left == nil {
		c.left = queueing.NewWindow(seconds(span))
	}
	if ch.length > 0 {
		c.left.Add(now, ch.abandoned, ch.length.Seconds())
	}
	draw := rnd.Float64()
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
