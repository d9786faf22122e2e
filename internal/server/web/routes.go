package web

import (
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/httpkit"
	"github.com/throng-dev/throng/internal/server/limits"
	"github.com/throng-dev/throng/internal/server/runs"
)

// audience is who may come to a route at all. What they may do there is for the use
// cases to say.
type audience string

const (
	public    audience = "public"    // everybody
	signedIn  audience = "signed in" // whoever has signed in
	worker    audience = "worker"
	requester audience = "requester" // or admin
	admin     audience = "admin"
)

// handler answers a request. An error is shown as a page.
type handler func(*request) error

// route is one entry of the table.
type route struct {
	pattern string
	access  audience
	handle  handler
	long    bool // the page may be megabytes, in memory until it is taken
	upload  bool // the limit of its body is that of files, not of forms
	once    bool // an action that makes or moves something each time: its form has a key, under which it does so once
	// An action that may be refused names its form, in which $part is a part of the
	// path, and the page of that form: it is shown again, with what was typed and
	// what is wrong.
	form string
	page handler
}

// of is a handler about an ID.
type of[ID any] func(*request, ID) error

// about makes a handler of one that is about what a part of the path names.
func about[ID any](part string, parse func(string) (ID, error), handle of[ID]) handler {
	return func(rq *request) error {
		id, err := parse(rq.r.PathValue(part))
		if err != nil {
			return err
		}
		return handle(rq, id)
	}
}

func ofTenant(handle of[crowd.TenantID]) handler { return about("tenant", crowd.ParseTenantID, handle) }
func ofPool(handle of[crowd.PoolID]) handler     { return about("pool", crowd.ParsePoolID, handle) }
func ofPerson(handle of[crowd.WorkerID]) handler { return about("user", crowd.ParseWorkerID, handle) }
func ofBatch(handle of[crowd.BatchID]) handler   { return about("batch", crowd.ParseBatchID, handle) }
func ofRun(handle of[crowd.RunID]) handler       { return about("run", crowd.ParseRunID, handle) }

// numbered is a handler about what has a plain number.
func numbered(noun string, handle of[int64]) handler {
	return about(noun, func(text string) (int64, error) {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil || id < 1 {
			return 0, crowd.Errorf(crowd.NotFound, "there is no such %s", noun)
		}
		return id, nil
	}, handle)
}

