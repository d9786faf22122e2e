package app_test

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/server/auth"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/label"
)

// tasks returns the values of a batch's tasks.
func (w *world) tasks(id crowd.BatchID) (list []store.LabelledTask) {
	w.t.Helper()
	_, rows, err := w.Batches.Labels(w.ctx, w.admin, id, batches.Live)
	ok(w.t, err)
	for row, err := range rows {
		ok(w.t, err)
		list = append(list, row)
	}
	return list
}

func TestUpload(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	calls := strings.NewReplacer("P1", w.pseudonym(w.a, w.workers[0]), "P2", w.pseudonym(w.a, w.workers[1]))
	for name, x := range map[string]struct {
		file    string
		skipBad bool
		kept    []string // the values, as fmt prints them
		bad     []string // what is said
		refused string   // the file as a whole
	}{
		"a good file":                       {file: "thing,of\na dog,ann\na stone,\n", kept: []string{"[a dog ann]", "[a stone ]"}},
		"JSON Lines":                        {file: "{\"thing\": \"a dog\", \"n\": 1}\n{\"n\": null, \"thing\": \"a stone\"}\n", kept: []string{"[a dog 1]", "[a stone ]"}},
		"a file without rows":               {file: "thing\n", refused: "there is no task in it"},
		"an empty file":                     {file: "", refused: "the file is empty"},
		"a row too short":                   {file: "thing,of\na dog,ann\na stone\na cat,bob\n", bad: []string{"line 3"}},
		"a row too short, skipped":          {file: "thing,of\na dog,ann\na stone\na cat,bob\n", skipBad: true, kept: []string{"[a dog ann]", "[a cat bob]"}, bad: []string{"line 3"}},
		"a cell that is not UTF-8":          {file: "thing,of\na dog,ann\n\xff,bob\n", bad: []string{"line 3, thing: the cell is not UTF-8"}},
		"a template's column is not there":  {file: "things\na dog\n", refused: "thing"},
		"special columns":                   {file: "_gold,thing,_workers\nyes,a dog,P1; P2\nno,a stone,P2\n", kept: []string{"[a dog]", "[a stone]"}},
		"a known answer nobody could give":  {file: "thing,_gold\na dog,yes\na stone,perhaps\na cat,\n", bad: []string{"line 3, _gold: is no answer that a worker could give"}},
		"nobody by that name":               {file: "thing,_workers\na dog,P1\na stone,worker9\n", bad: []string{"line 3, _workers: worker9 is no pseudonym"}},
		"somebody who is no worker":         {file: "thing,_workers\na dog,ann\n", bad: []string{"line 2, _workers: ann is no pseudonym"}},
		"a row for anybody":                 {file: "thing,_workers\na dog,P1\na stone,\na cat,\" \"\n", kept: []string{"[a dog]", "[a stone]", "[a cat]"}},
		"JSON Lines for anybody":            {file: "{\"thing\": \"a dog\", \"_workers\": \"P1\"}\n{\"thing\": \"a stone\", \"_workers\": null}\n{\"thing\": \"a cat\", \"_workers\": \"\"}\n{\"thing\": \"no key\"}\n", skipBad: true, kept: []string{"[a dog]", "[a stone]", "[a cat]"}, bad: []string{"line 4, _workers: the key is missing"}},
		"special columns and nothing else":  {file: "_gold\nyes\n", refused: "no column with data"},
		"an Excel workbook":                 {file: "PK\x03\x04....", refused: "Excel"},
		"a header with a column twice":      {file: "thing,thing\na,b\n", refused: "same name"},
		"a quote that is not closed, first": {file: "thing\n\"a dog\na cat\n", skipBad: true, kept: []string{"[a cat]"}, bad: []string{"line 2"}},
	} {
		t.Run(name, func(t *testing.T) {
			id := w.draft(0)
			report, err := w.Batches.Upload(w.ctx, w.ann, id, strings.NewReader(calls.Replace(x.file)), batches.Upload{SkipBad: x.skipBad})
			if x.refused != "" {
				if crowd.CodeOf(err) != crowd.Invalid || !strings.Contains(err.Error(), x.refused) {
					t.Errorf("got %v, want something about %q", err, x.refused)
				}
			} else if len(x.bad) > 0 && !x.skipBad {
				var several crowd.Errors
				if !errors.As(err, &several) {
					t.Fatalf("got %v, want what is wrong with rows", err)
				}
				report.Problems = several
			} else {
				ok(t, err)
			}
			var kept []string
			for _, row := range w.tasks(id) {
				kept = append(kept, fmt.Sprint(row.Values))
			}
			if !slices.Equal(kept, x.kept) || report.Tasks != len(x.kept) {
				t.Errorf("kept %q, want %q; reported %d", kept, x.kept, report.Tasks)
			}
			if len(report.Problems) != len(x.bad) {
				t.Fatalf("problems %v, want %q", report.Problems, x.bad)
			}
			for i, p := range report.Problems {
				if !strings.HasPrefix(p.Error(), x.bad[i]) {
					t.Errorf("said %q, want %q", p, x.bad[i])
				}
			}
		})
	}
}

