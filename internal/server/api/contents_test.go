package api_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/wire"
)

// marker matches what stands in cells, answers, labels and known answers of markedWorld,
// and nowhere else.
var marker = regexp.MustCompile(`zq(answer|bad|cell|gold|other|row|second|truth)`)

// markedFlow asks people, checks what they say against known answers, and has a query that
// fails by what is in a row.
const markedFlow = `workflow: Marked
inputs:
  things: {columns: [{id: number}, thing, known]}
steps:
  alive:
    from: {things: stream}
    crowd:
      template: {kind: choose_one, question: "Alive?", options: ["yes", "no"], show: [thing]}
      truth: known
      reward: 0.01
      output: said
  named:
    from: {things: stream}
    crowd:
      template: {kind: short_text, question: "Its name?", show: [thing]}
      reward: 0.01
      output: name
  wrong:
    from: things
    sql: select thing as n from things
    columns: {n: number}
outputs:
  named: {from: named, format: jsonl}
`

// mark makes batch b1 and run r1 of a, with markers in all that is in them: one task of the
// batch has a label, and the run has items that are held, whose error quotes a cell, a step
// that has failed with such an error, and rows that a step has made.
func (w *world) mark(t *testing.T) {
	t.Helper()
	n := definition()
	n.Template = wire.Template(`{"kind": "short_text", "question": "What is ${thing}?"}`)
	b := must(w.ann.CreateBatch(w.ctx, n))(t)
	must(w.ann.Upload(w.ctx, b.ID, strings.NewReader("thing,_gold\nzqcell,zqgold\nzqother,zqgold\n"), "", false))(t)
	must(w.ann.Launch(w.ctx, b.ID, false))(t)
	answer := func(c *client.Client) {
		must3(c.Submit(w.ctx, w.next(c).Assignment, []byte(`{"label": "zqanswer"}`), false, 0))(t)
	}
	answer(w.workers[0])
	must(w.ann.Move(w.ctx, b.ID, "pause"))(t)
	id := w.run(markedFlow, "id,thing,known\n1,zqrow,zqtruth\n2,zqsecond,\nzqbad,x,\n")
	changed, stop, err := w.watchRun(id)
	ok(t, err)
	defer stop()
	for {
		r := must(w.ann.Run(w.ctx, id))(t)
		if node(t, r, "alive").Held == 1 && node(t, r, "wrong").State == "failed" && node(t, r, "named").Batch != 0 {
			break
		}
		<-changed
	}
	for node(t, must(w.ann.Run(w.ctx, id))(t), "named").OK == 0 {
		if work, _, err := w.workers[0].Next(w.ctx, 0); err != nil || work == nil {
			ok(t, err)
			<-changed
		} else if _, _, err := w.workers[0].Submit(w.ctx, work.Assignment, []byte(`{"label": "zqanswer"}`), false, 0); err != nil {
			must3(w.workers[0].Submit(w.ctx, work.Assignment, []byte(`"yes"`), false, 0))(t) // the other question
		}
	}
}

