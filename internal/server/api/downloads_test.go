package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/wire"
)

// TestDownloadsThatNobodyReads: a tenant, or a person of several tenants, has so many
// downloads at a time, and the next one waits for them; others do not, and neither do
// the pools.
func TestDownloadsThatNobodyReads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		file := "thing\n"
		for i := range 5000 {
			file += fmt.Sprintf("number %d of which something longer is told\n", i)
		}
		mine := w.launch(file)
		both := w.person(wire.NewUser{Name: "cora", Tenants: []crowd.TenantID{w.a, w.b}})
		theirs := must(w.bob.CreateBatch(w.ctx, definition()))(t).ID
		must(w.bob.Upload(w.ctx, theirs, strings.NewReader("thing\na stone\n"), "", false))(t)

		labels := func(c *client.Client, id crowd.BatchID) *http.Response {
			req := must(http.NewRequestWithContext(w.ctx, http.MethodGet, c.URL+"/v1/batches/"+id.String()+"/labels", nil))(t)
			req.Header.Set("Authorization", "Bearer "+c.Token)
			return must(c.HTTP.Do(req))(t)
		}
		open := []*http.Response{labels(w.ann, mine), labels(w.ann, mine)}
		for _, resp := range open {
			if resp.StatusCode != http.StatusOK {
				t.Fatal(resp.Status)
			}
		}
		// The tenant's others have as many, and then nobody of them.
		refused(t, w.ann.Labels(w.ctx, mine, io.Discard, client.TableForm{}, "live"), crowd.TooMany)
		theirsToo := []*http.Response{labels(both, mine), labels(both, mine)}
		dora := w.person(wire.NewUser{Name: "dora", Tenants: []crowd.TenantID{w.a}})
		for _, c := range []*client.Client{w.ann, both, dora} {
			start := time.Now()
			refused(t, c.Labels(w.ctx, mine, io.Discard, client.TableForm{}, "live"), crowd.TooMany)
			if waited := time.Since(start); waited < 5*time.Second || waited > time.Minute {
				t.Errorf("they waited %s", waited)
			}
		}
		must(w.ann.Quality(w.ctx, mine, ""))(t) // which has turns of its own

		// Everybody else goes on.
		ok(t, w.bob.Labels(w.ctx, theirs, io.Discard, client.TableForm{}, "live"))
		must(w.bob.Quality(w.ctx, theirs, ""))(t)
		must(w.admin.PoolState(w.ctx, main))(t)
		ok(t, w.app.Ready(w.ctx))

		// An admin has no more downloads than others, whosever they are.
		more := w.launch(file)
		third, _ := w.tenant("cats", "cleo")
		own := definition()
		own.Tenant = third
		last := must(w.admin.CreateBatch(w.ctx, own))(t).ID
		ok(t, open[0].Body.Close())
		ok(t, open[1].Body.Close())
		open = append(theirsToo, labels(w.admin, more), labels(w.admin, mine))
		refused(t, w.admin.Labels(w.ctx, last, io.Discard, client.TableForm{}, "live"), crowd.TooMany)

		// Who waits comes next.
		done := make(chan error)
		go func() { done <- w.ann.Labels(w.ctx, mine, io.Discard, client.TableForm{}, "live") }()
		synctest.Wait()
		ok(t, open[0].Body.Close())
		ok(t, <-done)
		for _, resp := range open[1:] {
			ok(t, resp.Body.Close())
		}
	})
}

