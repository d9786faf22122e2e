// Package load has what the demo, the benchmarks and the kill test share: a real
// server in a process of its own, the tenants, workers and batches on it, and
// clients that work on it over HTTP as any program would.
package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/verify/process"
	"github.com/throng-dev/throng/internal/wire"
)

// Site is a server on a new folder, and its admin.
type Site struct {
	*process.Server
	Admin    *client.Client
	Password string       // of the admin
	Pool     crowd.PoolID // that a new server has
}

// Start starts a server on a folder without a database, and takes its one-time link.
// The server ends with Stop or Kill.
func Start(ctx context.Context, cfg process.Config) (*Site, error) {
	server, err := process.Start(ctx, cfg)
	if err != nil {
		return nil, err
	}
	s := &Site{Server: server, Password: process.NewPassword()}
	var pools []wire.Pool
	if s.Admin, err = s.FirstAdmin(ctx, s.Password); err == nil {
		pools, err = s.Admin.Pools(ctx)
	}
	if err != nil {
		server.Kill()
		return nil, err
	}
	s.Pool = pools[0].ID
	return s, nil
}

// AddTenant adds a tenant and pays its money in. note is that of the deposit.
func (s *Site) AddTenant(ctx context.Context, name string, weight float64, money crowd.Money, note string) (crowd.TenantID, error) {
	t, err := s.Admin.CreateTenant(ctx, wire.NewTenant{Name: name, Weight: &weight})
	if err != nil {
		return 0, err
	}
	return t.ID, s.Admin.Deposit(ctx, t.ID, money, note)
}

// Worker is a user who works as a program with a token.
type Worker struct {
	Name  string
	ID    crowd.WorkerID
	Token string
}

// Client returns a client of the worker with a connection of its own.
func (w Worker) Client(url string) *client.Client {
	return &client.Client{URL: url, Token: w.Token, HTTP: process.HTTP(1)}
}

// AddWorkers adds n workers, a few at a time. of gives the name and the pool of
// each.
func (s *Site) AddWorkers(ctx context.Context, n int, of func(i int) (name string, pool crowd.PoolID)) ([]Worker, error) {
	list := make([]Worker, n)
	return list, InParallel(n, func(i int) error {
		name, pool := of(i)
		u, err := s.Admin.CreateUser(ctx, wire.NewUser{Name: name, Pool: pool})
		if err != nil {
			return err
		}
		token, err := s.Admin.CreateToken(ctx, wire.NewToken{Name: "client", For: u.ID, Roles: []string{"worker"}})
		list[i] = Worker{Name: name, ID: u.ID, Token: token}
		return err
	})
}

// AddBatch makes a draft with tasks from a CSV file of which so many must arrive.
func (s *Site) AddBatch(ctx context.Context, d wire.NewBatch, file io.Reader, tasks int) (crowd.BatchID, error) {
	b, err := s.Admin.CreateBatch(ctx, d)
	if err != nil {
		return 0, err
	}
	up, err := s.Admin.Upload(ctx, b.ID, file, "csv", false)
	if err == nil && up.Tasks != tasks {
		err = fmt.Errorf("%s: %d of %d tasks arrived", d.Name, up.Tasks, tasks)
	}
	return b.ID, err
}

// CSV is a CSV file of n rows, those of the numbers 0 to n-1, that is made as it is
// read.
func CSV(header []string, n int, row func(i int) []string) io.Reader {
	r, w := io.Pipe()
	go func() {
		_ = w.CloseWithError(table.WriteRows(w, header, table.WriterOptions{Format: table.CSV}, func(yield func([]string, error) bool) {
			for i := 0; i < n && yield(row(i), nil); i++ {
			}
		}))
	}()
	return r
}

// InParallel calls f for 0 to n-1, eight at a time, and joins the errors.
func InParallel(n int, f func(i int) error) error {
	errs := make([]error, n)
	var all sync.WaitGroup
	places := make(chan struct{}, 8)
	for i := range n {
		places <- struct{}{}
		all.Go(func() { errs[i] = f(i); <-places })
	}
	all.Wait()
	return errors.Join(errs...)
}

// Say writes a line of what is being done; to may be nil.
func Say(to io.Writer, format string, args ...any) {
	if to != nil {
		_, _ = fmt.Fprintf(to, format+"\n", args...)
	}
}
