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
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/store/postgres"
	"github.com/throng-dev/throng/internal/store/postgres/pgtest"
	"github.com/throng-dev/throng/internal/store/sqlite"
	"github.com/throng-dev/throng/internal/store/sqlite/sqlitetest"
	"github.com/throng-dev/throng/label"
)

// stores has for each store what makes an empty database.
var stores = map[string]func(*testing.T) database{
	"sqlite": func(t *testing.T) database {
		path := sqlitetest.New(t)
		return func() (store.Store, error) {
			return sqlite.Open(context.WithoutCancel(t.Context()), path, sqlite.Options{})
		}
	},
	"postgres": func(t *testing.T) database {
		open := func(address string) (store.Store, error) {
			return postgres.Open(context.WithoutCancel(t.Context()), address, postgres.Options{MaxConns: 8})
		}
		address := pgtest.Copy(t, "empty", func(address string) error {
			s, err := open(address)
			if err != nil {
				return err
			}
			return s.Close()
		})
		return func() (store.Store, error) { return open(address) }
	},
}

// database opens the store on one database, and again after the store was
// closed.
type database func() (store.Store, error)

// methods has for each method of store.Store a test: of what it does with one kind
// of thing, as with all of them, or of what only it does.
var methods = map[string]func(*testing.T, *world){
	"CreateTenant UpdateTenant Tenant ListTenants":     testTenants,
	"CreateUser UpdateUser User ListUsers":             testUsers,
	"CreateToken ListTokens DeleteToken":               testTokens,
	"ProgramTokens":                                    testProgramTokens,
	"EndAccess":                                        testEndAccess,
	"CreatePool UpdatePool ListPools Pool":             testPools,
	"CreateCall UpdateCall Call OpenCalls":             testCalls,
	"UpdateMessage ListMessages":                       testMessages,
	"PutSubscription DeleteSubscription Subscriptions": testSubscriptions,
	"AddActions ListActions":                           testActions,
	"CreateBatch UpdateDraft Batch ListBatches":        testBatches,
	"BatchNames":             testBatchNames,
	"CreateRun Run ListRuns": testRuns,
	"CreateInvitations UpdateInvitation Invitation ListInvitations":             testInvitationsToPools,
	"CreateTest RetireTest Test ListTests Questions":                            testTests,
	"StartTry Tries TestTries":                                                  testTries,
	"PutTenantSecret TenantSecret TenantSecrets DeleteTenantSecret":             testTenantSecrets,
	"CreateService UpdateService DeleteService Service ListServices UseService": testServices,
	"Commit": testCommit, "Snapshot": testSnapshot, "Activity": testActivity,
	"UserByName": testUserByName, "UserNames": testUserNames, "PoolUsers": testPoolUsers, "PoolDuties": testPoolDuties,
	"PutIdentity UserByIdentity SetExternalID UsersByExternalID HasIdentity": testIdentities, "CreateRole UpdateRole DeleteRole RoleHolders ListRoles": testRoles,
	"CreateFactor ConfirmFactor Factors UseFactor DeleteFactor": testFactors, "PutRecoveryCodes UseRecoveryCode RecoveryCodes": testRecoveryCodes,
	"FactorByCredential UsePasskey": testPasskeys,
	"TokenByHash":                   testTokenByHash, "UseTokens": testUseTokens, "DeleteExpiredTokens": testDeleteExpiredTokens,
	"CreateProvisioned UpdateProvisioned ListProvisioned CountProvisioned": testProvisioned, "ProviderTokens": testProviderTokens,
	"CreateGroup UpdateGroup DeleteGroup ListGroups GroupMembers GroupsOf": testGroups,
	"PutNotices": testPutNotices, "Notices": testNotices, "LastNotices": testLastNotices, "WorkerNotices": testWorkerNotices,
	"DueMessages": testDueMessages, "CountMessages": testCountMessages, "DropMessages": testDropMessages, "Secret": testSecret,
	"AddSamples": testAddSamples, "Samples": testSamples, "DropSamples": testDropSamples,
	"PutStates": testPutStates, "PoolStates": testPoolStates,
	"AddTasks": testAddTasks, "DropTasks": testDropTasks, "StageTasks": testStageTasks, "DropStaged": testDropStaged, "CancelDraft": testCancelDraft, "Task": testTask, "Tasks": testTasks, "Invitations": testInvitations, "Known": testKnown, "Lessons": testKnown,
	"Annotations": testAnnotations, "Labels": testLabels, "Answers": testAnswers, "Assigned": testAssigned, "TaskResults": testTaskResults, "GivenAnswers": testGivenAnswers, "Assignment": testAssignment, "WorkerAnnotations": testWorkerAnnotations, "ListReports WorkerReports PutReply": testReports,
	"ListQualityActions WorkerActions UnseenActions SeeAction Weights": testQualityActions,
	"ListCorrections PutCorrection":                                    testCorrections,
	"RedoneAs RunsToRedo":                                              testRedone, "CorrectedBatches CountCorrected TakeCorrections": testCorrected,
	"Review CountReviews":             testReviews,
	"ListPay PayOf PaySums ChangePay": testApprovals,
	"SettlePay":                       testSettlePay,
	"AnsweredBy HasAnswered":          testDisregard,
	"ReviewedTask":                    testReviewedTask,
	"AnswerToRevise":                  testRevise,
	"Deposit":                         testDeposit, "Balance": testBalance, "Entries": testEntries, "CheckLedger": testCheckLedger,
	"OpenRuns": testOpenRuns, "Nodes": testNodes, "RunBatches": testRunBatches, "Advance": testAdvance, "Rows": testRows, "ItemRows": testItemRows, "Answerers Answered": testAnswerers,
	"Faults": testFaults, "Staying": testStaying, "Pending": testPending, "Split": testSplit, "TakeOver": testTakeOver, "ClearLog": testClearLog, "FeedRows": testFeedRows,
	"PutUserAsked": testPutUserAsked, "AskedAddress": testAskedAddress, "LinkAddress": testLinkAddress, "ConfirmAddress": testConfirmAddress,
	"AcceptInvitation": testAcceptInvitation, "InvitationsTo": testInvitationsTo, "AcceptedInvitations": testAcceptedInvitations, "UsersByEmail": testUsersByEmail,
	"FinishTry": testFinishTry, "Close": testClose, "Probe": testProbe,
	"Request PutRequest DropRequests": testRequests, "TakenOver": testTakenOver,
	"AuditEntries": testAuditEntries, "CheckAudit": testCheckAudit, "DropAudit": testDropAudit,
	"SetQuotas QuotasSet": testSetQuotas, "Usage": testUsage, "UsageOfAll": testUsageOfAll, "DailyUsage KeepDailyUsage": testDailyUsage, "CheckUsage": testCheckUsage,
	"Personal": testPersonal, "WrittenTexts ReplaceTexts": testTexts, "BeginErasure Erasures Erase Scrub": testErasure,
	"SetRetention RetentionSet": testSetRetention, "Expiring BeginDeletion DeleteSome Unscrubbed": testDeletions,
}

