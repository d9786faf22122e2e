package api_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/pool"
)

const main crowd.PoolID = 1

// set changes the main pool.
func (w *world) set(body string) wire.PoolDetail {
	w.t.Helper()
	return w.setPool(main, body)
}

func (w *world) setPool(id crowd.PoolID, body string) (out wire.PoolDetail) {
	w.t.Helper()
	a := w.send(w.admin, http.MethodPatch, "/v1/pools/"+id.String(), body)
	if a.StatusCode != http.StatusOK {
		w.t.Fatalf("%s: status %d: %s", body, a.StatusCode, a.body)
	}
	ok(w.t, json.Unmarshal(a.body, &out))
	return out
}

// step lets the pools be sized once.
func (w *world) step() {
	w.t.Helper()
	ok(w.t, w.app.Control.Step(w.ctx))
}

func (w *world) duty(c *client.Client) wire.Duty {
	w.t.Helper()
	return must(c.Duty(w.ctx, "", 0))(w.t)
}

// retainer makes the main pool one that calls its people and pays 0.06 a minute.
const retainer = `{"retainer": {"called": true, "rate_micros_per_minute": 60000, "promise_seconds": 600}, "control": {"min": 1}}`

// TestACall: people are called, the first comes in, the second is thanked, and
// waiting is paid.
func TestACall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		one, two := w.workers[0], w.workers[1]
		p := w.set(retainer)
		if !*p.Retainer.Called || *p.Retainer.Rate != 60_000 || *p.Retainer.PromiseSeconds != 600 || *p.Retainer.SilenceSeconds != 60 || *p.Control.Min != 1 || *p.Calling.Ask != 2 {
			t.Errorf("set: %+v %+v %+v", p.Retainer, p.Control, p.Calling)
		}
		w.step()
		if calls := must(w.admin.PoolCalls(w.ctx, main))(t); len(calls) != 0 {
			t.Errorf("without money people are called: %+v", calls)
		}
		if account := must(w.admin.FundPool(w.ctx, main, 10*crowd.Unit))(t); account.Funds != 10*crowd.Unit || account.Empty {
			t.Errorf("the account: %+v", account)
		}
		a := w.send(one, http.MethodPost, "/v1/work/next", "")
		if refusal := a.problem(t); a.StatusCode != http.StatusConflict || refusal.Code != crowd.OffDuty || !strings.Contains(refusal.Detail, "off duty") {
			t.Errorf("off duty they get %d %s", a.StatusCode, a.body)
		}
		before := w.duty(one)
		if before.On || before.Place || before.Called != nil || !before.CallsOnly || before.PoolName != "main" || before.Rate != 60_000 {
			t.Errorf("before the call: %+v", before)
		}
		changed := make(chan wire.Duty, 1)
		go func() {
			d, err := one.Duty(w.ctx, before.Seen, time.Minute)
			if err != nil {
				t.Error(err)
			}
			changed <- d
		}()
		synctest.Wait()
		start := time.Now()
		w.step()
		if d := <-changed; d.Called == nil || !d.Place || d.Seen == before.Seen || time.Since(start) != 0 {
			t.Errorf("%s after the call they hear %+v", time.Since(start), d)
		}
		calls := must(w.admin.PoolCalls(w.ctx, main))(t)
		if len(calls) != 1 || calls[0].Wanted != 1 || calls[0].Came != 0 || len(calls[0].Notices) != 2 || calls[0].Notices[0].State != "asked" {
			t.Fatalf("calls: %+v", calls)
		}
		if p := must(w.admin.PoolDetail(w.ctx, main))(t); p.Coming != 1 || p.OnDuty != 0 || p.Metrics == nil || p.Decision == nil || p.Decision.Recruit != 1 || len(p.Decision.Why) == 0 {
			t.Errorf("the pool: %+v, decision %+v", p, p.Decision)
		}
		d := must(one.StartDuty(w.ctx))(t)
		if !d.On || d.Since.IsZero() || d.IdleSince.IsZero() || d.Called != nil || d.Place {
			t.Errorf("they came: %+v", d)
		}
		a = w.send(two, http.MethodPost, "/v1/duty", "")
		if refusal := a.problem(t); a.StatusCode != http.StatusConflict || refusal.Code != crowd.OffDuty || !strings.Contains(refusal.Detail, "thank you") {
			t.Errorf("the second gets %d %s", a.StatusCode, a.body)
		}
		if d := w.duty(two); d.On || d.Place || d.Called != nil {
			t.Errorf("the second: %+v", d)
		}
		if calls := must(w.admin.PoolCalls(w.ctx, main))(t); len(calls) != 0 {
			t.Errorf("the call is still open: %+v", calls)
		}

		// They wait, and are paid for it.
		work := make(chan *wire.Work, 1)
		go func() {
			x, _, err := one.Next(w.ctx, time.Minute)
			if err != nil {
				t.Error(err)
			}
			work <- x
		}()
		synctest.Wait()
		<-time.After(30 * time.Second)
		if d := w.duty(one); !d.Waiting || d.Earned != 30_000 {
			t.Errorf("after half a minute of waiting: %+v", d)
		}
		people := must(w.admin.PoolPeople(w.ctx, main))(t)
		if len(people) != 2 || people[0].Name != "worker1" || !people[0].On || !people[0].Waiting || people[0].Earned != 30_000 || people[1].On || people[0].Preference != 0.5 {
			t.Errorf("people: %+v", people)
		}
		w.launch("thing\na dog\n")
		if x := <-work; x == nil {
			t.Fatal("they were not served")
		}
		var account struct {
			Balance crowd.Money `json:"balance_micros"`
			Entries []struct{ Kind, From, To string }
		}
		ok(t, json.Unmarshal(w.send(w.admin, http.MethodGet, "/v1/pools/p1/account", "").body, &account))
		if account.Balance != 10*crowd.Unit-30_000 || len(account.Entries) != 2 || account.Entries[0].Kind != "waiting" || account.Entries[0].From != "p1" {
			t.Errorf("the account: %+v", account)
		}
		if account := must(w.admin.FundPool(w.ctx, main, -crowd.Unit))(t); account.Funds != 9*crowd.Unit-30_000 || account.Paid != 30_000 {
			t.Errorf("after taking out: %+v", account)
		}
		_, err := w.admin.FundPool(w.ctx, main, -100*crowd.Unit)
		refused(t, err, crowd.Invalid)
		w.close()
	})
}

