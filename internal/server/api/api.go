package api

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/server/httpkit"
	"github.com/throng-dev/throng/internal/server/limits"
	"github.com/throng-dev/throng/internal/server/repeats"
	"github.com/throng-dev/throng/internal/wire"
)

// Config sets up the API.
type Config struct {
	App     *app.App
	Log     *slog.Logger
	Version string
	Scratch *httpkit.Scratch
	// TrustProxy believes X-Forwarded-For, as httpkit.ClientAddress has it.
	TrustProxy bool
}

type api struct {
	app     *app.App
	log     *slog.Logger
	scratch *httpkit.Scratch
	proxied bool // TrustProxy
	huma    huma.API
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
	c.Components.Schemas = newSchemas()
	a := &api{app: cfg.App, log: cfg.Log, scratch: cmp.Or(cfg.Scratch, &httpkit.Scratch{}), proxied: cfg.TrustProxy, huma: humago.New(mux, c)}
	a.huma.UseMiddleware(a.identify, a.known, a.single, a.given, a.finite)
	a.session()
	a.people()
	a.providers()
	a.personal()
	a.invitations()
	a.tests()
	a.tenants()
	a.retention()
	a.pools()
	a.poolEvents()
	a.livePools()
	a.duty()
	a.wishes()
	a.batches()
	a.forecasts()
	a.results()
	a.taskResults()
	a.batchWorkers()
	a.sendBack()
	a.reports()
	a.corrections()
	a.pay()
	a.rules()
	a.checkWorkflows()
	a.runs()
	a.runData()
	a.secrets()
	a.services()
	a.nodes()
	a.roles()
	a.work()
	a.audit()
	mountDocs(mux, a.huma.OpenAPI())
	mux.HandleFunc("/v1/", func(w http.ResponseWriter, r *http.Request) {
		p := newProblem(crowd.NotFound, "there is no "+r.Method+" "+r.URL.Path+"; the page /docs lists what there is")
		w.Header().Set("Content-Type", p.ContentType(""))
		w.WriteHeader(p.Status)
		_ = json.NewEncoder(w).Encode(p)
	})
}

// signedIn is for operations that whoever has signed in may try, and that have no body: a
// body is read only of those who may call the use case. What exactly they may do is for
// the use cases to decide.
var signedIn = access.Operation{Who: access.Self}

// The keys of an operation's metadata.
const (
	accessKey  = "access"
	keyedKey   = "keyed"   // its op, if it takes a key
	uploadsKey = "uploads" // its body is a file
)

type contextKey struct{} // of the principal

// authenticate returns the principal who sends a request.
func (a *api) authenticate(ctx context.Context, r *http.Request) (*access.Principal, error) {
	return a.app.Accounts.Authenticate(ctx, httpkit.Secret(r), httpkit.ClientAddress(r, a.proxied))
}

// identify authenticates the caller of an operation that is not open to all.
func (a *api) identify(ctx huma.Context, next func(huma.Context)) {
	request, _ := humago.Unwrap(ctx)
	ctx = huma.WithContext(ctx, access.WithSender(ctx.Context(), access.Sender{Address: httpkit.ClientAddress(request, a.proxied), Program: httpkit.Program(request)}))
	if len(ctx.Operation().Security) == 0 {
		next(ctx)
		return
	}
	p, err := a.authenticate(ctx.Context(), request)
	var end func()
	if err == nil {
		err = mayCall(p, ctx.Operation().Metadata[accessKey].(access.Operation))
	}
	if err == nil {
		end, err = a.app.StartBody(ctx.Context(), p, request.ContentLength, ctx.Operation().MaxBodyBytes)
	}
	if err != nil {
		a.refuse(ctx, err)
		return
	}
	defer end()
	if ctx.Operation().Metadata[uploadsKey] != nil {
		metered, body := limits.WithMeter(ctx.Context(), request.Body)
		ctx, request.Body = huma.WithContext(ctx, metered), a.app.Accounts.Sent(metered, p, body)
	}
	inner, answered := limits.WithEnds(context.WithValue(ctx.Context(), contextKey{}, p))
	defer answered()
	if keys := request.Header[repeats.Header]; keys != nil && ctx.Operation().Metadata[keyedKey] != nil {
		a.once(huma.WithContext(ctx, inner), p, keys, next)
		return
	}
	next(huma.WithContext(ctx, inner))
}