// routes is every page and action.
func routes() []route {
	return []route{
		{pattern: "GET /{$}", access: public, handle: (*request).home},
		{pattern: "GET /signin", access: public, handle: (*request).signInPage},
		{pattern: "POST /signin", access: public, handle: (*request).signIn},
		{pattern: "GET /signin/{provider}", access: public, handle: (*request).signInElsewhere},
		{pattern: "GET /signin/{provider}/back", access: public, handle: (*request).signInBack},
		{pattern: "POST /signout", access: signedIn, handle: (*request).signOut},
		{pattern: "GET /setup", access: public, handle: (*request).setupPage},
		{pattern: "POST /setup", access: public, handle: (*request).setup, form: "setup", page: (*request).setupPage},
		{pattern: "GET /invitation", access: public, handle: (*request).invitation},
		{pattern: "POST /invitation", access: public, handle: (*request).answerInvitation, form: "join", page: (*request).invitation},

		{pattern: "GET /qualify", access: signedIn, handle: (*request).qualify},
		{pattern: "GET /qualify/{test}", access: signedIn, handle: numbered("test", (*request).take)},
		{pattern: "POST /qualify/{test}/start", access: signedIn, handle: numbered("test", (*request).startTry)},
		{pattern: "POST /qualify/{test}/answers", access: signedIn, handle: numbered("test", (*request).submitTry)},

		{pattern: "GET /account", access: signedIn, handle: (*request).account},
		{pattern: "POST /account/password", access: signedIn, handle: (*request).changePassword, form: "password", page: (*request).account},
		{pattern: "POST /account/sessions/{session}/end", access: signedIn, handle: numbered("session", (*request).endSession)},
		{pattern: "POST /account/signout", access: signedIn, handle: (*request).signOutEverywhere},

		{pattern: "GET /tokens", access: signedIn, handle: (*request).tokens},
		{pattern: "POST /tokens", access: signedIn, once: true, handle: (*request).createToken, form: "token", page: (*request).tokens},
		{pattern: "POST /tokens/{token}/revoke", access: signedIn, handle: numbered("token", (*request).revokeToken)},

		{pattern: "GET /work", access: worker, handle: (*request).work},
		{pattern: "POST /work/next", access: worker, handle: (*request).waitForWork},
		{pattern: "POST /work/submit", access: worker, handle: (*request).submit},
		{pattern: "POST /work/skip", access: worker, handle: (*request).skip},
		{pattern: "POST /work/return", access: worker, handle: (*request).giveBack},
		{pattern: "POST /work/heartbeat", access: worker, handle: (*request).heartbeat},
		{pattern: "GET /work/rest", access: worker, handle: (*request).rest},
		{pattern: "GET /work/earnings", access: worker, handle: (*request).earnings},
		{pattern: "GET /work/duty", access: worker, handle: (*request).watchDuty},
		{pattern: "POST /work/duty", access: worker, handle: (*request).comeIn},
		{pattern: "POST /work/decline", access: worker, handle: (*request).decline},
		{pattern: "POST /work/stop", access: worker, handle: (*request).stopWork},
		{pattern: "GET /work/wishes", access: worker, handle: (*request).wishes},
		{pattern: "POST /work/wishes", access: worker, handle: (*request).setWishes, form: "wishes", page: (*request).wishes},
		{pattern: "GET /work/push.js", access: public, handle: (*request).pushScript},
		{pattern: "POST /work/push", access: worker, handle: (*request).subscribe},
		{pattern: "POST /work/push/{subscription}/forget", access: worker, handle: numbered("subscription", (*request).unsubscribe)},
		{pattern: "GET /work/frame/{assignment}", access: worker, handle: (*request).workFrame},

		{pattern: "GET /batches", access: requester, handle: (*request).batches},
		{pattern: "GET /batches/new", access: requester, handle: (*request).newBatch},
		{pattern: "POST /batches", access: requester, once: true, handle: (*request).createBatch, upload: true, form: "new", page: (*request).newBatch},
		{pattern: "GET /batches/{batch}", access: requester, handle: ofBatch((*request).batch)},
		{pattern: "GET /batches/{batch}/frame/{task}", access: requester, handle: ofBatch((*request).previewFrame)},
		{pattern: "GET /batches/{batch}/preview", access: requester, handle: ofBatch((*request).preview)},
		{pattern: "POST /batches/{batch}/upload", access: requester, handle: ofBatch((*request).upload), upload: true, form: "upload", page: ofBatch((*request).batch)},
		{pattern: "POST /batches/{batch}/template", access: requester, handle: ofBatch((*request).editTemplate), form: "template", page: ofBatch((*request).batch)},
		{pattern: "POST /batches/{batch}/settings", access: requester, handle: ofBatch((*request).editSettings), form: "settings", page: ofBatch((*request).batch)},
		{pattern: "GET /batches/{batch}/confirm", access: requester, handle: ofBatch(confirm("/batches/", batchActions, aboutBatch))},
		{pattern: "POST /batches/{batch}/do", access: requester, handle: ofBatch(act("/batches/", batchActions))},
		{pattern: "POST /batches/{batch}/edit", access: requester, handle: ofBatch((*request).editBatch), form: "edit", page: ofBatch((*request).batch)},
		{pattern: "POST /batches/{batch}/tasks", access: requester, once: true, handle: ofBatch((*request).addTasks), upload: true, form: "add", page: ofBatch((*request).batch)},
		{pattern: "POST /batches/{batch}/takeout", access: requester, handle: ofBatch((*request).takeOut), form: "takeout", page: ofBatch((*request).batch)},
		{pattern: "POST /batches/{batch}/topup", access: requester, once: true, handle: ofBatch(topUp("/batches/", allBatches, (*batches.Batches).TopUp)), form: "topup", page: ofBatch((*request).batch)},
		{pattern: "GET /batches/{batch}/events", access: requester, handle: ofBatch((*request).events)},
		{pattern: "GET /batches/{batch}/quality", access: requester, handle: ofBatch((*request).quality)},
		{pattern: "GET /runs", access: requester, handle: (*request).runs},
		{pattern: "GET /runs/new", access: requester, handle: (*request).newRun},
		{pattern: "POST /runs", access: requester, once: true, handle: (*request).createRun, form: "run", page: (*request).newRun, long: true},
		{pattern: "GET /runs/{run}", access: requester, handle: ofRun((*request).run)},
		{pattern: "POST /runs/{run}/inputs", access: requester, handle: ofRun((*request).loadRun), upload: true, form: "load", page: ofRun((*request).run)},
		{pattern: "POST /runs/{run}/rows", access: requester, handle: ofRun((*request).addRows), upload: true, form: "rows", page: ofRun((*request).run)},
		{pattern: "POST /runs/{run}/topup", access: requester, once: true, handle: ofRun(topUp("/runs/", allRuns, (*runs.Runs).TopUp)), form: "topup", page: ofRun((*request).run)},
		{pattern: "GET /runs/{run}/events", access: requester, handle: ofRun((*request).runEvents)},
		{pattern: "GET /runs/{run}/confirm", access: requester, handle: ofRun(confirm("/runs/", runActions, aboutRun))},
		{pattern: "POST /runs/{run}/do", access: requester, handle: ofRun((*request).actRun), form: "load", page: ofRun((*request).run)},
		{pattern: "GET /runs/{run}/steps/{step}", access: requester, handle: ofRun((*request).runStep), long: true},
		{pattern: "GET /runs/{run}/items/{item}", access: requester, handle: ofRun((*request).runItem), long: true},
		{pattern: "GET /tenants/{tenant}/secrets", access: requester, handle: ofTenant((*request).secrets)},
		{pattern: "POST /tenants/{tenant}/secrets", access: requester, handle: ofTenant((*request).putSecret), form: "secret", page: ofTenant((*request).secrets)},
		{pattern: "GET /tenants/{tenant}/secrets/{secret}/delete", access: requester, handle: ofTenant((*request).confirmSecret)},
		{pattern: "POST /tenants/{tenant}/secrets/{secret}/delete", access: requester, handle: ofTenant((*request).deleteSecret)},
		{pattern: "GET /invitations", access: requester, handle: (*request).invitations},
		{pattern: "POST /invitations", access: requester, once: true, handle: (*request).invite, form: "invite", page: (*request).invitations},
		{pattern: "POST /invitations/{invitation}/resend", access: requester, once: true, handle: numbered("invitation", (*request).resendInvitation)},
		{pattern: "POST /invitations/{invitation}/withdraw", access: requester, handle: numbered("invitation", (*request).withdrawInvitation)},
		{pattern: "GET /tests", access: requester, handle: (*request).tests},
		{pattern: "POST /tests", access: requester, once: true, handle: (*request).createTest, upload: true, form: "test", page: (*request).tests},
		{pattern: "GET /tests/{test}", access: requester, handle: numbered("test", (*request).test)},
		{pattern: "POST /tests/{test}/retire", access: requester, handle: numbered("test", (*request).retireTest)},
		{pattern: "GET /tenants/{tenant}", access: requester, handle: ofTenant((*request).tenant)},
		{pattern: "POST /tenants/{tenant}/stop", access: requester, handle: ofTenant((*request).stopTenant)},
		{pattern: "POST /tenants/{tenant}/block", access: requester, handle: ofTenant((*request).blockWorker)},

		{pattern: "GET /admin", access: admin, handle: (*request).admin},
		{pattern: "POST /admin/stop", access: admin, handle: (*request).stopEverything},
		{pattern: "POST /admin/tenants", access: admin, once: true, handle: (*request).createTenant, form: "tenant", page: (*request).admin},
		{pattern: "POST /admin/tenants/{tenant}", access: admin, handle: ofTenant((*request).editTenant), form: "tenant-$tenant", page: (*request).admin},
		{pattern: "POST /admin/tenants/{tenant}/stop", access: admin, handle: ofTenant((*request).stopTenantHere)},
		{pattern: "POST /admin/tenants/{tenant}/deposit", access: admin, once: true, handle: ofTenant((*request).deposit), form: "deposit-$tenant", page: (*request).admin},
		{pattern: "POST /admin/pools", access: admin, once: true, handle: (*request).createPool, form: "pool", page: (*request).admin},
		{pattern: "GET /admin/pools/{pool}", access: admin, handle: ofPool((*request).pool)},
		{pattern: "GET /admin/pools/{pool}/settings", access: admin, handle: ofPool((*request).poolSettings)},
		{pattern: "POST /admin/pools/{pool}/settings", access: admin, handle: ofPool((*request).editPoolSettings), form: "control", page: ofPool((*request).poolSettings)},
		{pattern: "POST /admin/pools/{pool}/fund", access: admin, once: true, handle: ofPool((*request).fundPool), form: "fund", page: ofPool((*request).pool)},
		{pattern: "POST /admin/pools/{pool}/transfer", access: admin, handle: ofPool((*request).transfer), form: "transfer", page: ofPool((*request).pool)},
		{pattern: "POST /admin/pools/{pool}", access: admin, handle: ofPool((*request).editPool), form: "pool-$pool", page: (*request).admin},
		{pattern: "POST /admin/pools/{pool}/stop", access: admin, handle: ofPool((*request).stopPool)},
		{pattern: "GET /admin/services", access: admin, handle: (*request).services},
		{pattern: "POST /admin/services", access: admin, once: true, handle: (*request).declareService, form: "service", page: (*request).services},
		{pattern: "POST /admin/services/{service}", access: admin, handle: (*request).editService, form: "service-$service", page: (*request).services},
		{pattern: "GET /admin/services/{service}/remove", access: admin, handle: (*request).confirmService},
		{pattern: "POST /admin/services/{service}/remove", access: admin, handle: (*request).removeService},
		{pattern: "GET /admin/people", access: admin, handle: (*request).people},
		{pattern: "POST /admin/people", access: admin, once: true, handle: (*request).createPerson, form: "person", page: (*request).people},
		{pattern: "GET /admin/people/{user}", access: admin, handle: ofPerson((*request).person)},
		{pattern: "POST /admin/people/{user}", access: admin, handle: ofPerson((*request).editPerson), form: "person", page: ofPerson((*request).person)},
		{pattern: "POST /admin/people/{user}/suspend", access: admin, handle: ofPerson((*request).suspend), form: "suspend", page: ofPerson((*request).person)},
		{pattern: "POST /admin/people/{user}/link", access: admin, once: true, handle: ofPerson((*request).newLink)},
	}
}

