package app_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/batches"
)

// TestErasedTextsAreNoAnswers: quality and labels made later are of what is still there.
func TestErasedTextsAreNoAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	id := w.draft(2, times(3), func(b *batches.NewBatch) {
		b.Template = json.RawMessage(`{"kind":"short_text","question":"Say ${thing}"}`)
	})
	must(w.Batches.Launch(w.ctx, w.ann, id, false))(t)
	for i, p := range w.workers {
		for range 2 {
			must(w.submit(p, w.next(p).Assignment, json.RawMessage(fmt.Sprintf(`"text %d"`, i/2))))(t)
		}
	}
	gone := w.workers[2]
	ok(t, w.Accounts.Erase(w.ctx, w.admin, gone.User.ID, accounts.ErasureOrder{Confirm: gone.User.Name, FreeText: accounts.DeleteText, Settled: true}))
	q, answers := must(w.Batches.Quality(w.ctx, w.ann, id, "majority"))(t), 0
	for _, x := range q.Workers {
		answers += x.Answers
	}
	if len(q.Workers) != 2 || answers != 4 {
		t.Errorf("after an erasure %d workers have %d answers", len(q.Workers), answers)
	}
}

// TestErasedTextsAreNoLabels: a label that is a deleted text goes with it, whether it was made
// before or would be later; one that somebody else's answer makes, too, stays, and so does a
// text that is kept.
func TestErasedTextsAreNoLabels(t *testing.T) {
	t.Parallel()
	for choice, want := range map[accounts.FreeTextChoice][]string{
		accounts.DeleteText: {"alone: ", "both: a town", "late: "},
		accounts.KeepText:   {"alone: Her Elm Street", "both: a town", "late: the sea"},
	} {
		t.Run(string(choice), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 2)
			gone, stays := w.workers[0], w.workers[1]
			text := func(n int) crowd.BatchID {
				id := w.draft(1, times(n), func(b *batches.NewBatch) {
					b.Template = json.RawMessage(`{"kind":"short_text","question":"Say ${thing}"}`)
				})
				must(w.Batches.Launch(w.ctx, w.ann, id, false))(t)
				return id
			}
			say := func(p *access.Principal, what string) {
				must(w.submit(p, w.next(p).Assignment, must(json.Marshal(what))(t)))(t)
			}
			alone := text(1)
			say(gone, "Her Elm Street")
			both := text(2)
			say(gone, "a town")
			say(stays, "a town")
			late := text(2)
			say(gone, "Her Other Street")
			ok(t, w.Accounts.Erase(w.ctx, w.admin, gone.User.ID, accounts.ErasureOrder{Confirm: gone.User.Name, FreeText: choice, Settled: true}))
			say(stays, "the sea")
			var got []string
			for name, id := range map[string]crowd.BatchID{"alone": alone, "both": both, "late": late} {
				for _, x := range w.tasks(id) {
					if got = append(got, name+": "+x.Label.Value); name == "alone" && (x.Label.Undecided || x.Label.Confidence == 0) != (choice == accounts.DeleteText) {
						t.Errorf("%s: the label is %+v", name, x.Label)
					}
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("labels: %q, want %q", got, want)
			}
			if found := w.found([]string{"Her Elm Street", "Her Other Street"}); (len(found) > 0) != (choice == accounts.KeepText) {
				t.Errorf("found: %q", found)
			}
		})
	}
}
