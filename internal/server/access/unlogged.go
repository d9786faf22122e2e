package access

const (
	itsAssignment = "the assignment tells it"
	itsDuty       = "what is kept of duty tells it"
	itsTry        = "the try tells it"
	notConfirmed  = "it has no effect before it is confirmed"
	ownBrowser    = "it is about where messages are shown to them, and nothing hangs on it"
)

// unlogged has the operations that change something of which the audit log does not tell,
// and why not.
var unlogged = map[string]string{
	"Work.Next": itsAssignment, "Work.NextUnlessLeft": itsAssignment, "Work.Submit": itsAssignment, "Work.SendBack": itsAssignment, "Work.Return": itsAssignment, "Work.Skip": itsAssignment, "Work.Undo": itsAssignment, "Work.Revise": "what was answered before is kept with the answer", "Work.Report": "the report tells it", "Work.SeeNote": "the note tells when it was seen", "Work.Heartbeat": itsAssignment,
	"Pay.Appeal": "the appeal tells it",
	"Duty.Start": itsDuty, "Duty.End": itsDuty, "Duty.DeclineCall": "the call tells it",
	"Duty.Subscribe": ownBrowser, "Duty.Unsubscribe": ownBrowser,
	"Tests.StartTry": itsTry, "Tests.SubmitTry": itsTry,
	"Accounts.BeginSignIn": "nobody is signed in yet",
	"Accounts.BeginTOTP":   notConfirmed, "Accounts.BeginPasskey": notConfirmed,
}

// Logged reports whether the audit log tells of an operation, by one entry.
func (o Operation) Logged() bool { return o.Changes && unlogged[o.Name] == "" }
