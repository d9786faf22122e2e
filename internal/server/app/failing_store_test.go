package app_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

// failingStore is a real store of which one chosen call fails: it keeps and reads
// nothing, and returns errLost. Calls are counted between begin and end,
// and of those the ones that the use case makes itself, which carry the mark of
// marked; a Commit is made for it by its pool, and counts too.
type failingStore struct {
	store.Store

	mu       sync.Mutex
	counts   bool
	calls    []storeCall // since begin
	fail     storeCall   // the one that fails; the zero value: none
	happened bool        // it did
}

// storeCall is the n-th call of a method, from 1.
type storeCall struct {
	method string
	n      int
}

var errLost = errors.New("the database is gone")

type markKey struct{}

// marked is a context of whose calls one is to fail.
func marked(ctx context.Context) context.Context { return context.WithValue(ctx, markKey{}, true) }

// begin counts calls from now on, of which one fails.
func (f *failingStore) begin(fail storeCall) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts, f.calls, f.fail, f.happened = true, nil, fail, false
}

// end returns the calls since begin, and whether the chosen one was among them.
func (f *failingStore) end() ([]storeCall, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts = false
	return f.calls, f.happened
}

// called counts a call and returns its error.
func (f *failingStore) called(ctx context.Context, method string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.counts || (ctx.Value(markKey{}) == nil && method != "Commit") {
		return nil
	}
	c := storeCall{method, 1}
	for _, x := range f.calls {
		if x.method == method {
			c.n++
		}
	}
	f.calls = append(f.calls, c)
	if c == f.fail {
		f.happened = true
		return errLost
	}
	return nil
}

func (f *failingStore) err(ctx context.Context, method string, do func() error) error {
	if err := f.called(ctx, method); err != nil {
		return err
	}
	return do()
}

func fail1[T any](f *failingStore, ctx context.Context, method string, do func() (T, error)) (none T, err error) {
	if err := f.called(ctx, method); err != nil {
		return none, err
	}
	return do()
}

func fail2[T, U any](f *failingStore, ctx context.Context, method string, do func() (T, U, error)) (none T, none2 U, err error) {
	if err := f.called(ctx, method); err != nil {
		return none, none2, err
	}
	return do()
}

// failRows fails after the rows, which is the latest that reading can fail.
func failRows[T any](f *failingStore, ctx context.Context, method string, rows func() iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for row, err := range rows() {
			if !yield(row, err) {
				return
			}
		}
		if err := f.called(ctx, method); err != nil {
			var none T
			yield(none, err)
		}
	}
}

func (f *failingStore) Commit(ctx context.Context, c *engine.Changes) error {
	return f.err(ctx, "Commit", func() error { return f.Store.Commit(ctx, c) })
}

func (f *failingStore) Snapshot(ctx context.Context, id crowd.PoolID) (*engine.Snapshot, error) {
	return fail1(f, ctx, "Snapshot", func() (*engine.Snapshot, error) { return f.Store.Snapshot(ctx, id) })
}

func (f *failingStore) Activity(ctx context.Context, id crowd.PoolID, since time.Time, limit int) ([]store.Activity, time.Time, error) {
	return fail2(f, ctx, "Activity", func() ([]store.Activity, time.Time, error) { return f.Store.Activity(ctx, id, since, limit) })
}

func (f *failingStore) CreateTenant(ctx context.Context, t store.Tenant, deposit crowd.Money) (crowd.TenantID, error) {
	return fail1(f, ctx, "CreateTenant", func() (crowd.TenantID, error) { return f.Store.CreateTenant(ctx, t, deposit) })
}

func (f *failingStore) UpdateTenant(ctx context.Context, t store.Tenant) error {
	return f.err(ctx, "UpdateTenant", func() error { return f.Store.UpdateTenant(ctx, t) })
}

func (f *failingStore) Tenant(ctx context.Context, id crowd.TenantID) (store.Tenant, error) {
	return fail1(f, ctx, "Tenant", func() (store.Tenant, error) { return f.Store.Tenant(ctx, id) })
}

func (f *failingStore) ListTenants(ctx context.Context) ([]store.Tenant, error) {
	return fail1(f, ctx, "ListTenants", func() ([]store.Tenant, error) { return f.Store.ListTenants(ctx) })
}

