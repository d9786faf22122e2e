package report

import (
	"time"

	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/internal/sim/scenario"
)

// twoTeams is a small scenario with the same load in every repetition.
func twoTeams() *scenario.Scenario {
	return &scenario.Scenario{
		Name: "two teams", About: "A large batch and small ones.\n\nWho waits <longer>?", Reps: 4, Seed: 1,
		Policies: []string{"fifo", "fs", "tenant-fair(dafs)"},
		Setup: &sim.Setup{
			Tenants: []sim.Tenant{{Name: "north"}, {Name: "south"}},
			Kinds:   []sim.Kind{{Name: "look", Service: sim.Exponential(20), Answers: []string{"a", "b"}, Accuracy: 0.9}},
			Groups:  []sim.Group{{Name: "crowd", Arrive: sim.Arrivals{Rate: 120, Count: 20}}},
			Batches: []sim.Batch{
				{Name: "large", Tasks: 600},
				{Name: "small", Tenant: 1, Tasks: 30, At: 5 * time.Minute, Deadline: 6 * time.Minute, Production: true},
				{Name: "medium <b>", Tenant: 1, Tasks: 120, At: 8 * time.Minute, Deadline: 30 * time.Minute, Production: true, Priority: 2},
			},
		},
	}
}

// drawn is a scenario whose load differs from repetition to repetition, with a
// sweep of deadlines.
func drawn() *scenario.Scenario {
	return &scenario.Scenario{
		Name: "drawn", Reps: 3, Seed: 2, Policies: []string{"fs", "edf"}, Alphas: []float64{0, 0.5, 1},
		Setup: &sim.Setup{
			Horizon: 10 * time.Minute,
			Tenants: []sim.Tenant{{Name: "all"}},
			Kinds:   []sim.Kind{{Name: "task", Service: sim.Exponential(11)}},
			Groups:  []sim.Group{{Name: "crowd", Arrive: sim.Arrivals{Count: 20}}},
			Flows: []sim.Flow{{
				Batch: sim.Batch{Name: "job"}, Arrive: sim.Arrivals{Rate: 400}, Size: sim.Zipf{A: 2, Max: 2000},
				Alpha: &sim.AlphaRule{Share: 0.2, Alpha: 0.5, Workers: 20, Service: 11, Form: sim.AlphaPaper},
			}},
		},
	}
}
