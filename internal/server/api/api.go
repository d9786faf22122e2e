package api

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/server/httpkit"
)

// Config sets up the API.
type Config struct {
	App     *app.App
	Log     *slog.Logger
	Version string
}

type api struct {
	app  *app.App
	log  *slog.Logger
	huma huma.API

	poolEdit sync.Mutex // held while a part of a pool's settings is replaced
}

// Mount adds the API, its OpenAPI document and its page to a mux.
func Mount(mux *http.ServeMux, cfg Config) {
	c := huma.DefaultConfig("Throng", cfg.Version)
	c.Info.Description = "Throng hands human tasks to people: fairly between tenants, by deadline, with answers combined into labels.\n\n" +
		"Send a token as `Authorization: Bearer thr_…`. Get one from the page /tokens, with `throng token create`, or by POST /v1/session."
	c.OpenAPIPath, c.DocsPath, c.SchemasPath = "/v1/openapi", "", ""
	c.CreateHooks = nil // no $schema links in bodies
	c.Formats = map[string]huma.Format{"application/json": fastJSON, "json": fastJSON}
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"token":   {Type: "http", Scheme: "bearer"},
		"session": {Type: "apiKey", In: "cookie", Name: httpkit.SessionCookie},
	}
	a := &api{app: cfg.App, log: cfg.Log, huma: humago.New(mux, c)}
	a.huma.UseMiddleware(a.identify)
	a.session()
	a.people()
	a.invitations()
	a.tests()
	a.tenants()
	a.pools()
	a.livePools()
	a.duty()
	a.wishes()
	a.batches()
	a.forecasts()
	a.results()
	a.checkWorkflows()
	a.runs()
	a.runData()
	a.secrets()
	a.work()
	mountDocs(mux, a.huma.OpenAPI())
	mux.HandleFunc("/v1/", func(w http.ResponseWriter, r *http.Request) {
		p := newProblem(crowd.NotFound, "there is no "+r.Method+" "+r.URL.Path+"; the page /docs lists what there is")
		w.Header().Set("Content-Type", p.ContentType(""))
		w.WriteHeader(p.Status)
		_ = json.NewEncoder(w).Encode(p)
	})
}

// access says who may call an operation at all. What exactly he may do is the
// service's to decide.
type access bool

const (
	public   access = false
	signedIn access = true
)

type contextKey struct{}

// identify finds out who asks. Operations that are open to all do not care.
func (a *api) identify(ctx huma.Context, next func(huma.Context)) {
	if len(ctx.Operation().Security) == 0 {
		next(ctx)
		return
	}
	request, _ := humago.Unwrap(ctx)
	p, err := a.app.Accounts.Authenticate(ctx.Context(), httpkit.Secret(request))
	if err != nil {
		problem := a.problem(ctx.Context(), err)
		_ = huma.WriteErr(a.huma, ctx, problem.Status, problem.Detail, problem)
		return
	}
	next(huma.WithValue(ctx, contextKey{}, p))
}

// op describes an operation.
type op struct {
	method  string
	path    string
	summary string
	text    string
	tag     string
	access  access
	status  int      // of success; 0: 200
	maxBody int64    // 0: 1 MiB
	uploads []string // content types of a body that is not JSON
	streams []string // content types of a response that is not JSON
	// lean leaves it to the service to say what is wrong with the body, which
	// is then read once, not twice: for the one operation whose speed counts.
	lean bool
}

// nothing is the response of an operation that only succeeds.
type nothing struct{}

// add registers an operation. The principal is nil for those open to all.
func add[In, Out any](a *api, o op, handle func(ctx context.Context, p *app.Principal, in *In) (*Out, error)) {
	h := huma.Operation{
		OperationID: huma.GenerateOperationID(o.method, o.path, (*Out)(nil)),
		Method:      o.method, Path: o.path, Summary: o.summary, Description: o.text, Tags: []string{o.tag},
		DefaultStatus: o.status, MaxBodyBytes: o.maxBody, SkipValidateBody: o.lean,
		Errors: []int{http.StatusUnprocessableEntity},
	}
	if o.access == signedIn {
		h.Security = []map[string][]string{{"token": {}}, {"session": {}}}
		h.Errors = append(h.Errors, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusServiceUnavailable)
	}
	if o.method != http.MethodGet {
		h.Errors = append(h.Errors, http.StatusConflict, http.StatusInsufficientStorage)
	}
	if len(o.uploads) > 0 {
		h.RequestBody = &huma.RequestBody{Required: true, Content: content(o.uploads)}
	}
	if len(o.streams) > 0 {
		h.Responses = map[string]*huma.Response{"200": {Description: "OK", Content: content(o.streams)}}
	}
	huma.Register(a.huma, h, func(ctx context.Context, in *In) (*Out, error) {
		p, _ := ctx.Value(contextKey{}).(*app.Principal)
		out, err := handle(ctx, p, in)
		if err != nil {
			return nil, a.problem(ctx, err)
		}
		return out, nil
	})
}

// content says of content types that are not JSON that they are text.
func content(kinds []string) map[string]*huma.MediaType {
	out := make(map[string]*huma.MediaType, len(kinds))
	for _, kind := range kinds {
		out[kind] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
	}
	return out
}
