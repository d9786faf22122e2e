package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

// testTextsAbout: texts that people write about answers, tasks and pay are listed to whom they
// name, and replies to who wrote them; what goes with its author is not. Replaced, they are
// nowhere.
func testTextsAbout(t *testing.T, w *world) {
	w.payHeld(t, 6)
	who, other, boss, at := w.workers[0], w.workers[1], w.workers[3], w.now.Add(10*time.Minute)
	id, task := w.batch.Assignment, w.batch.Task
	move := func(m store.PayMove, n uint32, by crowd.WorkerID, text string) {
		t.Helper()
		must(w.ChangePay(w.ctx, w.mine, []store.PayChange{{Assignment: id(n), Move: m, At: at, By: by, Text: text, Due: at.Add(48 * time.Hour)}}))(t)
	}
	move(store.RefusePay, 2, boss, "<copied> from worker1")
	move(store.AppealPay, 2, other, "I am not WORKER1")
	move(store.GrantPay, 2, w.workers[2], "worker1 was wrong")
	move(store.RefusePay, 5, boss, "names nobody")
	move(store.RefusePay, 1, boss, "worker1: no") // about their own pay, and goes with them
	for i, by := range []crowd.WorkerID{other, who} {
		h := w.handout(uint32(7+i), 3, i^1)
		ok(t, w.Commit(w.ctx, &engine.Changes{Handouts: []engine.Handout{h}}))
		ok(t, w.Commit(w.ctx, &engine.Changes{
			Ends:    []engine.End{{Assignment: h.Assignment, State: crowd.Reported, At: at}},
			Reports: []engine.Report{{Assignment: h.Assignment, Worker: by, At: at, Text: "worker1 told me"}},
		}))
	}
	ok(t, w.PutReply(w.ctx, w.mine, store.Reply{Task: task(3), At: at, Text: "about anything", By: who}))
	note := func(n uint32, by crowd.WorkerID, text string) engine.TaskNote {
		return engine.TaskNote{Task: task(n), At: at, Text: text, By: by}
	}
	ok(t, w.Commit(w.ctx, &engine.Changes{Notes: []engine.TaskNote{note(1, boss, "ask worker1"), note(2, 0, "or nobody"), note(4, who, "as you like"), note(5, boss, "not Bo, about")}}))
	for i, by := range []crowd.WorkerID{boss, who} {
		must(w.PutCorrection(w.ctx, w.mine, store.Correction{Task: task(1), At: at, By: by, Value: fmt.Sprint("v", i), Note: "so says worker1"}))(t)
	}
	mailed := must(w.CreateInvitations(w.ctx, []store.Invitation{{Pool: w.pool, Address: "x@example.org", Note: "like worker1", InvitedBy: boss, CreatedAt: w.now, State: store.InvitationOpen}},
		func(i store.Invitation) store.Message {
			m := w.mailOf(i)
			m.Body = "Come.\n\n" + i.Note
			return m
		}))(t)
	kept := store.RequestKey{Person: boss, Key: "k"}
	ok(t, w.PutRequest(w.ctx, store.Request{RequestKey: kept, At: w.now, Status: 200, Body: `{"reason":"\u003ccopied\u003e from worker1"}`}))

	var found []store.WrittenText
	got := func(who crowd.WorkerID, others bool) (out []string) {
		t.Helper()
		found = must(collect(w.WrittenTexts(w.ctx, who, others)))(t)
		for _, x := range found {
			if x.Kind == store.WrittenAnswer {
				continue
			}
			if x.Kind != store.WrittenInvitation && x.Tenant != w.mine {
				t.Errorf("%+v is of %s", x, x.Tenant)
			}
			out = append(out, fmt.Sprint(x.Kind, " ", x.ID&0xff, " ", x.N, " ", x.Text, " ", x.Others))
		}
		return out
	}
	own := []string{"reply 3 0 about anything false", "reply 4 0 as you like false"}
	same(t, "to themself", got(who, false), own)
	same(t, "to somebody with a short name", got(must(w.CreateUser(w.ctx, store.User{Name: "Bo", CreatedAt: w.now}))(t), true), []string{"reply 5 0 not Bo, about true"})
	same(t, "to one who is a part of another word", len(got(must(w.CreateUser(w.ctx, store.User{Name: "bou", CreatedAt: w.now}))(t), true)), 0)
	same(t, "to an administrator", got(who, true), []string{
		fmt.Sprintf("invitation %d 0 like worker1 true", mailed[0].ID), "reply 1 0 ask worker1 true", own[0], own[1], "report 7 0 worker1 told me true",
		"correction 1 1 so says worker1 true", "refusal 2 0 <copied> from worker1 true", "appeal 2 0 I am not WORKER1 true", "decision 2 0 worker1 was wrong true",
	})
	same(t, "handed out", w.tablesOf(t, who)["replies"], 2)

	var list []store.NewText
	for _, x := range found {
		if x.Kind != store.WrittenAnswer {
			list = append(list, store.NewText{Kind: x.Kind, ID: x.ID, N: x.N, Others: x.Others})
		}
	}
	must(w.ReplaceTexts(w.ctx, list))(t)
	same(t, "since they were replaced", got(who, true), nil)
	must(w.ReplaceTexts(w.ctx, list))(t) // again, as after a crash
	ok(t, w.CheckUsage(w.ctx))
	pay := must(w.PayOf(w.ctx, w.mine, id(2)))(t)
	same(t, "what was said about pay", [3]string{pay.Refusal.Text, pay.Appeal.Text, pay.Decision.Text}, [3]string{})
	same(t, "and about another's", must(w.PayOf(w.ctx, w.mine, id(5)))(t).Refusal.Text, "names nobody")
	corrections := must(w.ListCorrections(w.ctx, w.mine, task(1)))(t)
	same(t, "notes of corrections", [2]string{corrections[1].Note, corrections[1].Value}, [2]string{"", "v0"})
	tasks := must(w.Tasks(w.ctx, task(1), 4))(t)
	same(t, "what is told of tasks", [2]string{tasks[0].Reply, tasks[1].Reply}, [2]string{"", "or nobody"})
	same(t, "the letter", must(w.ListMessages(w.ctx, 0, 0, 1))(t)[0].Body, "Come.\n\n")
	same(t, "an answer that had one", must(w.Request(w.ctx, kept))(t).Body, "")
	refused(t, func() error {
		_, err := w.ReplaceTexts(w.ctx, []store.NewText{{Kind: store.WrittenCorrection, ID: int64(task(1)), N: 9}})
		return err
	}(), crowd.NotFound)
}
