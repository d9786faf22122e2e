package orchestrator_test

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow/httpstep"
)

const twoCrowds = `
workflow: two crowds
inputs: {items: {columns: [id]}}
steps:
  ask:
    from: {items: stream}
    crowd: {template: {kind: choose_one, options: [yes, no]}, reward: 0.05, redundancy: {count: 2}}
  call:
    from: {ask: stream}
    service: {url: "https://x.example/", concurrency: 2, expect: 10s, send: [id], response: {type: object, properties: {loud: {type: string}}}}
  judge:
    from: {call: stream}
    crowd: {template: {kind: choose_one, options: [yes, no]}, reward: 0.05, task_time: 20s}
`

// TestOutlook: when a run is done is taken from the forecasts of its batches, and what is
// to come to later batches is said; a step that nobody does is blocked and says why.
func TestOutlook(t *testing.T) {
	w := newWorld(t)
	id := w.start(twoCrowds, "id\n1\n2\n3\n")
	w.settle()
	batch := w.node(id, "ask").Node.Batch
	if o := w.view(id).Outlook; o.Why != "ask: the first forecast of its batch takes some seconds" || !o.Median.IsZero() {
		t.Errorf("without a forecast: %+v", o)
	}
	at := func(d time.Duration) time.Time { return w.now.Add(d) }
	w.forecasts = map[crowd.BatchID]orchestrator.Forecast{batch: {Low: at(time.Hour), Median: at(2 * time.Hour), Horizon: at(24 * time.Hour)}}
	// After the batch come a call and a task of judge, without a queue.
	after := 10*time.Second + 20*time.Second
	want := orchestrator.Outlook{Median: at(2*time.Hour + after), Horizon: at(24 * time.Hour), Then: []string{"judge"}}
	if o := w.view(id).Outlook; !reflect.DeepEqual(o, want) {
		t.Errorf("with a forecast that ends after the horizon in some worlds: %+v, not %+v", o, want)
	}
	w.forecasts[batch] = orchestrator.Forecast{Why: "Too little is known yet."}
	if o := w.view(id).Outlook; o.Why != "ask: too little is known yet" || w.view(id).Blocked(1) != "" {
		t.Errorf("%+v, blocked %q", o, w.view(id).Blocked(1))
	}
	w.forecasts[batch] = orchestrator.Forecast{Why: "Nobody is there.", Nobody: true}
	if v := w.view(id); v.Outlook.Why != "ask: nobody is there" || v.Blocked(1) != "nobody is there" || v.Blocked(0)+v.Blocked(2)+v.Blocked(3) != "" {
		t.Errorf("%+v", v.Outlook)
	}
	if slow, err := w.o.SlowestItems(w.ctx, 0, id, 1); err != nil || len(slow) != 1 || slow[0].Why != "nobody is there" || !slow[0].Ends.IsZero() {
		t.Errorf("slowest: %+v, %v", slow, err)
	}
	if _, ok, err := w.engine.Ready(w.now, w.people[0]); err != nil || !ok { // since that forecast was made
		t.Fatal("nobody gets a task", err)
	}
	must(t, w.commit())
	if v := w.view(id); v.Nodes[1].InHand != 1 || v.Blocked(1) != "" {
		t.Errorf("with a task in somebody's hands: %d in hand, blocked %q", v.Nodes[1].InHand, v.Blocked(1))
	}
	must(t, w.o.Pause(w.ctx, id))
	if v := w.view(id); v.Outlook.Why != "the run is paused" || v.Blocked(1) != "" {
		t.Errorf("paused: %+v, %q", v.Outlook, v.Blocked(1))
	}
	must(t, w.o.Resume(w.ctx, id))
	w.forecasts = nil
	w.play()
	if v := w.view(id); !v.Outlook.None() {
		t.Errorf("it has ended: %+v", v.Outlook)
	}
}

// TestAClosedGateIsTold: a step whose pool's gate is closed says so, and no end is foreseen
// of its items.
func TestAClosedGateIsTold(t *testing.T) {
	w := newWorld(t)
	must(t, w.engine.SetGate(w.now, engine.Gate{On: true, Min: 30}))
	id := w.start(promised, "id\n1\n2\n")
	w.settle()
	const why = "the pool's gate is closed: work begins when more people are here"
	v := w.view(id)
	if v.Blocked(1) != why || v.Outlook.Why != "ask: "+why || v.Known() {
		t.Errorf("blocked: %q, outlook: %+v, foreseen: %+v", v.Blocked(1), v.Outlook, v.Foreseen)
	}
	if slow, err := w.o.SlowestItems(w.ctx, 0, id, 1); err != nil || len(slow) != 1 || slow[0].Why != why || !slow[0].Ends.IsZero() {
		t.Errorf("slowest: %+v, %v", slow, err)
	}
	must(t, w.engine.SetGate(w.now, engine.Gate{}))
	w.now = w.now.Add(10 * time.Second)
	if v := w.view(id); v.Blocked(1) != "" {
		t.Errorf("without a gate: %q", v.Blocked(1))
	}
	if _, ok, err := w.engine.Ready(w.now, w.people[0]); err != nil || !ok {
		t.Fatal("nobody gets the task", err)
	}
	must(t, w.commit())
	must(t, w.engine.SetGate(w.now, engine.Gate{On: true, Min: 30}))
	w.now = w.now.Add(10 * time.Second)
	if n := w.view(id).Nodes[1]; n.Reason != crowd.GateClosed || n.InHand != 1 {
		t.Errorf("a gate that closes while a task is in somebody's hands: %s, %d in hand", n.Reason, n.InHand)
	}
	if v := w.view(id); v.Blocked(1) != "" {
		t.Errorf("with a task in somebody's hands: %q", v.Blocked(1))
	}
}

