package app_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/store"
)

// TestNothingWaitsForAGrace: what somebody who is erased has answered within a grace counts, so that its text is
// among theirs; and so does a comment by which a reviewer has sent a label back, if it names them: it is listed,
// and goes.
func TestNothingWaitsForAGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 3)
		defer w.close()
		gone, reviewer, third := w.workers[0], w.workers[1], w.workers[2]
		graced := w.draft(1, func(b *batches.NewBatch) {
			b.Template = json.RawMessage(`{"kind":"short_text","question":"Say ${thing}"}`)
			b.Grace, b.Budget = time.Hour, 0
		})
		must(w.Batches.Launch(w.ctx, w.ann, graced, false))(t)
		must(w.submit(gone, w.next(gone).Assignment, json.RawMessage(`"zzprovisional text"`)))(t)
		w.launch(2, allReviewed(func(b *batches.NewBatch) { b.Grace = 10 * time.Minute })...)
		w.told(third, 1, yes)
		<-time.After(11 * time.Minute)
		ok(t, w.sends(reviewer, w.next(reviewer), "zzcomment, "+gone.User.Name+" says so"))
		before := []string{"zzprovisional", "zzcomment"}
		if found := w.found(before); len(found) < len(before) {
			t.Fatalf("before, only these are found: %q", found)
		}
		f := must(w.Accounts.BeforeErasure(w.ctx, w.admin, gone.User.ID))(t)
		if !slices.ContainsFunc(f.Texts, func(x accounts.FreeText) bool { return x.Kind == store.WrittenComment && x.Others }) {
			t.Errorf("the comment is not listed: %+v", f.Texts)
		}
		ok(t, w.Accounts.Erase(w.ctx, w.admin, gone.User.ID, accounts.ErasureOrder{Confirm: gone.User.Name, FreeText: accounts.DeleteText, Settled: true}))
		<-time.After(11 * time.Minute)
		synctest.Wait()
		if found := w.found(before); len(found) > 0 {
			t.Errorf("left: %s", strings.Join(found, "\n"))
		}
		ok(t, w.store.CheckUsage(w.ctx))
	})
}