// TestReleasedAfterTheTask: who is let go finishes what they hold.
func TestReleasedAfterTheTask(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		one := w.workers[0]
		w.set(`{"retainer": {"called": true}, "control": {"elasticity": "static(n=1)"}}`)
		w.step()
		must(one.StartDuty(w.ctx))(t)
		w.launch("thing\na dog\na cat\n")
		held := w.next(one)
		w.set(`{"control": {"elasticity": "static(n=0)"}}`)
		w.step()
		if d := w.duty(one); !d.On || d.Leaves != "released" || !d.IdleSince.IsZero() {
			t.Errorf("while they hold a task: %+v", d)
		}
		if out, next, err := one.Submit(w.ctx, held.Assignment, yes, true, 0); err != nil || !out.Counted || next != nil {
			t.Errorf("their answer: %+v, then %+v, %v", out, next, err)
		}
		if d := w.duty(one); d.On || d.Leaves != "" {
			t.Errorf("afterwards: %+v", d)
		}
		_, _, err := one.Next(w.ctx, 0)
		refused(t, err, crowd.OffDuty)
		list := must(w.admin.PoolActions(w.ctx, main, 0, 10))(t)
		if list[0].Kind != "release" || list[0].N != 1 || list[0].By != 0 || list[0].Advice || list[0].Saw == nil || list[0].Saw.Workers != 1 || len(list[0].Why) == 0 {
			t.Errorf("the log: %+v", list[0])
		}
		if older := must(w.admin.PoolActions(w.ctx, main, list[0].ID, 1))(t); len(older) != 1 || older[0].ID != list[1].ID {
			t.Errorf("before it: %+v", older)
		}
		if set := list[1]; set.Kind != "set" || set.By == 0 || set.Saw != nil {
			t.Errorf("the setting in the log: %+v", set)
		}
		w.close()
	})
}

