package app_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/task"
)

// alive is a file of n questions: those with an even number are right with
// "yes".
func alive(n int) *strings.Reader {
	var s strings.Builder
	s.WriteString("thing,_gold\n")
	for i := range n {
		fmt.Fprintf(&s, "thing %d,%s\n", i+1, []string{"no", "yes"}[(i+1)%2^1])
	}
	return strings.NewReader(s.String())
}

// test makes a test of the installation with ten questions, six of them drawn.
func (w *world) test(change ...func(*accounts.NewTest)) store.Test {
	w.t.Helper()
	n := accounts.NewTest{Name: "alive", Template: json.RawMessage(yesOrNo), Questions: alive(10), Draw: 6, PassMark: 80, Tries: 2, Wait: time.Hour}
	for _, f := range change {
		f(&n)
	}
	return must(w.Tests.Create(w.ctx, w.admin, n))(w.t)
}

// candidate joins by an invitation with a test.
func (w *world) candidate(name string, test store.Test) *access.Principal {
	w.t.Helper()
	r := w.invite(func(n *accounts.NewInvitations) { n.Test = test.ID }, name+"@example.org")
	p, err := w.join(r.Invited[0].Token, name)
	ok(w.t, err)
	return p
}

// answersTo answers a running try, the first so many questions right.
func answersTo(v accounts.TestView, right int) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for i, q := range v.Current.Questions {
		var n int
		_, _ = fmt.Sscanf(q.Values.Cells[0], "thing %d", &n)
		text := []string{`"no"`, `"yes"`}[n%2^1]
		if i >= right {
			text = []string{`"yes"`, `"no"`}[n%2^1]
		}
		out[q.Name] = json.RawMessage(text)
	}
	return out
}

// launchFor launches a batch that asks for a qualification, though nobody may
// hold it yet.
func (w *world) launchFor(qualification string, n int) crowd.BatchID {
	w.t.Helper()
	id := w.draft(n, func(b *batches.NewBatch) { b.Requirements = []engine.Requirement{{Name: qualification, Min: 80}} })
	must(w.Batches.Launch(w.ctx, w.admin, id, true))(w.t)
	return id
}

func names(v accounts.TestView) []string {
	var out []string
	for _, q := range v.Current.Questions {
		out = append(out, q.Values.Cells[0])
	}
	return out
}

