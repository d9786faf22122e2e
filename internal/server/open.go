package server

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"path/filepath"

	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/server/audit"
	"github.com/throng-dev/throng/internal/server/httpkit"
	"github.com/throng-dev/throng/internal/server/metrics"
	"github.com/throng-dev/throng/internal/server/nodes"
	"github.com/throng-dev/throng/internal/server/oidc"
	"github.com/throng-dev/throng/internal/store"
)

// settings are a Config whose texts were read.
type settings struct {
	Config
	adminFrom []netip.Prefix
	providers []oidc.Settings
	factor    accounts.FactorRule
}

// read reads the texts of a Config, so that what is wrong is told before a store is opened.
func (cfg Config) read() (s *settings, err error) {
	s = &settings{Config: cfg}
	if s.adminFrom, err = accounts.ParseNetworks("admin-from", cfg.AdminFrom); err != nil {
		return nil, err
	}
	if cfg.OIDC != "" {
		if s.providers, err = oidc.ReadSettings(cfg.OIDC); err != nil {
			return nil, fmt.Errorf("oidc: %w", err)
		}
	}
	if s.factor, err = accounts.ParseFactorRule(cfg.RequireFactor); err != nil {
		return nil, err
	}
	if err = audit.CheckRetention("audit-retention", cfg.AuditRetention); err != nil {
		return nil, err
	}
	if err = checkSenders(cfg); err != nil {
		return nil, err
	}
	if err = cfg.Node.check(cfg); err != nil {
		return nil, err
	}
	if _, err = hostsOf(cfg); err != nil {
		return nil, err
	}
	return s, cfg.TLS.check()
}

// running is an app on an open store, with what is served of it.
type running struct {
	app     *app.App
	store   store.Store
	figures *metrics.Metrics
	streams *httpkit.Streams
	handler http.Handler
}

// open starts an app on a store, which stays open if that fails. members are the nodes of
// its database; nil: there are none.
func (s *settings) open(ctx context.Context, st store.Store, members *nodes.Nodes) (*running, error) {
	send, err := senders(ctx, s.Config, st)
	if err != nil {
		return nil, err
	}
	a, err := app.Open(ctx, app.Config{
		AdminFrom: s.adminFrom, Providers: s.providers, Factor: s.factor,
		Store: st, Log: s.Log, Senders: send, PublicURL: s.PublicURL, ControlEvery: controlEvery, Balance: s.Balance,
		Services: s.Services, AuditRetention: s.AuditRetention, Retention: s.Retention, ScrubAt: s.ScrubAt, Nodes: members,
	})
	if err != nil {
		return nil, err
	}
	o := &running{app: a, store: st, figures: metrics.New(a, s.Log, s.TrustProxy), streams: &httpkit.Streams{}}
	scratch := &httpkit.Scratch{Dir: filepath.Join(s.Data, s.Node.scratch())}
	if o.handler, err = newHandler(a, s.Config, edges{o.figures, o.streams, scratch}); err != nil {
		a.Close()
		return nil, err
	}
	return o, nil
}
