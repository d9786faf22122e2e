package cli

import (
	"cmp"
	"io"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/wire"
)

// Service is "throng service".
type Service struct {
	List   ServiceList   `cmd:"" help:"List the services that workflows call by name, with their load."`
	Show   ServiceShow   `cmd:"" help:"Show a service: its capacity, who may use it, and its load."`
	Set    ServiceSet    `cmd:"" help:"Declare a service for the workflows of several tenants, or change it."`
	Remove ServiceRemove `cmd:"" help:"Remove a service."`
}

// aService is the service that a command is about.
type aService struct {
	Name string `arg:"" help:"The service's name."`
	Remote
}

// ServiceList is "throng service list".
type ServiceList struct{ Remote }

// Run lists the services.
func (x *ServiceList) Run(c *Context, r *remote) error {
	list, err := r.Services(c.Ctx)
	named := r.tenantNames()
	return printTable(r, list, err, "NAME|URL|AT A TIME|RATE|TENANTS|UNDER WAY|WAITING|NEXT CALL", func(s wire.Service) []any {
		return []any{s.Name, s.URL, s.Concurrency, cmp.Or(s.Rate, "-"), usersOf(s, named), s.UnderWay, s.Waiting, opens(s)}
	})
}

// usersOf says which tenants may use a service.
func usersOf(s wire.Service, named func(crowd.TenantID) string) string {
	switch {
	case s.AllTenants:
		return "all"
	case len(s.Tenants) == 0:
		return "none"
	}
	return joined(s.Tenants, named)
}

// tenantNames names tenants for people: by their ids, where the names cannot be read.
func (r *remote) tenantNames() func(crowd.TenantID) string {
	names := make(map[crowd.TenantID]string)
	if !r.json {
		list, _ := r.tenants() // the ids will do
		for _, t := range list {
			names[t.ID] = t.Name
		}
	}
	return func(id crowd.TenantID) string { return cmp.Or(names[id], id.String()) }
}

// opens says when a service takes its next call, if it takes none now.
func opens(s wire.Service) string {
	if s.Opens.IsZero() {
		return ""
	}
	return "in " + format.Duration(max(s.Opens.Sub(now()), 0))
}

// ServiceShow is "throng service show".
type ServiceShow struct{ aService }

// Run shows the service.
func (x *ServiceShow) Run(c *Context, r *remote) error {
	s, err := r.Service(c.Ctx, x.Name)
	return r.print(s, err, func(w io.Writer) { r.showService(w, s) })
}

func (r *remote) showService(w io.Writer, s wire.Service) {
	named := r.tenantNames()
	say(w, "%s at %s\n", clean(s.Name), clean(s.URL))
	response := ""
	if s.ResponseSeconds > 0 {
		response = format.Duration(time.Duration(s.ResponseSeconds * float64(time.Second)))
	}
	pairs(w, "calls at a time", s.Concurrency, "rate", cmp.Or(s.Rate, "no limit"), "tenants", clean(usersOf(s, named)), "under way", s.UnderWay, "waiting", s.Waiting, "takes", response, "next call", opens(s), "warning", s.Warning)
	if len(s.Load) > 0 {
		say(w, "\n")
		writeTable(w, s.Load, "TENANT|UNDER WAY|WAITING", func(n wire.ServiceShare) []any { return []any{named(n.Tenant), n.UnderWay, n.Waiting} })
	}
}

// ServiceSet is "throng service set".
type ServiceSet struct {
	aService
	URL         *string `name:"url" placeholder:"URL" help:"Its address; the paths of steps go below it."`
	Concurrency *int    `placeholder:"N" help:"The most calls at a time, of all tenants together."`
	Rate        *string `placeholder:"RATE" help:"The most calls begun in a time, such as 10/s, 600/m, 5000/h or 20000/d; none: no limit."`
	Tenants     *string `placeholder:"TENANTS" help:"The tenants that may use it, separated by commas; all, or none."`
}

// Run declares the service, or changes it.
func (x *ServiceSet) Run(c *Context, r *remote) error {
	edit := wire.ServiceEdit{URL: x.URL, Concurrency: x.Concurrency, Rate: x.Rate}
	if x.Rate != nil && *x.Rate == "none" {
		edit.Rate = new(string)
	}
	if x.Tenants != nil {
		all, list, err := r.users(*x.Tenants)
		if err != nil {
			return err
		}
		edit.AllTenants, edit.Tenants = &all, &list
	}
	out, err := r.EditService(c.Ctx, x.Name, edit)
	if crowd.CodeOf(err) == crowd.NotFound {
		if x.URL == nil || x.Concurrency == nil {
			return wrong("service set", "there is no service %s yet: --url and --concurrency declare it", x.Name)
		}
		out, err = r.DeclareService(c.Ctx, wire.NewService{Name: x.Name, ServiceEdit: edit})
	}
	return r.print(out, err, func(w io.Writer) {
		r.showService(w, out)
		if !out.AllTenants && len(out.Tenants) == 0 {
			say(w, "no tenant may use it yet: throng service set %s --tenants NAME,NAME\n", clean(out.Name))
		}
	})
}

// users reads who may use a service: all, none, or a list of tenants.
func (r *remote) users(text string) (all bool, list []crowd.TenantID, err error) {
	list = []crowd.TenantID{}
	if text == "all" || text == "none" {
		return text == "all", list, nil
	}
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name == "" {
			return false, nil, wrong("tenants", "a name is empty: name tenants, separated by commas; or all, or none")
		}
		id, err := r.tenant(name)
		if err != nil {
			return false, nil, err
		}
		list = append(list, id)
	}
	return false, list, nil
}

// ServiceRemove is "throng service remove".
type ServiceRemove struct{ aService }

// Run removes the service.
func (x *ServiceRemove) Run(c *Context, r *remote) error {
	err := r.RemoveService(c.Ctx, x.Name)
	return r.tell(map[string]string{"name": x.Name}, err, "%s is removed\n", clean(x.Name))
}
