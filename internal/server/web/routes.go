package web

import (
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/httpkit"
	"github.com/throng-dev/throng/internal/server/limits"
	"github.com/throng-dev/throng/internal/server/runs"
)

// The routes that no permission is for. What whoever comes may do is for the use cases to
// say.
var (
	public   = access.Operation{Who: access.Everybody}
	signedIn = access.Operation{Who: access.Self}
)

// handler answers a request. An error is shown as a page.
type handler func(*request) error

// route is one entry of the table.
type route struct {
	pattern string
	access  access.Operation // who may come at all
	handle  handler
	long    bool // the page may be megabytes, in memory until it is taken
	upload  bool // the limit of its body is that of files, not of forms
	once    bool // an action that makes or moves something each time: its form has a key, under which it does so once
	enrols  bool // who has to set up a second factor may come before they have
	// An action that may be refused names its form, in which $part is a part of the
	// path, and the page of that form: it is shown again, with what was typed and
	// what is wrong.
	form string
	page handler
}

// of is a handler about an ID.
type of[ID any] func(*request, ID) error

// about makes a handler of one that is about what a part of the path names.
func about[ID any](part string, parse func(string) (ID, error), handle of[ID]) handler {
	return func(rq *request) error {
		id, err := parse(rq.r.PathValue(part))
		if err != nil {
			return err
		}
		return handle(rq, id)
	}
}

func ofTenant(handle of[crowd.TenantID]) handler { return about("tenant", crowd.ParseTenantID, handle) }
func ofPool(handle of[crowd.PoolID]) handler     { return about("pool", crowd.ParsePoolID, handle) }
func ofPerson(handle of[crowd.WorkerID]) handler { return about("user", crowd.ParseWorkerID, handle) }
func ofBatch(handle of[crowd.BatchID]) handler   { return about("batch", crowd.ParseBatchID, handle) }
func ofRun(handle of[crowd.RunID]) handler       { return about("run", crowd.ParseRunID, handle) }
func ofProvider(handle of[string]) handler {
	return func(rq *request) error { return handle(rq, rq.r.PathValue("provider")) }
}

// numbered is a handler about what has a plain number.
func numbered(noun string, handle of[int64]) handler {
	return about(noun, func(text string) (int64, error) {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil || id < 1 {
			return 0, crowd.Errorf(crowd.NotFound, "there is no such %s", noun)
		}
		return id, nil
	}, handle)
}

