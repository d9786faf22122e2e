// Package demo shows a whole Throng at work: a server on a new folder, tenants
// with batches that differ, and a crowd of clients that work over HTTP as any
// program would. The data are made by the package, or are answers that real people
// once gave (a replay); a second scene shows pools that call people. In the end
// what the clients were told is compared with what the server has kept.
//
// It uses the API only, never the packages behind it.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/verify/load"
	"github.com/throng-dev/throng/internal/verify/process"
	"github.com/throng-dev/throng/internal/wire"
)

// Common is how every scene runs.
type Common struct {
	For    time.Duration // about how long people work
	Seed   uint64        // of the made data and of what people do
	Policy string        // scheduling policy of the pools; "": the server's default
	Data   string        // folder of the database; "": a temporary one, removed at the end
	Listen string        // "": a free port on the loopback interface
	Keep   bool          // when the work is done, serve on until ctx is done

	Screen io.Writer // progress and where to look
	Live   bool      // Screen is a terminal: draw over what was drawn
}

// Options is how the scene of batches runs. Of a replay, For is the longest that it
// may take; 0: as long as it takes.
type Options struct {
	Common
	Workers int    // clients of the made demo
	Replay  string // folder with labels.csv and perhaps truth.csv; "": the made demo
	Report  func(*Report) error
}

// DefaultFor is how long the made demo takes.
const DefaultFor = 20 * time.Second

// server is the server of a scene, and what its clients know of it.
type server struct {
	*load.Site
	stop    func() error // ends the server; may be called again
	data    string
	batches []*batch
	screen  io.Writer
	live    bool
	begun   time.Time
}

// scene is the scene of batches, set up: batches that run and people to work on
// them.
type scene struct {
	server
	options     Options
	people      []*person
	launchLater func(ctx context.Context) error // launches more while the work goes on, or nil
}

// batch is a batch of the demo.
type batch struct {
	id       crowd.BatchID
	tenant   string
	name     string
	think    float64                          // how long an answer takes, relative to others
	answer   func(*person, *wire.Work) string // as JSON
	launched bool
	deadline time.Time
}

// withServer starts a server on a new folder, prints where it is, and lets play use
// it. Afterwards the server has ended, and a temporary folder is removed.
func (o *Common) withServer(ctx context.Context, play func(server) error) (err error) {
	s := server{data: o.Data, screen: o.Screen, live: o.Live}
	if s.data == "" {
		if s.data, err = os.MkdirTemp("", "throng-demo-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(s.data)) }()
	}
	if s.Site, err = load.Start(ctx, process.Config{Data: s.data, Listen: o.Listen}); err != nil {
		return err
	}
	s.stop = sync.OnceValue(s.Stop)
	defer func() {
		if stopped := s.stop(); err == nil {
			err = stopped
		}
	}()
	s.say("watch it at %s", s.URL)
	s.say("  admin, password %s", s.Password)
	return play(s)
}

// keepServing lets the server run until ctx is done or it ends.
func (s *server) keepServing(ctx context.Context) {
	s.say("the server goes on at %s (data in %s); Ctrl-C ends it", s.URL, s.data)
	select {
	case <-ctx.Done():
	case <-s.Done():
	}
}

// Run runs the scene of batches and reports. The error says that the demo could not
// run; what went wrong in it is in the report.
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
	return o.withServer(ctx, func(server server) error {
		s := &scene{server: server, options: o}
		if o.Policy != "" {
			if _, err := s.Admin.SetPolicy(ctx, s.Pool, o.Policy); err != nil {
				return err
			}
		}
		var err error
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
			return fmt.Errorf("%w\n%s", err, s.Log())
		}
		if err := o.Report(report); err != nil {
			return err
		}
		if o.Keep {
			s.keepServing(ctx)
		}
		return nil
	})
}

func (s *server) say(format string, args ...any) {
	_, _ = fmt.Fprintf(s.screen, format+"\n", args...)
}

// addTenant adds a tenant with money.
func (s *server) addTenant(ctx context.Context, name string, weight float64, money crowd.Money) (crowd.TenantID, error) {
	return s.AddTenant(ctx, name, weight, money, "for the demo")
}

// addPeople adds n workers.
func (s *server) addPeople(ctx context.Context, n int, of func(i int) (name string, pool crowd.PoolID)) ([]*person, error) {
	workers, err := s.AddWorkers(ctx, n, of)
	if err != nil {
		return nil, err
	}
	list := make([]*person, n)
	for i, w := range workers {
		list[i] = &person{server: s, name: w.Name, id: w.ID, client: w.Client(s.URL), told: make(map[crowd.AssignmentID]*told)}
	}
	return list, nil
}

// addVisitor adds a user who signs in with a browser, and prints how.
func (s *server) addVisitor(ctx context.Context, u wire.NewUser, what string) error {
	_, link, err := s.Admin.CreateUser(ctx, u)
	if err != nil {
		return err
	}
	password := process.NewPassword()
	anybody := &client.Client{URL: s.URL}
	if _, err := anybody.Setup(ctx, link, password); err != nil {
		return err
	}
	s.say("  %s, password %s: %s", u.Name, password, what)
	return nil
}

func (s *server) launch(ctx context.Context, b *batch) error {
	b.launched = true
	_, err := s.Admin.Launch(ctx, b.id, false)
	return err
}

func (s *server) batch(id crowd.BatchID) *batch {
	for _, b := range s.batches {
		if b.id == id {
			return b
		}
	}
	return nil
}