// TestQualifyAndWork: invited with a test, joined, failed, passed; then they work,
// and what asks for the qualification comes to them (event 1, first producer).
func TestQualifyAndWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	test := w.test()
	w.launchFor("alive", 2)
	eva := w.candidate("eva", test)
	if eva.User.Pool != 0 || eva.Is(access.Worker) {
		t.Fatalf("before the test she is %+v", eva.User)
	}
	_, err := w.Work.Next(w.ctx, eva, 0)
	refused(t, err, crowd.Forbidden)

	list := must(w.Tests.Mine(w.ctx, eva))(t)
	if len(list) != 1 || list[0].Left != 2 || list[0].Pool.ID != w.pool || list[0].Holds || list[0].Current != nil {
		t.Fatalf("her tests are %+v", list)
	}
	v := must(w.Tests.StartTry(w.ctx, eva, test.ID))(t)
	if v.Current == nil || len(v.Current.Questions) != 6 || v.Left != 1 || v.Current.N != 1 {
		t.Fatalf("%+v", v)
	}
	if first := names(v); !slices.Equal(first, names(must(w.Tests.Take(w.ctx, eva, test.ID))(t))) || !slices.Equal(first, names(must(w.Tests.StartTry(w.ctx, eva, test.ID))(t))) {
		t.Error("seen again, the questions are others")
	}
	v = must(w.Tests.SubmitTry(w.ctx, eva, test.ID, 1, answersTo(v, 4), false))(t)
	if v.Passed || v.Result == nil || v.Result.Score != 66 || v.Current != nil || v.Left != 1 || v.NextAt.IsZero() {
		t.Fatalf("with 4 of 6: %+v, %+v", v, v.Result)
	}
	_, err = w.Tests.StartTry(w.ctx, eva, test.ID)
	refused(t, err, crowd.TooMany)
	if !strings.Contains(err.Error(), "the next try is possible from ") {
		t.Errorf("it says %q", err)
	}
	w.clock.advance(59 * time.Minute)
	_, err = w.Tests.StartTry(w.ctx, eva, test.ID)
	refused(t, err, crowd.TooMany)
	w.clock.advance(time.Minute)
	v = must(w.Tests.StartTry(w.ctx, eva, test.ID))(t)
	answers := answersTo(v, 5)
	v = must(w.Tests.SubmitTry(w.ctx, eva, test.ID, 2, answers, false))(t)
	if !v.Passed || v.Result.Score != 83 || !v.Holds || v.Left != 0 {
		t.Fatalf("with 5 of 6: %+v, %+v", v, v.Result)
	}
	eva = w.as(eva.User.ID)
	if eva.User.Pool != w.pool || eva.User.Qualifications["alive"] != 83 {
		t.Fatalf("after the test she is %+v", eva.User)
	}
	w.next(eva)
	if work := must(w.Work.Next(w.ctx, w.workers[0], 0))(t); work != nil {
		t.Error("who is not qualified gets it too")
	}

	// Sent again, nothing changes, whatever it says.
	for name := range answers {
		answers[name] = json.RawMessage(`"neither"`)
	}
	again := must(w.Tests.SubmitTry(w.ctx, eva, test.ID, 2, answers, false))(t)
	if again.Result.Score != 83 || !again.Passed {
		t.Errorf("sent again: %+v", again.Result)
	}
	_, err = w.Tests.StartTry(w.ctx, eva, test.ID)
	refused(t, err, crowd.Conflict)

	// The answers are kept, for those who gave the test.
	kept := must(w.Tests.Tries(w.ctx, w.admin, test.ID, 0, 10))(t)
	if len(kept) != 2 || kept[0].By.Name != "eva" || kept[0].Right != 5 || kept[1].Right != 4 {
		t.Fatalf("kept are %+v", kept)
	}
	var each map[string]struct {
		Answer json.RawMessage
		Right  bool
	}
	ok(t, json.Unmarshal(kept[0].Answers, &each))
	if len(each) != 6 || !strings.Contains(string(kept[0].Answers), `"answer":{"label":"yes"}`) {
		t.Errorf("the answers are %s", kept[0].Answers)
	}
}

// TestAWaitingWorkerIsServedWhenTheyQualify: the engine of their pool learns of it
// by itself.
func TestAWaitingWorkerIsServedWhenTheyQualify(t *testing.T) {
	bubble(t, 1, func(t *testing.T, w *world) {
		test := w.test(func(n *accounts.NewTest) { n.Open = true })
		id := w.launchFor("alive", 1)
		p := w.workers[0]
		x := w.poll(w.ctx, p, time.Minute)
		if !x.waits() {
			t.Fatal("they are not qualified, and do not wait")
		}
		v := must(w.Tests.StartTry(w.ctx, p, test.ID))(t)
		must(w.Tests.SubmitTry(w.ctx, p, test.ID, 1, answersTo(v, 6), false))(t)
		x.gets(t, id)
	})
}

// TestDrawing: other people and other tries get other questions, in another
// order, and nobody one question twice.
func TestDrawing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	test := w.test(func(n *accounts.NewTest) { n.Tries, n.Wait = 3, 0 })
	seen, met := map[string]bool{}, map[string]bool{}
	for _, name := range []string{"eva", "bea", "mia"} {
		p := w.candidate(name, test)
		for n := 1; n <= 3; n++ {
			v := must(w.Tests.StartTry(w.ctx, p, test.ID))(t)
			list := names(v)
			seen[fmt.Sprint(list)] = true
			for i, x := range list {
				if met[x] = true; slices.Contains(list[:i], x) {
					t.Errorf("%s is asked twice: %q", name, list)
				}
			}
			must(w.Tests.SubmitTry(w.ctx, p, test.ID, n, answersTo(v, 0), false))(t)
		}
	}
	if len(seen) != 9 || len(met) != 10 {
		t.Errorf("%d different draws of 9, %d questions of 10", len(seen), len(met))
	}
}

