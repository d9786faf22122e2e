package cli

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/verify/bench"
	"github.com/throng-dev/throng/internal/verify/bench/labelbench"
	"github.com/throng-dev/throng/internal/verify/bench/schedbench"
	"github.com/throng-dev/throng/internal/verify/bench/simbench"
	"github.com/throng-dev/throng/internal/verify/killtest"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/sched"
)

const mib = 1 << 20

// Bench is "throng bench".
type Bench struct {
	Sched   BenchSched   `cmd:"" help:"Time a scheduling policy takes for one decision and one event."`
	Sim     BenchSim     `cmd:"" help:"Cycles a second of the simulator, and the paper's world against its authors' program."`
	Label   BenchLabel   `cmd:"" help:"How long labels take to make and to follow, and how many answers are saved by asking until a label is sure."`
	Live    BenchLive    `cmd:"" help:"Full cycles a second of a real server, against a bare one in the same run."`
	Scale   BenchScale   `cmd:"" help:"What a million open tasks cost: import, memory, restart."`
	SignIn  BenchSignIn  `cmd:"" name:"signin" help:"What strangers who have not signed in cost a server in memory, and how long others wait to sign in meanwhile."`
	Kill    BenchKill    `cmd:"" help:"Kill a server under load, again and again, and look for what was lost or doubled."`
	Ceiling BenchCeiling `cmd:"" name:"ceiling-server" hidden:"" help:"The bare server that live compares with."`
}

// BenchSched is "throng bench sched".
type BenchSched struct {
	Batches  []int    `help:"Numbers of open batches." default:"1000,10000,100000,1000000"`
	Policies []string `help:"Policies; default: one of each kind. Separated by ; since some have commas." sep:";" placeholder:"POLICY"`
	Output
}

// Run measures.
func (b *BenchSched) Run(c *Context) error {
	policies := b.Policies
	if len(policies) == 0 {
		policies = sched.Names()
	}
	for _, p := range policies {
		if _, err := sched.Parse(p); err != nil {
			return err
		}
	}
	for _, n := range b.Batches {
		if n < 1 {
			return crowd.Fieldf("batches", "%d is not a number of batches", n)
		}
	}
	rows := schedbench.Run(b.Batches, policies)
	return b.print(c, rows, func(w io.Writer) {
		writeTable(w, rows, "policy|batches|ns/decision|ns/event", func(r schedbench.Row) []any {
			return []any{r.Policy, r.Batches, fixed(0, r.NsPerDecision), fixed(0, r.NsPerEvent)}
		})
	})
}

// BenchSim is "throng bench sim".
type BenchSim struct {
	Cycles int `help:"Cycles of each busy pool." default:"1000000"`
	Reps   int `help:"Repetitions of the paper's table 2." default:"9"`
	Output
}

// Run measures.
func (b *BenchSim) Run(c *Context) error {
	r, err := simbench.Run(simbench.Options{Cycles: b.Cycles, Reps: b.Reps, Log: c.Stderr})
	if err != nil {
		return err
	}
	return b.print(c, r, func(w io.Writer) {
		writeTable(w, r.Cycles, "busy pool|batches|cycles/s", func(x simbench.CycleRow) []any {
			return []any{x.Policy, x.Batches, fixed(0, x.PerS)}
		})
		writeTable(w, r.Table2, "\ntable 2|cycles|CPU s|authors' CPU s|times faster", func(x simbench.Table2Row) []any {
			known := x.TheirsS > 0
			return []any{x.Policy, x.Cycles, fixed(4, x.CPUS),
				when(known, fixed(0, x.TheirsS)+" to "+fixed(0, x.TheirsHi)), when(known, fixed(0, x.Times)+" to "+fixed(0, x.TimesHi))}
		})
		say(w, "\ndafs takes %.2f times as long as fs-ratio\n", r.DAFSOverFS)
		writeTable(w, r.Memory, "\nhand-outs|live heap, KiB", func(x simbench.MemoryRow) []any { return []any{x.HandOuts, x.Heap / 1024} })
		if r.Growth != nil {
			say(w, "\nat the end %.3f times as much as after warming up\n", *r.Growth)
		}
	})
}

