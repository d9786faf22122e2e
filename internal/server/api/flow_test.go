package api_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/label"
)

var discard = slog.New(slog.DiscardHandler)

var yes, no = json.RawMessage(`"yes"`), json.RawMessage(`"no"`)

// TestTheWholeWay goes from signing in to the labels by the client, as the CLI
// does.
func TestTheWholeWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made, err := w.admin.CreateUser(w.ctx, wire.NewUser{Name: "eve", Tenants: []crowd.TenantID{w.a}, Email: "eve@example.org"})
	ok(t, err)
	must(w.nobody.Setup(w.ctx, made.SetupToken, "correct horse battery"))(t)
	eve := w.nobody.As(must(w.nobody.SignIn(w.ctx, "eve", "correct horse battery"))(t))
	if me := must(eve.Me(w.ctx))(t); me.Name != "eve" || !slices.Equal(me.Roles, []string{"requester"}) || !slices.Equal(me.Tenants, []crowd.TenantID{w.a}) || me.Tenant != w.a {
		t.Errorf("I am %+v", me)
	}
	d := definition()
	d.Redundancy, d.Deadline = ptr(label.Count(2)), time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	d.Qualifications = []wire.Qualification{}
	b := must(eve.CreateBatch(w.ctx, d))(t)
	up := must(eve.Upload(w.ctx, b.ID, strings.NewReader("thing,_gold\na dog,yes\nbad\na stone,no\n"), "csv", true))(t)
	if up.Tasks != 2 || up.Bad != 1 || up.Problems[0].Line != 3 {
		t.Errorf("uploaded %+v", up)
	}
	b = must(eve.Launch(w.ctx, b.ID, false))(t)
	if b.State != crowd.BatchRunning || b.Planned != 4 || b.BudgetMicros != crowd.Unit/100*4 || !b.Deadline.Equal(d.Deadline) || b.LeaseSeconds != 60 {
		t.Errorf("launched %+v", b)
	}
	if have := must(eve.Balance(w.ctx, w.a))(t); have != 1000*crowd.Unit-crowd.Unit/100*4 {
		t.Errorf("the tenant has %s", have)
	}
	b = must(eve.EditBatch(w.ctx, b.ID, wire.BatchEdit{Priority: ptr(3.0), ClearDeadline: true}))(t)
	if b.Priority != 3 || !b.Deadline.IsZero() {
		t.Errorf("edited %+v", b)
	}
	must(eve.TopUp(w.ctx, b.ID, 7))(t)
	must(eve.Move(w.ctx, b.ID, "pause"))(t)
	if work, why, err := w.workers[0].Next(w.ctx, 0); err != nil || work != nil || why["batch_paused"] != 1 {
		t.Errorf("of a paused batch: %v, %v, %v", work, why, err)
	}
	must(eve.Move(w.ctx, b.ID, "resume"))(t)

	for i, c := range w.workers {
		work := w.next(c)
		if held := must(eve.Holding(w.ctx, b.ID))(t); len(held) != 1 || held[0].Assignment != work.Assignment {
			t.Errorf("held: %+v", held)
		}
		if why := must(eve.Why(w.ctx, b.ID))(t); why.Reason.String() == "" || why.Text == "" {
			t.Errorf("why: %+v", why)
		}
		if expires := must(c.Heartbeat(w.ctx, work.Assignment))(t); expires.Before(work.ExpiresAt) {
			t.Errorf("a heartbeat takes time away: %s", expires)
		}
		if i == 1 {
			other := must(c.Skip(w.ctx, work.Assignment, 0))(t)
			ok(t, c.Return(w.ctx, other.Assignment))
			break
		}
		for work != nil {
			if work.View.Question == "" || work.RewardMicros != crowd.Unit/100 || work.Values.Get("thing") == "" {
				t.Errorf("work: %+v", work)
			}
			out, next, err := c.Submit(w.ctx, work.Assignment, yes, true, 0)
			ok(t, err)
			if !out.Counted || out.PaidMicros != crowd.Unit/100 {
				t.Errorf("submitted: %+v", out)
			}
			if again, _, err := c.Submit(w.ctx, work.Assignment, no, false, 0); err != nil || !again.Duplicate {
				t.Errorf("again: %+v, %v", again, err)
			}
			work = next
		}
	}
	earned, done, err := w.workers[0].Earnings(w.ctx)
	ok(t, err)
	if earned != crowd.Unit/100*2 || len(done) != 2 || !done[0].Counted {
		t.Errorf("earned %s by %+v", earned, done)
	}
	b = must(eve.Move(w.ctx, b.ID, "end"))(t)
	if b.State != crowd.BatchStopped || b.Labelled != 2 || b.EndedAt.IsZero() || b.BudgetMicros != crowd.Unit/100*4+7 {
		t.Errorf("ended %+v", b)
	}
	q := must(eve.Quality(w.ctx, b.ID, "majority"))(t)
	if q.GoldTasks != 2 || q.Accuracy == nil || *q.Accuracy != 0.5 || len(q.Workers) != 1 {
		t.Errorf("quality: %+v", q)
	}
	if list := must(eve.Batches(w.ctx, 0))(t); len(list) != 1 || list[0].ID != b.ID {
		t.Errorf("batches: %+v", list)
	}
	if a := w.send(eve, http.MethodDelete, "/v1/session", ""); a.StatusCode != http.StatusNoContent {
		t.Errorf("signing out: %d", a.StatusCode)
	}
	_, err = eve.Me(w.ctx)
	refused(t, err, crowd.Unauthenticated)
}

