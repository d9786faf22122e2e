package scim

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/server/httpkit"
	"github.com/throng-dev/throng/internal/store"
)

// Config sets up the edge.
type Config struct {
	App *app.App
	Log *slog.Logger
	// TrustProxy believes X-Forwarded-For and X-Forwarded-Proto, as httpkit has it.
	TrustProxy bool
}

const (
	root    = "/scim/v2"
	maxBody = 8 << 20 // a group with all of its members
	maxPage = 200     // resources of a list
)

type edge struct {
	Config
}

// request is a request of a provider.
type request struct {
	*http.Request
	edge *edge
	p    *access.Principal
	base base
	body document // nil: it has none
}

// answer is what is answered. No body: 204.
type answer struct {
	status int // 0: 200
	body   any
}

type handler func(*request) (answer, error)

// route is an operation that providers may ask for, below root.
type route struct {
	method, path string
	handler      handler
}

// routes are all of them; a test asks for each as who may not.
func routes() []route {
	return []route{
		{"GET", "/ServiceProviderConfig", config},
		{"GET", "/ResourceTypes", discover(base.resourceType)},
		{"GET", "/ResourceTypes/{id}", discover(base.resourceType)},
		{"GET", "/Schemas", discover(base.schemaOf)},
		{"GET", "/Schemas/{id}", discover(base.schemaOf)},
		{"GET", "/Users", listUsers},
		{"POST", "/Users", createUser},
		{"GET", "/Users/{id}", getUser},
		{"PUT", "/Users/{id}", changeUser},
		{"PATCH", "/Users/{id}", changeUser},
		{"DELETE", "/Users/{id}", deleteUser},
		{"GET", "/Groups", listGroups},
		{"POST", "/Groups", createGroup},
		{"GET", "/Groups/{id}", getGroup},
		{"PUT", "/Groups/{id}", changeGroup},
		{"PATCH", "/Groups/{id}", changeGroup},
		{"DELETE", "/Groups/{id}", deleteGroup},
	}
}

// Mount adds the edge to a mux.
func Mount(mux *http.ServeMux, cfg Config) {
	e := &edge{cfg}
	for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
		mux.Handle(method+" "+root+"/", e.serve(absent))
	}
	for _, r := range routes() {
		mux.Handle(r.method+" "+root+r.path, e.serve(r.handler))
	}
}

// absent answers what there is no route for.
func absent(q *request) (answer, error) {
	return answer{}, &failure{status: http.StatusNotFound, detail: "there is no " + q.Method + " " + q.URL.Path + "; ResourceTypes lists what there is"}
}

// config says what is served of SCIM.
func config(q *request) (answer, error) { return answer{body: q.base.config()}, nil }

// serve answers a request, or says what is wrong with it, in SCIM's words.
func (e *edge) serve(h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out, err := e.handle(w, r, h)
		if err != nil {
			f := failureOf(err)
			if !errors.Is(err, f) { // what SCIM calls wrong is the client's fault
				httpkit.LogError(r.Context(), e.Log, r, err)
			}
			httpkit.SetRetryAfter(w.Header(), err)
			if f.status == http.StatusUnauthorized {
				w.Header().Set("WWW-Authenticate", "Bearer")
			}
			out = answer{f.status, f.body()}
		}
		if out.body == nil && out.status == 0 {
			out.status = http.StatusNoContent
		}
		doc, _ := out.body.(document)
		if meta, _ := doc["meta"].(document); meta != nil && err == nil {
			if version := textOf(meta, "version"); version != "" {
				w.Header().Set("ETag", version)
			}
			if out.status == http.StatusCreated {
				w.Header().Set("Location", textOf(meta, "location"))
			}
		}
		if out.body == nil {
			w.WriteHeader(out.status)
			return
		}
		w.Header().Set("Content-Type", "application/scim+json")
		w.WriteHeader(cmp.Or(out.status, http.StatusOK))
		_ = json.NewEncoder(w).Encode(out.body) // who hears nothing has gone
	})
}