// TestDownloadsOfRunsThatNobodyReads: they are bounded as those of batches are, together
// with them, and one whose rows are all read goes on until its file is sent.
func TestDownloadsOfRunsThatNobodyReads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		batch := w.launch("thing\na stone\n")
		file := "thing\n"
		for i := range 5000 {
			file += fmt.Sprintf("number %d of which something longer is told\n", i)
		}
		run := must(w.ann.MakeRun(w.ctx, wire.NewRun{Workflow: "workflow: Things\ninputs: {things: {columns: [thing]}}\n" +
			"steps: {same: {from: things, sql: select thing from things}}\noutputs: {all: {from: things, format: parquet}}\n"}))(t).ID
		must(w.ann.LoadRun(w.ctx, run, "things", strings.NewReader(file), ""))(t)
		dora := w.person(wire.NewUser{Name: "dora", Tenants: []crowd.TenantID{w.a}})
		both := w.person(wire.NewUser{Name: "cora", Tenants: []crowd.TenantID{w.a, w.b}})

		get := func(c *client.Client, path string) *http.Response {
			req := must(http.NewRequestWithContext(w.ctx, http.MethodGet, c.URL+"/v1/runs/"+run.String()+path, nil))(t)
			req.Header.Set("Authorization", "Bearer "+c.Token)
			resp := must(c.HTTP.Do(req))(t)
			if resp.StatusCode != http.StatusOK {
				t.Fatal(resp.Status)
			}
			return resp
		}
		open := []*http.Response{get(w.ann, "/outputs/all"), get(w.ann, "/steps/things/results?format=parquet")}
		synctest.Wait() // all rows are read, but for the pace of those who take the files
		output := func(c *client.Client) error { return c.RunOutput(w.ctx, run, "all", io.Discard, client.TableForm{}) }
		refused(t, output(w.ann), crowd.TooMany)
		refused(t, w.ann.RunResults(w.ctx, run, "things", io.Discard, client.TableForm{}, false), crowd.TooMany)
		refused(t, w.ann.Labels(w.ctx, batch, io.Discard, client.TableForm{}, "live"), crowd.TooMany)
		ok(t, output(dora))
		open = append(open, get(both, "/steps/things/results"), get(both, "/outputs/all"))
		refused(t, output(dora), crowd.TooMany)
		must(w.ann.Run(w.ctx, run))(t) // what is no download goes on

		// Who waits comes next.
		done := make(chan error)
		go func() { done <- output(dora) }()
		synctest.Wait()
		ok(t, open[0].Body.Close())
		ok(t, <-done)
		for _, resp := range open[1:] {
			ok(t, resp.Body.Close())
		}
	})
}

// TestLongListsThatNobodyReads: a person has four answers with long rows at a time, and
// the next one waits for them.
func TestLongListsThatNobodyReads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		run := must(w.ann.MakeRun(w.ctx, wire.NewRun{Workflow: "workflow: Things\ninputs: {things: {columns: [thing]}}\n" +
			"steps: {same: {from: things, sql: select thing from things}}\noutputs: {all: {from: same}}\n"}))(t).ID
		must(w.ann.LoadRun(w.ctx, run, "things", strings.NewReader("thing\n"+strings.Repeat("x", 200_000)+"\n"), ""))(t)
		of := "/v1/runs/" + run.String()
		get := func(path string) *http.Response {
			req := must(http.NewRequestWithContext(w.ctx, http.MethodGet, w.ann.URL+path, nil))(t)
			req.Header.Set("Authorization", "Bearer "+w.ann.Token)
			return must(w.ann.HTTP.Transport.(asDocumented).RoundTripper.RoundTrip(req))(t) // it does not read the body
		}
		var open []*http.Response
		for range 2 {
			open = append(open, get(of+"/steps/things/items"), get(of+"/items/1"))
		}
		for _, path := range []string{of + "/steps/things/items", of + "/items/1"} {
			resp := get(path)
			if resp.StatusCode != http.StatusTooManyRequests {
				t.Errorf("%s: %s", path, resp.Status)
			}
			ok(t, resp.Body.Close())
		}
		must(w.ann.Run(w.ctx, run))(t)
		for _, resp := range open {
			if resp.StatusCode != http.StatusOK {
				t.Error(resp.Status)
			}
			ok(t, resp.Body.Close())
		}
		ok(t, get(of+"/items/1").Body.Close())
	})
}

// TestDownloadsForASpreadsheet hold no formula, and numbers as they are.
func TestDownloadsForASpreadsheet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.launch("thing,note\na,=1+1\nb,-2\n")
	for range 2 {
		must3(w.workers[0].Submit(w.ctx, w.next(w.workers[0]).Assignment, yes, false, 0))(t)
	}
	for _, format := range []string{"csv", "tsv"} {
		for spreadsheet, want := range map[bool][]string{false: {"=1+1", "-2"}, true: {"'=1+1", "-2"}} {
			form := client.TableForm{Format: format, Spreadsheet: spreadsheet}
			var labels, answers bytes.Buffer
			ok(t, w.ann.Labels(w.ctx, id, &labels, form, "live"))
			ok(t, w.ann.Annotations(w.ctx, id, &answers, form, false))
			for _, file := range []*bytes.Buffer{&labels, &answers} {
				var got []string
				for _, row := range read(t, file, format) {
					got = append(got, row["Input.note"])
				}
				if !slices.Equal(got, want) {
					t.Errorf("%+v: %q, want %q", form, got, want)
				}
			}
		}
	}
}