// TestWhomAFileMayName: a file names workers of the pool who serve the tenant, as who uploads it may
// call them. Whatever else a text calls, nothing tells whom, nor whether anybody.
func TestWhomAFileMayName(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	p1, p2, p3 := w.workers[0], w.workers[1], w.workers[2]
	away := must(w.Pools.Create(w.ctx, w.admin, "away", "fifo"))(t)
	must(w.Accounts.ChangeUser(w.ctx, w.admin, p2.User.ID, func(u *store.User) error { u.Serves = []crowd.TenantID{w.b}; return nil }))(t)
	must(w.Accounts.ChangeUser(w.ctx, w.admin, p3.User.ID, func(u *store.User) error { u.Pool = away.ID; return nil }))(t)
	said := func(by *access.Principal, text string) string {
		t.Helper()
		id := w.draft(0)
		_, err := w.Batches.Upload(w.ctx, by, id, strings.NewReader("thing,_workers\na dog,"+text+"\n"), batches.Upload{})
		if err == nil {
			return fmt.Sprint(must(w.store.Invitations(w.ctx, id))(t))
		}
		return strings.ReplaceAll(err.Error(), text, "X")
	}
	first := fmt.Sprint(map[crowd.WorkerID][]uint32{p1.User.ID: {1}})
	for _, text := range []string{"worker1", "WORKER1", p1.User.ID.String(), w.pseudonym(w.a, p1)} {
		if got := said(w.admin, text); got != first {
			t.Errorf("an administrator who calls the first one %s gets %s", text, got)
		}
	}
	if got := said(w.ann, w.pseudonym(w.a, p1)); got != first {
		t.Errorf("by the pseudonym, a requester gets %s", got)
	}
	nobody := said(w.ann, "nobody")
	if !strings.Contains(nobody, "line 2, _workers: X is no pseudonym") {
		t.Errorf("of nobody it says %s", nobody)
	}
	for _, text := range []string{"worker1", "worker2", "ann", "admin", p1.User.ID.String(), "u999", w.pseudonym(w.b, p1), w.pseudonym(w.a, p2), w.pseudonym(w.a, p3), w.pseudonym(w.a, w.ann)} {
		if got := said(w.ann, text); got != nobody {
			t.Errorf("a requester who writes %s is told %s, and of nobody %s", text, got, nobody)
		}
	}
	for _, text := range []string{"worker2", "worker3", "ann", "nobody"} {
		if got := said(w.admin, text); !strings.Contains(got, "X is not a worker of the batch's pool who serves its tenant") {
			t.Errorf("an administrator who writes %s is told %s", text, got)
		}
	}
}

func TestAnUploadReplacesAnother(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	id := w.draft(1500)
	must(w.Batches.Upload(w.ctx, w.ann, id, strings.NewReader("thing,_gold\na dog,yes\n"), batches.Upload{}))(t)
	if list := w.tasks(id); len(list) != 1 || list[0].Gold != "yes" || list[0].Values[0] != "a dog" {
		t.Errorf("kept %v", list)
	}
	// A file that could not be read leaves what was there.
	_, err := w.Batches.Upload(w.ctx, w.ann, id, strings.NewReader("other\na dog\n"), batches.Upload{})
	refused(t, err, crowd.Invalid)
	if n := len(w.tasks(id)); n != 1 {
		t.Errorf("%d tasks", n)
	}
	must(w.Batches.Launch(w.ctx, w.ann, id, false))(t)
	_, err = w.Batches.Upload(w.ctx, w.ann, id, things(1), batches.Upload{})
	refused(t, err, crowd.Conflict)
}

