package pool

import (
	"math"
	"time"
)

// maxIntegral bounds what the sum of the errors may ask for in one step: |Ki Σe|
// is at most this many people.
const maxIntegral = 5

// The default gains, for control steps of about ten seconds. The paper tuned its
// own by hand and gives no figures. These are tuned by hand as well, in the world
// of TestGains: loads of 8, 24, 10, 16 and 4 people's work for half an hour each,
// answers of 10, 30 and 90 s, people who come after 91 s on average and stay for
// ever, or leave after ten minutes and are replaced by hybrid. What was made small
// is the answers that wait plus the people who are idle. Kd is 0 because the change
// of the error is mostly noise: with Kd people were called and let go more often,
// and nothing else was better.
const (
	throughputKp, throughputKi           = 0.1, 0.004
	sizeKp                               = 0.5
	paperThroughputKp, paperThroughputKi = 0.2, 0.001
	paperSizeKp                          = 0.1
)

// pid is a discrete PID controller with fixed gains (section 3.2 of the paper):
//
//	u_t = Kp e_t + Ki Σ_{j≤t} e_j + Kd (e_t − e_{t−1}),
//
// the number of people to add at step t; at the first step the last term is 0.
// The steps of the paper all have one length; see step for those that have not.
// Whole people are moved, and what is left over is carried to the next step, so
// that small outputs are not lost.
//
// Two rules keep the sum from winding up: it never asks for more than
// maxIntegral people a step, and it does not take in an error whose output was
// cut, by a limit, the funds or a cool-down, in the direction of that error. What
// was carried is dropped then, too.
type pid struct {
	kp, ki, kd float64

	started bool
	last    float64 // e_{t−1}
	sum     float64
	carry   float64 // in (−1, 1)

	before float64 // sum, before this step
}

// tunedFor is the length of the steps for which our gains are meant.
const tunedFor = 10 * time.Second

// share is how much of such a step a step is. Longer ones count as one.
func share(length time.Duration) float64 {
	if length <= 0 || length > tunedFor {
		return 1
	}
	return float64(length) / float64(tunedFor)
}

// step takes the error of a step and returns how many people to add. A step that
// is only a share of those for which the gains are meant adds so much less, so
// that a pool that is looked at every second is not moved ten times as fast: the
// sum has its share of influence, and an error that is a level (weight = share),
// not a count of what happened in the step (weight 1), weighs so much less. In the
// paper's forms both are 1.
func (p *pid) step(e, share, weight float64) int {
	if !p.started {
		p.started, p.last = true, e
	}
	p.before = p.sum
	if p.ki > 0 {
		bound := maxIntegral / p.ki
		p.sum = min(max(p.sum+e*weight, -bound), bound)
	}
	u := p.kp*e*weight + p.ki*p.sum*share + p.kd*(e-p.last) + p.carry
	p.last = e
	u = min(max(u, -MaxPeople), MaxPeople)
	n := math.Trunc(u)
	p.carry = u - n
	return int(n)
}

// cut tells that the output of the last step was cut: direction is the sign of
// what was cut off.
func (p *pid) cut(direction int) {
	p.carry = 0
	if p.last*float64(direction) > 0 {
		p.sum = p.before
	}
}
