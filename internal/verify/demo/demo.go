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

// Options is how the demo runs.
type Options struct {
	// For is about how long people work; 0: DefaultFor or DefaultPoolsFor. Of a
	// replay it is the longest that it may take; 0: as long as it takes.
	For     time.Duration
	Seed    uint64 // of the made data and of what people do
	Pools   bool   // the scene of live pools
	People  int    // of that scene, in all pools together
	Workers int    // clients of the made demo
	Replay  string // folder with labels.csv and perhaps truth.csv; "": the made demo
	Policy  string // scheduling policy of the pools; "": the server's default
	Data    string // folder of the database; "": a temporary one, removed at the end
	Listen  string // "": a free port on the loopback interface
	Keep    bool   // when the work is done, serve on until ctx is done

	Screen io.Writer // progress and where to look
	Live   bool      // Screen is a terminal: draw over what was drawn
	Report func(Report) error
	// Inspect checks the folder of a server that has stopped, and returns how many
	// things it has checked.
	Inspect func(ctx context.Context, data string) (checks int, err error)
}

// How long the scenes take.
const (
	DefaultFor      = 20 * time.Second
	DefaultPoolsFor = 30 * time.Second
)

// Report is what came of a demo: *BatchesReport or *PoolsReport.
type Report interface {
	// Err returns an error if something that must hold does not.
	Err() error
	// WriteTable writes the report for people.
	WriteTable(io.Writer)
}

// scene sets a scene up, lets people work in it, and reports.
type scene func(context.Context, *server) (Report, error)

// server is the server of a demo, and what its clients know of it.
type server struct {
	*load.Site
	Options
	stop    func() error // ends the server; may be called again
	batches []*batch
	people  []*person
	begun   time.Time
}

// batch is a batch of the demo.
type batch struct {
	id     crowd.BatchID
	tenant string
	name   string

	// Of the scene of batches:
	think    float64                          // how long an answer takes, relative to others
	answer   func(*person, *wire.Work) string // as JSON
	starts   time.Duration                    // after the beginning
	launched bool
	deadline time.Time

	// Of the scene of pools, by their place there:
	pool, payer int
	training    bool
}

// Run runs a scene and reports. The error says that it could not run; what went
// wrong in it is in the report. When the server is to be kept, the report comes
// before it has stopped, and what is wrong with what it leaves behind is an error.
func Run(ctx context.Context, o Options) (err error) {
	play, err := o.scene()
	if err != nil {
		return err
	}
	s := &server{Options: o}
	if s.Data == "" {
		if s.Data, err = os.MkdirTemp("", "throng-demo-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(s.Data)) }()
	}
	if s.Site, err = load.Start(ctx, process.Config{Data: s.Data, Listen: o.Listen}); err != nil {
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
	report, err := play(ctx, s)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, s.Log())
	}
	if err := o.Report(report); err != nil || !o.Keep {
		return err
	}
	s.say("the server goes on at %s (data in %s); Ctrl-C ends it", s.URL, s.Data)
	select {
	case <-ctx.Done():
	case <-s.Done():
	}
	_, err = s.inspect(ctx)
	return err
}

// scene returns what is to be shown, once the options are complete and checked.
func (o *Options) scene() (scene, error) {
	switch {
	case o.Pools:
		if o.For == 0 {
			o.For = DefaultPoolsFor
		}
		if o.For < leastPoolsFor || o.People < leastPeople || o.People > mostPeople {
			return nil, crowd.Errorf(crowd.Invalid, "the scene of pools needs %d to %d people and at least %s", leastPeople, mostPeople, leastPoolsFor)
		}
		return playPools, nil
	case o.Replay != "":
		people, err := readAnswers(o.Replay)
		return batchScene(func(ctx context.Context, s *server) error { return s.replay(ctx, people) }), err
	case o.For == 0:
		o.For = DefaultFor
	}
	if o.Workers < mostAnswers || o.For < time.Second {
		return nil, crowd.Errorf(crowd.Invalid, "the demo needs at least %d workers and a second", mostAnswers)
	}
	return batchScene(made), nil
}

// inspect stops the server and checks what it leaves behind.
func (s *server) inspect(ctx context.Context) (checks int, err error) {
	if err := s.stop(); err != nil || s.Inspect == nil {
		return 0, err
	}
	return s.Inspect(context.WithoutCancel(ctx), s.Data)
}

func (s *server) say(format string, args ...any) {
	_, _ = fmt.Fprintf(s.Screen, format+"\n", args...)
}

// depositNote is the note of the tenants' money.
const depositNote = "for the demo"

// addPeople adds n workers.
func (s *server) addPeople(ctx context.Context, n int, of func(i int) (name string, pool crowd.PoolID)) error {
	workers, err := s.AddWorkers(ctx, n, of)
	for _, w := range workers {
		s.people = append(s.people, &person{server: s, name: w.Name, id: w.ID, client: w.Client(s.URL), receipts: make(map[crowd.AssignmentID]*receipt)})
	}
	return err
}

// addVisitor adds a user who signs in with a browser, and prints how.
func (s *server) addVisitor(ctx context.Context, u wire.NewUser, what string) error {
	made, err := s.Admin.CreateUser(ctx, u)
	if err != nil {
		return err
	}
	password := process.NewPassword()
	anybody := &client.Client{URL: s.URL}
	if _, err := anybody.Setup(ctx, made.SetupToken, password); err != nil {
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

// readBatches returns the batches as they are now, and whether one is still open or
// yet to come.
func (s *server) readBatches(ctx context.Context) ([]wire.Batch, bool, error) {
	list := make([]wire.Batch, len(s.batches))
	open := false
	for i, b := range s.batches {
		var err error
		if list[i], err = s.Admin.Batch(ctx, b.id); err != nil {
			return nil, false, fmt.Errorf("look at %s: %w", b.id, err)
		}
		open = open || !list[i].State.Ended()
	}
	return list, open, nil
}

// endOpen ends what is still open, with the labels that there are, so that nothing
// is left in anybody's hands.
func (s *server) endOpen(ctx context.Context) error {
	list, _, err := s.readBatches(ctx)
	for _, b := range list {
		if err == nil && !b.State.Ended() {
			move := "end"
			if b.State == crowd.BatchDraft {
				move = "cancel"
			}
			_, err = s.Admin.Move(ctx, b.ID, move)
			if crowd.CodeOf(err) == crowd.Conflict {
				err = nil // it has just ended by itself
			}
		}
	}
	return err
}
