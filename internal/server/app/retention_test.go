package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/results"
	"github.com/throng-dev/throng/internal/server/retention"
	"github.com/throng-dev/throng/internal/store"
)

// What is in the answers and the files of the tests, and nowhere else.
var answerTraces, fileTraces = []string{"answered-quux", "replied-quux", "reported-quux"}, []string{"cell-zuleika"}

// retained is a world with a batch that has ended, one that runs, and a run that has ended,
// each with traces.
type retained struct {
	*world
	ended, running crowd.BatchID
	run            crowd.RunID
}

func newRetained(t *testing.T) *retained {
	w := &retained{world: newWorld(t, 2)}
	form := func(b *batches.NewBatch) {
		b.Template = json.RawMessage(`{"kind":"form","question":"Who is ${thing}?","label_field":"kind","fields":[{"name":"remark","type":"text"},{"name":"kind","type":"choice","options":["a","b"]}]}`)
	}
	file := func(name string, n int) *strings.Reader {
		var s strings.Builder
		s.WriteString("thing\n")
		for i := range n {
			fmt.Fprintf(&s, "%s %d\n", name, i)
		}
		return strings.NewReader(s.String())
	}
	begin := func(name string, n int) crowd.BatchID {
		id := w.draft(0, form, times(1))
		must(w.Batches.Upload(w.ctx, w.admin, id, file(name, n), batches.Upload{}))(t)
		must(w.Batches.Launch(w.ctx, w.admin, id, false))(t)
		return id
	}
	w.ended = begin("cell-zuleika", 300)
	held := w.next(w.workers[1])
	must(w.Work.Report(w.ctx, w.workers[1], held.Assignment, "reported-quux", false, 0))(t)
	ok(t, w.Work.Reply(w.ctx, w.ann, held.Task, "replied-quux"))
	for w.batch(w.ended).Progress.State.Open() {
		must(w.submit(w.workers[0], w.next(w.workers[0]).Assignment, json.RawMessage(`{"remark":"answered-quux","kind":"a"}`)))(t)
	}
	w.run = w.begin(oneStep, "things", "id,thing\n1,cell-zuleika x\n2,cell-zuleika y\n")
	w.finish(w.run, nil)
	w.running = begin("kept-cell", 3)
	must(w.submit(w.workers[0], w.next(w.workers[0]).Assignment, json.RawMessage(`{"remark":"kept-answer","kind":"b"}`)))(t)
	return w
}

func days(n int) *int { return &n }

// The calls of the use case in the table of all calls.
func getRetention(s *scene, p *access.Principal) error {
	return second(s.Retention.Get(s.ctx, p, s.a))
}

func setRetention(s *scene, p *access.Principal) error {
	return second(s.Retention.Set(s.ctx, p, s.a, map[store.Retained]*int{store.RetainedLogs: nil, store.RetainedAnswers: days(30_000)}))
}

func previewRetention(s *scene, p *access.Principal) error {
	return second(s.Retention.Preview(s.ctx, p, s.a, nil))
}

// toHour moves the clock on to an hour of the next day, in UTC.
func (w *world) toHour(hour int) {
	now := w.clock.now().UTC()
	w.clock.advance(now.Truncate(24 * time.Hour).Add(time.Duration(24+hour) * time.Hour).Sub(now))
}

