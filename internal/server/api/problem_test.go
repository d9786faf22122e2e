package api_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/server"
	"github.com/throng-dev/throng/internal/server/httpkit"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/label"
)

func TestBadInput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	draft := w.draft("thing\na dog\n").String()
	running := w.launch("thing\na dog\n").String()
	held := w.next(w.workers[0]).Assignment.String()
	batch := func(change string) string {
		return `{"name": "x", "template": ` + yesOrNo + `, "reward_micros": 10000` + change + `}`
	}
	past := time.Now().Add(-time.Hour).Format(time.RFC3339)
	template := func(t string) string { return `{"name": "x", "reward_micros": 1, "template": ` + t + `}` }
	for name, x := range map[string]struct {
		by                 *client.Client
		method, path, body string
		status             int
		field              string // of one of the errors; "": none is named
	}{
		"no JSON":                               {w.ann, "POST", "/v1/batches", `{"name"`, 400, ""},
		"a field that is not there":             {w.ann, "POST", "/v1/batches", batch(`, "colour": "red"`), 422, "colour"},
		"a token for nobody":                    {w.admin, "POST", "/v1/tokens", `{"name": "x17", "for": "x17"}`, 422, "for"},
		"a field in another case":               {w.ann, "POST", "/v1/batches", batch(`, "Name": "` + strings.Repeat("n", 300) + `"`), 422, "Name"},
		"a field twice":                         {w.ann, "POST", "/v1/batches", batch(`, "reward_micros": 5`), 400, ""},
		"a field twice, inside":                 {w.ann, "POST", "/v1/batches", batch(`, "redundancy": {"count": 3, "count": 5}`), 400, ""},
		"an object twice":                       {w.ann, "POST", "/v1/batches", batch(`, "redundancy": {"count": 5000}, "redundancy": {}`), 400, ""},
		"a task beyond 32 bits":                 {w.ann, "DELETE", "/v1/batches/" + running + "/tasks/4294967297", "", 422, "path.n"},
		"a look beyond 32 bits":                 {w.ann, "GET", "/v1/batches/" + running + "/preview/4294967297", "", 422, "path.n"},
		"tasks after more than 32 bits":         {w.ann, "POST", "/v1/batches/" + running + "/tasks?after=4294967297", "thing\na cat\n", 422, "query.after"},
		"a field of the wrong type":             {w.ann, "POST", "/v1/batches", batch(`, "priority": "high"`), 422, "priority"},
		"a field that is missing":               {w.ann, "POST", "/v1/batches", `{"template": {}, "reward_micros": 1}`, 422, "name"},
		"a price of zero":                       {w.ann, "POST", "/v1/batches", `{"name": "x", "template": ` + yesOrNo + `, "reward_micros": 0}`, 422, "reward_micros"},
		"a negative price":                      {w.ann, "POST", "/v1/batches", `{"name": "x", "template": ` + yesOrNo + `, "reward_micros": -5}`, 422, "reward_micros"},
		"a deadline in the past":                {w.ann, "POST", "/v1/batches", batch(`, "deadline": "` + past + `"`), 422, "deadline"},
		"the first deadline of all":             {w.ann, "POST", "/v1/batches", batch(`, "deadline": "0001-01-01T00:00:00Z"`), 422, "deadline"},
		"the first end of all":                  {w.ann, "POST", "/v1/batches", batch(`, "ends_at": "0001-01-01T01:00:00+01:00"`), 422, "ends_at"},
		"an edit to the first deadline of all":  {w.ann, "PATCH", "/v1/batches/" + running, `{"deadline": "0001-01-01T00:00:00Z"}`, 422, "deadline"},
		"an edit to the year before the first":  {w.ann, "PATCH", "/v1/batches/" + running, `{"deadline": "0000-12-31T23:00:00-01:00"}`, 422, "deadline"},
		"an edit to a deadline and to none":     {w.ann, "PATCH", "/v1/batches/" + running, `{"deadline": "2999-01-01T00:00:00Z", "clear_deadline": true}`, 422, "clear_deadline"},
		"tasks after nothing":                   {w.ann, "POST", "/v1/batches/" + running + "/tasks?add_budget=true&after=", "thing\na cat\n", 422, "after"},
		"tasks after no task":                   {w.ann, "POST", "/v1/batches/" + running + "/tasks?add_budget=true&after=0", "thing\na cat\n", 422, "query.after"},
		"tasks after what cannot be read":       {w.ann, "POST", "/v1/batches/" + running + "/tasks?add_budget=true&after=%zz", "thing\na cat\n", 422, ""},
		"tasks with duplicates as nothing":      {w.ann, "POST", "/v1/batches/" + running + "/tasks?add_budget=true&duplicates=", "thing\na dog\n", 422, "duplicates"},
		"an end in the past":                    {w.ann, "POST", "/v1/batches", batch(`, "ends_at": "` + past + `"`), 422, "ends_at"},
		"no date":                               {w.ann, "POST", "/v1/batches", batch(`, "deadline": "tomorrow"`), 422, "deadline"},
		"a budget too small for one task":       {w.ann, "POST", "/v1/batches", batch(`, "budget_micros": 9999`), 402, "budget_micros"},
		"a lease too long":                      {w.ann, "POST", "/v1/batches", batch(`, "lease_seconds": 99999999`), 422, "lease_seconds"},
		"a redundancy of no kind":               {w.ann, "POST", "/v1/batches", batch(`, "redundancy": {"agree": 2}`), 422, "redundancy.of"},
		"a redundancy that cannot be":           {w.ann, "POST", "/v1/batches", batch(`, "redundancy": {"agree": 3, "of": 2}`), 422, "redundancy.agree"},
		"a redundancy of 5000":                  {w.ann, "POST", "/v1/batches", batch(`, "redundancy": {"count": 5000}`), 422, "redundancy.count"},
		"an edit to a redundancy of none":       {w.ann, "PATCH", "/v1/batches/" + running, `{"redundancy": {"count": 0}}`, 422, "redundancy.count"},
		"an edit to no redundancy":              {w.ann, "PATCH", "/v1/batches/" + running, `{"redundancy": {}}`, 422, "redundancy"},
		"an edit to less than one answer":       {w.ann, "PATCH", "/v1/batches/" + running, `{"enough": {"spent_micros": 1}}`, 422, "enough.spent_micros"},
		"enough of no labels":                   {w.ann, "PATCH", "/v1/batches/" + running, `{"enough": {"labels": 0}}`, 422, "enough.labels"},
		"enough of more labels than there are":  {w.ann, "PATCH", "/v1/batches/" + running, `{"enough": {"labels": 4611686018427387904}}`, 422, "enough.labels"},
		"a batch of more labels than there are": {w.ann, "POST", "/v1/batches", batch(`, "enough": {"labels": 4611686018427387904}`), 422, "enough.labels"},
		"enough of next to no share":            {w.ann, "PATCH", "/v1/batches/" + running, `{"enough": {"share": 1e-7}}`, 422, "enough.share"},
		"enough of no share":                    {w.ann, "PATCH", "/v1/batches/" + running, `{"enough": {"share": 0}}`, 422, "enough.share"},
		"a budget beyond all money":             {w.ann, "POST", "/v1/runs", `{"workflow": "workflow: w\ninputs: {a: {columns: [x]}}\nsteps: {s: {from: a, sql: select x from a}}\n", "budget_micros": 9223372036854775807}`, 422, "budget_micros"},
		"a service of all tenants and of some":  {w.admin, "POST", "/v1/services", `{"name": "s", "url": "https://s.example", "concurrency": 1, "tenants": ["n1"], "all_tenants": true}`, 422, "tenants"},
		"a service of a tenant twice":           {w.admin, "POST", "/v1/services", `{"name": "s", "url": "https://s.example", "concurrency": 1, "tenants": ["n1", "n1"]}`, 422, "tenants"},
		"enough of less than nothing":           {w.ann, "PATCH", "/v1/batches/" + running, `{"enough": {"spent_micros": -4}}`, 422, "enough.spent_micros"},
		"an edit to a priority beyond all":      {w.ann, "PATCH", "/v1/batches/" + running, `{"priority": 1e308}`, 422, "priority"},
		"a priority that is no float":           {w.ann, "PATCH", "/v1/batches/" + running, `{"production": true, "priority": 1e999}`, 400, "priority"},
		"a number within that is no float":      {w.admin, "PATCH", "/v1/pools/p1", `{"control": {"target": {"salary": -1e999}}}`, 400, "control.target.salary"},
		"a priority next to nothing":            {w.ann, "POST", "/v1/batches", batch(`, "priority": 1e-300`), 422, "priority"},
		"a tenant's priority beyond all":        {w.admin, "PATCH", "/v1/tenants/" + w.a.String(), `{"max_priority": 1e308}`, 422, "max_priority"},
		"a salary beyond all":                   {w.admin, "PATCH", "/v1/pools/p1", `{"control": {"target": {"salary": 1e308}}}`, 422, "control.target.salary"},
		"a tenant's id of no kind":              {w.ann, "POST", "/v1/batches", batch(`, "tenant": "x"`), 422, "tenant"},
		"another tenant":                        {w.ann, "POST", "/v1/batches", batch(`, "tenant": "` + w.b.String() + `"`), 404, "tenant"},
		"a pool that is not there":              {w.ann, "POST", "/v1/batches", batch(`, "pool": "p99"`), 422, "pool"},
		"a template of no kind":                 {w.ann, "POST", "/v1/batches", template(`{"kind": "dance"}`), 422, "template.kind"},
		"a template with one option":            {w.ann, "POST", "/v1/batches", template(`{"kind": "choose_one", "question": "?", "options": ["yes"]}`), 422, "options"},
		"a rating without a question":           {w.ann, "POST", "/v1/batches", template(`{"kind": "rating", "points": 5}`), 422, "question"},
		"a scale of no points":                  {w.ann, "POST", "/v1/batches", template(`{"kind": "rating", "question": "?", "points": null}`), 422, "points"},
		"a template that says too much":         {w.ann, "POST", "/v1/batches", template(`{"kind": "choose_many", "question": "?", "options": [` + strings.Repeat(`{"value": "yes", "label": "`+strings.Repeat("x", 1000)+`"},`, 300) + `"no"]}`), 413, "template"},
		"a column that is not there":            {w.ann, "PUT", "/v1/batches/" + w.draft("thing\na dog\n").String(), template(`{"kind": "choose_one", "question": "${colour}?", "options": ["yes", "no"]}`), 422, "question"},
		"a file with the wrong columns":         {w.ann, "PUT", "/v1/batches/" + draft + "/tasks", "colour\nred\n", 422, "question"},
		"a row too short":                       {w.ann, "PUT", "/v1/batches/" + draft + "/tasks", "thing,of\na,b\nc\n", 422, "line 3"},
		"a format of no kind":                   {w.ann, "PUT", "/v1/batches/" + draft + "/tasks?format=xls", "thing\na\n", 422, "query.format"},
		"tasks for what runs":                   {w.ann, "PUT", "/v1/batches/" + running + "/tasks", "thing\na\n", 409, ""},
		"a launch for too few people":           {w.ann, "POST", "/v1/batches/" + w.crowded() + "/launch", "", 422, "redundancy"},
		"a launch without tasks":                {w.ann, "POST", "/v1/batches/" + must(w.ann.CreateBatch(w.ctx, definition()))(t).ID.String() + "/launch", "", 422, "tasks"},
		"a launch of what runs":                 {w.ann, "POST", "/v1/batches/" + running + "/launch", "", 409, ""},
		"more money than there is":              {w.ann, "POST", "/v1/batches/" + running + "/top-up", `{"amount_micros": 999999999999}`, 402, "amount_micros"},
		"no money":                              {w.ann, "POST", "/v1/batches/" + running + "/top-up", `{"amount_micros": 0}`, 422, "amount_micros"},
		"a deposit of nothing":                  {w.admin, "POST", "/v1/tenants/" + w.a.String() + "/deposits", `{"amount_micros": 0}`, 422, "amount_micros"},
		"more taken out than there is":          {w.admin, "POST", "/v1/tenants/" + w.a.String() + "/deposits", `{"amount_micros": -999999999999}`, 422, "amount_micros"},
		"an admin's work by somebody":           {w.ann, "POST", "/v1/tenants", `{"name": "x"}`, 403, ""},
		"a name that is taken":                  {w.admin, "POST", "/v1/tenants", `{"name": "ants"}`, 409, "name"},
		"a weight of zero":                      {w.admin, "POST", "/v1/tenants", `{"name": "x", "weight": 0}`, 422, "weight"},
		"a highest priority of zero":            {w.admin, "POST", "/v1/tenants", `{"name": "x", "max_priority": 0}`, 422, "max_priority"},
		"a tenant with a negative deposit":      {w.admin, "POST", "/v1/tenants", `{"name": "debtors", "deposit_micros": -1}`, 422, "deposit_micros"},
		"a policy of no kind":                   {w.admin, "POST", "/v1/pools", `{"name": "x", "policy": "best"}`, 422, "policy"},
		"an answer that does not fit":           {w.workers[0], "POST", "/v1/work/" + held + "/submit", `{"answer": "maybe"}`, 422, "label"},
		"an answer with something else":         {w.workers[0], "POST", "/v1/work/" + held + "/submit", `{"answer": "yes", "x": 1}`, 422, "x"},
		"an answer of another type":             {w.workers[0], "POST", "/v1/work/" + held + "/submit", `{"answer": "yes", "next": "y"}`, 422, "next"},
		"a list in place of an answer":          {w.workers[0], "POST", "/v1/work/" + held + "/submit", `[]`, 422, ""},
		"a price beyond all numbers":            {w.ann, "POST", "/v1/batches", strings.Replace(template(`{"kind": "short_text"}`), `"reward_micros": 1`, `"reward_micros": 92233720368547758070`, 1), 422, "reward_micros"},
		"a path of no kind":                     {w.ann, "GET", "/v1/nope", "", 404, ""},
		"a method that a path has not":          {w.ann, "DELETE", "/v1/batches", "", 404, ""},
		"no answer":                             {w.workers[0], "POST", "/v1/work/" + held + "/submit", `{}`, 422, "answer"},
		"an answer to somebody else's task":     {w.workers[1], "POST", "/v1/work/" + held + "/submit", `{"answer": "yes"}`, 404, "assignment"},
		"an answer by no worker":                {w.ann, "POST", "/v1/work/" + held + "/submit", `{"answer": "yes"}`, 403, ""},
		"a wait too long":                       {w.workers[0], "POST", "/v1/work/next?wait_seconds=61", "", 422, "query.wait_seconds"},
		"a limit too high":                      {w.ann, "GET", "/v1/batches?limit=100000", "", 422, "query.limit"},
		"a method of no kind":                   {w.ann, "GET", "/v1/batches/" + running + "/labels?method=best", "", 422, "query.method"},
		"a wrong password":                      {w.nobody, "POST", "/v1/session", `{"name": "ann", "password": "x"}`, 401, ""},
		"a link that was never made":            {w.nobody, "POST", "/v1/setup", `{"token": "setup_x", "password": "long enough it is"}`, 404, ""},
		"a password too short":                  {w.nobody, "POST", "/v1/setup", `{"token": "setup_x", "password": "x"}`, 422, "password"},
		"a role of no kind":                     {w.ann, "POST", "/v1/tokens", `{"name": "x", "roles": ["king"]}`, 422, "roles"},
		"a body too large":                      {w.ann, "POST", "/v1/tokens", `{"name": "` + strings.Repeat("x", 2<<20) + `"}`, 413, ""},
		"a template too large for any request":  {w.ann, "POST", "/v1/batches", template(`{"kind": "html", "html": "` + strings.Repeat("x", 5<<20) + `"}`), 413, ""},
		"a form in place of JSON":               {w.ann, "POST", "/v1/tokens", `name=x`, 415, ""},
	} {
		t.Run(name, func(t *testing.T) {
			kind := "application/json"
			if x.status == http.StatusUnsupportedMediaType {
				kind = "application/x-www-form-urlencoded"
			}
			a := w.send(x.by, x.method, x.path, x.body, "Content-Type", kind)
			p := a.problem(t)
			if a.StatusCode != x.status {
				t.Errorf("status %d, want %d: %s", a.StatusCode, x.status, a.body)
			}
			if x.status == http.StatusRequestEntityTooLarge && p.Code != crowd.TooLarge {
				t.Errorf("the code is %s", p.Code)
			}
			if len(p.Detail) > 1000 {
				t.Errorf("it says %d bytes: %.200s…", len(p.Detail), p.Detail)
			}
			if x.field == "" {
				return
			}
			if !slices.ContainsFunc(p.Errors, func(n wire.FieldNote) bool {
				return n.Message != "" && (n.Field == x.field || (n.Line == 3 && x.field == "line 3"))
			}) {
				t.Errorf("%s is not named: %s", x.field, a.body)
			}
		})
	}
}

