package web

import (
	"net/http"
	"net/url"
	"os"
	"strconv"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/httpkit"
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

// handler answers a request. p is nil only on public routes. An error is shown
// as a page.
type handler func(s *server, w http.ResponseWriter, r *http.Request, p *access.Principal) error

// route is one entry of the table.
type route struct {
	pattern string
	access  audience
	handle  handler
	upload  bool // the limit of its body is that of files, not of forms
	// An action that may be refused names its form, in which $part is a part of the
	// path, and the page of that form: it is shown again, with what was typed and
	// what is wrong.
	form string
	page handler
}

// about makes a handler of one that is about what a part of the path names.
func about[ID any](part string, parse func(string) (ID, error), handle of[ID]) handler {
	return func(s *server, w http.ResponseWriter, r *http.Request, p *access.Principal) error {
		id, err := parse(r.PathValue(part))
		if err != nil {
			return err
		}
		return handle(s, w, r, p, id)
	}
}

// of is a handler about an ID.
type of[ID any] func(*server, http.ResponseWriter, *http.Request, *access.Principal, ID) error

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
		{pattern: "GET /{$}", access: public, handle: (*server).home},
		{pattern: "GET /signin", access: public, handle: (*server).signInPage},
		{pattern: "POST /signin", access: public, handle: (*server).signIn},
		{pattern: "POST /signout", access: signedIn, handle: (*server).signOut},
		{pattern: "GET /setup", access: public, handle: (*server).setupPage},
		{pattern: "POST /setup", access: public, handle: (*server).setup, form: "setup", page: (*server).setupPage},
		{pattern: "GET /invitation", access: public, handle: (*server).invitation},
		{pattern: "POST /invitation", access: public, handle: (*server).answerInvitation, form: "join", page: (*server).invitation},

		{pattern: "GET /qualify", access: signedIn, handle: (*server).qualify},
		{pattern: "GET /qualify/{test}", access: signedIn, handle: numbered("test", (*server).take)},
		{pattern: "POST /qualify/{test}/start", access: signedIn, handle: numbered("test", (*server).startTry)},
		{pattern: "POST /qualify/{test}/answers", access: signedIn, handle: numbered("test", (*server).submitTry)},

		{pattern: "GET /tokens", access: signedIn, handle: (*server).tokens},
		{pattern: "POST /tokens", access: signedIn, handle: (*server).createToken, form: "token", page: (*server).tokens},
		{pattern: "POST /tokens/{token}/revoke", access: signedIn, handle: numbered("token", (*server).revokeToken)},

		{pattern: "GET /work", access: worker, handle: (*server).work},
		{pattern: "POST /work/next", access: worker, handle: (*server).waitForWork},
		{pattern: "POST /work/submit", access: worker, handle: (*server).submit},
		{pattern: "POST /work/skip", access: worker, handle: (*server).skip},
		{pattern: "POST /work/return", access: worker, handle: (*server).giveBack},
		{pattern: "POST /work/heartbeat", access: worker, handle: (*server).heartbeat},
		{pattern: "GET /work/rest", access: worker, handle: (*server).rest},
		{pattern: "GET /work/earnings", access: worker, handle: (*server).earnings},
		{pattern: "GET /work/duty", access: worker, handle: (*server).watchDuty},
		{pattern: "POST /work/duty", access: worker, handle: (*server).comeIn},
		{pattern: "POST /work/decline", access: worker, handle: (*server).decline},
		{pattern: "POST /work/stop", access: worker, handle: (*server).stopWork},
		{pattern: "GET /work/wishes", access: worker, handle: (*server).wishes},
		{pattern: "POST /work/wishes", access: worker, handle: (*server).setWishes, form: "wishes", page: (*server).wishes},
		{pattern: "GET /work/push.js", access: public, handle: (*server).pushScript},
		{pattern: "POST /work/push", access: worker, handle: (*server).subscribe},
		{pattern: "POST /work/push/{subscription}/forget", access: worker, handle: numbered("subscription", (*server).unsubscribe)},
		{pattern: "GET /work/frame/{assignment}", access: worker, handle: (*server).workFrame},

		{pattern: "GET /batches", access: requester, handle: (*server).batches},
		{pattern: "GET /batches/new", access: requester, handle: (*server).newBatch},
		{pattern: "POST /batches", access: requester, handle: (*server).createBatch, upload: true, form: "new", page: (*server).newBatch},
		{pattern: "GET /batches/{batch}", access: requester, handle: ofBatch((*server).batch)},
		{pattern: "GET /batches/{batch}/frame/{task}", access: requester, handle: ofBatch((*server).previewFrame)},
		{pattern: "GET /batches/{batch}/preview", access: requester, handle: ofBatch((*server).preview)},
		{pattern: "POST /batches/{batch}/upload", access: requester, handle: ofBatch((*server).upload), upload: true, form: "upload", page: ofBatch((*server).batch)},
		{pattern: "POST /batches/{batch}/template", access: requester, handle: ofBatch((*server).editTemplate), form: "template", page: ofBatch((*server).batch)},
		{pattern: "POST /batches/{batch}/settings", access: requester, handle: ofBatch((*server).editSettings), form: "settings", page: ofBatch((*server).batch)},
		{pattern: "GET /batches/{batch}/confirm", access: requester, handle: ofBatch(confirm("/batches/", batchActions, aboutBatch))},
		{pattern: "POST /batches/{batch}/do", access: requester, handle: ofBatch(act("/batches/", batchActions))},
		{pattern: "POST /batches/{batch}/edit", access: requester, handle: ofBatch((*server).editBatch), form: "edit", page: ofBatch((*server).batch)},
		{pattern: "POST /batches/{batch}/topup", access: requester, handle: ofBatch((*server).topUp), form: "topup", page: ofBatch((*server).batch)},
		{pattern: "GET /batches/{batch}/events", access: requester, handle: ofBatch((*server).events)},
		{pattern: "GET /batches/{batch}/quality", access: requester, handle: ofBatch((*server).quality)},
		{pattern: "GET /runs", access: requester, handle: (*server).runs},
		{pattern: "GET /runs/new", access: requester, handle: (*server).newRun},
		{pattern: "POST /runs", access: requester, handle: (*server).createRun, form: "run", page: (*server).newRun},
		{pattern: "GET /runs/{run}", access: requester, handle: ofRun((*server).run)},
		{pattern: "POST /runs/{run}/inputs", access: requester, handle: ofRun((*server).loadRun), upload: true, form: "load", page: ofRun((*server).run)},
		{pattern: "GET /runs/{run}/events", access: requester, handle: ofRun((*server).runEvents)},
		{pattern: "GET /runs/{run}/confirm", access: requester, handle: ofRun(confirm("/runs/", runActions, aboutRun))},
		{pattern: "POST /runs/{run}/do", access: requester, handle: ofRun((*server).actRun), form: "load", page: ofRun((*server).run)},
		{pattern: "GET /runs/{run}/steps/{step}", access: requester, handle: ofRun((*server).runStep)},
		{pattern: "GET /runs/{run}/items/{item}", access: requester, handle: ofRun((*server).runItem)},
		{pattern: "GET /tenants/{tenant}/secrets", access: requester, handle: ofTenant((*server).secrets)},
		{pattern: "POST /tenants/{tenant}/secrets", access: requester, handle: ofTenant((*server).putSecret), form: "secret", page: ofTenant((*server).secrets)},
		{pattern: "GET /tenants/{tenant}/secrets/{secret}/delete", access: requester, handle: ofTenant((*server).confirmSecret)},
		{pattern: "POST /tenants/{tenant}/secrets/{secret}/delete", access: requester, handle: ofTenant((*server).deleteSecret)},
		{pattern: "GET /invitations", access: requester, handle: (*server).invitations},
		{pattern: "POST /invitations", access: requester, handle: (*server).invite, form: "invite", page: (*server).invitations},
		{pattern: "POST /invitations/{invitation}/resend", access: requester, handle: numbered("invitation", (*server).resendInvitation)},
		{pattern: "POST /invitations/{invitation}/withdraw", access: requester, handle: numbered("invitation", (*server).withdrawInvitation)},
		{pattern: "GET /tests", access: requester, handle: (*server).tests},
		{pattern: "POST /tests", access: requester, handle: (*server).createTest, upload: true, form: "test", page: (*server).tests},
		{pattern: "GET /tests/{test}", access: requester, handle: numbered("test", (*server).test)},
		{pattern: "POST /tests/{test}/retire", access: requester, handle: numbered("test", (*server).retireTest)},
		{pattern: "GET /tenants/{tenant}", access: requester, handle: ofTenant((*server).tenant)},
		{pattern: "POST /tenants/{tenant}/stop", access: requester, handle: ofTenant((*server).stopTenant)},
		{pattern: "POST /tenants/{tenant}/block", access: requester, handle: ofTenant((*server).blockWorker)},

		{pattern: "GET /admin", access: admin, handle: (*server).admin},
		{pattern: "POST /admin/stop", access: admin, handle: (*server).stopEverything},
		{pattern: "POST /admin/tenants", access: admin, handle: (*server).createTenant, form: "tenant", page: (*server).admin},
		{pattern: "POST /admin/tenants/{tenant}", access: admin, handle: ofTenant((*server).editTenant), form: "tenant-$tenant", page: (*server).admin},
		{pattern: "POST /admin/tenants/{tenant}/stop", access: admin, handle: ofTenant((*server).stopTenantHere)},
		{pattern: "POST /admin/tenants/{tenant}/deposit", access: admin, handle: ofTenant((*server).deposit), form: "deposit-$tenant", page: (*server).admin},
		{pattern: "POST /admin/pools", access: admin, handle: (*server).createPool, form: "pool", page: (*server).admin},
		{pattern: "GET /admin/pools/{pool}", access: admin, handle: ofPool((*server).pool)},
		{pattern: "GET /admin/pools/{pool}/settings", access: admin, handle: ofPool((*server).poolSettings)},
		{pattern: "POST /admin/pools/{pool}/settings", access: admin, handle: ofPool((*server).editPoolSettings), form: "control", page: ofPool((*server).poolSettings)},
		{pattern: "POST /admin/pools/{pool}/fund", access: admin, handle: ofPool((*server).fundPool), form: "fund", page: ofPool((*server).pool)},
		{pattern: "POST /admin/pools/{pool}/transfer", access: admin, handle: ofPool((*server).transfer), form: "transfer", page: ofPool((*server).pool)},
		{pattern: "POST /admin/pools/{pool}", access: admin, handle: ofPool((*server).editPool), form: "pool-$pool", page: (*server).admin},
		{pattern: "POST /admin/pools/{pool}/stop", access: admin, handle: ofPool((*server).stopPool)},
		{pattern: "GET /admin/people", access: admin, handle: (*server).people},
		{pattern: "POST /admin/people", access: admin, handle: (*server).createPerson, form: "person", page: (*server).people},
		{pattern: "GET /admin/people/{user}", access: admin, handle: ofPerson((*server).person)},
		{pattern: "POST /admin/people/{user}", access: admin, handle: ofPerson((*server).editPerson), form: "person", page: ofPerson((*server).person)},
		{pattern: "POST /admin/people/{user}/suspend", access: admin, handle: ofPerson((*server).suspend), form: "suspend", page: ofPerson((*server).person)},
		{pattern: "POST /admin/people/{user}/link", access: admin, handle: ofPerson((*server).newLink)},
	}
}