// TestATransferWithTraining: they finish their task, move, learn, and then work.
func TestATransferWithTraining(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		one := w.workers[0]
		id := must(one.Me(w.ctx))(t).ID
		night := must(w.admin.CreatePool(w.ctx, "night", ""))(t).ID
		must(w.admin.GrantPool(w.ctx, night, 0, false))(t)
		owl := must(w.person(wire.NewUser{Name: "owl", Pool: night}).Me(w.ctx))(t).ID
		w.setPool(night, `{"retainer": {"training": 1}}`)
		w.launch("thing\na dog\n")
		held := w.next(one)
		for name, x := range map[string]struct{ body, field string }{
			"of somebody of another pool": {fmt.Sprintf(`{"worker": %q, "to": "p1"}`, owl), "worker"},
			"of a requester":              {`{"worker": "u2", "to": "p2"}`, "worker"},
			"of nobody":                   {`{"worker": "u99", "to": "p2"}`, "worker"},
			"to nowhere":                  {fmt.Sprintf(`{"worker": %q, "to": "p99"}`, id), "to"},
		} {
			a := w.send(w.admin, http.MethodPost, "/v1/pools/p1/transfers", x.body)
			if p := a.problem(t); a.StatusCode != 422 || len(p.Errors) != 1 || p.Errors[0].Field != x.field {
				t.Errorf("a transfer %s: %d %s", name, a.StatusCode, a.body)
			}
		}
		if there := must(w.admin.Transfer(w.ctx, main, id, night))(t); there {
			t.Error("they moved with a task in their hands")
		}
		if d := w.duty(one); d.Pool != main || d.Leaves != "moved" {
			t.Errorf("until they have finished: %+v", d)
		}
		await := func(seen string) <-chan wire.Duty {
			changed := make(chan wire.Duty, 1)
			go func() {
				d, err := one.Duty(w.ctx, seen, time.Minute)
				if err != nil {
					t.Error(err)
				}
				changed <- d
			}()
			synctest.Wait()
			return changed
		}
		start, gone := time.Now(), await(w.duty(one).Seen)
		_, _, err := one.Submit(w.ctx, held.Assignment, yes, false, 0)
		ok(t, err)
		there := await((<-gone).Seen)
		w.step()
		d := <-there
		if d.Pool == night && !d.On { // the pool is changed first, and then they come on duty there
			d = <-await(d.Seen)
		}
		if d.Pool != night || d.PoolName != "night" || !d.On || d.Training != 1 || time.Since(start) != 0 {
			t.Errorf("%s later they hear %+v", time.Since(start), d)
		}
		for _, training := range []bool{false, true} {
			d := definition()
			d.Pool, d.Training = night, training
			b := must(w.ann.CreateBatch(w.ctx, d))(t)
			must(w.ann.Upload(w.ctx, b.ID, strings.NewReader("thing\na dog\n"), "", false))(t)
			if b = must(w.ann.Launch(w.ctx, b.ID, false))(t); b.Training != training {
				t.Errorf("launched as training %t: %+v", training, b)
			}
		}
		training := w.next(one)
		if b := must(w.ann.Batch(w.ctx, training.Batch))(t); !b.Training {
			t.Errorf("a newcomer got %s", b.ID)
		}
		if _, next, err := one.Submit(w.ctx, training.Assignment, yes, true, 0); err != nil || next == nil || next.Batch == training.Batch {
			t.Errorf("after the training: %+v, %v", next, err)
		}
		if d := w.duty(one); d.Training != 0 {
			t.Errorf("after the training: %+v", d)
		}
		list := must(w.admin.PoolActions(w.ctx, main, 0, 1))(t)
		if list[0].Kind != "transfer" || list[0].Worker != id || list[0].From != main || list[0].To != night || list[0].By == 0 {
			t.Errorf("the log: %+v", list)
		}
		if there := must(w.admin.PoolActions(w.ctx, night, 0, 1))(t); !reflect.DeepEqual(there, list) {
			t.Errorf("the log of the other pool: %+v", there)
		}
		if older := must(w.admin.PoolActions(w.ctx, night, list[0].ID, 1))(t); len(older) != 1 || older[0].Kind != "set" || older[0].From != 0 {
			t.Errorf("before it: %+v", older)
		}
		w.close()
	})
}