func (e *edge) handle(w http.ResponseWriter, r *http.Request, h handler) (answer, error) {
	from := httpkit.ClientAddress(r, e.TrustProxy)
	ctx := access.WithSender(r.Context(), access.Sender{Address: from, Program: httpkit.Program(r)})
	p, err := e.App.Accounts.AuthenticateProvider(ctx, httpkit.Secret(r), from)
	if err != nil {
		return answer{}, err
	}
	end, err := e.App.StartBody(ctx, p, r.ContentLength, maxBody)
	if err != nil {
		return answer{}, err
	}
	defer end()
	q := &request{Request: r.WithContext(ctx), edge: e, p: p, base: base(cmp.Or(e.App.PublicURL, httpkit.Origin(r, e.TrustProxy)) + root)}
	if r.Method != http.MethodGet && r.Method != http.MethodDelete {
		d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
		var big *http.MaxBytesError
		if err := d.Decode(&q.body); errors.As(err, &big) {
			return answer{}, err
		} else if err != nil || q.body == nil {
			return answer{}, invalid("invalidSyntax", "the body is no JSON object")
		}
		if _, err := d.Token(); !errors.Is(err, io.EOF) {
			return answer{}, invalid("invalidSyntax", "something stands after the object in the body")
		}
		if q.p, err = e.App.Accounts.AuthenticateProvider(ctx, httpkit.Secret(r), from); err != nil { // the body may have come long after its headers
			return answer{}, err
		}
	}
	return h(q)
}

// id is the id in the path; 0: nobody's.
func (q *request) id() int64 {
	id, err := strconv.ParseInt(q.PathValue("id"), 10, 64)
	if err != nil || strconv.FormatInt(id, 10) != q.PathValue("id") {
		return 0
	}
	return id
}

// project answers a resource, or what of it is asked for.
func (q *request) project(of *resource, status int, doc document) (answer, error) {
	v := q.URL.Query()
	p, err := projectionOf(of, v.Get("attributes"), v.Get("excludedAttributes"))
	meta, _ := doc["meta"].(document)
	if version := textOf(meta, "version"); err == nil && q.Method == http.MethodGet && q.Header.Get("If-None-Match") == version {
		return answer{status: http.StatusNotModified}, nil
	}
	out := p.of(doc)
	out["meta"] = meta
	return answer{status, out}, err
}

// unchanged checks the version that is to be changed, if one is said.
func (q *request) unchanged(doc document) error {
	want := q.Header.Get("If-Match")
	meta, _ := doc["meta"].(document)
	if want != "" && want != "*" && want != textOf(meta, "version") {
		return &failure{status: http.StatusPreconditionFailed, detail: "it was changed since: its version is " + textOf(meta, "version")}
	}
	return nil
}

// after returns a document as a request leaves it: by operations, or as a whole.
func (q *request) after(doc document, of *resource) (document, error) {
	if q.Method != http.MethodPatch {
		return read(q.body, of.all())
	}
	list, err := operationsOf(q.body)
	if err == nil {
		err = patch(doc, list, of)
	}
	return doc, err
}

// listOf is the answer of a list.
func listOf(resources []document, total, start int) document {
	if resources == nil {
		resources = []document{}
	}
	return document{"schemas": []string{messages + "ListResponse"}, "totalResults": total, "startIndex": start, "itemsPerPage": len(resources), "Resources": resources}
}

// listing is what a list is asked for.
type listing struct {
	store.ProvisionedFilter
	projection
	filter *condition // nil: none
	start  int
}

func (q *request) listing(of *resource, name string) (l listing, err error) {
	v := q.URL.Query()
	number := func(name string, usual int) int {
		n, bad := strconv.Atoi(cmp.Or(v.Get(name), strconv.Itoa(usual)))
		if bad != nil && err == nil {
			err = invalid("invalidValue", "%s: %.50q is no number", name, v.Get(name))
		}
		return n
	}
	l.start, l.Limit = max(1, number("startIndex", 1)), min(maxPage, max(0, number("count", 100)))
	l.Offset = l.start - 1
	if err == nil {
		l.projection, err = projectionOf(of, v.Get("attributes"), v.Get("excludedAttributes"))
	}
	if err != nil || v.Get("filter") == "" {
		return l, err
	}
	if l.filter, err = parseFilter(v.Get("filter"), of); err != nil {
		return l, err
	}
	exactly := l.filter.exactly()
	l.Name, l.ExternalID = exactly[name], exactly["externalId"]
	if id, said := exactly["id"]; said {
		if l.ID, err = strconv.ParseInt(id, 10, 64); err != nil || l.ID == 0 {
			l.ID, err = -1, nil // nobody's
		}
	}
	return l, err
}

