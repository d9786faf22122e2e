package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

func testSetRetention(t *testing.T, w *world) {
	same(t, "at first", must(w.RetentionSet(w.ctx))(t), nil)
	ok(t, w.SetRetention(w.ctx, w.mine, map[store.Retained]*int{store.RetainedAnswers: ptr(30), store.RetainedLogs: ptr(0)}))
	ok(t, w.SetRetention(w.ctx, w.other, map[store.Retained]*int{store.RetainedFiles: ptr(7)}))
	ok(t, w.SetRetention(w.ctx, w.mine, map[store.Retained]*int{store.RetainedAnswers: ptr(31), store.RetainedFiles: nil}))
	same(t, "set", must(w.RetentionSet(w.ctx))(t), map[crowd.TenantID]map[store.Retained]int{w.mine: {store.RetainedAnswers: 31, store.RetainedLogs: 0}, w.other: {store.RetainedFiles: 7}})
	ok(t, w.SetRetention(w.ctx, w.mine, map[store.Retained]*int{store.RetainedAnswers: nil}))
	same(t, "one is the operator's again", must(w.RetentionSet(w.ctx))(t)[w.mine], map[store.Retained]int{store.RetainedLogs: 0})
	refused(t, w.SetRetention(w.ctx, 99, map[store.Retained]*int{store.RetainedFiles: ptr(7)}), crowd.NotFound)
}

// end ends the batch of history.
func (w *world) end(t *testing.T, at time.Time) {
	t.Helper()
	p := w.progress(w.batch)
	p.State, p.EndedAt = crowd.BatchDone, at
	ok(t, w.Commit(w.ctx, &engine.Changes{Progress: []engine.Progress{p}}))
}

// deleted goes on with deletions until there are none, and returns in how many steps.
func (w *world) deleted(t *testing.T, at time.Time, limit int) (steps int) {
	t.Helper()
	for must(w.DeleteSome(w.ctx, at, limit))(t) {
		if steps++; steps > 100 {
			t.Fatal("it does not end")
		}
	}
	return steps
}

func (w *world) expiring(t *testing.T, kind store.Retained, until time.Time) []store.Expiring {
	t.Helper()
	return must(w.Expiring(w.ctx, w.mine, kind, until, 9))(t)
}

