package app_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/pay"
	"github.com/throng-dev/throng/internal/store"
)

// wroteAbout has people write all that they can about work and pay: Quill replies to a report and
// sends an answer back, and all others name Quill. It returns Quill, and who has the task that was
// sent back.
func (w *world) wroteAbout() (quill, told *access.Principal) {
	t := w.t
	t.Helper()
	quill = w.person(accounts.NewUser{Name: "Quillomena", FullName: "Quillomena Fullname", Email: "quill@elsewhere.example", Tenants: []crowd.TenantID{w.a}})
	first, second := w.workers[0], w.workers[1]
	id := w.launch(3, func(b *batches.NewBatch) { b.Budget = 10 * crowd.Unit })
	report := func(by *access.Principal, text string) crowd.TaskID {
		held := w.next(by)
		must(w.Work.Report(w.ctx, by, held.Assignment, text, false, 0))(t)
		return held.Task
	}
	n := w.answersNext(first, no)
	ok(t, w.Work.Reply(w.ctx, quill, report(first, "zzreport of quillomena"), "zzreply"))
	ok(t, w.Work.Reply(w.ctx, w.ann, report(first, "zznothing"), "zzreply: ask Quillomena"))
	must(w.Batches.SendBack(w.ctx, quill, id, batches.SentBack{Task: n, Worker: w.pseudonym(w.a, first), Comment: "zzcomment"}))(t)
	for held := w.next(second); held.Reply != "zzcomment"; held = w.next(second) {
		must(w.Work.Skip(w.ctx, second, held.Assignment, 0))(t)
	}

	third := w.workers[2]
	paid := w.launch(1, approved(time.Hour))
	a := w.answerSome(third, paid, 1)[0]
	must(w.Pay.Refuse(w.ctx, w.ann, paid, pay.Choice{Assignments: []crowd.AssignmentID{a}}, "zzrefusal: copied from Quillomena Fullname"))(t)
	must(w.Pay.Appeal(w.ctx, third, a, "zzappeal: quill@elsewhere.example says so"))(t)
	must(w.Pay.Decide(w.ctx, w.admin, a, true, "zzdecision: Quillomena was wrong"))(t)
	must(w.Results.Correct(w.ctx, w.ann, w.over(), "yes", "zzcorrection by Quillomena"))(t)
	return quill, second
}

// What wroteAbout has written, but for what names nobody.
var wroteAbout = []string{"zzreply", "zzcomment", "zzreport", "zzrefusal", "zzappeal", "zzdecision", "zzcorrection"}

// TestWhatIsSaidAboutWork: what somebody wrote as staff, and what others wrote about work and pay
// and names them, is listed when they are erased, and goes, or stays, as is decided.
func TestWhatIsSaidAboutWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	quill, told := w.wroteAbout()
	who := quill.User.ID
	if found := w.found(wroteAbout); len(found) < len(wroteAbout) {
		t.Fatalf("before, only these are found: %q", found)
	}
	if _, text := w.export(quill, who); strings.Count(text, `"Table":"replies"`) != 2 || !strings.Contains(text, "zzcomment") || strings.Contains(text, "zzrefusal") {
		t.Errorf("they are handed out %s", text)
	}
	if own := must(w.Accounts.BeforeErasure(w.ctx, quill, who))(t); own.Count != 2 || own.Texts[0].Others || own.Texts[1].Others {
		t.Errorf("they are to decide about %+v themself", own.Texts)
	}
	f := must(w.Accounts.BeforeErasure(w.ctx, w.admin, who))(t)
	var kinds, ids []string
	for _, x := range f.Texts {
		kinds, ids = append(kinds, fmt.Sprint(x.Kind, x.Others)), append(ids, x.ID)
	}
	slices.Sort(kinds)
	if want := "appealtrue correctiontrue decisiontrue refusaltrue replyfalse replyfalse replytrue reporttrue"; strings.Join(kinds, " ") != want {
		t.Errorf("it is to be decided about %q, want %q", kinds, want)
	}
	slices.Sort(ids)
	if len(slices.Compact(ids)) != f.Count {
		t.Errorf("ids are not all different: %q", ids)
	}
	kept := slices.IndexFunc(f.Texts, func(x accounts.FreeText) bool { return x.Kind == store.WrittenDecision })
	ok(t, w.Accounts.Erase(w.ctx, w.admin, who, accounts.ErasureOrder{Confirm: "quillomena", FreeText: accounts.DeleteText, But: []string{f.Texts[kept].ID}}))
	gone := slices.DeleteFunc(slices.Clone(wroteAbout), func(x string) bool { return x == "zzdecision" })
	if found := w.found(gone); len(found) > 0 {
		t.Errorf("found: %s", strings.Join(found, "\n"))
	}
	if len(w.found([]string{"zzdecision: Quillomena was wrong"})) == 0 || len(w.found([]string{"zznothing"})) == 0 {
		t.Error("what was to stay is gone")
	}
	if held := w.next(told); held.Reply != "" {
		t.Errorf("who has the task is told %q", held.Reply)
	}
	ok(t, w.store.CheckUsage(w.ctx))
}