// mayCall checks whether somebody may call an operation at all. Who has to set up a second factor
// first may sign out.
func mayCall(p *access.Principal, o access.Operation) error {
	if p.MustEnrol && o.Name != access.AccountsSignOut.Name {
		return access.ErrEnrol
	}
	return p.May(o)
}

// again returns the sender of a request as they are once its body has come, if they may still
// call the operation.
func (a *api) again(ctx context.Context, p *access.Principal, o access.Operation) (*access.Principal, error) {
	now, err := a.app.Accounts.Again(ctx, p)
	if err == nil && now != p {
		err = mayCall(now, o)
	}
	return now, err
}

// refuse answers with an error what no handler has seen.
func (a *api) refuse(ctx huma.Context, err error) {
	problem := a.problem(ctx.Context(), err)
	for name := range problem.Header {
		ctx.SetHeader(name, problem.Header.Get(name))
	}
	_ = huma.WriteErr(a.huma, ctx, problem.Status, problem.Detail, problem)
}

// refuseParameter refuses a request for a parameter, by the name that it has in the query: a
// property of JSON that the same word stands for may have another one.
func (a *api) refuseParameter(ctx huma.Context, name, text string, args ...any) {
	e := crowd.Fieldf(name, text, args...)
	problem := newProblem(e.Code, e.Error())
	problem.Errors = []wire.FieldNote{{Field: e.Field, Message: e.Message}}
	_ = huma.WriteErr(a.huma, ctx, problem.Status, problem.Detail, problem)
}

// known refuses a parameter of the query that the operation does not have: a slip in a name
// would do without what was asked for, such as that rows are not added twice.
func (a *api) known(ctx huma.Context, next func(huma.Context)) {
	var names []string
	for _, p := range ctx.Operation().Parameters {
		if p.In == "query" {
			names = append(names, p.Name)
		}
	}
	u := ctx.URL()
	for _, name := range slices.Sorted(maps.Keys(u.Query())) {
		if slices.Contains(names, name) {
			continue
		}
		exist := "it has none"
		if len(names) > 0 {
			exist = "known are " + strings.Join(names, ", ")
		}
		name = format.Clip(name, 40)
		a.refuseParameter(ctx, name, "there is no parameter %q of the query here: %s", name, exist)
		return
	}
	next(ctx)
}

// single refuses a parameter of the query that is given more than once: only the first would
// count. A list has its values in one, as the document says.
func (a *api) single(ctx huma.Context, next func(huma.Context)) {
	u := ctx.URL()
	q := u.Query()
	for _, p := range ctx.Operation().Parameters {
		if p.In != "query" || len(q[p.Name]) < 2 {
			continue
		}
		how := "give it once"
		if p.Schema.Type == huma.TypeArray {
			how += ", with commas between its values"
		}
		a.refuseParameter(ctx, p.Name, "it is given %d times: %s", len(q[p.Name]), how)
		return
	}
	next(ctx)
}

// given refuses a parameter without a value in a request that has an effect, and a query
// that cannot be read: either counts as not given, also what keeps a request that is sent
// again from having its effect again.
func (a *api) given(ctx huma.Context, next func(huma.Context)) {
	if ctx.Operation().Method == http.MethodGet {
		next(ctx)
		return
	}
	u := ctx.URL()
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		a.refuse(ctx, crowd.Errorf(crowd.Invalid, "the query of the address, %q, cannot be read: parts like name=value are wanted, with & between them", u.RawQuery))
		return
	}
	for _, p := range ctx.Operation().Parameters {
		if p.In == "query" && slices.Contains(q[p.Name], "") {
			a.refuseParameter(ctx, p.Name, "it has no value: give one, or leave the parameter out")
			return
		}
	}
	next(ctx)
}

// finite refuses what is not a number in the parameters that are: no bound holds for NaN.
func (a *api) finite(ctx huma.Context, next func(huma.Context)) {
	for _, p := range ctx.Operation().Parameters {
		if p.In != "query" || p.Schema.Type != huma.TypeNumber {
			continue
		}
		if x, err := strconv.ParseFloat(ctx.Query(p.Name), 64); err == nil && (math.IsNaN(x) || math.IsInf(x, 0)) {
			a.refuseParameter(ctx, p.Name, "%q is not a number such as 1.5", ctx.Query(p.Name))
			return
		}
	}
	next(ctx)
}

