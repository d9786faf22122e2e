package pool

import "github.com/throng-dev/throng/crowd"

// Random is a stream of random numbers, handed in by whoever runs the step.
type Random interface {
	Float64() float64 // uniform in [0, 1)
}

// Balancer decides which idle people move to other pools. It is asked once in
// every control step, after the controllers of all pools, with those that take
// part, in the order of their ids. (Those that only take advice are asked for
// apart.) A pool may have its own, which decides who comes to it: see
// Settings.Balancer. Person.Prefers and Person.Knows have the order of the readings, in which
// a pool has the place BalanceView.At.
//
// Plan must be deterministic in its arguments, must keep nothing of them, and
// moves only people who are listed as idle, each at most once, between pools of
// the list. Control drops a move that does not keep to this, one that would leave
// a pool with fewer people on duty than its Min, one into a pool that has as many
// as its Max or its funds allow, and one into a pool that lets people go.
type Balancer interface {
	Name() string // its text form
	Plan(pools []BalanceView, rnd Random) []Move
}

// BalanceView is what a balancer knows of one pool.
type BalanceView struct {
	Pool crowd.PoolID
	At   int      // the pool's place in the readings: the index into Person.Prefers and Person.Knows
	By   Balancer // decides who comes to the pool; nil: the one that is asked

	Queue   int // L of the paper: answers that are wanted and in nobody's hands
	Workers int // people on duty who work or could: not those in training
	Busy    int // of them, who hold a task
	Coming  int // asked for and not here yet, by earlier steps only
	Recruit int // whom this step wants to call, before the balance
	Min     int // people on duty, those in training included, that it must keep
	OnDuty  int // people on duty, those in training included
	Release int // whom this step wants to let go, before the balance
	CStar   int // the best number of people; Unknown: not known yet

	Mu           float64 // answers a second by one person who works; 0: not known yet
	TrainingRate float64 // tr of the paper, a second: one over the mean time a newcomer learns; 0: there is nothing to learn

	// Idle lists who may move, the longest idle first. Those whom this step would
	// let go are among them: who moves need not be let go.
	Idle []Person
	// Preference is the sum of the preferences for this pool of the people on
	// duty in it (the inner sum of the paper's equation 5).
	Preference float64
}

// PrefersAt returns the person's preference for the pool at place at of the
// readings: from 0 to 1; 1 where nothing is known, so that people who have said
// nothing are all the same.
func (p *Person) PrefersAt(at int) float64 {
	if at < 0 || at >= len(p.Prefers) {
		return 1
	}
	return p.Prefers[at]
}

// KnowsAt reports whether the person needs no training for the pool at place at of
// the readings, when they are on duty in the one at place own.
func (p *Person) KnowsAt(at, own int) bool {
	if at == own {
		return true
	}
	return at >= 0 && at < len(p.Knows) && p.Knows[at]
}
