package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

// testReviewedTask: what a reviewer has to know of a task is read with its label; their verdict, with its comment, is kept
// with what it changes, also where the next label is made and picked for review by the same commit; and the
// comment goes with the answers, and with who wrote it, but not that there was one.
func testReviewedTask(t *testing.T, w *world) {
	w.history(t)
	main := must(w.Batch(w.ctx, w.mine, w.batch))(t)
	reviews := w.kept(0, w.mine, 0)
	reviews.Spec.ReviewsOf(&main.Spec)
	reviews.Spec.Grace = time.Minute
	in := must(w.CreateBatch(w.ctx, reviews))(t)
	ok(t, w.Commit(w.ctx, w.launch(in, crowd.Unit)))
	at, first, one, two := w.now.Add(5*time.Hour), w.batch.Task(1), in.Task(1), in.Task(2)
	asked := func(review crowd.TaskID) engine.ReviewAsked {
		return engine.ReviewAsked{Task: first, Review: review, At: at, Why: engine.ForUndecided, Answers: []crowd.AssignmentID{w.batch.Assignment(1), w.batch.Assignment(2)}}
	}
	ok(t, w.Commit(w.ctx, &engine.Changes{Reviews: []engine.ReviewAsked{asked(one)}}))

	row := func() store.TaskResult {
		t.Helper()
		return must(w.TaskResults(w.ctx, w.mine, w.batch, []crowd.TaskID{first}, nil))(t)[0]
	}
	is := must(w.ReviewedTask(w.ctx, one))(t)
	same(t, "the label", is.Label, row().Label)
	same(t, "the task", []any{is.N, is.Review, is.Decided, len(is.SentBackBy), len(is.Assignments)}, []any{uint32(1), one, false, 0, 2})
	same(t, "an answer that counts", is.Assignments[0].Counts(), true)
	same(t, "of no review", must(w.ReviewedTask(w.ctx, two))(t), engine.AnsweredTask{Review: two})
	_ = must(w.PutCorrection(w.ctx, w.mine, store.Correction{Task: first, At: at, By: w.workers[3], Value: "key9"}))(t)
	same(t, "corrected", must(w.ReviewedTask(w.ctx, one))(t).Decided, true)
	_ = must(w.PutCorrection(w.ctx, w.mine, store.Correction{Task: first, At: at, By: w.workers[3], Withdrawn: true}))(t)
	same(t, "corrected no more", must(w.ReviewedTask(w.ctx, one))(t), is)

	// Within its grace the comment is kept, and nothing else has changed; it can be taken back.
	used := func() int64 { return must(w.Usage(w.ctx, w.mine, w.now))(t)[store.StoredBytes] }
	before := used()
	who, a := w.workers[2], in.Assignment(1)
	verdict := engine.Answer{Assignment: a, Worker: who, At: at, Body: `{"send_back":true}`, SendBack: "Look at the ears."}
	hand := engine.Handout{Assignment: a, Task: one, Worker: who, At: at, Expires: at.Add(time.Hour)}
	ok(t, w.Commit(w.ctx, &engine.Changes{Handouts: []engine.Handout{hand}, Provisional: []engine.Answer{verdict}}))
	same(t, "bytes within the grace", used()-before, int64(len(verdict.Body)+len(verdict.SendBack)))
	same(t, "it waits yet", row().Review.State, store.ReviewWaiting)
	for _, b := range must(w.Snapshot(w.ctx, w.pool))(t).Batches {
		if b.Spec.ID == in {
			same(t, "the verdict, after a restart", b.Assignments[0].SendBack, &engine.SendBack{Comment: verdict.SendBack, Of: is})
		}
	}
	ok(t, w.CheckUsage(w.ctx))
	ok(t, w.Commit(w.ctx, &engine.Changes{Undone: []engine.Undone{{Assignment: a, Worker: who, At: at, Expires: at.Add(time.Hour)}}}))
	same(t, "bytes, taken back", used(), before)
	ok(t, w.Commit(w.ctx, &engine.Changes{Provisional: []engine.Answer{verdict}}))

	// It comes to count; and the task is answered late and labelled again, which is reviewed, by the same commit.
	verdict.Counted, verdict.Kept = true, true
	back := engine.SentBack{Review: one, Assignment: a, Task: first, By: who, At: at.Add(time.Minute), Comment: verdict.SendBack, Acts: true}
	again := *is.Label
	again.Value = "key5"
	change := engine.Changes{
		Answers: []engine.Answer{verdict}, SentBack: []engine.SentBack{back},
		Disregarded: []engine.DisregardedAnswer{{Assignment: a, At: back.At}, {Assignment: w.batch.Assignment(1), At: back.At}, {Assignment: w.batch.Assignment(2), At: back.At}},
		Notes:       []engine.TaskNote{{Task: first, At: back.At, Text: back.Comment, By: who, ByReviewer: true}},
		Unlabelled:  []engine.Unlabelled{{Task: first, At: back.At}}, Removals: []engine.Removal{{Task: one, At: back.At}},
		Labels: []engine.Label{again}, Reviews: []engine.ReviewAsked{asked(two)},
	}
	ok(t, w.Commit(w.ctx, &change))
	ok(t, w.CheckUsage(w.ctx))
	same(t, "the new label", row().Label, &again)
	same(t, "its review", []any{row().Review.State, row().Review.Review, row().Review.By}, []any{store.ReviewWaiting, two, crowd.WorkerID(0)})
	said := []store.SentBack{{Review: one, Task: first, By: who, At: back.At, Acts: true, Comment: back.Comment}}
	same(t, "what was said", row().SentBack, said)
	same(t, "who said it", must(w.ReviewedTask(w.ctx, two))(t).SentBackBy, []crowd.WorkerID{who})
	same(t, "of the review before", must(w.ReviewedTask(w.ctx, one))(t), engine.AnsweredTask{Review: one})
	task := must(w.Task(w.ctx, first))(t)
	same(t, "what whoever gets it is told", []any{task.Reply, task.ByReviewer}, []any{back.Comment, true})
	w.unchanged(t, func() {
		if w.Commit(w.ctx, &engine.Changes{SentBack: []engine.SentBack{back}}) == nil {
			t.Error("a label is sent back twice by one review")
		}
	})

	// The next one is sent back without a new label.
	next := back
	next.Review, next.Assignment, next.At, next.Comment, next.By = two, in.Assignment(2), at.Add(time.Hour), "And at the tail.", w.workers[3]
	ok(t, w.Commit(w.ctx, &engine.Changes{SentBack: []engine.SentBack{next}, Notes: []engine.TaskNote{{Task: first, At: next.At, Text: next.Comment, By: next.By, ByReviewer: true}}, Unlabelled: []engine.Unlabelled{{Task: first, At: next.At}}}))
	same(t, "sent back", []any{row().Review.State, row().Review.By, row().Review.DecidedAt, row().Review.State.Done()}, []any{store.ReviewSentBack, next.By, next.At, false})
	same(t, "count", must(w.CountReviews(w.ctx, w.mine, w.batch))(t), map[store.ReviewState]int{store.ReviewSentBack: 1})
	ok(t, w.CheckUsage(w.ctx))

	// Staff who answer a report take its place; and nobody who reported the task reads what reviewers say.
	reported := engine.Handout{Assignment: w.batch.Assignment(6), Task: first, Worker: w.workers[1], At: at, Expires: at.Add(time.Hour)}
	ok(t, w.Commit(w.ctx, &engine.Changes{Handouts: []engine.Handout{reported}, Ends: []engine.End{{Assignment: reported.Assignment, State: crowd.Reported, At: at}},
		Reports: []engine.Report{{Assignment: reported.Assignment, Worker: reported.Worker, At: at, Text: "no picture"}}}))
	reply := func() string { return must(w.WorkerReports(w.ctx, reported.Worker, 9))(t)[0].Reply.Text }
	same(t, "what they read", reply(), "")
	ok(t, w.PutReply(w.ctx, w.mine, store.Reply{Task: first, At: at, Text: "There it is."}))
	same(t, "what they read", reply(), "There it is.")
	same(t, "by staff", must(w.Task(w.ctx, first))(t).ByReviewer, false)
	ok(t, w.Commit(w.ctx, &engine.Changes{Notes: []engine.TaskNote{{Task: first, At: next.At, Text: next.Comment, By: next.By, ByReviewer: true}}}))

	// Of a reviewer who is erased it stays that they sent the label back.
	_, err := w.BeginErasure(w.ctx, store.Erasure{Person: next.By, AskedBy: w.workers[0], AskedAt: w.now})
	ok(t, err)
	ok(t, w.Erase(w.ctx, next.By, at))
	said = append(said, store.SentBack{Review: two, Task: first, By: next.By, At: next.At, Acts: true})
	same(t, "since one was erased", row().SentBack, said)
	same(t, "what whoever gets it is told", must(w.Task(w.ctx, first))(t).Reply, "")
	ok(t, w.CheckUsage(w.ctx))

	// One that does not act keeps the label; and all comments go with the answers.
	ok(t, w.Commit(w.ctx, &engine.Changes{Labels: []engine.Label{again}, Reviews: []engine.ReviewAsked{asked(in.Task(3))}}))
	kept := back
	kept.Review, kept.Assignment, kept.Acts = in.Task(3), in.Assignment(3), false
	ok(t, w.Commit(w.ctx, &engine.Changes{SentBack: []engine.SentBack{kept}}))
	same(t, "kept", row().Review.State, store.ReviewKept)
	same(t, "it counts for no bound", len(must(w.ReviewedTask(w.ctx, kept.Review))(t).SentBackBy), 2)
	w.end(t, at)
	ok(t, w.BeginDeletion(w.ctx, store.Deletion{Kind: store.RetainedAnswers, Tenant: w.mine, Batch: w.batch, At: at}))
	w.deleted(t, at, 1)
	for _, x := range row().SentBack {
		same(t, "what is left of a comment", x.Comment, "")
	}
	same(t, "how many there were", len(row().SentBack), 3)
	ok(t, w.CheckUsage(w.ctx))
}