// routes is every page and action.
func routes() []route {
	return []route{
		{pattern: "GET /{$}", access: public, enrols: true, handle: (*request).home},
		{pattern: "GET /signin", access: public, enrols: true, handle: (*request).signInPage},
		{pattern: "POST /signin", access: public, enrols: true, handle: (*request).signIn},
		{pattern: "GET /signin/passkey", access: public, enrols: true, handle: (*request).passkeySignInPage},
		{pattern: "POST /signin/passkey", access: public, enrols: true, handle: (*request).signInWithPasskey},
		{pattern: "GET /signin/{provider}", access: public, enrols: true, handle: (*request).signInElsewhere},
		{pattern: "GET /signin/{provider}/back", access: public, enrols: true, handle: (*request).signInBack},
		{pattern: "GET /factor", access: public, enrols: true, handle: (*request).factorPage},
		{pattern: "POST /factor", access: public, enrols: true, handle: (*request).showFactor, form: "factor", page: (*request).factorPage},
		{pattern: "POST /signout", access: signedIn, enrols: true, handle: (*request).signOut},
		{pattern: "GET /setup", access: public, handle: (*request).setupPage},
		{pattern: "POST /setup", access: public, handle: (*request).setup, form: "setup", page: (*request).setupPage},
		{pattern: "GET /invitation", access: public, handle: (*request).invitation},
		{pattern: "POST /invitation", access: public, handle: (*request).answerInvitation, form: "join", page: (*request).invitation},

		{pattern: "GET /qualify", access: signedIn, handle: (*request).qualify},
		{pattern: "GET /qualify/{test}", access: signedIn, handle: numbered("test", (*request).take)},
		{pattern: "POST /qualify/{test}/start", access: signedIn, handle: numbered("test", (*request).startTry)},
		{pattern: "POST /qualify/{test}/answers", access: signedIn, handle: numbered("test", (*request).submitTry)},

		{pattern: "GET /account", access: signedIn, enrols: true, handle: (*request).account},
		{pattern: "POST /account/totp", access: signedIn, enrols: true, handle: (*request).beginTOTP, form: "totp", page: (*request).account},
		{pattern: "POST /account/totp/confirm", access: signedIn, enrols: true, handle: (*request).confirmTOTP, form: "confirm", page: (*request).showTOTP},
		{pattern: "POST /account/passkey", access: signedIn, enrols: true, handle: (*request).beginPasskey, form: "passkey", page: (*request).account},
		{pattern: "POST /account/passkey/confirm", access: signedIn, enrols: true, handle: (*request).confirmPasskey, form: "confirm", page: (*request).showPasskey},
		{pattern: "POST /account/recovery", access: signedIn, handle: (*request).newRecoveryCodes, form: "recovery", page: (*request).account},
		{pattern: "POST /account/factors/{factor}/remove", access: signedIn, handle: numbered("factor", (*request).removeFactor), form: "factor-$factor", page: (*request).account},
		{pattern: "POST /account/password", access: signedIn, handle: (*request).changePassword, form: "password", page: (*request).account},
		{pattern: "POST /account/address", access: signedIn, handle: (*request).changeAddress, form: "address", page: (*request).account},
		{pattern: "POST /account/address/ask", access: signedIn, handle: (*request).askForAddress, form: "ask", page: (*request).account},
		{pattern: "GET /verify", access: signedIn, handle: (*request).verifyPage},
		{pattern: "POST /verify", access: signedIn, handle: (*request).verify, form: "verify", page: (*request).verifyPage},
		{pattern: "POST /account/sessions/{session}/end", access: signedIn, handle: numbered("session", (*request).endSession)},
		{pattern: "POST /account/signout", access: signedIn, handle: (*request).signOutEverywhere},

		{pattern: "GET /people/{user}/erase", access: signedIn, handle: ofPerson((*request).erasePage)},
		{pattern: "POST /people/{user}/erase", access: signedIn, handle: ofPerson((*request).erase), form: "erase", page: ofPerson((*request).erasePage)},

		{pattern: "GET /tokens", access: signedIn, handle: (*request).tokens},
		{pattern: "POST /tokens", access: signedIn, once: true, handle: (*request).createToken, form: "token", page: (*request).tokens},
		{pattern: "POST /tokens/{token}/revoke", access: signedIn, handle: numbered("token", (*request).revokeToken)},

		{pattern: "GET /work", access: access.WorkNext, handle: (*request).work},
		{pattern: "POST /work/next", access: access.WorkNext, handle: (*request).waitForWork},
		{pattern: "POST /work/submit", access: access.WorkSubmit, handle: (*request).submit},
		{pattern: "GET /work/feedback/{assignment}", access: access.WorkFeedback, handle: (*request).feedback},
		{pattern: "POST /work/skip", access: access.WorkSkip, handle: (*request).skip},
		{pattern: "POST /work/undo", access: access.WorkUndo, handle: (*request).undo},
		{pattern: "GET /work/revise/{assignment}", access: access.WorkRevisable, handle: (*request).revisePage},
		{pattern: "GET /work/revise/{assignment}/frame", access: access.WorkRevisable, handle: (*request).reviseFrame},
		{pattern: "POST /work/revise", access: access.WorkRevise, handle: (*request).revise},
		{pattern: "POST /work/report", access: access.WorkReport, handle: (*request).report},
		{pattern: "GET /work/reports", access: access.WorkOwnReports, handle: (*request).ownReports},
		{pattern: "GET /work/pay", access: signedIn, handle: (*request).ownPay},
		{pattern: "POST /work/pay", access: signedIn, handle: (*request).appeal, form: "appeal", page: (*request).ownPay},
		{pattern: "POST /work/notes/seen", access: access.WorkSeeNote, handle: (*request).seeNote},
		{pattern: "POST /work/return", access: access.WorkNext, handle: (*request).giveBack},
		{pattern: "POST /work/heartbeat", access: access.WorkNext, handle: (*request).heartbeat},
		{pattern: "GET /work/rest", access: access.WorkNext, handle: (*request).rest},
		{pattern: "GET /work/earnings", access: access.WorkNext, handle: (*request).earnings},
		{pattern: "GET /work/duty", access: access.WorkNext, handle: (*request).watchDuty},
		{pattern: "POST /work/duty", access: access.WorkNext, handle: (*request).comeIn},
		{pattern: "POST /work/decline", access: access.WorkNext, handle: (*request).decline},
		{pattern: "POST /work/stop", access: access.WorkNext, handle: (*request).stopWork},
		{pattern: "GET /work/wishes", access: access.WorkNext, handle: (*request).wishes},
		{pattern: "POST /work/wishes", access: access.WorkNext, handle: (*request).setWishes, form: "wishes", page: (*request).wishes},
		{pattern: "GET /work/push.js", access: public, handle: (*request).pushScript},
		{pattern: "POST /work/push", access: access.WorkNext, handle: (*request).subscribe},
		{pattern: "POST /work/push/{subscription}/forget", access: access.WorkNext, handle: numbered("subscription", (*request).unsubscribe)},
		{pattern: "GET /work/frame/{assignment}", access: access.WorkNext, handle: (*request).workFrame},

		{pattern: "GET /batches", access: access.BatchesList, handle: (*request).batches},
		{pattern: "GET /batches/new", access: access.BatchesCreate, handle: (*request).newBatch},
		{pattern: "POST /batches", access: access.BatchesCreate, once: true, handle: (*request).createBatch, upload: true, form: "new", page: (*request).newBatch},
		{pattern: "GET /batches/{batch}", access: access.BatchesGet, handle: ofBatch((*request).batch)},
		{pattern: "GET /batches/{batch}/frame/{task}", access: access.BatchesPreview, handle: ofBatch((*request).previewFrame)},
		{pattern: "GET /batches/{batch}/preview", access: access.BatchesPreview, handle: ofBatch((*request).preview)},
		{pattern: "POST /batches/{batch}/upload", access: access.BatchesUpload, handle: ofBatch((*request).upload), upload: true, form: "upload", page: ofBatch((*request).batch)},
		{pattern: "POST /batches/{batch}/template", access: access.BatchesEditDraft, handle: ofBatch((*request).editTemplate), form: "template", page: ofBatch((*request).batch)},
		{pattern: "POST /batches/{batch}/settings", access: access.BatchesEditDraft, handle: ofBatch((*request).editSettings), form: "settings", page: ofBatch((*request).batch)},
		{pattern: "GET /batches/{batch}/confirm", access: access.BatchesLaunch, handle: ofBatch(confirm("/batches/", batchActions, aboutBatch))},
		{pattern: "POST /batches/{batch}/do", access: access.BatchesLaunch, handle: ofBatch(act("/batches/", batchActions))},
		{pattern: "POST /batches/{batch}/launch", access: access.BatchesLaunch, handle: ofBatch((*request).launchDraft), form: "launch", page: ofBatch((*request).batch)},
		{pattern: "POST /batches/{batch}/edit", access: access.BatchesChange, handle: ofBatch((*request).editBatch), form: "edit", page: ofBatch((*request).batch)},
		{pattern: "POST /batches/{batch}/tasks", access: access.BatchesAddTasks, once: true, handle: ofBatch((*request).addTasks), upload: true, form: "add", page: ofBatch((*request).batch)},
		{pattern: "GET /batches/{batch}/takeout", access: access.BatchesRemoveTask, handle: ofBatch((*request).askTakeOut)},
		{pattern: "POST /batches/{batch}/takeout", access: access.BatchesRemoveTask, handle: ofBatch((*request).takeOut), form: "takeout", page: ofBatch((*request).batch)},
		{pattern: "POST /batches/{batch}/topup", access: access.BatchesTopUp, once: true, handle: ofBatch(topUp("/batches/", allBatches, (*batches.Batches).TopUp)), form: "topup", page: ofBatch((*request).batch)},
		{pattern: "GET /batches/{batch}/events", access: access.BatchesWatch, handle: ofBatch((*request).events)},
		{pattern: "GET /batches/{batch}/results", access: access.ResultsList, handle: ofBatch((*request).results)},
		{pattern: "GET /batches/{batch}/results/{task}", access: access.ResultsTask, handle: ofBatch((*request).result)},
		{pattern: "POST /batches/{batch}/results/{task}/label", access: access.ResultsCorrect, handle: ofBatch((*request).correct), form: "correct", page: ofBatch((*request).result)},
		{pattern: "POST /batches/{batch}/results/{task}/send-back", access: access.BatchesSendBack, handle: ofBatch((*request).sendBack), form: "send-back", page: ofBatch((*request).result)},
		{pattern: "POST /batches/{batch}/results/{task}/withdraw", access: access.ResultsWithdraw, handle: ofBatch((*request).withdraw), form: "withdraw", page: ofBatch((*request).result)},
		{pattern: "GET /batches/{batch}/reports", access: access.WorkReports, handle: ofBatch((*request).reports)},
		{pattern: "GET /batches/{batch}/pay", access: access.PayList, handle: ofBatch((*request).heldPay)},
		{pattern: "POST /batches/{batch}/pay", access: access.PayApprove, handle: ofBatch((*request).decidePay), form: "pay", page: ofBatch((*request).heldPay)},
		{pattern: "GET /appeals", access: access.PayAppeals, handle: (*request).appeals},
		{pattern: "POST /appeals", access: access.PayDecide, handle: (*request).decideAppeal, form: "decide", page: (*request).appeals},
		{pattern: "POST /batches/{batch}/reports", access: access.WorkReply, handle: ofBatch((*request).reply), form: "reply", page: ofBatch((*request).reports)},
		{pattern: "GET /batches/{batch}/quality", access: access.BatchesQuality, handle: ofBatch((*request).quality)},
		{pattern: "POST /batches/{batch}/quality/undo", access: access.BatchesUndoAction, handle: ofBatch((*request).undoAction), form: "undo", page: ofBatch((*request).quality)},
		{pattern: "GET /batches/{batch}/workers/{worker}", access: access.ResultsWorker, handle: ofBatch((*request).batchWorker)},
		{pattern: "GET /batches/{batch}/workers/{worker}/disregard", access: access.BatchesWouldDisregard, handle: ofBatch((*request).confirmDisregard)},
		{pattern: "POST /batches/{batch}/workers/{worker}/disregard", access: access.BatchesDisregard, once: true, handle: ofBatch((*request).disregard)},
		{pattern: "GET /runs", access: access.RunsList, handle: (*request).runs},
		{pattern: "GET /runs/new", access: access.RunsMake, handle: (*request).newRun},
		{pattern: "POST /runs", access: access.RunsMake, once: true, handle: (*request).createRun, form: "run", page: (*request).newRun, long: true},
		{pattern: "GET /runs/{run}", access: access.RunsGet, handle: ofRun((*request).run)},
		{pattern: "POST /runs/{run}/inputs", access: access.RunsLoad, handle: ofRun((*request).loadRun), upload: true, form: "load", page: ofRun((*request).run)},
		{pattern: "POST /runs/{run}/rows", access: access.RunsAddRows, handle: ofRun((*request).addRows), upload: true, form: "rows", page: ofRun((*request).run)},
		{pattern: "POST /runs/{run}/topup", access: access.RunsTopUp, once: true, handle: ofRun(topUp("/runs/", allRuns, (*runs.Runs).TopUp)), form: "topup", page: ofRun((*request).run)},
		{pattern: "GET /runs/{run}/events", access: access.RunsWatch, handle: ofRun((*request).runEvents)},
		{pattern: "GET /runs/{run}/confirm", access: access.RunsGet, handle: ofRun(confirm("/runs/", runActions, aboutRun))},
		{pattern: "POST /runs/{run}/do", access: access.RunsGet, handle: ofRun((*request).actRun), form: "load", page: ofRun((*request).run)},
		{pattern: "GET /runs/{run}/steps/{step}", access: access.RunsItems, handle: ofRun((*request).runStep), long: true},
		{pattern: "GET /runs/{run}/items/{item}", access: access.RunsItems, handle: ofRun((*request).runItem), long: true},
		{pattern: "GET /tenants/{tenant}/secrets", access: access.TenantsSecrets, handle: ofTenant((*request).secrets)},
		{pattern: "POST /tenants/{tenant}/secrets", access: access.TenantsSecrets, handle: ofTenant((*request).putSecret), form: "secret", page: ofTenant((*request).secrets)},
		{pattern: "GET /tenants/{tenant}/secrets/{secret}/delete", access: access.TenantsDeleteSecret, handle: ofTenant((*request).confirmSecret)},
		{pattern: "POST /tenants/{tenant}/secrets/{secret}/delete", access: access.TenantsDeleteSecret, handle: ofTenant((*request).deleteSecret)},
		{pattern: "GET /tenants/{tenant}/quotas", access: access.TenantsQuotas, handle: ofTenant((*request).quotas)},
		{pattern: "POST /tenants/{tenant}/quotas", access: access.TenantsSetQuotas, handle: ofTenant((*request).setQuotas), form: "quotas", page: ofTenant((*request).quotas)},
		{pattern: "GET /tenants/{tenant}/retention", access: access.RetentionGet, handle: ofTenant((*request).retention)},
		{pattern: "POST /tenants/{tenant}/retention", access: access.RetentionSet, handle: ofTenant((*request).setRetention), form: "retention", page: ofTenant((*request).retention)},
		{pattern: "GET /invitations", access: access.InvitationsList, handle: (*request).invitations},
		{pattern: "POST /invitations", access: access.InvitationsInvite, once: true, handle: (*request).invite, form: "invite", page: (*request).invitations},
		{pattern: "POST /invitations/{invitation}/resend", access: access.InvitationsResend, once: true, handle: numbered("invitation", (*request).resendInvitation)},
		{pattern: "POST /invitations/{invitation}/withdraw", access: access.InvitationsWithdraw, handle: numbered("invitation", (*request).withdrawInvitation)},
		{pattern: "GET /tests", access: access.TestsList, handle: (*request).tests},
		{pattern: "POST /tests", access: access.TestsCreate, once: true, handle: (*request).createTest, upload: true, form: "test", page: (*request).tests},
		{pattern: "GET /tests/{test}", access: access.TestsGet, handle: numbered("test", (*request).test)},
		{pattern: "POST /tests/{test}/retire", access: access.TestsRetire, handle: numbered("test", (*request).retireTest)},
		{pattern: "GET /tenants/{tenant}", access: access.TenantsAccount, handle: ofTenant((*request).tenant)},
		{pattern: "POST /tenants/{tenant}/deposit", access: access.TenantsDeposit, once: true, handle: ofTenant((*request).depositHere), form: "deposit", page: ofTenant((*request).tenant)},
		{pattern: "POST /tenants/{tenant}/stop", access: access.TenantsUpdate, handle: ofTenant((*request).stopTenant)},
		{pattern: "POST /tenants/{tenant}/block", access: access.AccountsBlockWorker, handle: ofTenant((*request).blockWorker)},

		{pattern: "GET /tenants/{tenant}/audit", access: access.AuditList, handle: ofTenant((*request).auditOfTenant)},
		{pattern: "GET /audit/{entry}", access: access.AuditGet, handle: numbered("entry", (*request).auditEntry)},
		{pattern: "GET /admin/audit", access: access.AuditWhole, handle: (*request).auditLog},

		{pattern: "GET /admin", access: access.PoolsGet, handle: (*request).admin},
		{pattern: "POST /admin/stop", access: access.PoolsStopEverything, handle: (*request).stopEverything},
		{pattern: "POST /admin/tenants", access: access.TenantsCreate, once: true, handle: (*request).createTenant, form: "tenant", page: (*request).admin},
		{pattern: "POST /admin/tenants/{tenant}", access: access.TenantsChange, handle: ofTenant((*request).editTenant), form: "tenant-$tenant", page: (*request).admin},
		{pattern: "POST /admin/tenants/{tenant}/stop", access: access.TenantsUpdate, handle: ofTenant((*request).stopTenantHere)},
		{pattern: "POST /admin/tenants/{tenant}/deposit", access: access.TenantsDeposit, once: true, handle: ofTenant((*request).deposit), form: "deposit-$tenant", page: (*request).admin},
		{pattern: "POST /admin/pools", access: access.PoolsCreate, once: true, handle: (*request).createPool, form: "pool", page: (*request).admin},
		{pattern: "GET /admin/pools/{pool}", access: access.PoolsGet, handle: ofPool((*request).pool)},
		{pattern: "GET /admin/pools/{pool}/settings", access: access.PoolsChange, handle: ofPool((*request).poolSettings)},
		{pattern: "POST /admin/pools/{pool}/settings", access: access.PoolsChange, handle: ofPool((*request).editPoolSettings), form: "control", page: ofPool((*request).poolSettings)},
		{pattern: "POST /admin/pools/{pool}/fund", access: access.PoolsFund, once: true, handle: ofPool((*request).fundPool), form: "fund", page: ofPool((*request).pool)},
		{pattern: "POST /admin/pools/{pool}/transfer", access: access.TransfersMoveFrom, handle: ofPool((*request).transfer), form: "transfer", page: ofPool((*request).pool)},
		{pattern: "POST /admin/pools/{pool}", access: access.PoolsChange, handle: ofPool((*request).editPool), form: "pool-$pool", page: (*request).admin},
		{pattern: "POST /admin/pools/{pool}/stop", access: access.PoolsChange, handle: ofPool((*request).stopPool)},
		{pattern: "GET /admin/quotas", access: access.TenantsSetQuotas, handle: (*request).allQuotas},
		{pattern: "GET /admin/services", access: access.ServicesWhole, handle: (*request).services},
		{pattern: "POST /admin/services", access: access.ServicesDeclare, once: true, handle: (*request).declareService, form: "service", page: (*request).services},
		{pattern: "POST /admin/services/{service}", access: access.ServicesChange, handle: (*request).editService, form: "service-$service", page: (*request).services},
		{pattern: "GET /admin/services/{service}/remove", access: access.ServicesRemove, handle: (*request).confirmService},
		{pattern: "POST /admin/services/{service}/remove", access: access.ServicesRemove, handle: (*request).removeService},
		{pattern: "GET /admin/roles", access: access.AccountsWholeUsers, handle: (*request).roles},
		{pattern: "POST /admin/roles", access: access.AccountsCreateRoleOfAll, once: true, handle: ofAll((*request).createRole), form: "role", page: ofAll((*request).rolePage)},
		{pattern: "POST /admin/roles/{role}", access: access.AccountsCreateRoleOfAll, handle: ofAll((*request).changeRole), form: "role-$role", page: ofAll((*request).rolePage)},
		{pattern: "GET /admin/roles/{role}/remove", access: access.AccountsCreateRoleOfAll, handle: ofAll((*request).confirmRole)},
		{pattern: "POST /admin/roles/{role}/remove", access: access.AccountsCreateRoleOfAll, handle: ofAll((*request).removeRole)},
		{pattern: "GET /tenants/{tenant}/roles", access: access.AccountsUsers, handle: ofTenant((*request).rolesOf)},
		{pattern: "POST /tenants/{tenant}/roles", access: access.AccountsCreateRole, once: true, handle: ofTenant((*request).createRole), form: "role", page: ofTenant((*request).rolePage)},
		{pattern: "POST /tenants/{tenant}/roles/{role}", access: access.AccountsChangeRole, handle: ofTenant((*request).changeRole), form: "role-$role", page: ofTenant((*request).rolePage)},
		{pattern: "GET /tenants/{tenant}/roles/{role}/remove", access: access.AccountsRemoveRole, handle: ofTenant((*request).confirmRole)},
		{pattern: "POST /tenants/{tenant}/roles/{role}/remove", access: access.AccountsRemoveRole, handle: ofTenant((*request).removeRole)},
		{pattern: "POST /tenants/{tenant}/people", access: access.AccountsCreateUser, once: true, handle: ofTenant((*request).addStaff), form: "add", page: ofTenant((*request).rolePage)},
		{pattern: "POST /tenants/{tenant}/give", access: access.AccountsGiveRole, handle: ofTenant((*request).giveHere), form: "give", page: ofTenant((*request).rolePage)},
		{pattern: "GET /admin/tokens", access: access.AccountsAllTokens, handle: (*request).allTokens},
		{pattern: "POST /admin/tokens/{token}/revoke", access: access.AccountsTokensOfOthers, handle: numbered("token", (*request).endToken)},
		{pattern: "GET /admin/providers", access: access.ProvisioningProviders, handle: (*request).providers},
		{pattern: "POST /admin/providers/{provider}/tokens", access: access.ProvisioningCreateToken, once: true, handle: ofProvider((*request).createProviderToken), form: "token-$provider", page: (*request).providers},
		{pattern: "POST /admin/providers/{provider}/tokens/{token}/revoke", access: access.ProvisioningRevokeToken, handle: numbered("token", (*request).revokeProviderToken)},
		{pattern: "GET /admin/people", access: access.AccountsWholeUsers, handle: (*request).people},
		{pattern: "POST /admin/people", access: access.AccountsCreateAnybody, once: true, handle: (*request).createPerson, form: "person", page: (*request).people},
		{pattern: "GET /admin/people/{user}", access: access.AccountsOtherUser, handle: ofPerson((*request).person)},
		{pattern: "POST /admin/people/{user}", access: access.AccountsChangeUser, handle: ofPerson((*request).editPerson), form: "person", page: ofPerson((*request).person)},
		{pattern: "POST /admin/people/{user}/suspend", access: access.AccountsChangeUser, handle: ofPerson((*request).suspend), form: "suspend", page: ofPerson((*request).person)},
		{pattern: "POST /admin/people/{user}/address/ask", access: access.AccountsAskAddressOfOthers, handle: ofPerson((*request).askPersonForAddress), form: "ask", page: ofPerson((*request).person)},
		{pattern: "POST /admin/people/{user}/factors/reset", access: access.AccountsResetFactors, handle: ofPerson((*request).resetFactors), form: "factors", page: ofPerson((*request).person)},
		{pattern: "POST /admin/people/{user}/give", access: access.AccountsChangeUser, handle: ofPerson((*request).give), form: "give", page: ofPerson((*request).person)},
		{pattern: "POST /admin/people/{user}/link", access: access.AccountsNewSetupLink, once: true, handle: ofPerson((*request).newLink)},
	}
}