func (f *failingStore) CreateUser(ctx context.Context, u store.User) (crowd.WorkerID, error) {
	return fail1(f, ctx, "CreateUser", func() (crowd.WorkerID, error) { return f.Store.CreateUser(ctx, u) })
}

func (f *failingStore) UpdateUser(ctx context.Context, u store.User) error {
	return f.err(ctx, "UpdateUser", func() error { return f.Store.UpdateUser(ctx, u) })
}

func (f *failingStore) User(ctx context.Context, id crowd.WorkerID) (store.User, error) {
	return fail1(f, ctx, "User", func() (store.User, error) { return f.Store.User(ctx, id) })
}

func (f *failingStore) UserByName(ctx context.Context, name string) (store.User, error) {
	return fail1(f, ctx, "UserByName", func() (store.User, error) { return f.Store.UserByName(ctx, name) })
}

func (f *failingStore) ListUsers(ctx context.Context, tenant crowd.TenantID, after crowd.WorkerID, limit int) ([]store.User, error) {
	return fail1(f, ctx, "ListUsers", func() ([]store.User, error) { return f.Store.ListUsers(ctx, tenant, after, limit) })
}

func (f *failingStore) PoolUsers(ctx context.Context, id crowd.PoolID) ([]store.User, error) {
	return fail1(f, ctx, "PoolUsers", func() ([]store.User, error) { return f.Store.PoolUsers(ctx, id) })
}

func (f *failingStore) PoolDuties(ctx context.Context, id crowd.PoolID) ([]engine.Duty, error) {
	return fail1(f, ctx, "PoolDuties", func() ([]engine.Duty, error) { return f.Store.PoolDuties(ctx, id) })
}

func (f *failingStore) CreateToken(ctx context.Context, t store.Token) (int64, error) {
	return fail1(f, ctx, "CreateToken", func() (int64, error) { return f.Store.CreateToken(ctx, t) })
}

func (f *failingStore) EndAccess(ctx context.Context, e store.Ending) error {
	return f.err(ctx, "EndAccess", func() error { return f.Store.EndAccess(ctx, e) })
}

func (f *failingStore) TokenByHash(ctx context.Context, hash string) (store.Token, error) {
	return fail1(f, ctx, "TokenByHash", func() (store.Token, error) { return f.Store.TokenByHash(ctx, hash) })
}

func (f *failingStore) ListTokens(ctx context.Context, user crowd.WorkerID) ([]store.Token, error) {
	return fail1(f, ctx, "ListTokens", func() ([]store.Token, error) { return f.Store.ListTokens(ctx, user) })
}

func (f *failingStore) ProgramTokens(ctx context.Context, user crowd.WorkerID, before int64, limit int) ([]store.Token, error) {
	return fail1(f, ctx, "ProgramTokens", func() ([]store.Token, error) { return f.Store.ProgramTokens(ctx, user, before, limit) })
}

func (f *failingStore) DeleteToken(ctx context.Context, user crowd.WorkerID, id int64) ([]store.Token, error) {
	return fail1(f, ctx, "DeleteToken", func() ([]store.Token, error) { return f.Store.DeleteToken(ctx, user, id) })
}

func (f *failingStore) UseTokens(ctx context.Context, at map[int64]time.Time) error {
	return f.err(ctx, "UseTokens", func() error { return f.Store.UseTokens(ctx, at) })
}

func (f *failingStore) DeleteExpiredTokens(ctx context.Context, now time.Time) error {
	return f.err(ctx, "DeleteExpiredTokens", func() error { return f.Store.DeleteExpiredTokens(ctx, now) })
}

func (f *failingStore) Request(ctx context.Context, key store.RequestKey) (store.Request, error) {
	return fail1(f, ctx, "Request", func() (store.Request, error) { return f.Store.Request(ctx, key) })
}

func (f *failingStore) PutRequest(ctx context.Context, r store.Request) error {
	return f.err(ctx, "PutRequest", func() error { return f.Store.PutRequest(ctx, r) })
}

