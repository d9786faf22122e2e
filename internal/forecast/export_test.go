package forecast

import "github.com/throng-dev/throng/internal/sim"

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
