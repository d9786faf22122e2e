package report

import (
	"bytes"
	"encoding/json"
	"math"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/sim"
)

// number is a figure in JSON: null where there is nothing to say.
type number float64

// MarshalJSON writes it.
func (n number) MarshalJSON() ([]byte, error) {
	if f := float64(n); !math.IsNaN(f) && !math.IsInf(f, 0) {
		return json.Marshal(f + 0) // -0 is 0
	}
	return []byte("null"), nil
}

// ordered is an object whose members keep their order: that of reports.
type ordered []member

type member struct {
	name  string
	value any
}

// MarshalJSON writes it.
func (o ordered) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := e.Encode(m.name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := e.Encode(m.value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

type reportJSON struct {
	Scenario   string    `json:"scenario"`
	Policies   ordered   `json:"policies"`
	Reps       int       `json:"reps"`
	Seed       uint64    `json:"seed"`
	Cycles     int64     `json:"cycles"`
	WallS      float64   `json:"wall_s"`
	BatchesOf  string    `json:"batches_of"`
	PairedWith string    `json:"paired_with"`
	Checked    bool      `json:"checked"`
	Verdicts   []Verdict `json:"expectations"`
	Met        bool      `json:"expectations_met"`
}

type policyJSON struct {
	Batches []batchJSON `json:"batches"`
	Metrics ordered     `json:"metrics"`
	CI95    ordered     `json:"ci95"`
	N       ordered     `json:"n"` // repetitions that have a figure
	Paired  ordered     `json:"paired,omitempty"`
	Alphas  []alphaJSON `json:"alphas,omitempty"`
}

type pairedJSON struct {
	Mean number `json:"mean"`
	CI95 number `json:"ci95"`
	N    int    `json:"n"`
}

type alphaJSON struct {
	Alpha         float64 `json:"alpha"`
	Success       number  `json:"deadline_success_ratio"`
	SuccessCI     number  `json:"deadline_success_ratio_ci95"`
	BestEffort    number  `json:"mean_best_effort"`
	BestEffortErr number  `json:"mean_best_effort_ci95"`
}

type batchJSON struct {
	ID          crowd.BatchID `json:"id"`
	Name        string        `json:"name"`
	CompletedAt number        `json:"completed_at_s"`
	CompletedCI number        `json:"completed_at_ci95_s"`
	Completed   float64       `json:"completed"`
	EndedAt     number        `json:"ended_at_s"`
	StartedAt   number        `json:"started_at_s"`
	LaunchedAt  float64       `json:"launched_at_s"`
	DeadlineAt  number        `json:"deadline_at_s"`
	InTime      number        `json:"in_time"`
	Done        float64       `json:"done"`
	Tasks       int           `json:"tasks"`
	Class       string        `json:"class"`
	Tenant      string        `json:"tenant,omitempty"`
	Priority    float64       `json:"priority"`
	Production  bool          `json:"production"`
	Cost        float64       `json:"cost"`
}

// MarshalJSON writes the report as programs read it: docs/simulation.md.
func (r *Report) MarshalJSON() ([]byte, error) {
	out := reportJSON{
		Scenario: r.Scenario, Reps: r.Reps, Seed: r.Seed, Cycles: r.Cycles, WallS: r.WallS, BatchesOf: r.BatchesOf,
		PairedWith: r.Policies[0].Name, Checked: r.Checked, Verdicts: r.Verdicts, Met: r.Met(),
	}
	if out.Verdicts == nil {
		out.Verdicts = []Verdict{}
	}
	for i := range r.Policies {
		out.Policies = append(out.Policies, member{r.Policies[i].Name, r.Policies[i].forJSON()})
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(out)
	return b.Bytes(), err
}

func (p *Policy) forJSON() policyJSON {
	out := policyJSON{Batches: []batchJSON{}}
	for i := range p.Batches {
		b := &p.Batches[i]
		out.Batches = append(out.Batches, batchJSON{
			ID: b.ID, Name: b.Name, CompletedAt: number(b.CompletedAt), CompletedCI: number(b.CompletedCI), Completed: b.Completed,
			EndedAt: number(b.EndedAt), StartedAt: number(b.StartedAt), LaunchedAt: b.LaunchedAt, DeadlineAt: number(b.DeadlineAt), InTime: number(b.InTime),
			Done: b.Done, Tasks: b.Tasks, Class: b.Class, Tenant: b.Tenant, Priority: b.Priority, Production: b.Production, Cost: money(b.Cost),
		})
	}
	for k, m := range sim.AllMetrics {
		out.Metrics = append(out.Metrics, member{m.Name, number(exact(m, p.Figures[k].Mean))})
		out.CI95 = append(out.CI95, member{m.Name, number(exact(m, p.Figures[k].CI95))})
		out.N = append(out.N, member{m.Name, p.Figures[k].N})
		if p.Paired != nil {
			out.Paired = append(out.Paired, member{m.Name, paired(m, p.Paired[k])})
		}
	}
	for _, a := range p.Alphas {
		out.Alphas = append(out.Alphas, alphaJSON{
			Alpha: a.Alpha, Success: number(a.Success.Mean), SuccessCI: number(a.Success.CI95),
			BestEffort: number(a.BestEffort.Mean), BestEffortErr: number(a.BestEffort.CI95),
		})
	}
	return out
}

func paired(m sim.Metric, s stats.Summary) pairedJSON {
	return pairedJSON{Mean: number(exact(m, s.Mean)), CI95: number(exact(m, s.CI95)), N: s.N}
}