func (f *failingStore) DropRequests(ctx context.Context, before time.Time, limit int) (int, error) {
	return fail1(f, ctx, "DropRequests", func() (int, error) { return f.Store.DropRequests(ctx, before, limit) })
}

func (f *failingStore) CreatePool(ctx context.Context, p store.Pool) (crowd.PoolID, error) {
	return fail1(f, ctx, "CreatePool", func() (crowd.PoolID, error) { return f.Store.CreatePool(ctx, p) })
}

func (f *failingStore) UpdatePool(ctx context.Context, p store.Pool) error {
	return f.err(ctx, "UpdatePool", func() error { return f.Store.UpdatePool(ctx, p) })
}

func (f *failingStore) ListPools(ctx context.Context) ([]store.Pool, error) {
	return fail1(f, ctx, "ListPools", func() ([]store.Pool, error) { return f.Store.ListPools(ctx) })
}

func (f *failingStore) Pool(ctx context.Context, id crowd.PoolID) (store.Pool, error) {
	return fail1(f, ctx, "Pool", func() (store.Pool, error) { return f.Store.Pool(ctx, id) })
}

func (f *failingStore) CreateCall(ctx context.Context, c store.Call) (int64, error) {
	return fail1(f, ctx, "CreateCall", func() (int64, error) { return f.Store.CreateCall(ctx, c) })
}

func (f *failingStore) UpdateCall(ctx context.Context, c store.Call, notices []store.Notice) error {
	return f.err(ctx, "UpdateCall", func() error { return f.Store.UpdateCall(ctx, c, notices) })
}

func (f *failingStore) Call(ctx context.Context, id int64) (store.Call, error) {
	return fail1(f, ctx, "Call", func() (store.Call, error) { return f.Store.Call(ctx, id) })
}

func (f *failingStore) OpenCalls(ctx context.Context, id crowd.PoolID) ([]store.Call, error) {
	return fail1(f, ctx, "OpenCalls", func() ([]store.Call, error) { return f.Store.OpenCalls(ctx, id) })
}

func (f *failingStore) PutNotices(ctx context.Context, list []store.Notice, messages []store.Message) error {
	return f.err(ctx, "PutNotices", func() error { return f.Store.PutNotices(ctx, list, messages) })
}

func (f *failingStore) Notices(ctx context.Context, call int64) ([]store.Notice, error) {
	return fail1(f, ctx, "Notices", func() ([]store.Notice, error) { return f.Store.Notices(ctx, call) })
}

func (f *failingStore) LastNotices(ctx context.Context, id crowd.PoolID) ([]store.Notice, error) {
	return fail1(f, ctx, "LastNotices", func() ([]store.Notice, error) { return f.Store.LastNotices(ctx, id) })
}

func (f *failingStore) WorkerNotices(ctx context.Context, worker crowd.WorkerID, limit int) ([]store.Notice, error) {
	return fail1(f, ctx, "WorkerNotices", func() ([]store.Notice, error) { return f.Store.WorkerNotices(ctx, worker, limit) })
}

// DueMessages leaves nothing to the outbox's job, which could be first to send it.
func (f *failingStore) DueMessages(ctx context.Context, now time.Time, limit int) ([]store.Message, error) {
	if ctx.Value(markKey{}) == nil {
		return nil, nil
	}
	return fail1(f, ctx, "DueMessages", func() ([]store.Message, error) { return f.Store.DueMessages(ctx, now, limit) })
}

func (f *failingStore) UpdateMessage(ctx context.Context, m store.Message) error {
	return f.err(ctx, "UpdateMessage", func() error { return f.Store.UpdateMessage(ctx, m) })
}

func (f *failingStore) ListMessages(ctx context.Context, call, before int64, limit int) ([]store.Message, error) {
	return fail1(f, ctx, "ListMessages", func() ([]store.Message, error) { return f.Store.ListMessages(ctx, call, before, limit) })
}

func (f *failingStore) CountMessages(ctx context.Context, since time.Time) (int, int, error) {
	return fail2(f, ctx, "CountMessages", func() (int, int, error) { return f.Store.CountMessages(ctx, since) })
}

func (f *failingStore) DropMessages(ctx context.Context, before time.Time) error {
	return f.err(ctx, "DropMessages", func() error { return f.Store.DropMessages(ctx, before) })
}