// BenchLabel is "throng bench label".
type BenchLabel struct {
	Answers  int     `help:"Answers of the made set, five to a task." default:"1000000"`
	Classes  int     `help:"Different answers that its questions have." default:"4"`
	Until    float64 `help:"How sure a label is to be." default:"0.99"`
	AtMost   int     `placeholder:"N" help:"Answers that a task gets at most where its label does not become sure." default:"10"`
	Recorded string  `placeholder:"FILE" help:"Answers of real people to ask for again until labels are sure (columns task, worker, label); default: a made set."`
	Truth    string  `placeholder:"FILE" help:"Known labels of the recorded answers (columns task, label)."`
	Output
}

// Run measures.
func (b *BenchLabel) Run(c *Context) error {
	o := labelbench.Options{Answers: b.Answers, Classes: b.Classes, Confidence: b.Until, Most: b.AtMost, Log: c.Stderr}
	switch {
	case b.Recorded == "" && b.Truth != "":
		return crowd.Fieldf("truth", "is of recorded answers: give them as --recorded")
	case b.Recorded != "":
		files := Label{File: b.Recorded, Truth: b.Truth}
		method := label.DefaultDawidSkene()
		known, err := files.known(c, files.Truth, method)
		if err != nil {
			return err
		}
		if o.Recorded, err = files.answers(c, method, &labelReport{}, known); err != nil {
			return err
		}
		if o.Truth, err = o.Recorded.Truth(known); err != nil {
			return err
		}
	}
	r, err := labelbench.Run(o)
	if err != nil {
		return err
	}
	return b.print(c, r, func(w io.Writer) {
		say(w, "%d answers of %d workers to %d tasks with %d classes, on one core\n\n", r.Answers, r.Workers, r.Tasks, r.Classes)
		writeTable(w, []struct {
			what string
			labelbench.Row
		}{{"fit, ds-map", r.Fit}, {"incremental, an answer", r.Incremental}, {"alpha, an answer more", r.Alpha}}, "what|s|reference s|times faster", func(x struct {
			what string
			labelbench.Row
		}) []any {
			return []any{x.what, fmt.Sprintf("%.3g", x.S), fmt.Sprintf("%.3g", x.Reference), fmt.Sprintf("%.3g", x.Ratio)}
		})
		say(w, "\nright: fit %.4f, incremental %.4f, majority %.4f; the fit is at most %.1g from its reference\n\n", r.Accuracy.Fit, r.Accuracy.Incremental, r.Accuracy.Majority, r.Accuracy.Apart)
		s := r.Stopping
		writeTable(w, s.Fixed, "answers a task|bought|right", func(f labelbench.Fixed) []any { return []any{f.Answers, fixed(2, f.Bought), fixed(4, f.Accuracy)} })
		say(w, "\nuntil %g sure, %d to %d answers: %.2f a task, right %.4f; %s (means of %d draws)\n", s.Confidence, s.Fewest, s.Most, s.Answers, s.Accuracy, savedText(s), s.Draws)
	})
}

// savedText says what is saved.
func savedText(s labelbench.Stopping) string {
	if s.Saved == nil {
		return "no fixed number of answers is as often right"
	}
	return fmt.Sprintf("%.0f %% of the answers are saved at that accuracy", 100**s.Saved)
}

// BenchLive is "throng bench live".
type BenchLive struct {
	Workers []int         `help:"Worker clients at a time." default:"16,64,256"`
	For     time.Duration `help:"How long each server is measured for each number of clients." default:"10s"`
	Tasks   int           `help:"Tasks in open batches at the start." default:"200000"`
	Apart   bool          `help:"Submit and get the next task in two requests, at both servers."`
	Idle    int           `help:"Measure once more while so many people wait for work that they may not do." placeholder:"N"`
	Address string        `name:"database" help:"Empty PostgreSQL database, as in postgres://user@host/name, in place of files in the folder: the tables of both servers are made there." placeholder:"URL"`
	Nodes   int           `help:"Run so many servers on the PostgreSQL database, and measure once more with the clients spread over them." placeholder:"N"`
	Data    string        `help:"Folder for the databases; default: a temporary one." type:"path" placeholder:"DIR"`
	Output
}

