package orchestrator

import (
	"context"
	"fmt"
	"maps"
	"net/url"

	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow"
	"github.com/throng-dev/throng/internal/workflow/httpstep"
)

// Whoever declares services, for all tenants, may change their addresses while runs are
// under way. A tenant's secrets do not follow: a run keeps where the services stood when
// its tenant began it.

// originOf returns where a declared service stands.
func originOf(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	return httpstep.Origin(u), nil
}

// origins returns where the declared services stand that a workflow calls, by name.
func (o *Orchestrator) origins(ctx context.Context, w *workflow.Workflow) (map[string]string, error) {
	called := calledServices(w)
	if len(called) == 0 {
		return nil, nil
	}
	list, err := o.cfg.Store.ListServices(ctx)
	origins := make(map[string]string)
	for i := range list {
		if x := &list[i]; err == nil && called[x.Name] {
			origins[x.Name], err = originOf(x.URL)
		}
	}
	return origins, err
}

// calledServices are the names of the declared services that a workflow calls.
func calledServices(w *workflow.Workflow) map[string]bool {
	called := make(map[string]bool)
	for i := range w.Steps {
		if s := w.Steps[i].HTTP(); s != nil && s.Name != "" {
			called[s.Name] = true
		}
	}
	return called
}

// origin returns where a declared service stood when the run began. Of a run that an earlier
// version began that is not kept: there it is where the service stands at its first call.
func (r *run) origin(ctx context.Context, name, address string) (string, error) {
	if at := r.kept.ServiceOrigins[name]; at != "" {
		return at, nil
	}
	now, err := originOf(address)
	if err != nil {
		return "", err
	}
	kept := r.kept
	kept.ServiceOrigins = maps.Clone(kept.ServiceOrigins)
	if kept.ServiceOrigins == nil {
		kept.ServiceOrigins = make(map[string]string)
	}
	kept.ServiceOrigins[name] = now
	return now, r.commitState(ctx, kept)
}

// Moved has a sentence for each declared service of a run that stands elsewhere now than when
// the run began.
func Moved(origins map[string]string, services []store.Service) (list []string) {
	for i := range services {
		x := &services[i]
		if now, err := originOf(x.URL); err == nil && origins[x.Name] != "" && origins[x.Name] != now {
			list = append(list, fmt.Sprintf("the service %s has moved from %s to %s since the run began: rows go there, and only those secrets that are bound to its host", x.Name, origins[x.Name], now))
		}
	}
	return list
}