// TestWhatIsKeptForLongEnoughGoes: what a preview says and not more, out of every byte of the
// files, and what stays is as it was.
func TestWhatIsKeptForLongEnoughGoes(t *testing.T) {
	t.Parallel()
	w := newRetained(t)
	w.toHour(12)
	p := must(w.Retention.Preview(w.ctx, w.ann, w.a, nil))(t)
	if len(p.Things) != 0 || !p.LogsBefore.IsZero() {
		t.Errorf("nothing is to go: %+v", p)
	}
	p = must(w.Retention.Preview(w.ctx, w.ann, w.a, map[store.Retained]*int{store.RetainedAnswers: days(30), store.RetainedFiles: days(60)}))(t)
	var things []string
	for _, x := range p.Things {
		things = append(things, fmt.Sprintf("%s %s%s %d", x.Kind, map[bool]string{true: x.Batch.String()}[x.Batch != 0], map[bool]string{true: x.Run.String()}[x.Run != 0], int(x.At.Sub(x.EndedAt).Hours())/24))
	}
	if want := fmt.Sprintf("[answers %[1]s 30 answers %[2]s 30 files %[1]s 60 files %[2]s 60]", w.ended, w.run); fmt.Sprint(things) != want {
		t.Errorf("the preview has %s, want %s", things, want)
	}
	ok(t, w.Retention.Step(w.ctx))
	if w.batch(w.ended).AnswersDeletedAt != (time.Time{}) {
		t.Fatal("a preview changes something")
	}

	must(w.Retention.Set(w.ctx, w.ann, w.a, map[store.Retained]*int{store.RetainedAnswers: days(30), store.RetainedFiles: days(60)}))(t)
	labels, balance := string(must(json.Marshal(w.tasks(w.ended)))(t)), w.balance(w.a)
	given := w.answers(w.ended)
	progress := w.batch(w.ended).Progress
	w.clock.advance(28 * 24 * time.Hour)
	ok(t, w.Retention.Step(w.ctx))
	if !w.batch(w.ended).AnswersDeletedAt.IsZero() {
		t.Fatal("answers go too early")
	}
	w.clock.advance(3 * 24 * time.Hour)
	ok(t, w.Retention.Step(w.ctx))
	if left := w.answers(w.ended); len(left) != len(given) || left[7].Body != nil || left[7].Key != "" || left[7].Paid != given[7].Paid || !left[7].EndedAt.Equal(given[7].EndedAt) {
		t.Errorf("%d answers of %d are left, such as %+v", len(left), len(given), left[7])
	}
	if got := string(must(json.Marshal(w.tasks(w.ended)))(t)); got != labels {
		t.Error("the labels are others")
	}
	if got := w.batch(w.ended).Progress; got != progress || w.balance(w.a) != balance {
		t.Errorf("counts or money have changed: %+v", got)
	}
	w.saysWhatWent()
	w.toHour(0) // at which files are rewritten
	ok(t, w.Retention.Step(w.ctx))
	if found := w.found(answerTraces); len(found) > 0 {
		t.Errorf("answers: %s", strings.Join(found, "\n"))
	}
	if len(w.found(fileTraces)) == 0 || len(w.found([]string{"kept-answer"})) == 0 {
		t.Error("more went than was to go")
	}

	w.clock.advance(30 * 24 * time.Hour)
	w.toHour(0)
	ok(t, w.Retention.Step(w.ctx))
	if found := w.found(fileTraces); len(found) > 0 {
		t.Errorf("files: %s", strings.Join(found, "\n"))
	}
	_, err := w.Runs.Results(w.ctx, w.ann, w.run, "things")
	refused(t, err, crowd.Conflict)
	_, err = w.Batches.Preview(w.ctx, w.ann, w.ended, 1)
	refused(t, err, crowd.Conflict)
	w.reopen()
	if len(w.answers(w.running)) != 1 || w.tasks(w.running)[0].Values[0] != "kept-cell 0" {
		t.Error("something of the batch that runs is not there")
	}
	must(w.submit(w.workers[0], w.next(w.workers[0]).Assignment, json.RawMessage(`{"kind":"a"}`)))(t) // it goes on
	var told int
	for _, e := range must(w.store.AuditEntries(w.ctx, store.AuditFilter{Operation: store.RetentionDeleted, Limit: 99}))(t) {
		if e.Tenant != w.a || e.Actor != 0 {
			t.Errorf("an entry %+v", e)
		}
		told++
	}
	if told != 4 {
		t.Errorf("%d entries tell of what went", told)
	}
	must(w.store.CheckAudit(w.ctx))(t)
	ok(t, w.store.CheckUsage(w.ctx))
}

// saysWhatWent checks that whoever looks at what was answered is told that it is gone.
func (w *retained) saysWhatWent() {
	t := w.t
	t.Helper()
	b := must(w.store.Batch(w.ctx, 0, w.ended))(t)
	for method, want := range map[string]crowd.Code{"": "", results.Live: "", "majority": crowd.Conflict} {
		page, err := w.Results.List(w.ctx, w.ann, w.ended, results.Query{Method: method, Limit: 5})
		if crowd.CodeOf(err) != want {
			t.Errorf("results by %q: %v", method, err)
		}
		if err == nil && (page.Method != results.Live || page.Rows[0].Label == nil || page.Rows[0].Label.Value != "a" || page.Counts.Unanswered != 0) {
			t.Errorf("results by %q: %+v", method, page)
		}
	}
	_, err := w.Batches.Quality(w.ctx, w.ann, w.ended, "")
	refused(t, err, crowd.Conflict)
	gave := w.list(w.ended, "", 5).Rows[0].Answers[0]
	v := must(w.Results.Worker(w.ctx, w.ann, w.ended, results.WorkerQuery{Worker: gave.By.Pseudonym, Limit: 5}))(t)
	if v.Quality != nil || v.Compared != 0 || v.Method != results.Live || v.Counted == 0 || v.Typical == 0 || v.Figures.Answers != v.Counted || v.Figures.Agreement != nil || len(v.Rows) == 0 || v.Rows[0].Key != "" || v.Rows[0].Label == nil || v.Rows[0].Right != nil {
		t.Errorf("of a worker it tells %+v", v)
	}
	_, rows, err := w.Batches.Annotations(w.ctx, w.ann, w.ended, true)
	ok(t, err)
	table := must(results.AnnotationTable(&b, rows, false))(t)
	if last := table.Columns[len(table.Columns)-1]; last != "deleted" {
		t.Errorf("the columns are %q", table.Columns)
	}
	for row, err := range table.Rows {
		ok(t, err)
		if len(row) != len(table.Columns) || row[len(row)-1] != "answers on "+b.AnswersDeletedAt.Format(time.DateOnly) {
			t.Fatalf("a row has %q", row)
		}
	}
}

