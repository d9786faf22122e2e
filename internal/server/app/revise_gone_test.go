package app_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/results"
	"github.com/throng-dev/throng/internal/store"
)

// remark is an answer with a text, which may be empty.
func remark(text, kind string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"remark":%q,"kind":%q}`, text, kind))
}

// remarked launches a batch of so many tasks whose answers have a text, and are revised.
func (w *world) remarked(tasks int, change ...func(*batches.NewBatch)) crowd.BatchID {
	w.t.Helper()
	id := w.draft(tasks, slices.Concat([]func(*batches.NewBatch){func(b *batches.NewBatch) {
		b.Template = json.RawMessage(`{"kind":"form","question":"Who is ${thing}?","label_field":"kind","fields":[{"name":"remark","type":"text"},{"name":"kind","type":"choice","options":["a","b"]}]}`)
		b.Revise = 2 * time.Hour
	}, times(1)}, change)...)
	must(w.Batches.Launch(w.ctx, w.ann, id, false))(w.t)
	return id
}

// revised answers a task of a batch that somebody gets, and revises that.
func (w *world) revised(p *access.Principal, answers ...json.RawMessage) crowd.AssignmentID {
	w.t.Helper()
	a := w.next(p).Assignment
	must(w.submit(p, a, answers[0]))(w.t)
	for _, x := range answers[1:] {
		must(w.Work.Revise(w.ctx, p, a, x))(w.t)
	}
	return a
}

// TestEarlierAnswersAreErased: what somebody answered before they revised it is listed with the answer when they are erased,
// also where what they said last has no text, and goes or stays with it.
func TestEarlierAnswersAreErased(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	w.remarked(4)
	one, two := w.workers[0], w.workers[1]
	gone := w.revised(one, remark("zzfirst", "a"), remark("zzsecond", "b"), remark("", "a"))
	kept := w.revised(one, remark("yyfirst", "a"), remark("yysecond", "b"))
	w.revised(two, remark("xxfirst", "a"), remark("xxsecond", "b"))
	before := w.answers(gone.Batch())
	f := must(w.Accounts.BeforeErasure(w.ctx, w.admin, one.User.ID))(t)
	listed := make(map[string][]string)
	for _, x := range f.Texts {
		listed[x.ID] = x.Texts
	}
	if !slices.Equal(listed["answer:"+gone.String()], []string{"zzfirst", "zzsecond"}) || !slices.Equal(listed["answer:"+kept.String()], []string{"yyfirst", "yysecond"}) || len(listed) != 2 {
		t.Errorf("it is to be decided about %q", listed)
	}
	ok(t, w.Accounts.Erase(w.ctx, w.admin, one.User.ID, accounts.ErasureOrder{Confirm: one.User.Name, FreeText: accounts.DeleteText, Settled: true, But: []string{"answer:" + kept.String()}}))
	if found := w.found([]string{"zzfirst", "zzsecond"}); len(found) > 0 {
		t.Errorf("found: %s", strings.Join(found, "\n"))
	}
	for _, stays := range []string{"yyfirst", "yysecond", "xxfirst", "xxsecond"} {
		if len(w.found([]string{stays})) == 0 {
			t.Errorf("%s was to stay", stays)
		}
	}
	for i, a := range w.answers(gone.Batch()) {
		if a.Key != before[i].Key || a.Revised != before[i].Revised || a.Paid != before[i].Paid {
			t.Errorf("%s is %+v, and was %+v", a.Assignment, a, before[i])
		}
	}
	ok(t, w.store.CheckUsage(w.ctx))
	ok(t, w.store.CheckLedger(w.ctx))
}

// TestEarlierAnswersGoWithTheBatch: when a batch's answers have been kept for long enough, so have those before they were revised.
func TestEarlierAnswersGoWithTheBatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	id := w.remarked(3)
	one := w.workers[0]
	w.revised(one, remark("zzfirst", "a"), remark("zzsecond", "b"))
	w.revised(one, remark("zzthird", "a"))
	must(w.Batches.End(w.ctx, w.ann, id))(t)
	before := must(w.store.Usage(w.ctx, w.a, w.clock.now()))(t)[store.StoredBytes]
	must(w.Retention.Set(w.ctx, w.ann, w.a, map[store.Retained]*int{store.RetainedAnswers: days(30)}))(t)
	w.clock.advance(31 * 24 * time.Hour)
	ok(t, w.Retention.Step(w.ctx))
	w.toHour(0) // at which files are rewritten
	ok(t, w.Retention.Step(w.ctx))
	if found := w.found([]string{"zzfirst", "zzsecond", "zzthird"}); len(found) > 0 {
		t.Errorf("found: %s", strings.Join(found, "\n"))
	}
	all := len(remark("zzfirst", "a")) + len(remark("zzsecond", "b")) + len(remark("zzthird", "a"))
	if after := must(w.store.Usage(w.ctx, w.a, w.clock.now()))(t)[store.StoredBytes]; before-after < int64(all) {
		t.Errorf("%d bytes are stored, and were %d", after, before)
	}
	for _, a := range w.answers(id) {
		if a.Body != nil || a.Assignment.N() == 1 && a.Revised != 1 {
			t.Errorf("what is left is %+v", a)
		}
	}
	ok(t, w.store.CheckUsage(w.ctx))
}

// TestDownloadsTellWhatWasRevised: files of answers to a batch that lets people revise them say how often one was, and when last.
func TestDownloadsTellWhatWasRevised(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	id, one := w.remarked(2), w.workers[0]
	w.revised(one, remark("x", "a"), remark("y", "b"), remark("z", "b"))
	w.revised(one, remark("x", "a"))
	rows := func(id crowd.BatchID) map[string][]string {
		t.Helper()
		d := must(w.Results.All(w.ctx, w.ann, id, results.Query{}))(t)
		table, err := d.Table(results.Answers, false)
		ok(t, err)
		of := make(map[string][]string)
		for row, err := range table.Rows {
			ok(t, err)
			if len(row) != len(table.Columns) {
				t.Fatalf("%d cells in %d columns", len(row), len(table.Columns))
			}
			for i, c := range table.Columns {
				of[c] = append(of[c], row[i])
			}
		}
		return of
	}
	of := rows(id)
	at, err := time.Parse(time.RFC3339Nano, strings.Join(of["revised_at"], ""))
	if answered, _ := time.Parse(time.RFC3339Nano, of["ended_at"][0]); !slices.Equal(of["revised"], []string{"2", "0"}) || err != nil || at.Before(answered) || of["late"][0] != "false" || of["Answer.remark"][0] != "z" {
		t.Errorf("the file has %v, %v", of, err)
	}
	other := w.draft(1, times(1))
	must(w.Batches.Launch(w.ctx, w.ann, other, false))(t)
	must(w.submit(one, w.next(one).Assignment, yes))(t)
	if of := rows(other); of["revised"] != nil || of["task_label"] == nil {
		t.Errorf("where nothing is revised the file has %v", of)
	}
}
