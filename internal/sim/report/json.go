package report

import (
	"github.com/throng-dev/throng/internal/kit/jsonform"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/sim"
)

// MarshalJSON writes the report as programs read it: docs/simulation.md.
func (r *Report) MarshalJSON() ([]byte, error) {
	var policies jsonform.Form
	for i := range r.Policies {
		policies = policies.With(r.Policies[i].Name, r.Policies[i].form())
	}
	return jsonform.Object(
		"scenario", r.Scenario, "policies", policies, "reps", r.Reps, "seed", r.Seed, "cycles", r.Cycles, "wall_s", r.WallS,
		"batches_of", r.BatchesOf, "paired_with", r.Policies[0].Name, "checked", r.Checked,
		"expectations", r.Verdicts, "expectations_met", r.Met(),
	).MarshalJSON()
}

func (p *Policy) form() jsonform.Form {
	batches := lists.Map(p.Batches, func(b Batch) jsonform.Form { return b.form() })
	alphas := lists.Map(p.Alphas, func(a AlphaPoint) jsonform.Form {
		return jsonform.Object(
			"alpha", a.Alpha, "deadline_success_ratio", a.Success.Mean, "deadline_success_ratio_ci95", a.Success.CI95,
			"mean_best_effort", a.BestEffort.Mean, "mean_best_effort_ci95", a.BestEffort.CI95)
	})
	var metrics, ci95, n, paired jsonform.Form
	for k, m := range sim.AllMetrics {
		s := p.Figures[k]
		metrics, ci95, n = metrics.With(m.Name, exact(m, s.Mean)), ci95.With(m.Name, exact(m, s.CI95)), n.With(m.Name, s.N)
		if p.Paired != nil {
			d := p.Paired[k]
			paired = paired.With(m.Name, jsonform.Object("mean", exact(m, d.Mean), "ci95", exact(m, d.CI95), "n", d.N))
		}
	}
	// n is how many repetitions have a figure.
	return jsonform.Object("batches", batches, "metrics", metrics, "ci95", ci95, "n", n, "paired,omitempty", paired, "alphas,omitempty", alphas)
}

func (b *Batch) form() jsonform.Form {
	return jsonform.Object(
		"id", b.ID, "name", b.Name, "completed_at_s", b.CompletedAt, "completed_at_ci95_s", b.CompletedCI, "completed", b.Completed,
		"ended_at_s", b.EndedAt, "started_at_s", b.StartedAt, "launched_at_s", b.LaunchedAt, "deadline_at_s", b.DeadlineAt, "in_time", b.InTime,
		"done", b.Done, "tasks", b.Tasks, "class", b.Class, "tenant,omitempty", b.Tenant, "priority", b.Priority, "production", b.Production,
		"cost", money(b.Cost),
	)
}