// TestBlockedAndCounted: a step all of whose items are held is blocked and red, and the
// picture says of each step what its table says: what was taken is what came out, was
// skipped, failed, is held or is in work.
func TestBlockedAndCounted(t *testing.T) {
	w := newWorld(t)
	w.service = func(a orchestrator.Attempt) (httpstep.Reply, error) {
		return httpstep.Reply{}, &httpstep.Failure{Reason: httpstep.Status, StatusCode: 404, Message: "no"}
	}
	id := w.start(twoCrowds, "id\n1\n2\n3\n")
	check := func(when string) {
		t.Helper()
		v := w.view(id)
		svg := v.Picture()
		for i := range v.Nodes {
			n, c := &v.Nodes[i], v.Counts(i)
			if n.Step != nil && c.In != c.Out+c.Skipped+c.Failed+c.Held+c.Working {
				t.Errorf("%s: %s: %+v", when, n.Name, c)
			}
			if c.Out != n.OK || c.Waiting != n.Waiting || c.Held != n.Faults || c.Failed != n.Failed || c.Skipped != n.Skipped || c.Held+c.Working != max(n.Inside, n.Faults) {
				t.Errorf("%s: %s: the picture has %+v, the node %+v", when, n.Name, c, n)
			}
			for _, line := range []string{fmt.Sprintf(">%d in · %d out<", c.In, c.Out), fmt.Sprintf(">%d waiting · %d under way<", c.Waiting, c.Working)} {
				if !bytes.Contains(svg, []byte(line)) {
					t.Errorf("%s: the picture has no %s", when, line)
				}
			}
		}
		if red := bytes.Contains(svg, []byte(`class="blocked"`)); red != slices.ContainsFunc([]int{0, 1, 2, 3}, func(i int) bool { return v.Blocked(i) != "" }) {
			t.Errorf("%s: red %v", when, red)
		}
	}
	check("begun")
	w.settle()
	check("asked")
	w.work()
	w.settle()
	check("one answer")
	w.play()
	check("held")
	v := w.view(id)
	if !v.Stuck || v.Blocked(2) != "3 items, all that is left here, held after an error" || v.Outlook.Why != "call: "+v.Blocked(2) || !v.Outlook.Median.IsZero() {
		t.Errorf("stuck %v, %q, %+v", v.Stuck, v.Blocked(2), v.Outlook)
	}
	_, err := w.o.Skip(w.ctx, id, "")
	must(t, err)
	w.play()
	check("given up")
	if strings.Contains(w.view(id).Blocked(2), "held") {
		t.Error("it is given up, and blocked")
	}
}

// TestStartChecksPeople: a qualification that nobody of the pool holds is told before a
// run starts; a step that asks for more people than there are is not.
func TestStartChecksPeople(t *testing.T) {
	w := newWorld(t)
	made := func(text string) crowd.RunID {
		return w.load(orchestrator.NewRun{Tenant: w.tenant, Text: text}, map[string]string{"items": "id\n1\n"})
	}
	must(t, w.o.CheckPeople(w.ctx, made(strings.Replace(twoCrowds, "count: 2", "count: 9", 1))))
	id := made(strings.Replace(twoCrowds, "task_time: 20s", "task_time: 20s, qualifications: {skill: 80}", 1))
	err := w.o.CheckPeople(w.ctx, id)
	if crowd.CodeOf(err) != crowd.Conflict || !strings.Contains(fmt.Sprint(err), "judge: nobody in the pool holds skill >= 80") || strings.Contains(fmt.Sprint(err), "ask:") {
		t.Errorf("nobody is qualified: %v", err)
	}
	must(t, w.engine.SetWorker(w.now, engine.Worker{ID: w.people[0], Qualifications: map[string]int{"skill": 80}}))
	must(t, w.o.CheckPeople(w.ctx, id))
}

