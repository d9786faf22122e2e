package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/limits"
	"github.com/throng-dev/throng/internal/store"
)

// atOnce is a change that several people make at the same moment, each time to something else.
type atOnce struct {
	operations string // those that it calls, with spaces between
	// ready makes what is changed, and returns the n-th change. It may be refused as it conflicts with another one.
	ready func(w *world) (change func(n int) error)
	// once are fields that say something of the change itself, not of what was changed.
	once string
}

// changesAtOnce has the operations that tell the audit log what was before.
var changesAtOnce = []atOnce{
	{"Retention.Set", func(w *world) func(int) error {
		return func(n int) error {
			return second(w.Retention.Set(w.ctx, w.ann, w.a, map[store.Retained]*int{store.RetainedLogs: days(900 + n)}))
		}
	}, ""},
	{"Tenants.SetQuotas", func(w *world) func(int) error {
		return func(n int) error {
			value := int64(500 + n)
			return second(w.Tenants.SetQuotas(w.ctx, w.admin, w.a, func([]limits.QuotaView) (map[store.Quota]*int64, error) {
				return map[store.Quota]*int64{store.OpenRuns: &value}, nil
			}))
		}
	}, ""},
	{"Tenants.Update", func(w *world) func(int) error {
		return func(n int) error {
			weight := float64(n + 2)
			return second(w.Tenants.Update(w.ctx, w.admin, w.a, accounts.TenantEdit{Weight: &weight}))
		}
	}, ""},
	{"Tenants.PutSecret Tenants.DeleteSecret", func(w *world) func(int) error {
		return func(n int) error {
			if n%4 == 3 {
				return w.Tenants.DeleteSecret(w.ctx, w.ann, w.a, "KEY")
			}
			return w.Tenants.PutSecret(w.ctx, w.ann, w.a, store.TenantSecret{Name: "KEY", Value: "s3cret", Hosts: []string{fmt.Sprintf("h%d.example", n)}})
		}
	}, "name replaced"},
	{"Services.Change", func(w *world) func(int) error {
		must(w.Services.Declare(w.ctx, w.admin, "scores", someService("http://x", 1, w.a)))(w.t)
		return func(n int) error {
			edit := someService(fmt.Sprintf("http://x%d", n), n+2, w.a)
			return second(w.Services.Change(w.ctx, w.admin, "scores", edit.Apply))
		}
	}, ""},
	{"Pools.Change", func(w *world) func(int) error {
		return func(n int) error {
			return second(w.Pools.Change(w.ctx, w.admin, w.pool, func(x *store.Pool) error { x.Name = fmt.Sprintf("pool %d", n); return nil }))
		}
	}, ""},
	{"Pools.StopEverything", func(w *world) func(int) error {
		w.other()
		return func(n int) error { return w.Pools.StopEverything(w.ctx, w.admin, n%2 == 0) }
	}, ""},
	{"Transfers.Move", func(w *world) func(int) error {
		pools := []crowd.PoolID{w.pool, w.other()}
		return func(n int) error {
			return second(w.Transfers.Move(w.ctx, w.admin, w.workers[0].User.ID, pools[(n+1)%2]))
		}
	}, ""},
	{"Transfers.Move", func(w *world) func(int) error { // of somebody who holds a task
		pools := []crowd.PoolID{w.other(), w.newPool("third", "fifo").ID, w.newPool("fourth", "fifo").ID}
		w.launch(1)
		w.next(w.workers[0])
		return func(n int) error {
			return second(w.Transfers.Move(w.ctx, w.admin, w.workers[0].User.ID, pools[n%3]))
		}
	}, ""},
	{"Tests.Retire", func(w *world) func(int) error {
		id := w.test().ID
		return func(n int) error { return second(w.Tests.Retire(w.ctx, w.admin, id, n%2 == 0)) }
	}, ""},
	{"Accounts.ChangeRole", func(w *world) func(int) error {
		h := store.HeldRole{Role: w.role(w.a, "ours"), Tenant: w.a}
		return func(n int) error {
			return second(w.Accounts.ChangeRole(w.ctx, w.admin, h, accounts.RoleEdit{Text: ptr(fmt.Sprint("of ", n))}.Apply))
		}
	}, ""},
	{"Accounts.GiveRole Accounts.TakeRole", func(w *world) func(int) error {
		h := store.HeldRole{Role: w.role(w.a, "ours"), Tenant: w.a}
		return func(n int) error {
			if n%2 == 0 {
				return second(w.Accounts.GiveRole(w.ctx, w.admin, w.ann.User.ID, h))
			}
			return second(w.Accounts.TakeRole(w.ctx, w.admin, w.ann.User.ID, h))
		}
	}, ""},
	{"Accounts.ChangeUser", func(w *world) func(int) error {
		return func(n int) error {
			return second(w.Accounts.ChangeUser(w.ctx, w.admin, w.workers[0].User.ID, func(u *store.User) error { u.FullName = fmt.Sprint("Ann ", n); return nil }))
		}
	}, ""},
	{"Accounts.BlockWorker", func(w *world) func(int) error {
		who := w.pseudonym(w.a, w.workers[0])
		return func(n int) error { return w.Accounts.BlockWorker(w.ctx, w.ann, w.a, who, n%2 == 0) }
	}, ""},
	{"Batches.Change", func(w *world) func(int) error {
		id := w.launch(3)
		return func(n int) error {
			return second(w.Batches.Change(w.ctx, w.ann, id, func(x *batches.RunningSettings) error { x.Priority = float64(n + 2); return nil }))
		}
	}, ""},
	{"Batches.Pause Batches.Resume", func(w *world) func(int) error {
		id := w.launch(3)
		return func(n int) error {
			if n%2 == 0 {
				return second(w.Batches.Pause(w.ctx, w.ann, id))
			}
			return second(w.Batches.Resume(w.ctx, w.ann, id))
		}
	}, ""},
	{"Batches.EditDraft", func(w *world) func(int) error {
		id := w.draft(2)
		return func(n int) error {
			return second(w.Batches.EditDraft(w.ctx, w.ann, id, func(b *batches.NewBatch) error { b.Name = fmt.Sprint("things ", n); return nil }))
		}
	}, ""},
	{"Runs.Start Runs.Pause Runs.Resume Runs.Cancel", func(w *world) func(int) error {
		made := must(w.Runs.Make(w.ctx, w.ann, orchestrator.NewRun{Tenant: w.a, Text: oneStep}))(w.t)
		id := made.Run.ID
		must(w.Runs.Load(w.ctx, w.ann, id, "things", file(w.t, thingsWithID(3))))(w.t)
		return func(n int) error {
			switch {
			case n == 0:
				return second(w.Runs.Start(w.ctx, w.ann, id, false))
			case n == rounds*people-1:
				return second(w.Runs.Cancel(w.ctx, w.ann, id))
			case n%2 == 0:
				return second(w.Runs.Resume(w.ctx, w.ann, id))
			}
			return second(w.Runs.Pause(w.ctx, w.ann, id))
		}
	}, ""},
	{"Results.Correct Results.Withdraw", func(w *world) func(int) error {
		id := w.over()
		return func(n int) error {
			if n%4 == 3 {
				return second(w.Results.Withdraw(w.ctx, w.ann, id, ""))
			}
			return second(w.Results.Correct(w.ctx, w.ann, id, []string{"yes", "no"}[n%2], fmt.Sprint("look ", n)))
		}
	}, "task withdrawn"},
}