// Run measures.
func (b *BenchLive) Run(c *Context) error {
	ctx, stop := c.untilSignal()
	defer stop()
	rows, err := bench.Live(ctx, bench.LiveOptions{Workers: b.Workers, For: b.For, Tasks: b.Tasks, Apart: b.Apart, Idle: b.Idle, Database: b.Address, Nodes: b.Nodes, Dir: b.Data, Log: c.Stderr})
	if err != nil {
		return err
	}
	var out any = rows
	if len(rows) == 1 {
		out = rows[0]
	}
	return b.print(c, out, func(w io.Writer) {
		writeTable(w, rows, "workers|cycles/s|p50 ms|p99 ms|µs CPU|ceiling cycles/s|p50 ms|p99 ms|µs CPU|ratio", func(r bench.LiveRow) []any {
			return []any{r.Workers, fixed(0, r.CyclesPerS), fixed(2, r.P50MS), fixed(2, r.P99MS), fixed(0, r.CPUMicros),
				fixed(0, r.CeilingPerS), fixed(2, r.CeilingP50MS), fixed(2, r.CeilingP99MS), fixed(0, r.CeilingCPU), fixed(2, r.Ratio)}
		})
		for _, r := range rows {
			if x := r.IdleFigures; x != nil {
				fmt.Fprintf(w, "\n%d workers while %d people wait in vain: %.0f cycles/s, p99 %.2f ms; they cost %.1f%%\n", r.Workers, x.Idle, x.IdlePerS, x.IdleP99MS, 100*x.IdleCost)
			}
			if x := r.NodeFigures; x != nil {
				fmt.Fprintf(w, "\n%d workers spread over %d nodes: %.0f cycles/s, p99 %.2f ms, %.2f of those at one node\n", r.Workers, len(x.Nodes), x.NodesPerS, x.NodesP99MS, x.NodesRatio)
				writeTable(w, x.Nodes, "node|state|cycles|µs CPU a cycle", func(n bench.NodeFigure) []any {
					return []any{n.Name, map[bool]string{true: "owner", false: "sends on"}[n.Owner], n.Cycles, fixed(0, n.CPUMicros)}
				})
			}
		}
	})
}

// BenchScale is "throng bench scale".
type BenchScale struct {
	Tasks   int           `help:"Tasks in open batches." default:"1000000"`
	Workers int           `help:"Worker clients who work before the restart." default:"64"`
	Work    time.Duration `help:"How long they work." default:"2s"`
	Data    string        `help:"Folder for the databases; default: a temporary one." type:"path" placeholder:"DIR"`
	Output
}

// Run measures.
func (b *BenchScale) Run(c *Context) error {
	ctx, stop := c.untilSignal()
	defer stop()
	r, err := bench.Scale(ctx, bench.ScaleOptions{Tasks: b.Tasks, Workers: b.Workers, Work: b.Work, Dir: b.Data, Log: c.Stderr})
	if err != nil {
		return err
	}
	return b.print(c, r, func(w io.Writer) {
		pairs(w,
			"tasks", r.Tasks,
			"import", fmt.Sprintf("%.1f s, %.0f rows/s", r.ImportS, r.ImportPerS),
			"server's memory grew by", fmt.Sprintf("%.1f MiB at most while importing", float64(r.ImportPeak)/mib),
			"launch", fmt.Sprintf("%.2f s", r.LaunchS),
			"work before the restart", fmt.Sprintf("%d cycles", r.Cycles),
			"restart to serving", fmt.Sprintf("%.2f s (without tasks %.2f s)", r.RestartS, r.EmptyStartS),
			"memory", fmt.Sprintf("%.1f MiB (without tasks %.1f MiB)", float64(r.RSS)/mib, float64(r.EmptyRSS)/mib),
			"memory for a task", fmt.Sprintf("%.1f bytes", r.BytesPerTask))
	})
}