func listUsers(q *request) (answer, error) {
	l, err := q.listing(users, "userName")
	if err != nil {
		return answer{}, err
	}
	var match func(*accounts.ProvisionedPerson) (bool, error)
	if l.filter != nil {
		match = func(x *accounts.ProvisionedPerson) (bool, error) { return l.filter.holds(q.base.person(x)), nil }
	}
	list, total, err := q.edge.App.Provisioning.People(q.Context(), q.p, l.ProvisionedFilter, match)
	var docs []document
	for i := range list {
		docs = append(docs, l.of(q.base.person(&list[i])))
	}
	return answer{body: listOf(docs, total, l.start)}, err
}

func createUser(q *request) (answer, error) {
	doc, err := read(q.body, users.all())
	if err != nil {
		return answer{}, err
	}
	x := accounts.ProvisionedPerson{Active: true}
	if err := toPerson(doc, &x); err != nil {
		return answer{}, err
	}
	if x, err = q.edge.App.Provisioning.Add(q.Context(), q.p, x); err != nil {
		return answer{}, err
	}
	return q.project(users, http.StatusCreated, q.base.person(&x))
}

func getUser(q *request) (answer, error) {
	x, err := q.edge.App.Provisioning.Person(q.Context(), q.p, q.id())
	if err != nil {
		return answer{}, err
	}
	return q.project(users, 0, q.base.person(&x))
}

func changeUser(q *request) (answer, error) {
	x, err := q.edge.App.Provisioning.Change(q.Context(), q.p, q.id(), func(x *accounts.ProvisionedPerson) error {
		doc := q.base.person(x)
		err := q.unchanged(doc)
		if err == nil {
			doc, err = q.after(doc, users)
		}
		if err != nil {
			return err
		}
		return toPerson(doc, x)
	})
	if err != nil {
		return answer{}, err
	}
	return q.project(users, 0, q.base.person(&x))
}

func deleteUser(q *request) (answer, error) {
	return answer{}, q.edge.App.Provisioning.Remove(q.Context(), q.p, q.id(), func(x *accounts.ProvisionedPerson) error { return q.unchanged(q.base.person(x)) })
}

func listGroups(q *request) (answer, error) {
	l, err := q.listing(groups, "displayName")
	if err != nil {
		return answer{}, err
	}
	members := l.has("members")
	var match func(*accounts.ProvisionedGroup) (bool, error)
	if l.filter != nil {
		members = true
		match = func(x *accounts.ProvisionedGroup) (bool, error) { return l.filter.holds(q.base.group(x)), nil }
	}
	list, total, err := q.edge.App.Provisioning.Groups(q.Context(), q.p, l.ProvisionedFilter, members, match)
	var docs []document
	for i := range list {
		docs = append(docs, l.of(q.base.group(&list[i])))
	}
	return answer{body: listOf(docs, total, l.start)}, err
}

func createGroup(q *request) (answer, error) {
	doc, err := read(q.body, groups.all())
	if err != nil {
		return answer{}, err
	}
	var x accounts.ProvisionedGroup
	if err := toGroup(doc, &x); err != nil {
		return answer{}, err
	}
	if x, err = q.edge.App.Provisioning.AddGroup(q.Context(), q.p, x); err != nil {
		return answer{}, err
	}
	return q.project(groups, http.StatusCreated, q.base.group(&x))
}

func getGroup(q *request) (answer, error) {
	x, err := q.edge.App.Provisioning.Group(q.Context(), q.p, q.id())
	if err != nil {
		return answer{}, err
	}
	return q.project(groups, 0, q.base.group(&x))
}

func changeGroup(q *request) (answer, error) {
	x, err := q.edge.App.Provisioning.ChangeGroup(q.Context(), q.p, q.id(), func(x *accounts.ProvisionedGroup) error {
		doc := q.base.group(x)
		err := q.unchanged(doc)
		if err == nil {
			doc, err = q.after(doc, groups)
		}
		if err != nil {
			return err
		}
		return toGroup(doc, x)
	})
	if err != nil {
		return answer{}, err
	}
	return q.project(groups, 0, q.base.group(&x))
}

func deleteGroup(q *request) (answer, error) {
	return answer{}, q.edge.App.Provisioning.RemoveGroup(q.Context(), q.p, q.id(), func(x *accounts.ProvisionedGroup) error { return q.unchanged(q.base.group(x)) })
}