// op describes an operation.
type op struct {
	method  string
	path    string
	summary string
	text    string
	tag     string
	access  access.Operation // zero: open to all
	status  int              // of success; 0: 200
	maxBody int64            // 0: 1 MiB, or maxPublic
	uploads []string         // content types of a body that is not JSON
	streams []string         // content types of a response that is not JSON
	body    reflect.Type     // bodyOf what the response has; nil: what its type says
	// lean leaves the checks of the body to the use case, so that the body is
	// read once, not twice: for the one operation whose speed counts.
	lean bool
	// long is an answer that may be megabytes, in memory until it is taken.
	long bool
	// unkeyed is why a POST takes no key under which it may be sent again. Every other
	// one takes it, if it is not open to all.
	unkeyed unkeyed
	secret  bool // the answer has a secret, which is told once
	single  bool // what it does is one transaction, of which there is nothing to tell
}

// maxPublic bounds the body of an operation that anybody may call.
const maxPublic = 16 << 10

// nothing is the response of an operation that only succeeds.
type nothing struct{}

// reply is a response with a body. It is one type for all, since huma.Register is
// compiled again for each; bodyOf says to the document what the body is.
type reply struct{ Body any }

type bodyOf[T any] struct{ Body T }

// add registers an operation whose response has a body. The principal is nil for
// operations open to all.
func add[In, Out any](a *api, o op, handle func(ctx context.Context, p *access.Principal, in *In) (Out, error)) {
	o.body = reflect.TypeFor[bodyOf[Out]]()
	register(a, o, func(ctx context.Context, p *access.Principal, in *In) (*reply, error) {
		out, err := handle(ctx, p, in)
		return &reply{out}, err
	})
}

// addAction registers an operation that only succeeds.
func addAction[In any](a *api, o op, handle func(ctx context.Context, p *access.Principal, in *In) error) {
	o.status = http.StatusNoContent
	register(a, o, func(ctx context.Context, p *access.Principal, in *In) (*nothing, error) {
		return nil, handle(ctx, p, in)
	})
}

// register registers an operation.
func register[In, Out any](a *api, o op, handle func(ctx context.Context, p *access.Principal, in *In) (*Out, error)) {
	allResolved(o, reflect.TypeFor[In]())
	huma.Register(a.huma, a.operation(o, reflect.TypeFor[Out]()), func(ctx context.Context, in *In) (*Out, error) {
		p, _ := ctx.Value(contextKey{}).(*access.Principal)
		if o.long {
			end, err := a.app.StartList(ctx, p)
			if err != nil {
				return nil, a.problem(ctx, err)
			}
			limits.AtEnd(ctx, end)
		}
		if p != nil { // their body may have come long after its headers
			var err error
			if p, err = a.again(ctx, p, o.access); err != nil {
				return nil, a.problem(ctx, err)
			}
		}
		out, err := handle(ctx, p, in)
		if err != nil {
			return nil, a.problem(ctx, err)
		}
		return out, nil
	})
}

// allResolved panics if only one of the parts of an operation's input would be resolved: Go
// gives a struct the method of the part that is the least deep, which hides those of others.
func allResolved(o op, in reflect.Type) {
	resolver := reflect.TypeFor[huma.Resolver]()
	if in.Name() != "" || in.Kind() != reflect.Struct || !reflect.PointerTo(in).Implements(resolver) {
		return // it has a method of its own, or none hides another
	}
	parts := 0
	for i := range in.NumField() {
		if reflect.PointerTo(in.Field(i).Type).Implements(resolver) {
			parts++
		}
	}
	if parts > 1 {
		panic(fmt.Sprintf("%s %s: the parameters of one part of its input hide those of another: give each part a Resolve of its own", o.method, o.path))
	}
}

