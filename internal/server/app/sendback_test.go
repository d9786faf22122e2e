package app_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/store"
)

// What the tests of access try of answers that are sent back.

func trySendBack(s *scene, p *access.Principal) error {
	id := s.withAnswers()
	return second(s.Batches.SendBack(s.ctx, p, id, batches.SentBack{Task: 1, Worker: s.pseudonym(s.a, s.workers[0]), Comment: "look again"}))
}

func tryWouldSendBack(s *scene, p *access.Principal) error {
	id := s.withAnswers()
	return second(s.Batches.WouldSendBack(s.ctx, p, id, 1, s.pseudonym(s.a, s.workers[0])))
}

// answersNext has somebody answer the next task that they get, and returns its number.
func (w *world) answersNext(p *access.Principal, answer json.RawMessage) uint32 {
	w.t.Helper()
	held := w.next(p)
	must(w.submit(p, held.Assignment, answer))(w.t)
	return held.Task.N()
}

// TestSendBack: one answer counts no more, and its task alone is asked again, of somebody else, who is told the
// comment; what was earned stays.
func TestSendBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	id := w.launch(9, func(b *batches.NewBatch) { b.Budget = 10 * crowd.Unit })
	bad, good := w.workers[0], w.workers[1]
	kept, n := w.answersNext(bad, no), w.answersNext(bad, no)
	who := w.pseudonym(w.a, bad)
	would := must(w.Batches.WouldSendBack(w.ctx, w.ann, id, n, who))(t)
	if would.Answers != 1 || would.Tasks != 1 || would.Withdrawn != 1 || would.Missing != 0 {
		t.Errorf("it would be %+v", would)
	}
	paid, _, err := w.Work.Earnings(w.ctx, bad, 1)
	ok(t, err)
	done := must(w.Batches.SendBack(w.ctx, w.ann, id, batches.SentBack{Task: n, Worker: who, Comment: "  It moves.\n"}))(t)
	if done.Disregarded != would.Disregarded || done.By.Pseudonym != who {
		t.Errorf("it came to %+v, and would be %+v", done, would)
	}
	labels := map[crowd.TaskID]string{}
	for l, err := range w.store.Labels(w.ctx, w.a, id) {
		ok(t, err)
		if l.Label != nil {
			labels[l.Task] = l.Label.Value
		}
	}
	if len(labels) != 1 || labels[id.Task(kept)] != "no" {
		t.Errorf("labels: %v", labels)
	}
	if got, _, err := w.Work.Earnings(w.ctx, bad, 1); err != nil || got != paid || paid == 0 {
		t.Errorf("earned %s, before %s (%v)", got, paid, err)
	}
	told := func(p *access.Principal) string { // by the task, when they get it; of others nothing is told
		for {
			held := w.next(p)
			if held.Task.N() == n {
				must(w.submit(p, held.Assignment, yes))(t)
				return held.Reply
			}
			if held.Reply != "" {
				t.Errorf("%s comes with %q", held.Task, held.Reply)
			}
			must(w.submit(p, held.Assignment, yes))(t)
		}
	}
	if got := told(good); got != "It moves." {
		t.Errorf("the next is told %q", got)
	}
	// Who gets it after another one has been sent back is told the later comment, also if the first was in memory.
	must(w.Batches.SendBack(w.ctx, w.ann, id, batches.SentBack{Task: n, Worker: w.pseudonym(w.a, good), Comment: "Look at it."}))(t)
	if got := told(w.workers[2]); got != "Look at it." {
		t.Errorf("then %q is told", got)
	}
	last := must(w.store.AuditEntries(w.ctx, store.AuditFilter{Limit: 1}))(t)[0]
	if last.Operation != "Batches.SendBack" || !strings.Contains(string(last.After), fmt.Sprintf(`"task":%d`, n)) || strings.Contains(string(last.After), "Look at it") {
		t.Errorf("the log has %s: %s", last.Operation, last.After)
	}
	ok(t, w.store.CheckUsage(w.ctx))
}

// TestNotSentBack: what cannot be sent back is refused, and changes nothing.
func TestNotSentBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	id := w.launch(4, func(b *batches.NewBatch) { b.Budget = 10 * crowd.Unit })
	one, two := w.workers[0], w.workers[1]
	corrected, n := w.answersNext(one, yes), w.answersNext(one, yes)
	other := w.answersNext(two, yes)
	must(w.Results.Correct(w.ctx, w.ann, id.Task(corrected), "no", ""))(t)
	before := w.batch(id).Progress
	for name, tc := range map[string]struct {
		by   *access.Principal
		x    batches.SentBack
		code crowd.Code
		says string
	}{
		"no task":            {w.ann, batches.SentBack{Worker: "w", Comment: "c"}, crowd.Invalid, "tasks are numbered from 1"},
		"no comment":         {w.ann, batches.SentBack{Task: n, Comment: " \n"}, crowd.Invalid, "comment: is missing"},
		"a long one":         {w.ann, batches.SentBack{Task: n, Comment: strings.Repeat("c", batches.MaxComment+1)}, crowd.Invalid, "longer than 1000 bytes"},
		"one that disguises": {w.ann, batches.SentBack{Task: n, Comment: "a\u202eb"}, crowd.Invalid, "cannot be seen"},
		"nobody's":           {w.ann, batches.SentBack{Task: n, Worker: "w_nobody", Comment: "c"}, crowd.NotFound, "no such worker"},
		"not theirs":         {w.ann, batches.SentBack{Task: n, Worker: w.pseudonym(w.a, two), Comment: "c"}, crowd.NotFound, fmt.Sprintf("has given task %d no answer that counts", n)},
		"the other's":        {w.ann, batches.SentBack{Task: other, Worker: w.pseudonym(w.a, one), Comment: "c"}, crowd.NotFound, "no answer that counts"},
		"no such task":       {w.ann, batches.SentBack{Task: 9, Worker: w.pseudonym(w.a, one), Comment: "c"}, crowd.NotFound, "no answer that counts"},
		"far away":           {w.ann, batches.SentBack{Task: 1<<32 - 1, Worker: w.pseudonym(w.a, one), Comment: "c"}, crowd.NotFound, "no answer that counts"},
		"corrected":          {w.ann, batches.SentBack{Task: corrected, Worker: w.pseudonym(w.a, one), Comment: "c"}, crowd.Conflict, "somebody has corrected or reviewed it"},
		"another tenant's":   {w.bob, batches.SentBack{Task: n, Worker: w.pseudonym(w.a, one), Comment: "c"}, crowd.NotFound, "no such batch"},
	} {
		_, err := w.Batches.SendBack(w.ctx, tc.by, id, tc.x)
		if crowd.CodeOf(err) != tc.code || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	u := must(w.store.User(w.ctx, two.User.ID))(t)
	u.Roles = append(u.Roles, store.HeldRole{Tenant: w.a, Role: "reviewer"})
	ok(t, w.store.UpdateUser(w.ctx, u))
	_, err := w.Batches.SendBack(w.ctx, w.as(u.ID), id, batches.SentBack{Task: other, Worker: w.pseudonym(w.a, two), Comment: "c"})
	if crowd.CodeOf(err) != crowd.Forbidden || !strings.Contains(err.Error(), "you answered task") {
		t.Errorf("their own: %v", err)
	}
	must(w.Batches.WouldSendBack(w.ctx, w.as(u.ID), id, n, w.pseudonym(w.a, one)))(t) // of another task they may
	if p := w.batch(id).Progress; p != before {
		t.Errorf("it stands at %+v, and stood at %+v", p, before)
	}
}