// TestTimeLimit: what comes too late is kept, and cannot pass; a try that nobody
// submits is over with its time.
func TestTimeLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	test := w.test(func(n *accounts.NewTest) { n.TimeLimit, n.Tries, n.Wait = 10*time.Minute, 3, 30*time.Minute })
	eva, bea, mia := w.candidate("eva", test), w.candidate("bea", test), w.candidate("mia", test)
	all := must(w.Tests.StartTry(w.ctx, mia, test.ID))(t)
	v := must(w.Tests.StartTry(w.ctx, bea, test.ID))(t)
	if v.Current.EndsAt.Sub(v.Current.StartedAt) != 10*time.Minute {
		t.Errorf("%+v", v.Current)
	}
	w.clock.advance(10*time.Minute + 4*time.Second) // the way takes a moment
	if v := must(w.Tests.SubmitTry(w.ctx, bea, test.ID, 1, answersTo(v, 6), false))(t); !v.Passed {
		t.Errorf("just in time: %+v", v.Result)
	}

	v = must(w.Tests.StartTry(w.ctx, eva, test.ID))(t)
	w.clock.advance(10*time.Minute + 6*time.Second)
	late := must(w.Tests.SubmitTry(w.ctx, eva, test.ID, 1, map[string]json.RawMessage{"q1": answersTo(v, 6)["q1"], "q2": json.RawMessage(`"maybe"`), "x": nil}, false))(t)
	if late.Passed || !late.Result.Late || late.Result.Score != 16 || late.Left != 2 {
		t.Errorf("too late: %+v", late.Result)
	}
	if u := must(w.Accounts.User(w.ctx, eva, eva.User.ID))(t); u.Pool != 0 || len(u.Qualifications) > 0 {
		t.Errorf("too late, and she is %+v", u)
	}
	all = must(w.Tests.SubmitTry(w.ctx, mia, test.ID, 1, answersTo(all, 6), false))(t)
	if all.Passed || !all.Result.Late || all.Result.Score != 100 || must(w.Accounts.User(w.ctx, mia, mia.User.ID))(t).Pool != 0 {
		t.Errorf("all right, but too late: %+v", all.Result)
	}
	w.clock.advance(30 * time.Minute)
	must(w.Tests.StartTry(w.ctx, eva, test.ID))(t)
	w.clock.advance(time.Hour) // she never submits it
	v = must(w.Tests.Take(w.ctx, eva, test.ID))(t)
	if v.Current != nil || v.Left != 1 || v.Result.Submitted || v.Result.N != 2 || !v.NextAt.IsZero() {
		t.Errorf("a try left alone: %+v, %+v", v, v.Result)
	}
	v = must(w.Tests.StartTry(w.ctx, eva, test.ID))(t)
	if v.Current.N != 3 {
		t.Errorf("the next is try %d", v.Current.N)
	}
	must(w.Tests.SubmitTry(w.ctx, eva, test.ID, 3, answersTo(v, 0), false))(t)
	w.clock.advance(time.Hour)
	_, err := w.Tests.StartTry(w.ctx, eva, test.ID)
	refused(t, err, crowd.Conflict)
	if !strings.Contains(err.Error(), "you have used up your 3 tries") {
		t.Errorf("it says %q", err)
	}
	if v := must(w.Tests.Take(w.ctx, eva, test.ID))(t); v.Left != 0 || v.Passed {
		t.Errorf("%+v", v)
	}
}