func (f *failingStore) PutSubscription(ctx context.Context, s store.Subscription) (int64, error) {
	return fail1(f, ctx, "PutSubscription", func() (int64, error) { return f.Store.PutSubscription(ctx, s) })
}

func (f *failingStore) DeleteSubscription(ctx context.Context, worker crowd.WorkerID, id int64) error {
	return f.err(ctx, "DeleteSubscription", func() error { return f.Store.DeleteSubscription(ctx, worker, id) })
}

func (f *failingStore) Subscriptions(ctx context.Context, worker crowd.WorkerID) ([]store.Subscription, error) {
	return fail1(f, ctx, "Subscriptions", func() ([]store.Subscription, error) { return f.Store.Subscriptions(ctx, worker) })
}

func (f *failingStore) Secret(ctx context.Context, name, made string) (string, error) {
	return fail1(f, ctx, "Secret", func() (string, error) { return f.Store.Secret(ctx, name, made) })
}

func (f *failingStore) AddActions(ctx context.Context, list []store.Action) error {
	return f.err(ctx, "AddActions", func() error { return f.Store.AddActions(ctx, list) })
}

func (f *failingStore) ListActions(ctx context.Context, id crowd.PoolID, before int64, limit int) ([]store.Action, error) {
	return fail1(f, ctx, "ListActions", func() ([]store.Action, error) { return f.Store.ListActions(ctx, id, before, limit) })
}

func (f *failingStore) AddSamples(ctx context.Context, list []store.Sample) error {
	return f.err(ctx, "AddSamples", func() error { return f.Store.AddSamples(ctx, list) })
}

func (f *failingStore) Samples(ctx context.Context, id crowd.PoolID, since time.Time) ([]store.Sample, error) {
	return fail1(f, ctx, "Samples", func() ([]store.Sample, error) { return f.Store.Samples(ctx, id, since) })
}

func (f *failingStore) DropSamples(ctx context.Context, before time.Time) error {
	return f.err(ctx, "DropSamples", func() error { return f.Store.DropSamples(ctx, before) })
}

func (f *failingStore) PutStates(ctx context.Context, list []store.PoolState) error {
	return f.err(ctx, "PutStates", func() error { return f.Store.PutStates(ctx, list) })
}

func (f *failingStore) PoolStates(ctx context.Context) ([]store.PoolState, error) {
	return fail1(f, ctx, "PoolStates", func() ([]store.PoolState, error) { return f.Store.PoolStates(ctx) })
}

func (f *failingStore) CreateBatch(ctx context.Context, b store.Batch) (crowd.BatchID, error) {
	return fail1(f, ctx, "CreateBatch", func() (crowd.BatchID, error) { return f.Store.CreateBatch(ctx, b) })
}

func (f *failingStore) UpdateDraft(ctx context.Context, b store.Batch) error {
	return f.err(ctx, "UpdateDraft", func() error { return f.Store.UpdateDraft(ctx, b) })
}

func (f *failingStore) AddTasks(ctx context.Context, id crowd.BatchID, tasks []store.Task) error {
	return f.err(ctx, "AddTasks", func() error { return f.Store.AddTasks(ctx, id, tasks) })
}

func (f *failingStore) DropTasks(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID) error {
	return f.err(ctx, "DropTasks", func() error { return f.Store.DropTasks(ctx, tenant, id) })
}

func (f *failingStore) CancelDraft(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID, now time.Time) error {
	return f.err(ctx, "CancelDraft", func() error { return f.Store.CancelDraft(ctx, tenant, id, now) })
}

func (f *failingStore) Batch(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID) (store.Batch, error) {
	return fail1(f, ctx, "Batch", func() (store.Batch, error) { return f.Store.Batch(ctx, tenant, id) })
}

func (f *failingStore) ListBatches(ctx context.Context, tenant crowd.TenantID, before crowd.BatchID, limit int) ([]store.Batch, error) {
	return fail1(f, ctx, "ListBatches", func() ([]store.Batch, error) { return f.Store.ListBatches(ctx, tenant, before, limit) })
}

