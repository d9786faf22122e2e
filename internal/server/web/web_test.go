package web

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/server/auth"
	"github.com/throng-dev/throng/internal/server/httpkit"
	"github.com/throng-dev/throng/internal/store/sqlite"
	"github.com/throng-dev/throng/internal/store/sqlite/sqlitetest"
)

// password is everybody's in these tests.
const password = "correct horse battery"

// site is the pages on a real service and a real store, with its first admin.
type site struct {
	*httptest.Server
	app   *app.App
	log   *bytes.Buffer
	boot  string // the first admin's one-time link
	file  string // of the store
	ahead atomic.Int64
}

// now is the site's clock: the real one, and what a test has added to it.
func (s *site) now() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) }

// lockedBuffer is a log that goroutines share.
type lockedBuffer struct {
	mu  chan struct{}
	buf *bytes.Buffer
}

func (b lockedBuffer) Write(p []byte) (int, error) {
	b.mu <- struct{}{}
	defer func() { <-b.mu }()
	return b.buf.Write(p)
}

func newSite(t testing.TB, change ...func(*app.Config)) *site {
	t.Helper()
	s := &site{log: new(bytes.Buffer), file: sqlitetest.New(t)}
	log := slog.New(slog.NewTextHandler(lockedBuffer{make(chan struct{}, 1), s.log}, nil))
	db, err := sqlite.Open(context.Background(), s.file, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	cfg := app.Config{Passwords: auth.LeastCost, Store: db, Log: log, Now: s.now}
	for _, f := range change {
		f(&cfg)
	}
	if s.app, err = app.Open(context.Background(), cfg); err != nil {
		t.Fatal(err)
	}
	if s.boot, err = s.app.Accounts.Bootstrap(context.Background()); err != nil || s.boot == "" {
		t.Fatalf("no link for the first admin: %v", err)
	}
	pages, err := New(Config{App: s.app, Log: log, Now: s.now})
	if err != nil {
		t.Fatal(err)
	}
	s.Server = httptest.NewServer(pages)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.app.StopWaiting()
		s.Close()
		s.app.Close()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		if strings.Contains(s.log.String(), "level=ERROR") {
			t.Errorf("the log has errors:\n%s", s.log)
		}
	})
	return s
}

// browser is somebody's browser without JavaScript.
type browser struct {
	t    testing.TB
	site *site
	http.Client
	name string
}

func (s *site) browser(t testing.TB, name string) *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{t: t, site: s, Client: http.Client{Jar: jar, Transport: s.Client().Transport}, name: name}
}

// pageOf is a page as it came.
type pageOf struct {
	t       testing.TB
	Status  int
	URL     *url.URL
	Header  http.Header
	Text    string
	Root    *html.Node
	browser *browser
}