// TestStepsWithAllTheirRowsNeedNobody: a run that goes on from another one at a later step is
// not refused for want of people for a step before it whose rows it takes over. It is where
// items come to that step which the other run had not dealt with.
func TestStepsWithAllTheirRowsNeedNobody(t *testing.T) {
	const text = `workflow: w
inputs: {items: {columns: [id]}, more: {columns: [id]}}
steps:
  ask:
    from: {items: stream}
    crowd: {template: {kind: choose_one, options: [yes, no]}, reward: 0.05, qualifications: {skill: 80}}
  judge:
    from: {ask: batch}
    crowd: {template: {kind: choose_one, options: [yes, no]}, reward: 0.05, qualifications: {taste: 80}}
  count: {from: more, sql: select count(*) as n from more}
`
	const lacksSkill, lacksTaste = "ask: nobody in the pool holds skill >= 80", "judge: nobody in the pool holds taste >= 80"
	files := map[string]string{"items": "id\n1\n2\n", "more": "id\n3\n"}
	for name, x := range map[string]struct {
		text, from string
		open       []string
		early      bool // the first run is cancelled before anybody has answered
		want       string
	}{
		"from the later step":        {text, "judge", nil, false, lacksTaste},
		"from the step":              {text, "ask", nil, false, lacksSkill + "; " + lacksTaste},
		"from the beginning":         {text, "", nil, false, lacksSkill + "; " + lacksTaste},
		"nobody had answered":        {text, "judge", nil, true, lacksSkill + "; " + lacksTaste},
		"rows may come":              {text, "judge", []string{"items"}, false, lacksSkill + "; " + lacksTaste},
		"rows come from elsewhere":   {strings.NewReplacer("{items: stream}", "{more: stream}", "{from: more,", "{from: items,", "from more}", "from items}").Replace(text), "judge", nil, false, lacksSkill + "; " + lacksTaste},
		"the later step is new":      {strings.ReplaceAll(text, "judge", "rate"), "rate", nil, false, "rate: nobody in the pool holds taste >= 80"},
		"the input is another one":   {strings.ReplaceAll(text, "items", "things"), "judge", nil, false, lacksSkill + "; " + lacksTaste},
		"it asks for something else": {strings.Replace(text, "skill: 80", "skill: 90", 1), "judge", nil, false, lacksTaste},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			hold := func(q map[string]int) {
				must(t, w.engine.SetWorker(w.now, engine.Worker{ID: w.people[0], Qualifications: q}))
			}
			hold(map[string]int{"skill": 80, "taste": 80})
			first := w.load(orchestrator.NewRun{Text: text}, files)
			must(t, w.o.Start(w.ctx, first))
			if x.early {
				w.settle()
				must(t, w.o.Cancel(w.ctx, first))
			} else {
				w.play()
				w.wantState(first, store.RunDone)
			}
			hold(nil)
			n := orchestrator.NewRun{Tenant: w.tenant, Text: x.text, Parent: first, From: x.from, AskAgain: true, Open: x.open}
			flow, problems, err := orchestrator.Parse(w.ctx, x.text, nil, w.now)
			must(t, err)
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			lacking, few, err := w.o.People(w.ctx, n, flow)
			must(t, err)
			if len(few) > 0 {
				t.Errorf("people are too few: %q", few)
			}
			if got := strings.Join(lacking, "; "); got != x.want && x.open == nil { // which is said when the run is made
				t.Errorf("before the run is made, %q, want %q", got, x.want)
			}
			files := map[string]string{"items": files["items"], "things": files["items"], "more": files["more"]}
			second := w.load(n, files)
			err = w.o.CheckPeople(w.ctx, second)
			if wantCode(t, err, crowd.Conflict, x.want); !strings.HasSuffix(fmt.Sprint(err), ": "+x.want) {
				t.Errorf("at its start, %v, want %s", err, x.want)
			}
			if short := w.node(second, "ask").Crowd.TooSmall(); short != strings.Contains(x.want, "ask:") {
				t.Errorf("before its start, ask has too few people: %t", short)
			}
			must(t, w.o.Start(w.ctx, second))
			if short := w.node(second, "ask").Crowd.TooSmall(); short != strings.Contains(x.want, "ask:") {
				t.Errorf("once it has started, ask has too few people: %t", short)
			}
			hold(map[string]int{"taste": 80})
			w.play()
			if done := w.view(second).State == store.RunDone; done == strings.Contains(x.want, "ask:") {
				t.Errorf("without skill, the run is done: %t", done)
			}
		})
	}
}

