package audit

import (
	"strings"

	"github.com/throng-dev/throng/internal/store"
)

// did says for each operation of which the log tells what was done; $ stands for the thing.
var did = map[string]string{
	"Batches.Create": "made $", "Batches.EditDraft": "changed the draft $", "Batches.Upload": "uploaded tasks of $", "Batches.Launch": "launched $",
	"Batches.Change": "changed $", "Batches.AddTasks": "added tasks to $", "Batches.RemoveTask": "took a task out of $", "Results.Correct": "corrected a label of $", "Results.Withdraw": "took a correction of a label of $ back", "Work.Reply": "answered a report of a task of $", "Batches.UndoQualityAction": "undid what a quality rule did in $", "Batches.Disregard": "took what one worker answered out of $", "Batches.SendBack": "sent an answer to a task of $ back", "Batches.Pause": "paused $",
	"Pay.Approve": "approved pay of answers to $", "Pay.Refuse": "refused pay of answers to $", "Pay.Decide": "decided an appeal about pay of $",
	"Batches.Resume": "resumed $", "Batches.End": "ended $", "Batches.Cancel": "cancelled $", "Batches.TopUp": "raised the budget of $",

	"Accounts.Bootstrap": "made a one-time link, as nobody could sign in as an administrator, for $", "Accounts.CreateUser": "added $", "Accounts.ChangeUser": "changed $", "Accounts.BlockWorker": "blocked or unblocked $", "Accounts.NewSetupLink": "made a one-time link for $",
	"Accounts.Setup": "set a password by a one-time link, as $", "Accounts.SignIn": "signed in, as $", "Accounts.FinishSignIn": "signed in through a provider, as $",
	"Accounts.FinishFactor": "signed in with a second factor, as $", "Accounts.SignOut": "signed out, as $", "Accounts.ChangePassword": "changed the password of $",
	"Accounts.ChangeAddress": "asked at an address whether it is of $", "Accounts.AskForAddress": "asked again at an address whether it is of $", "Accounts.ConfirmAddress": "confirmed the address of $",
	"Accounts.EndSession": "ended $", "Accounts.EndSessions": "ended all sessions of $", "Accounts.ConfirmTOTP": "set up a second factor of $", "Accounts.ConfirmPasskey": "set up a passkey of $",
	"Accounts.SignInWithPasskey": "signed in as $ with a passkey", "Accounts.Erase": "erased $",
	"Provisioning.CreateToken": "made $ for a provider", "Provisioning.RevokeToken": "revoked $ of a provider",
	"Provisioning.Add": "added $", "Provisioning.Change": "changed $", "Provisioning.Remove": "removed $",
	"Provisioning.Add: for somebody who was here": "made $ what their provider says of them", "Accounts.FinishSignIn: one person in place of two": "took one person for two, at $",
	"Provisioning.ChangeGroup: what it makes each of its people": "made $ what their groups at a provider say",
	"Provisioning.AddGroup": "added the group $", "Provisioning.ChangeGroup": "changed the group $", "Provisioning.RemoveGroup": "removed the group $",
	"Tenants.SetQuotas":     "set quotas of $",
	"Accounts.RemoveFactor": "removed a second factor of $", "Accounts.NewRecoveryCodes": "made new recovery codes of $", "Accounts.ResetFactors": "removed all second factors of $",
	"Accounts.CreateRole": "made $", "Accounts.ChangeRole": "changed $", "Accounts.RemoveRole": "removed $", "Accounts.GiveRole": "gave a role to $", "Accounts.TakeRole": "took a role from $",
	"Accounts.CreateToken": "made $", "Accounts.RevokeToken": "revoked $",

	"Tenants.Create": "added $", "Tenants.Update": "changed $", "Tenants.Change": "changed $", "Tenants.Deposit": "moved money into or out of the account of $",
	"Tenants.PutSecret": "set $", "Tenants.DeleteSecret": "deleted $",

	"Invitations.Invite": "sent $", "Invitations.Resend": "sent $ again", "Invitations.Withdraw": "withdrew $", "Invitations.Join": "joined by $",
	"Invitations.Accept": "accepted $", "Invitations.Decline": "declined $",

	"Tests.Create": "made $", "Tests.Retire": "retired $", "Duty.ChangeWishes": "changed the wishes of $",
	"Transfers.Move": "moved $", "Transfers.MoveFrom": "moved $",

	"Pools.Create": "added $", "Pools.Change": "changed $", "Pools.Grant": "granted $ to a tenant", "Pools.Revoke": "took $ away from a tenant",
	"Pools.StopEverything": "stopped $, or lifted that", "Pools.Fund": "moved money into or out of $",

	"Runs.Make": "made $", "Runs.MakeAgain": "made $ as another one again", "Runs.Load": "loaded a file of $", "Runs.AddRows": "added rows to $", "Runs.SealInputs": "sealed the inputs of $",
	"Runs.Start": "started $", "Runs.Pause": "paused $", "Runs.Resume": "resumed $", "Runs.Cancel": "cancelled $", "Runs.TopUp": "raised the budget of $",
	"Runs.Redo": "did a run anew, with corrected labels, as $", store.RunRedone: "did a run anew, as its workflow asks for when labels were corrected, as $",
	"Runs.EndStep": "ended a step of $", "Runs.Retry": "retried what was held of $", "Runs.Skip": "gave up what was held of $",

	"Services.Declare": "declared $", "Services.Change": "changed $", "Services.Remove": "removed $",

	"Retention.Set": "set how long $ keeps things",

	store.RetentionDeleted: "began to delete what has been kept for long enough of $",

	store.AuditDropped: "dropped old entries of $",
}

// nouns are kinds as people call them, where they differ, and plural things.
var nouns = map[string]string{Worker: "user", Pools: "all pools", Invitations: "invitations", Log: "the audit log"}

// summary says what was done.
func summary(e *store.AuditEntry) string {
	text, known := did[e.Operation]
	if !known {
		text = e.Operation + " on $" // of another version
	}
	thing := e.Kind + " " + e.Object
	switch noun := nouns[e.Kind]; {
	case e.Kind == "provisioned": // what it is, the operation says
		thing = e.Object
	case e.Kind == Worker:
		thing = noun + " " + e.Object
	case noun != "":
		thing = noun
	}
	return strings.Replace(text, "$", strings.TrimSpace(thing), 1)
}