// testDeletions: answers and tasks of a batch that ended are emptied step by step, also
// over a restart; labels, counts, money and other batches stay.
func testDeletions(t *testing.T, w *world) {
	next := w.draft(t, w.mine, 2)
	w.history(t)
	ended := w.now.Add(3 * time.Hour)
	answers, files := store.Deletion{Kind: store.RetainedAnswers, Tenant: w.mine, Batch: w.batch, At: ended.Add(time.Hour)}, store.Deletion{Kind: store.RetainedFiles, Tenant: w.mine, Batch: w.batch, At: ended.Add(time.Hour)}
	same(t, "what runs", w.expiring(t, store.RetainedAnswers, ended), nil)
	w.unchanged(t, func() { refused(t, w.BeginDeletion(w.ctx, answers), crowd.Conflict) })
	w.end(t, ended)
	want := []store.Expiring{{Kind: store.RetainedAnswers, Batch: w.batch, Name: must(w.Batch(w.ctx, 0, w.batch))(t).Name, EndedAt: ended}}
	same(t, "what ended", w.expiring(t, store.RetainedAnswers, ended), want)
	same(t, "what ended later", w.expiring(t, store.RetainedAnswers, ended.Add(-time.Microsecond)), nil)
	same(t, "of another tenant", must(w.Expiring(w.ctx, w.other, store.RetainedAnswers, ended, 9))(t), nil)
	same(t, "nothing begun", w.deleted(t, ended, 1), 0)
	for _, d := range []store.Deletion{{Kind: store.RetainedAnswers, Tenant: w.other, Batch: w.batch, At: ended}, {Kind: store.RetainedAnswers, Tenant: w.mine, Batch: next, At: ended}, {Kind: store.RetainedAnswers, Tenant: w.mine, Batch: 99, At: ended}} {
		w.unchanged(t, func() { refused(t, w.BeginDeletion(w.ctx, d), crowd.Conflict) })
	}

	labels, used, kept := must(collect(w.Labels(w.ctx, w.mine, w.batch)))(t), w.used(t, store.StoredBytes), w.annotations(t)
	other := must(collect(w.Labels(w.ctx, w.mine, next)))(t)
	ok(t, w.BeginDeletion(w.ctx, answers))
	refused(t, w.BeginDeletion(w.ctx, answers), crowd.Conflict)
	same(t, "what is kept of it", w.expiring(t, store.RetainedAnswers, ended), nil)
	same(t, "since when", must(w.Batch(w.ctx, 0, w.batch))(t).AnswersDeletedAt, answers.At)
	same(t, "a first step", must(w.DeleteSome(w.ctx, ended, 1))(t), true)
	ok(t, w.Close())
	w.Store = must(w.open())(t)
	same(t, "steps", w.deleted(t, ended.Add(2*time.Hour), 1), 3)
	bytes := int64(0)
	for i := range kept {
		bytes += int64(len(kept[i].Body))
		kept[i].Body, kept[i].Key = nil, ""
	}
	same(t, "answers", must(collect(w.Annotations(w.ctx, w.mine, w.batch, false)))(t), kept)
	same(t, "labels", must(collect(w.Labels(w.ctx, w.mine, w.batch)))(t), labels)
	same(t, "stored bytes", w.used(t, store.StoredBytes), used-bytes)
	same(t, "written texts", len(must(collect(w.WrittenTexts(w.ctx, w.workers[0], true)))(t)), 0)

	same(t, "files", len(w.expiring(t, store.RetainedFiles, ended)), 1)
	ok(t, w.BeginDeletion(w.ctx, files))
	w.deleted(t, ended.Add(3*time.Hour), 4)
	for i := range labels {
		labels[i].Values, labels[i].Gold = nil, ""
	}
	same(t, "tasks", must(collect(w.Labels(w.ctx, w.mine, w.batch)))(t), labels)
	same(t, "tasks of another batch", must(collect(w.Labels(w.ctx, w.mine, next)))(t), other)
	ok(t, w.CheckLedger(w.ctx))
	ok(t, w.CheckUsage(w.ctx))

	same(t, "in the files of the database since", must(w.Unscrubbed(w.ctx))(t), ended.Add(2*time.Hour))
	ok(t, w.Scrub(w.ctx, ended.Add(150*time.Minute)))
	same(t, "what went later", must(w.Unscrubbed(w.ctx))(t), ended.Add(3*time.Hour))
	ok(t, w.Scrub(w.ctx, ended.Add(4*time.Hour)))
	same(t, "nothing", must(w.Unscrubbed(w.ctx))(t), time.Time{})
}

