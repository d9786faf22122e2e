package web

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/httpkit"
)

// The policies of the pages. Nothing inline runs, nothing comes from elsewhere;
// only pages that show a task may load its pictures and sounds.
const (
	pageCSP = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
		"frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
	taskCSP = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: https: http:; media-src data: https: http:; connect-src 'self'; " +
		"frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

//go:embed templates/*.html
var templateFiles embed.FS

// pages are the parsed templates by name.
type pages map[string]*template.Template

// loadPages parses the pages: each has the layout, the partials (files that
// begin with "_") and its own file, which defines "main".
func loadPages(a assets) (pages, error) {
	base, err := template.New("").Funcs(funcs(a)).ParseFS(templateFiles, "templates/_*.html")
	if err != nil {
		return nil, err
	}
	files, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		return nil, err
	}
	out := make(pages)
	for _, file := range files {
		name := strings.TrimSuffix(path.Base(file), ".html")
		if strings.HasPrefix(name, "_") {
			continue
		}
		t, err := base.Clone()
		if err != nil {
			return nil, err
		}
		if out[name], err = t.ParseFS(templateFiles, file); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// page is what the layout shows around a page's own data.
type page struct {
	Title   string
	Section string // the entry of the menu that is marked
	Script  string // a module of static/, or ""
	Task    bool   // shows a task: may load its pictures and sounds
	Refresh int    // without JavaScript, load again after so many seconds
	Notice  string
	Data    any

	// Filled in by render.
	Form      *form  // what was sent and refused, or nil
	Name      string // who is signed in, or ""
	Now       time.Time
	AdminTabs []adminTab
	viewer
}

// viewer is who has signed in, as the templates ask before they show a form or a link.
type viewer struct{ p *access.Principal }

// May reports whether the viewer may call an operation of the table: for any tenant, or, if
// one is given, for that. What nobody may call who is not signed in is not shown to them.
func (v viewer) May(operation string, tenant ...crowd.TenantID) (bool, error) {
	o, found := access.FindOperation(operation)
	switch {
	case !found:
		return false, fmt.Errorf("there is no operation %q", operation)
	case v.p == nil:
		return false, nil
	case len(tenant) > 0:
		return v.p.MayFor(o, tenant[0]) == nil, nil
	}
	return v.p.May(o) == nil, nil
}

// MustEnrol reports whether the viewer has to set up a second factor before anything else.
func (v viewer) MustEnrol() bool { return v.p != nil && v.p.MustEnrol }

// MayHere is May for a tenant, or for any tenant if none is chosen.
func (v viewer) MayHere(operation string, tenant crowd.TenantID) (bool, error) {
	if tenant == 0 {
		return v.May(operation)
	}
	return v.May(operation, tenant)
}

// adminTab is a page of the administration.
type adminTab struct {
	Key, Path, Text string
	operation       access.Operation
}

var adminTabs = []adminTab{
	{"admin", "/admin", "Tenants and pools", access.PoolsGet},
	{"services", "/admin/services", "Services", access.ServicesWhole},
	{"quotas", "/admin/quotas", "Quotas", access.TenantsSetQuotas},
	{"people", "/admin/people", "People", access.AccountsWholeUsers},
	{"roles", "/admin/roles", "Roles", access.AccountsWholeUsers},
	{"tokens", "/admin/tokens", "Tokens", access.AccountsAllTokens},
	{"providers", "/admin/providers", "Providers", access.ProvisioningProviders},
	{"audit", "/admin/audit", "Audit log", access.AuditWhole},
}

// notices are the texts of ?did=…, which a redirect after an action carries.
var notices = map[string]string{
	"answered":    "Your answer is in.",
	"undoable":    "Your answer is in. It counts in a while; until then you may take it back.",
	"revised":     "Your new answer is in place of the one before.",
	"stands":      "That answer can no longer be taken back.",
	"late":        "Your answer came after the time was up. It is kept, but does not count and is not paid.",
	"over":        "Your answer came when the batch had ended. It is kept, but does not count and is not paid.",
	"kept":        "Your answer is kept, but the task no longer needed one.",
	"again":       "You have answered this task already; your first answer is kept.",
	"gone":        "That task was no longer yours.",
	"skipped":     "Skipped.",
	"reported":    "Thank you: the requester sees what you said. You do not get that task again.",
	"corrected":   "Corrected. It is the label from now on.",
	"reverted":    "The correction is taken back. The label is what the answers say.",
	"approved":    "Approved, and paid.",
	"pay-refused": "Refused. The worker reads why, and may appeal.",
	"granted":     "Paid.",
	"upheld":      "It stays refused, and the money has gone back to the account.",
	"appealed":    "Your appeal is in. You are paid if nobody decides it in time.",
	"replied":     "Answered. Whoever gets the task from now on sees it.",
	"sentback":    "Sent back. The answer counts no more, and what was earned stays paid.",
	"disregarded": "Their answers are disregarded. What they earned stays theirs.",
	"undone":      "Undone. Their figures begin at nothing.",
	"saved":       "Saved.",
	"suspended":   "Suspended. Tokens and unused one-time links that they made for others have ended, too: the audit log says whose, if there were some.",
	"uploaded":    "The file is in. Here is what a worker will see.",
	"launched":    "Launched.",
	"paused":      "Paused. Nothing new is handed out; what is held may still be submitted.",
	"resumed":     "Resumed.",
	"ended":       "Ended, with the labels that there are.",
	"cancelled":   "Cancelled.",
	"stopped":     "Stopped.",
	"restarted":   "The stop is lifted.",
	"added":       "The tasks are added.",
	"takenout":    "The task is taken out. Whoever holds it may finish it and is paid.",
	"topped":      "The budget is raised.",
	"deposited":   "The money is in the account.",
	"taken":       "The money was taken out of the account.",
	"revoked":     "The token is revoked.",
	"revokedwith": "The token is revoked, and so are the tokens and one-time links that were made with it.",
	"password":    "Your password is changed. You are signed out everywhere else, and your tokens for programs are good no longer.",
	"factor":      "From now on you are asked for it when you sign in.",
	"unfactored":  "The second factor is removed.",
	"reset":       "Their second factors are removed, and they are signed out everywhere.",
	"sessionend":  "The session is ended.",
	"signedout":   "You are signed out.",
	"asked":       "A mail is on its way: follow the link in it.",
	"askedthem":   "A mail is on its way to them.",
	"verified":    "The address is yours.",
	"onduty":      "You are on duty.",
	"offduty":     "You are off duty. Thank you for your work.",
	"full":        "Thank you for coming! Others were first, and everybody who is needed is there. You will be called again.",
	"declined":    "All right, not this time.",
	"funded":      "The pool's money is changed.",
	"moved":       "Moved.",
	"moving":      "They move when they have finished their task.",
	"blocked":     "The worker gets no more tasks of this tenant.",
	"made":        "The workflow is in order. Give it its files, then start it.",
	"ready":       "Ready to start.",
	"remade":      "The run is made again, without its files; the first one is cancelled.",
	"loaded":      "The files are in.",
	"rowsadded":   "The rows are added.",
	"rowsknown":   "Rows of this file had been added before, from this page: they are not added again. To add them once more, choose the file anew on the page as it is now.",
	"sealed":      "Sealed: no more rows come.",
	"started":     "Started.",
	"redone":      "It is being done anew.",
	"stepended":   "The step ends, with the labels that there are.",
	"retried":     "What was held is tried again.",
	"givenup":     "The held items are given up: they go on as failed.",
	"forgotten":   "The secret is deleted.",
	"erased":      "The person is erased.",
	"removed":     "The service is removed.",
	"unmade":      "The role is removed.",
	"rolegiven":   "The role is given.",
	"roletaken":   "The role is taken away.",
	"joined":      "Welcome! You are signed in.",
	"resent":      "The invitation is sent again.",
	"withdrawn":   "The invitation is withdrawn: its link works no longer.",
	"unblocked":   "The worker may do this tenant's tasks again.",
}

// render sends a page with the status of the form that was refused, or 200.
func (rq *request) render(name string, pg page) error {
	return rq.renderStatus(rq.form.status(), name, pg)
}

func (rq *request) renderStatus(status int, name string, pg page) error {
	t := rq.pages[name]
	switch {
	case rq.err != nil:
		return rq.err
	case t == nil:
		return fmt.Errorf("web: there is no page %q", name)
	}
	pg.Now, pg.Form, pg.viewer = rq.Now().UTC(), rq.form, viewer{rq.p}
	if rq.form != nil && len(rq.form.Errs) > 0 {
		httpkit.SetRetryAfter(rq.w.Header(), rq.form.Errs[0])
	}
	if p := rq.p; p != nil {
		pg.Name = p.User.Name
		pg.AdminTabs = lists.Filter(adminTabs, func(tab adminTab) bool { return allowed(tab.operation, p) })
	}
	if pg.Notice == "" {
		query := rq.r.URL.Query()
		pg.Notice = notices[query.Get("did")]
		if n, err := strconv.Atoi(query.Get(droppedName)); err == nil && n > 0 {
			pg.Notice += " " + plural(n, "row") + " of the file dropped: the same were there before."
		}
		for _, text := range query[delimiterName] {
			if d, err := table.ParseDelimiter(text); err == nil && d != 0 && pg.Notice != "" {
				pg.Notice += " Between the cells of the file stood: " + d.String()
			}
		}
	}
	var out bytes.Buffer
	if err := t.ExecuteTemplate(&out, "layout", &pg); err != nil {
		return fmt.Errorf("web: page %s: %w", name, err)
	}
	if pg.Task {
		rq.w.Header().Set("Content-Security-Policy", taskCSP)
	}
	rq.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	rq.w.WriteHeader(status)
	_, _ = out.WriteTo(rq.w) // the client may be gone
	return nil
}

// fragment renders a part of a page, for scripts.
func (rq *request) fragment(name, part string, data any) string {
	var out strings.Builder
	if err := rq.pages[name].ExecuteTemplate(&out, part, data); err != nil {
		rq.check(fmt.Errorf("web: part %s of %s: %w", part, name, err))
	}
	return out.String()
}

func (rq *request) wantsJSON() bool { return rq.r.Header.Get("Accept") == "application/json" }

func (rq *request) sendJSON(body any) error { return rq.sendJSONStatus(http.StatusOK, body) }

func (rq *request) sendJSONStatus(status int, body any) error {
	text, err := json.Marshal(body)
	rq.check(err)
	if rq.err != nil {
		return rq.err
	}
	rq.w.Header().Set("Content-Type", "application/json")
	rq.w.WriteHeader(status)
	_, _ = rq.w.Write(text) // the client may be gone
	return nil
}

// headline says what an error is about, by its code.
var headline = map[crowd.Code]string{
	crowd.Invalid:         "That does not fit",
	crowd.NotFound:        "Not found",
	crowd.Unauthenticated: "Please sign in",
	crowd.Forbidden:       "Not allowed",
	crowd.OffDuty:         "You are off duty",
	crowd.Conflict:        "That is not possible now",
	crowd.TooLarge:        "Too large",
	crowd.TooMany:         "Too often",
	crowd.BudgetTooSmall:  "Not enough money",
	crowd.StorageFull:     "There is no room",
	crowd.QuotaExceeded:   "A quota does not suffice",
	crowd.Unavailable:     "Try again in a moment",
	crowd.Internal:        "Something went wrong",
}

// showError answers with an error: a page, or JSON for the page's own scripts.
func (rq *request) showError(err error) {
	if rq.ctx().Err() != nil {
		return // nobody is there to read it
	}
	rq.form, rq.made, rq.err = nil, nil, nil // only the error is shown
	httpkit.LogError(rq.ctx(), rq.Log, rq.r, err)
	e := httpkit.Public(err)
	httpkit.SetRetryAfter(rq.w.Header(), e)
	status := httpkit.Status(e.Code)
	if rq.wantsJSON() {
		_ = rq.sendJSONStatus(status, map[string]string{"code": string(e.Code), "error": e.Error()}) // strings always encode
		return
	}
	pg := page{Title: headline[e.Code], Data: map[string]string{"Code": string(e.Code), "Text": sentence(e.Error())}}
	if err := rq.renderStatus(status, "error", pg); err != nil {
		rq.Log.Error("the error page failed", "err", err)
		http.Error(rq.w, "Internal error", http.StatusInternalServerError)
	}
}

// droppedName is the part of an address that says how many rows of a file were dropped.
const droppedName = "dropped"

// delimiterName is the part of an address that says what stood between the cells of a file.
const delimiterName = "by"

// readAs is what a notice about files is followed by: how many rows of them were dropped, and
// what stood between the cells.
func readAs(dropped int64, by ...table.Delimiter) string {
	text := ""
	if dropped != 0 {
		text = "&" + droppedName + "=" + strconv.FormatInt(dropped, 10)
	}
	for i, d := range by {
		if d != 0 && !slices.Contains(by[:i], d) {
			text += "&" + delimiterName + "=" + url.QueryEscape(d.String())
		}
	}
	return text
}

// done ends an action that may have failed, as seeOther does.
func (rq *request) done(err error, to, did string) error {
	if err != nil {
		return err
	}
	return rq.seeOther(to, did)
}

// seeOther ends an action: the browser loads the page to, which shows the
// notice did.
func (rq *request) seeOther(to, did string) error {
	if did != "" {
		to += "?did=" + did
	}
	if rq.err == nil {
		http.Redirect(rq.w, rq.r, to, http.StatusSeeOther)
	}
	return rq.err
}