func ptr[T any](v T) *T { return &v }

// TestAnAdminSeesAllBatches, even if they are a requester of one tenant too.
func TestAnAdminSeesAllBatches(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	both := w.person(wire.NewUser{Name: "chief", Admin: true, Tenants: []crowd.TenantID{w.b}})
	w.draft("thing\na dog\n")
	if list := must(both.Batches(w.ctx, 0))(t); len(list) != 1 {
		t.Errorf("they see %d batches of 1", len(list))
	}
}

func TestATokenIsToldAsItIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var made, listed struct {
		ID        int64     `json:"id"`
		Token     string    `json:"token"`
		CreatedAt time.Time `json:"created_at"`
	}
	ok(t, json.Unmarshal(w.send(w.ann, http.MethodPost, "/v1/tokens", `{"name": "x"}`).body, &made))
	ok(t, second(w.nobody.As(made.Token).Me(w.ctx)))
	var list []json.RawMessage
	ok(t, json.Unmarshal(w.send(w.ann, http.MethodGet, "/v1/tokens", "").body, &list))
	ok(t, json.Unmarshal(list[len(list)-1], &listed))
	if made.ID == 0 || made.ID != listed.ID || !made.CreatedAt.Equal(listed.CreatedAt) || listed.Token != "" {
		t.Errorf("made %+v, listed %+v", made, listed)
	}
	if a := w.send(w.ann, http.MethodDelete, "/v1/tokens/"+strconv.FormatInt(made.ID, 10), ""); a.StatusCode != http.StatusOK {
		t.Errorf("revoking: %d", a.StatusCode)
	}
	_, err := w.nobody.As(made.Token).Me(w.ctx)
	refused(t, err, crowd.Unauthenticated)
}

// TestTiesAndTasksInHand: labels by a method say where two answers differ, and an
// answer that has not come has no time.
func TestTiesAndTasksInHand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := definition()
	d.Redundancy = ptr(label.Count(2))
	b := must(w.ann.CreateBatch(w.ctx, d))(t)
	must(w.ann.Upload(w.ctx, b.ID, strings.NewReader("thing\na dog\n"), "csv", false))(t)
	must(w.ann.Launch(w.ctx, b.ID, false))(t)
	for i, c := range w.workers[:2] {
		work := w.next(c)
		var list bytes.Buffer
		ok(t, w.ann.Annotations(w.ctx, b.ID, &list, client.TableForm{Format: "csv"}, true))
		if rows := read(t, &list, "csv"); len(rows) != i+1 || rows[i]["state"] != "assigned" || rows[i]["assigned_at"] == "" || rows[i]["ended_at"] != "" || rows[i]["seconds"] != "" {
			t.Errorf("a task in hand is exported as %q", rows)
		}
		must3(c.Submit(w.ctx, work.Assignment, [...]json.RawMessage{yes, no}[i], false, 0))(t)
	}
	for _, method := range []string{"live", "majority"} {
		var got bytes.Buffer
		ok(t, w.ann.Labels(w.ctx, b.ID, &got, client.TableForm{Format: "csv"}, method))
		if rows := read(t, &got, "csv"); len(rows) != 1 || rows[0]["tie"] != "true" {
			t.Errorf("%s: %q", method, rows)
		}
	}
}

