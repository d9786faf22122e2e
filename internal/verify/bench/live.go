package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/verify/load"
	"github.com/throng-dev/throng/internal/verify/process"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/label"
)

// LiveOptions is what Live measures.
type LiveOptions struct {
	Workers  []int         // clients at a time: one row each
	For      time.Duration // how long each server is measured for each row, in all
	Tasks    int           // in open batches when it starts
	Apart    bool          // a cycle is two requests, one that submits and one that gets the next task
	Idle     int           // people who wait for work that they may not do, in a measurement more
	Database string        // address of an empty PostgreSQL database, in place of files in Dir
	Nodes    int           // servers on Database, over which clients are spread in a measurement more; 0: one
	Dir      string        // for the databases; "": a temporary folder
	Log      io.Writer     // what is being done
}

// LiveRow is the result for a number of clients. A cycle is one request that
// submits an answer and gets the next task (or two, see LiveOptions), replied to
// when both are durable. What is compared takes turns; figures a second are
// medians of the turns.
type LiveRow struct {
	Workers      int     `json:"workers"`
	CyclesPerS   float64 `json:"cycles_per_s"`
	P50MS        float64 `json:"p50_ms"`
	P99MS        float64 `json:"p99_ms"`
	CeilingPerS  float64 `json:"ceiling_cycles_per_s"`
	CeilingP50MS float64 `json:"ceiling_p50_ms"`
	CeilingP99MS float64 `json:"ceiling_p99_ms"`
	Ratio        float64 `json:"ratio"` // CyclesPerS / CeilingPerS
	CPUMicros    float64 `json:"cpu_us_per_cycle,omitempty"`
	CeilingCPU   float64 `json:"ceiling_cpu_us_per_cycle,omitempty"`
	Tasks        int     `json:"tasks"`

	*IdleFigures
	*NodeFigures
}

// IdleFigures are of the same clients while others wait in vain.
type IdleFigures struct {
	Idle      int     `json:"idle"` // people who wait
	IdlePerS  float64 `json:"idle_cycles_per_s"`
	IdleP99MS float64 `json:"idle_p99_ms"`
	IdleCost  float64 `json:"idle_cost"` // the share of LiveRow's cycles a second that they take away; below 0: none
}

// NodeFigures are of as many clients that are spread over several nodes; those of LiveRow are at
// the one that has the database.
type NodeFigures struct {
	NodesPerS  float64      `json:"nodes_cycles_per_s"`
	NodesP99MS float64      `json:"nodes_p99_ms"`
	NodesRatio float64      `json:"nodes_ratio"` // to LiveRow's cycles a second
	Nodes      []NodeFigure `json:"nodes"`
}

// NodeFigure is a node's part. The owner works for all cycles, another node for those that it
// sends on.
type NodeFigure struct {
	Name      string  `json:"node"`
	Owner     bool    `json:"owner"`
	Cycles    int     `json:"cycles"` // of the clients that are connected to it
	CPUMicros float64 `json:"cpu_us_per_cycle,omitempty"`
}

// turns is how often each of what is compared has its turn for a row.
const turns = 4

// live is what Live compares: servers of Throng, the first of which has the database, and the bare one.
type live struct {
	LiveOptions
	*world
	nodes      []*process.Server
	bare       *process.Server
	bareTokens []string
	idle       []string // tokens of those who wait
}

// Live measures a Throng server and the bare one in the same run.
func Live(ctx context.Context, o LiveOptions) (_ []LiveRow, err error) {
	if len(o.Workers) == 0 || slices.Min(o.Workers) < 1 || o.For <= 0 || o.Tasks < batchCount || o.Idle < 0 {
		return nil, fmt.Errorf("nothing to measure: workers %v, %s, %d tasks, %d idle", o.Workers, o.For, o.Tasks, o.Idle)
	}
	if o.Nodes != 0 && (o.Nodes < 2 || o.Database == "") {
		return nil, errors.New("nodes: at least 2, on an empty PostgreSQL database")
	}
	dir, remove, err := folder(o.Dir)
	if err != nil {
		return nil, err
	}
	defer remove()
	x := &live{LiveOptions: o}
	defer func() {
		for _, s := range slices.Backward(x.nodes) {
			err = errors.Join(err, s.Stop())
		}
	}()
	if err := x.start(ctx, dir); err != nil {
		return nil, err
	}
	most := slices.Max(o.Workers)
	bareArgs := []string{"bench", "ceiling-server", "--data", filepath.Join(dir, "ceiling"), "--tasks", strconv.Itoa(o.Tasks), "--workers", strconv.Itoa(most)}
	if o.Database != "" {
		bareArgs = append(bareArgs, "--database", o.Database)
	}
	if err := os.MkdirAll(filepath.Join(dir, "ceiling"), 0o700); err != nil {
		return nil, err
	}
	if x.bare, err = process.Start(ctx, process.Config{Args: bareArgs}); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, x.bare.Stop()) }()
	x.bareTokens = lists.Map(lists.Indices(most), CeilingToken)
	var out []LiveRow
	for _, n := range o.Workers {
		row, err := x.compare(ctx, n)
		if err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	return out, nil
}

