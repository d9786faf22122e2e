package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/label"
)

func testTenants(t *testing.T, w *world) {
	entity[store.Tenant, crowd.TenantID]{
		some:   []store.Tenant{{Name: "Élan", Weight: 0.1, Stopped: true, CreatedAt: w.now}, {Name: "bare", Weight: 1}, {Name: "spare", Weight: 1}},
		create: given(w, func(ctx context.Context, x store.Tenant) (crowd.TenantID, error) { return w.CreateTenant(ctx, x, 0) }), get: unowned(w, w.Tenant), update: changed(w, w.UpdateTenant),
		list: single[crowd.TenantID](w, w.ListTenants),
		change: []func(*store.Tenant){
			func(x *store.Tenant) {
				x.Name, x.Weight, x.Stopped, x.CreatedAt = "renamed", 7, false, w.now.Add(time.Second)
			},
			func(x *store.Tenant) { x.Stopped = true },
		},
		bad: map[string]spoiled[store.Tenant]{"a name that is taken": {func(x *store.Tenant) { x.Name = "mine" }, crowd.Conflict}},
	}.check(t, w)

	rich := must(w.CreateTenant(w.ctx, store.Tenant{Name: "rich", Weight: 1, CreatedAt: w.now}, 5*crowd.Unit))(t)
	same(t, "the balance", must(w.Balance(w.ctx, tenantAccount(rich)))(t), 5*crowd.Unit)
	if entries := must(w.Entries(w.ctx, tenantAccount(rich), 0, 9))(t); len(entries) != 1 || entries[0].Amount != 5*crowd.Unit || entries[0].Kind != engine.Deposit || !entries[0].At.Equal(w.now) {
		t.Errorf("the account: %+v", entries)
	}
	for name, deposit := range map[string]crowd.Money{"poor": -1, "too rich": crowd.MaxMoney + 1} {
		w.unchanged(t, func() {
			_, err := w.CreateTenant(w.ctx, store.Tenant{Name: name, Weight: 1}, deposit)
			refused(t, err, crowd.Invalid)
		})
	}
	w.unchanged(t, func() {
		_, err := w.CreateTenant(w.ctx, store.Tenant{Name: "rich", Weight: 1}, crowd.Unit)
		refused(t, err, crowd.Conflict)
	})
}

// ada is a user with everything.
func (w *world) ada() store.User {
	return store.User{
		Name: "Ada@Example.org", FullName: "Ada <L>", Email: "ada@example.org", EmailVerified: true, EmailBy: "corp", PasswordHash: "$argon2$", Admin: true, Pool: w.pool, Suspended: true,
		CreatedAt: w.now, Tenants: []crowd.TenantID{w.mine, w.other}, Roles: []store.HeldRole{{Role: "viewer"}, {Role: "checker", Tenant: w.other}}, Qualifications: map[string]int{"birds": 90, "": 0}, Granted: []engine.Grant{{Tenant: w.other, Name: "<fish>", Score: 70}}, BlockedBy: []crowd.TenantID{w.mine}, Serves: []crowd.TenantID{w.mine, w.other},
		Prefers: map[crowd.PoolID]float64{w.pool: 0.1, w.pool + 1: 0}, Away: true, NoMail: true, MovesTo: w.pool + 7, Home: w.pool + 3, MovedAt: w.now, SuspendedBy: "corp",
	}
}