// together are the tests of several methods, and of what one does besides.
var together = map[string]func(*testing.T, *world){
	"an effect is kept with its transaction":               testEffects,
	"an act is kept with its transaction":                  testActs,
	"texts about people and their work":                    testTextsAbout,
	"what was made with a token ends with it":              testMadeWith,
	"what is made with a token as it ends":                 testMadeAsItEnds,
	"a token is used up once":                              testDeleteToken,
	"what others made for somebody ends with a new right":  testRise,
	"what who leaves made for others ends":                 testLeaves,
	"nothing begins on what has ended":                     testBasis,
	"a token is made before or after what it rests on":     testBasisAtOnce,
	"a code is used up once":                               testFactorsUsedAtOnce,
	"what is shown is used up with its change, or neither": testShown,
	"a call is kept with its notices":                      testUpdateCall,
	"a subscription replaces that of its endpoint":         testPutSubscription,
	"actions are kept all or none":                         testAddActions,
	"a transfer is in the logs of both pools":              testTransfersLogged,
	"a draft begins without tasks":                         testCreateBatch,
	"a draft is changed, but not its tasks":                testUpdateDraft,
	"a running batch":                                      testBatch,
	"a run is kept with its nodes":                         testCreateRun,
	"an invitation is kept with its mail":                  testCreateInvitations,
	"an invitation is changed with its mail":               testUpdateInvitation,
	"commit leaves nothing when a row does not fit":        testCommitAtomicity,
	"provisional answers are kept apart until they count":  testCommitProvisional,
	"iteration sees one state while commits go on":         testIterationWhileCommitting,
	"iteration may stop early":                             testIterationStops,
	"an engine goes on after a restart":                    testRestart,
	"commits and creations at the same time":               testConcurrency,
	"a snapshot has who is on call, and the funds":         testSnapshotOnCall,
	"a snapshot has what was earned by waiting":            testSnapshotEarned,
	"a snapshot has who is lent and borrowed":              testSnapshotLoans,
	"notices and messages are kept all or none":            testNoticesAtomicity,
	"the last of many notices":                             testManyNotices,
	"a move leaves nothing when a part is bad":             testAdvanceAtomicity,
	"labels go on with the commit that keeps them":         testHandOver,
	"open batches and their terms":                         testTerms,
	"random moves, next to a plain model":                  testMoves,
	"a hundred thousand rows":                              testManyRows,
	"pages of long rows are short":                         testRowsInBytes,
	"pages of long tasks are short":                        testTasksInBytes,
	"pages of long tries have fewer answers":               testLongTries,
	"nothing passes a quota":                               testNothingPassesAQuota,
	"what is deleted of a run":                             testRunDeleted,
	"what is deleted of logs":                              testLogsDeleted,
	"an erasure takes its person out of the audit log":     testEraseAudit,
	"answers are kept while their pay is held":             testPayKeepsAnswers,
	"held pay is decided once":                             testPayAtOnce,
	"a challenge is answered once":                         testPasskeysUsedAtOnce,
}

