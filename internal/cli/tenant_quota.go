package cli

import (
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/wire"
)

// TenantQuota is "throng tenant quota".
type TenantQuota struct {
	aTenant
	Set     []string `sep:"none" placeholder:"QUOTA=VALUE" help:"Set a quota, as in stored-bytes=20GiB, query-time=90m or tokens=50. Repeat it for several. For admins."`
	Default []string `sep:"none" placeholder:"QUOTA" help:"Give a quota its default again. Repeat it for several. For admins."`
	Remote
}

// Run shows or sets the quotas.
func (t *TenantQuota) Run(c *Context, r *remote, id crowd.TenantID) error {
	values := make(map[string]*int64)
	for _, text := range t.Set {
		name, value, found := strings.Cut(text, "=")
		if !found {
			return wrong("set", "%q is not QUOTA=VALUE, such as stored-bytes=20GiB", text)
		}
		info, err := store.ParseQuota("set", name)
		if err != nil {
			return err
		}
		n, err := info.Parse(value)
		if err != nil {
			return err
		}
		values[name] = &n
	}
	for _, name := range t.Default {
		if _, err := store.ParseQuota("default", name); err != nil {
			return err
		}
		if values[name] != nil {
			return wrong("default", "%s is set by --set, too", name)
		}
		values[name] = nil
	}
	get := func() (wire.Quotas, error) { return r.Quotas(c.Ctx, id) }
	if len(values) > 0 {
		get = func() (wire.Quotas, error) { return r.SetQuotas(c.Ctx, id, values) }
	}
	out, err := get()
	if err != nil {
		return err
	}
	if r.json {
		return r.tell(out, nil, "")
	}
	return printTable(r, out.Quotas, nil, "QUOTA|USED|OF|USED PART|DEFAULT|KIND", func(q wire.Quota) []any {
		unit := store.Unit(q.Unit)
		used, part := "-", "-"
		if q.Kind != string(store.Each) {
			used, part = unit.About(q.Used), format.Percent(float64(q.Used), float64(q.Value))
		}
		return []any{q.Quota, used, unit.Text(q.Value), part, unit.Text(q.Default), q.Kind}
	})
}