func testUsers(t *testing.T, w *world) {
	requester, spare := w.ada(), w.ada()
	requester.Name, requester.Tenants, requester.Roles, requester.BlockedBy = "b", nil, []store.HeldRole{{Role: "viewer", Tenant: w.other}}, nil
	spare.Name = "spare"
	entity[store.User, crowd.WorkerID]{
		some:   []store.User{w.ada(), {Name: "plain"}, requester, {Name: "to be more"}, spare},
		create: given(w, w.CreateUser), get: unowned(w, w.User), update: changed(w, w.UpdateUser),
		list:   pages(w, 1, w.ListUsers),
		of:     []int64{0, int64(w.mine), int64(w.other), 99},
		within: func(x store.User, of int64) bool { return of == 0 || slices.Contains(x.StaffOf(), crowd.TenantID(of)) },
		change: []func(*store.User){
			func(x *store.User) {
				*x = store.User{ID: x.ID, Name: "ADA@example.org", Tenants: []crowd.TenantID{w.other}}
			},
			func(x *store.User) {
				x.Tenants, x.Roles = []crowd.TenantID{w.mine}, []store.HeldRole{{Role: "launcher", Tenant: w.mine}}
			},
			func(x *store.User) { x.Qualifications["fish"], x.Granted, x.Prefers = 5, nil, nil },
			func(x *store.User) { id := x.ID; *x = w.ada(); x.ID, x.Name = id, "more" },
		},
		bad: map[string]spoiled[store.User]{
			"a name that is taken": {func(x *store.User) { x.Name = "WORKER1" }, crowd.Conflict},
			"an unknown tenant":    {func(x *store.User) { x.Tenants = []crowd.TenantID{w.mine, 99} }, crowd.NotFound},
			"an unknown blocker":   {func(x *store.User) { x.BlockedBy = []crowd.TenantID{99} }, crowd.NotFound},
		},
	}.check(t, w)
}

func (w *world) token(hash string, user int) store.Token {
	return store.Token{
		Hash: hash, Kind: store.SessionToken, User: w.workers[user], Tenant: w.mine, Roles: []string{"worker", "requester"}, Name: "laptop", Scopes: []string{"stop", "work"},
		Networks:  []string{"10.1.0.0/16", "2001:db8::1/128"},
		CreatedAt: w.now, ExpiresAt: w.now.Add(time.Hour), FactorElsewhere: true,
	}
}

func testTokens(t *testing.T, w *world) {
	entity[store.Token, int64]{
		some:   []store.Token{w.token("b", 0), {Hash: "bare", Kind: store.SetupToken, User: w.workers[3]}, w.token("c", 1), w.token("a", 0), w.token("spare", 0)},
		create: given(w, w.CreateToken), remove: func(x store.Token) error { return gone(w.DeleteToken(w.ctx, x.User, x.ID)) },
		list:   whole[int64](w, w.ListTokens),
		of:     []int64{int64(w.workers[0]), int64(w.workers[1]), int64(w.workers[2]), int64(w.workers[3])},
		within: func(x store.Token, of int64) bool { return x.User == crowd.WorkerID(of) },
		badNew: map[string]spoiled[store.Token]{
			"a hash that is taken": {func(x *store.Token) { x.Hash = "c" }, crowd.Conflict},
			"an unknown user":      {func(x *store.Token) { x.User = 99 }, crowd.NotFound},
		},
		badNow: map[string]spoiled[store.Token]{"another's": {func(x *store.Token) { x.User = w.workers[1] }, crowd.NotFound}},
	}.check(t, w)

	// How many for programs one person has is bounded, whoever they work for. Those that have
	// ended do not count.
	program := func(n int, ends time.Time) error {
		t := w.token(fmt.Sprint("program ", n), 2)
		t.Kind, t.Tenant, t.ExpiresAt = store.APIToken, 0, ends
		_, err := w.CreateToken(w.ctx, t)
		return err
	}
	ok(t, program(-1, w.now))
	for n := range store.MaxTokens {
		ok(t, program(n, time.Time{}))
	}
	refused(t, program(store.MaxTokens, time.Time{}), crowd.QuotaExceeded)
	same(t, "all of them", len(must(w.ListTokens(w.ctx, w.workers[2]))(t)), store.MaxTokens+1)

	// Of one person's sessions the oldest ends when there are too many; tokens for programs and
	// other people's sessions stay.
	before := len(must(w.ListTokens(w.ctx, w.workers[1]))(t))
	session := func(n int, whose int) int64 {
		x := w.token(fmt.Sprint("session ", whose, n), whose)
		x.Kind, x.Tenant, x.CreatedAt = store.SessionToken, 0, w.now.Add(time.Duration(n)*time.Second)
		return must(w.CreateToken(w.ctx, x))(t)
	}
	session(-1, 1)
	var ids []int64
	for n := range store.MaxSessions + 3 {
		ids = append(ids, session(n, 2))
	}
	var left []int64
	for _, x := range must(w.ListTokens(w.ctx, w.workers[2]))(t) {
		if x.Kind == store.SessionToken {
			left = append(left, x.ID)
		}
	}
	slices.Sort(left)
	same(t, "sessions that are left", left, ids[3:])
	same(t, "tokens that are left, and the sessions", len(must(w.ListTokens(w.ctx, w.workers[2]))(t)), store.MaxTokens+1+store.MaxSessions)
	same(t, "those of another person", len(must(w.ListTokens(w.ctx, w.workers[1]))(t)), before+1)
}

