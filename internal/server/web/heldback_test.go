package web

import (
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// postHeld sends the headers of a form and a part of it; and the rest when meanwhile has been
// done, which is once the server has begun to read.
func (b *browser) postHeld(path, contentType, body string, meanwhile func()) *pageOf {
	b.t.Helper()
	begun := make(chan struct{})
	ctx := httptrace.WithClientTrace(b.t.Context(), &httptrace.ClientTrace{Got100Continue: func() { close(begun) }})
	sent, rest := io.Pipe()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.site.URL+path, sent)
	if err != nil {
		b.t.Fatal(err)
	}
	req.ContentLength = int64(len(body))
	req.Header.Set("Expect", "100-continue")
	req.Header.Set("Content-Type", contentType)
	patient := b.site.Client().Transport.(*http.Transport).Clone()
	patient.ExpectContinueTimeout = time.Minute
	defer patient.CloseIdleConnections()
	held := *b
	held.Transport = patient
	go func() {
		<-begun
		_, _ = io.WriteString(rest, body[:len(body)/2])
		meanwhile()
		_, _ = io.WriteString(rest, body[len(body)/2:])
		_ = rest.Close()
	}()
	return held.do(req)
}

// TestWhoHasLeftMeanwhile holds forms back until their senders may no longer do what they
// asked for: it is not done.
func TestWhoHasLeftMeanwhile(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 0)
	boss := c.boss.principal()
	change := func(id crowd.WorkerID, how func(*store.User)) func() {
		return func() {
			if _, err := c.app.Accounts.ChangeUser(t.Context(), boss, id, func(u *store.User) error { how(u); return nil }); err != nil {
				t.Error(err)
			}
		}
	}
	demote := func(u *store.User) { u.Admin, u.Tenants = false, nil }
	suspend := func(u *store.User) { u.Suspended = true }
	const form = "application/x-www-form-urlencoded"
	b := batchOf(c.req.get("/batches/new").want(200).form("/batches").set("name", "held back").send().want(200))
	file := "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"tasks.csv\"\r\n\r\nthing\n" + strings.Repeat("a stone\n", 100) + "\r\n--x--\r\n"
	deposit := "amount=50&note=" + strings.Repeat("held+back+", 10)
	for _, x := range []struct {
		name, path, kind, body string
		how                    func(*store.User)
		status                 int
		lands                  string
	}{
		{"demoted", "/admin/tenants/n1/deposit", form, deposit, demote, 403, "/admin/tenants/n1/deposit"},
		{"demoted-once", "/admin/tenants/n1/deposit?key=held", form, deposit, demote, 403, "/admin/tenants/n1/deposit"},
		{"suspended", "/admin/tenants/n1/deposit", form, deposit, suspend, 403, "/admin/tenants/n1/deposit"},
		{"upload-demoted", "/batches/" + b.String() + "/upload", "multipart/form-data; boundary=x", file, demote, 403, "/batches/" + b.String() + "/upload"},
		{"upload-suspended", "/batches/" + b.String() + "/upload", "multipart/form-data; boundary=x", file, suspend, 403, "/batches/" + b.String() + "/upload"},
	} {
		t.Run(x.name, func(t *testing.T) {
			sender := c.as(t, c.boss, x.name, func(f *sheet) { f.set("admin", "1") })
			p := sender.postHeld(x.path, x.kind, x.body, change(sender.principal().User.ID, x.how)).want(x.status)
			p.at(x.lands)
			c.boss.get("/admin").want(200, "100.00").without("150.00")
			if got, err := c.app.Batches.Get(t.Context(), boss, b); err != nil || got.Spec.Tasks != 0 {
				t.Errorf("the batch has %d tasks, %v", got.Spec.Tasks, err)
			}
		})
	}
	sender := c.as(t, c.boss, "stays", func(f *sheet) { f.set("admin", "1") })
	sender.postHeld("/admin/tenants/n1/deposit", form, deposit, change(c.req.principal().User.ID, suspend)).want(200, "150.00")
}