// In so many rounds so many people make a change at once.
const rounds, people = 3, 8

// oneAtATime has the other operations that tell the audit log what was before, and why each needs no test with others
// at the same moment.
var oneAtATime = map[string]string{
	"Batches.AddTasks":          "the engine's command tells it, as for Batches.Change",
	"Batches.RemoveTask":        "the engine's command tells it, as for Batches.Change",
	"Batches.End":               "the engine's command tells it, as for Batches.Change",
	"Batches.TopUp":             "the engine's command tells it, as for Batches.Change",
	"Batches.Launch":            "the engine's command tells it, as for Batches.Change",
	"Batches.Cancel":            "it is told under the draft's lock, as for Batches.EditDraft, or by the engine's command",
	"Batches.UndoQualityAction": "a second one is refused by the store",
	"Invitations.Withdraw":      "a second one is refused by the store",
	"Invitations.Accept":        "a second one is refused by the store",
	"Invitations.Resend":        "a second one is refused by the store",
	"Accounts.RemoveRole":       "there is one, which is gone then",
	"Accounts.RevokeToken":      "there is one, which is gone then",
	"Provisioning.RevokeToken":  "there is one, which is gone then",
	"Provisioning.RemoveGroup":  "there is one, which is gone then",
	"Provisioning.Remove":       "there is one, which is gone then",
	"Services.Remove":           "there is one, which is gone then",
	"Provisioning.Change":       "it is told under the lock of all that providers write",
	"Provisioning.ChangeGroup":  "it is told under the lock of all that providers write",
	"Tenants.Change":            "it goes the way of Tenants.Update",
	"Duty.ChangeWishes":         "it goes the way of Accounts.ChangeUser",
	"Pools.Grant":               "it goes the way of Pools.Change",
	"Pools.Revoke":              "it goes the way of Pools.Change",
}

