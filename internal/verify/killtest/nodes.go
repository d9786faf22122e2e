package killtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/verify/load"
	"github.com/throng-dev/throng/internal/verify/process"
)

// What is done to a node.
const (
	killed = iota // SIGKILL; it is started again
	frozen        // SIGSTOP for a while: it believes that it has the database
	cutOff        // its connections to the database are ended
	faults
)

var faultNames = [faults]string{"killed", "frozen", "cut off"}

// peer is a node of the test.
type peer struct {
	*process.Server
	name string
}

// servedWithin bounds the wait for the other nodes to serve again.
const servedWithin = time.Minute

// runNodes does something to one of several nodes, again and again, and gathers what the
// clients know in the end.
func (t *test) runNodes(ctx context.Context) (err error) {
	t.scores = startScores(t.Seed)
	defer t.scores.Close()
	var peers []*peer
	defer func() {
		for _, p := range peers {
			p.Kill()
		}
	}()
	for i := range t.Nodes {
		p := &peer{name: fmt.Sprintf("n%d", i+1)}
		if i == 0 { // alone, it has the database and the one-time link
			if t.server, err = load.Start(ctx, t.nodeConfig(p.name)); err == nil {
				p.Server = t.server.Server
			}
		} else {
			p.Server, err = process.Start(ctx, t.nodeConfig(p.name))
		}
		if err != nil {
			return fmt.Errorf("node %s: %w", p.name, err)
		}
		peers = append(peers, p)
	}
	if err := t.setUp(ctx); err != nil {
		return err
	}
	admin := t.gate.client(t.requester.client.Token)
	t.gate.among(urls(peers, nil))
	random := rand.New(rand.NewPCG(t.Seed, 0))
	crew := t.start(ctx)
	defer crew.End()
	for round := 1; round <= t.Rounds && err == nil; round++ {
		if err = t.nodeRound(crew.Quit(), peers, admin, random); err != nil {
			err = fmt.Errorf("round %d: %w", round, err)
		}
	}
	if err == nil {
		err = t.lastOfNodes(crew.Quit())
	}
	if err != nil {
		crew.Fail(err) // unless it has failed before
	}
	t.gate.finish()
	if err := crew.Wait(); err != nil {
		for _, p := range peers {
			err = fmt.Errorf("%w\n%s: %s", err, p.name, p.Log())
		}
		return err
	}
	t.report.Nodes = t.Nodes
	t.report.sumUp()
	for _, p := range peers {
		err = errors.Join(err, p.Stop())
	}
	return err
}

func (t *test) nodeConfig(name string) process.Config {
	c := t.config()
	c.Args = append(c.Args, "--node", name)
	return c
}

// urls are the addresses of all nodes but one.
func urls(peers []*peer, but *peer) (list []string) {
	for _, p := range peers {
		if p != but {
			list = append(list, p.URL)
		}
	}
	return list
}

// nodeRound does something to a node while everybody works, most times to the one that has
// the database, and waits until an answer is acknowledged that was sent after that.
func (t *test) nodeRound(ctx context.Context, peers []*peer, admin *client.Client, random *rand.Rand) error {
	t.gate.mark()
	if _, err := t.served(ctx); err != nil {
		return err
	}
	load.Sleep(ctx, time.Duration(random.Int64N(int64(t.Longest))))
	owner, err := t.owner(ctx, peers, admin)
	if err != nil {
		return err
	}
	fault, victim := random.IntN(faults), owner
	if random.IntN(3) == 0 {
		victim = peers[random.IntN(len(peers))]
	}
	if t.planner.going.Load() {
		t.report.RunsKilled++
	}
	if fault != cutOff {
		t.gate.among(urls(peers, victim)) // as a load balancer does that asks for health
	}
	began := t.gate.mark()
	switch fault {
	case killed:
		victim.Kill()
	case frozen:
		err = victim.Freeze()
	case cutOff:
		err = t.cut(ctx, victim)
	}
	if err != nil {
		return err
	}
	took, err := t.served(ctx)
	if err != nil {
		return fmt.Errorf("%s was %s: %w", victim.name, faultNames[fault], err)
	}
	t.report.Rounds++
	if victim == owner && fault != cutOff {
		t.report.Takeovers = append(t.report.Takeovers, took.Seconds())
	}
	load.Say(t.Log, "round %d: %s (which had the database: %t) was %s; an answer after %s", t.report.Rounds, victim.name, victim == owner, faultNames[fault], took.Round(time.Millisecond))
	switch fault {
	case killed:
		victim.Server, err = process.Start(ctx, t.nodeConfig(victim.name))
	case frozen:
		load.Sleep(ctx, t.Frozen-time.Since(began))
		if err = victim.Thaw(); err == nil {
			err = t.ready(ctx, victim)
		}
	}
	if err != nil {
		return fmt.Errorf("%s does not go on: %w", victim.name, err)
	}
	t.gate.among(urls(peers, nil))
	return nil
}