// TestAPartOfTheSettings: what is left out of a change stays.
func TestAPartOfTheSettings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	full := `{"retainer": {"called": true, "silence_seconds": 90, "rate_micros_per_minute": 7, "promise_seconds": 1.5, "training": 3},
		"control": {"elasticity": "rules", "stability": "hybrid", "balance": true, "balancer": "search(omega=0.8)", "rules": [{"when": "queue > 1", "do": "recruit 2"}],
			"target": {"eta": 0.25, "salary": 2, "wait_seconds": 30, "tail": 0.1}, "expect": {"task_time_seconds": 12}, "min": 1, "max": 9, "gate": true,
			"cooldown_seconds": 20, "window_seconds": 120, "advise": true, "least_preference": 0.7},
		"calling": {"ask": 1.5, "answer_seconds": 60, "life_seconds": 600}}`
	w.set(full)
	w.set(`{"control": {"target": {"eta": 0.5}, "max": 8}, "calling": {"ask": 3}, "retainer": {"training": 4}, "name": "day"}`)
	var got, want map[string]any
	ok(t, json.Unmarshal(w.send(w.admin, http.MethodGet, "/v1/pools/p1", "").body, &got))
	full = strings.NewReplacer(`"eta": 0.25`, `"eta": 0.5`, `"max": 9`, `"max": 8`, `"ask": 1.5`, `"ask": 3`, `"training": 3`, `"training": 4`).Replace(full)
	ok(t, json.Unmarshal([]byte(full), &want))
	for _, group := range []string{"retainer", "control", "calling"} {
		if x, y := fmt.Sprint(got[group]), fmt.Sprint(want[group]); x != y {
			t.Errorf("%s is %s\nwant %s", group, x, y)
		}
	}
	if got["name"] != "day" {
		t.Errorf("it is called %v", got["name"])
	}
}