func (f *failingStore) BatchNames(ctx context.Context, ids []crowd.BatchID) (map[crowd.BatchID]string, error) {
	return fail1(f, ctx, "BatchNames", func() (map[crowd.BatchID]string, error) { return f.Store.BatchNames(ctx, ids) })
}

func (f *failingStore) Task(ctx context.Context, id crowd.TaskID) (store.Task, error) {
	return fail1(f, ctx, "Task", func() (store.Task, error) { return f.Store.Task(ctx, id) })
}

func (f *failingStore) Tasks(ctx context.Context, first crowd.TaskID, n int) ([]store.Task, error) {
	return fail1(f, ctx, "Tasks", func() ([]store.Task, error) { return f.Store.Tasks(ctx, first, n) })
}

func (f *failingStore) Known(ctx context.Context, id crowd.BatchID, after, last uint32) (map[uint32]string, error) {
	return fail1(f, ctx, "Known", func() (map[uint32]string, error) { return f.Store.Known(ctx, id, after, last) })
}

func (f *failingStore) Lessons(ctx context.Context, id crowd.BatchID, after, last uint32) ([]uint32, error) {
	return fail1(f, ctx, "Lessons", func() ([]uint32, error) { return f.Store.Lessons(ctx, id, after, last) })
}

func (f *failingStore) Invitations(ctx context.Context, id crowd.BatchID) (map[crowd.WorkerID][]uint32, error) {
	return fail1(f, ctx, "Invitations", func() (map[crowd.WorkerID][]uint32, error) { return f.Store.Invitations(ctx, id) })
}

func (f *failingStore) Deposit(ctx context.Context, at time.Time, tenant crowd.TenantID, amount crowd.Money, note string) error {
	return f.err(ctx, "Deposit", func() error { return f.Store.Deposit(ctx, at, tenant, amount, note) })
}

func (f *failingStore) Balance(ctx context.Context, a engine.Account) (crowd.Money, error) {
	return fail1(f, ctx, "Balance", func() (crowd.Money, error) { return f.Store.Balance(ctx, a) })
}

func (f *failingStore) Entries(ctx context.Context, a engine.Account, before int64, limit int) ([]store.Entry, error) {
	return fail1(f, ctx, "Entries", func() ([]store.Entry, error) { return f.Store.Entries(ctx, a, before, limit) })
}

func (f *failingStore) CheckLedger(ctx context.Context) error {
	return f.err(ctx, "CheckLedger", func() error { return f.Store.CheckLedger(ctx) })
}

func (f *failingStore) PutTenantSecret(ctx context.Context, tenant crowd.TenantID, s store.TenantSecret) error {
	return f.err(ctx, "PutTenantSecret", func() error { return f.Store.PutTenantSecret(ctx, tenant, s) })
}

func (f *failingStore) TenantSecret(ctx context.Context, tenant crowd.TenantID, name string) (store.TenantSecret, error) {
	return fail1(f, ctx, "TenantSecret", func() (store.TenantSecret, error) { return f.Store.TenantSecret(ctx, tenant, name) })
}

func (f *failingStore) TenantSecrets(ctx context.Context, tenant crowd.TenantID) ([]store.TenantSecret, error) {
	return fail1(f, ctx, "TenantSecrets", func() ([]store.TenantSecret, error) { return f.Store.TenantSecrets(ctx, tenant) })
}

func (f *failingStore) DeleteTenantSecret(ctx context.Context, tenant crowd.TenantID, name string) error {
	return f.err(ctx, "DeleteTenantSecret", func() error { return f.Store.DeleteTenantSecret(ctx, tenant, name) })
}

func (f *failingStore) CreateInvitations(ctx context.Context, list []store.Invitation, mail func(store.Invitation) store.Message) ([]store.Invitation, error) {
	return fail1(f, ctx, "CreateInvitations", func() ([]store.Invitation, error) { return f.Store.CreateInvitations(ctx, list, mail) })
}

func (f *failingStore) UpdateInvitation(ctx context.Context, i store.Invitation, mail *store.Message, now time.Time) error {
	return f.err(ctx, "UpdateInvitation", func() error { return f.Store.UpdateInvitation(ctx, i, mail, now) })
}