// hard are values that a table must carry unharmed.
var hard = []string{"plain", "<b>&amp;</b>\u2028\\", "control \x01 and \t", "a \"quoted\" word", "comma, and\nnew line", "ünïcödé ☃", " space ", "=1+1", ""}

// TestDownloadsReadBackEqual reads every download with package table.
func TestDownloadsReadBackEqual(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var file bytes.Buffer
	out := must(table.NewWriter(&file, []string{"thing", "note"}, table.WriterOptions{}))(t)
	for i, v := range hard {
		ok(t, out.Write([]string{strconv.Itoa(i), v}))
	}
	ok(t, out.Flush())
	d := definition()
	d.Redundancy = ptr(label.Count(2))
	b := must(w.ann.CreateBatch(w.ctx, d))(t)
	must(w.ann.Upload(w.ctx, b.ID, &file, "csv", false))(t)
	must(w.ann.Launch(w.ctx, b.ID, false))(t)
	for i, c := range w.workers {
		for range len(hard) - i { // one task gets one answer only
			work := w.next(c)
			if n, _ := strconv.Atoi(work.Values.Get("thing")); work.Values.Get("note") != hard[n] || len(work.Values.Columns) != 2 {
				t.Errorf("a worker sees %q", work.Values)
			}
			must3(c.Submit(w.ctx, work.Assignment, yes, false, 0))(t)
		}
	}
	labelled := len(hard) - 1
	for _, format := range []string{"csv", "tsv", "jsonl"} {
		for _, method := range []string{"live", "majority", "ds-map"} {
			var got bytes.Buffer
			ok(t, w.ann.Labels(w.ctx, b.ID, &got, client.TableForm{Format: format}, method))
			rows := read(t, &got, format)
			if len(rows) != len(hard) {
				t.Fatalf("%s, %s: %d rows", format, method, len(rows))
			}
			n := 0
			for i, row := range rows {
				if row["Input.note"] != hard[i] || row["task"] != b.ID.Task(uint32(i+1)).String() {
					t.Errorf("%s, %s: row %d is %q", format, method, i, row)
				}
				if row["label"] == "yes" {
					n++
				}
			}
			if want := map[bool]int{true: labelled, false: len(hard)}[method == "live"]; n != want {
				t.Errorf("%s, %s: %d labels, want %d", format, method, n, want)
			}
		}
		var got bytes.Buffer
		ok(t, w.ann.Annotations(w.ctx, b.ID, &got, client.TableForm{Format: format}, false))
		rows := read(t, &got, format)
		if len(rows) != 2*len(hard)-1 {
			t.Fatalf("%s: %d answers", format, len(rows))
		}
		for _, row := range rows {
			if i, _ := strconv.Atoi(row["Input.thing"]); row["Input.note"] != hard[i] || row["label"] != "yes" || row["answer"] != `{"label":"yes"}` ||
				row["counted"] != "true" || row["state"] != "submitted" || row["paid_micros"] != "10000" {
				t.Errorf("%s: %q", format, row)
			}
		}
	}
	// In JSON Lines an answer is JSON, not text that holds JSON.
	var lines bytes.Buffer
	ok(t, w.ann.Annotations(w.ctx, b.ID, &lines, client.TableForm{Format: "jsonl"}, true))
	for line := range strings.Lines(lines.String()) {
		var row struct{ Answer struct{ Label string } }
		if err := json.Unmarshal([]byte(line), &row); err != nil || row.Answer.Label != "yes" {
			t.Errorf("%s: %v", line, err)
		}
	}
	a := w.send(w.ann, http.MethodGet, "/v1/batches/"+b.ID.String()+"/labels", "")
	if a.Header.Get("Content-Type") != "text/csv; charset=utf-8" || a.Header.Get("Content-Disposition") != `attachment; filename="b1-labels.csv"` {
		t.Errorf("headers %v", a.Header)
	}
}

