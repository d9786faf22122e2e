package web

import (
	"cmp"
	"net/url"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/pay"
	"github.com/throng-dev/throng/internal/store"
)

// payShown is how much held pay a page lists.
const payShown = 100

// approvalOf goes over how the pay of a batch is approved. Without a time it is not.
func (b binding) approvalOf(v **engine.Approval) {
	var x engine.Approval
	if *v != nil {
		x = **v
	}
	b.spanIfAny("approval.within", &x.Within, time.Hour)
	b.spanIfAny("approval.appeal", &x.Appeal, 24*time.Hour)
	if b.filling {
		return
	}
	if *v = nil; x != (engine.Approval{}) {
		*v = &x
	}
}

// payState says how far it is with held pay.
func payState(s store.PayState) string {
	switch s {
	case store.PayAwaiting:
		return "awaits approval"
	case store.PayReturned:
		return "not paid"
	}
	return string(s)
}

// after reads after which answer a page goes on.
func (rq *request) after() (crowd.AssignmentID, error) {
	text := rq.r.URL.Query().Get("after")
	if text == "" {
		return 0, nil
	}
	return crowd.ParseAssignmentID(text)
}

// wantedState reads which state a page shows, and is "" for none that there is.
func (rq *request) wantedState(usual store.PayState) store.PayState {
	asked := rq.r.URL.Query().Get("state")
	switch {
	case asked == "all":
		return ""
	case slices.Contains(store.AllPayStates(), store.PayState(asked)):
		return store.PayState(asked)
	}
	return usual
}

// heldPay lists pay of a batch that was held for approval: at first that which awaits it.
func (rq *request) heldPay(id crowd.BatchID) error {
	after, err := rq.after()
	if err != nil {
		return err
	}
	worker := cmp.Or(rq.r.URL.Query().Get("worker"), rq.r.PostForm.Get("worker"))
	q := pay.Query{Batch: id, State: rq.wantedState(store.PayAwaiting), Worker: worker, After: after, Limit: payShown}
	b, list, more, err := rq.App.Pay.List(rq.ctx(), rq.p, q)
	if err != nil {
		return err
	}
	path := "/batches/" + id.String() + "/pay"
	to := func(state string, after crowd.AssignmentID) string {
		values := url.Values{"state": {cmp.Or(state, "all")}}
		if worker != "" {
			values.Set("worker", worker)
		}
		if after != 0 {
			values.Set("after", after.String())
		}
		return path + "?" + values.Encode()
	}
	data := map[string]any{"B": b, "List": list, "State": string(q.State), "Worker": worker, "Path": path, "First": after == 0,
		"Chosen": rq.r.PostForm["assignment"], "All": to("", 0),
		"States": lists.Map(store.AllPayStates(), func(s store.PayState) choice { return choice{to(string(s), 0), string(s)} })}
	if more {
		data["Next"] = to(string(q.State), list[len(list)-1].Assignment)
	}
	return rq.render("pay", page{Title: "Pay", Section: "batches", Data: data})
}

// decidePay approves or refuses the pay of the answers that are ticked, or of all of one worker that await it.
func (rq *request) decidePay(id crowd.BatchID) error {
	f := rq.sent()
	var c pay.Choice
	if f.text("all") != "" {
		c.Worker = f.text("worker")
	} else {
		for _, text := range rq.r.PostForm["assignment"] {
			a, err := crowd.ParseAssignmentID(text)
			if err != nil {
				return err
			}
			c.Assignments = append(c.Assignments, a)
		}
	}
	if len(c.Assignments) == 0 && c.Worker == "" {
		return crowd.Errorf(crowd.Invalid, "tick the answers of whose pay you decide")
	}
	var err error
	did := "approved"
	if f.text("do") == "refuse" {
		_, err = rq.App.Pay.Refuse(rq.ctx(), rq.p, id, c, f.text("reason"))
		did = "pay-refused"
	} else {
		_, err = rq.App.Pay.Approve(rq.ctx(), rq.p, id, c)
	}
	return rq.done(err, "/batches/"+id.String()+"/pay", did)
}

// appeals lists the appeals that nobody has decided.
func (rq *request) appeals() error {
	after, err := rq.after()
	if err != nil {
		return err
	}
	tenant, err := rq.p.Tenant(0)
	if err != nil { // of several: all of them are shown together, one after the other
		return rq.appealsOf(after, rq.p.Tenants())
	}
	return rq.appealsOf(after, []crowd.TenantID{tenant})
}

func (rq *request) appealsOf(after crowd.AssignmentID, tenants []crowd.TenantID) error {
	var all []pay.Held
	more := false
	for _, tenant := range tenants {
		list, rest, err := rq.App.Pay.Appeals(rq.ctx(), rq.p, pay.Query{Tenant: tenant, After: after, Limit: payShown})
		if crowd.CodeOf(err) == crowd.Forbidden && len(tenants) > 1 {
			continue // of that one they may not see them
		} else if err != nil {
			return err
		}
		all, more = append(all, list...), more || rest
	}
	slices.SortFunc(all, func(x, y pay.Held) int { return cmp.Compare(x.Assignment, y.Assignment) })
	if more = more || len(all) > payShown; len(all) > payShown {
		all = all[:payShown]
	}
	data := map[string]any{"List": all, "First": after == 0}
	if more {
		data["Next"] = "/appeals?after=" + all[len(all)-1].Assignment.String()
	}
	return rq.render("appeals", page{Title: "Appeals", Section: "batches", Data: data})
}

// decideAppeal decides an appeal.
func (rq *request) decideAppeal() error {
	f := rq.sent()
	id, err := crowd.ParseAssignmentID(f.text("assignment"))
	if err != nil {
		return err
	}
	pays := f.text("do") == "grant"
	_, err = rq.App.Pay.Decide(rq.ctx(), rq.p, id, pays, f.text("text"))
	return rq.done(err, "/appeals", map[bool]string{true: "granted", false: "upheld"}[pays])
}

// ownPay shows a worker what of their pay was held, and what became of it.
func (rq *request) ownPay() error {
	after, err := rq.after()
	if err != nil {
		return err
	}
	sums := ask(rq, rq.App.Pay.Sums)
	q := pay.Query{State: rq.wantedState(""), After: after, Limit: payShown}
	list, more, err := rq.App.Pay.Own(rq.ctx(), rq.p, q)
	if err != nil {
		return err
	}
	data := map[string]any{"Sums": sums, "List": list, "First": after == 0, "State": string(q.State)}
	if more {
		data["Next"] = "/work/pay?" + url.Values{"state": {cmp.Or(string(q.State), "all")}, "after": {list[len(list)-1].Assignment.String()}}.Encode()
	}
	return rq.render("ownpay", page{Title: "Pay", Section: "earnings", Data: data})
}

// appeal appeals against the refusal of the worker's pay.
func (rq *request) appeal() error {
	f := rq.sent()
	id, err := crowd.ParseAssignmentID(f.text("assignment"))
	if err != nil {
		return err
	}
	_, err = rq.App.Pay.Appeal(rq.ctx(), rq.p, id, f.text("text"))
	return rq.done(err, "/work/pay", "appealed")
}
