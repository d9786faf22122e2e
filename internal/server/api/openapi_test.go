package api_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/throng-dev/throng/internal/client"
)

var update = flag.Bool("update", false, "write testdata/openapi.json")

// document is what the tests read of an OpenAPI document.
type document struct {
	OpenAPI string
	Paths   map[string]map[string]operation

	Components struct {
		Schemas map[string]struct{ Properties map[string]any }
	}
}

type operation struct {
	OperationID string `json:"operationId"`
	Summary     string
	Description string
	Tags        []string
	Security    []map[string][]string
	RequestBody *struct {
		Content map[string]any
	}
	Responses  map[string]any
	Parameters []struct{ Name, In string }

	method, path string
}

// document returns what the server says of itself.
func (w *world) document() (doc document) {
	w.t.Helper()
	ok(w.t, json.Unmarshal(w.send(w.nobody, http.MethodGet, "/v1/openapi.json", "").body, &doc))
	return doc
}

// operations returns what the server says that it can do.
func (w *world) operations() []operation {
	w.t.Helper()
	doc := w.document()
	if doc.OpenAPI != "3.1.0" {
		w.t.Errorf("the document is of version %q", doc.OpenAPI)
	}
	var list []operation
	for path, methods := range doc.Paths {
		for method, o := range methods {
			o.method, o.path = strings.ToUpper(method), path
			list = append(list, o)
		}
	}
	if len(list) < 30 {
		w.t.Fatalf("only %d operations: is this the whole document?", len(list))
	}
	slices.SortFunc(list, func(x, y operation) int { return strings.Compare(x.path+x.method, y.path+y.method) })
	return list
}

func (o operation) name() string { return o.method + " " + o.path }

// public are the operations that need no token.
var public = []string{"POST /v1/session", "POST /v1/setup", "GET /v1/invitation", "POST /v1/invitation/join", "POST /v1/invitation/decline"}

func TestEveryOperation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := map[string]bool{}
	for _, o := range w.operations() {
		if o.Summary == "" || len(o.Tags) != 1 || o.OperationID == "" || ids[o.OperationID] {
			t.Errorf("%s: summary %q, tags %q, id %q", o.name(), o.Summary, o.Tags, o.OperationID)
		}
		ids[o.OperationID] = true
		if o.Responses["200"] == nil && o.Responses["201"] == nil && o.Responses["204"] == nil {
			t.Errorf("%s has no response of success", o.name())
		}
		if open := len(o.Security) == 0; open != slices.Contains(public, o.name()) {
			t.Errorf("%s is open to all: %t", o.name(), open)
		} else if open {
			continue
		}
		path := strings.NewReplacer(append([]string{"{id}", "1", "{assignment}", "a1.1", "{worker}", "u1", "{n}", "1"}, inRuns...)...).Replace(o.path)
		for who, c := range map[string]*client.Client{"without a token": w.nobody, "with a wrong one": w.nobody.As("thr_wrong")} {
			a := w.send(c, o.method, path, "")
			if p := a.problem(t); a.StatusCode != http.StatusUnauthorized || p.Code != "unauthenticated" {
				t.Errorf("%s %s: %d %s", o.name(), who, a.StatusCode, p.Code)
			}
		}
	}
}

// TestWrongIDsAreNotThere: an id of another kind, or none at all, names nothing.
func TestWrongIDsAreNotThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, o := range w.operations() {
		if !strings.Contains(o.path, "{id}") && !strings.Contains(o.path, "{assignment}") || strings.HasPrefix(o.path, "/v1/tokens") || strings.HasPrefix(o.path, "/v1/sessions") || strings.HasPrefix(o.path, "/v1/push-subscriptions") || strings.HasPrefix(o.path, "/v1/audit/") {
			continue
		}
		for _, wrong := range []string{"17", "x17", "b017", "b-1", "b9999999999999999999", "a1", "t1.1", "%00"} {
			path := strings.NewReplacer(append([]string{"{id}", wrong, "{assignment}", wrong, "{worker}", "u1", "{n}", "1"}, inRuns...)...).Replace(o.path)
			if a := w.send(w.admin, o.method, path, bodies[o.name()]); a.StatusCode != http.StatusNotFound {
				if strings.HasPrefix(o.path, "/v1/work") && a.StatusCode == http.StatusForbidden {
					continue // an admin does not work
				}
				t.Errorf("%s with %q: status %d %s", o.name(), wrong, a.StatusCode, a.body)
			}
		}
	}
}

// TestTheDocumentIsAsKept compares the document with the one in testdata, so
// that no change of the API goes unseen. go test ./internal/server/api -update
func TestTheDocumentIsAsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var doc bytes.Buffer
	ok(t, json.Indent(&doc, w.send(w.nobody, http.MethodGet, "/v1/openapi.json", "").body, "", "  "))
	file := filepath.Join("testdata", "openapi.json")
	if *update {
		ok(t, os.WriteFile(file, doc.Bytes(), 0o600))
	}
	want := must(os.ReadFile(file))(t)
	if !bytes.Equal(doc.Bytes(), want) {
		got, was := strings.Split(doc.String(), "\n"), strings.Split(string(want), "\n")
		for i := range min(len(got), len(was)) {
			if got[i] != was[i] {
				t.Errorf("line %d of the document was\n%s\nand is\n%s", i+1, was[i], got[i])
				break
			}
		}
		t.Error("the API has changed: look at the difference, then run go test ./internal/server/api -update")
	}
}

func TestTheDocsPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.send(w.nobody, http.MethodGet, "/docs", "")
	page := must(html.Parse(bytes.NewReader(a.body)))(t)
	if a.StatusCode != http.StatusOK || !strings.HasPrefix(a.Header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("status %d, policy %q", a.StatusCode, a.Header.Get("Content-Security-Policy"))
	}
	ids := map[string]bool{}
	for n := range page.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.Data {
		case "script", "link", "img", "iframe", "object", "embed":
			t.Errorf("the page has a %s", n.Data)
		}
		for _, at := range n.Attr {
			switch {
			case n.Data == "details" && at.Key == "id":
				ids[at.Val] = true
			case at.Key == "href" || at.Key == "src":
				if !strings.HasPrefix(at.Val, "/") || strings.HasPrefix(at.Val, "//") {
					t.Errorf("the page points to %s", at.Val)
				} else if at.Val != "/" {
					if a := w.send(w.nobody, http.MethodGet, at.Val, ""); a.StatusCode != http.StatusOK {
						t.Errorf("%s: status %d", at.Val, a.StatusCode)
					}
				}
			case strings.HasPrefix(at.Key, "on"):
				t.Errorf("the page has %s", at.Key)
			}
		}
	}
	for _, o := range w.operations() {
		if !ids[o.OperationID] {
			t.Errorf("%s is not on the page", o.name())
		}
	}
}