func TestBadSettings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for body, field := range map[string]string{
		`{"retainer": {"silence_seconds": 0.5}}`:                   "retainer.silence_seconds",
		`{"retainer": {"silence_seconds": 1e300}}`:                 "retainer.silence_seconds",
		`{"retainer": {"rate_micros_per_minute": -1}}`:             "retainer.rate_micros_per_minute",
		`{"retainer": {"promise_seconds": -1}}`:                    "retainer.promise_seconds",
		`{"retainer": {"training": -1}}`:                           "retainer.training",
		`{"retainer": {"colour": "red"}}`:                          "retainer.colour",
		`{"control": {"elasticity": "magic"}}`:                     "control.elasticity",
		`{"control": {"stability": "hybrid(window=0s)"}}`:          "control.stability",
		`{"control": {"min": 5, "max": 2}}`:                        "control.max",
		`{"control": {"min": -5}}`:                                 "control.min",
		`{"control": {"cooldown_seconds": -5}}`:                    "control.cooldown_seconds",
		`{"control": {"window_seconds": 0.1}}`:                     "control.window_seconds",
		`{"control": {"target": {"eta": 1}}}`:                      "control.target.eta",
		`{"control": {"target": {"salary": -1}}}`:                  "control.target.salary",
		`{"control": {"target": {"wait_seconds": -1}}}`:            "control.target.wait_seconds",
		`{"control": {"target": {"tail": 0.1}}}`:                   "control.target.tail",
		`{"control": {"expect": {"task_time_seconds": -1}}}`:       "control.expect.task_time_seconds",
		`{"control": {"elasticity": "rules"}}`:                     "control.rules",
		`{"control": {"least_preference": 1.5}}`:                   "control.least_preference",
		`{"calling": {"ask": 0.5}}`:                                "calling.ask",
		`{"calling": {"answer_seconds": 1}}`:                       "calling.answer_seconds",
		`{"calling": {"life_seconds": 1}}`:                         "calling.life_seconds",
		`{"control": {"rules": [{"when": "queue > 1"}]}}`:          "control.rules[0].do",
		`{"control": {"rules": [{"when": 5, "do": "recruit 1"}]}}`: "control.rules[0].when",
	} {
		a := w.send(w.admin, http.MethodPatch, "/v1/pools/p1", body)
		if p := a.problem(t); a.StatusCode != http.StatusUnprocessableEntity || len(p.Errors) == 0 || p.Errors[0].Field != field {
			t.Errorf("%s: status %d, want 422 for %s: %s", body, a.StatusCode, field, a.body)
		}
	}
	for rule, want := range map[string]string{
		`{"when": "queu > 1", "do": "recruit 1"}`:                   "when 1:1",
		`{"when": "queue > 1 and nope", "do": "recruit 1"}`:         "when 1:15",
		`{"when": "queue > 1\nand nope > 2", "do": "recruit 1"}`:    "when 2:5",
		`{"when": "queue > 1", "do": "recruit many"}`:               "do 1:9",
		`{"when": "queue > 1", "do": "transfer 1 from nowhere"}`:    "do 1:",
		`{"when": "queue > 1", "do": "transfer 1 from main"}`:       "do 1:17",
		`{"when": "queue > 1", "do": "transfer 1 from p1"}`:         "do 1:17",
		`{"when": "queue > \"x\"", "do": "recruit 1"}`:              "when 1:",
		`{"when": "queue > 1", "do": "hire 1"}`:                     "do 1:1",
		`{"when": "", "do": "recruit 1"}`:                           "when 1:1",
		`{"when": "queue > 1", "do": "recruit 1 please"}`:           "do 1:11",
		`{"when": "len(\"a\") > 1", "do": "recruit 1"}`:             "when 1:1",
		`{"when": "queue > 1 || c_strr > 2", "do": "release 1"}`:    "when 1:14",
		`{"when": "queue > 1 ||", "do": "release 1"}`:               "when 1:",
		`{"when": "(queue > 1", "do": "release 1"}`:                 "when 1:",
		`{"when": "queue", "do": "release 1"}`:                      "when 1:1",
		`{"when": "oldest_wait > \"1 minute\"", "do": "recruit 1"}`: "when 1:",
	} {
		good := `{"when": "idle > 1", "do": "release 1"}`
		for _, x := range []struct{ method, path, body, field string }{
			{http.MethodPatch, "/v1/pools/p1", `{"control": {"rules": [` + good + `,` + rule + `]}}`, "control.rules"},
			{http.MethodPost, "/v1/pools/p1/rules/test", `{"rules": [` + good + `,` + rule + `]}`, "rules"},
		} {
			a := w.send(w.admin, x.method, x.path, x.body)
			p := a.problem(t)
			if a.StatusCode != http.StatusUnprocessableEntity || len(p.Errors) != 1 {
				t.Errorf("%s: status %d: %s", rule, a.StatusCode, a.body)
				continue
			}
			e := p.Errors[0]
			if place := e.Part + " " + strconv.Itoa(e.Line) + ":" + strconv.Itoa(e.Column); e.Rule != 2 || e.Field != x.field || !strings.HasPrefix(place, want) || e.Column < 1 {
				t.Errorf("%s: rule %d of %s at %s, want rule 2 of %s at %s", rule, e.Rule, e.Field, place, x.field, want)
			}
		}
	}
	if p := must(w.admin.PoolDetail(w.ctx, main))(t); len(*p.Control.Rules) != 0 || *p.Control.Min != 0 {
		t.Errorf("a refused change was made: %+v", p.Control)
	}
	if strings.Contains(w.log.String(), "request failed") {
		t.Errorf("a user's mistake is logged: %s", &w.log)
	}
	_, err := w.admin.TestRules(w.ctx, main, []pool.Rule{{When: "nope > 1", Do: "recruit 1"}})
	if !slices.ContainsFunc(errorsIn(err), func(s string) bool { return strings.Contains(s, "rule 1") }) {
		t.Errorf("the client says %v", err)
	}
}

func errorsIn(err error) []string {
	if err == nil {
		return nil
	}
	return []string{err.Error()}
}