// TestHalfClosedConnectionsHoldTheirSlots: whoever sends no more, and reads nothing of
// a long answer, keeps the slot that it has: the end of what they send is not its end.
func TestHalfClosedConnectionsHoldTheirSlots(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("who is one too many waits ten seconds")
	}
	w := newWorld(t)
	run := must(w.ann.MakeRun(w.ctx, wire.NewRun{Workflow: "workflow: Things\ninputs: {things: {columns: [thing]}}\n" +
		"steps: {same: {from: things, sql: select thing from things}}\noutputs: {all: {from: same}}\n"}))(t).ID
	must(w.ann.LoadRun(w.ctx, run, "things", strings.NewReader("thing\n"+strings.Repeat(strings.Repeat("x", 800_000)+"\n", 40)), ""))(t)
	site := httptest.NewServer(w.server.Handler)
	t.Cleanup(site.Close)
	t.Cleanup(site.CloseClientConnections)
	full := func(t *testing.T, path string, most int) {
		t.Parallel()
		for i := range most + 1 {
			conn := must(net.Dial("tcp", site.Listener.Addr().String()))(t)
			defer conn.Close()
			ok(t, conn.(*net.TCPConn).SetReadBuffer(4096))
			_, err := fmt.Fprintf(conn, "GET /v1/runs/%s%s HTTP/1.1\r\nHost: throng\r\nAuthorization: Bearer %s\r\n\r\n", run, path, w.ann.Token)
			ok(t, err)
			status := make([]byte, 12)
			if _, err := io.ReadFull(conn, status); err != nil || (string(status) == "HTTP/1.1 200") != (i < most) {
				t.Errorf("%s: answer %d of at most %d is %q, %v", path, i+1, most, status, err)
			}
			ok(t, conn.(*net.TCPConn).CloseWrite())
		}
	}
	t.Run("list", func(t *testing.T) { full(t, "/steps/things/items?limit=1000", 4) })
	t.Run("download", func(t *testing.T) { full(t, "/steps/things/results?format=csv", 2) })
}

// What is read of a workflow's file takes one of few places. The answer about it holds
// none, so that who does not take it keeps nobody from having a file read.
func TestUnreadChecksHoldUpNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var columns []string
	for i := range 480 {
		columns = append(columns, fmt.Sprintf("c%d_%s", i, strings.Repeat("x", 240)))
	}
	file := "workflow: Wide\ninputs: {things: {columns: [" + strings.Join(columns, ", ") + "]}}\nsteps:\n"
	for i := range 49 {
		file += fmt.Sprintf("  s%d: {from: things, sql: select * from things}\n", i)
	}
	site := httptest.NewServer(w.server.Handler)
	t.Cleanup(site.Close)
	t.Cleanup(site.CloseClientConnections)
	for range 3 {
		conn := must(net.Dial("tcp", site.Listener.Addr().String()))(t)
		defer conn.Close()
		ok(t, conn.(*net.TCPConn).SetReadBuffer(4096))
		_, err := fmt.Fprintf(conn, "POST /v1/workflows/check HTTP/1.1\r\nHost: throng\r\nAuthorization: Bearer %s\r\nContent-Type: application/yaml\r\nContent-Length: %d\r\n\r\n%s", w.ann.Token, len(file), file)
		ok(t, err)
		head := make([]byte, 12)
		ok(t, conn.SetReadDeadline(time.Now().Add(20*time.Second)))
		if _, err := io.ReadFull(conn, head); err != nil || string(head) != "HTTP/1.1 200" {
			t.Fatalf("a check beside others that nobody takes: %q, %v", head, err)
		}
	}
	got := must(w.ann.CheckWorkflow(w.ctx, wire.NewRun{Workflow: file}))(t)
	if size := len(must(json.Marshal(got))(t)); size < 6_000_000 {
		t.Errorf("the answer has %d bytes, which fit into the buffers between", size)
	}
}
