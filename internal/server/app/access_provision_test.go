package app_test

import (
	"fmt"
	"maps"
	"net/netip"
	"time"

	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/groups"
	"github.com/throng-dev/throng/internal/server/oidc"
	"github.com/throng-dev/throng/internal/store"
)

// corp are the providers of a world that has one.
func corp() []oidc.Settings {
	return []oidc.Settings{{Name: "corp", Button: "Corp", Issuer: "https://corp.example", Groups: groups.Mapping{
		"crowd": {Pool: 1}, "north": {Held: []store.HeldRole{{Role: "requester", Tenant: 1}}}, "root": {Held: []store.HeldRole{{Role: "admin"}}}}}}
}

// provider is the provider corp, with a token of its own.
func (w *world) provider() *access.Principal {
	w.t.Helper()
	_, secret, err := w.Provisioning.CreateToken(w.ctx, w.admin, accounts.NewProviderToken{Provider: "corp"})
	ok(w.t, err)
	return must(w.Accounts.AuthenticateProvider(w.ctx, secret, netip.Addr{}))(w.t)
}

// fresh is somebody whom a provider may add, whom nobody was before.
func (s *scene) fresh() accounts.ProvisionedPerson {
	s.clock.advance(time.Millisecond)
	var x accounts.ProvisionedPerson
	x.UserName, x.Active = fmt.Sprintf("new%d", s.clock.now().UnixNano()), true
	return x
}

// theirs has a provider call something with the id of a person or group of its own, or,
// of who is none, with one of corp's.
func (s *scene) theirs(p *access.Principal, group bool, do func(id int64) error) error {
	of := p
	if p.May(access.ProvisioningAdd) != nil {
		of = s.provider()
	}
	x := must(s.Provisioning.Add(s.ctx, of, s.fresh()))(s.t)
	if !group {
		return do(x.ID)
	}
	var g accounts.ProvisionedGroup
	g.Name, g.Members = s.fresh().UserName, []store.Member{{ID: x.ID}}
	return do(must(s.Provisioning.AddGroup(s.ctx, of, g))(s.t).ID)
}

func noCheck[T any](*T) error { return nil }

func init() {
	maps.Copy(calls, map[string]func(s *scene, p *access.Principal) error{
		"Provisioning.Providers": func(s *scene, p *access.Principal) error { return second(s.Provisioning.Providers(s.ctx, p)) },
		"Provisioning.CreateToken": func(s *scene, p *access.Principal) error {
			_, _, err := s.Provisioning.CreateToken(s.ctx, p, accounts.NewProviderToken{Provider: "corp"})
			return err
		},
		"Provisioning.Tokens": func(s *scene, p *access.Principal) error { return second(s.Provisioning.Tokens(s.ctx, p, "corp")) },
		"Provisioning.RevokeToken": func(s *scene, p *access.Principal) error {
			t, _, err := s.Provisioning.CreateToken(s.ctx, s.admin, accounts.NewProviderToken{Provider: "corp"})
			ok(s.t, err)
			return s.Provisioning.RevokeToken(s.ctx, p, "corp", t.ID)
		},
		"Provisioning.People": func(s *scene, p *access.Principal) error {
			_, _, err := s.Provisioning.People(s.ctx, p, store.ProvisionedFilter{Limit: 1}, nil)
			return err
		},
		"Provisioning.Person": func(s *scene, p *access.Principal) error {
			return s.theirs(p, false, func(id int64) error { return second(s.Provisioning.Person(s.ctx, p, id)) })
		},
		"Provisioning.Add": func(s *scene, p *access.Principal) error { return second(s.Provisioning.Add(s.ctx, p, s.fresh())) },
		"Provisioning.Change": func(s *scene, p *access.Principal) error {
			return s.theirs(p, false, func(id int64) error {
				return second(s.Provisioning.Change(s.ctx, p, id, func(x *accounts.ProvisionedPerson) error { x.Active = false; return nil }))
			})
		},
		"Provisioning.Remove": func(s *scene, p *access.Principal) error {
			return s.theirs(p, false, func(id int64) error { return s.Provisioning.Remove(s.ctx, p, id, noCheck) })
		},
		"Provisioning.Groups": func(s *scene, p *access.Principal) error {
			_, _, err := s.Provisioning.Groups(s.ctx, p, store.ProvisionedFilter{Limit: 1}, true, nil)
			return err
		},
		"Provisioning.Group": func(s *scene, p *access.Principal) error {
			return s.theirs(p, true, func(id int64) error { return second(s.Provisioning.Group(s.ctx, p, id)) })
		},
		"Provisioning.AddGroup": func(s *scene, p *access.Principal) error {
			var g accounts.ProvisionedGroup
			g.Name = s.fresh().UserName
			return second(s.Provisioning.AddGroup(s.ctx, p, g))
		},
		"Provisioning.ChangeGroup": func(s *scene, p *access.Principal) error {
			return s.theirs(p, true, func(id int64) error {
				return second(s.Provisioning.ChangeGroup(s.ctx, p, id, func(x *accounts.ProvisionedGroup) error { x.Members = nil; return nil }))
			})
		},
		"Provisioning.RemoveGroup": func(s *scene, p *access.Principal) error {
			return s.theirs(p, true, func(id int64) error { return s.Provisioning.RemoveGroup(s.ctx, p, id, noCheck) })
		},
	})
}
