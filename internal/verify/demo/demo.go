// Package demo shows a whole Throng at work: a server on a new folder, tenants
// with batches that are unlike, and a crowd of clients that work over HTTP as
// any program would. The data are made by the package (Made), or are answers
// that real people once gave (Replay). In the end what the clients were told is
// compared with what the server has kept.
//
// It uses the API only, never the rooms behind it.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/verify/process"
	"github.com/throng-dev/throng/internal/wire"
)

// Options is how the demo runs.
type Options struct {
	For     time.Duration // about how long the made demo takes; for a replay the longest it may take, 0: as long as it takes
	Seed    uint64        // of the made data and of what the clients do
	Workers int           // clients of the made demo
	Replay  string        // folder with labels.csv and perhaps truth.csv; "": the made demo
	Policy  string        // scheduling policy of the pool; "": the server's default
	Data    string        // folder of the database; "": a temporary one, removed at the end
	Listen  string        // "": a free port on the loopback interface
	Keep    bool          // when the work is done, serve on until ctx is done

	Screen io.Writer // progress and where to look
	Live   bool      // Screen is a terminal: draw over what was drawn
	Report func(*Report) error
}

// DefaultFor is how long the made demo takes.
const DefaultFor = 20 * time.Second

// scene is a demo that is set up: batches that run and people to work on them.
type scene struct {
	options Options
	server  *process.Server
	admin   *client.Client
	pool    crowd.PoolID
	batches []*batch
	people  []*person
	later   func(ctx context.Context) error // launches more while the work goes on, or nil
	begun   time.Time
}

// batch is a batch of the demo.
type batch struct {
	id       crowd.BatchID
	tenant   string
	name     string
	think    float64                          // how long an answer takes against others
	answer   func(*person, *wire.Work) string // as JSON
	launched bool
	deadline time.Time
}

// Run runs the demo and reports. The error says that the demo could not run;
// whether all is right is in the report.
func Run(ctx context.Context, o Options) (err error) {
	if o.Replay == "" && (o.Workers < mostAnswers || o.For < time.Second) {
		return crowd.Errorf(crowd.Invalid, "the demo needs at least %d workers and a second", mostAnswers)
	}
	var people *answers
	if o.Replay != "" {
		if people, err = readAnswers(o.Replay); err != nil {
			return err
		}
	}
	data := o.Data
	if data == "" {
		if data, err = os.MkdirTemp("", "throng-demo-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(data)) }()
	}
	s := &scene{options: o}
	if s.server, err = process.Start(ctx, process.Config{Data: data, Listen: o.Listen}); err != nil {
		return err
	}
	defer func() {
		if stopped := s.server.Stop(); err == nil {
			err = stopped
		}
	}()
	password := process.NewPassword()
	if s.admin, err = s.server.FirstAdmin(ctx, password); err != nil {
		return err
	}
	if err := s.choosePool(ctx); err != nil {
		return err
	}
	s.say("watch it at %s", s.server.URL)
	s.say("  admin, password %s", password)
	if people == nil {
		err = s.setUp(ctx)
	} else {
		err = s.replay(ctx, people)
	}
	if err != nil {
		return err
	}
	report, err := s.work(ctx)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, s.server.Log())
	}
	if err := o.Report(report); err != nil {
		return err
	}
	if o.Keep {
		s.say("the server goes on at %s (data in %s); Ctrl-C ends it", s.server.URL, data)
		select {
		case <-ctx.Done():
		case <-s.server.Done():
		}
	}
	return nil
}

func (s *scene) say(format string, args ...any) {
	_, _ = fmt.Fprintf(s.options.Screen, format+"\n", args...)
}

// choosePool takes the pool that a new server has.
func (s *scene) choosePool(ctx context.Context) error {
	pools, err := s.admin.Pools(ctx)
	if err != nil {
		return err
	}
	s.pool = pools[0].ID
	if s.options.Policy != "" {
		_, err = s.admin.SetPolicy(ctx, s.pool, s.options.Policy)
	}
	return err
}

// tenant adds a tenant with money.
func (s *scene) tenant(ctx context.Context, name string, weight float64, money crowd.Money) (crowd.TenantID, error) {
	t, err := s.admin.CreateTenant(ctx, name, weight)
	if err != nil {
		return 0, err
	}
	return t.ID, s.admin.Deposit(ctx, t.ID, money, "for the demo")
}

// hire adds a worker who works as a program with a token of his.
func (s *scene) hire(ctx context.Context, name string, pool crowd.PoolID) (*person, error) {
	u, _, err := s.admin.CreateUser(ctx, wire.NewUser{Name: name, Pool: pool})
	if err != nil {
		return nil, err
	}
	token, err := s.admin.CreateToken(ctx, wire.NewToken{Name: "demo", For: u.ID, Roles: []string{"worker"}})
	if err != nil {
		return nil, err
	}
	p := &person{name: name, id: u.ID, scene: s, client: &client.Client{URL: s.server.URL, Token: token, HTTP: process.HTTP(1)}, told: make(map[crowd.AssignmentID]*told)}
	return p, nil
}

// visitor adds somebody who signs in with a browser, and says how.
func (s *scene) visitor(ctx context.Context, u wire.NewUser, what string) error {
	_, link, err := s.admin.CreateUser(ctx, u)
	if err != nil {
		return err
	}
	password := process.NewPassword()
	anybody := &client.Client{URL: s.server.URL}
	if _, err := anybody.Setup(ctx, link, password); err != nil {
		return err
	}
	s.say("  %s, password %s: %s", u.Name, password, what)
	return nil
}

func (s *scene) batch(id crowd.BatchID) *batch {
	for _, b := range s.batches {
		if b.id == id {
			return b
		}
	}
	return nil
}
