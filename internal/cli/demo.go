package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/throng-dev/throng/internal/server"
	"github.com/throng-dev/throng/internal/store/sqlite"
	"github.com/throng-dev/throng/internal/verify/demo"
)

// Demo is "throng demo".
type Demo struct {
	Scene   string        `help:"What is shown: batches, which a crowd works on; or pools, which call people, pay them for waiting, let them go and move them." enum:"batches,pools" default:"batches" placeholder:"SCENE"`
	For     time.Duration `help:"About how long it takes (default 20s; of pools 30s). With --replay, the longest it may take (default: as long as it takes)."`
	Seed    uint64        `help:"Of the made data and of what the clients do." default:"1"`
	Workers int           `help:"Worker clients of the made demo." default:"36"`
	People  int           `help:"People of the scene of pools." default:"60"`
	Replay  string        `help:"Replay the answers of real people: a folder with labels.csv (task,worker,label) and perhaps truth.csv (task,label)." type:"existingdir" placeholder:"DIR"`
	Policy  string        `help:"Scheduling policy of the pool, such as fifo or tenant-fair(dafs); default: the server's." placeholder:"POLICY"`
	Data    string        `help:"New folder for the database; default: a temporary one, removed at the end." type:"path" placeholder:"DIR"`
	Listen  string        `help:"Address to listen on; port 0 takes a free one." default:"127.0.0.1:0"`
	Keep    bool          `help:"When the work is done, leave the server running until Ctrl-C."`
	Output
}

// Run runs the demo.
func (d *Demo) Run(c *Context) error {
	ctx, stop := c.untilSignal()
	defer stop()
	if d.Scene == "pools" {
		return d.pools(ctx, c)
	}
	o := demo.Options{Common: d.common(c), Workers: d.Workers, Replay: d.Replay}
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

// common are the options of both scenes.
func (d *Demo) common(c *Context) demo.Common {
	return demo.Common{
		For: d.For, Seed: d.Seed, Policy: d.Policy, Data: d.Data, Listen: d.Listen, Keep: d.Keep,
		Screen: c.Stderr, Live: onTerminal(c.Stderr),
	}
}

// pools runs the scene of live pools.
func (d *Demo) pools(ctx context.Context, c *Context) error {
	if d.Replay != "" {
		return wrong("replay", "is not for the scene of pools")
	}
	o := demo.PoolsOptions{Common: d.common(c), People: d.People, Inspect: inspectFolder}
	if o.For == 0 {
		o.For = demo.DefaultPoolsFor
	}
	ok := false
	o.Report = func(r *demo.PoolsReport) error {
		ok = r.OK()
		return d.print(c, r, r.WriteTable)
	}
	if err := demo.RunPools(ctx, o); err != nil {
		return err
	}
	if !ok {
		return errors.New("something that must hold does not: see the checks above")
	}
	return nil
}

// inspectFolder checks the folder of a server that has stopped, as "throng
// doctor" does, and says how many checks that were.
func inspectFolder(ctx context.Context, data string) (checks int, err error) {
	st, err := sqlite.Open(ctx, filepath.Join(data, server.DatabaseFile), sqlite.Options{})
	if err != nil {
		return 0, err
	}
	d := &diagnosis{Counts: make(map[string]int64), Facts: make(map[string]string)}
	inspect(ctx, st, d)
	d.check("closing", st.Close(), "closed in order")
	for _, k := range d.Checks {
		if !k.OK {
			err = errors.Join(err, fmt.Errorf("%s: %s", k.Name, k.Detail))
		}
	}
	return len(d.Checks), err
}