// onlyPosted returns the paths that only actions have, each with how many of its parts
// are the nearest page's: a page that answers an action has the action's address, which
// may be opened again.
func onlyPosted(list []route) map[string]int {
	pages := make(map[string]bool)
	for _, rt := range list {
		if path, is := strings.CutPrefix(rt.pattern, "GET "); is {
			pages[path] = true
		}
	}
	out := make(map[string]int)
	for _, rt := range list {
		path, is := strings.CutPrefix(rt.pattern, "POST ")
		if !is || pages[path] {
			continue
		}
		parts := strings.Split(path, "/")[1:]
		keep := len(parts) - 1
		for keep > 0 && !pages["/"+strings.Join(parts[:keep], "/")] {
			keep--
		}
		out[path] = keep
	}
	return out
}

var (
	errCrossSite = crowd.Errorf(crowd.Forbidden, "this was sent from another site, so it was not done")
	errPage      = crowd.Errorf(crowd.NotFound, "there is no such page")
)

// guard puts in front of a handler what every route needs: the limits, the caller
// and whether they may come, and the page for errors.
func (s *server) guard(rt route) http.Handler {
	limit := int64(maxForm)
	switch {
	case rt.upload:
		limit = s.MaxUpload
	case rt.access == public:
		limit = maxPublicForm
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", pageCSP)
		h.Set("Cache-Control", "no-store")
		r.Body = http.MaxBytesReader(w, r.Body, limit)
		ctx, answered := limits.WithEnds(r.Context())
		defer answered()
		rq := &request{server: s, w: w, r: r.WithContext(access.WithSender(ctx, access.Sender{Address: httpkit.ClientAddress(r, s.TrustProxy), Program: httpkit.Program(r)}))}
		p, err := rq.authenticate(r.Context(), sessionOf(r))
		// Whoever may not do anything is nobody on a page for all: they may sign in by
		// another name.
		if code := crowd.CodeOf(err); err != nil && code != crowd.Unauthenticated && (code != crowd.Forbidden || rt.access != public) {
			rq.showError(err)
			return
		}
		rq.p = p
		switch {
		case rt.access == public:
		case p == nil:
			rq.askToSignIn()
			return
		case !allowed(rt.access, p):
			rq.showError(crowd.Errorf(crowd.Forbidden, "this page is for people with the role %s", rt.access))
			return
		}
		if err := rt.serve(rq, limit); err != nil {
			rq.showError(err)
		}
	})
}