// testedAtOnce reports whether an operation may tell what was before.
func testedAtOnce(name string) bool {
	return oneAtATime[name] != "" || slices.ContainsFunc(changesAtOnce, func(x atOnce) bool { return slices.Contains(strings.Fields(x.operations), name) })
}

// TestBeforeIsWhatTheEntryBeforeMade: whoever changes something at the same moment, each entry of
// the audit log says that it was before as the entry before says that it has become.
func TestBeforeIsWhatTheEntryBeforeMade(t *testing.T) {
	t.Parallel()
	for _, x := range changesAtOnce {
		t.Run(x.operations, func(t *testing.T) {
			w := newWorld(t, 1)
			w.t = t
			change := x.ready(w)
			last := must(w.store.CheckAudit(w.ctx))(t).Last
			for round := range rounds {
				var all sync.WaitGroup
				begin := make(chan struct{})
				for i := range people {
					all.Go(func() {
						<-begin
						if err := change(round*people + i); err != nil {
							refused(t, err, crowd.CodeOf(err))
							if code := crowd.CodeOf(err); code != crowd.Conflict && code != crowd.NotFound {
								t.Error(err)
							}
						}
					})
				}
				close(begin)
				all.Wait()
			}
			told := history{once: strings.Fields(x.once), now: map[string]string{}}
			for _, e := range must(w.store.AuditEntries(w.ctx, store.AuditFilter{After: last, Limit: 1000}))(t) {
				if strings.Contains(" "+x.operations+" ", " "+e.Operation+" ") && !(e.Kind == "service" && e.Tenant != 0) {
					told.add(t, &e)
				}
			}
			if told.entries < 2 || told.differ < 2 {
				t.Errorf("%d entries, %d of them tell something", told.entries, told.differ)
			}
		})
	}
}

// history is what is known of a thing by the entries about it.
type history struct {
	once    []string
	now     map[string]string // fields by path, as JSON; "": it is not there
	entries int
	differ  int
}

// add compares an entry with those before it.
func (h *history) add(t *testing.T, e *store.AuditEntry) {
	t.Helper()
	before, after := h.fields(t, e.Before), h.fields(t, e.After)
	h.entries++
	if len(before)+len(after) > 0 {
		h.differ++
	}
	for name := range merge(before, after) {
		if was, known := h.now[name]; known && was != before[name] {
			t.Errorf("entry %d, %s: %s -> %s: %s was %q before", e.Number, e.Operation, e.Before, e.After, name, was)
		}
		h.now[name] = after[name]
	}
}