// testRunDeleted: of a run its rows go, with what its batches have; not while a run goes on
// that takes over its rows, and after that none begins.
func testRunDeleted(t *testing.T, w *world) {
	run := w.flow(t, w.mine)
	batch := w.job(t, run, 1, 2)
	w.advance(t, &store.Advance{Run: run, Hold: []store.Fault{{Item: 3, Node: query, N: 1, At: w.now, Tries: 1, Error: "cell <x> is wrong"}}})
	r := must(w.Run(w.ctx, 0, run))(t)
	r.State, r.EndedAt = store.RunDone, w.now.Add(time.Hour)
	w.advance(t, &store.Advance{Run: run, State: &r})
	del := store.Deletion{Kind: store.RetainedFiles, Tenant: w.mine, Run: run, At: w.now.Add(2 * time.Hour)}
	same(t, "its batch runs", w.expiring(t, store.RetainedFiles, del.At), nil)
	ok(t, w.CancelDraft(w.ctx, w.mine, batch, w.now.Add(time.Hour)))

	child := must(w.CreateRun(w.ctx, store.Run{Tenant: w.mine, State: store.RunRunning, Parent: run}, nil))(t)
	list := w.expiring(t, store.RetainedFiles, del.At)
	same(t, "it is needed", list, []store.Expiring{{Kind: store.RetainedFiles, Run: run, Name: r.Name, EndedAt: r.EndedAt, NeededBy: child}})
	w.unchanged(t, func() { refused(t, w.BeginDeletion(w.ctx, del), crowd.Conflict) })
	later := must(w.CreateRun(w.ctx, store.Run{Tenant: w.mine, State: store.RunRunning}, nil))(t)
	l := must(w.Run(w.ctx, 0, later))(t)
	l.State, l.EndedAt = store.RunDone, w.now.Add(2*time.Hour)
	w.advance(t, &store.Advance{Run: later, State: &l})
	if first := must(w.Expiring(w.ctx, w.mine, store.RetainedFiles, del.At, 1))(t); len(first) != 1 || first[0].Run != later {
		t.Errorf("what nobody needs comes behind what is needed: %+v", first)
	}
	c := must(w.Run(w.ctx, 0, child))(t)
	c.State, c.EndedAt = store.RunCancelled, w.now.Add(3*time.Hour)
	w.advance(t, &store.Advance{Run: child, State: &c})

	ok(t, w.BeginDeletion(w.ctx, del))
	w.deleted(t, del.At, 2)
	same(t, "the run", must(w.Run(w.ctx, 0, run))(t).FilesDeletedAt, del.At)
	same(t, "its batch", must(w.Batch(w.ctx, 0, batch))(t).FilesDeletedAt, del.At)
	same(t, "a task", must(w.Task(w.ctx, batch.Task(1)))(t).Values, nil)
	rows := must(w.Rows(w.ctx, run, input, 0, 9, nil))(t)
	same(t, "how many rows", len(rows), 3)
	for _, x := range rows {
		same(t, "a row", x.Cells, nil)
	}
	same(t, "a fault", must(w.Faults(w.ctx, run, query, 0, 9))(t)[0].Error, "")
	same(t, "the count", must(w.Nodes(w.ctx, run))(t)[input].OK, 3)
	_, err := w.CreateRun(w.ctx, store.Run{Tenant: w.mine, State: store.RunRunning, Parent: run}, nil)
	refused(t, err, crowd.Conflict)
	del.Kind = store.RetainedAnswers
	ok(t, w.BeginDeletion(w.ctx, del))
	w.deleted(t, del.At, 2)
	same(t, "answers of its batch", must(w.Batch(w.ctx, 0, batch))(t).AnswersDeletedAt, del.At)
}

// testLogsDeleted: the details of a tenant's old entries go, and the chain verifies.
func testLogsDeleted(t *testing.T, w *world) {
	w.deposits(t, 5) // entries 1, 3 and 5 are w.mine's
	of := func(before time.Duration) store.Deletion {
		return store.Deletion{Kind: store.RetainedLogs, Tenant: w.mine, At: w.now.Add(time.Hour), Before: w.now.Add(before)}
	}
	refused(t, w.BeginDeletion(w.ctx, of(0)), crowd.Conflict)
	ok(t, w.BeginDeletion(w.ctx, of(3*time.Minute)))
	refused(t, w.BeginDeletion(w.ctx, of(time.Hour)), crowd.Conflict) // it is under way
	w.deleted(t, w.now, 1)
	with := func() string { return w.numbers(t, store.AuditFilter{Address: "192.0.2.1"}) }
	same(t, "with an address", with(), "5 4 2")
	refused(t, w.BeginDeletion(w.ctx, of(3*time.Minute)), crowd.Conflict) // nothing is left to delete
	act := &store.Act{AuditEntry: store.AuditEntry{At: w.now.Add(time.Hour), Tenant: w.mine, Operation: store.RetentionDeleted, Kind: "tenant", Object: w.mine.String()}, After: struct{ Days int }{3}}
	ok(t, w.BeginDeletion(store.WithActs(context.WithoutCancel(w.ctx), act), of(time.Hour)))
	w.deleted(t, w.now, 9)
	same(t, "with an address, later", with(), "4 2")
	last := must(w.AuditEntries(w.ctx, store.AuditFilter{Limit: 1}))(t)[0]
	same(t, "what tells of it", [2]string{last.Operation, string(last.After)}, [2]string{store.RetentionDeleted, `{"days":3}`})
	must(w.CheckAudit(w.ctx))(t)
}