func (f *failingStore) AcceptInvitation(ctx context.Context, i store.Invitation, u store.User, a *store.Asking) (crowd.WorkerID, error) {
	return fail1(f, ctx, "AcceptInvitation", func() (crowd.WorkerID, error) { return f.Store.AcceptInvitation(ctx, i, u, a) })
}

func (f *failingStore) Invitation(ctx context.Context, tenant crowd.TenantID, id int64) (store.Invitation, error) {
	return fail1(f, ctx, "Invitation", func() (store.Invitation, error) { return f.Store.Invitation(ctx, tenant, id) })
}

func (f *failingStore) ListInvitations(ctx context.Context, tenant crowd.TenantID, before int64, limit int) ([]store.Invitation, error) {
	return fail1(f, ctx, "ListInvitations", func() ([]store.Invitation, error) { return f.Store.ListInvitations(ctx, tenant, before, limit) })
}

func (f *failingStore) InvitationsTo(ctx context.Context, tenant crowd.TenantID, address string) ([]store.Invitation, error) {
	return fail1(f, ctx, "InvitationsTo", func() ([]store.Invitation, error) { return f.Store.InvitationsTo(ctx, tenant, address) })
}

func (f *failingStore) AcceptedInvitations(ctx context.Context, worker crowd.WorkerID) ([]store.Invitation, error) {
	return fail1(f, ctx, "AcceptedInvitations", func() ([]store.Invitation, error) { return f.Store.AcceptedInvitations(ctx, worker) })
}

func (f *failingStore) UsersByEmail(ctx context.Context, address string) ([]store.User, error) {
	return fail1(f, ctx, "UsersByEmail", func() ([]store.User, error) { return f.Store.UsersByEmail(ctx, address) })
}

func (f *failingStore) CreateTest(ctx context.Context, t store.Test, questions []store.Question) (int64, error) {
	return fail1(f, ctx, "CreateTest", func() (int64, error) { return f.Store.CreateTest(ctx, t, questions) })
}

func (f *failingStore) RetireTest(ctx context.Context, tenant crowd.TenantID, id int64, retired bool) error {
	return f.err(ctx, "RetireTest", func() error { return f.Store.RetireTest(ctx, tenant, id, retired) })
}

func (f *failingStore) Test(ctx context.Context, tenant crowd.TenantID, id int64) (store.Test, error) {
	return fail1(f, ctx, "Test", func() (store.Test, error) { return f.Store.Test(ctx, tenant, id) })
}

func (f *failingStore) ListTests(ctx context.Context, tenant crowd.TenantID) ([]store.Test, error) {
	return fail1(f, ctx, "ListTests", func() ([]store.Test, error) { return f.Store.ListTests(ctx, tenant) })
}

func (f *failingStore) Questions(ctx context.Context, test int64) ([]store.Question, error) {
	return fail1(f, ctx, "Questions", func() ([]store.Question, error) { return f.Store.Questions(ctx, test) })
}

func (f *failingStore) StartTry(ctx context.Context, t store.Try) (int64, error) {
	return fail1(f, ctx, "StartTry", func() (int64, error) { return f.Store.StartTry(ctx, t) })
}

func (f *failingStore) FinishTry(ctx context.Context, t store.Try, u *store.User) error {
	return f.err(ctx, "FinishTry", func() error { return f.Store.FinishTry(ctx, t, u) })
}

func (f *failingStore) Tries(ctx context.Context, test int64, worker crowd.WorkerID) ([]store.Try, error) {
	return fail1(f, ctx, "Tries", func() ([]store.Try, error) { return f.Store.Tries(ctx, test, worker) })
}

func (f *failingStore) TestTries(ctx context.Context, tenant crowd.TenantID, test, before int64, limit int) ([]store.Try, error) {
	return fail1(f, ctx, "TestTries", func() ([]store.Try, error) { return f.Store.TestTries(ctx, tenant, test, before, limit) })
}

// fate is how a use case fared without a call of the store.
type fate struct {
	wrong   []string
	excused bool // something was wrong but for the excuse
}

func (f *fate) fault(excused bool, format string, args ...any) {
	if f.excused = f.excused || excused; !excused {
		f.wrong = append(f.wrong, fmt.Sprintf(format, args...))
	}
}
