package cli

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/wire"
)

// Role is "throng role".
type Role struct {
	List   RoleList   `cmd:"" help:"List the roles, with what each permits."`
	Create RoleCreate `cmd:"" help:"Make a role out of permissions."`
	Set    RoleSet    `cmd:"" help:"Change what a role permits, or its text."`
	Remove RoleRemove `cmd:"" help:"Remove a role; who holds it loses it."`
	Give   RoleGive   `cmd:"" help:"Give somebody a role."`
	Take   RoleGive   `cmd:"" help:"Take a role away from somebody."`
}

// roleOwner is the tenant that a role is of, if it is of one.
type roleOwner struct {
	Tenant string `placeholder:"TENANT" help:"Of this tenant; without it, of the installation, or of your tenant if you make roles for that alone."`
	Remote
}

func (x *roleOwner) id(r *remote) (crowd.TenantID, error) {
	if x.Tenant == "" {
		return 0, nil
	}
	return r.tenant(x.Tenant)
}

// RoleList is "throng role list".
type RoleList struct{ Remote }

// Run lists the roles.
func (*RoleList) Run(c *Context, r *remote) error {
	list, err := r.Roles(c.Ctx)
	named := r.tenantNames()
	return printTable(r, list, err, "NAME|OF|HELD BY|PERMISSIONS|FOR", func(x wire.Role) []any {
		of, holders := "the installation", joined(x.Holders, crowd.WorkerID.String)
		switch {
		case x.BuiltIn:
			of, holders = "built in", "-"
		case x.Tenant != 0:
			of = named(x.Tenant)
		}
		return []any{x.Name, of, holders, strings.Join(x.Permissions, " "), x.Text}
	})
}

// RoleCreate is "throng role create".
type RoleCreate struct {
	Name       string   `arg:"" help:"The role's name: a to z, 0 to 9 and -."`
	Permission []string `required:"" placeholder:"NAME" help:"What it permits, such as batches.read; separated by commas, or given often. You hold it yourself."`
	Text       string   `help:"What the role is for."`
	roleOwner
}

// Run makes the role.
func (x *RoleCreate) Run(c *Context, r *remote) error {
	tenant, err := x.id(r)
	if err != nil {
		return err
	}
	out, err := r.CreateRole(c.Ctx, wire.NewRole{Name: x.Name, Tenant: tenant, Text: x.Text, Permissions: x.Permission})
	return r.print(out, err, func(w io.Writer) { showRole(w, out) })
}

func showRole(w io.Writer, x wire.Role) {
	say(w, "%s: %s\n", clean(x.Name), strings.Join(x.Permissions, " "))
}

// RoleSet is "throng role set".
type RoleSet struct {
	Name       string   `arg:"" help:"The role."`
	Permission []string `placeholder:"NAME" help:"All that it permits from now on; separated by commas, or given often."`
	Text       *string  `placeholder:"TEXT" help:"What the role is for."`
	roleOwner
}

// Run changes the role.
func (x *RoleSet) Run(c *Context, r *remote) error {
	edit := wire.RoleEdit{Text: x.Text}
	if len(x.Permission) > 0 {
		edit.Permissions = &x.Permission
	}
	if edit == (wire.RoleEdit{}) {
		return wrong("role set", "say what to change: --permission or --text")
	}
	tenant, err := x.id(r)
	if err != nil {
		return err
	}
	out, err := r.EditRole(c.Ctx, tenant, x.Name, edit)
	return r.print(out, err, func(w io.Writer) { showRole(w, out) })
}

// RoleRemove is "throng role remove".
type RoleRemove struct {
	Name string `arg:"" help:"The role."`
	roleOwner
}

// Run removes the role.
func (x *RoleRemove) Run(c *Context, r *remote) error {
	tenant, err := x.id(r)
	if err != nil {
		return err
	}
	out, err := r.RemoveRole(c.Ctx, tenant, x.Name)
	return r.tell(out, err, "%s is removed; it was held by %s\n", clean(x.Name), cmp.Or(joined(out.Holders, crowd.WorkerID.String), "nobody"))
}

// RoleGive is "throng role give" and "take".
type RoleGive struct {
	Name   string `arg:"" help:"The role."`
	Person string `arg:"" help:"Who gets it, or loses it."`
	Tenant string `placeholder:"TENANT" help:"For this tenant; else for the installation."`
	Remote
}

// Run gives the role, or takes it away.
func (x *RoleGive) Run(c *Context, r *remote, v verb) error {
	tenant, err := (&roleOwner{Tenant: x.Tenant}).id(r)
	if err != nil {
		return err
	}
	id, err := r.person(x.Person)
	if err != nil {
		return err
	}
	var u wire.User
	if v == "give" {
		u, err = r.GiveRole(c.Ctx, id, heldRole(tenant, x.Name))
	} else {
		u, err = r.TakeRole(c.Ctx, id, tenant, x.Name)
	}
	return r.tell(u, err, "%s %s: %s\n", u.ID, clean(u.Name), cmp.Or(strings.Join(rolesOf(u), ", "), "no role"))
}

// heldRole is a role as it is held for a tenant; 0: for the installation.
func heldRole(tenant crowd.TenantID, name string) string {
	if tenant == 0 {
		return name
	}
	return tenant.String() + "/" + name
}

// rolesOf are all roles of a person.
func rolesOf(u wire.User) []string {
	var list []string
	if u.Admin {
		list = append(list, "admin")
	}
	for _, t := range u.Tenants {
		list = append(list, heldRole(t, "requester"))
	}
	list = append(list, u.Roles...)
	if u.Pool != 0 {
		list = append(list, "worker")
	}
	return slices.Clip(list)
}