// TestAnUploadThatBreaksOffLeavesNothing: the sender goes away half-way.
func TestAnUploadThatBreaksOffLeavesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	id := w.draft(0)
	broken := io.MultiReader(things(2500), failing{})
	if _, err := w.Batches.Upload(w.ctx, w.ann, id, broken, batches.Upload{}); !errors.Is(err, errBroken) {
		t.Fatalf("got %v", err)
	}
	if n := len(w.tasks(id)); n != 0 {
		t.Errorf("%d tasks are left", n)
	}
	_, err := w.Batches.Launch(w.ctx, w.ann, id, false)
	refused(t, err, crowd.Invalid)
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errBroken }

// pausing is a reader that lets a test act before it ends.
type pausing struct {
	io.Reader
	act func()
}

func (p *pausing) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	if errors.Is(err, io.EOF) && p.act != nil {
		act := p.act
		p.act = nil
		act()
	}
	return n, err
}

// TestADraftWaitsForItsTasks: while a file comes in, nothing else can be done
// to the draft, and a restart in the middle does not make half a file a batch.
func TestADraftWaitsForItsTasks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	id := w.draft(1)
	looked := false
	file := &pausing{Reader: things(2500), act: func() {
		looked = true
		_, err := w.Batches.Launch(w.ctx, w.ann, id, false)
		refused(t, err, crowd.Conflict)
		_, err = w.Batches.Upload(w.ctx, w.ann, id, things(1), batches.Upload{})
		refused(t, err, crowd.Conflict)
		_, err = w.Batches.EditDraft(w.ctx, w.ann, id, replaced(w.definition()))
		refused(t, err, crowd.Conflict)
		_, err = w.Batches.Cancel(w.ctx, w.ann, id)
		refused(t, err, crowd.Conflict)
		_, err = w.Batches.Preview(w.ctx, w.ann, id, 1)
		refused(t, err, crowd.NotFound)

		// The server dies now: another one begins on what is kept.
		again := must(app.Open(w.ctx, app.Config{Passwords: auth.LeastCost, Store: w.store, Now: w.clock.now}))(t)
		defer again.Close()
		if b := must(again.Batches.Get(w.ctx, w.ann, id))(t); b.Spec.Tasks == 0 {
			t.Error("nothing was kept in the middle: the test looks at nothing")
		}
		_, err = again.Batches.Launch(w.ctx, w.ann, id, false)
		refused(t, err, crowd.Invalid)
	}}
	report := must(w.Batches.Upload(w.ctx, w.ann, id, file, batches.Upload{}))(t)
	if !looked || report.Tasks != 2500 {
		t.Errorf("looked %t, %d tasks", looked, report.Tasks)
	}
	must(w.Batches.Launch(w.ctx, w.ann, id, false))(t)
}

func TestEditDraft(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	night := w.newPool("night", "fifo").Pool.ID
	id := w.draft(3)
	d := w.definition()
	d.Template = []byte(`{"kind": "choose_one", "question": "Is ${other} alive?", "options": ["yes", "no"]}`)
	_, err := w.Batches.EditDraft(w.ctx, w.ann, id, replaced(d))
	refused(t, err, crowd.Invalid) // the file has no such column
	d = w.definition()
	d.Name, d.Redundancy, d.Pool = "renamed", label.Agree(2, 3), night
	must(w.Batches.EditDraft(w.ctx, w.ann, id, replaced(d)))(t)
	if b := w.batch(id); b.Name != "renamed" || b.Spec.Tasks != 3 || len(b.Columns) != 1 || b.Pool != night {
		t.Errorf("got %+v", b)
	}
	directed := w.draft(0)
	must(w.Batches.Upload(w.ctx, w.ann, directed, strings.NewReader("thing,_workers\na dog,"+w.pseudonym(w.a, w.workers[0])+"\n"), batches.Upload{}))(t)
	_, err = w.Batches.EditDraft(w.ctx, w.ann, directed, replaced(d))
	refused(t, err, crowd.Invalid) // its people are not of that pool
}