func must3[A, B any](_ A, _ B, err error) func(testing.TB) {
	return func(t testing.TB) { t.Helper(); ok(t, err) }
}

// read reads a table into one map a row.
func read(t *testing.T, r io.Reader, format string) (rows []map[string]string) {
	t.Helper()
	in := must(table.NewReader(r, table.Options{Format: table.Format(format)}))(t)
	for {
		cells, _, err := in.Read()
		if err == io.EOF { //nolint:errorlint // as it comes
			return rows
		}
		ok(t, err)
		row := make(map[string]string)
		for i, c := range in.Columns() {
			row[c] = cells[i]
		}
		rows = append(rows, row)
	}
}

// wide is a file of rows of 20 KB that is made as it is read. It calls look now
// and then.
type wide struct {
	left int
	rest []byte
	look func()
}

func (f *wide) Read(b []byte) (int, error) {
	if len(f.rest) == 0 {
		if f.left == 0 {
			return 0, io.EOF
		}
		if f.left--; f.left%200 == 0 {
			f.look()
		}
		f.rest = fmt.Appendf(f.rest, "%d,%s\n", f.left, strings.Repeat("x", 20_000))
	}
	n := copy(b, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// TestUploadsStream sends 50 MB, which neither the client nor the server may
// hold.
func TestUploadsStream(t *testing.T) {
	w := newWorld(t)
	b := must(w.ann.CreateBatch(w.ctx, definition()))(t)
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before, most, looks := heap(), int64(0), 0
	file := &wide{left: 2500, look: func() { looks++; most = max(most, heap()-before) }}
	report := must(w.ann.Upload(w.ctx, b.ID, io.MultiReader(strings.NewReader("thing,note\n"), file), "", false))(t)
	if report.Tasks != 2500 || looks < 10 {
		t.Fatalf("%d tasks, %d looks", report.Tasks, looks)
	}
	// A chunk of 1,000 rows is kept at a time.
	if most > 30<<20 {
		t.Errorf("%d MiB were held", most>>20)
	}
	t.Logf("at most %d MiB held", most>>20)
}

// TestASlowUploadIsNotCutOff: the server's time-outs are for others, if it keeps the
// least pace.
func TestASlowUploadIsNotCutOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(s *setup) { s.server = http.Server{ReadTimeout: time.Minute, WriteTimeout: time.Minute} })
		b := must(w.ann.CreateBatch(w.ctx, definition()))(t)
		body, file := io.Pipe()
		go func() {
			_, _ = io.WriteString(file, "thing\n")
			for range 30 {
				_, _ = io.WriteString(file, strings.Repeat("a dog\n", 300)+strings.Repeat("a big dog", 11_000)+"\n") // 5 KiB a second
				<-time.After(20 * time.Second)
			}
			_ = file.Close()
		}()
		if report := must(w.ann.Upload(w.ctx, b.ID, body, "csv", false))(t); report.Tasks != 30*301 {
			t.Errorf("%d tasks", report.Tasks)
		}
		// Nor is a long poll, or a watcher.
		start := time.Now()
		if work, _, err := w.workers[0].Next(w.ctx, time.Minute); err != nil || work != nil || time.Since(start) < time.Minute {
			t.Errorf("after %s: %v, %v", time.Since(start), work, err)
		}
		w.close()
	})
}

// events reads the server-sent events of a batch.
type events struct {
	body io.ReadCloser
	list chan wire.Batch // closed at the end
	rest int             // comments
}