// TestALateAnswerAfterAll: what comes after the answers of its batch were deleted is not
// kept either.
func TestALateAnswerAfterAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	id := w.launch(1)
	held := w.next(w.workers[0])
	must(w.Batches.Cancel(w.ctx, w.ann, id))(t)
	must(w.Retention.Set(w.ctx, w.ann, w.a, map[store.Retained]*int{store.RetainedAnswers: days(1)}))(t)
	w.clock.advance(25 * time.Hour)
	ok(t, w.Retention.Step(w.ctx))
	w.reopen()
	out := must(w.submit(w.workers[0], held.Assignment, yes))(t)
	if a := must(w.store.Assignment(w.ctx, held.Assignment))(t); !out.Late || a.Body != nil || a.Key != "" || a.State != crowd.Submitted {
		t.Errorf("%+v is kept as %+v", out, a)
	}
}

// haltingDeletion fails at one of the steps of a deletion, after it or before, and from then
// on at each, as if the process were killed there.
type haltingDeletion struct {
	store.Store
	halting *halting
	after   atomic.Int32 // how many more steps of deletions do something
}

func (h *haltingDeletion) BeginDeletion(ctx context.Context, d store.Deletion) error {
	return h.halting.halts("begin", func() error { return h.Store.BeginDeletion(ctx, d) })
}

func (h *haltingDeletion) DeleteSome(ctx context.Context, now time.Time, limit int) (more bool, err error) {
	at := "some"
	if h.after.Add(-1) >= 0 {
		at = "more"
	}
	err = h.halting.halts(at, func() error { more, err = h.Store.DeleteSome(ctx, now, limit); return err })
	return more, err
}

func (h *haltingDeletion) Scrub(ctx context.Context, now time.Time) error {
	return h.halting.halts("scrub", func() error { return h.Store.Scrub(ctx, now) })
}

// TestADeletionThatIsCutOff goes on when the server starts again, wherever it was cut off.
func TestADeletionThatIsCutOff(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"begin", "some", "scrub"} {
		for _, late := range []bool{false, true} {
			t.Run(fmt.Sprint(at, " ", late), func(t *testing.T) {
				t.Parallel()
				w := newRetained(t)
				must(w.Retention.Set(w.ctx, w.ann, w.a, map[store.Retained]*int{store.RetainedAnswers: days(1), store.RetainedFiles: days(1)}))(t)
				given := len(w.answers(w.ended))
				w.close()
				w.toHour(0)
				w.clock.advance(24 * time.Hour)
				w.wrap = func(s store.Store) store.Store {
					h := &haltingDeletion{Store: s, halting: &halting{at: at, late: late}}
					h.after.Store(1)
					return h
				}
				w.open()
				if err := w.Retention.Step(w.ctx); err == nil {
					t.Error("it was not cut off")
				}
				w.close()
				w.wrap = nil
				w.open()
				ok(t, w.Retention.Step(w.ctx))
				if found := w.found(append(answerTraces, fileTraces...)); len(found) > 0 {
					t.Errorf("found: %s", strings.Join(found, "\n"))
				}
				if n := len(w.answers(w.ended)); n != given {
					t.Errorf("%d answers of %d are left", n, given)
				}
				ok(t, w.store.CheckUsage(w.ctx))
				must(w.store.CheckAudit(w.ctx))(t)
			})
		}
	}
}

// scrubs counts how often the files are rewritten.
type scrubs struct {
	store.Store
	n int
}

func (s *scrubs) Scrub(ctx context.Context, now time.Time) error {
	s.n++
	return s.Store.Scrub(ctx, now)
}

