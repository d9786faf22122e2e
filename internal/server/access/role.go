package access

import "slices"

// Role is the name of a set of permissions.
type Role string

// The built-in roles. One person may have several; a token may be limited to some.
const (
	Admin     Role = "admin"     // runs the installation
	Requester Role = "requester" // of a tenant: uploads, launches, downloads
	Worker    Role = "worker"    // of a pool: does tasks
)

// BuiltIn is a role that there always is.
type BuiltIn struct {
	Role Role
	Text string
	Permissions
}

// reading is what those see who see all of a tenant.
var reading = SetOf(CanReadMoney, CanReadBatches, CanReadResults, CanReadPeople, CanReadTests, CanReadFairness, CanReadServices)

var builtIns = []BuiltIn{
	{Admin, "everything", everything &^ SetOf(CanWork)},
	{Requester, "has tasks done for a tenant, and says who else may", reading |
		SetOf(CanStop, CanChangeBudgets, CanEditBatches, CanLaunchBatches, CanReview, CanChangePeople, CanInvite, CanChangeTests, CanChangeSecrets)},
	{Worker, "does tasks; is held by who is in a pool", SetOf(CanWork)},
}

// BuiltIns lists the built-in roles.
func BuiltIns() []BuiltIn { return builtIns }

// Roles lists the names of the built-in roles.
func Roles() (list []Role) {
	for _, b := range builtIns {
		list = append(list, b.Role)
	}
	return list
}

// builtIn returns the permissions of a built-in role.
func builtIn(r Role) (Permissions, bool) {
	i := slices.IndexFunc(builtIns, func(b BuiltIn) bool { return b.Role == r })
	if i < 0 {
		return 0, false
	}
	return builtIns[i].Permissions, true
}