func testPools(t *testing.T, w *world) {
	full := w.onCall("second")
	full.Policy, full.Stopped = "wcfs(wfs,k=3)", true
	entity[store.Pool, crowd.PoolID]{
		some:   []store.Pool{full, {Name: "bare"}, w.onCall("spare")},
		create: given(w, w.CreatePool), get: unowned(w, w.Pool), update: changed(w, w.UpdatePool),
		list: single[crowd.PoolID](w, w.ListPools),
		change: []func(*store.Pool){
			func(x *store.Pool) { *x = store.Pool{ID: x.ID, Name: "renamed"} },
			func(x *store.Pool) {
				id := x.ID
				*x = w.onCall("now on call")
				x.ID, x.Policy, x.Stopped = id, "edf", true
			},
		},
		bad: map[string]spoiled[store.Pool]{"a name that is taken": {func(x *store.Pool) { x.Name = "crowd" }, crowd.Conflict}},
	}.check(t, w)
}

func testCalls(t *testing.T, w *world) {
	second := must(w.CreatePool(w.ctx, store.Pool{Name: "second"}))(t)
	full := store.Call{Pool: w.pool, At: w.now, EndsAt: w.now.Add(time.Minute), Wanted: 5, Came: 2, State: store.CallExpired, EndedAt: w.now.Add(time.Hour)}
	open := store.Call{Pool: w.pool, State: store.CallOpen}
	elsewhere, spare := open, full
	elsewhere.Pool = second
	ends := func(state store.CallState) func(*store.Call) {
		return func(x *store.Call) { x.State, x.EndedAt = state, w.now.Add(time.Hour) }
	}
	entity[store.Call, int64]{
		some:   []store.Call{full, open, elsewhere, open, open, spare},
		create: given(w, w.CreateCall), get: unowned(w, w.Call),
		update: func(x store.Call) error { return w.UpdateCall(w.ctx, x, nil) },
		list:   whole[int64](w, w.OpenCalls),
		of:     []int64{0, int64(w.pool), int64(second), 99},
		within: func(x store.Call, of int64) bool {
			return x.State == store.CallOpen && (of == 0 || x.Pool == crowd.PoolID(of))
		},
		change: []func(*store.Call){
			func(x *store.Call) { x.State, x.EndedAt = store.CallOpen, time.Time{} }, // again
			func(x *store.Call) {
				x.Pool, x.At, x.EndsAt, x.Wanted, x.Came, x.State, x.EndedAt = second, w.now.Add(1*time.Hour), w.now.Add(2*time.Hour), 8, 9, store.CallWithdrawn, w.now.Add(3*time.Hour)
			},
			ends(store.CallFilled), ends(store.CallExpired), ends(store.CallWithdrawn),
		},
		bad: map[string]spoiled[store.Call]{"no pool": {func(x *store.Call) { x.Pool = 99 }, crowd.NotFound}},
	}.check(t, w)
}