// TestContentsAreNotShownByFigures: who sees batches and runs, how far they are and what they
// cost, and not results, is shown nothing of what is in them, whatever they ask for.
func TestContentsAreNotShownByFigures(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mark(t)
	must(w.admin.CreateRole(w.ctx, wire.NewRole{Name: "counter", Tenant: w.a, Permissions: []string{"batches.read"}}))(t)
	must(w.admin.CreateRole(w.ctx, wire.NewRole{Name: "runner", Tenant: w.a, Permissions: []string{
		"batches.read", "batches.edit", "batches.launch", "budgets.change", "money.read", "fairness.read", "services.read", "audit.read", "retention.change", "people.read", "people.names"}}))(t)
	figures := map[string]*client.Client{
		"counter": w.person(wire.NewUser{Name: "cora", Roles: []string{"n1/counter"}}), "runner": w.person(wire.NewUser{Name: "rita", Roles: []string{"n1/runner"}}),
		"finance": w.person(wire.NewUser{Name: "fay", Roles: []string{"finance"}}), "finance of a": w.person(wire.NewUser{Name: "fred", Roles: []string{"n1/finance"}}),
		"operator": w.person(wire.NewUser{Name: "olga", Roles: []string{"operator"}}), "operator of a": w.person(wire.NewUser{Name: "otto", Roles: []string{"n1/operator"}}),
	}
	ids := map[string]string{"batches": "b1", "runs": "r1", "tenants": "n1", "pools": "p1", "users": "u2"}
	held, granted := map[string]bool{}, map[string]bool{}
	for _, o := range w.operations() {
		if o.method != http.MethodGet {
			continue
		}
		area := strings.Split(o.path, "/")[2]
		id := ids[area]
		if id == "" {
			id = "1"
		}
		for _, step := range []string{"things", "alive", "named", "wrong"} {
			for _, item := range []string{"1", "2"} {
				fill := strings.NewReplacer("{id}", id, "{step}", step, "{input}", "things", "{item}", item, "{output}", "named", "{n}", item, "{assignment}", "a1.1",
					"{worker}", "u4", "{tenant}", "n1", "{provider}", "corp", "{token}", "1", "{name}", "KEY", "{role}", "counter?tenant=n1")
				path := fill.Replace(o.path)
				if (!strings.Contains(o.path, "{step}") && step != "things") || (!strings.Contains(o.path, "{item}") && !strings.Contains(o.path, "{n}") && item != "1") {
					continue
				}
				for _, query := range []string{"", "failed=true&all=true&rows=answers"} {
					if query != "" {
						path += map[bool]string{true: "&", false: "?"}[strings.Contains(path, "?")] + w.known(o, query)
					}
					for who, c := range figures {
						told := w.look(c, o, path, "")
						granted[who] = granted[who] || strings.HasPrefix(told, "200") && area == "batches"
						if found := marker.FindString(told); found != "" {
							t.Errorf("GET %s shows %s what is in it, %q", path, who, found)
						}
					}
					held[o.path] = held[o.path] || marker.MatchString(w.look(w.admin, o, path, ""))
				}
			}
		}
	}
	for _, path := range []string{"/v1/batches/{id}/annotations", "/v1/batches/{id}/results", "/v1/batches/{id}/results/download", "/v1/batches/{id}/labels", "/v1/batches/{id}/preview/{n}", "/v1/batches/{id}/workers/{worker}",
		"/v1/runs/{id}", "/v1/runs/{id}/events", "/v1/runs/{id}/items/{item}", "/v1/runs/{id}/steps/{step}/items", "/v1/runs/{id}/steps/{step}/results", "/v1/runs/{id}/outputs/{output}", "/v1/runs/{id}/faults"} {
		if !held[path] {
			t.Errorf("GET %s shows nothing of it to an administrator: was there anything to see?", path)
		}
	}
	for _, who := range []string{"counter", "runner", "finance", "finance of a"} {
		if !granted[who] {
			t.Errorf("%s sees no batch: the sweep has not looked", who)
		}
	}
	for who, c := range figures { // which step failed they see, and not why
		if r, err := c.Run(w.ctx, 1); err == nil {
			if n := node(t, r, "wrong"); n.State != "failed" || !strings.Contains(n.Blocked, "may see results") {
				t.Errorf("%s sees of the failed step %+v", who, n)
			}
		}
	}
}

// known is a query without the parameters that an operation does not have.
func (w *world) known(o operation, query string) string {
	list := slices.DeleteFunc(strings.Split(query, "&"), func(one string) bool {
		name, _, _ := strings.Cut(one, "=")
		return !slices.ContainsFunc(o.Parameters, func(p struct{ Name, In string }) bool { return p.Name == name && p.In == "query" })
	})
	return strings.Join(list, "&")
}