// crowded is a draft that wants answers from more people than there are.
func (w *world) crowded() string {
	w.t.Helper()
	d := definition()
	d.Redundancy = ptr(label.Count(3))
	b := must(w.ann.CreateBatch(w.ctx, d))(w.t)
	must(w.ann.Upload(w.ctx, b.ID, strings.NewReader("thing\na dog\n"), "", false))(w.t)
	return b.ID.String()
}

// brokenBatches is a store that cannot read batches.
type brokenBatches struct{ store.Store }

const secretText = "/var/lib/throng/throng.db: disk I/O error 10"

func (brokenBatches) Batch(context.Context, crowd.TenantID, crowd.BatchID) (store.Batch, error) {
	return store.Batch{}, errors.New(secretText)
}

func TestUnknownErrorsAreNotTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *setup) { s.wrap = func(s store.Store) store.Store { return brokenBatches{s} } })
	for _, c := range []*client.Client{w.admin, w.ann} {
		a := w.send(c, http.MethodGet, "/v1/batches/b1", "")
		p := a.problem(t)
		if a.StatusCode != http.StatusInternalServerError || p.Code != crowd.Internal || strings.Contains(string(a.body), "disk") {
			t.Errorf("status %d: %s", a.StatusCode, a.body)
		}
	}
	w.close()
	if !strings.Contains(w.log.String(), secretText) {
		t.Errorf("the log does not say it: %s", &w.log)
	}
}

