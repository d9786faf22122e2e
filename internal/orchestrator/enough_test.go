package orchestrator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/store"
)

// askedOf is a workflow that asks about the rows of an input, with terms of its step.
func askedOf(input, terms string) string {
	return "workflow: w\ninputs: {" + input + ": {columns: [id]}}\nsteps:\n  ask: {from: {" + input + ": stream}, " +
		strings.Replace(choose, "crowd: {", "crowd: {"+terms, 1) + "}\n"
}

// TestLabelsTakenOverCountForEnough: where the labels that a run takes over are enough,
// nobody is asked, though somebody waits for work; and where they are not, only as many people
// as are missing.
func TestLabelsTakenOverCountForEnough(t *testing.T) {
	const labelled = "a\nb\nc\nd\n"
	var many strings.Builder // more than a step takes at a time
	for i := range 1500 {
		fmt.Fprintln(&many, i)
	}
	for _, x := range []struct {
		enough, rows string
		answers      int // that are still needed
		had          string
	}{
		{"labels: 4", labelled + "5\n6\n7\n", 0, "4 labels"},
		{"labels: 4", "5\n6\n7\n" + labelled, 0, "4 labels"},
		{"labels: 6", "5\n6\n7\n" + labelled, 2, "6 labels"},
		{"share: 0.5", "5\n6\n7\n" + labelled, 0, "57.1429 % of the tasks labelled"},
		{"share: 0.8", "5\n6\n7\n" + labelled, 2, "85.7143 % of the tasks labelled"},
		{"confidence: 0.5", "5\n6\n7\n" + labelled, 0, "a mean confidence of 57.1429 % over all tasks"},
		{"labels: 4", many.String() + labelled, 0, "4 labels"},
		{"share: 0.002", many.String() + labelled, 0, "0.265957 % of the tasks labelled"},
		{"spent: 0.20", "5\n6\n7\n" + labelled, 2, "0.20 spent"}, // what earlier runs paid is not counted
	} {
		t.Run(fmt.Sprint(x.enough, " of ", strings.Count(x.rows, "\n")), func(t *testing.T) {
			w := newWorld(t)
			w.people = w.people[:1]
			first := w.load(orchestrator.NewRun{Text: askedOf("items", "")}, map[string]string{"items": "id\n" + labelled})
			must(t, w.o.Start(w.ctx, first))
			w.play()
			w.wantState(first, store.RunDone)
			if w.work() {
				t.Fatal("there is work left") // now they wait, and get a task as soon as there is one
			}
			before := w.answers
			second := w.load(orchestrator.NewRun{Text: askedOf("rows", "enough: {"+x.enough+"}, "), Parent: first}, map[string]string{"rows": "id\n" + x.rows})
			must(t, w.o.Start(w.ctx, second))
			w.restart()
			w.play()
			w.wantState(second, store.RunDone)
			n := w.node(second, "ask")
			all := int64(strings.Count(x.rows, "\n"))
			if got := w.answers - before; got != x.answers || n.OK != int64(4+x.answers) || n.Skipped != all-n.OK || n.Reused != 4 {
				t.Errorf("%d answers, want %d; %d items with labels, %d passed by, %d labels taken over", got, x.answers, n.OK, n.Skipped, n.Reused)
			}
			if had := n.Batch.Spec.HadEnough(&n.Batch.Progress); had != x.had || n.Batch.Progress.Issued != uint32(x.answers) {
				t.Errorf("it had %q, want %q; %d tasks were handed out", had, x.had, n.Batch.Progress.Issued)
			}
		})
	}
}

// TestWhoIsAskedAgainDoesNotWait: a step that may have enough by labels of earlier runs asks
// nobody before it has looked through all its items; where people are asked again there is
// nothing to look for, and they begin with the first.
func TestWhoIsAskedAgainDoesNotWait(t *testing.T) {
	var rows strings.Builder // more than a step takes at a time
	for i := range 1500 {
		fmt.Fprintln(&rows, i)
	}
	for _, again := range []bool{false, true} {
		w := newWorld(t)
		first := w.load(orchestrator.NewRun{Text: askedOf("items", "")}, map[string]string{"items": "id\na\n"})
		must(t, w.o.Start(w.ctx, first))
		w.play()
		id := w.load(orchestrator.NewRun{Text: askedOf("rows", "enough: {labels: 4}, "), Parent: first, From: "ask", AskAgain: again}, map[string]string{"rows": "id\n" + rows.String()})
		must(t, w.o.Start(w.ctx, id))
		for range 100 {
			w.o.Step(w.ctx)
			if n := w.node(id, "ask"); n.Batch != nil && n.Batch.Progress.Tasks > 0 {
				break
			}
		}
		n := w.node(id, "ask")
		if n.Batch == nil || n.Batch.Progress.Tasks == 0 {
			t.Fatalf("asked again %t: nobody is asked", again)
		}
		if all := n.Batch.Spec.Tasks == 1500; all == again {
			t.Errorf("asked again %t: people are asked when there are %d tasks", again, n.Batch.Spec.Tasks)
		}
	}
}