func TestMain(m *testing.M) { os.Exit(pgtest.Tests{M: m}.Run()) }

func TestStore(t *testing.T) {
	iface, tested := reflect.TypeFor[store.Store](), make(map[string]bool)
	for list := range methods {
		for name := range strings.FieldsSeq(list) {
			if _, there := iface.MethodByName(name); !there || tested[name] {
				t.Errorf("%s is no method, or is tested twice", name)
			}
			tested[name] = true
		}
	}
	for i := range iface.NumMethod() {
		if name := iface.Method(i).Name; !tested[name] {
			t.Errorf("no test of %s", name)
		}
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
		if err := w.CheckUsage(context.WithoutCancel(w.ctx)); err != nil && crowd.CodeOf(err) == crowd.Conflict {
			t.Errorf("whatever was kept: %v", err)
		}
		if err := w.Store.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	w.mine = must(w.CreateTenant(w.ctx, store.Tenant{Name: "mine", Weight: 2, CreatedAt: w.now}, 0))(t)
	w.other = must(w.CreateTenant(w.ctx, store.Tenant{Name: "other", Weight: 1, CreatedAt: w.now}, 0))(t)
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
		Planned: 12, Completed: 5, Labelled: 1, Escrow: 70_000, Spent: 30_000, Released: 5_000, Worked: 90*time.Minute + 1, LaunchedAt: w.now, FirstStarted: w.now.Add(time.Microsecond), WaitsFrom: w.now.Add(2 * time.Microsecond),
		Certainty: 0.75, TakenOver: engine.TakenOver{Labels: 3, Certainty: 2.25}, Known: 2, Total: 14,
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

const all = 1 << 30

// everything is all that a store can be asked for, by name.
func (w *world) everything(t *testing.T) map[string]any {
	t.Helper()
	c := map[string]any{
		"open calls": must(w.OpenCalls(w.ctx, 0))(t), "messages": must(w.ListMessages(w.ctx, 0, 0, all))(t),
		"due messages": must(w.DueMessages(w.ctx, w.now.Add(1000*time.Hour), all))(t), "invitations": must(w.ListInvitations(w.ctx, 0, 0, all))(t),
		"services": must(w.ListServices(w.ctx))(t),
	}
	add := func(what string, of any, is any) { c[fmt.Sprint(what, " of ", of)] = is }
	account := func(a engine.Account) {
		add("balance", a, must(w.Balance(w.ctx, a))(t))
		add("entries", a, must(w.Entries(w.ctx, a, 0, all))(t))
	}
	account(engine.Account{Kind: engine.Outside})
	for _, x := range must(w.ListTests(w.ctx, 0))(t) {
		c[fmt.Sprint("test ", x.ID)] = must(w.Test(w.ctx, 0, x.ID))(t)
		add("questions", x.ID, must(w.Questions(w.ctx, x.ID))(t))
		add("tries", x.ID, must(w.TestTries(w.ctx, 0, x.ID, 0, all))(t))
	}
	for _, x := range must(w.ListTenants(w.ctx))(t) {
		c[x.ID.String()] = x
		account(tenantAccount(x.ID))
		for _, s := range must(w.TenantSecrets(w.ctx, x.ID))(t) {
			add("secret "+s.Name, x.ID, must(w.TenantSecret(w.ctx, x.ID, s.Name))(t))
		}
	}
	for _, r := range must(w.ListRuns(w.ctx, 0, 0, all))(t) {
		c[r.ID.String()] = must(w.Run(w.ctx, 0, r.ID))(t)
		add("faults", r.ID, must(w.Faults(w.ctx, r.ID, -1, 0, all))(t))
		for i, n := range must(w.Nodes(w.ctx, r.ID))(t) {
			add(fmt.Sprint("node ", i), r.ID, n)
			add(fmt.Sprint("rows at ", i), r.ID, must(w.Rows(w.ctx, r.ID, i, 0, all, nil))(t))
		}
	}
	for _, u := range must(w.ListUsers(w.ctx, 0, 0, all))(t) {
		c[u.ID.String()] = u
		account(workerAccount(u.ID))
		add("tokens", u.ID, must(w.ListTokens(w.ctx, u.ID))(t))
		add("devices", u.ID, must(w.Subscriptions(w.ctx, u.ID))(t))
		add("answers", u.ID, must(w.WorkerAnnotations(w.ctx, u.ID, all))(t))
	}
	for id := int64(1); ; id++ {
		call, err := w.Call(w.ctx, id)
		if crowd.CodeOf(err) == crowd.NotFound {
			break
		}
		ok(t, err)
		c[fmt.Sprint("call ", id)] = call
		add("notices", id, must(w.Notices(w.ctx, id))(t))
	}
	for _, b := range must(w.ListBatches(w.ctx, 0, 0, all))(t) {
		id := b.Spec.ID
		c[id.String()] = must(w.Batch(w.ctx, 0, id))(t)
		account(batchAccount(id))
		account(heldAccount(id))
		add("held pay", id, must(w.ListPay(w.ctx, store.PayQuery{Batch: id, Limit: all}))(t))
		add("annotations", id, must(collect(w.Annotations(w.ctx, b.Spec.Tenant, id, false)))(t))
		add("labels", id, must(collect(w.Labels(w.ctx, b.Spec.Tenant, id)))(t))
		add("tasks", id, must(w.Tasks(w.ctx, id.Task(0), 1000))(t))
		add("invited", id, must(w.Invitations(w.ctx, id))(t))
	}
	for _, p := range must(w.ListPools(w.ctx))(t) {
		c[p.ID.String()] = p
		account(poolAccount(p.ID))
		add("duties", p.ID, must(w.PoolDuties(w.ctx, p.ID))(t))
		add("last notices", p.ID, must(w.LastNotices(w.ctx, p.ID))(t))
		add("actions", p.ID, must(w.ListActions(w.ctx, p.ID, 0, all))(t))
		add("samples", p.ID, must(w.Samples(w.ctx, p.ID, time.Time{}))(t))
		add("snapshot", p.ID, must(w.Snapshot(w.ctx, p.ID))(t))
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
	if id := must(w.CreateTenant(w.ctx, store.Tenant{Name: "later", Weight: 1}, 0))(t); id != w.other+1 {
		t.Errorf("the next tenant is %s, want %s", id, w.other+1)
	}
}