// fields are those of one side of an entry.
func (h *history) fields(t *testing.T, side json.RawMessage) map[string]string {
	t.Helper()
	all := make(map[string]string)
	if len(side) == 0 {
		return all
	}
	var add func(path string, v json.RawMessage)
	add = func(path string, v json.RawMessage) {
		var inner map[string]json.RawMessage
		if !bytes.HasPrefix(v, []byte("{")) || json.Unmarshal(v, &inner) != nil {
			all[path] = string(v)
			return
		}
		for name, x := range inner {
			add(strings.TrimPrefix(path+"."+name, "."), x)
		}
	}
	add("", side)
	for _, name := range h.once {
		delete(all, name)
	}
	return all
}

func merge(a, b map[string]string) map[string]bool {
	names := make(map[string]bool)
	for name := range a {
		names[name] = true
	}
	for name := range b {
		names[name] = true
	}
	return names
}

// TestWhatWasBeforeIsTold: of labels that are corrected, secrets and services the log says what they
// were, and never a value of a secret. What changes nothing leaves no entry.
func TestWhatWasBeforeIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	task := w.over()
	must(w.Services.Declare(w.ctx, w.admin, "scores", someService("http://x", 1)))(t)
	last := must(w.store.CheckAudit(w.ctx))(t).Last
	told := func(err error, want ...string) {
		t.Helper()
		ok(t, err)
		var got []string
		for _, e := range must(w.store.AuditEntries(w.ctx, store.AuditFilter{After: last, Limit: 100}))(t) {
			last = e.Number
			got = append(got, fmt.Sprintf("%s %s -> %s", e.Operation, e.Before, e.After))
		}
		if !slices.Equal(got, want) {
			t.Errorf("told is %q, want %q", got, want)
		}
	}
	correct := func(value string) error { return second(w.Results.Correct(w.ctx, w.ann, task, value, "look")) }
	withdraw := func() error { return second(w.Results.Withdraw(w.ctx, w.ann, task, "")) }
	secret := func(value string, hosts ...string) error {
		return w.Tenants.PutSecret(w.ctx, w.ann, w.a, store.TenantSecret{Name: "KEY", Value: value, Hosts: hosts})
	}
	told(withdraw())
	told(correct("yes"), `Results.Correct  -> {"label":"yes","task":"`+task.String()+`"}`)
	told(correct("yes"))
	told(correct("no"), `Results.Correct {"label":"yes"} -> {"label":"no","task":"`+task.String()+`"}`)
	told(withdraw(), `Results.Withdraw {"label":"no"} -> {"task":"`+task.String()+`","withdrawn":true}`)
	told(withdraw())
	told(secret("one", "a.example"), `Tenants.PutSecret  -> {"hosts":["a.example"],"name":"KEY"}`)
	told(secret("two", "a.example"), `Tenants.PutSecret {} -> {"name":"KEY","replaced":true}`)
	told(secret("two", "b.example"), `Tenants.PutSecret {"hosts":["a.example"]} -> {"hosts":["b.example"],"name":"KEY","replaced":true}`)
	told(w.Tenants.DeleteSecret(w.ctx, w.ann, w.a, "KEY"), `Tenants.DeleteSecret {"hosts":["b.example"],"name":"KEY"} -> `)
	service := must(w.store.Service(w.ctx, "scores"))(t)
	told(w.Services.Remove(w.ctx, w.admin, "scores"), `Services.Remove {"concurrency":1,"created_at":"`+service.CreatedAt.UTC().Format("2006-01-02T15:04:05.999999Z07:00")+`","name":"scores","url":"http://x"} -> `)
}