// onlyPosted returns the paths that only actions have, each with how many of its parts
// are the nearest page's: a page that answers an action has the action's address, which
// may be opened again.
func onlyPosted(list []route) map[string]int {
	pages := make(map[string]bool)
	for _, rt := range list {
		if path, is := strings.CutPrefix(rt.pattern, "GET "); is {
			pages[path] = true
		}
	}
	out := make(map[string]int)
	for _, rt := range list {
		path, is := strings.CutPrefix(rt.pattern, "POST ")
		if !is || pages[path] {
			continue
		}
		parts := strings.Split(path, "/")[1:]
		keep := len(parts) - 1
		for keep > 0 && !pages["/"+strings.Join(parts[:keep], "/")] {
			keep--
		}
		out[path] = keep
	}
	return out
}

var (
	errCrossSite = crowd.Errorf(crowd.Forbidden, "this was sent from another site, so it was not done")
	errPage      = crowd.Errorf(crowd.NotFound, "there is no such page")
)

// guard puts in front of a handler what every route needs: the limits, the caller
// and whether they may come, and the page for errors.
func (s *server) guard(rt route) http.Handler {
	limit := int64(maxForm)
	switch {
	case rt.upload:
		limit = s.MaxUpload
	case rt.access == public:
		limit = maxPublicForm
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", pageCSP)
		h.Set("Cache-Control", "no-store")
		r.Body = http.MaxBytesReader(w, r.Body, limit)
		ctx, answered := limits.WithEnds(r.Context())
		defer answered()
		rq := &request{server: s, w: w, r: r.WithContext(access.WithSender(ctx, access.Sender{Address: httpkit.ClientAddress(r, s.TrustProxy), Program: httpkit.Program(r)}))}
		p, err := rq.authenticate(rq.ctx(), sessionOf(r))
		if !rt.admit(rq, p, err) {
			return
		}
		if err := rt.serve(rq, limit); err != nil {
			rq.showError(err)
		}
	})
}