// operation describes an operation with a response of this type.
func (a *api) operation(o op, response reflect.Type) huma.Operation {
	if o.access == (access.Operation{}) {
		o.maxBody = cmp.Or(o.maxBody, maxPublic)
	}
	if o.body != nil {
		response = o.body
	}
	h := huma.Operation{
		OperationID: huma.GenerateOperationID(o.method, o.path, reflect.Zero(reflect.PointerTo(response)).Interface()),
		Method:      o.method, Path: o.path, Summary: o.summary, Description: o.text, Tags: []string{o.tag},
		DefaultStatus: o.status, MaxBodyBytes: o.maxBody, SkipValidateBody: o.lean,
		Metadata: map[string]any{accessKey: o.access},
		Errors:   []int{http.StatusUnprocessableEntity},
	}
	if o.access != (access.Operation{}) {
		h.Security = []map[string][]string{{"token": {}}, {"session": {}}}
		h.Errors = append(h.Errors, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusServiceUnavailable)
	}
	if o.method != http.MethodGet {
		h.Errors = append(h.Errors, http.StatusConflict, http.StatusInsufficientStorage)
	}
	h.Description = strings.TrimSpace(o.text + o.unkeyed.told())
	if o.keyed() {
		h.Metadata[keyedKey] = &o
		h.Parameters = append(h.Parameters, keyParameter)
		h.Errors = append(h.Errors, http.StatusTooManyRequests)
	}
	if len(o.uploads) > 0 {
		h.RequestBody = &huma.RequestBody{Required: true, Content: content(o.uploads)}
		h.Metadata[uploadsKey] = true
	}
	switch {
	case len(o.streams) > 0:
		h.Responses = map[string]*huma.Response{"200": {Description: "OK", Content: content(o.streams)}}
	case o.body != nil:
		schema := huma.SchemaFromField(a.huma.OpenAPI().Components.Schemas, o.body.Field(0), h.OperationID+"Response")
		h.Responses = map[string]*huma.Response{strconv.Itoa(cmp.Or(o.status, http.StatusOK)): {Content: map[string]*huma.MediaType{"application/json": {Schema: schema}}}}
	}
	return h
}

// content describes content types that are not JSON as text.
func content(kinds []string) map[string]*huma.MediaType {
	out := make(map[string]*huma.MediaType, len(kinds))
	for _, kind := range kinds {
		out[kind] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
	}
	return out
}

// of makes the handler of a use case about what the path names: to makes the body
// of what it returns.
func of[In, ID, A, B any, Path interface {
	*In
	about() ID
}](do func(context.Context, *access.Principal, ID) (A, error), to func(A) B) func(context.Context, *access.Principal, *In) (B, error) {
	return func(ctx context.Context, p *access.Principal, in *In) (B, error) {
		return as(to)(do(ctx, p, Path(in).about()))
	}
}

// named is as for what names qualifications of tenants.
func named[A, B any](ctx context.Context, a *api, f func(accounts.Names, A) B) func(A, error) (B, error) {
	return func(v A, err error) (out B, _ error) {
		if err != nil {
			return out, err
		}
		names, err := a.app.Tenants.Names(ctx)
		return as(func(v A) B { return f(names, v) })(v, err)
	}
}

// eachNamed is named for a list.
func eachNamed[A, B any](ctx context.Context, a *api, f func(accounts.Names, A) B) func([]A, error) ([]B, error) {
	return named(ctx, a, func(names accounts.Names, list []A) []B {
		return lists.Map(list, func(v A) B { return f(names, v) })
	})
}

// ofNamed is of for what names qualifications of tenants.
func ofNamed[In, ID, A, B any, Path interface {
	*In
	about() ID
}](a *api, do func(context.Context, *access.Principal, ID) (A, error), to func(accounts.Names, A) B) func(context.Context, *access.Principal, *In) (B, error) {
	return func(ctx context.Context, p *access.Principal, in *In) (B, error) {
		return named(ctx, a, to)(do(ctx, p, Path(in).about()))
	}
}

// own is of for a use case that needs to know no more than who calls.
func own[A, B any](do func(context.Context, *access.Principal) (A, error), to func(A) B) func(context.Context, *access.Principal, *struct{}) (B, error) {
	return func(ctx context.Context, p *access.Principal, _ *struct{}) (B, error) {
		return as(to)(do(ctx, p))
	}
}

// as makes what a use case returns the body that f makes of it.
func as[A, B any](f func(A) B) func(A, error) (B, error) {
	return func(v A, err error) (out B, _ error) {
		if err == nil {
			out = f(v)
		}
		return out, err
	}
}

// each is as for a list.
func each[A, B any](f func(A) B) func([]A, error) ([]B, error) { return as(all(f)) }

// all makes a list of the bodies that f makes.
func all[A, B any](f func(A) B) func([]A) []B {
	return func(list []A) []B { return lists.Map(list, f) }
}

// some returns the list, not nil: so that JSON has [], not null.
func some[T any](list []T) []T { return append([]T{}, list...) }