// TestCrossSiteRequestsAreRefused: a page of another site cannot use a
// browser's session.
func TestCrossSiteRequestsAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	handler, err := server.Handler(w.app, server.Config{Log: discard, Version: "test"})
	ok(t, err)
	for name, x := range map[string]struct {
		site, origin, method string
		refused              bool
	}{
		"from the page itself":         {site: "same-origin", method: "POST"},
		"from a program":               {method: "POST"},
		"from another site":            {site: "cross-site", method: "POST", refused: true},
		"from another part of ours":    {site: "same-site", method: "POST", refused: true},
		"from an old browser":          {origin: "https://evil.example", method: "POST", refused: true},
		"reading, from another site":   {site: "cross-site", method: "GET"},
		"deleting, from another site":  {site: "cross-site", method: "DELETE", refused: true},
		"uploading, from another site": {site: "cross-site", method: "PUT", refused: true},
	} {
		path := map[string]string{"POST": "/v1/work/next", "GET": "/v1/me", "DELETE": "/v1/session", "PUT": "/v1/batches/b1/tasks"}[x.method]
		r := httptest.NewRequest(x.method, path, nil)
		r.AddCookie(&http.Cookie{Name: httpkit.SessionCookie, Value: w.workers[0].Token})
		for key, value := range map[string]string{"Sec-Fetch-Site": x.site, "Origin": x.origin} {
			if value != "" {
				r.Header.Set(key, value)
			}
		}
		got := httptest.NewRecorder()
		handler.ServeHTTP(got, r)
		if x.refused != (got.Code == http.StatusForbidden) || (!x.refused && got.Code != http.StatusOK) {
			t.Errorf("%s: status %d %s", name, got.Code, got.Body)
		}
	}
	ok(t, second(w.workers[0].Me(w.ctx))) // the session has not been ended
}

