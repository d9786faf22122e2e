package access

import (
	"iter"
	"slices"
	"strings"

	"github.com/throng-dev/throng/crowd"
)

// Permission is a right to call some operations.
type Permission uint8

// The permissions. CanNothing is that of operations which need none.
const (
	CanNothing Permission = iota
	CanReadTenants
	CanChangeTenants
	CanStop
	CanReadMoney
	CanMoveMoney
	CanChangeBudgets
	CanReadBatches
	CanEditBatches
	CanLaunchBatches
	CanReadResults
	CanReview
	CanReadPeople
	CanReadNames
	CanChangePeople
	CanErasePeople
	CanInvite
	CanProvision
	CanReadTests
	CanChangeTests
	CanReadPools
	CanChangePools
	CanReadFairness
	CanReadServices
	CanChangeServices
	CanChangeSecrets
	CanChangeRetention
	CanReadAudit
	CanWork
	permissionCount
)

// permissions are the names of the permissions and what they are for.
var permissions = [permissionCount]struct{ name, text string }{
	CanReadTenants:     {"tenants.read", "see all tenants, with their settings"},
	CanChangeTenants:   {"tenants.change", "add tenants, change their names, weights and limits"},
	CanStop:            {"stop", "the emergency stop of a tenant; of everything, if held for the installation"},
	CanReadMoney:       {"money.read", "see accounts and their entries"},
	CanMoveMoney:       {"money.move", "put money into accounts of tenants and pools, and take it out"},
	CanChangeBudgets:   {"budgets.change", "raise and lower the budgets of batches and runs, from and to the tenant's account"},
	CanReadBatches:     {"batches.read", "see batches and runs, how far they are, and what they cost"},
	CanEditBatches:     {"batches.edit", "make and change batches and runs, upload what they work on"},
	CanLaunchBatches:   {"batches.launch", "launch, pause, resume, end and cancel batches and runs"},
	CanReadResults:     {"results.read", "see tasks, answers, labels and what runs have made"},
	CanReview:          {"review", "correct labels, approve and refuse pay and decide appeals, retry or give up what a run holds with an error, keep workers from a tenant's tasks"},
	CanReadPeople:      {"people.read", "see people and invitations"},
	CanReadNames:       {"people.names", "see who the workers of a tenant are, where others see pseudonyms"},
	CanChangePeople:    {"people.change", "add and change people, give roles"},
	CanErasePeople:     {"people.erase", "hand out all that is kept about a person, and erase it"},
	CanInvite:          {"people.invite", "invite people to work"},
	CanProvision:       {"people.provision", "see providers of accounts, let them add and change people, roles included, and say whose an e-mail address is"},
	CanReadTests:       {"tests.read", "see qualification tests and who took them"},
	CanChangeTests:     {"tests.change", "make and retire qualification tests"},
	CanReadPools:       {"pools.read", "see pools whole: people, queues, control, money for waiting"},
	CanChangePools:     {"pools.change", "add and change pools, grant them, move people between them"},
	CanReadFairness:    {"fairness.read", "see how evenly a pool serves the tenants"},
	CanReadServices:    {"services.read", "see the services that workflows may call"},
	CanChangeServices:  {"services.change", "declare, change and remove services"},
	CanChangeSecrets:   {"secrets.change", "set, list and delete the secrets of a tenant, which are never shown"},
	CanChangeRetention: {"retention.change", "set how long a tenant keeps answers, files and logs, after which they are deleted"},
	CanReadAudit:       {"audit.read", "see who changed what; of a tenant, without addresses and without who runs the installation"},
	CanWork:            {"work", "do tasks; comes with a pool only"},
}

// String is the permission's name.
func (x Permission) String() string { return permissions[x].name }

// Text says what the permission is for.
func (x Permission) Text() string { return permissions[x].text }

// AllPermissions lists every permission.
func AllPermissions() []Permission { return slices.Collect(everything.All()) }

// ParsePermission returns the permission with a name.
func ParsePermission(field, name string) (Permission, error) {
	for x := range everything.All() {
		if x.String() == name {
			return x, nil
		}
	}
	return 0, crowd.Fieldf(field, "%q is not a permission; there are %s", name, strings.Join(everything.Names(), ", "))
}

// Permissions is a set of permissions.
type Permissions uint64

// everything has every permission.
const everything = Permissions(1<<permissionCount-1) &^ 1

// SetOf returns the set of some permissions.
func SetOf(list ...Permission) (s Permissions) {
	for _, x := range list {
		s |= 1 << x
	}
	return s
}

// SetNamed returns the set of the permissions with some names. What is none is left out:
// it may have been one of another version.
func SetNamed(names []string) (s Permissions) {
	for x := range everything.All() {
		if slices.Contains(names, x.String()) {
			s |= 1 << x
		}
	}
	return s
}

// ParsePermissions returns the permissions with some names.
func ParsePermissions(field string, names []string) (s Permissions, err error) {
	for _, name := range names {
		x, err := ParsePermission(field, name)
		if err != nil {
			return 0, err
		}
		s |= 1 << x
	}
	return s, nil
}

// Has reports whether x is in the set.
func (s Permissions) Has(x Permission) bool { return s&(1<<x) != 0 }

// All yields what is in the set, in the order of the table.
func (s Permissions) All() iter.Seq[Permission] {
	return func(yield func(Permission) bool) {
		for x := CanNothing + 1; x < permissionCount; x++ {
			if s.Has(x) && !yield(x) {
				return
			}
		}
	}
}

// Names are the names of what is in the set.
func (s Permissions) Names() []string {
	var list []string
	for x := range s.All() {
		list = append(list, x.String())
	}
	return list
}