// TestTwoWindows begin and submit one try.
func TestTwoWindows(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	test := w.test(func(n *accounts.NewTest) { n.Tries = 5 })
	eva := w.candidate("eva", test)
	views := make([]accounts.TestView, 8)
	var group sync.WaitGroup
	for i := range views {
		group.Go(func() {
			v, err := w.Tests.StartTry(w.ctx, eva, test.ID)
			if err != nil {
				t.Error(err)
			}
			views[i] = v
		})
	}
	group.Wait()
	for _, v := range views {
		if v.Current == nil || v.Current.N != 1 || !slices.Equal(names(v), names(views[0])) {
			t.Fatalf("%+v", v.Current)
		}
	}
	for i := range views {
		group.Go(func() {
			if _, err := w.Tests.SubmitTry(w.ctx, eva, test.ID, 1, answersTo(views[i], 6*(i%2)), false); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if list := must(w.Tests.Tries(w.ctx, w.admin, test.ID, 0, 10))(t); len(list) != 1 || list[0].Score != 0 && list[0].Score != 100 {
		t.Errorf("%+v", list)
	}
}

// TestAnswersThatDoNotFit use up no try.
func TestAnswersThatDoNotFit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	test := w.test()
	eva := w.candidate("eva", test)
	v := must(w.Tests.StartTry(w.ctx, eva, test.ID))(t)
	good := answersTo(v, 6)
	bad := func(what string, answers map[string]json.RawMessage, fields ...string) {
		t.Helper()
		_, err := w.Tests.SubmitTry(w.ctx, eva, test.ID, 1, answers, false)
		refused(t, err, crowd.Invalid)
		var several crowd.Errors
		if !errors.As(err, &several) {
			t.Fatalf("%s: %v", what, err)
		}
		var got []string
		for _, e := range several {
			got = append(got, e.Field)
		}
		if !slices.Equal(got, fields) {
			t.Errorf("%s: the fields are %q, want %q", what, got, fields)
		}
	}
	with := func(name, text string) map[string]json.RawMessage {
		out := map[string]json.RawMessage{}
		for k, v := range good {
			out[k] = v
		}
		if delete(out, name); text != "" {
			out[name] = json.RawMessage(text)
		}
		return out
	}
	bad("missing", with("q3", ""), "q3.label")
	bad("no option", with("q2", `"maybe"`), "q2.label")
	bad("no JSON", with("q2", `{`), "q2.answer")
	bad("another field", with("q2", `{"x":1}`), "q2.x")
	bad("no question", with("q7", `"yes"`), "q7")
	bad("nothing", nil, "q1.label", "q2.label", "q3.label", "q4.label", "q5.label", "q6.label")
	_, err := w.Tests.SubmitTry(w.ctx, eva, test.ID, 2, good, false)
	refused(t, err, crowd.NotFound)
	if v := must(w.Tests.Take(w.ctx, eva, test.ID))(t); v.Current == nil || v.Left != 1 {
		t.Fatalf("a try was used up: %+v", v)
	}
	if v := must(w.Tests.SubmitTry(w.ctx, eva, test.ID, 1, with("q3", ""), true))(t); v.Result.Score != 83 || !v.Passed {
		t.Errorf("one left out, on purpose: %+v", v.Result)
	}
}

// TestWhoMayTakeATest: those invited to it, and if it is open every worker.
func TestWhoMayTakeATest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	test := w.test()
	eva := w.candidate("eva", test)
	open := w.test(func(n *accounts.NewTest) { n.Name, n.Open = "open", true })
	may := func(p *access.Principal, id int64, want bool) {
		t.Helper()
		list := must(w.Tests.Mine(w.ctx, p))(t)
		listed := slices.ContainsFunc(list, func(v accounts.TestView) bool { return v.ID == id })
		_, err := w.Tests.Take(w.ctx, p, id)
		_, err2 := w.Tests.SubmitTry(w.ctx, p, id, 7, nil, false)
		refused(t, err2, crowd.NotFound)
		if listed != want || err == nil != want {
			t.Errorf("%s and test %d: listed %t, %v", p.User.Name, id, listed, err)
		}
		if !want {
			_, err := w.Tests.StartTry(w.ctx, p, id)
			refused(t, err, crowd.NotFound)
		}
	}
	may(eva, test.ID, true)
	may(eva, open.ID, false) // no worker yet
	may(w.workers[0], test.ID, false)
	may(w.workers[0], open.ID, true)
	may(w.ann, open.ID, false)
	may(w.ann, 99, false)
	for _, id := range []int64{test.ID, open.ID} {
		must(w.Tests.Retire(w.ctx, w.admin, id, true))(t)
	}
	may(eva, test.ID, true) // she was invited to it
	may(w.workers[0], open.ID, false)
	_, err := w.Invitations.Invite(w.ctx, w.admin, accounts.NewInvitations{Pool: w.pool, Test: test.ID, Addresses: []string{"x@example.org"}})
	refused(t, err, crowd.Invalid)
}

// TestInvitedWithATestTheyHavePassed: they work at once, also in a second pool.
func TestInvitedWithATestTheyHavePassed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	test := w.test()
	bob, ann := w.person(accounts.NewUser{Name: "robert"}), w.person(accounts.NewUser{Name: "anna"})
	must(w.Accounts.ChangeUser(w.ctx, w.admin, bob.User.ID, func(u *store.User) error { u.Qualifications = map[string]int{"alive": 80}; return nil }))(t)
	accept := func(p *access.Principal) store.User {
		t.Helper()
		r := w.invite(func(n *accounts.NewInvitations) { n.Test = test.ID }, p.User.Name+"@example.org")
		return must(w.Invitations.Accept(w.ctx, p, r.Invited[0].Token, nil))(t)
	}
	if u := accept(bob); u.Pool != w.pool {
		t.Errorf("bob is %+v", u)
	}
	must(w.Accounts.ChangeUser(w.ctx, w.admin, ann.User.ID, func(u *store.User) error { u.Qualifications = map[string]int{"alive": 79}; return nil }))(t)
	if u := accept(ann); u.Pool != 0 {
		t.Errorf("ann is %+v", u)
	}
	if u := accept(w.workers[0]); u.Pool != w.pool { // they work there already, and may qualify
		t.Errorf("they are %+v", u)
	}
	v := must(w.Tests.StartTry(w.ctx, w.workers[0], test.ID))(t)
	must(w.Tests.SubmitTry(w.ctx, w.workers[0], test.ID, 1, answersTo(v, 6), false))(t)
	if u := must(w.Accounts.User(w.ctx, w.admin, w.workers[0].User.ID))(t); u.Qualifications["alive"] != 100 || u.Pool != w.pool {
		t.Errorf("they are %+v", u)
	}
	// A better score that they hold already stays.
	must(w.Accounts.ChangeUser(w.ctx, w.admin, ann.User.ID, func(u *store.User) error { u.Qualifications = map[string]int{"alive": 90, "other": 1}; return nil }))(t)
	v = must(w.Tests.StartTry(w.ctx, ann, test.ID))(t)
	must(w.Tests.SubmitTry(w.ctx, ann, test.ID, 1, answersTo(v, 5), false))(t)
	if u := must(w.Accounts.User(w.ctx, w.admin, ann.User.ID))(t); u.Qualifications["alive"] != 90 || u.Qualifications["other"] != 1 || u.Pool != w.pool {
		t.Errorf("ann is %+v", u)
	}
}