// TestRulesOnThePast tries rules on what was sampled.
func TestRulesOnThePast(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		start := time.Now()
		for i := range 4 {
			if i == 2 {
				w.launch("thing\na dog\na cat\n")
			}
			w.step()
			<-time.After(10 * time.Second)
		}
		samples := must(w.admin.PoolSamples(w.ctx, main, time.Hour))(t)
		if len(samples) != 4 || samples[1].Queue != 0 || samples[2].Queue != 2 || !samples[2].At.Equal(start.Add(20*time.Second)) || samples[0].CStar != nil || samples[0].Mu != nil {
			t.Errorf("samples: %+v", samples)
		}
		if latest := must(w.admin.PoolSamples(w.ctx, main, 15*time.Second))(t); len(latest) != 1 {
			t.Errorf("%d samples of the last 15 s", len(latest))
		}
		must(w.admin.CreatePool(w.ctx, "night", ""))(t)
		rules := []pool.Rule{{When: "queue > 1", Do: "recruit 2"}, {When: "queue > 5", Do: "release 1"}, {When: "queue == 0", Do: "transfer 3 from night"}}
		out := must(w.admin.TestRules(w.ctx, main, rules))(t)
		if out.Samples != 4 || !out.From.Equal(start) || len(out.Rules) != 3 || len(out.Fired) != 4 {
			t.Fatalf("tested: %+v", out)
		}
		if r := out.Rules[0]; r.Rule != 1 || r.When != "queue > 1" || r.Do != "recruit 2" || r.Fired != 2 || !r.FirstAt.Equal(start.Add(20*time.Second)) || !r.LastAt.Equal(start.Add(30*time.Second)) {
			t.Errorf("rule 1: %+v", r)
		}
		if r := out.Rules[1]; r.Fired != 0 || !r.FirstAt.IsZero() {
			t.Errorf("rule 2: %+v", r)
		}
		if f := out.Fired[0]; f.Rule != 3 || f.Action != "transfer" || f.N != 3 || !f.At.Equal(start) {
			t.Errorf("fired first: %+v", f)
		}
		if f := out.Fired[3]; f.Rule != 1 || f.Action != "recruit" || f.N != 2 || !strings.Contains(f.Why, "queue 2") {
			t.Errorf("fired last: %+v", f)
		}
		if own := must(w.admin.TestRules(w.ctx, main, nil))(t); own.Samples != 4 || len(own.Rules) != 0 {
			t.Errorf("of its own rules: %+v", own)
		}
		w.set(`{"control": {"rules": [{"when": "queue > 1", "do": "recruit 2"}]}}`)
		if own := must(w.admin.TestRules(w.ctx, main, nil))(t); len(own.Rules) != 1 || own.Rules[0].Fired != 2 {
			t.Errorf("of its own rules: %+v", own)
		}
		w.close()
	})
}

// TestRolesOnDuty calls every operation of pools and of duty by those whose it
// is not.
func TestRolesOnDuty(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	looked := 0
	for _, o := range w.operations() {
		of := o.Tags[0]
		if of != "Pools" && of != "Duty" {
			continue
		}
		var by map[string]*client.Client
		switch {
		case slices.Contains([]string{"GET /v1/pools", "GET /v1/pools/metrics-names", "GET /v1/push-key"}, o.name()):
			continue // for everybody
		case o.name() == "DELETE /v1/push-subscriptions/{id}" || o.name() == "GET /v1/push-subscriptions":
			continue // one's own
		case o.name() == "GET /v1/pools/{id}/fairness": // requesters see their own
			by = map[string]*client.Client{"a worker": w.workers[0]}
		case of == "Pools":
			by = map[string]*client.Client{"a requester": w.ann, "a worker": w.workers[0]}
		default:
			by = map[string]*client.Client{"a requester": w.ann, "an admin": w.admin}
		}
		body := bodies[o.name()]
		switch o.name() {
		case "POST /v1/pools":
			body = `{"name": "x"}`
		case "POST /v1/stop":
			body = `{"stopped": true}`
		case "PUT /v1/me/wishes":
			body = `{"away": true}`
		case "POST /v1/push-subscriptions":
			body = subscription
		}
		for who, c := range by {
			looked++
			if a := w.send(c, o.method, strings.ReplaceAll(o.path, "{id}", "p1"), body); a.StatusCode != http.StatusForbidden {
				t.Errorf("%s by %s: status %d: %s", o.name(), who, a.StatusCode, a.body)
			}
		}
	}
	if looked < 40 {
		t.Errorf("only %d cases", looked)
	}
	for _, c := range []*client.Client{w.ann, w.workers[0]} {
		p := must(c.Pools(w.ctx))(t)[0]
		if p.ControlledBy != "" || p.Advises {
			t.Errorf("others see %+v", p)
		}
	}
}

