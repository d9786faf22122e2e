// Package killtest kills a real server under real load, again and again, and
// compares what its clients were told with what it has kept: nothing that was
// acknowledged may be lost, nothing may be counted or paid twice. It fails too
// when it did not look: when a round acknowledged nothing, or no kill ever
// caught an answer on its way.
//
// It checks one machine that loses a process (SIGKILL); what the kernel was
// given is still written. It does not cut the power.
package killtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server"
	"github.com/throng-dev/throng/internal/verify/load"
	"github.com/throng-dev/throng/internal/verify/process"
	"github.com/throng-dev/throng/internal/wire"
)

// Options is how long and how hard the server is tried.
type Options struct {
	Rounds  int           // kills
	Seed    uint64        // of what the clients do and of the moments; the server's own timing is not repeatable
	Workers int           // clients; default 24
	Longest time.Duration // from the first acknowledged answer of a round to the kill, at most; default 300 ms
	Dir     string        // for the database; "": a temporary folder, kept if the test fails
	Address string        // of an empty PostgreSQL database, in place of a file in the folder
	Nodes   int           // several servers on that database, one of which something is done to in each round; 0: one, without a name
	Frozen  time.Duration // how long a node stands still; default 10 s
	Killed  func() error  // if set, is called after each kill, before the server starts again
	Log     io.Writer     // what happens; nil: nowhere
}

// Report is what happened and what was found.
type Report struct {
	Rounds       int `json:"rounds"`
	Acknowledged int `json:"acknowledged"` // answers that the clients were told of
	Unknown      int `json:"unknown"`      // answers sent whose reply was lost with the server
	Kept         int `json:"unknown_kept"` // of those, how many the store had though nobody was told
	KillsCaught  int `json:"kills_with_requests_under_way"`
	Resent       int `json:"resent"` // sent again after the reply was lost
	Duplicates   int `json:"duplicates_refused"`
	Stored       int `json:"stored"` // answers in the store
	Counted      int `json:"counted"`
	Batches      int `json:"batches"`
	Deposits     int `json:"deposits"`
	PaidAgain    int `json:"deposits_sent_again"` // under the same key, because the reply was lost
	Moves        int `json:"moves"`               // launches, pauses, resumes, top-ups and ends that were acknowledged
	States       int `json:"states_compared"`     // of batches, after restarts
	Runs         int `json:"runs"`                // of workflows
	RunsKilled   int `json:"runs_killed"`         // kills that came while a run was going
	RunsCompared int `json:"runs_compared"`       // looks at a run after a restart
	RunMoves     int `json:"run_moves"`           // starts, pauses and resumes of runs that were acknowledged
	Rows         int `json:"run_rows"`            // of runs that are done, compared one by one
	Calls        int `json:"service_calls"`       // that came to the service
	CallsAgain   int `json:"service_repeats"`     // of those, under a key that it had answered or refused before
	// LongestRestartS is the longest time from restarting a killed server until it
	// listened.
	LongestRestartS float64  `json:"longest_restart_s"`
	Lost            int      `json:"lost"`       // of what was acknowledged, answers and deposits
	Doubled         int      `json:"duplicates"` // answers and deposits that were kept or counted twice
	Nodes           int      `json:"nodes,omitempty"`
	Problems        []string `json:"problems"` // what must not be; the first of them
	MoreProblems    int      `json:"more_problems"`

	// Takeovers are the seconds from each loss of the node that had the database until an
	// answer was acknowledged that was sent after it, ascending; the others are of them.
	Takeovers   []float64 `json:"takeovers_s,omitempty"`
	TakeoverP50 float64   `json:"takeover_p50_s"`
	TakeoverP99 float64   `json:"takeover_p99_s"`
}

// maxProblems is how many problems are listed one by one.
const maxProblems = 50

func (r *Report) problem(format string, args ...any) {
	if len(r.Problems) == maxProblems {
		r.MoreProblems++
		return
	}
	r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
}

// must notes a problem unless something holds, which it returns.
func (r *Report) must(holds bool, format string, args ...any) bool {
	if !holds {
		r.problem(format, args...)
	}
	return holds
}

// OK reports whether nothing was found.
func (r *Report) OK() bool { return len(r.Problems) == 0 }

// Run runs the test. The error says that it could not be run, or could not run
// on; what it found is in the report.
func Run(ctx context.Context, o Options) (report *Report, err error) {
	t, err := newTest(o)
	if err != nil {
		return nil, err
	}
	defer func() {
		if o.Dir == "" && err == nil && report.OK() {
			err = os.RemoveAll(t.Dir)
		} else {
			load.Say(t.Log, "the database is kept in %s", t.Dir)
		}
	}()
	run := t.run
	if t.Nodes > 0 {
		run = t.runNodes
	}
	if err := run(ctx); err != nil {
		return t.report, err
	}
	if err := t.compare(ctx, t.place(), t.report); err != nil {
		return t.report, err
	}
	if t.Nodes > 0 {
		t.report.must(len(t.report.Takeovers) > 0, "no node lost the database: the test proved nothing: try more rounds, or another seed")
		return t.report, nil
	}
	t.report.must(t.report.Unknown > 0, "no kill caught an answer on its way: the test proved nothing")
	t.report.must(t.report.PaidAgain > 0, "no kill caught a deposit on its way: the test proved nothing of keys")
	t.report.must(t.report.RunsKilled > 0, "no run of a workflow was going when the server was killed: the test proved nothing")
	return t.report, nil
}