// served waits until an answer is acknowledged that was sent after the gate's mark, and
// returns how long after it.
func (t *test) served(ctx context.Context) (time.Duration, error) {
	for start := time.Now(); time.Since(start) < servedWithin; {
		if took, ok := t.gate.servedAfter(); ok {
			return took, nil
		}
		if !load.Sleep(ctx, time.Millisecond) {
			return 0, context.Cause(ctx)
		}
	}
	return 0, fmt.Errorf("no answer was acknowledged for %s", servedWithin)
}

// owner asks until a node tells which has the database.
func (t *test) owner(ctx context.Context, peers []*peer, admin *client.Client) (*peer, error) {
	for start := time.Now(); time.Since(start) < servedWithin && ctx.Err() == nil; {
		list, err := admin.Nodes(ctx)
		if err != nil && !errors.Is(err, errLost) {
			return nil, err
		}
		for _, n := range list {
			if i := slices.IndexFunc(peers, func(p *peer) bool { return p.name == n.Name }); n.Owner && i >= 0 {
				return peers[i], nil
			}
		}
	}
	return nil, fmt.Errorf("no node had the database for %s: %w", servedWithin, context.Cause(ctx))
}

// ready waits until a node takes requests.
func (t *test) ready(ctx context.Context, p *peer) error {
	for start := time.Now(); time.Since(start) < servedWithin; {
		q, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL+"/readyz", nil)
		if err != nil {
			return err
		}
		if reply, err := http.DefaultClient.Do(q); err == nil {
			_ = reply.Body.Close()
			if reply.StatusCode == http.StatusOK {
				return nil
			}
		}
		if !load.Sleep(ctx, look) {
			return context.Cause(ctx)
		}
	}
	return fmt.Errorf("it takes no requests for %s", servedWithin)
}

// cut ends the connections of a node to the database, once it has some: those that were ended
// before are opened again when they are needed.
func (t *test) cut(ctx context.Context, p *peer) error {
	db, err := sql.Open("pgx", t.Address)
	if err != nil {
		return err
	}
	defer db.Close()
	for start := time.Now(); time.Since(start) < servedWithin; {
		var n int
		if err := db.QueryRowContext(ctx, "select count(pg_terminate_backend(pid)) from pg_stat_activity where datname = current_database() and application_name like $1", "throng "+p.name+" %").Scan(&n); err != nil || n > 0 {
			return err
		}
		if !load.Sleep(ctx, look) {
			return context.Cause(ctx)
		}
	}
	return fmt.Errorf("it has no connections for %s", servedWithin)
}

// lastOfNodes lets everybody work on for a while, and until the last run of a workflow has
// come to its end. That it does not is found when everything is compared.
func (t *test) lastOfNodes(ctx context.Context) error {
	t.planner.enough.Store(true)
	t.gate.mark()
	if _, err := t.served(ctx); err != nil {
		return err
	}
	load.Sleep(ctx, t.Longest)
	for start := time.Now(); !t.planner.idle.Load() && time.Since(start) < servedWithin && ctx.Err() == nil; {
		load.Sleep(ctx, look)
	}
	return nil
}

// sumUp finds how long take-overs took: half of them at most P50, 99 of 100 at most P99.
func (r *Report) sumUp() {
	slices.Sort(r.Takeovers)
	at := func(share float64) float64 {
		if len(r.Takeovers) == 0 {
			return 0
		}
		return r.Takeovers[int(math.Ceil(share*float64(len(r.Takeovers))))-1]
	}
	r.TakeoverP50, r.TakeoverP99 = at(0.5), at(0.99)
}