var (
	errCrossSite = crowd.Errorf(crowd.Forbidden, "this was sent from another site, so it was not done")
	errPage      = crowd.Errorf(crowd.NotFound, "there is no such page")
)

// guard puts in front of a handler what every route needs: the limits, the caller
// and whether they may come, and the page for errors.
func (s *server) guard(rt route) http.Handler {
	limit := int64(maxForm)
	if rt.upload {
		limit = s.MaxUpload
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", pageCSP)
		h.Set("Cache-Control", "no-store")
		r.Body = http.MaxBytesReader(w, r.Body, limit)
		p, err := s.App.Accounts.Authenticate(r.Context(), sessionOf(r))
		if err != nil && crowd.CodeOf(err) != crowd.Unauthenticated {
			s.showError(w, r, nil, err)
			return
		}
		switch {
		case rt.access == public:
		case p == nil:
			s.askToSignIn(w, r)
			return
		case !allowed(rt.access, p):
			s.showError(w, r, p, crowd.Errorf(crowd.Forbidden, "this page is for people with the role %s", rt.access))
			return
		}
		if err := rt.serve(s, w, r, p); err != nil {
			s.showError(w, r, p, err)
		}
	})
}

// serve reads the form of an action and carries the request out.
func (rt *route) serve(s *server, w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	if r.Method == http.MethodPost && !rt.upload {
		if err := readForm(r); err != nil {
			return err
		}
	}
	err := rt.handle(s, w, r, p)
	if rt.page == nil || wantsJSON(r) {
		return err
	}
	if f := refused(os.Expand(rt.form, r.PathValue), r.PostForm, err); f != nil {
		return rt.page(s, w, showing(r, once{form: f}), p)
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
		return p.Is(access.Worker)
	case requester:
		return p.Is(access.Requester) || p.Is(access.Admin)
	case admin:
		return p.Is(access.Admin)
	}
	return false
}

// askToSignIn sends a browser to the sign-in page and back; a script gets an error.
func (s *server) askToSignIn(w http.ResponseWriter, r *http.Request) {
	if wantsJSON(r) {
		s.showError(w, r, nil, crowd.Errorf(crowd.Unauthenticated, "sign in first"))
		return
	}
	to := "/signin"
	if r.Method == http.MethodGet {
		to += "?next=" + url.QueryEscape(r.URL.RequestURI())
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

func (s *server) notFound(_ http.ResponseWriter, _ *http.Request, _ *access.Principal) error {
	return errPage
}