func (b *browser) do(req *http.Request) *pageOf {
	b.t.Helper()
	res, err := b.Do(req)
	if err != nil {
		b.t.Fatalf("%s: %s %s: %v", b.name, req.Method, req.URL, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	root, err := html.Parse(bytes.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	return &pageOf{t: b.t, Status: res.StatusCode, URL: res.Request.URL, Header: res.Header, Text: string(body), Root: root, browser: b}
}

func (b *browser) get(path string) *pageOf {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.site.URL+path, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.do(req)
}

func (b *browser) post(path string, values url.Values) *pageOf {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.site.URL+path, strings.NewReader(values.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", b.site.URL)
	return b.do(req)
}

// want checks the status and that each text is on the page.
func (p *pageOf) want(status int, texts ...string) *pageOf {
	p.t.Helper()
	if p.Status != status {
		p.t.Fatalf("%s: %s: status %d, want %d:\n%s", p.browser.name, p.URL, p.Status, status, words(p.Root))
	}
	if strings.HasPrefix(p.Header.Get("Content-Type"), "text/html") && !strings.Contains(p.URL.Path, "/frame/") {
		checkMarkup(p.t, p.URL.Path, p)
	}
	all := words(p.Root)
	for _, text := range texts {
		if !strings.Contains(all, text) {
			p.t.Fatalf("%s: %s does not say %q:\n%s", p.browser.name, p.URL, text, all)
		}
	}
	return p
}

// without checks that none of the texts is in the page, markup included.
func (p *pageOf) without(texts ...string) *pageOf {
	p.t.Helper()
	for _, text := range texts {
		if strings.Contains(p.Text, text) {
			p.t.Fatalf("%s: %s has %q", p.browser.name, p.URL, text)
		}
	}
	return p
}

// at checks where the browser has ended up.
func (p *pageOf) at(path string) *pageOf {
	p.t.Helper()
	if p.URL.Path != path {
		p.t.Fatalf("%s is at %s, want %s:\n%s", p.browser.name, p.URL.Path, path, words(p.Root))
	}
	return p
}

// words is the text of a page, with single spaces.
func words(n *html.Node) string {
	var out strings.Builder
	for x := range n.Descendants() {
		if x.Type == html.TextNode && x.Parent.Data != "script" && x.Parent.Data != "style" {
			out.WriteString(x.Data + " ")
		}
	}
	return strings.Join(strings.Fields(out.String()), " ")
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func has(n *html.Node, name string) bool {
	for _, a := range n.Attr {
		if a.Key == name {
			return true
		}
	}
	return false
}

// all returns the elements of a name.
func (p *pageOf) all(tag string) []*html.Node {
	var list []*html.Node
	for x := range p.Root.Descendants() {
		if x.Type == html.ElementNode && x.Data == tag {
			list = append(list, x)
		}
	}
	return list
}

// sheet is a form of a page, being filled in.
type sheet struct {
	p      *pageOf
	action string
	files  bool
	names  []string // in order
	values url.Values
	file   string
	boxes  map[string][]string // what radio buttons and check boxes offer
}

// form finds the form that posts to action, as a browser would send it.
func (p *pageOf) form(action string) *sheet {
	p.t.Helper()
	for _, f := range p.all("form") {
		to := attr(f, "action")
		if path, _, _ := strings.Cut(to, "?"); path != action {
			continue
		}
		if attr(f, "method") != "post" {
			p.t.Fatalf("the form to %s is not a post", action)
		}
		return p.sheetOf(f)
	}
	p.t.Fatalf("%s: %s has no form to %s:\n%s", p.browser.name, p.URL, action, words(p.Root))
	return nil
}

// sheetOf is a form of the page.
func (p *pageOf) sheetOf(f *html.Node) *sheet {
	s := &sheet{p: p, action: attr(f, "action"), files: attr(f, "enctype") == "multipart/form-data", values: url.Values{}, boxes: map[string][]string{}}
	for x := range f.Descendants() {
		if x.Type == html.ElementNode {
			s.add(x)
		}
	}
	return s
}

func (s *sheet) add(x *html.Node) {
	name := attr(x, "name")
	if name == "" || has(x, "disabled") {
		return
	}
	set := func(value string) {
		s.values.Add(name, value)
		s.names = append(s.names, name)
	}
	switch x.Data {
	case "textarea":
		text := ""
		if x.FirstChild != nil {
			text = x.FirstChild.Data
		}
		set(text)
	case "select":
		value, first := "", true
		for o := range x.Descendants() {
			if o.Data == "option" && (first || has(o, "selected")) {
				value, first = attr(o, "value"), false
			}
		}
		set(value)
	case "input":
		switch attr(x, "type") {
		case "radio", "checkbox":
			s.boxes[name] = append(s.boxes[name], attr(x, "value"))
			if has(x, "checked") {
				set(attr(x, "value"))
			}
		case "file":
			s.file = name
			s.names = append(s.names, name)
		default:
			set(attr(x, "value"))
		}
	}
}

// set fills in a field that the form has.
func (s *sheet) set(name, value string) *sheet {
	s.p.t.Helper()
	_, isBox := s.boxes[name]
	if !isBox && !s.values.Has(name) {
		s.p.t.Fatalf("the form to %s has no field %q (it has %q)", s.action, name, s.names)
	}
	if isBox {
		found := false
		for _, v := range s.boxes[name] {
			found = found || v == value
		}
		if !found {
			s.p.t.Fatalf("%q of the form to %s has no box %q (it has %q)", name, s.action, value, s.boxes[name])
		}
		if !s.values.Has(name) {
			s.names = append([]string{name}, s.names...)
		}
	}
	s.values.Set(name, value)
	return s
}

// press adds the button that sends the form.
func (s *sheet) press(name, value string) *sheet {
	s.values.Set(name, value)
	s.names = append(s.names, name)
	return s
}

func (s *sheet) send() *pageOf {
	s.p.t.Helper()
	if s.files {
		return s.sendFile("", "")
	}
	return s.p.browser.post(s.action, s.values)
}

// sendFile sends a form with a file, its fields in the order of the page.
func (s *sheet) sendFile(filename, content string) *pageOf {
	s.p.t.Helper()
	var body bytes.Buffer
	m := multipart.NewWriter(&body)
	done := map[string]bool{}
	for _, name := range s.names {
		if name == s.file {
			part, err := m.CreateFormFile(name, filename)
			if err != nil {
				s.p.t.Fatal(err)
			}
			_, _ = io.WriteString(part, content)
			continue
		}
		if done[name] {
			continue
		}
		done[name] = true
		for _, v := range s.values[name] {
			if err := m.WriteField(name, v); err != nil {
				s.p.t.Fatal(err)
			}
		}
	}
	if err := m.Close(); err != nil {
		s.p.t.Fatal(err)
	}
	b := s.p.browser
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.site.URL+s.action, &body)
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Content-Type", m.FormDataContentType())
	return b.do(req)
}

// admin signs the first admin in.
func (s *site) admin(t testing.TB) *browser {
	t.Helper()
	b := s.browser(t, "admin")
	b.get("/setup?token="+s.boot).want(200, "Welcome, admin").form("/setup").
		set("password", password).set("again", password).send().want(200).at("/admin")
	return b
}

// as makes and signs in somebody with what the admin gives them.
func (s *site) as(t testing.TB, boss *browser, name string, fill func(*sheet)) *browser {
	t.Helper()
	f := boss.get("/admin/people").want(200).form("/admin/people").set("name", name)
	fill(f)
	p := f.send().want(200, "one-time link for "+name)
	b := s.browser(t, name)
	b.setUp(secretOn(p))
	return b
}

// secretOn is the secret that a page shows once.
func secretOn(p *pageOf) string {
	p.t.Helper()
	for _, c := range p.all("code") {
		if attr(c, "id") == "secret" {
			return c.FirstChild.Data
		}
	}
	p.t.Fatalf("%s shows no secret", p.URL)
	return ""
}

// setUp uses a one-time link.
func (b *browser) setUp(link string) *pageOf {
	b.t.Helper()
	u, err := url.Parse(link)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.get(u.RequestURI()).want(200, "Welcome, "+b.name).form("/setup").set("password", password).set("again", password).send().want(200)
}

// company is a site with a tenant that has money, a requester and workers.
type company struct {
	*site
	boss, req *browser
	workers   []*browser
}

func newCompany(t testing.TB, workers int, change ...func(*app.Config)) *company {
	t.Helper()
	s := newSite(t, change...)
	c := &company{site: s, boss: s.admin(t)}
	c.boss.get("/admin").want(200).form("/admin/tenants").set("name", "Acme").send().want(200, "Acme", "Saved.")
	c.boss.get("/admin").form("/admin/tenants/n1/deposit").set("amount", "100").set("note", "start").send().want(200, "100.00")
	c.req = s.as(t, c.boss, "rita", func(f *sheet) { f.set("tenants", "n1") })
	for i := range workers {
		c.workers = append(c.workers, s.as(t, c.boss, fmt.Sprintf("w%d", i+1), func(f *sheet) { f.set("pool", "p1") }))
	}
	return c
}

// principal is who a browser is signed in as.
func (b *browser) principal() *access.Principal {
	b.t.Helper()
	u, _ := url.Parse(b.site.URL)
	for _, c := range b.Jar.Cookies(u) {
		if c.Name == httpkit.SessionCookie {
			p, err := b.site.app.Accounts.Authenticate(b.t.Context(), c.Value, netip.Addr{})
			if err != nil {
				b.t.Fatal(err)
			}
			return p
		}
	}
	b.t.Fatalf("%s is not signed in", b.name)
	return nil
}

// batchOf reads the batch's id from the address of its page.
func batchOf(p *pageOf) crowd.BatchID {
	p.t.Helper()
	id, err := crowd.ParseBatchID(strings.TrimPrefix(p.URL.Path, "/batches/"))
	if err != nil {
		p.t.Fatalf("%s is not a batch: %v", p.URL, err)
	}
	return id
}

func crowdBatch(text string) crowd.BatchID {
	id, err := crowd.ParseBatchID(text)
	if err != nil {
		panic(err)
	}
	return id
}