func second[T any](_ T, err error) error { return err }

// TestAFileIsOfItsContentType: JSON Lines that are no objects are not taken as CSV.
func TestAFileIsOfItsContentType(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	draft := w.draft("thing\na dog\n")
	for _, kind := range []string{"application/jsonl", "application/x-ndjson; charset=utf-8"} {
		for _, line := range []string{"null", "[1]", "5", `"x"`} {
			resp := w.send(w.ann, http.MethodPut, "/v1/batches/"+draft.String()+"/tasks", line+"\n", "Content-Type", kind)
			if resp.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(string(resp.body), "line 1") {
				t.Errorf("%s as %s: %s %s", line, kind, resp.Status, resp.body)
			}
		}
	}
	if b := must(w.ann.Batch(w.ctx, draft))(t); b.Tasks != 1 {
		t.Errorf("the draft has %d tasks", b.Tasks)
	}
}

// What anybody may send is small: a larger body is refused before it is read.
func TestPublicBodiesAreSmall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, path := range []string{"/v1/session", "/v1/setup", "/v1/invitation/join", "/v1/invitation/decline"} {
		for size, want := range map[int]bool{8 << 10: false, 1 << 20: true} {
			body := `{"name":"` + strings.Repeat("x", size) + `","password":"x","token":"x"}`
			resp := must(w.nobody.HTTP.Post("http://throng"+path, "application/json", strings.NewReader(body)))(t)
			_ = resp.Body.Close()
			if got := resp.StatusCode == http.StatusRequestEntityTooLarge; got != want {
				t.Errorf("%s with %d bytes: %d", path, size, resp.StatusCode)
			}
		}
	}
}

