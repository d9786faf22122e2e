package forecast

import (
	"math"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/sim"
)

// Checked runs repetitions of a forecast with everything verified after each
// event.
func Checked(s *State, policy string, seed uint64, reps int) (handOuts int64, err error) {
	m := newModel(s, DefaultHorizon)
	for rep := range reps {
		setup, start := m.draw(seed, rep)
		out, err := (&sim.Run{Setup: setup, Policy: policy, Seed: seed, Rep: rep, Start: start, Check: true}).Do()
		if err != nil {
			return handOuts, err
		}
		handOuts += out.HandOuts
	}
	return handOuts, nil
}

// Expected returns ω, each batch's σ, and how many times as long as usual people
// take, as expected.
func Expected(s *State) (between float64, within []float64, factor func(crowd.WorkerID) float64) {
	x := newSpeeds(s.Observed.Answers)
	f := x.expected()
	for _, v := range x.within {
		within = append(within, math.Sqrt(v))
	}
	return math.Sqrt(x.between), within, func(id crowd.WorkerID) float64 { return math.Exp(f.of(id)) }
}

// Drawn returns the same factors as a repetition has them, and the mean time of
// an answer to each batch, in seconds, at a factor of 1.
func Drawn(s *State, seed uint64, rep int) (factor func(crowd.WorkerID) float64, usual []float64) {
	m := newModel(s, DefaultHorizon)
	f := m.speeds.draw(seed, rep)
	for i := range m.paces {
		usual = append(usual, m.usual(i, &f))
	}
	return func(id crowd.WorkerID) float64 { return math.Exp(f.of(id)) }, usual
}

// Begun returns when a member comes first in a repetition, and when work on the
// first batch begins in it.
func Begun(s *State, seed uint64, rep int, id crowd.WorkerID) (comes, begins time.Duration, err error) {
	m := newModel(s, DefaultHorizon)
	setup, start := m.draw(seed, rep)
	f := m.speeds.draw(seed, rep)
	cast, err := setup.Cast(seed, rep)
	if err != nil {
		return 0, 0, err
	}
	speed := math.Exp(-f.of(id))
	comes = -1
	for _, v := range cast.Visits {
		own := setup.Groups[v.Group].Speed.Mean()
		if math.Abs(math.Log(own/speed)) <= speedStep/2+1e-9 {
			comes = v.At
			break
		}
	}
	out, err := (&sim.Run{Setup: setup, Policy: s.Policy, Seed: seed, Rep: rep, Start: start}).Do()
	if err != nil {
		return 0, 0, err
	}
	return comes, out.Batches[0].Started, nil
}

// Rare returns how likely it is in a repetition that a task is given up, and
// that its worker vanishes with it.
func Rare(s *State, seed uint64, rep int) (giveUp, vanish float64) {
	return newModel(s, DefaultHorizon).rare(seed, rep)
}

// Paces returns what is known of the times of answers to each batch.
func Paces(s *State) []Pace { return newModel(s, DefaultHorizon).paces }

// Gone returns in what share of so many repetitions somebody is gone with what
// they hold.
func Gone(s *State, id crowd.WorkerID, reps int) float64 {
	m, n := newModel(s, DefaultHorizon), 0
	for rep := range reps {
		_, start := m.draw(1, rep)
		n += btoi(start.Lost[id])
	}
	return float64(n) / float64(reps)
}

// Comings returns when people come in a repetition.
func Comings(s *State, seed uint64, rep int) []time.Duration {
	setup, _ := newModel(s, DefaultHorizon).draw(seed, rep)
	cast, _ := setup.Cast(seed, rep) // its error is nil
	var list []time.Duration
	for _, v := range cast.Visits {
		list = append(list, v.At)
	}
	return list
}