// admit takes p for the sender of a request, or what came of looking for them. Whoever may not
// come is answered, and not admitted.
func (rt *route) admit(rq *request, p *access.Principal, err error) (admitted bool) {
	// Whoever may not do anything is nobody on a page for all: they may sign in by
	// another name.
	if code := crowd.CodeOf(err); err != nil && code != crowd.Unauthenticated && (code != crowd.Forbidden || rt.access != public) {
		rq.showError(err)
		return false
	}
	rq.p = p
	switch {
	case p != nil && p.MustEnrol && !rt.enrols:
		rq.askToEnrol()
		return false
	case rt.access == public:
	case p == nil:
		rq.askToSignIn()
		return false
	default:
		if err := p.May(rt.access); err != nil {
			rq.showError(err)
			return false
		}
	}
	return true
}

// serve reads the form of an action and carries the request out.
func (rt *route) serve(rq *request, limit int64) error {
	if rt.upload {
		limit = maxFields // the rest is read as it comes
		ctx, body := limits.WithMeter(rq.ctx(), rq.r.Body)
		rq.r = rq.r.WithContext(ctx)
		if rq.r.Body = body; rq.p != nil {
			rq.r.Body = rq.App.Accounts.Sent(ctx, rq.p, body)
		}
	}
	if rq.p != nil && rq.r.Method == http.MethodPost {
		end, err := rq.App.StartBody(rq.ctx(), rq.p, rq.r.ContentLength, limit)
		if err != nil {
			return err
		}
		defer end()
	}
	if rt.long {
		end, err := rq.App.StartList(rq.ctx(), rq.p)
		if err != nil {
			return err
		}
		defer end()
	}
	if rq.r.Method == http.MethodPost && !rt.upload {
		httpkit.ReceivingForm(rq.w, rq.r)
		if err := rq.r.ParseForm(); err != nil {
			return bodyError(err)
		}
		if rq.p != nil { // the form may have come long after the headers
			if p, err := rq.App.Accounts.Again(rq.ctx(), rq.p); !rt.admit(rq, p, err) {
				return nil
			}
		}
	}
	if keys := rq.r.URL.Query()[keyName]; rt.once && keys != nil && !rq.wantsJSON() {
		return rt.answerOnce(rq, keys)
	}
	return rt.answer(rq)
}