// TestLabelsTakenOverCountForRowsThatCome: rows that are added to a run that goes on pass a
// step by that has enough by labels which were taken over, also those of its own log.
func TestLabelsTakenOverCountForRowsThatCome(t *testing.T) {
	w := newWorld(t)
	text := askedOf("items", "enough: {labels: 3}, ")
	first := w.load(orchestrator.NewRun{Text: text, Open: []string{"items"}}, nil)
	must(t, w.o.Start(w.ctx, first))
	add := func(id crowd.RunID, row string) {
		t.Helper()
		_, err := w.o.AddRows(w.ctx, id, orchestrator.NewRows{Input: "items", File: csv(t, "id\n"+row+"\n")})
		must(t, err)
	}
	add(first, "a\nb")
	w.play()
	must(t, w.o.Cancel(w.ctx, first))
	w.settle()
	for _, from := range []string{"ask", "copy"} { // labels that are taken over one by one, and rows of the step itself
		more := text + "  copy: {from: {ask: stream}, sql: select id from ask}\n"
		id := w.load(orchestrator.NewRun{Text: more, Parent: first, From: from, Open: []string{"items"}}, nil)
		must(t, w.o.Start(w.ctx, id))
		w.settle()
		before := w.answers
		for _, row := range []string{"c", "d", "e"} {
			add(id, row)
			w.play()
			w.restart()
		}
		if n := w.node(id, "ask"); w.answers != before+1 || n.OK != 3 || n.Skipped != 2 {
			t.Errorf("from %s: %d answers, want 1; %d items with labels, %d passed by", from, w.answers-before, n.OK, n.Skipped)
		}
	}
}

// TestAStepThatHasHadEnoughSaysSo: it does not look as if it ran, nobody waits for tasks of
// it, and each item that is skipped says why.
func TestAStepThatHasHadEnoughSaysSo(t *testing.T) {
	w := newWorld(t)
	text := strings.Replace(askedOf("items", "enough: {labels: 2}, "), "from: {items: stream}, ", "from: {items: stream}, when: id != \"x\", ", 1) +
		"  copy: {from: {ask: stream}, sql: select id from ask where id <> 'a'}\n  judge: {from: {copy: stream}, " + choose + "}\n"
	id := w.load(orchestrator.NewRun{Text: text, Open: []string{"items"}}, nil)
	must(t, w.o.Start(w.ctx, id))
	add := func(rows string) {
		t.Helper()
		_, err := w.o.AddRows(w.ctx, id, orchestrator.NewRows{Input: "items", File: csv(t, "id\n"+rows)})
		must(t, err)
	}
	add("x\na\n")
	w.play()
	if v := w.view(id); v.Nodes[1].HadEnough() != "" {
		t.Errorf("after one label it had %q", v.Nodes[1].HadEnough())
	}
	add("b\n")
	w.play()
	add("c\n")
	w.settle()
	v := w.view(id)
	if got := v.Nodes[1].HadEnough(); got != "2 labels" || v.Nodes[1].State != store.NodeRunning || v.Nodes[1].EndedEarly {
		t.Errorf("it is %s, ended early: %t, and had enough: %q", v.Nodes[1].State, v.Nodes[1].EndedEarly, got)
	}
	if len(v.Outlook.Then) > 0 {
		t.Errorf("further tasks come to %v", v.Outlook.Then)
	}
	why := func(step string) (list []string) {
		rows, err := w.o.Items(w.ctx, id, step, 0, 100)
		must(t, err)
		for _, r := range rows {
			if r.State == store.RowSkipped {
				list = append(list, r.Error)
			}
		}
		return list
	}
	for step, want := range map[string][]string{
		"ask":   {"its condition did not hold", "the step had enough: 2 labels"},
		"copy":  {"it was skipped before, at ask", "the query gave no row", "it was skipped before, at ask"},
		"judge": {"it was skipped before, at copy", "it was skipped before, at copy", "it was skipped before, at copy"},
	} {
		if got := why(step); !slices.Equal(got, want) {
			t.Errorf("%s skipped them because %q, want %q", step, got, want)
		}
	}
}

// TestAStepThatHasEnoughWhileSomebodyWorks: as long as somebody holds a task of it, it says that it
// has enough and only waits for that. Nothing else in it waits for people, and nobody can tell when
// it ends, which may take as long as a task may be held.
func TestAStepThatHasEnoughWhileSomebodyWorks(t *testing.T) {
	for _, edge := range []string{"batch", "stream"} {
		t.Run(edge, func(t *testing.T) { hasEnoughWhileSomebodyWorks(t, edge) })
	}
}

