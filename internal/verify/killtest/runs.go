package killtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/verify/load"
	"github.com/throng-dev/throng/internal/wire"
)

// flowText is a workflow of all kinds of steps: people and a service side by
// side, a join, a condition, and a query over all rows. Every item costs itemCost,
// since none is done within a millisecond.
const flowText = `
workflow: %s
sla: {per: item, penalty: constant, after: 1ms, cost: 0.25}
inputs: {items: {columns: [run, {n: number}]}}
steps:
  first:
    from: {items: stream}
    crowd: {template: %s, redundancy: {agree: 2, of: 3}, reward: 0.01, priority: 20, task_time: 1s}
  half:
    from: {items: stream}
    sql: select run as of_run, n * 10 as tenfold from items
    columns: {tenfold: number}
  score:
    from: {half: stream}
    service:
      {url: "%s", send: [of_run, tenfold], timeout: 10s, tries: 5, backoff: 0s, concurrency: 4,
       response: {type: object, required: [risk], properties: {risk: {type: number}}}}
  both:
    from: {first: stream, score: stream}
    sql: select tenfold as n, first as said, risk from first join score
    columns: {n: number, risk: number}
  expert:
    from: {both: stream}
    when: risk > 0.5
    crowd: {template: %s, redundancy: {count: 1}, reward: 0.02, priority: 20, task_time: 1s}
  sums:
    from: both
    sql: select said, count(*) as n, sum(risk > 0.5) as risky from both group by said order by said
    columns: {n: number, risky: number}
outputs: {expert: {from: expert}, sums: {from: sums}}
`

// itemCost is what each item of a run costs by the workflow's SLA.
const itemCost = crowd.Unit / 4

// Items of a run.
const (
	fewestItems = 60
	mostItems   = 160
)

// plannedRun is a run as its requester was told of it.
type plannedRun struct {
	id      crowd.RunID
	name    string
	items   int
	loaded  bool             // acknowledged
	started bool             // acknowledged
	state   string           // as last acknowledged
	unsure  bool             // a request to change it got no reply
	rows    map[string]int64 // of each node, as last seen
	done    map[string]bool  // nodes that were seen to be done
}

func (p *plannedRun) ended() bool { return p.state == "done" || p.state == "cancelled" }

// planner makes runs of a workflow, one after the other, pauses and resumes them,
// and keeps its own record.
type planner struct {
	gate   *gate
	client *client.Client
	problems
	random  *rand.Rand
	tenant  crowd.TenantID
	service string // its address
	runs    []*plannedRun
	count   int
	going   atomic.Bool // a run is
	enough  atomic.Bool // no more runs are wanted
	idle    atomic.Bool // and the last one has ended
	seen    int         // the opening of the gate in which it last looked at a run
	looked  int         // looks right after a restart
	moves   int
}

// look is the pause between two looks at a run.
const look = 50 * time.Millisecond

func (p *planner) work(ctx context.Context) error {
	return repeat(ctx, "planner", look, p.step)
}

func (p *planner) step(ctx context.Context) error {
	var last *plannedRun
	if len(p.runs) > 0 {
		last = p.runs[len(p.runs)-1]
	}
	switch {
	case (last == nil || last.ended()) && p.enough.Load():
		p.idle.Store(true)
		return errOver
	case last == nil || last.ended():
		return p.begin(ctx)
	case last.state == "loading":
		return p.start(ctx, last)
	case last.state == "paused":
		return p.move(ctx, last, "resume", "running")
	case last.state == "running" && !p.enough.Load() && (p.moves == 0 || p.random.IntN(10) == 0): // at once, if no move was acknowledged yet
		return p.move(ctx, last, "pause", "paused")
	}
	return p.look(ctx, last)
}

// begin makes a run, and starts it.
func (p *planner) begin(ctx context.Context) error {
	p.count++
	r := &plannedRun{name: fmt.Sprintf("run-%d", p.count), items: fewestItems + p.random.IntN(mostItems-fewestItems+1), rows: map[string]int64{}, done: map[string]bool{}}
	text := fmt.Sprintf(flowText, r.name, killTemplate, p.service, killTemplate)
	made, err := p.client.MakeRun(ctx, wire.NewRun{Tenant: p.tenant, Workflow: text})
	if err != nil {
		return err
	}
	r.id, r.state = made.ID, "loading"
	p.runs = append(p.runs, r)
	return p.start(ctx, r)
}

// start loads a run's input, unless it has it, and starts it. What is lost on the way
// is done again: a kill leaves the run with the input as a whole, or without it.
func (p *planner) start(ctx context.Context, r *plannedRun) error {
	now, err := p.client.Run(ctx, r.id)
	if err != nil {
		return err
	}
	if now.State != "loading" { // the start that was lost has been carried out
		return p.look(ctx, r)
	}
	if r.loaded && len(now.Needs) > 0 {
		p.problem("%s was acknowledged to have its input, and wants it again", r.id)
	}
	file := load.CSV([]string{"run", "n"}, r.items, func(i int) []string { return []string{r.name, strconv.Itoa(i + 1)} })
	if len(now.Needs) > 0 {
		if _, err := p.client.LoadRun(ctx, r.id, "items", file, "csv"); crowd.CodeOf(err) == crowd.Conflict {
			return errLost // what was lost of it before is being cleared
		} else if err != nil {
			return err
		}
	}
	r.loaded = true
	if _, err := p.client.MoveRun(ctx, r.id, "start"); err != nil { // lost, or refused since it has been started
		r.unsure = true
		if errors.Is(err, errLost) || crowd.CodeOf(err) == crowd.Conflict {
			return p.look(ctx, r)
		}
		return err
	}
	r.started, r.state = true, "running"
	p.moves++
	p.going.Store(true)
	return nil
}

func (p *planner) move(ctx context.Context, r *plannedRun, move, to string) error {
	_, err := p.client.MoveRun(ctx, r.id, move)
	switch {
	case err == nil:
		r.state, r.unsure = to, false
		p.moves++
	case errors.Is(err, errLost):
		r.unsure = true
	case crowd.CodeOf(err) == crowd.Conflict: // it has ended, or the lost request had been carried out
		return p.look(ctx, r)
	}
	return err
}

// look reads the state of a run: what was seen once must still be there.
func (p *planner) look(ctx context.Context, r *plannedRun) error {
	now, err := p.client.Run(ctx, r.id)
	if err != nil {
		return err
	}
	if times := p.gate.times(); times != p.seen {
		p.seen = times
		p.looked++
	}
	if !r.allows(now.State) {
		p.problem("%s was acknowledged to be %s, but is %s", r.id, r.state, now.State)
	}
	for _, n := range now.Nodes {
		if now.State == "loading" { // an input that is half read is cleared by a restart
			break
		}
		rows := n.OK + n.Skipped + n.Failed
		if rows < r.rows[n.Name] || r.done[n.Name] && n.State != "done" {
			p.problem("%s: %s had %d rows (done: %t), and has %d and is %s", r.id, n.Name, r.rows[n.Name], r.done[n.Name], rows, n.State)
		}
		r.rows[n.Name], r.done[n.Name] = rows, n.State == "done"
	}
	r.state, r.unsure = now.State, false
	p.going.Store(r.state == "running")
	return nil
}

// allows reports whether a run may be in a state after what its requester was told.
func (r *plannedRun) allows(state string) bool {
	return r.unsure || state == r.state || r.state == "running" && state == "done"
}