// BenchSignIn is "throng bench signin".
type BenchSignIn struct {
	Hostile int           `help:"Requests that want to fill the server's memory." default:"10000"`
	Rate    float64       `help:"Guesses a second while somebody signs in." default:"40"`
	For     time.Duration `help:"How long they guess." default:"20s"`
	Data    string        `help:"Folder for the database; default: a temporary one." type:"path" placeholder:"DIR"`
	Output
}

// Run measures.
func (b *BenchSignIn) Run(c *Context) error {
	ctx, stop := c.untilSignal()
	defer stop()
	r, err := bench.SignIn(ctx, bench.SignInOptions{Hostile: b.Hostile, Rate: b.Rate, For: b.For, Dir: b.Data, Log: c.Stderr})
	if err != nil {
		return err
	}
	return b.print(c, r, func(w io.Writer) {
		pairs(w,
			"hostile requests", fmt.Sprintf("%d, to %d public routes", r.Hostile, len(r.Routes)),
			"server's memory grew by", fmt.Sprintf("%.1f MiB of what it keeps (with garbage %.1f MiB, its peak by %.1f MiB)", float64(r.LiveGrowth)/mib, float64(r.RSSGrowth)/mib, float64(r.PeakGrowth)/mib),
			"guesses", fmt.Sprintf("%d, %.0f a second, %d looked at", r.Guesses, r.GuessRate, r.Looked),
			"sign-ins meanwhile", fmt.Sprintf("%d, %d of them refused", r.SignIns, r.Refused),
			"a sign-in takes", fmt.Sprintf("%.0f ms (median), 95 of 100 at most %.0f ms, all at most %.0f ms", r.P50, r.P95, r.Max),
			"while nobody guesses", fmt.Sprintf("%.0f ms", r.AloneP50))
	})
}

// BenchKill is "throng bench kill".
type BenchKill struct {
	Rounds  int           `help:"Kills." default:"20"`
	Seed    uint64        `help:"Of what the clients do and of the moments." default:"1"`
	Workers int           `help:"Worker clients." default:"24"`
	Longest time.Duration `help:"Longest time from a round's first answer to the kill." default:"300ms"`
	Data    string        `help:"New folder for the database; default: a temporary one, kept if something is found." type:"path" placeholder:"DIR"`
	Address string        `name:"database" help:"Empty PostgreSQL database, as in postgres://user@host/name, in place of a file in the folder." placeholder:"URL"`
	Nodes   int           `help:"Run so many servers on the PostgreSQL database, and kill one, freeze it or cut its connections to the database in each round; 0: one server, which is killed." placeholder:"N"`
	Output
}

// Run runs the test.
func (b *BenchKill) Run(c *Context) error {
	ctx, stop := c.untilSignal()
	defer stop()
	r, err := killtest.Run(ctx, killtest.Options{Rounds: b.Rounds, Seed: b.Seed, Workers: b.Workers, Longest: b.Longest, Dir: b.Data, Address: b.Address, Nodes: b.Nodes, Log: c.Stderr})
	if err != nil {
		return err
	}
	if err := b.print(c, r, r.Write); err != nil {
		return err
	}
	if !r.OK() {
		return errors.New("the store is not what was acknowledged: see the problems above")
	}
	return nil
}

// BenchCeiling is "throng bench ceiling-server".
type BenchCeiling struct {
	Data    string `required:"" type:"path"`
	Address string `name:"database"`
	Tasks   int    `required:""`
	Workers int    `required:""`
}

// Run serves until it is killed.
func (b *BenchCeiling) Run(c *Context) error {
	ctx, stop := c.untilSignal()
	defer stop()
	return bench.Ceiling{Data: b.Data, Address: b.Address, Tasks: b.Tasks, Workers: b.Workers}.Run(ctx, c.Stdout)
}
