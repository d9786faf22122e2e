// Package storetest is the suite that every store must pass: a test for each
// method of store.Store, found by reflection, with the wrong tenant in it
// wherever a tenant is named, and a few that take several methods together.
//
// A store joins by a line in stores; nothing else knows of any database. What
// only one database has is tested in its own package.
package storetest

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/store/sqlite"
	"github.com/throng-dev/throng/label"
)

// stores has for each store what makes an empty database.
var stores = map[string]func(*testing.T) database{
	"sqlite": func(t *testing.T) database {
		path := filepath.Join(t.TempDir(), "throng.db")
		return func() (store.Store, error) {
			return sqlite.Open(context.WithoutCancel(t.Context()), path, sqlite.Options{})
		}
	},
}

// database opens the store on one database, and again after the store was
// closed.
type database func() (store.Store, error)

// methods has a test for each method of store.Store.
var methods = map[string]func(*testing.T, *world){
	"Commit": testCommit, "Snapshot": testSnapshot, "Activity": testActivity,
	"CreateTenant": testCreateTenant, "UpdateTenant": testUpdateTenant, "Tenant": testTenant, "ListTenants": testListTenants,
	"CreateUser": testCreateUser, "UpdateUser": testUpdateUser, "User": testUser, "UserByName": testUserByName, "ListUsers": testListUsers,
	"PoolUsers": testPoolUsers, "PoolDuties": testPoolDuties,
	"CreateToken": testCreateToken, "TokenByHash": testTokenByHash, "ListTokens": testListTokens,
	"DeleteToken": testDeleteToken, "DeleteExpiredTokens": testDeleteExpiredTokens,
	"CreatePool": testCreatePool, "UpdatePool": testUpdatePool, "ListPools": testListPools, "Pool": testPool,
	"CreateCall": testCreateCall, "UpdateCall": testUpdateCall, "Call": testCall, "OpenCalls": testOpenCalls,
	"PutNotices": testPutNotices, "Notices": testNotices, "LastNotices": testLastNotices, "WorkerNotices": testWorkerNotices,
	"DueMessages": testDueMessages, "UpdateMessage": testUpdateMessage, "ListMessages": testListMessages,
	"CountMessages": testCountMessages, "DropMessages": testDropMessages,
	"PutSubscription": testPutSubscription, "DeleteSubscription": testDeleteSubscription, "Subscriptions": testSubscriptions, "Secret": testSecret,
	"AddActions": testAddActions, "ListActions": testListActions,
	"AddSamples": testAddSamples, "Samples": testSamples, "DropSamples": testDropSamples,
	"CreateBatch": testCreateBatch, "UpdateDraft": testUpdateDraft, "AddTasks": testAddTasks, "DropTasks": testDropTasks,
	"CancelDraft": testCancelDraft, "Batch": testBatch, "ListBatches": testListBatches, "Task": testTask, "Tasks": testTasks, "Invitations": testInvitations,
	"Annotations": testAnnotations, "Labels": testLabels, "Assignment": testAssignment, "WorkerAnnotations": testWorkerAnnotations,
	"Deposit": testDeposit, "Balance": testBalance, "Entries": testEntries, "CheckLedger": testCheckLedger,
	"CreateRun": testCreateRun, "Run": testRun, "ListRuns": testListRuns, "OpenRuns": testOpenRuns, "Nodes": testNodes, "Advance": testAdvance,
	"Rows": testRows, "ItemRows": testItemRows, "Faults": testFaults, "Unlabelled": testUnlabelled, "Pending": testPending,
	"TakeOver":        testTakeOver,
	"PutTenantSecret": testPutTenantSecret, "TenantSecret": testTenantSecret, "TenantSecrets": testTenantSecrets, "DeleteTenantSecret": testDeleteTenantSecret,
	"CreateInvitations": testCreateInvitations, "UpdateInvitation": testUpdateInvitation, "AcceptInvitation": testAcceptInvitation,
	"Invitation": testInvitation, "ListInvitations": testListInvitations, "InvitationsTo": testInvitationsTo,
	"AcceptedInvitations": testAcceptedInvitations, "UsersByEmail": testUsersByEmail,
	"CreateTest": testCreateTest, "RetireTest": testRetireTest, "Test": testTest, "ListTests": testListTests, "Questions": testQuestions,
	"StartTry": testStartTry, "FinishTry": testFinishTry, "Tries": testTries, "TestTries": testTestTries,
	"Close": testClose,
}