// serve reads the form of an action and carries the request out.
func (rt *route) serve(rq *request, limit int64) error {
	if rt.upload {
		limit = maxFields // the rest is read as it comes
	}
	if rq.p != nil && rq.r.Method == http.MethodPost {
		end, err := rq.Bodies.StartBody(rq.ctx(), rq.p.User.ID, rq.p.Share(), rq.r.ContentLength, limit)
		if err != nil {
			return err
		}
		defer end()
	}
	if rt.long {
		end, err := rq.App.StartList(rq.ctx(), rq.p)
		if err != nil {
			return err
		}
		defer end()
	}
	if rq.r.Method == http.MethodPost && !rt.upload {
		httpkit.ReceivingForm(rq.w, rq.r)
		if err := rq.r.ParseForm(); err != nil {
			return bodyError(err)
		}
	}
	if keys := rq.r.URL.Query()[keyName]; rt.once && keys != nil && !rq.wantsJSON() {
		return rt.answerOnce(rq, keys)
	}
	return rt.answer(rq)
}

// answer carries the request out; a form that is refused is shown again.
func (rt *route) answer(rq *request) error {
	err := rt.handle(rq)
	if rt.page == nil || rq.wantsJSON() {
		return err
	}
	if f := refused(os.Expand(rt.form, rq.r.PathValue), rq.r.PostForm, err); f != nil {
		rq.form, rq.made, rq.err = f, nil, nil
		return rt.page(rq)
	}
	return err
}

// sessionOf returns the browser's session. Bearer tokens are for the API.
func sessionOf(r *http.Request) string {
	if c, err := r.Cookie(httpkit.SessionCookie); err == nil {
		return c.Value
	}
	return ""
}

func allowed(a audience, p *access.Principal) bool {
	switch a {
	case public:
		return true
	case signedIn:
		return p != nil
	case worker:
		return p.In(access.Workers)
	case requester:
		return p.In(access.Requesters)
	case admin:
		return p.In(access.Admins)
	}
	return false
}

// askToSignIn sends a browser to the sign-in page and back; a script gets an error.
func (rq *request) askToSignIn() {
	if rq.wantsJSON() {
		rq.showError(crowd.Errorf(crowd.Unauthenticated, "sign in first"))
		return
	}
	to := "/signin"
	if rq.r.Method == http.MethodGet {
		to += "?next=" + url.QueryEscape(rq.r.URL.RequestURI())
	}
	_ = rq.seeOther(to, "") // nothing was asked
}

func (rq *request) notFound() error { return errPage }