// Bodies are bounded to the byte.
func TestBodiesAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	draft := w.draft("thing\na dog\n").String()
	for _, x := range []struct {
		by           *client.Client
		method, path string
		bound        int // the fewest bytes that are too many
	}{
		{w.ann, http.MethodPost, "/v1/tokens", 1 << 20},
		{w.ann, http.MethodPost, "/v1/batches", 4 << 20},
		{w.ann, http.MethodPut, "/v1/batches/" + draft, 4 << 20},
		{w.ann, http.MethodPost, "/v1/runs", 4 << 20},
		{w.admin, http.MethodPost, "/v1/invitations", 4 << 20},
		{w.ann, http.MethodPost, "/v1/tests", 8 << 20},
		{w.workers[0], http.MethodPost, "/v1/my-tests/1/submit", 8 << 20},
	} {
		for size, want := range map[int]bool{x.bound - 1: false, x.bound: true} {
			resp := w.send(x.by, x.method, x.path, strings.Repeat(" ", size-2)+"{}")
			if got := resp.StatusCode == http.StatusRequestEntityTooLarge; got != want {
				t.Errorf("%s %s with %d bytes: %s %.200s", x.method, x.path, size, resp.Status, resp.body)
			}
		}
	}
}

// TestCodesOfHTTP: docs/api.md names each status that comes with a code, also those of
// bodies that do not come or cannot be read.
func TestCodesOfHTTP(t *testing.T) {
	t.Parallel()
	page := string(must(os.ReadFile("../../../docs/api.md"))(t))
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		never, more := io.Pipe()
		defer more.Close()
		for want, x := range map[int]struct {
			kind string
			body io.Reader
		}{
			http.StatusBadRequest:           {"application/json", strings.NewReader("{")},
			http.StatusUnsupportedMediaType: {"image/png", strings.NewReader("{}")},
			http.StatusUnprocessableEntity:  {"application/json", strings.NewReader("{}")},
			http.StatusRequestTimeout:       {"application/json", never},
		} {
			req := must(http.NewRequestWithContext(w.ctx, http.MethodPost, w.ann.URL+"/v1/tokens", x.body))(t)
			req.Header.Set("Content-Type", x.kind)
			req.Header.Set("Authorization", "Bearer "+w.ann.Token)
			begun := time.Now()
			resp := must(w.ann.HTTP.Do(req))(t)
			p := answer{resp, must(io.ReadAll(resp.Body))(t)}.problem(t)
			_ = resp.Body.Close()
			if took := time.Since(begun); p.Status != want || want == http.StatusRequestTimeout && took != 5*time.Second {
				t.Errorf("status %d after %v, want %d", p.Status, took, want)
			}
			_, row, _ := strings.Cut(page, "\n| `"+string(p.Code)+"` |")
			if row, _, _ = strings.Cut(row, "\n"); !strings.Contains(row, strconv.Itoa(p.Status)) {
				t.Errorf("docs/api.md says of %s:%s: no %d", p.Code, row, p.Status)
			}
		}
		w.close()
	})
}