func testMessages(t *testing.T, w *world) {
	entity[store.Message, int64]{
		some: []store.Message{
			w.message(0, 1, 5), {Worker: w.workers[0], State: store.MessageQueued}, w.message(1, 2, 4), w.message(2, 1, 3), w.message(3, 0, 2), w.message(0, 1, 1), w.message(0, 0, 0),
		},
		create: func(x store.Message) (int64, error) {
			if err := w.PutNotices(w.ctx, nil, []store.Message{x}); err != nil {
				return 0, err
			}
			return must(w.ListMessages(w.ctx, 0, 0, 1))(t)[0].ID, nil
		},
		update: changed(w, w.UpdateMessage),
		list:   pages(w, -1, w.ListMessages),
		of:     []int64{0, 1, 2, 99},
		within: func(x store.Message, of int64) bool { return of == 0 || x.Call == of },
		change: []func(*store.Message){
			func(x *store.Message) {
				*x = store.Message{
					ID: x.ID, Worker: w.workers[2], Channel: store.Push, Target: "17", Subject: "s", Body: "b", Link: "/", Call: 3, State: store.MessageFailed,
					CreatedAt: w.now.Add(1 * time.Second), UselessAt: w.now.Add(2 * time.Second), NextAt: w.now.Add(3 * time.Second), SentAt: w.now.Add(4 * time.Second),
					Tries: 6, Error: "550 <no such user>", Invitation: 12,
				}
			},
			func(x *store.Message) { x.State, x.SentAt = store.MessageSent, w.now },
			func(x *store.Message) { *x = store.Message{ID: x.ID, Worker: w.workers[0], State: store.MessageQueued} },
		},
		bad: map[string]spoiled[store.Message]{"nobody": {func(x *store.Message) { x.Worker = 99 }, crowd.NotFound}},
	}.check(t, w)
}

func testSubscriptions(t *testing.T, w *world) {
	entity[store.Subscription, int64]{
		some:   []store.Subscription{w.subscription(0, "c"), {Worker: w.workers[1], Endpoint: "b"}, w.subscription(0, "a"), w.subscription(0, "spare")},
		create: given(w, w.PutSubscription), remove: func(x store.Subscription) error { return w.DeleteSubscription(w.ctx, x.Worker, x.ID) },
		list:   whole[int64](w, w.Subscriptions),
		of:     []int64{int64(w.workers[0]), int64(w.workers[1]), 99},
		within: func(x store.Subscription, of int64) bool { return x.Worker == crowd.WorkerID(of) },
		badNew: map[string]spoiled[store.Subscription]{
			"nobody's":                  {func(x *store.Subscription) { x.Worker = 99 }, crowd.NotFound},
			"one that replaces another": {func(x *store.Subscription) { x.Worker, x.Endpoint = 99, "a" }, crowd.NotFound}, // which stays
		},
		badNow: map[string]spoiled[store.Subscription]{
			"another's": {func(x *store.Subscription) { x.Worker = w.workers[1] }, crowd.NotFound},
			"nobody's":  {func(x *store.Subscription) { x.Worker = 0 }, crowd.NotFound},
		},
	}.check(t, w)
}

func testActions(t *testing.T, w *world) {
	second := must(w.CreatePool(w.ctx, store.Pool{Name: "second"}))(t)
	elsewhere := w.action(1)
	elsewhere.Pool = second
	entity[store.Action, int64]{
		some: []store.Action{ // what happened first may be told last
			w.action(9), {Pool: w.pool, Kind: store.ActionRelease}, elsewhere, w.action(8), w.action(7), elsewhere, w.action(6), w.action(5), w.action(4),
		},
		create: func(x store.Action) (int64, error) {
			if err := w.AddActions(w.ctx, []store.Action{x}); err != nil {
				return 0, err
			}
			return must(w.ListActions(w.ctx, x.Pool, 0, 1))(t)[0].ID, nil
		},
		list:   pages(w, -1, w.ListActions),
		of:     []int64{int64(w.pool), int64(second), 99},
		within: func(x store.Action, of int64) bool { return crowd.PoolID(of) == x.Pool || crowd.PoolID(of) == x.To },
		badNew: map[string]spoiled[store.Action]{
			"in no pool":     {func(x *store.Action) { x.Pool = 99 }, crowd.NotFound},
			"with no number": {func(x *store.Action) { x.Saw.Lambda = math.NaN() }, crowd.Internal},
		},
	}.check(t, w)
}

// kept is the draft of draft as it is read.
func (w *world) kept(id crowd.BatchID, tenant crowd.TenantID, n uint32) store.Batch {
	b := store.Batch{
		Spec: w.spec(tenant), Pool: w.pool, Name: "Vögel <1>", Template: []byte(`{"kind": "choice", "x":"<é>"}`), Columns: []string{"url", "text"},
		CreatedBy: w.workers[0], CreatedAt: w.now,
		Progress: engine.Progress{Batch: id, State: crowd.BatchDraft, Priority: 1.5, Deadline: w.now.Add(48 * time.Hour)},
	}
	b.Spec.ID, b.Spec.Tasks = id, n
	return b
}

