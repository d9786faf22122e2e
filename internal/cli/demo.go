package cli

import (
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/throng-dev/throng/internal/demo"
)

// Demo is "throng demo".
type Demo struct {
	For     time.Duration `help:"About how long it takes (default 20s). With --replay, the longest it may take (default: as long as it takes)."`
	Seed    uint64        `help:"Of the made data and of what the clients do." default:"1"`
	Workers int           `help:"Worker clients of the made demo." default:"36"`
	Replay  string        `help:"Replay the answers of real people: a folder with labels.csv (task,worker,label) and perhaps truth.csv (task,label)." type:"existingdir" placeholder:"DIR"`
	Policy  string        `help:"Scheduling policy of the pool, such as fifo or tenant-fair(dafs); default: the server's." placeholder:"POLICY"`
	Data    string        `help:"New folder for the database; default: a temporary one, removed at the end." type:"path" placeholder:"DIR"`
	Listen  string        `help:"Address to listen on; port 0 takes a free one." default:"127.0.0.1:0"`
	Keep    bool          `help:"When the work is done, leave the server running until Ctrl-C."`
	Output
}

// Help is the long help.
func (*Demo) Help() string {
	return `Starts a server on SQLite in a new folder, makes two tenants with batches unlike in
size, price, priority and deadline, and lets worker clients do them over HTTP. It
shows how they get on and where to watch with a browser, and ends with a table:
for each batch tasks, annotations, labels, accuracy against the truth, when it was
done, its share of the time for which people held tasks, and its cost.

How long people think is set so that all should be done after three quarters of
--for; what is still open shortly before the end is ended with the labels there are.

Each client keeps its own record of what the server acknowledged. In the end that is
compared with what the server has: if an answer was lost or doubled, the exit code is 1.

With --replay, each worker of labels.csv becomes a client that can do just the tasks
which he did, and answers as he did.

Examples:
  throng demo
  throng demo --for 60s --policy 'tenant-fair(dafs)' --keep
  throng demo --replay answers/ --json`
}

// Run runs the demo.
func (d *Demo) Run(c *Context) error {
	ctx, stop := signal.NotifyContext(c.Ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	o := demo.Options{For: d.For, Seed: d.Seed, Workers: d.Workers, Replay: d.Replay, Policy: d.Policy, Data: d.Data, Listen: d.Listen, Keep: d.Keep,
		Screen: c.Stderr, Live: onTerminal(c.Stderr)}
	if o.For == 0 && o.Replay == "" {
		o.For = demo.DefaultFor
	}
	ok := false
	o.Report = func(r *demo.Report) error {
		ok = r.OK()
		return d.print(c, r, r.WriteTable)
	}
	if err := demo.Run(ctx, o); err != nil {
		return err
	}
	if !ok {
		return errors.New("answers were lost or doubled (or none was given): see the counts above")
	}
	return nil
}