// TestARewritingThatWasMissed: of a server that never runs at the time of the day for it, files are
// rewritten once two days have passed, at any time, and once.
func TestARewritingThatWasMissed(t *testing.T) {
	t.Parallel()
	w, s := newRetained(t), &scrubs{}
	must(w.Retention.Set(w.ctx, w.ann, w.a, map[store.Retained]*int{store.RetainedAnswers: days(1)}))(t)
	w.wrap = func(st store.Store) store.Store { s.Store = st; return s }
	w.reopen()
	w.toHour(12)
	w.clock.advance(24 * time.Hour)
	w.clock.halt()
	for i, x := range []struct {
		after time.Duration
		want  int
	}{{0, 0}, {24 * time.Hour, 0}, {24 * time.Hour, 0}, {10 * time.Minute, 1}, {10 * time.Minute, 1}, {72 * time.Hour, 1}} {
		w.clock.advance(x.after)
		ok(t, w.Retention.Step(w.ctx))
		if found := w.found(answerTraces); s.n != x.want || len(found) > 0 != (x.want == 0) {
			t.Errorf("step %d, after %s: rewritten %d times, want %d; found: %s", i, x.after, s.n, x.want, strings.Join(found, "\n"))
		}
	}
}

// TestLogsAreKeptNoLonger: the details of a tenant's old entries go, with one entry a day
// that says so.
func TestLogsAreKeptNoLonger(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	ok(t, w.Tenants.Deposit(w.ctx, w.admin, w.a, crowd.Unit, "note-of-ants"))
	ok(t, w.Tenants.Deposit(w.ctx, w.admin, w.b, crowd.Unit, "note-of-bees"))
	must(w.Retention.Set(w.ctx, w.ann, w.a, map[store.Retained]*int{store.RetainedLogs: days(90)}))(t)
	w.clock.advance(92 * 24 * time.Hour)
	for range 3 {
		ok(t, w.Retention.Step(w.ctx))
	}
	for tenant, want := range map[crowd.TenantID]bool{w.a: false, w.b: true} {
		for _, e := range must(w.store.AuditEntries(w.ctx, store.AuditFilter{Tenant: tenant, Operation: "Tenants.Deposit", Limit: 9}))(t) {
			if len(e.After) > 0 != want {
				t.Errorf("of %s: %s", tenant, e.After)
			}
		}
	}
	if list := must(w.store.AuditEntries(w.ctx, store.AuditFilter{Operation: store.RetentionDeleted, Limit: 9}))(t); len(list) != 1 || list[0].Tenant != w.a {
		t.Errorf("entries that tell of it: %+v", list)
	}
	must(w.store.CheckAudit(w.ctx))(t)
}

// TestWhoSetsRetention: within the bounds, of their own tenant, and not who only looks.
func TestWhoSetsRetention(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	one := map[store.Retained]*int{store.RetainedAnswers: days(1)}
	_, err := w.Retention.Set(w.ctx, w.bob, w.a, one)
	refused(t, err, crowd.NotFound)
	_, err = w.Retention.Preview(w.ctx, w.bob, w.a, one)
	refused(t, err, crowd.NotFound)
	for _, bad := range []map[store.Retained]*int{{store.RetainedAnswers: days(-1)}, {store.RetainedAnswers: days(retention.MostDays + 1)}, {"everything": days(5)}} {
		_, err := w.Retention.Set(w.ctx, w.ann, w.a, bad)
		refused(t, err, crowd.Invalid)
	}
	rules := must(w.Retention.Set(w.ctx, w.ann, w.a, one))(t)
	if rules[0].Keeps != 1 || !rules[0].Set || rules[1].Set {
		t.Errorf("rules %+v", rules)
	}
	rules = must(w.Retention.Set(w.ctx, w.ann, w.a, map[store.Retained]*int{store.RetainedAnswers: nil}))(t)
	if rules[0].Keeps != 0 || rules[0].Set {
		t.Errorf("rules %+v", rules)
	}
}

// TestOnlyLogsThatAreThereGo: a preview has no date up to which the audit log loses details
// where nothing of it is that old, and none once they have gone.
func TestOnlyLogsThatAreThereGo(t *testing.T) {
	t.Parallel()
	w := newRetained(t)
	w.toHour(12)
	logs := map[store.Retained]*int{store.RetainedLogs: days(90)}
	foreseen := func() time.Time { return must(w.Retention.Preview(w.ctx, w.ann, w.a, logs))(t).LogsBefore }
	if at := foreseen(); !at.IsZero() {
		t.Errorf("nothing is 90 days old, and what is of before %s goes", at)
	}
	w.clock.advance(91 * 24 * time.Hour)
	if foreseen().IsZero() {
		t.Error("what is 90 days old does not go")
	}
	must(w.Retention.Set(w.ctx, w.ann, w.a, logs))(t)
	ok(t, w.Retention.Step(w.ctx))
	if at := foreseen(); !at.IsZero() {
		t.Errorf("it has gone, and what is of before %s goes again", at)
	}
}
