package access

import (
	"slices"

	"github.com/throng-dev/throng/crowd"
)

// What shows things of a tenant, for MayOn.
var (
	ShowBatches = []Operation{BatchesGet, ResultsList}
	ShowRuns    = []Operation{RunsGet, RunsItems}
)

var errOutside = crowd.Errorf(crowd.Forbidden, "nobody acts as an administrator from your address")

// WhyNothing says why p has no permission at all; "": they have some.
func (p *Principal) WhyNothing() string {
	some := false
	p.each(func(_ crowd.TenantID, _ Role, s Permissions) bool {
		some = s != 0
		return !some
	})
	switch {
	case some:
		return ""
	case p.Outside:
		return errOutside.Message
	}
	return "you have no role: an administrator gives roles, or for a tenant one of its requesters"
}

// lacks is the error about a permission that p does not have, for a tenant, 0: for any, or the
// installation, whichever the operation is for.
func (p *Principal) lacks(o Operation, tenant crowd.TenantID) error {
	if p != nil && p.Outside && o.Needs != CanWork { // who runs the installation lacks it for that alone
		return errOutside
	}
	if p != nil && p.Limited() {
		if err := p.tokenLacks(o, tenant); err != nil {
			return err
		}
	}
	if o.Needs == CanWork {
		return crowd.Errorf(crowd.Forbidden, "this needs the role %s", Worker)
	}
	r := Requester
	if b, _ := FindBuiltIn(r); o.Who == Installation || !b.Has(o.Needs) {
		r = Admin
	}
	giver := "an administrator"
	if r == Requester {
		giver = "a requester of the tenant, or an administrator,"
	}
	where := ""
	switch _, any := p.Has(o.Needs); {
	case any && tenant != 0:
		where = " for " + tenant.String()
	case any:
		where = " for the installation, not for a tenant alone"
	}
	return crowd.Errorf(crowd.Forbidden, "this needs the role %s, or another with the permission %s%s, which %s can give you", r, o.Needs, where, giver)
}

// tokenLacks is the error about a permission that p would have with another token; nil: with none.
func (p *Principal) tokenLacks(o Operation, tenant crowd.TenantID) error {
	all := p.unlimited()
	whole, any := all.Has(o.Needs)
	if !any || o.Who == Installation && !whole || tenant != 0 && !whole && !slices.Contains(all.TenantsWith(o.Needs), tenant) {
		return nil
	}
	if of := p.Token.Tenant; of != 0 && !whole && o.Needs != CanWork && !slices.Contains(all.TenantsWith(o.Needs), of) {
		return crowd.Errorf(crowd.Forbidden, "this token is for %s alone, for which you do not have the permission %s (any more): have somebody give you a role of %s that has it, or send a token that is for another tenant", of, o.Needs, of)
	}
	return crowd.Errorf(crowd.Forbidden, "this token does not have the permission %s, which you have: it is limited; send another one, or make one that has it", o.Needs)
}
