package access

// Who is a group of people.
type Who int

// The groups that an operation can be for.
const (
	Internal  Who = iota // not for the edges, or these have checked who calls
	Everybody            // no principal is asked for
	Self                 // whoever has signed in, for themselves
	Admins
	Tenant     // admins, and the requesters of the tenant that it is about
	Workers    // of any pool
	Requesters // admins, and the requesters of any tenant
	Members    // admins, requesters of any tenant, and workers
)

// Operation is a method of a use case, and who may call it.
type Operation struct {
	Name string // "Field.Method" of app.App
	Who  Who
}

// Operations lists all operations.
func Operations() []Operation { return operations }

var operations []Operation

func op(name string, who Who) Operation {
	o := Operation{Name: name, Who: who}
	operations = append(operations, o)
	return o
}

// Who may do what.
var (
	BatchesCreate         = op("Batches.Create", Tenant)
	BatchesEditDraft      = op("Batches.EditDraft", Tenant)
	BatchesUpload         = op("Batches.Upload", Tenant)
	BatchesLaunch         = op("Batches.Launch", Tenant)
	BatchesChange         = op("Batches.Change", Tenant)
	BatchesAddTasks       = op("Batches.AddTasks", Tenant)
	BatchesRemoveTask     = op("Batches.RemoveTask", Tenant)
	BatchesPause          = op("Batches.Pause", Tenant)
	BatchesResume         = op("Batches.Resume", Tenant)
	BatchesEnd            = op("Batches.End", Tenant)
	BatchesCancel         = op("Batches.Cancel", Tenant)
	BatchesTopUp          = op("Batches.TopUp", Tenant)
	BatchesGet            = op("Batches.Get", Tenant)
	BatchesWatched        = op("Batches.Watched", Tenant)
	BatchesDetails        = op("Batches.Details", Tenant)
	BatchesWatchedDetails = op("Batches.WatchedDetails", Tenant)
	BatchesAble           = op("Batches.Able", Tenant)
	BatchesList           = op("Batches.List", Tenant)
	BatchesHolding        = op("Batches.Holding", Tenant)
	BatchesHolders        = op("Batches.Holders", Tenant)
	BatchesWhy            = op("Batches.Why", Tenant)
	BatchesWatch          = op("Batches.Watch", Tenant)
	BatchesAnnotations    = op("Batches.Annotations", Tenant)
	BatchesLabels         = op("Batches.Labels", Tenant)
	BatchesQuality        = op("Batches.Quality", Tenant)
	BatchesPreview        = op("Batches.Preview", Tenant)
	BatchesForecast       = op("Batches.Forecast", Tenant)
	BatchesPoolState      = op("Batches.PoolState", Admins)
	_                     = op("Batches.Changed", Internal)
	_                     = op("Batches.StopWaiting", Internal)
	_                     = op("Batches.RunForecasts", Internal)

	WorkNext       = op("Work.Next", Workers)
	WorkSubmit     = op("Work.Submit", Workers)
	WorkReturn     = op("Work.Return", Workers)
	WorkSkip       = op("Work.Skip", Workers)
	WorkHeartbeat  = op("Work.Heartbeat", Workers)
	WorkCurrent    = op("Work.Current", Workers)
	WorkWhyNothing = op("Work.WhyNothing", Workers)
	WorkEarnings   = op("Work.Earnings", Workers)
	_              = op("Work.IsTraining", Internal)

	AccountsCreateUser           = op("Accounts.CreateUser", Tenant)
	AccountsCreateAnybody        = op("Accounts.CreateUser: admins, workers, the qualified", Admins)
	AccountsChangeUser           = op("Accounts.ChangeUser", Admins)
	AccountsUser                 = op("Accounts.User", Self)
	AccountsOtherUser            = op("Accounts.User: another than oneself", Admins)
	AccountsUsers                = op("Accounts.Users", Tenant)
	AccountsWholeUsers           = op("Accounts.Users: with all their tenants", Admins)
	AccountsBlockWorker          = op("Accounts.BlockWorker", Tenant)
	AccountsNewSetupLink         = op("Accounts.NewSetupLink", Admins)
	AccountsBootstrap            = op("Accounts.Bootstrap", Everybody)
	AccountsSetupUser            = op("Accounts.SetupUser", Everybody)
	AccountsSetup                = op("Accounts.Setup", Everybody)
	AccountsSignIn               = op("Accounts.SignIn", Everybody)
	AccountsSignOut              = op("Accounts.SignOut", Self)
	AccountsDevice               = op("Accounts.Device", Self)
	AccountsAuthenticate         = op("Accounts.Authenticate", Everybody)
	AccountsCreateToken          = op("Accounts.CreateToken", Self)
	AccountsCreateTokenForOthers = op("Accounts.CreateToken: for others", Admins)
	AccountsTokens               = op("Accounts.Tokens", Self)
	AccountsRevokeToken          = op("Accounts.RevokeToken", Self)
	_                            = op("Accounts.Change", Internal)

	TenantsCreate         = op("Tenants.Create", Admins)
	TenantsUpdate         = op("Tenants.Update", Tenant)
	TenantsChange         = op("Tenants.Change", Admins)
	TenantsUpdateSettings = op("Tenants.Update: name and weight", Admins)
	TenantsList           = op("Tenants.List", Self)
	TenantsListAll        = op("Tenants.List: all", Admins)
	TenantsOwner          = op("Tenants.Owner", Self)
	TenantsDeposit        = op("Tenants.Deposit", Admins)
	TenantsAccount        = op("Tenants.Account", Tenant)
	TenantsPutSecret      = op("Tenants.PutSecret", Tenant)
	TenantsDeleteSecret   = op("Tenants.DeleteSecret", Tenant)
	TenantsSecrets        = op("Tenants.Secrets", Tenant)

	InvitationsInvite   = op("Invitations.Invite", Tenant)
	InvitationsAcross   = op("Invitations.Invite: to any tenant's test, past who is known to any", Admins)
	InvitationsAnywhere = op("Invitations.Invite: to every pool", Admins)
	InvitationsList     = op("Invitations.List", Tenant)
	InvitationsGet      = op("Invitations.Get", Tenant)
	InvitationsResend   = op("Invitations.Resend", Tenant)
	InvitationsWithdraw = op("Invitations.Withdraw", Tenant)
	InvitationsOpen     = op("Invitations.Open", Everybody)
	InvitationsJoin     = op("Invitations.Join", Everybody)
	InvitationsAccept   = op("Invitations.Accept", Self)
	InvitationsDecline  = op("Invitations.Decline", Everybody)

	TestsCreate    = op("Tests.Create", Tenant)
	TestsList      = op("Tests.List", Tenant)
	TestsGet       = op("Tests.Get", Tenant)
	TestsRetire    = op("Tests.Retire", Tenant)
	TestsTries     = op("Tests.Tries", Tenant)
	TestsMine      = op("Tests.Mine", Self)
	TestsTake      = op("Tests.Take", Self)
	TestsTakeOpen  = op("Tests.Take: uninvited, if it is open", Workers)
	TestsStartTry  = op("Tests.StartTry", Self)
	TestsSubmitTry = op("Tests.SubmitTry", Self)

	DutyGet           = op("Duty.Get", Workers)
	DutyWhyOff        = op("Duty.WhyOff", Workers)
	DutyWatch         = op("Duty.Watch", Workers)
	DutyAwait         = op("Duty.Await", Workers)
	DutyStart         = op("Duty.Start", Workers)
	DutyEnd           = op("Duty.End", Workers)
	DutyDeclineCall   = op("Duty.DeclineCall", Workers)
	DutyWishes        = op("Duty.Wishes", Workers)
	DutyChangeWishes  = op("Duty.ChangeWishes", Workers)
	DutySubscribe     = op("Duty.Subscribe", Workers)
	DutyUnsubscribe   = op("Duty.Unsubscribe", Self)
	DutySubscriptions = op("Duty.Subscriptions", Self)
	DutyPushKey       = op("Duty.PushKey", Everybody)

	TransfersMove     = op("Transfers.Move", Admins)
	TransfersMoveFrom = op("Transfers.MoveFrom", Admins)
	_                 = op("Transfers.Changed", Internal)
	_                 = op("Transfers.Resume", Internal)
	_                 = op("Transfers.Run", Internal)
	_                 = op("Transfers.FinishLate", Internal)
	_                 = op("Transfers.Transfer", Internal)

	OutboxView = op("Outbox.View", Admins)
	_          = op("Outbox.SendDue", Internal)
	_          = op("Outbox.Run", Internal)
	_          = op("Outbox.Wake", Internal)
	_          = op("Outbox.CanMail", Internal)
	_          = op("Outbox.CanPush", Internal)

	PoolsCreate         = op("Pools.Create", Admins)
	PoolsChange         = op("Pools.Change", Admins)
	PoolsList           = op("Pools.List", Members)
	PoolsListWhole      = op("Pools.List: with control and money", Admins)
	PoolsGet            = op("Pools.Get", Admins)
	PoolsStopEverything = op("Pools.StopEverything", Admins)
	PoolsOrder          = op("Pools.Order", Admins)
	PoolsFollow         = op("Pools.Follow", Admins)
	PoolsFollowed       = op("Pools.Followed", Admins)
	PoolsFund           = op("Pools.Fund", Admins)
	PoolsAccount        = op("Pools.Account", Admins)
	PoolsSamples        = op("Pools.Samples", Admins)
	PoolsRecentSamples  = op("Pools.RecentSamples", Admins)
	PoolsActions        = op("Pools.Actions", Admins)
	_                   = op("Pools.ActionsAfter", Internal)
	PoolsTestRules      = op("Pools.TestRules", Admins)
	PoolsTestOwnRules   = op("Pools.TestOwnRules", Admins)
	PoolsPeople         = op("Pools.People", Admins)
	PoolsCalls          = op("Pools.Calls", Admins)
	_                   = op("Pools.Figures", Internal)
	PoolsFiguresServed  = op("Pools.Figures: with all metrics, over HTTP", Admins)
	_                   = op("Pools.Saved", Internal)
	_                   = op("Pools.Start", Internal)

	_ = op("Control.Step", Internal)
	_ = op("Control.Run", Internal)

	RunsMake           = op("Runs.Make", Tenant)
	RunsAgain          = op("Runs.MakeAgain", Tenant)
	RunsLoad           = op("Runs.Load", Tenant)
	RunsAddRows        = op("Runs.AddRows", Tenant)
	RunsFeedRows       = op("Runs.FeedRows", Tenant)
	RunsSealInputs     = op("Runs.SealInputs", Tenant)
	RunsStart          = op("Runs.Start", Tenant)
	RunsPause          = op("Runs.Pause", Tenant)
	RunsResume         = op("Runs.Resume", Tenant)
	RunsCancel         = op("Runs.Cancel", Tenant)
	RunsTopUp          = op("Runs.TopUp", Tenant)
	RunsEndStep        = op("Runs.EndStep", Tenant)
	RunsRetry          = op("Runs.Retry", Tenant)
	RunsSkip           = op("Runs.Skip", Tenant)
	RunsList           = op("Runs.List", Tenant)
	RunsGet            = op("Runs.Get", Tenant)
	RunsWatched        = op("Runs.Watched", Tenant)
	RunsDetails        = op("Runs.Details", Tenant)
	RunsWatchedDetails = op("Runs.WatchedDetails", Tenant)
	RunsSlowest        = op("Runs.Slowest", Tenant)
	RunsPath           = op("Runs.Path", Tenant)
	RunsItems          = op("Runs.Items", Tenant)
	RunsFaults         = op("Runs.Faults", Tenant)
	RunsEnded          = op("Runs.Ended", Tenant)
	RunsResults        = op("Runs.Results", Tenant)
	RunsWatch          = op("Runs.Watch", Tenant)
	RunsCheck          = op("Runs.Check", Requesters)
	RunsCheckFor       = op("Runs.Check: for a tenant", Tenant)
	_                  = op("Runs.Changed", Internal)
	_                  = op("Runs.Continue", Internal)
	_                  = op("Runs.Run", Internal)
	_                  = op("Runs.Close", Internal)
	_                  = op("Runs.StopWaiting", Internal)

	ServicesDeclare = op("Services.Declare", Admins)
	ServicesChange  = op("Services.Change", Admins)
	ServicesRemove  = op("Services.Remove", Admins)
	ServicesList    = op("Services.List", Requesters)
	ServicesGet     = op("Services.Get", Requesters)
	_               = op("Services.Figures", Internal)
)