// test is a run under way, and what its clients know.
type test struct {
	Options
	report *Report
	server *load.Site
	gate   *gate

	workers   []*worker
	requester *requester
	payer     *payer
	planner   *planner
	scores    *scores
}

// newTest returns a test with its options completed and its folder made.
func newTest(o Options) (*test, error) {
	if o.Workers == 0 {
		o.Workers = 24
	}
	if o.Longest == 0 {
		o.Longest = 300 * time.Millisecond
	}
	if o.Frozen == 0 {
		o.Frozen = 10 * time.Second
	}
	if o.Nodes != 0 && (o.Nodes < 2 || o.Address == "") {
		return nil, errors.New("nodes are two at least, and share a PostgreSQL database: give --database")
	}
	if o.Rounds < 1 || o.Workers < mostAnswers {
		return nil, fmt.Errorf("at least one round and %d workers", mostAnswers)
	}
	var err error
	if o.Dir == "" {
		o.Dir, err = os.MkdirTemp("", "throng-kill-")
	} else {
		err = os.MkdirAll(o.Dir, 0o700)
	}
	return &test{Options: o, report: &Report{Problems: []string{}}, gate: newGate(o.Workers + 3)}, err
}

// place is where the server keeps what it has.
func (t *test) place() server.Place { return server.Place{Data: t.Dir, Database: t.Address} }

// config is that of the server: on the folder, and allowed to call the service.
func (t *test) config() process.Config {
	args := []string{"serve", "--data", t.Dir, "--listen", "127.0.0.1:0", "--allow-service", t.scores.Listener.Addr().String()}
	if t.Address != "" {
		args = append(args, "--database", t.Address)
	}
	return process.Config{Args: args}
}

// run kills the server again and again, and gathers what the clients know in the end.
func (t *test) run(ctx context.Context) (err error) {
	t.scores = startScores(t.Seed)
	defer t.scores.Close()
	if t.server, err = load.Start(ctx, t.config()); err != nil {
		return err
	}
	defer func() { t.server.Kill() }()
	if err := t.setUp(ctx); err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(t.Seed, 0))
	crew := t.start(ctx)
	defer crew.End()
	for round := 1; round <= t.Rounds && err == nil; round++ {
		if err = t.round(crew.Quit(), time.Duration(random.Int64N(int64(t.Longest)))); err != nil {
			err = fmt.Errorf("round %d: %w", round, err)
		}
	}
	if err == nil {
		err = t.lastRound(crew.Quit())
	}
	if err != nil {
		crew.Fail(err) // unless it has failed before
	}
	t.gate.finish()
	if err := crew.Wait(); err != nil {
		return fmt.Errorf("%w\n%s", err, t.server.Log())
	}
	return t.server.Stop()
}

// longestBegin bounds the wait for a run of a workflow to begin.
const longestBegin = 10 * time.Second

// round lets everybody work for a while after the first answer, kills the server and
// starts it again.
func (t *test) round(ctx context.Context, after time.Duration) (err error) {
	before := t.acknowledged()
	t.gate.open(t.server.URL)
	if err := t.firstAnswer(ctx, before); err != nil {
		return err
	}
	load.Sleep(ctx, after)
	for waited := time.Duration(0); t.report.RunsKilled == 0 && !t.planner.going.Load() && waited < longestBegin; waited += look {
		load.Sleep(ctx, look) // on a busy machine the first run begins late
	}
	for waited := time.Duration(0); !t.payer.under.Load() && waited < longestBegin; waited += look {
		load.Sleep(ctx, look)
	}
	if t.planner.going.Load() {
		t.report.RunsKilled++
	}
	t.gate.close()
	t.server.Kill()
	lost := t.gate.settle()
	t.report.Rounds++
	if lost > 0 {
		t.report.KillsCaught++
	}
	load.Say(t.Log, "round %d: killed after %d answers, %d requests on their way", t.report.Rounds, t.acknowledged()-before, lost)
	if t.Killed != nil {
		if err := t.Killed(); err != nil {
			return err
		}
	}
	start := time.Now()
	restarted, err := process.Start(ctx, t.config())
	if err != nil {
		return fmt.Errorf("restart: %w", err)
	}
	t.server.Server = restarted
	t.report.LongestRestartS = max(t.report.LongestRestartS, time.Since(start).Seconds())
	return nil
}