// TestDoneWithOpenInputs: of several inputs, those that are open when a run starts, and of
// these the ones that are not sealed yet, are what it is not done before. One is sealed while
// people are at what came through it, which goes on.
func TestDoneWithOpenInputs(t *testing.T) {
	flow := "workflow: two\ninputs: {old: {columns: [id]}, new: {columns: [id]}}\nsteps:\n"
	for _, in := range []string{"old", "new"} {
		flow += "  judge_" + in + ": {from: {" + in + ": stream}, crowd: {template: {kind: short_text, show: [id]}, reward: 0.10}}\n"
	}
	const clock = "15:04"
	for _, c := range []struct {
		open []string
		want []string // at first, and after each seal
	}{
		{nil, []string{"about 11:00, by 80 %: 10:30 to 11:45"}},
		{[]string{"new"}, []string{
			"once the input new is sealed, by what is there: about 11:00; if the further tasks that come to judge_new do not have to queue",
			"about 11:00, by 80 %: 10:30 to 11:45",
		}},
		{[]string{"old", "new"}, []string{
			"once these inputs are sealed: old, new, by what is there: about 11:00; if the further tasks that come to judge_old, judge_new do not have to queue",
			"once the input new is sealed, by what is there: about 11:00; if the further tasks that come to judge_new do not have to queue",
			"about 11:00, by 80 %: 10:30 to 11:45",
		}},
	} {
		w := newWorld(t)
		answer := w.answer
		w.answer = func([]string) string { return "" } // they take their time
		id := w.load(orchestrator.NewRun{Text: flow, Open: c.open}, map[string]string{"old": "id\na\n", "new": "id\na\n"})
		must(t, w.o.Start(w.ctx, id))
		for _, name := range c.open {
			_, err := w.o.AddRows(w.ctx, id, orchestrator.NewRows{Input: name, File: csv(t, "id\na\n")})
			must(t, err)
		}
		w.settle()
		eleven := w.now.Truncate(24 * time.Hour).Add(11 * time.Hour)
		w.forecasts = make(map[crowd.BatchID]orchestrator.Forecast)
		for _, name := range []string{"judge_old", "judge_new"} {
			w.forecasts[w.node(id, name).Node.Batch] = orchestrator.Forecast{Low: eleven.Add(-30 * time.Minute), Median: eleven, High: eleven.Add(45 * time.Minute), Horizon: eleven.Add(time.Hour)}
		}
		words := func() string {
			v := w.view(id)
			done, by := v.Outlook.Words(w.now, func(t time.Time) string { return t.UTC().Format(clock) }, v.OpenInputs())
			return done + ", by " + by
		}
		must(t, w.o.Pause(w.ctx, id))
		if got := words(); !strings.HasSuffix(got, "the run is paused") || strings.HasSuffix(got, ", by what is there: not known yet: the run is paused") != (len(c.open) > 0) {
			t.Errorf("open are %v, paused: %s", c.open, got)
		}
		must(t, w.o.Resume(w.ctx, id))
		for k, want := range c.want {
			if got := words(); got != want {
				t.Errorf("open are %v, %d sealed: %s\nnot %s", c.open, k, got, want)
			}
			if k < len(c.open) {
				must(t, w.o.SealInputs(w.ctx, id, c.open[k]))
				w.settle()
				w.wantState(id, store.RunRunning)
			}
		}
		if v := w.view(id); len(v.OpenInputs()) > 0 {
			t.Errorf("open at the end: %v", v.OpenInputs())
		}
		w.answer, w.forecasts = answer, nil
		w.play()
		w.wantState(id, store.RunDone)
		w.want(id, "judge_old", "a,yes,1,1,false,false")
		w.want(id, "judge_new", "a,yes,1,1,false,false")
	}
}

// TestTheNearestHorizonCounts: of forecasts that look ahead unlike far, what a run says goes
// no further than each of them, in whatever order their steps stand.
func TestTheNearestHorizonCounts(t *testing.T) {
	const flow = `
workflow: two horizons
inputs: {items: {columns: [id]}}
steps:
  one: {from: {items: stream}, crowd: {template: {kind: short_text, show: [id]}, reward: 0.10}}
  two: {from: {items: stream}, crowd: {template: {kind: short_text, show: [id]}, reward: 0.10}}
`
	w := newWorld(t)
	w.answer = func([]string) string { return "" } // they take their time
	id := w.start(flow, "id\na\n")
	w.settle()
	in := func(hours int) time.Time { return w.now.Add(time.Duration(hours) * time.Hour) }
	for _, hours := range [][2]int{{6, 24}, {24, 6}} {
		w.forecasts = make(map[crowd.BatchID]orchestrator.Forecast)
		for i, name := range []string{"one", "two"} {
			w.forecasts[w.node(id, name).Node.Batch] = orchestrator.Forecast{Low: in(1), Median: in(2), High: in(3), Horizon: in(hours[i])}
		}
		if o := w.view(id).Outlook; !o.Horizon.Equal(in(6)) || !o.Median.Equal(in(2)) {
			t.Errorf("of horizons in %v hours: %+v", hours, o)
		}
	}
}