// together are the tests of several methods.
var together = map[string]func(*testing.T, *world){
	"commit leaves nothing when a row does not fit": testCommitAtomicity,
	"iteration sees one state while commits go on":  testIterationWhileCommitting,
	"iteration may stop early":                      testIterationStops,
	"an engine goes on after a restart":             testRestart,
	"commits and creations at the same time":        testConcurrency,
	"a snapshot has who is on call, and the funds":  testSnapshotOnCall,
	"notices and messages are kept all or none":     testNoticesAtomicity,
	"the last of many notices":                      testManyNotices,
	"a move leaves nothing when a part is bad":      testAdvanceAtomicity,
	"labels go on with the commit that keeps them":  testHandOver,
	"open batches and their terms":                  testTerms,
	"random moves, next to a plain model":           testMoves,
	"a hundred thousand rows":                       testManyRows,
}

func TestStore(t *testing.T) {
	iface := reflect.TypeFor[store.Store]()
	for i := range iface.NumMethod() {
		if name := iface.Method(i).Name; methods[name] == nil {
			t.Errorf("no test of %s", name)
		}
	}
	if len(methods) != iface.NumMethod() {
		t.Errorf("%d tests, but %d methods: one is tested that is not there", len(methods), iface.NumMethod())
	}
	for kind, fresh := range stores {
		for _, tests := range []map[string]func(*testing.T, *world){methods, together} {
			for name, test := range tests {
				t.Run(kind+"/"+name, func(t *testing.T) {
					t.Parallel()
					test(t, newWorld(t, fresh(t)))
				})
			}
		}
	}
}

// world is a store with two tenants, a pool with four workers, and a draft of
// the first tenant.
type world struct {
	store.Store
	open        database
	ctx         context.Context
	now         time.Time
	mine, other crowd.TenantID
	pool        crowd.PoolID
	workers     []crowd.WorkerID
	batch       crowd.BatchID // of mine, with six tasks
}

const tasks = 6