// lastRound lets the server run on for a while, in which the clients send again what
// was lost, and until the last run of a workflow has come to its end. That it does
// not is found when everything is compared.
func (t *test) lastRound(ctx context.Context) error {
	const patience = 60 * time.Second
	before := t.acknowledged()
	t.planner.enough.Store(true)
	t.gate.open(t.server.URL)
	if err := t.firstAnswer(ctx, before); err != nil {
		return err
	}
	load.Sleep(ctx, t.Longest)
	for start := time.Now(); !t.planner.idle.Load() && time.Since(start) < patience && ctx.Err() == nil; {
		load.Sleep(ctx, look)
	}
	return nil
}

// firstAnswer waits until an answer was acknowledged.
func (t *test) firstAnswer(ctx context.Context, before int) error {
	const patience = 30 * time.Second
	for start := time.Now(); t.acknowledged() == before; load.Sleep(ctx, 2*time.Millisecond) {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if time.Since(start) > patience {
			return fmt.Errorf("no answer was acknowledged for %s", patience)
		}
		select {
		case <-t.server.Done():
			return errors.New("the server ended by itself")
		default:
		}
	}
	return nil
}

// setUp makes tenants, workers and the first run.
func (t *test) setUp(ctx context.Context) error {
	// A token for a program: unlike the session, it is good for ever.
	token, err := t.server.Admin.CreateToken(ctx, wire.NewToken{Name: "kill test"})
	if err != nil {
		return err
	}
	t.requester = &requester{gate: t.gate, client: t.gate.client(token), random: rand.New(rand.NewPCG(t.Seed, 1)), paidIn: make(map[string]crowd.TenantID), paidX: make(map[string]crowd.TenantID)}
	for i := range 2 {
		note := fmt.Sprintf("before all %d", i+1)
		tenant, err := t.server.AddTenant(ctx, fmt.Sprintf("Tenant %d", i+1), float64(i+1), deposit, note)
		if err != nil {
			return err
		}
		t.requester.tenants = append(t.requester.tenants, tenant)
		t.requester.paidIn[note] = tenant
	}
	t.payer = newPayer(t.gate, token, rand.New(rand.NewPCG(t.Seed, 1002)), t.requester.tenants)
	t.gate.open(t.server.URL)
	t.planner = &planner{gate: t.gate, client: t.gate.client(token), random: rand.New(rand.NewPCG(t.Seed, 1001)), tenant: t.requester.tenants[0], service: t.scores.URL + "/score"}
	if err := t.planner.begin(ctx); err != nil {
		return err
	}
	workers, err := t.server.AddWorkers(ctx, t.Workers, func(i int) (string, crowd.PoolID) { return fmt.Sprintf("worker-%d", i+1), t.server.Pool })
	if err != nil {
		return err
	}
	for i, w := range workers {
		t.workers = append(t.workers, newWorker(t.gate, w, rand.New(rand.NewPCG(t.Seed, uint64(i+2)))))
	}
	return nil
}

// start lets everybody work. Whatever must not happen ends the work of all.
func (t *test) start(ctx context.Context) *load.Crew {
	crew := load.NewCrew(ctx)
	for _, w := range t.workers {
		crew.Go(func() error { return w.work(crew.Quit()) })
	}
	crew.Go(func() error { return t.requester.work(crew.Quit()) })
	crew.Go(func() error { return t.payer.work(crew.Quit()) })
	crew.Go(func() error { return t.planner.work(crew.Quit()) })
	return crew
}

func (t *test) acknowledged() int {
	return lists.Sum(t.workers, func(w *worker) int { return int(w.told.Load()) })
}

// Write writes the report for people.
func (r *Report) Write(to io.Writer) {
	_, _ = fmt.Fprintf(to, `%d kills, %d of them with requests under way; longest restart %.2f s
answers: %d acknowledged, %d stored, %d counted; %d replies were lost, of which %d had been kept, %d were sent again; %d duplicates refused
%d batches, %d moves and %d deposits acknowledged, %d of these sent again under their key; %d states compared after restarts
%d runs of workflows, %d kills while one was going, looked at %d times after a restart, %d moves; %d rows compared; %d calls of their service, %d of them again
`, r.Rounds, r.KillsCaught, r.LongestRestartS, r.Acknowledged, r.Stored, r.Counted, r.Unknown, r.Kept, r.Resent, r.Duplicates, r.Batches, r.Moves, r.Deposits, r.PaidAgain, r.States,
		r.Runs, r.RunsKilled, r.RunsCompared, r.RunMoves, r.Rows, r.Calls, r.CallsAgain)
	if r.Nodes > 0 {
		_, _ = fmt.Fprintf(to, "%d nodes; %d times another one took over, and served after %.2f s (median), %.2f s (99 of 100)\n", r.Nodes, len(r.Takeovers), r.TakeoverP50, r.TakeoverP99)
	}
	for _, p := range r.Problems {
		_, _ = fmt.Fprintln(to, p)
	}
	if r.MoreProblems > 0 {
		_, _ = fmt.Fprintf(to, "and %d more\n", r.MoreProblems)
	}
	if r.OK() {
		_, _ = fmt.Fprintln(to, "nothing lost, nothing doubled") // the caller's writer keeps its error
	}
}