// sendBack has somebody who holds a review send the label back.
func (s *site) sendBack(t *testing.T) {
	t.Helper()
	s.commit(t)
	for _, h := range s.engine.Holding(0) {
		of := must(s.Batch(s.ctx, 0, h.Task.Batch()))(t).Spec.ReviewOf
		if of == 0 {
			continue
		}
		x := engine.SendBack{Comment: "look again", Settled: s.engine.Settled(of)}
		x.Of = must(s.ReviewedTask(s.ctx, h.Task))(t)
		for _, a := range x.Of.Assignments {
			if a.Task.N() != x.Of.N {
				t.Fatalf("%s is read with t%d", a.Task, x.Of.N)
			}
		}
		out, err := s.engine.SendBack(s.clock, h.Worker, h.Assignment, `{"send_back":true}`, x)
		switch crowd.CodeOf(err) {
		case crowd.Conflict:
			s.did["not sent back"]++
		case crowd.BudgetTooSmall:
			s.did["too poor to send back"]++
		default:
			ok(t, err)
			s.did["sent back"]++
			if !out.CountsAt.IsZero() {
				s.did["to be sent back"]++
			}
			if len(x.Of.SentBackBy) > 0 {
				s.did["sent back again"]++
			}
		}
		s.commit(t)
		return
	}
}

// countSentBack counts the verdicts that came to count, and what they did.
func (s *site) countSentBack() {
	for _, x := range s.changes.SentBack {
		switch {
		case !x.Acts:
			s.did["kept after all"]++
		case slices.ContainsFunc(s.changes.Answers, func(a engine.Answer) bool { return a.Assignment == x.Assignment && a.Kept }):
			s.did["sent back by a verdict that was kept"]++
		}
	}
}
