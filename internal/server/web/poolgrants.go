package web

import (
	"cmp"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// The fields with the tenants to which a pool is granted, and of them those that may invite.
const (
	grantedField  = "granted"
	invitingField = "inviting"
)

// everyTenant is the value of the box of a grant to every tenant.
const everyTenant = "all"

// bindGrants goes over the tenants to which a pool is granted. Who may invite to it has it.
func bindGrants(b binding, list *[]store.PoolGrant) {
	var granted, inviting []crowd.TenantID
	for _, g := range *list {
		granted = append(granted, g.Tenant)
		if g.Invite {
			inviting = append(inviting, g.Tenant)
		}
	}
	several(b, grantedField, &granted, parseGrantee, grantee)
	several(b, invitingField, &inviting, parseGrantee, grantee)
	if b.filling {
		return
	}
	*list = nil
	for _, tenant := range slices.Compact(slices.Sorted(slices.Values(append(granted, inviting...)))) {
		*list = append(*list, store.PoolGrant{Tenant: tenant, Invite: slices.Contains(inviting, tenant)})
	}
}

func parseGrantee(text string) (crowd.TenantID, error) {
	if text == everyTenant {
		return 0, nil
	}
	return crowd.ParseTenantID(text)
}

func grantee(id crowd.TenantID) string { return cmp.Or(idText(id), everyTenant) }

// grantField is a field of tenants with its boxes.
type grantField struct {
	Name, Legend string
	Boxes        []box
}

// box is one of the boxes of a field.
type box struct {
	choice
	On bool
}

// GrantFields are the fields with the tenants that may use the pool, as they are or as they
// were typed.
func (d *poolFormData) GrantFields(f *form) []grantField {
	values := d.S
	if typed := f.typed(poolFormID); typed != nil {
		values = typed
	}
	fields := []grantField{{Name: grantedField, Legend: "Their tasks may be done here"}, {Name: invitingField, Legend: "They may invite people, too"}}
	for i := range fields {
		for _, c := range menu(d.Tenants, tenantChoice, choice{everyTenant, "every tenant"}) {
			fields[i].Boxes = append(fields[i].Boxes, box{c, slices.Contains(values[fields[i].Name], c.Value)})
		}
	}
	return fields
}
