package workflows

import (
	"cmp"
	"fmt"
	"net/http"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/internal/sim/scenario"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow"
	"github.com/throng-dev/throng/internal/workflow/httpstep"
)

// Models are what stands in the place of people and services, by step. A step that is
// not there works as the workflow's file says: people as its simulate section, a service
// in a lognormal time about the expected one, without failures, with made-up answers.
type Models map[string]scenario.StepModel

// serviceSpread is the standard deviation of a call's time by its mean, where no model
// says how long calls take.
const serviceSpread = 0.3

// standIns declares the services that steps name. Nobody calls them.
func (w *world) standIns(flow *workflow.Workflow) (list []store.Service) {
	named := make(map[string]bool)
	for i := range flow.Steps {
		if h := flow.Steps[i].HTTP(); h != nil && h.Name != "" && !named[h.Name] {
			named[h.Name] = true
			x := w.Shared[h.Name]
			list = append(list, store.Service{
				Name: h.Name, URL: "http://model.invalid", Concurrency: cmp.Or(x.Concurrency, workflow.DefaultConcurrency), Rate: x.Rate, AllTenants: true, CreatedAt: w.now,
			})
		}
	}
	return list
}

// modelCall answers an attempt of a call in the place of the service. No network is used.
func (w *world) modelCall(t orchestrator.Attempt) (reply httpstep.Reply, took time.Duration, err error) {
	m := w.Models[t.Step]
	chance := sim.NewStream(w.Seed, t.N, "call "+t.Call.Key).At(0)
	dist := m.Time
	if dist == nil {
		mean := t.Expect.Seconds()
		dist = sim.LogNormalByMean(mean, serviceSpread*mean)
	}
	took = max(time.Duration(min(dist.Draw(&chance), longest.Seconds())*float64(time.Second)), time.Millisecond)
	w.out.Calls++
	fails := chance.Float64() < m.Failure
	switch {
	// What the file expects may be longer than its time-out: it is a guess, and not cut.
	case m.Time != nil && took > t.Service.Timeout:
		w.out.FailedCalls++
		return reply, t.Service.Timeout, &httpstep.Failure{Reason: httpstep.Timeout, Message: fmt.Sprintf("the model of %s did not answer within %s", t.Step, t.Service.Timeout)}
	case fails:
		w.out.FailedCalls++
		return reply, took, &httpstep.Failure{
			Reason: httpstep.Status, StatusCode: http.StatusServiceUnavailable, Message: fmt.Sprintf("the model of %s fails in %g %% of the tries", t.Step, 100*m.Failure),
		}
	}
	// Not of the try: the same answer, whichever try it is that succeeds.
	answer := sim.NewStream(w.Seed, 0, "answer "+t.Call.Key).At(0)
	reply.Values, err = makeAnswer(t.Service.Response, m.Answer, &answer)
	if err != nil {
		w.note(crowd.Fieldf(t.Step, "its service has no model of an answer that fits its response: %s; say in the model file what it answers, like steps: {%s: {answer: {PROPERTY: VALUE}}}", err, t.Step))
	}
	return reply, took, nil
}