// TestBadTests: what is wrong with a test is said when it is made.
func TestBadTests(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	w.test(func(n *accounts.NewTest) { n.Tenant = w.a })
	form := `{"kind": "form", "fields": [{"name": "kind", "type": "choice", "options": ["cat", "dog"]}], "label_field": "kind"}`
	cases := map[string]struct {
		change func(*accounts.NewTest)
		field  string
		row    int
	}{
		"no name":                {func(n *accounts.NewTest) { n.Name = " " }, "name", 0},
		"no such grant":          {func(n *accounts.NewTest) { n.Grants = strings.Repeat("x", 101) }, "grants", 0},
		"mark of 0":              {func(n *accounts.NewTest) { n.PassMark = 0 }, "pass_mark", 0},
		"mark of 101":            {func(n *accounts.NewTest) { n.PassMark = 101 }, "pass_mark", 0},
		"no tries":               {func(n *accounts.NewTest) { n.Tries = -1 }, "tries", 0},
		"many tries":             {func(n *accounts.NewTest) { n.Tries = 101 }, "tries", 0},
		"draws too many":         {func(n *accounts.NewTest) { n.Draw = 11 }, "draw", 0},
		"draws less":             {func(n *accounts.NewTest) { n.Draw = -1 }, "draw", 0},
		"draws none of many":     {func(n *accounts.NewTest) { n.Draw, n.Questions = 0, alive(101) }, "draw", 0},
		"waits":                  {func(n *accounts.NewTest) { n.Wait = -1 }, "wait", 0},
		"waits years":            {func(n *accounts.NewTest) { n.Wait = 366 * 24 * time.Hour }, "wait", 0},
		"no time":                {func(n *accounts.NewTest) { n.TimeLimit = time.Second }, "time_limit", 0},
		"no gold":                {func(n *accounts.NewTest) { n.Questions = strings.NewReader("thing\na\n") }, "_gold", 1},
		"empty gold":             {func(n *accounts.NewTest) { n.Questions = strings.NewReader("thing,_gold\na,yes\nb,\n") }, "_gold", 3},
		"gold that does not fit": {func(n *accounts.NewTest) { n.Questions = strings.NewReader("thing,_gold\na,maybe\n") }, "_gold", 2},
		"no questions":           {func(n *accounts.NewTest) { n.Questions = strings.NewReader("thing,_gold\n") }, "questions", 0},
		"ragged":                 {func(n *accounts.NewTest) { n.Questions = strings.NewReader("thing,_gold\na\n") }, "", 2},
		"too many":               {func(n *accounts.NewTest) { n.Questions = alive(1001) }, "questions", 0},
		"no template":            {func(n *accounts.NewTest) { n.Template = json.RawMessage(`{}`) }, "kind", 0},
		"no such column":         {func(n *accounts.NewTest) { n.Questions = strings.NewReader("x,_gold\na,yes\n") }, "question", 0},
		"html":                   {func(n *accounts.NewTest) { n.Template = json.RawMessage(`{"kind":"html","html":"<input name=x>"}`) }, "template", 0},
		"form without label": {func(n *accounts.NewTest) {
			n.Template = json.RawMessage(`{"kind":"form","fields":[{"name":"x"}]}`)
		}, "template", 0},
		"form with a strange option": {func(n *accounts.NewTest) {
			n.Template, n.Questions = json.RawMessage(form), strings.NewReader("thing,_gold\na,cat\nb,cow\n")
		}, "_gold", 3},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			n := accounts.NewTest{Tenant: w.a, Name: "new " + name, Template: json.RawMessage(yesOrNo), Questions: alive(10), PassMark: 80}
			c.change(&n)
			_, err := w.Tests.Create(w.ctx, w.ann, n)
			if code := crowd.CodeOf(err); code != crowd.Invalid && code != crowd.TooLarge {
				t.Fatalf("%v", err)
			}
			var e *crowd.Error
			if !errors.As(err, &e) || e.Field != c.field || e.Row != c.row {
				t.Errorf("the field is %q in line %d: %v", e.Field, e.Row, err)
			}
		})
	}
	_, err := w.Tests.Create(w.ctx, w.ann, accounts.NewTest{Tenant: w.a, Name: "alive", Template: json.RawMessage(yesOrNo), Questions: alive(2), PassMark: 80})
	refused(t, err, crowd.Conflict)
	if list := must(w.Tests.List(w.ctx, w.ann, w.a))(t); len(list) != 1 {
		t.Errorf("%d tests were made", len(list))
	}
	if mine := must(w.Tests.Create(w.ctx, w.ann, accounts.NewTest{Name: "of mine", Template: json.RawMessage(yesOrNo), Questions: alive(2), PassMark: 80}))(t); mine.Tenant != w.a {
		t.Errorf("a requester's test is for %s, want their tenant", mine.Tenant)
	}
	// What a form, a number and a list of options are right with.
	for name, c := range map[string]struct{ template, file, answer string }{
		"form":   {form, "thing,_gold\na,cat\n", `{"kind":"cat"}`},
		"number": {`{"kind":"number","question":"How many?"}`, "thing,_gold\na,3.0\n", `3`},
		"many":   {`{"kind":"choose_many","question":"Which?","options":["a","b","c"]}`, "thing\t_gold\na\t\"[\"\"c\"\",\"\"a\"\"]\"\n", `["a","c"]`},
		"text":   {`{"kind":"short_text","question":"Who?"}`, "{\"thing\":\"a\",\"_gold\":\"Ann\"}\n", `" Ann "`},
	} {
		x := w.test(func(n *accounts.NewTest) {
			n.Name, n.Template, n.Questions, n.Draw = name, json.RawMessage(c.template), strings.NewReader(c.file), 0
		})
		p := w.candidate("taker-of-"+name, x)
		must(w.Tests.StartTry(w.ctx, p, x.ID))(t)
		if v := must(w.Tests.SubmitTry(w.ctx, p, x.ID, 1, map[string]json.RawMessage{"q1": json.RawMessage(c.answer)}, false))(t); v.Result.Score != 100 {
			t.Errorf("%s: %s scores %d", name, c.answer, v.Result.Score)
		}
	}
}