// briefBatch takes away what lists of batches leave out.
func briefBatch(x *store.Batch) { x.Template, x.Columns = nil, nil }

func testBatches(t *testing.T, w *world) {
	second := must(w.CreatePool(w.ctx, store.Pool{Name: "second"}))(t)
	bare := store.Batch{Spec: engine.Spec{Tenant: w.mine}, Pool: w.pool, Progress: engine.Progress{State: crowd.BatchDraft}}
	entity[store.Batch, crowd.BatchID]{
		some:   []store.Batch{w.kept(0, w.other, 0), bare, w.kept(0, w.mine, 0), w.kept(0, w.other, 0), w.kept(0, w.mine, 0), w.kept(0, w.mine, 0)},
		create: given(w, w.CreateBatch), completed: func(x *store.Batch) { x.Progress.Batch = x.Spec.ID },
		get: owned(w, w.Batch), tenant: func(x store.Batch) crowd.TenantID { return x.Spec.Tenant },
		update: changed(w, w.UpdateDraft),
		list:   pages(w, -1, w.ListBatches), leaves: briefBatch,
		change: []func(*store.Batch){
			func(x *store.Batch) {
				x.Spec.Rule, x.Spec.Reward, x.Spec.Priority, x.Spec.Deadline = label.Count(5), 1, 9, time.Time{}
				x.Spec.Requirements, x.Spec.Production, x.Spec.Training, x.Spec.EndsAt, x.Pool, x.Name, x.Columns = nil, false, false, time.Time{}, second, "new", []string{"a"}
				x.Spec.Checks = &engine.Checks{First: 0.25, Least: 0.05}
				x.Review = &store.ReviewTerms{Review: engine.Review{Undecided: true, Confidence: 0.75, Share: 0.5, NewWorkers: 3}, Reward: 7, Budget: 9, Priority: 0.5, Deadline: w.now, Requirements: w.spec(w.mine).Requirements, Blind: true}
				x.Spec.Review = &x.Review.Review
				x.Spec.Quality = []engine.QualityRule{{When: "wrong > 1", Do: "pause"}, {When: "answers > 2", Do: `warn "so many"`}}
				x.Template, x.Progress.Priority, x.Progress.Deadline = []byte(`{}`), 9, time.Time{}
			},
			func(x *store.Batch) { x.Name, x.Spec.Requirements = "no longer bare", w.spec(w.mine).Requirements },
		},
		bad: map[string]spoiled[store.Batch]{
			"in no pool":           {func(x *store.Batch) { x.Pool = 99 }, crowd.NotFound},
			"of an unknown tenant": {func(x *store.Batch) { x.Spec.Tenant = 99 }, crowd.NotFound},
		},
		badNow: map[string]spoiled[store.Batch]{"of another tenant": {func(x *store.Batch) { x.Spec.Tenant = w.mine }, crowd.NotFound}},
	}.check(t, w)
}

// testBatchNames reads more names than one query has, those of all tenants.
func testBatchNames(t *testing.T, w *world) {
	want := make(map[crowd.BatchID]string)
	ids := []crowd.BatchID{99_999} // there is none
	for i := range 230 {
		b := w.kept(0, []crowd.TenantID{w.mine, w.other}[i%2], 0)
		b.Name = fmt.Sprint("batch ", i)
		id := must(w.CreateBatch(w.ctx, b))(t)
		if i%7 != 0 {
			want[id] = b.Name
			ids = append(ids, id)
		}
	}
	for _, n := range []int{1, 2, 100, 101, len(ids)} {
		got := must(w.BatchNames(w.ctx, ids[:n]))(t)
		if len(got) != n-1 {
			t.Errorf("%d names of %d batches, one of which does not exist", len(got), n)
		}
		for id, name := range got {
			if want[id] != name {
				t.Errorf("%s is called %q, want %q", id, name, want[id])
			}
		}
	}
	if got := must(w.BatchNames(w.ctx, nil))(t); len(got) != 0 {
		t.Errorf("of none: %v", got)
	}
}