// start starts the servers, and makes their tenants, people and tasks.
func (x *live) start(ctx context.Context, dir string) (err error) {
	most := slices.Max(x.Workers)
	load.Say(x.Log, "setting up: %d workers, %d tasks in %d batches", most, x.Tasks, batchCount)
	people := most + x.Idle
	if x.Nodes > 1 {
		people += most // clients at one node, and those that are spread
	}
	if x.world, err = newWorld(ctx, x.server(dir, 0), people); err != nil {
		return err
	}
	x.nodes = append(x.nodes, x.world.Server)
	for i := 1; i < x.Nodes; i++ {
		s, err := process.Start(ctx, x.server(dir, i))
		if err != nil {
			return err
		}
		x.nodes = append(x.nodes, s)
	}
	if x.Idle > 0 {
		x.idle = tokens(x.workers[people-x.Idle:])
		x.workers = x.workers[:people-x.Idle]
		x.asks = []wire.Qualification{{Name: "bench", Min: 1}}
		x.rule = label.Agree(2, 5) // as answers differ, tasks want one more again and again
		if err := load.InParallel(len(x.workers), func(i int) error {
			_, err := x.Admin.EditUser(ctx, x.workers[i].ID, wire.UserEdit{Qualifications: &map[string]int{"bench": 100}})
			return err
		}); err != nil {
			return err
		}
	}
	return x.fill(ctx, x.Tasks)
}

// server is how the i-th server is started, from 0.
func (x *live) server(dir string, i int) process.Config {
	data := filepath.Join(dir, "throng")
	if x.Database == "" {
		return process.Config{Data: data}
	}
	args := []string{"serve", "--data", data, "--listen", "127.0.0.1:0", "--database", x.Database}
	if x.Nodes > 1 {
		args = append(args, "--node", nodeName(i))
	}
	return process.Config{Data: data, Args: args}
}

func nodeName(i int) string { return fmt.Sprintf("n%d", i+1) }

// compare measures as many workers of all servers, turn by turn.
func (x *live) compare(ctx context.Context, n int) (row LiveRow, err error) {
	var crews []*crew
	defer func() {
		for _, c := range crews {
			c.close()
		}
	}()
	add := func(name string, tokens []string, servers ...*process.Server) *crew {
		if err != nil {
			return nil
		}
		var c *crew
		if c, err = newCrew(ctx, name, tokens, servers...); err == nil {
			c.apart, c.differ = x.Apart, x.Idle > 0
			crews = append(crews, c)
		}
		return c
	}
	workers := tokens(x.workers)
	one := add("throng", workers[:n], x.nodes[0])
	bare := add("ceiling", x.bareTokens[:n], x.bare)
	var idle, spread *crew
	if x.Idle > 0 && err == nil {
		idle = one.like("idle") // the same clients
		crews = append(crews, idle)
	}
	if x.Nodes > 1 {
		spread = add("nodes", workers[len(workers)-n:], x.nodes...)
	}
	if err != nil {
		return row, err
	}
	for turn := range turns + 1 {
		for _, c := range crews {
			if turn == 0 { // to warm up
				if err := x.turn(ctx, c, idle, x.For/10); err != nil {
					return row, err
				}
				c.forget()
				continue
			}
			if err := x.turn(ctx, c, idle, x.For/turns); err != nil {
				return row, err
			}
			load.Say(x.Log, "%d workers, turn %d of %d: %-8s %8.0f cycles/s", n, turn, turns, c.name, c.perSecond[turn-1])
		}
	}
	row = LiveRow{
		Workers: n, Tasks: x.Tasks,
		CyclesPerS: one.rate(), P50MS: quantile(one.took, 0.5), P99MS: quantile(one.took, 0.99), CPUMicros: one.cpuMicros(),
		CeilingPerS: bare.rate(), CeilingP50MS: quantile(bare.took, 0.5), CeilingP99MS: quantile(bare.took, 0.99), CeilingCPU: bare.cpuMicros(),
	}
	row.Ratio = row.CyclesPerS / row.CeilingPerS
	if idle != nil {
		row.IdleFigures = &IdleFigures{Idle: x.Idle, IdlePerS: idle.rate(), IdleP99MS: quantile(idle.took, 0.99), IdleCost: 1 - idle.rate()/row.CyclesPerS}
	}
	if spread != nil {
		row.NodeFigures = &NodeFigures{NodesPerS: spread.rate(), NodesP99MS: quantile(spread.took, 0.99), NodesRatio: spread.rate() / row.CyclesPerS, Nodes: spread.nodes()}
	}
	return row, nil
}

// turn lets a crew work for a time; that of idle works while others wait in vain.
func (x *live) turn(ctx context.Context, c, idle *crew, d time.Duration) (err error) {
	if c != idle {
		return c.turn(ctx, d)
	}
	stop, err := x.wait(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	return c.turn(ctx, d)
}

// nodes is the part of each server, of which the first one has the database.
func (c *crew) nodes() (list []NodeFigure) {
	for i := range c.servers {
		f := NodeFigure{Name: nodeName(i), Owner: i == 0, Cycles: c.cycles[i]}
		worksFor := f.Cycles
		if f.Owner {
			worksFor = len(c.took)
		}
		f.CPUMicros = c.cpuOf(i, worksFor)
		list = append(list, f)
	}
	return list
}

// folder returns dir, made if it is not there, or a temporary folder and what
// removes it.
func folder(dir string) (string, func(), error) {
	if dir != "" {
		return dir, func() {}, os.MkdirAll(dir, 0o700)
	}
	dir, err := os.MkdirTemp("", "throng-bench-")
	return dir, func() { _ = os.RemoveAll(dir) }, err
}
