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
	if d.Scene == "pools" && d.Replay != "" {
		return wrong("replay", "is not for the scene of pools")
	}
	var report demo.Report
	if err := demo.Run(ctx, demo.Options{
		For: d.For, Seed: d.Seed, Pools: d.Scene == "pools", People: d.People, Workers: d.Workers, Replay: d.Replay,
		Policy: d.Policy, Data: d.Data, Listen: d.Listen, Keep: d.Keep, Screen: c.Stderr, Live: onTerminal(c.Stderr), Inspect: inspectFolder,
		Report: func(r demo.Report) error {
			report = r
			return d.print(c, r, r.WriteTable)
		},
	}); err != nil {
		return err
	}
	return report.Err()
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