func newWorld(t *testing.T, open database) *world {
	w := &world{Store: must(open())(t), open: open, ctx: t.Context(), now: time.Date(2026, 3, 1, 12, 0, 0, 123456000, time.UTC)}
	t.Cleanup(func() {
		if err := w.Store.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	w.mine = must(w.CreateTenant(w.ctx, store.Tenant{Name: "mine", Weight: 2, CreatedAt: w.now}))(t)
	w.other = must(w.CreateTenant(w.ctx, store.Tenant{Name: "other", Weight: 1, CreatedAt: w.now}))(t)
	w.pool = must(w.CreatePool(w.ctx, store.Pool{Name: "crowd", Policy: "fifo", CreatedAt: w.now}))(t)
	for i := range 4 {
		u := store.User{Name: fmt.Sprintf("worker%d", i+1), Pool: w.pool, CreatedAt: w.now}
		w.workers = append(w.workers, must(w.CreateUser(w.ctx, u))(t))
	}
	w.batch = w.draft(t, w.mine, tasks)
	return w
}

// must returns a value, or ends the test.
func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// refused ends the test unless err is a *crowd.Error with the code.
func refused(t *testing.T, err error, want crowd.Code) {
	t.Helper()
	if got := crowd.CodeOf(err); got != want {
		t.Fatalf("got the error %v of code %q, want code %q", err, got, want)
	}
}

// same ends the test if two values differ. Nothing is the same as empty.
func same[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	rules := cmp.Comparer(func(x, y label.Rule) bool { return x == y })
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), rules); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

// unchanged fails if do changes anything that can be seen.
func (w *world) unchanged(t *testing.T, do func()) {
	t.Helper()
	before := w.everything(t)
	do()
	same(t, "changed", w.everything(t), before)
}

// spec is the definition of a batch.
func (w *world) spec(tenant crowd.TenantID) engine.Spec {
	return engine.Spec{
		Tenant: tenant, Rule: label.Agree(2, 3), Reward: 50_000, Budget: 2 * crowd.Unit, Priority: 1.5,
		Deadline: w.now.Add(48 * time.Hour), Production: true, Lease: time.Hour + time.Nanosecond, TaskTime: 90 * time.Second,
		EndsAt: w.now.Add(1000 * time.Hour), Requirements: []engine.Requirement{{Name: "birds", Min: 40}, {Name: `a "b"`, Min: 0}}, SmallCrowdOK: true, Training: true,
	}
}

// draft makes a draft with n tasks.
func (w *world) draft(t *testing.T, tenant crowd.TenantID, n int) crowd.BatchID {
	t.Helper()
	id := must(w.CreateBatch(w.ctx, store.Batch{
		Spec: w.spec(tenant), Pool: w.pool, Name: "Vögel <1>", Template: []byte(`{"kind": "choice", "x":"<é>"}`), Columns: []string{"url", "text"},
		CreatedBy: w.workers[0], CreatedAt: w.now,
	}))(t)
	list := make([]store.Task, n)
	for i := range list {
		list[i] = store.Task{Values: []string{fmt.Sprintf("https://example.org/?a=%d&b=<2>", i+1), "line\nline \u2028\x00"}}
	}
	list[0].Gold = "sparrow"
	ok(t, w.AddTasks(w.ctx, id, list))
	return id
}

func batchAccount(id crowd.BatchID) engine.Account {
	return engine.Account{Kind: engine.BatchAccount, ID: int64(id)}
}
func tenantAccount(id crowd.TenantID) engine.Account {
	return engine.Account{Kind: engine.TenantAccount, ID: int64(id)}
}
func poolAccount(id crowd.PoolID) engine.Account {
	return engine.Account{Kind: engine.PoolAccount, ID: int64(id)}
}
func workerAccount(id crowd.WorkerID) engine.Account {
	return engine.Account{Kind: engine.WorkerAccount, ID: int64(id)}
}

// running makes the changes of a launch: the batch runs from here on.
func (w *world) launch(id crowd.BatchID, budget crowd.Money) *engine.Changes {
	return &engine.Changes{
		Transfers: []engine.Transfer{{At: w.now, Kind: engine.Reserve, From: tenantAccount(w.mine), To: batchAccount(id), Amount: budget}},
		Progress:  []engine.Progress{w.progress(id)},
	}
}

func (w *world) progress(id crowd.BatchID) engine.Progress {
	return engine.Progress{
		Batch: id, State: crowd.BatchRunning, Stopped: true, Priority: 2.25, Deadline: w.now.Add(time.Hour), Fresh: 3, Issued: 4, OldestOpen: 1,
		Planned: 12, Completed: 5, Labelled: 1, Escrow: 70_000, Spent: 30_000, Worked: 90*time.Minute + 1, LaunchedAt: w.now, FirstStarted: w.now.Add(time.Microsecond),
	}
}

func (w *world) handout(n, task uint32, worker int) engine.Handout {
	return engine.Handout{
		Assignment: w.batch.Assignment(n), Task: w.batch.Task(task), Worker: w.workers[worker],
		At: w.now.Add(time.Duration(n) * time.Second), Expires: w.now.Add(time.Hour), Reward: 50_000,
	}
}

func (w *world) answer(n uint32, worker int, paid crowd.Money) engine.Answer {
	return engine.Answer{
		Assignment: w.batch.Assignment(n), Worker: w.workers[worker], At: w.now.Add(time.Minute * time.Duration(n)),
		Body: fmt.Sprintf(`{"n":%d,"s":"<ü>"}`, n), Key: fmt.Sprint("key", n), Late: paid == 0, Counted: paid > 0, Paid: paid,
	}
}

func (w *world) reward(n uint32, worker int, amount crowd.Money) engine.Transfer {
	return engine.Transfer{
		At: w.now.Add(time.Minute * time.Duration(n)), Kind: engine.Reward, From: batchAccount(w.batch), To: workerAccount(w.workers[worker]),
		Amount: amount, Assignment: w.batch.Assignment(n),
	}
}

// history launches the batch and lets some of everything happen: worker 0
// answers task 1 and 2, worker 1 answers task 1, which makes its label, and
// lets task 2 expire; worker 2 holds task 3.
func (w *world) history(t *testing.T) {
	t.Helper()
	ok(t, w.Deposit(w.ctx, w.now, w.mine, 10*crowd.Unit, "cash"))
	ok(t, w.Commit(w.ctx, w.launch(w.batch, crowd.Unit)))
	ok(t, w.Commit(w.ctx, &engine.Changes{
		Handouts:  []engine.Handout{w.handout(1, 1, 0), w.handout(2, 1, 1), w.handout(3, 2, 0)},
		Answers:   []engine.Answer{w.answer(1, 0, 50_000)},
		Transfers: []engine.Transfer{w.reward(1, 0, 50_000)},
	}))
	ok(t, w.Commit(w.ctx, &engine.Changes{
		Handouts:  []engine.Handout{w.handout(4, 2, 1), w.handout(5, 3, 2)},
		Ends:      []engine.End{{Assignment: w.batch.Assignment(4), State: crowd.Expired, At: w.now.Add(2 * time.Hour)}},
		Answers:   []engine.Answer{w.answer(2, 1, 60_000), w.answer(3, 0, 50_000)},
		Labels:    []engine.Label{{Task: w.batch.Task(1), At: w.now.Add(time.Minute), Value: "key1", Confidence: 2.0 / 3, Answers: 2, Tie: true, Undecided: true}},
		Transfers: []engine.Transfer{w.reward(2, 1, 60_000), w.reward(3, 0, 50_000)},
		Progress:  []engine.Progress{w.progress(w.batch)},
	}))
}

// collect reads a sequence to its end or first error.
func collect[T any](seq iter.Seq2[T, error]) ([]T, error) {
	var all []T
	for v, err := range seq {
		if err != nil {
			return all, err
		}
		all = append(all, v)
	}
	return all, nil
}

// contents is all that a store can be asked for.
type contents struct {
	Tenants     []store.Tenant
	Pools       []store.Pool
	Users       []store.User
	Tokens      map[crowd.WorkerID][]store.Token
	Batches     []store.Batch
	Annotations map[crowd.BatchID][]store.Annotation
	Labels      map[crowd.BatchID][]store.LabelledTask
	Invited     map[crowd.BatchID]map[crowd.WorkerID][]uint32
	History     map[crowd.WorkerID][]store.Annotation
	Duties      map[crowd.PoolID][]engine.Duty
	Open        []store.Call
	Calls       []store.Call
	Notices     map[int64][]store.Notice
	Last        map[crowd.PoolID][]store.Notice
	Messages    []store.Message
	Due         []store.Message
	Devices     map[crowd.WorkerID][]store.Subscription
	Actions     map[crowd.PoolID][]store.Action
	Samples     map[crowd.PoolID][]store.Sample
	Balances    map[string]crowd.Money
	Entries     map[string][]store.Entry
	Snapshots   map[crowd.PoolID]*engine.Snapshot
	Invitations []store.Invitation
	Tests       []store.Test
	Questions   map[int64][]store.Question
	Tries       map[int64][]store.Try
	Tasks       map[crowd.BatchID][]store.Task
	Flows       []flowContents
	Secrets     map[crowd.TenantID]map[string]string
}

// flowContents is all of a run.
type flowContents struct {
	Run    store.Run
	Nodes  []store.Node
	Rows   [][]store.JoinedRow
	Faults []store.Fault
}

func (w *world) flowContents(t *testing.T, r store.Run) flowContents {
	t.Helper()
	f := flowContents{Run: r, Nodes: must(w.Nodes(w.ctx, r.ID))(t), Faults: must(w.Faults(w.ctx, r.ID, -1, 0, all))(t)}
	for i := range f.Nodes {
		f.Rows = append(f.Rows, must(w.Rows(w.ctx, r.ID, i, 0, all, nil))(t))
	}
	return f
}

const all = 1 << 30

func (w *world) everything(t *testing.T) contents {
	t.Helper()
	c := contents{
		Tenants: must(w.ListTenants(w.ctx))(t), Pools: must(w.ListPools(w.ctx))(t), Users: must(w.ListUsers(w.ctx, 0, 0, all))(t),
		Batches: must(w.ListBatches(w.ctx, 0, 0, all))(t),
		Tokens:  make(map[crowd.WorkerID][]store.Token), Annotations: make(map[crowd.BatchID][]store.Annotation),
		Labels: make(map[crowd.BatchID][]store.LabelledTask), Invited: make(map[crowd.BatchID]map[crowd.WorkerID][]uint32),
		History: make(map[crowd.WorkerID][]store.Annotation), Balances: make(map[string]crowd.Money), Entries: make(map[string][]store.Entry),
		Snapshots: make(map[crowd.PoolID]*engine.Snapshot), Tasks: make(map[crowd.BatchID][]store.Task), Secrets: make(map[crowd.TenantID]map[string]string),
		Duties: make(map[crowd.PoolID][]engine.Duty), Open: must(w.OpenCalls(w.ctx, 0))(t), Notices: make(map[int64][]store.Notice),
		Last: make(map[crowd.PoolID][]store.Notice), Messages: must(w.ListMessages(w.ctx, 0, 0, all))(t),
		Due:     must(w.DueMessages(w.ctx, w.now.Add(1000*time.Hour), all))(t),
		Devices: make(map[crowd.WorkerID][]store.Subscription), Actions: make(map[crowd.PoolID][]store.Action), Samples: make(map[crowd.PoolID][]store.Sample),
	}
	c.Invitations, c.Tests = must(w.ListInvitations(w.ctx, 0, 0, all))(t), must(w.ListTests(w.ctx, 0))(t)
	c.Questions, c.Tries = make(map[int64][]store.Question), make(map[int64][]store.Try)
	for _, x := range c.Tests {
		c.Questions[x.ID], c.Tries[x.ID] = must(w.Questions(w.ctx, x.ID))(t), must(w.TestTries(w.ctx, 0, x.ID, 0, all))(t)
	}
	accounts := []engine.Account{{Kind: engine.Outside}}
	for _, x := range c.Tenants {
		accounts = append(accounts, tenantAccount(x.ID))
		c.Secrets[x.ID] = make(map[string]string)
		for _, name := range must(w.TenantSecrets(w.ctx, x.ID))(t) {
			c.Secrets[x.ID][name] = must(w.TenantSecret(w.ctx, x.ID, name))(t)
		}
	}
	for _, r := range must(w.ListRuns(w.ctx, 0, 0, all))(t) {
		c.Flows = append(c.Flows, w.flowContents(t, r))
	}
	for _, u := range c.Users {
		accounts = append(accounts, workerAccount(u.ID))
		c.Tokens[u.ID] = must(w.ListTokens(w.ctx, u.ID))(t)
		c.Devices[u.ID] = must(w.Subscriptions(w.ctx, u.ID))(t)
		c.History[u.ID] = must(w.WorkerAnnotations(w.ctx, u.ID, all))(t)
	}
	for id := int64(1); ; id++ {
		call, err := w.Call(w.ctx, id)
		if crowd.CodeOf(err) == crowd.NotFound {
			break
		}
		ok(t, err)
		c.Calls = append(c.Calls, call)
		c.Notices[id] = must(w.Notices(w.ctx, id))(t)
	}
	for _, b := range c.Batches {
		id := b.Spec.ID
		accounts = append(accounts, batchAccount(id))
		c.Annotations[id] = must(collect(w.Annotations(w.ctx, b.Spec.Tenant, id, false)))(t)
		c.Labels[id] = must(collect(w.Labels(w.ctx, b.Spec.Tenant, id)))(t)
		c.Tasks[id] = must(w.Tasks(w.ctx, id.Task(0), 1000))(t)
		c.Invited[id] = must(w.Invitations(w.ctx, id))(t)
	}
	for _, p := range c.Pools {
		accounts = append(accounts, poolAccount(p.ID))
		c.Duties[p.ID] = must(w.PoolDuties(w.ctx, p.ID))(t)
		c.Last[p.ID] = must(w.LastNotices(w.ctx, p.ID))(t)
		c.Actions[p.ID] = must(w.ListActions(w.ctx, p.ID, 0, all))(t)
		c.Samples[p.ID] = must(w.Samples(w.ctx, p.ID, time.Time{}))(t)
	}
	for _, a := range accounts {
		c.Balances[a.String()] = must(w.Balance(w.ctx, a))(t)
		c.Entries[a.String()] = must(w.Entries(w.ctx, a, 0, all))(t)
	}
	for _, p := range c.Pools {
		c.Snapshots[p.ID] = must(w.Snapshot(w.ctx, p.ID))(t)
	}
	ok(t, w.CheckLedger(w.ctx))
	return c
}

func testClose(t *testing.T, w *world) {
	w.history(t)
	w.called(t)
	must(w.CreateToken(w.ctx, store.Token{Hash: "h", Kind: store.APIToken, User: w.workers[0]}))(t)
	before := w.everything(t)
	ok(t, w.Store.Close())
	_, err := w.ListTenants(w.ctx)
	refused(t, err, crowd.Internal)
	refused(t, w.Commit(w.ctx, &engine.Changes{Handouts: []engine.Handout{w.handout(9, 4, 3)}}), crowd.Internal)
	w.Store = must(w.open())(t)
	same(t, "after closing and opening", w.everything(t), before)
	if id := must(w.CreateTenant(w.ctx, store.Tenant{Name: "later", Weight: 1}))(t); id != w.other+1 {
		t.Errorf("the next tenant is %s, want %s", id, w.other+1)
	}
}