func hasEnoughWhileSomebodyWorks(t *testing.T, edge string) {
	w, holds := newWorld(t), true
	w.answer = func(values []string) string {
		if values[0] == "1" && holds {
			return ""
		}
		return "yes"
	}
	// Nobody but these may do it: with enough it does not matter that they are too few for the rest.
	text := askedOf("items", "enough: {labels: 2}, per_worker: 1, ") + "  judge: {from: {ask: " + edge + "}, " + choose + "}\n"
	id := w.load(orchestrator.NewRun{Text: text}, map[string]string{"items": "id\n1\n2\n3\n4\n5\n"})
	must(t, w.o.Start(w.ctx, id))
	w.settle()
	if n := w.node(id, "ask"); n.HasEnough() {
		t.Errorf("it has enough before anybody answers: %s", n.Reason)
	}
	w.play()
	for range 2 { // the second time after a restart
		v := w.view(id)
		n := &v.Nodes[1]
		if !n.HasEnough() || n.HadEnough() != "" || n.EndedEarly || n.InHand != 1 || n.OK != 2 || n.Offered != 0 || n.Crowd.TooSmall() || v.Blocked(1) != "" {
			t.Errorf("has enough: %t, had %q, ended early: %t, %d in hand, %d labels, %d offered, %s, blocked %q",
				n.HasEnough(), n.HadEnough(), n.EndedEarly, n.InHand, n.OK, n.Offered, n.Crowd, v.Blocked(1))
		}
		if picture := string(v.Picture()); !strings.Contains(picture, "has enough") {
			t.Error("the picture does not say that it has enough")
		}
		if slices.Contains(v.Outlook.Then, "ask") {
			t.Errorf("further tasks come to %v", v.Outlook.Then)
		}
		slow, err := w.o.SlowestItems(w.ctx, 0, id, 9)
		must(t, err)
		inside := 0
		for _, x := range slow {
			if !x.Ends.IsZero() {
				t.Errorf("item %d, at %s, ends at %s at the earliest", x.Item, x.Step, x.Ends)
			}
			if x.Step == "ask" {
				inside++
				if x.Why != "for those at work to finish: the step has enough" {
					t.Errorf("item %d waits %q", x.Item, x.Why)
				}
			}
		}
		if inside != 3 {
			t.Errorf("%d items are inside, want 3", inside)
		}
		w.restart()
	}
	holds = false
	w.play()
	if n := w.node(id, "ask"); n.HasEnough() || n.HadEnough() != "3 labels" || n.Skipped != 2 {
		t.Errorf("then: has enough: %t, had %q, %d skipped", n.HasEnough(), n.HadEnough(), n.Skipped)
	}
}

// TestAStepThatWasEndedEarlySaysSo: it does not look as if it ran or waited for people, though
// its run is open and its pool has too few, and what comes to it fails.
func TestAStepThatWasEndedEarlySaysSo(t *testing.T) {
	w := newWorld(t)
	text := strings.Replace(askedOf("items", "redundancy: {count: 9}, "), "ask:", "look:", 1)
	id := w.load(orchestrator.NewRun{Text: text, Open: []string{"items"}}, nil)
	must(t, w.o.Start(w.ctx, id))
	add := func(rows string) {
		t.Helper()
		_, err := w.o.AddRows(w.ctx, id, orchestrator.NewRows{Input: "items", File: csv(t, "id\n"+rows)})
		must(t, err)
		w.play()
	}
	add("a\nb\n")
	if v := w.view(id); !strings.Contains(v.Blocked(1), "it cannot finish") || v.Nodes[1].EndedEarly {
		t.Fatalf("blocked: %q, ended early: %t", v.Blocked(1), v.Nodes[1].EndedEarly)
	}
	must(t, w.o.EndStep(w.ctx, id, "look"))
	w.settle()
	for i := range 2 { // the second time after a restart
		add("c\n")
		v := w.view(id)
		if n := &v.Nodes[1]; !n.EndedEarly || n.HadEnough() != "" || v.Blocked(1) != "" || n.Crowd.TooSmall() || n.State != store.NodeRunning || n.Failed != int64(1+i) {
			t.Errorf("ended early: %t, blocked: %q, crowd %v, %s, %d failed", n.EndedEarly, v.Blocked(1), n.Crowd, n.State, n.Failed)
		}
		if picture := string(v.Picture()); !strings.Contains(picture, "ended early") || strings.Contains(picture, "blocked: ") {
			t.Error("the picture does not say that it was ended early")
		}
		w.restart()
	}
}

