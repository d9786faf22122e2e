package cli

import (
	"bytes"
	"cmp"
	"io"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/wire"
)

// Secret is "throng workflow secret".
type Secret struct {
	Set    SecretSet    `cmd:"" help:"Keep a secret, or replace it."`
	List   SecretList   `cmd:"" help:"List secrets, without what they are."`
	Delete SecretDelete `cmd:"" help:"Forget a secret."`
}

// ofTenant is the tenant for which a command keeps something: its Run may ask for
// the id.
type ofTenant struct {
	Tenant string `help:"Of which tenant; not needed by a requester of one."`
	Remote
}

// ProvideTenant finds the tenant.
func (x *ofTenant) ProvideTenant(r *remote) (crowd.TenantID, error) { return r.ownerTenant(x.Tenant) }

// SecretSet is "throng workflow secret set".
type SecretSet struct {
	Name string   `arg:"" help:"Its name: letters, digits and _."`
	Host []string `placeholder:"HOST" sep:"none" help:"Send it to this host only: HOST, HOST:PORT or *.NAME; may be given often. Without it, to any."`
	ofTenant
}

// maxSecretInput is how much of standard input is read, in bytes.
const maxSecretInput = 64 << 10

// Run keeps the secret.
func (x *SecretSet) Run(c *Context, r *remote, tenant crowd.TenantID) error {
	value, err := x.value(c)
	if err != nil {
		return err
	}
	err = r.PutSecret(c.Ctx, tenant, x.Name, wire.NewTenantSecret{Value: value, Hosts: x.Host})
	return r.tell(map[string]any{"tenant": tenant.String(), "name": x.Name, "hosts": x.Host}, err, "%s is kept, for %s\n", clean(x.Name), hostsOf(x.Host))
}

func (x *SecretSet) value(c *Context) (string, error) {
	if onTerminal(c.Stdin) {
		return ask(c, "Value of "+clean(x.Name)+": ")
	}
	data, err := io.ReadAll(io.LimitReader(c.Stdin, maxSecretInput))
	if err != nil {
		return "", err
	}
	data = bytes.TrimSuffix(bytes.TrimSuffix(data, []byte("\n")), []byte("\r"))
	return string(data), nil
}

// hostsOf says to where a secret may be sent.
func hostsOf(hosts []string) string { return cmp.Or(clean(strings.Join(hosts, ", ")), "any host") }

// SecretList is "throng workflow secret list".
type SecretList struct{ ofTenant }

// Run lists them.
func (x *SecretList) Run(c *Context, r *remote, tenant crowd.TenantID) error {
	list, err := r.Secrets(c.Ctx, tenant)
	return r.print(list, err, func(w io.Writer) {
		writeTable(w, list, "NAME|HOSTS", func(s wire.TenantSecret) []any { return []any{s.Name, hostsOf(s.Hosts)} })
	})
}

// SecretDelete is "throng workflow secret delete".
type SecretDelete struct {
	Name string `arg:"" help:"Its name."`
	ofTenant
}

// Run forgets the secret.
func (x *SecretDelete) Run(c *Context, r *remote, tenant crowd.TenantID) error {
	err := r.DeleteSecret(c.Ctx, tenant, x.Name)
	return r.tell(map[string]string{"tenant": tenant.String(), "name": x.Name}, err, "%s is forgotten\n", clean(x.Name))
}