// TestNothingGivesTheAnswerAway looks at all that who takes a test is told.
func TestNothingGivesTheAnswerAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	test := w.test(func(n *accounts.NewTest) {
		n.Template, n.Draw = json.RawMessage(`{"kind":"short_text","question":"Say ${thing} backwards"}`), 2
		n.Questions = strings.NewReader("thing,_gold\nabc,goldcba\nxyz,goldzyx\n")
	})
	eva := w.candidate("eva", test)
	looked := 0
	look := func(v accounts.TestView) {
		t.Helper()
		text := string(must(json.Marshal(v))(t)) + fmt.Sprintf("%+v %#v", v, v)
		for _, q := range append([]accounts.Asked(nil), current(v)...) {
			text += fmt.Sprintf("%+v", q)
		}
		if looked++; strings.Contains(text, "goldcba") || strings.Contains(text, "goldzyx") || strings.Contains(text, "_gold") {
			t.Errorf("it gives the answer away: %s", text)
		}
	}
	look(must(w.Tests.Mine(w.ctx, eva))(t)[0])
	v := must(w.Tests.StartTry(w.ctx, eva, test.ID))(t)
	look(v)
	if len(v.Current.Questions) != 2 || v.Current.Questions[0].View.Controls[0].Type != task.ControlText {
		t.Fatalf("%+v", v.Current)
	}
	wrong := map[string]json.RawMessage{"q1": json.RawMessage(`"x"`), "q2": json.RawMessage(`"y"`)}
	v = must(w.Tests.SubmitTry(w.ctx, eva, test.ID, 1, wrong, false))(t)
	look(v)
	_, err := w.Tests.SubmitTry(w.ctx, eva, test.ID, 9, wrong, false)
	if looked++; err == nil || strings.Contains(err.Error(), "gold") {
		t.Errorf("%v", err)
	}
}

func current(v accounts.TestView) []accounts.Asked {
	if v.Current == nil {
		return nil
	}
	return v.Current.Questions
}