// answer carries the request out; a form that is refused is shown again.
func (rt *route) answer(rq *request) error {
	err := rt.handle(rq)
	if rt.page == nil || rq.wantsJSON() {
		return err
	}
	if f := refused(os.Expand(rt.form, rq.r.PathValue), rq.r.PostForm, err); f != nil {
		rq.form, rq.made, rq.err = f, nil, nil
		return rt.page(rq)
	}
	return err
}

// sessionOf returns the browser's session. Bearer tokens are for the API.
func sessionOf(r *http.Request) string {
	if c, err := r.Cookie(httpkit.SessionCookie); err == nil {
		return c.Value
	}
	return ""
}

func allowed(o access.Operation, p *access.Principal) bool { return p.May(o) == nil }

// askToSignIn sends a browser to the sign-in page and back; a script gets an error.
func (rq *request) askToSignIn() {
	if rq.wantsJSON() {
		rq.showError(crowd.Errorf(crowd.Unauthenticated, "sign in first"))
		return
	}
	to := "/signin"
	if rq.r.Method == http.MethodGet {
		to += "?next=" + url.QueryEscape(rq.r.URL.RequestURI())
	}
	_ = rq.seeOther(to, "") // nothing was asked
}

// askToEnrol sends a browser to where a second factor is set up; what it sent is not done.
func (rq *request) askToEnrol() {
	if rq.r.Method != http.MethodGet || rq.wantsJSON() {
		rq.showError(access.ErrEnrol)
		return
	}
	_ = rq.seeOther("/account", "") // nothing was asked
}

func (rq *request) notFound() error { return errPage }