// TestDutyEvents watches a worker's duty.
func TestDutyEvents(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(s *setup) { s.server = http.Server{WriteTimeout: time.Minute} })
		w.set(`{"retainer": {"called": true, "silence_seconds": 0}}`)
		one := w.workers[0]
		req := must(http.NewRequestWithContext(w.ctx, http.MethodGet, one.URL+"/v1/duty/events", nil))(t)
		req.Header.Set("Authorization", "Bearer "+one.Token)
		resp := must(one.HTTP.Do(req))(t)
		if kind := resp.Header.Get("Content-Type"); kind != "text/event-stream" {
			t.Fatalf("content type %q", kind)
		}
		list := make(chan wire.Duty, 100)
		go func() {
			defer close(list)
			lines := bufio.NewScanner(resp.Body)
			for lines.Scan() {
				if data, found := strings.CutPrefix(lines.Text(), "data: "); found {
					var d wire.Duty
					if err := json.Unmarshal([]byte(data), &d); err != nil {
						t.Error(err)
					}
					list <- d
				} else if name, found := strings.CutPrefix(lines.Text(), "event: "); found && name != "duty" {
					t.Errorf("event %q", name)
				}
			}
		}()
		one1 := func(what string) wire.Duty {
			t.Helper()
			synctest.Wait()
			if len(list) != 1 {
				t.Fatalf("%s: %d events", what, len(list))
			}
			<-time.After(time.Second)
			return <-list
		}
		if d := one1("at first"); d.On || d.Called != nil {
			t.Errorf("at first: %+v", d)
		}
		w.set(`{"control": {"min": 1}}`)
		w.step()
		if d := one1("the call"); d.Called == nil || !d.Place {
			t.Errorf("the call: %+v", d)
		}
		must(one.StartDuty(w.ctx))(t)
		if d := one1("on duty"); !d.On || d.Called != nil {
			t.Errorf("on duty: %+v", d)
		}
		if _, _, err := one.Next(w.ctx, 0); err != nil {
			t.Error(err)
		}
		<-time.After(2 * time.Minute)
		if synctest.Wait(); len(list) != 0 {
			t.Errorf("%d events without a change", len(list))
		}
		must(one.EndDuty(w.ctx))(t)
		if d := one1("off duty"); d.On {
			t.Errorf("off duty: %+v", d)
		}
		w.step()
		if d := one1("called again"); d.Called == nil {
			t.Errorf("called again: %+v", d)
		}
		ok(t, one.DeclineCall(w.ctx))
		if d := one1("declined"); d.Called != nil || !d.Place {
			t.Errorf("declined: %+v", d)
		}
		id := must(one.Me(w.ctx))(t).ID
		if a := w.send(w.admin, http.MethodPatch, "/v1/users/"+id.String(), `{"suspended": true}`); a.StatusCode != http.StatusOK {
			t.Fatalf("suspend: %s", a.body)
		}
		w.app.StopWaiting()
		synctest.Wait()
		if _, open := <-list; open {
			t.Error("the stream goes on")
		}
		_ = resp.Body.Close()
		w.close()
	})
}

func TestMetricNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var list []struct{ Name, Unit, Doc string }
	ok(t, json.Unmarshal(w.send(w.ann, http.MethodGet, "/v1/pools/metrics-names", "").body, &list))
	if len(list) != len(pool.Names()) || list[0].Name != "queue" || list[0].Unit != "answers" || list[0].Doc == "" {
		t.Errorf("names: %+v", list)
	}
	// All of them, and nothing else, are in a pool's metrics.
	w.step()
	var detail struct{ Metrics map[string]any }
	ok(t, json.Unmarshal(w.send(w.admin, http.MethodGet, "/v1/pools/p1", "").body, &detail))
	unknown := []string{"c_star", "mu", "recruitment", "utilisation"}
	for _, n := range list {
		if _, there := detail.Metrics[n.Name]; there == slices.Contains(unknown, n.Name) {
			t.Errorf("%s is told: %t", n.Name, there)
		}
	}
	if len(detail.Metrics) != len(list)-len(unknown) {
		t.Errorf("metrics: %v", detail.Metrics)
	}
}
