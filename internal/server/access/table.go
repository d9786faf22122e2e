package access

import (
	"slices"
	"sync"
)

// Who is a group of people.
type Who int

// The groups that an operation can be for.
const (
	Internal     Who = iota // not for the edges, or these have checked who calls
	Everybody               // no principal is asked for
	Self                    // whoever has signed in, for themselves
	Members                 // who has any role
	Provider                // a provider of accounts, with a token for that
	Anywhere                // who has the permission for any tenant, or for the installation
	Tenant                  // who has it for the tenant that it is about, or for the installation
	Installation            // who has it for the installation
)

// Operation is a method of a use case, and who may call it.
type Operation struct {
	Name    string // "Field.Method" of app.App
	Who     Who
	Needs   Permission // CanNothing before Anywhere
	Changes bool       // something that is kept, at its caller's will
}

// Operations lists all operations.
func Operations() []Operation { return operations }

var operations []Operation

// ofTenants returns the permissions that are needed for something of a tenant, or for any
// tenant. The others are for the installation only.
var ofTenants = sync.OnceValue(func() (s Permissions) {
	for _, o := range operations {
		if o.Who == Tenant || o.Who == Anywhere {
			s |= SetOf(o.Needs)
		}
	}
	return s
})

// FindOperation returns the operation of a name.
func FindOperation(name string) (Operation, bool) {
	i := slices.IndexFunc(operations, func(o Operation) bool { return o.Name == name })
	if i < 0 {
		return Operation{}, false
	}
	return operations[i], true
}

// reads enters an operation that changes nothing.
func reads(name string, who Who, needs Permission) Operation {
	o := Operation{Name: name, Who: who, Needs: needs}
	operations = append(operations, o)
	return o
}

// changes enters an operation that changes something.
func changes(name string, who Who, needs Permission) Operation {
	o := Operation{Name: name, Who: who, Needs: needs, Changes: true}
	operations = append(operations, o)
	return o
}

// internal enters a method that the edges do not call.
func internal(name string) Operation { return reads(name, Internal, CanNothing) }