// Two who change a draft, or a pool, at the same time do not undo what the other has
// changed.
func TestChangesAtTheSameTimeAllHold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	id := w.draft(1)
	before, pool := w.batch(id), must(w.Pools.Get(w.ctx, w.admin, w.pool))(t)
	const each = 20
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range each {
				must(w.Batches.EditDraft(w.ctx, w.ann, id, func(n *batches.NewBatch) error { n.Reward++; return nil }))(t)
				must(w.Pools.Change(w.ctx, w.admin, w.pool, func(now *store.Pool) error { now.Gate = true; now.Control.Max++; return nil }))(t)
			}
		})
	}
	group.Wait()
	if got := w.batch(id).Spec.Reward; got != before.Spec.Reward+4*each {
		t.Errorf("of %d changes of the draft's reward %d hold", 4*each, got-before.Spec.Reward)
	}
	if got := must(w.Pools.Get(w.ctx, w.admin, w.pool))(t).Control.Max; got != pool.Control.Max+4*each {
		t.Errorf("of %d changes of the pool's greatest size %d hold", 4*each, got-pool.Control.Max)
	}
}

// rows is a file of n rows that is made as it is read.
type rows struct {
	n, made int
	rest    []byte
}

func (r *rows) Read(b []byte) (int, error) {
	for len(r.rest) == 0 {
		switch {
		case r.made > r.n:
			return 0, io.EOF
		case r.made == 0:
			r.rest = []byte("thing,note\n")
		default:
			r.rest = fmt.Appendf(r.rest[:0], "thing %d,%s\n", r.made, strings.Repeat("x", 200))
		}
		r.made++
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// TestALargeUploadTakesLittleMemory uploads 100,000 rows, 21 MB, of which none
// may stay in memory.
func TestALargeUploadTakesLittleMemory(t *testing.T) {
	w := newWorld(t, 1)
	id := w.draft(0)
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before, most, looks := heap(), int64(0), 0
	file := &rows{n: 100_000}
	if slow {
		file.n = 10_000
	}
	report := must(w.Batches.Upload(w.ctx, w.ann, id, &probing{Reader: file, every: 512 << 10, probe: func() { looks++; most = max(most, heap()-before) }}, batches.Upload{}))(t)
	if report.Tasks != file.n || looks < 3 {
		t.Fatalf("%d tasks, %d looks", report.Tasks, looks)
	}
	if most > 2<<20 {
		t.Errorf("%d bytes were held", most)
	}
	t.Logf("at most %d KiB more", most>>10)
}

// probing calls probe after every so many bytes.
type probing struct {
	io.Reader
	every, n int
	probe    func()
}

func (p *probing) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	if p.n += n; p.n >= p.every {
		p.n = 0
		p.probe()
	}
	return n, err
}

// TestABatchDirectedInPart: an empty cell of _workers lets anybody do the task, also
// after a restart.
func TestABatchDirectedInPart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	id := w.draft(0)
	must(w.Batches.Upload(w.ctx, w.ann, id, strings.NewReader("thing,_workers\na dog,"+w.pseudonym(w.a, w.workers[0])+"\na stone,\na cat,\n"), batches.Upload{}))(t)
	must(w.Batches.Launch(w.ctx, w.ann, id, false))(t)
	did := func(who int, want string) {
		t.Helper()
		work := w.next(w.workers[who])
		if got := work.Values.Values().Cells[0]; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		must(w.submit(w.workers[who], work.Assignment, yes))(t)
	}
	did(1, "a stone")
	w.reopen()
	did(1, "a cat")
	if work := must(w.Work.Next(w.ctx, w.workers[1], 0))(t); work != nil {
		t.Errorf("who is not invited gets %s", work.Task)
	}
	did(0, "a dog")
	if v := w.batch(id); v.Progress.State != crowd.BatchDone || v.Progress.Completed != 3 {
		t.Errorf("the batch is %+v", v.Progress)
	}
}