func (w *world) watch(c *client.Client, id crowd.BatchID) *events {
	w.t.Helper()
	req := must(http.NewRequestWithContext(w.ctx, http.MethodGet, c.URL+"/v1/batches/"+id.String()+"/events", nil))(w.t)
	req.Header.Set("Authorization", "Bearer "+c.Token)
	resp := must(c.HTTP.Do(req))(w.t)
	if resp.Header.Get("Content-Type") != "text/event-stream" {
		_ = resp.Body.Close()
		w.t.Fatalf("status %d, %s", resp.StatusCode, resp.Header.Get("Content-Type"))
	}
	e := &events{body: resp.Body, list: make(chan wire.Batch, 100)}
	go func() {
		defer close(e.list)
		lines := bufio.NewScanner(resp.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if data, found := strings.CutPrefix(lines.Text(), "data: "); found {
				var b wire.Batch
				if err := json.Unmarshal([]byte(data), &b); err != nil {
					w.t.Error(err)
				}
				e.list <- b
			} else if strings.HasPrefix(lines.Text(), ":") {
				e.rest++
			}
		}
	}()
	synctest.Wait()
	return e
}

// none fails if there is an event; one returns the only one.
func (e *events) none(t *testing.T) {
	t.Helper()
	if synctest.Wait(); len(e.list) > 0 {
		t.Fatalf("%d events", len(e.list))
	}
}

func (e *events) one(t *testing.T) wire.Batch {
	t.Helper()
	if synctest.Wait(); len(e.list) != 1 {
		t.Fatalf("%d events, want one", len(e.list))
	}
	return <-e.list
}

func (e *events) ended(t *testing.T) {
	t.Helper()
	synctest.Wait()
	select {
	case _, open := <-e.list:
		if !open {
			return
		}
	default:
	}
	t.Fatal("the stream goes on")
}

func TestEvents(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(s *setup) { s.server = http.Server{WriteTimeout: time.Minute} })
		d := definition()
		d.LeaseSeconds = 3600
		b := must(w.ann.CreateBatch(w.ctx, d))(t)
		must(w.ann.Upload(w.ctx, b.ID, strings.NewReader("thing\na dog\na stone\na cat\n"), "", false))(t)
		must(w.ann.Launch(w.ctx, b.ID, false))(t)
		e := w.watch(w.ann, b.ID)
		if first := e.one(t); first.State != crowd.BatchRunning || *first.Running != 0 {
			t.Errorf("at once: %+v", first)
		}
		one, two := w.next(w.workers[0]), w.next(w.workers[1])
		e.none(t) // not so fast
		<-time.After(250 * time.Millisecond)
		if x := e.one(t); *x.Running != 2 {
			t.Errorf("after two changes: %+v", x)
		}
		<-time.After(10 * time.Minute) // longer than the server lets others write
		e.none(t)
		if e.rest < 20 {
			t.Errorf("%d signs of life", e.rest)
		}
		must3(w.workers[0].Submit(w.ctx, one.Assignment, yes, false, 0))(t)
		if x := e.one(t); x.Completed != 1 || x.Labelled != 1 {
			t.Errorf("after an answer: %+v", x)
		}
		<-time.After(time.Second)
		must3(w.workers[1].Submit(w.ctx, two.Assignment, yes, false, 0))(t)
		e.one(t)
		<-time.After(time.Second)
		must(w.ann.Move(w.ctx, b.ID, "end"))(t)
		if x := e.one(t); x.State != crowd.BatchStopped {
			t.Errorf("at the end: %+v", x)
		}
		e.ended(t)
		late := w.watch(w.ann, b.ID)
		if x := late.one(t); x.State != crowd.BatchStopped {
			t.Errorf("too late: %+v", x)
		}
		late.ended(t)
		w.close()
	})
}

// TestEventsEnd when the watcher may no longer see the batch, and when the
// server closes.
func TestEventsEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		id := w.launch("thing\na dog\na stone\n")
		anns, admins := w.watch(w.ann, id), w.watch(w.admin, id)
		anns.one(t)
		admins.one(t)
		ann := must(w.ann.Me(w.ctx))(t).ID
		if a := w.send(w.admin, http.MethodPatch, "/v1/users/"+ann.String(), `{"suspended": true}`); a.StatusCode != http.StatusOK {
			t.Fatalf("suspending: %s", a.body)
		}
		<-time.After(time.Second)
		w.next(w.workers[0])
		anns.ended(t)
		admins.one(t)
		<-time.After(time.Second)
		ctx, cancel := context.WithTimeout(w.ctx, 5*time.Second)
		defer cancel()
		w.app.StopWaiting()
		admins.ended(t)
		ok(t, w.server.Shutdown(ctx))
		w.close()
	})
}