// Who may do what.
var (
	BatchesCreate         = changes("Batches.Create", Tenant, CanEditBatches)
	BatchesEveryPool      = reads("Batches.Create: told of pools that are not granted", Installation, CanReadPools)
	BatchesEditDraft      = changes("Batches.EditDraft", Tenant, CanEditBatches)
	BatchesUpload         = changes("Batches.Upload", Tenant, CanEditBatches)
	BatchesLaunch         = changes("Batches.Launch", Tenant, CanLaunchBatches)
	BatchesChange         = changes("Batches.Change", Tenant, CanEditBatches)
	BatchesAddTasks       = changes("Batches.AddTasks", Tenant, CanEditBatches)
	BatchesRemoveTask     = changes("Batches.RemoveTask", Tenant, CanEditBatches)
	BatchesPause          = changes("Batches.Pause", Tenant, CanLaunchBatches)
	BatchesResume         = changes("Batches.Resume", Tenant, CanLaunchBatches)
	BatchesEnd            = changes("Batches.End", Tenant, CanLaunchBatches)
	BatchesCancel         = changes("Batches.Cancel", Tenant, CanLaunchBatches)
	BatchesTopUp          = changes("Batches.TopUp", Tenant, CanChangeBudgets)
	BatchesGet            = reads("Batches.Get", Tenant, CanReadBatches)
	BatchesWatched        = reads("Batches.Watched", Tenant, CanReadBatches)
	BatchesDetails        = reads("Batches.Details", Tenant, CanReadBatches)
	BatchesWatchedDetails = reads("Batches.WatchedDetails", Tenant, CanReadBatches)
	BatchesAble           = reads("Batches.Able", Tenant, CanReadBatches)
	BatchesList           = reads("Batches.List", Tenant, CanReadBatches)
	BatchesHolding        = reads("Batches.Holding", Tenant, CanReadBatches)
	BatchesHolders        = reads("Batches.Holders", Tenant, CanReadBatches)
	BatchesWhy            = reads("Batches.Why", Tenant, CanReadBatches)
	BatchesWatch          = reads("Batches.Watch", Tenant, CanReadBatches)
	BatchesAnnotations    = reads("Batches.Annotations", Tenant, CanReadResults)
	BatchesMayName        = reads("Batches.MayName", Tenant, CanReadNames)
	BatchesNames          = reads("Batches.Annotations: with who the workers are", Tenant, CanReadNames)
	BatchesLabels         = reads("Batches.Labels", Tenant, CanReadResults)
	BatchesQuality        = reads("Batches.Quality", Tenant, CanReadResults)
	BatchesQualityActions = reads("Batches.QualityActions", Tenant, CanReadResults)
	BatchesUndoAction     = changes("Batches.UndoQualityAction", Tenant, CanEditBatches)
	BatchesDisregard      = changes("Batches.Disregard", Tenant, CanEditBatches)
	BatchesWouldDisregard = reads("Batches.WouldDisregard", Tenant, CanEditBatches)
	BatchesSendBack       = changes("Batches.SendBack", Tenant, CanReview)
	BatchesWouldSendBack  = reads("Batches.WouldSendBack", Tenant, CanReview)
	ResultsList           = reads("Results.List", Tenant, CanReadResults)
	ResultsAll            = reads("Results.All", Tenant, CanReadResults)
	ResultsTask           = reads("Results.Task", Tenant, CanReadResults)
	ResultsWorker         = reads("Results.Worker", Tenant, CanReadResults)
	ResultsCorrections    = reads("Results.Corrections", Tenant, CanReadResults)
	ResultsCorrect        = changes("Results.Correct", Tenant, CanReview)
	ResultsWithdraw       = changes("Results.Withdraw", Tenant, CanReview)
	ResultsSummary        = reads("Results.Summary", Tenant, CanReadResults)
	_                     = internal("Results.Changed")
	_                     = internal("Results.HoldLabels")
	_                     = internal("Results.Given")
	_                     = internal("Results.Whole")
	BatchesPreview        = reads("Batches.Preview", Tenant, CanReadResults)
	BatchesForecast       = reads("Batches.Forecast", Tenant, CanReadBatches)
	BatchesPoolState      = reads("Batches.PoolState", Installation, CanReadPools)
	BatchesPoolStateMoney = reads("Batches.PoolState: with what batches pay", Installation, CanReadMoney)
	_                     = internal("Batches.Changed")
	_                     = internal("Batches.PayChanged")
	_                     = internal("Batches.StopWaiting")
	_                     = internal("Batches.RunForecasts")

	PayList    = reads("Pay.List", Tenant, CanReadResults)
	PayApprove = changes("Pay.Approve", Tenant, CanReview)
	PayRefuse  = changes("Pay.Refuse", Tenant, CanReview)
	PayAppeals = reads("Pay.Appeals", Tenant, CanReadResults)
	PayDecide  = changes("Pay.Decide", Tenant, CanReview)
	PayOwn     = reads("Pay.Own", Self, CanNothing)
	PaySums    = reads("Pay.Sums", Self, CanNothing)
	PayAppeal  = changes("Pay.Appeal", Self, CanNothing)
	_          = internal("Pay.Changed")
	_          = internal("Pay.Settle")
	_          = internal("Pay.Run")

	WorkNext       = changes("Work.Next", Anywhere, CanWork)
	WorkSubmit     = changes("Work.Submit", Anywhere, CanWork)
	WorkReturn     = changes("Work.Return", Anywhere, CanWork)
	WorkSkip       = changes("Work.Skip", Anywhere, CanWork)
	WorkReport     = changes("Work.Report", Anywhere, CanWork)
	_              = internal("Work.Changed")
	WorkReports    = reads("Work.Reports", Tenant, CanReadResults)
	WorkOwnReports = reads("Work.OwnReports", Anywhere, CanWork)
	WorkNotes      = reads("Work.Notes", Anywhere, CanWork)
	WorkSeeNote    = changes("Work.SeeNote", Anywhere, CanWork)
	WorkUndo       = changes("Work.Undo", Anywhere, CanWork)
	WorkUndoable   = reads("Work.Undoable", Anywhere, CanWork)
	WorkReply      = changes("Work.Reply", Tenant, CanReview)
	WorkHeartbeat  = changes("Work.Heartbeat", Anywhere, CanWork)
	WorkCurrent    = reads("Work.Current", Anywhere, CanWork)
	WorkWhyNothing = reads("Work.WhyNothing", Anywhere, CanWork)
	WorkEarnings   = reads("Work.Earnings", Anywhere, CanWork)
	_              = internal("Work.IsTraining")

	AccountsCreateUser           = changes("Accounts.CreateUser", Tenant, CanChangePeople)
	AccountsCreateAnybody        = changes("Accounts.CreateUser: admins, workers, the qualified", Installation, CanChangePeople)
	AccountsChangeUser           = changes("Accounts.ChangeUser", Installation, CanChangePeople)
	AccountsVouch                = changes("Accounts.ChangeUser: say whose an address is", Installation, CanProvision)
	AccountsGiveRole             = changes("Accounts.GiveRole", Tenant, CanChangePeople)
	AccountsTakeRole             = changes("Accounts.TakeRole", Tenant, CanChangePeople)
	AccountsRoles                = reads("Accounts.Roles", Anywhere, CanReadPeople)
	AccountsMayGive              = reads("Accounts.MayGive", Tenant, CanChangePeople)
	AccountsCreateRole           = changes("Accounts.CreateRole", Tenant, CanChangePeople)
	AccountsCreateRoleOfAll      = changes("Accounts.CreateRole: of the installation", Installation, CanChangePeople)
	AccountsChangeRole           = changes("Accounts.ChangeRole", Tenant, CanChangePeople)
	AccountsRemoveRole           = changes("Accounts.RemoveRole", Tenant, CanChangePeople)
	AccountsUser                 = reads("Accounts.User", Self, CanNothing)
	AccountsOtherUser            = reads("Accounts.User: another than oneself", Installation, CanReadPeople)
	AccountsUsers                = reads("Accounts.Users", Tenant, CanReadPeople)
	AccountsWholeUsers           = reads("Accounts.Users: with all their tenants", Installation, CanReadPeople)
	AccountsBlockWorker          = changes("Accounts.BlockWorker", Tenant, CanReview)
	AccountsWorker               = reads("Accounts.Worker", Tenant, CanReadNames)
	AccountsNewSetupLink         = changes("Accounts.NewSetupLink", Installation, CanChangePeople)
	AccountsBootstrap            = changes("Accounts.Bootstrap", Everybody, CanNothing)
	AccountsSetupUser            = reads("Accounts.SetupUser", Everybody, CanNothing)
	AccountsSetup                = changes("Accounts.Setup", Everybody, CanNothing)
	AccountsSignIn               = changes("Accounts.SignIn", Everybody, CanNothing)
	AccountsProviders            = reads("Accounts.Providers", Everybody, CanNothing)
	AccountsBeginSignIn          = changes("Accounts.BeginSignIn", Everybody, CanNothing)
	AccountsFinishSignIn         = changes("Accounts.FinishSignIn", Everybody, CanNothing)
	AccountsJoined               = changes("Accounts.FinishSignIn: one person in place of two", Everybody, CanNothing)
	AccountsSignOut              = changes("Accounts.SignOut", Self, CanNothing)
	AccountsDevice               = reads("Accounts.Device", Self, CanNothing)
	AccountsChangePassword       = changes("Accounts.ChangePassword", Self, CanNothing)
	AccountsAddress              = reads("Accounts.Address", Self, CanNothing)
	AccountsAddressOfOthers      = reads("Accounts.Address: of others", Installation, CanReadPeople)
	AccountsChangeAddress        = changes("Accounts.ChangeAddress", Self, CanNothing)
	AccountsAskForAddress        = changes("Accounts.AskForAddress", Self, CanNothing)
	AccountsAskAddressOfOthers   = changes("Accounts.AskForAddress: of others", Installation, CanChangePeople)
	AccountsAddressToConfirm     = reads("Accounts.AddressToConfirm", Self, CanNothing)
	AccountsConfirmAddress       = changes("Accounts.ConfirmAddress", Self, CanNothing)
	AccountsSessions             = reads("Accounts.Sessions", Self, CanNothing)
	AccountsEndSession           = changes("Accounts.EndSession", Self, CanNothing)
	AccountsEndSessions          = changes("Accounts.EndSessions", Self, CanNothing)
	AccountsFinishFactor         = changes("Accounts.FinishFactor", Everybody, CanNothing)
	AccountsFactors              = reads("Accounts.Factors", Self, CanNothing)
	AccountsFactorsOfOthers      = reads("Accounts.Factors: of others", Installation, CanReadPeople)
	AccountsBeginTOTP            = changes("Accounts.BeginTOTP", Self, CanNothing)
	AccountsConfirmTOTP          = changes("Accounts.ConfirmTOTP", Self, CanNothing)
	AccountsPasskeysWork         = reads("Accounts.PasskeysWork", Everybody, CanNothing)
	AccountsBeginPasskey         = changes("Accounts.BeginPasskey", Self, CanNothing)
	AccountsMakePasskey          = reads("Accounts.MakePasskey", Self, CanNothing)
	AccountsConfirmPasskey       = changes("Accounts.ConfirmPasskey", Self, CanNothing)
	AccountsAskForFactor         = reads("Accounts.AskForFactor", Everybody, CanNothing)
	AccountsAskForProof          = reads("Accounts.AskForProof", Self, CanNothing)
	AccountsAskForPasskey        = reads("Accounts.AskForPasskey", Everybody, CanNothing)
	AccountsSignInWithPasskey    = changes("Accounts.SignInWithPasskey", Everybody, CanNothing)
	AccountsRemoveFactor         = changes("Accounts.RemoveFactor", Self, CanNothing)
	AccountsNewRecoveryCodes     = changes("Accounts.NewRecoveryCodes", Self, CanNothing)
	AccountsResetFactors         = changes("Accounts.ResetFactors", Installation, CanChangePeople)
	AccountsAuthenticate         = reads("Accounts.Authenticate", Everybody, CanNothing)
	AccountsCreateToken          = changes("Accounts.CreateToken", Self, CanNothing)
	AccountsCreateTokenForOthers = changes("Accounts.CreateToken: for others", Installation, CanChangePeople)
	AccountsTokens               = reads("Accounts.Tokens", Self, CanNothing)
	AccountsTokensOfOthers       = changes("Accounts.Tokens: of others", Installation, CanChangePeople)
	AccountsAllTokens            = reads("Accounts.AllTokens", Installation, CanChangePeople)
	AccountsRevokeToken          = changes("Accounts.RevokeToken", Self, CanNothing)
	AccountsPersonalData         = reads("Accounts.PersonalData", Self, CanNothing)
	AccountsPersonalDataOfOthers = reads("Accounts.PersonalData: of others", Installation, CanErasePeople)
	AccountsBeforeErasure        = reads("Accounts.BeforeErasure", Self, CanNothing)
	AccountsErase                = changes("Accounts.Erase", Self, CanNothing)
	AccountsEraseOthers          = changes("Accounts.Erase: others", Installation, CanErasePeople)
	_                            = internal("Accounts.FinishErasures")
	_                            = internal("Accounts.ContinueErasures")
	_                            = internal("Accounts.Again")
	_                            = internal("Accounts.Sent")
	_                            = internal("Accounts.Change")
	AccountsAuthenticateProvider = reads("Accounts.AuthenticateProvider", Everybody, CanNothing)
	_                            = internal("Accounts.KeepUses")

	ProvisioningProviders   = reads("Provisioning.Providers", Installation, CanProvision)
	ProvisioningCreateToken = changes("Provisioning.CreateToken", Installation, CanProvision)
	ProvisioningTokens      = reads("Provisioning.Tokens", Installation, CanProvision)
	ProvisioningRevokeToken = changes("Provisioning.RevokeToken", Installation, CanProvision)
	ProvisioningPeople      = reads("Provisioning.People", Provider, CanNothing)
	ProvisioningPerson      = reads("Provisioning.Person", Provider, CanNothing)
	ProvisioningAdd         = changes("Provisioning.Add", Provider, CanNothing)
	ProvisioningAdopt       = changes("Provisioning.Add: for somebody who was here", Provider, CanNothing)
	ProvisioningChange      = changes("Provisioning.Change", Provider, CanNothing)
	ProvisioningRemove      = changes("Provisioning.Remove", Provider, CanNothing)
	ProvisioningGroups      = reads("Provisioning.Groups", Provider, CanNothing)
	ProvisioningGroup       = reads("Provisioning.Group", Provider, CanNothing)
	ProvisioningAddGroup    = changes("Provisioning.AddGroup", Provider, CanNothing)
	ProvisioningChangeGroup = changes("Provisioning.ChangeGroup", Provider, CanNothing)
	ProvisioningRemoveGroup = changes("Provisioning.RemoveGroup", Provider, CanNothing)
	ProvisioningRegroup     = changes("Provisioning.ChangeGroup: what it makes each of its people", Provider, CanNothing)
	_                       = internal("Provisioning.Run")
	_                       = internal("Provisioning.Settle")

	_                     = internal("Tenants.Names")
	_                     = internal("Tenants.Fullest")
	TenantsCreate         = changes("Tenants.Create", Installation, CanChangeTenants)
	TenantsCreateFunded   = changes("Tenants.Create: with money", Installation, CanMoveMoney)
	TenantsUpdate         = changes("Tenants.Update", Tenant, CanStop)
	TenantsChange         = changes("Tenants.Change", Installation, CanChangeTenants)
	TenantsUpdateSettings = changes("Tenants.Update: name and weight", Installation, CanChangeTenants)
	TenantsList           = reads("Tenants.List", Self, CanNothing)
	TenantsListAll        = reads("Tenants.List: all", Installation, CanReadTenants)
	TenantsOwner          = reads("Tenants.Owner", Self, CanNothing)
	TenantsDeposit        = changes("Tenants.Deposit", Installation, CanMoveMoney)
	TenantsAccount        = reads("Tenants.Account", Tenant, CanReadMoney)
	TenantsQuotas         = reads("Tenants.Quotas", Tenant, CanReadBatches)
	TenantsSetQuotas      = changes("Tenants.SetQuotas", Installation, CanChangeTenants)
	TenantsPutSecret      = changes("Tenants.PutSecret", Tenant, CanChangeSecrets)
	TenantsDeleteSecret   = changes("Tenants.DeleteSecret", Tenant, CanChangeSecrets)
	TenantsSecrets        = reads("Tenants.Secrets", Tenant, CanChangeSecrets)

	InvitationsInvite   = changes("Invitations.Invite", Tenant, CanInvite)
	InvitationsAcross   = changes("Invitations.Invite: to any tenant's test, past who is known to any", Installation, CanInvite)
	InvitationsAnywhere = changes("Invitations.Invite: to every pool", Installation, CanInvite)
	InvitationsList     = reads("Invitations.List", Tenant, CanReadPeople)
	InvitationsGet      = reads("Invitations.Get", Tenant, CanReadPeople)
	InvitationsResend   = changes("Invitations.Resend", Tenant, CanInvite)
	InvitationsWithdraw = changes("Invitations.Withdraw", Tenant, CanInvite)
	InvitationsOpen     = reads("Invitations.Open", Everybody, CanNothing)
	InvitationsJoin     = changes("Invitations.Join", Everybody, CanNothing)
	InvitationsAccept   = changes("Invitations.Accept", Self, CanNothing)
	InvitationsDecline  = changes("Invitations.Decline", Everybody, CanNothing)

	TestsCreate    = changes("Tests.Create", Tenant, CanChangeTests)
	TestsList      = reads("Tests.List", Tenant, CanReadTests)
	TestsGet       = reads("Tests.Get", Tenant, CanReadTests)
	TestsRetire    = changes("Tests.Retire", Tenant, CanChangeTests)
	TestsTries     = reads("Tests.Tries", Tenant, CanReadTests)
	TestsMine      = reads("Tests.Mine", Self, CanNothing)
	TestsTake      = reads("Tests.Take", Self, CanNothing)
	TestsTakeOpen  = changes("Tests.Take: uninvited, if it is open", Anywhere, CanWork)
	TestsStartTry  = changes("Tests.StartTry", Self, CanNothing)
	TestsSubmitTry = changes("Tests.SubmitTry", Self, CanNothing)

	DutyGet           = reads("Duty.Get", Anywhere, CanWork)
	DutyWhyOff        = reads("Duty.WhyOff", Anywhere, CanWork)
	DutyWatch         = reads("Duty.Watch", Anywhere, CanWork)
	DutyAwait         = reads("Duty.Await", Anywhere, CanWork)
	DutyStart         = changes("Duty.Start", Anywhere, CanWork)
	DutyEnd           = changes("Duty.End", Anywhere, CanWork)
	DutyDeclineCall   = changes("Duty.DeclineCall", Anywhere, CanWork)
	DutyWishes        = reads("Duty.Wishes", Anywhere, CanWork)
	DutyChangeWishes  = changes("Duty.ChangeWishes", Anywhere, CanWork)
	DutySubscribe     = changes("Duty.Subscribe", Anywhere, CanWork)
	DutyUnsubscribe   = changes("Duty.Unsubscribe", Self, CanNothing)
	DutySubscriptions = reads("Duty.Subscriptions", Self, CanNothing)
	DutyPushKey       = reads("Duty.PushKey", Everybody, CanNothing)

	TransfersMove     = changes("Transfers.Move", Installation, CanChangePools)
	TransfersMoveFrom = changes("Transfers.MoveFrom", Installation, CanChangePools)
	_                 = internal("Transfers.Changed")
	_                 = internal("Transfers.Resume")
	_                 = internal("Transfers.Run")
	_                 = internal("Transfers.FinishLate")
	_                 = internal("Transfers.Transfer")

	OutboxView = reads("Outbox.View", Installation, CanReadPeople)
	_          = internal("Outbox.SendDue")
	_          = internal("Outbox.Run")
	_          = internal("Outbox.Wake")
	_          = internal("Outbox.CanMail")
	_          = internal("Outbox.CanPush")

	PoolsCreate         = changes("Pools.Create", Installation, CanChangePools)
	PoolsChange         = changes("Pools.Change", Installation, CanChangePools)
	PoolsGrant          = changes("Pools.Grant", Installation, CanChangePools)
	PoolsRevoke         = changes("Pools.Revoke", Installation, CanChangePools)
	PoolsList           = reads("Pools.List", Members, CanNothing)
	PoolsListWhole      = reads("Pools.List: with control and money", Installation, CanReadPools)
	PoolsGet            = reads("Pools.Get", Installation, CanReadPools)
	PoolsStopEverything = changes("Pools.StopEverything", Installation, CanStop)
	PoolsQueue          = reads("Pools.Queue", Installation, CanReadPools)
	PoolsFairness       = reads("Pools.Fairness", Anywhere, CanReadFairness)
	PoolsFairnessWhole  = reads("Pools.Fairness: of all tenants, with the indexes", Installation, CanReadFairness)
	PoolsQueueMoney     = reads("Pools.Queue: with what rewards can be told from", Installation, CanReadMoney)
	PoolsFollow         = reads("Pools.Follow", Installation, CanReadPools)
	PoolsFollowed       = reads("Pools.Followed", Installation, CanReadPools)
	PoolsFollowedLabels = reads("Pools.Followed: with labels", Installation, CanReadResults)
	PoolsFund           = changes("Pools.Fund", Installation, CanMoveMoney)
	PoolsAccount        = reads("Pools.Account", Installation, CanReadMoney)
	PoolsSamples        = reads("Pools.Samples", Installation, CanReadPools)
	PoolsRecentSamples  = reads("Pools.RecentSamples", Installation, CanReadPools)
	PoolsActions        = reads("Pools.Actions", Installation, CanReadPools)
	_                   = internal("Pools.ActionsAfter")
	PoolsTestRules      = reads("Pools.TestRules", Installation, CanReadPools)
	PoolsTestOwnRules   = reads("Pools.TestOwnRules", Installation, CanReadPools)
	PoolsPeople         = reads("Pools.People", Installation, CanReadPools)
	PoolsCalls          = reads("Pools.Calls", Installation, CanReadPools)
	_                   = internal("Pools.Figures")
	PoolsFiguresServed  = reads("Pools.Figures: with all metrics, over HTTP", Installation, CanReadPools)
	_                   = internal("Pools.Saved")
	_                   = internal("Pools.Start")

	_ = internal("Control.Step")
	_ = internal("Control.Run")
	_ = internal("Control.Resume")
	_ = internal("Control.Close")

	RunsMake           = changes("Runs.Make", Tenant, CanEditBatches)
	RunsAgain          = changes("Runs.MakeAgain", Tenant, CanEditBatches)
	RunsLoad           = changes("Runs.Load", Tenant, CanEditBatches)
	RunsAddRows        = changes("Runs.AddRows", Tenant, CanEditBatches)
	RunsFeedRows       = reads("Runs.FeedRows", Tenant, CanEditBatches)
	RunsSealInputs     = changes("Runs.SealInputs", Tenant, CanEditBatches)
	RunsStart          = changes("Runs.Start", Tenant, CanLaunchBatches)
	RunsPause          = changes("Runs.Pause", Tenant, CanLaunchBatches)
	RunsResume         = changes("Runs.Resume", Tenant, CanLaunchBatches)
	RunsCancel         = changes("Runs.Cancel", Tenant, CanLaunchBatches)
	RunsRedo           = changes("Runs.Redo", Tenant, CanLaunchBatches)
	RunsTopUp          = changes("Runs.TopUp", Tenant, CanChangeBudgets)
	RunsEndStep        = changes("Runs.EndStep", Tenant, CanLaunchBatches)
	RunsRetry          = changes("Runs.Retry", Tenant, CanReview)
	RunsSkip           = changes("Runs.Skip", Tenant, CanReview)
	RunsList           = reads("Runs.List", Tenant, CanReadBatches)
	RunsGet            = reads("Runs.Get", Tenant, CanReadBatches)
	RunsWatched        = reads("Runs.Watched", Tenant, CanReadBatches)
	RunsDetails        = reads("Runs.Details", Tenant, CanReadBatches)
	RunsWatchedDetails = reads("Runs.WatchedDetails", Tenant, CanReadBatches)
	RunsContents       = reads("Runs.Details: with items, and why steps have failed", Tenant, CanReadResults)
	RunsSlowest        = reads("Runs.Slowest", Tenant, CanReadResults)
	RunsPath           = reads("Runs.Path", Tenant, CanReadResults)
	RunsItems          = reads("Runs.Items", Tenant, CanReadResults)
	RunsFaults         = reads("Runs.Faults", Tenant, CanReadResults)
	RunsEnded          = reads("Runs.Ended", Tenant, CanReadResults)
	RunsResults        = reads("Runs.Results", Tenant, CanReadResults)
	RunsWatch          = reads("Runs.Watch", Tenant, CanReadBatches)
	RunsCheck          = reads("Runs.Check", Anywhere, CanEditBatches)
	RunsCheckFor       = reads("Runs.Check: for a tenant", Tenant, CanEditBatches)
	_                  = internal("Runs.Changed")
	_                  = internal("Runs.Corrected")
	_                  = internal("Runs.Continue")
	_                  = internal("Runs.Run")
	_                  = internal("Runs.Close")
	_                  = internal("Runs.StopWaiting")

	ServicesDeclare = changes("Services.Declare", Installation, CanChangeServices)
	ServicesChange  = changes("Services.Change", Installation, CanChangeServices)
	ServicesRemove  = changes("Services.Remove", Installation, CanChangeServices)
	ServicesList    = reads("Services.List", Anywhere, CanReadServices)
	ServicesWhole   = reads("Services.List: of every tenant", Installation, CanReadServices)
	ServicesGet     = reads("Services.Get", Anywhere, CanReadServices)
	_               = internal("Services.Figures")

	NodesList = reads("Nodes.List", Installation, CanReadPools)

	AuditList   = reads("Audit.List", Tenant, CanReadAudit)
	AuditGet    = reads("Audit.Get", Tenant, CanReadAudit)
	AuditExport = reads("Audit.Export", Tenant, CanReadAudit)
	AuditWhole  = reads("Audit.List: of everything, with addresses", Installation, CanReadAudit)
	AuditCheck  = reads("Audit.Check", Installation, CanReadAudit)
	_           = internal("Audit.DropOld")
	_           = internal("Audit.Run")

	RetentionGet     = reads("Retention.Get", Tenant, CanReadBatches)
	RetentionSet     = changes("Retention.Set", Tenant, CanChangeRetention)
	RetentionPreview = reads("Retention.Preview", Tenant, CanReadBatches)
	_                = internal("Retention.Step")
	_                = internal("Retention.Run")
)