func testRuns(t *testing.T, w *world) {
	mine, nodes := w.runOf(w.mine)
	theirs, _ := w.runOf(w.other)
	entity[store.Run, crowd.RunID]{
		some:   []store.Run{mine, {Tenant: w.other}, theirs, mine, mine, mine},
		create: func(x store.Run) (crowd.RunID, error) { return w.CreateRun(w.ctx, x, nodes) },
		get:    owned(w, w.Run), tenant: func(x store.Run) crowd.TenantID { return x.Tenant },
		list: pages(w, -1, w.ListRuns), leaves: func(x *store.Run) { x.Text = "" },
		badNew: map[string]spoiled[store.Run]{"of an unknown tenant": {func(x *store.Run) { x.Tenant = 99 }, crowd.NotFound}},
	}.check(t, w)
}

func testInvitationsToPools(t *testing.T, w *world) {
	full, theirs, nobodys := w.invitation("b@example.org"), w.invitation("x@example.org"), w.invitation("y@example.org")
	full.OpenedAt, full.AnsweredAt, full.Worker = w.now.Add(time.Second), w.now.Add(2*time.Second), w.workers[1]
	theirs.Tenant, nobodys.Tenant = w.other, 0
	bare := store.Invitation{Tenant: w.mine, Pool: w.pool, InvitedBy: w.workers[0], State: store.InvitationOpen}
	accepted := full
	accepted.State = store.InvitationAccepted
	entity[store.Invitation, int64]{
		some: []store.Invitation{full, bare, theirs, w.invitation("A@Example.org"), nobodys, accepted, full},
		create: func(x store.Invitation) (int64, error) {
			list, err := w.CreateInvitations(w.ctx, []store.Invitation{x}, nil)
			if err != nil {
				return 0, err
			}
			return list[0].ID, nil
		},
		get: owned(w, w.Invitation), tenant: func(x store.Invitation) crowd.TenantID { return x.Tenant },
		update: func(x store.Invitation) error { return w.UpdateInvitation(w.ctx, x, nil, w.now) },
		list:   pages(w, -1, w.ListInvitations),
		change: []func(*store.Invitation){
			func(x *store.Invitation) {
				x.Note, x.ExpiresAt, x.OpenedAt, x.AnsweredAt, x.Worker = "again", w.now.Add(time.Hour), w.now.Add(time.Minute), time.Time{}, 0
			},
			func(x *store.Invitation) { x.State, x.AnsweredAt = store.InvitationDeclined, w.now.Add(time.Hour) },
			func(x *store.Invitation) { x.State = store.InvitationWithdrawn },
		},
		badNew: map[string]spoiled[store.Invitation]{"to no pool": {func(x *store.Invitation) { x.Pool = 99 }, crowd.NotFound}},
		badNow: map[string]spoiled[store.Invitation]{"of another tenant": {func(x *store.Invitation) { x.Tenant = w.other }, crowd.NotFound}},
	}.check(t, w)
}

func testTests(t *testing.T, w *world) {
	full, questions := w.test("birds")
	theirs, nobodys, retired := full, full, full
	theirs.Tenant, nobodys.Tenant = w.other, 0 // names are a tenant's own
	retired.Name, retired.Open, retired.Retired, retired.TimeLimit, retired.Wait, retired.Columns = "fish", false, true, 0, 0, nil
	bare, spare := store.Test{Tenant: w.mine, Name: "bare", CreatedBy: w.workers[0], Questions: 3}, full
	spare.Name = "spare"
	entity[store.Test, int64]{
		some:   []store.Test{full, bare, theirs, nobodys, retired, spare},
		create: func(x store.Test) (int64, error) { return w.CreateTest(w.ctx, x, questions) },
		get:    owned(w, w.Test), tenant: func(x store.Test) crowd.TenantID { return x.Tenant },
		update: func(x store.Test) error { return w.RetireTest(w.ctx, x.Tenant, x.ID, x.Retired) },
		list:   whole[int64](w, w.ListTests), leaves: func(x *store.Test) { x.Template, x.Columns = nil, nil },
		change: []func(*store.Test){
			func(x *store.Test) { x.Retired = true }, func(x *store.Test) { x.Retired = true }, func(x *store.Test) { x.Retired = true },
			func(x *store.Test) { x.Retired = true }, func(x *store.Test) { x.Retired = false },
		},
		badNew: map[string]spoiled[store.Test]{
			"a name that is taken": {func(x *store.Test) { x.Name = "birds" }, crowd.Conflict},
			"by nobody":            {func(x *store.Test) { x.CreatedBy = 99 }, crowd.NotFound},
		},
		badNow: map[string]spoiled[store.Test]{
			"of another tenant": {func(x *store.Test) { x.Tenant = w.other }, crowd.NotFound},
			"of any tenant":     {func(x *store.Test) { x.Tenant = 0 }, crowd.NotFound},
		},
	}.check(t, w)
	same(t, "questions", must(w.Questions(w.ctx, 1))(t), questions)
	same(t, "of no test", must(w.Questions(w.ctx, 99))(t), nil)
}