// TestEnoughDoesNotWaitForMoney: how many items there are is known, also of those that nobody
// pays for yet, so a step by share or confidence ends as it would with more money. Where it has
// enough without those, it does not say that it waits for money.
func TestEnoughDoesNotWaitForMoney(t *testing.T) {
	rows := func(n int) (s string) {
		for i := range n {
			s += fmt.Sprintln(i)
		}
		return s
	}
	for name, x := range map[string]struct {
		terms   string // of the step
		rows    string
		cents   int    // that there are
		answers int    // that are asked for
		had     string // "": it waits for money after them
		quiet   bool   // it never says that it waits for money
	}{
		"a share":                       {"enough: {share: 0.5}", rows(10), 90, 5, "50 % of the tasks labelled", true},
		"a confidence":                  {"enough: {confidence: 0.3}", rows(10), 90, 3, "a mean confidence of 30 % over all tasks", false},
		"a number":                      {"enough: {labels: 5}", rows(10), 90, 5, "5 labels", true},
		"as much as there is":           {"enough: {share: 0.5}", rows(10), 50, 5, "50 % of the tasks labelled", true},
		"less than enough":              {"enough: {share: 0.5}", rows(10), 40, 4, "", false},
		"more than are taken at a time": {"enough: {share: 0.002}", rows(2500), 90, 5, "0.2 % of the tasks labelled", true},
		"with known answers":            {"truth: gold, checks: {first: 0.001, least: 0.001}, enough: {share: 0.5}", strings.ReplaceAll(rows(10), "\n", ",\n") + "a,yes\nb,no\n", 90, 5, "50 % of the tasks labelled", true},
	} {
		for _, of := range []string{"run", "tenant"} {
			t.Run(name+", of the "+of, func(t *testing.T) {
				w := newWorld(t)
				w.people = w.people[:1]
				money := crowd.Money(x.cents) * crowd.Unit / 100
				text := askedOf("items", x.terms+", ")
				head := "id\n"
				if strings.Contains(x.terms, "truth") {
					text, head = strings.Replace(text, "[id]", "[id, gold]", 1), "id,gold\n"
				}
				if of == "run" {
					text = "budget: " + money.String() + "\n" + text
				} else {
					var err error
					w.tenant, err = w.store.CreateTenant(w.ctx, store.Tenant{Name: "poor", Weight: 1, CreatedAt: w.now}, 0)
					must(t, err)
					must(t, w.store.Deposit(w.ctx, w.now, w.tenant, money, "start"))
					w.restart()
				}
				id := w.start(text, head+x.rows)
				for w.settle(); ; w.restart() { // in the middle of it, too
					if n := w.node(id, "ask"); x.quiet && (n.Error != "" || w.view(id).Blocked(1) != "") {
						t.Errorf("after %d answers it waits: %s", w.answers, n.Error)
					}
					if !w.work() {
						break
					}
					w.settle()
				}
				n := w.node(id, "ask")
				if had := n.HadEnough(); had != x.had || w.answers != x.answers {
					t.Fatalf("%d answers, had %q; want %d, %q; %s", w.answers, had, x.answers, x.had, n.Error)
				}
				if x.had == "" {
					if n.Error == "" || w.view(id).Blocked(1) != n.Error {
						t.Errorf("it waits for money and says %q", n.Error)
					}
					return
				}
				w.play()
				w.wantState(id, store.RunDone)
				if v := w.view(id); v.Spent() != crowd.Money(x.answers)*crowd.Unit/10 || v.Reserved() != 0 {
					t.Errorf("spent %s, reserved %s", v.Spent(), v.Reserved())
				}
			})
		}
	}
}

// TestLabelsTakenOverAreEnoughWithoutMoney: they cost nothing, so a step that has enough with
// them needs nobody to pay for the first task.
func TestLabelsTakenOverAreEnoughWithoutMoney(t *testing.T) {
	for _, enough := range []string{"labels: 2", "share: 0.4", "confidence: 0.4"} {
		w := newWorld(t)
		poor, err := w.store.CreateTenant(w.ctx, store.Tenant{Name: "poor", Weight: 1, CreatedAt: w.now}, 0)
		must(t, err)
		must(t, w.store.Deposit(w.ctx, w.now, poor, crowd.Unit/5, "start"))
		w.tenant = poor
		w.restart()
		first := w.start(askedOf("items", ""), "id\na\nb\n")
		w.play()
		w.wantState(first, store.RunDone)
		before := w.answers
		id := w.load(orchestrator.NewRun{Text: askedOf("rows", "enough: {"+enough+"}, "), Parent: first}, map[string]string{"rows": "id\na\nb\nc\nd\ne\n"})
		must(t, w.o.Start(w.ctx, id))
		w.play()
		w.wantState(id, store.RunDone)
		if n := w.node(id, "ask"); n.OK != 2 || n.Skipped != 3 || w.answers != before {
			t.Errorf("%s: %d with labels, %d passed by, %d answers", enough, n.OK, n.Skipped, w.answers-before)
		}
	}
}
