package app_test

import (
	"fmt"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/pay"
	"github.com/throng-dev/throng/internal/server/results"
	"github.com/throng-dev/throng/internal/store"
)

// TestWhoDecidedForATenant: people of a tenant are told by name who of them has refused pay, decided an
// appeal, corrected a label or undone what a rule did; who runs the installation is told to them by the
// id alone, and to those who may look at anybody by name.
func TestWhoDecidedForATenant(t *testing.T) {
	t.Parallel()
	for who, name := range map[string]string{"staff of the installation": "", "a requester": "ann", "both": "eve"} {
		t.Run(who, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1)
			by := w.ann
			switch {
			case name == "":
				by = w.person(accounts.NewUser{Name: "hushed", Admin: true})
				name = by.User.ID.String()
			case name == "eve":
				by = w.person(accounts.NewUser{Name: name, Tenants: []crowd.TenantID{w.a}, Roles: []store.HeldRole{{Role: string(access.Operator)}}})
			}
			reader := w.person(accounts.NewUser{Name: "reader", Tenants: []crowd.TenantID{w.a}})
			worker := w.workers[0]

			appealed := w.heldPay(worker, store.PayAppealed, by)
			decided := w.heldPay(worker, store.PayAppealed, w.holding(access.Reviewer, w.a))
			must(w.Pay.Decide(w.ctx, by, decided, false, "no"))(t)
			over := w.over()
			must(w.Results.Correct(w.ctx, by, over, "no", ""))(t)
			rule := w.warn(worker)
			must(w.Batches.UndoQualityAction(w.ctx, by, rule, 1))(t)

			told := func(p *access.Principal) map[string]string {
				list := make(map[string]string)
				first := func(id crowd.AssignmentID) pay.Held {
					_, held, _, err := w.Pay.List(w.ctx, p, pay.Query{Batch: id.Batch(), Limit: 9})
					if ok(t, err); len(held) != 1 {
						t.Fatalf("%s has %d", id, len(held))
					}
					return held[0]
				}
				list["refusal"], list["decision"] = first(appealed).Refusal.ByName, first(decided).Decision.ByName
				appeals, _, err := w.Pay.Appeals(w.ctx, p, pay.Query{Tenant: w.a, Limit: 9})
				if ok(t, err); len(appeals) != 1 {
					t.Fatalf("%d appeals", len(appeals))
				}
				list["appeal"] = appeals[0].Refusal.ByName
				list["correction"] = must(w.Results.Corrections(w.ctx, p, over))(t)[0].ByName
				list["row"] = must(w.Results.List(w.ctx, p, over.Batch(), results.Query{Limit: 9}))(t).Rows[0].Corrected.ByName
				fit := must(w.Results.List(w.ctx, p, over.Batch(), results.Query{Limit: 9, Method: "majority"}))(t)
				view := must(w.Results.Task(w.ctx, p, over, ""))(t)
				list["fitted row"], list["task"], list["its correction"] = fit.Rows[0].Corrected.ByName, view.Row.Corrected.ByName, view.Corrections[0].ByName
				actions, _, err := w.Batches.QualityActions(w.ctx, p, rule, 0, 9)
				ok(t, err)
				list["undone"] = actions[0].UndoneByName
				part := must(w.Results.Worker(w.ctx, p, rule, results.WorkerQuery{Worker: w.pseudonym(w.a, worker), Limit: 9}))(t)
				list["undone of a worker"] = part.Actions[0].UndoneByName
				return list
			}
			for of, got := range told(reader) {
				if got != name {
					t.Errorf("a requester is told %q of who made the %s, want %q", got, of, name)
				}
			}
			for of, got := range told(w.admin) {
				if got != by.User.Name {
					t.Errorf("an admin is told %q of who made the %s", got, of)
				}
			}
		})
	}
}

// TestTheirOwnExportTellsNothingElse than they are told elsewhere: not that an answer of theirs is
// disregarded, by what stands there of it as counted, and not why they were given a label to review. An
// administrator sees all of it.
func TestTheirOwnExportTellsNothingElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	one, two := w.workers[0], w.workers[1]
	of := w.launch(1, reviewed(engine.Review{Share: 1}))
	w.told(one, 1, yes)
	w.told(two, 1, yes) // the review
	id := w.richAnswered(one)
	must(w.Batches.Disregard(w.ctx, w.ann, id, w.pseudonym(w.a, one), true))(t)
	rows := func(p, of *access.Principal, table string) (list []store.PersonalRow) {
		_, all, err := w.Accounts.PersonalData(w.ctx, p, of.User.ID)
		ok(t, err)
		for r, err := range all {
			if ok(t, err); r.Table == table {
				list = append(list, r)
			}
		}
		if len(list) == 0 {
			t.Fatalf("nothing of %s", table)
		}
		return list
	}
	out := 0
	own := rows(one, one, "annotations")
	for i, whole := range rows(w.admin, one, "annotations") {
		mine := own[i].Row
		if whole.Row["disregarded_at"] != nil {
			out++
		}
		if mine["disregarded_at"] != nil || fmt.Sprint(mine["counted"]) != "1" && mine["counted"] != true {
			t.Errorf("they are handed out %v", mine)
		}
	}
	if out == 0 {
		t.Error("nothing of what they answered is disregarded")
	}
	mine, whole := rows(two, two, "reviews")[0].Row, rows(w.admin, two, "reviews")[0].Row
	if mine["why"] != nil || whole["why"] == nil || mine["task"] != of.Task(1).String() || mine["review"] == nil {
		t.Errorf("a reviewer is handed out %v, an administrator %v", mine, whole)
	}
}