func testTries(t *testing.T, w *world) {
	x, y := w.createTest(t, "birds"), w.createTest(t, "fish")
	full := w.try(x.ID, 0, 2)
	full.SubmittedAt, full.Answers, full.Right, full.Score, full.Late, full.Passed = w.now, json.RawMessage(`{"1":{}}`), 1, 50, true, true
	entity[store.Try, int64]{
		some:   []store.Try{full, {Test: x.ID, Worker: w.workers[2], N: 1}, w.try(x.ID, 0, 1), w.try(y.ID, 0, 1), w.try(x.ID, 1, 1), w.try(x.ID, 1, 2)},
		create: given(w, w.StartTry),
		list: pages(w, -1, func(ctx context.Context, test, before int64, limit int) ([]store.Try, error) {
			return w.TestTries(ctx, w.mine, test, before, limit)
		}),
		of:     []int64{x.ID, y.ID},
		within: func(x store.Try, of int64) bool { return x.Test == of },
		badNew: map[string]spoiled[store.Try]{
			"a number that is taken": {func(x *store.Try) { x.N = 1 }, crowd.Conflict},
			"at no test":             {func(x *store.Try) { x.Test = 99 }, crowd.NotFound},
			"of nobody":              {func(x *store.Try) { x.Worker = 99 }, crowd.NotFound},
		},
	}.check(t, w)
	tries := must(w.TestTries(w.ctx, 0, x.ID, 0, all))(t) // any tenant's
	tries[3].Answers = nil                                // which those of a worker do not have
	same(t, "theirs", must(w.Tries(w.ctx, x.ID, w.workers[0]))(t), []store.Try{tries[1], tries[3]})
	same(t, "nobody's", must(w.Tries(w.ctx, x.ID, w.workers[3]))(t), nil)
	same(t, "of no test", must(w.Tries(w.ctx, 99, w.workers[0]))(t), nil)
	for test, tenant := range map[int64]crowd.TenantID{x.ID: w.other, 99: 0} {
		list, err := w.TestTries(w.ctx, tenant, test, 0, all)
		refused(t, err, crowd.NotFound)
		same(t, "another tenant's, or of no test", list, nil)
	}
}

// testLongTries: what tries hold of answers in a list is bounded.
func testLongTries(t *testing.T, w *world) {
	x := w.createTest(t, "birds")
	want := make([]store.Try, 4)
	for i := range want {
		y := w.try(x.ID, 0, len(want)-i)
		y.SubmittedAt, y.Answers = w.now, json.RawMessage(`"`+strings.Repeat("x", store.PageBytes/2)+`"`)
		want[i] = y
	}
	for i := range want {
		y := &want[len(want)-1-i]
		y.ID = must(w.StartTry(w.ctx, *y))(t)
	}
	oldest := want[3]
	want[2].Answers, want[3].Answers = nil, nil
	got := must(w.TestTries(w.ctx, w.mine, x.ID, 0, all))(t)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%d tries, want %d, the answers of the two newest among them", len(got), len(want))
	}
	if got = must(w.TestTries(w.ctx, w.mine, x.ID, oldest.ID+1, all))(t); !reflect.DeepEqual(got, []store.Try{oldest}) {
		t.Errorf("the last page has %d tries, want one with its answers", len(got))
	}
}
