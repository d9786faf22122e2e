package orchestrator

import (
	"context"
	"math"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/instant"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow"
)

// Working is how many items a node has taken and not handed on; those that it holds are
// not among them.
func (n *NodeView) Working() int64 { return max(n.Inside-n.Faults, 0) }

// Going is how many items a node works on: those of Working that people are not checked with.
func (n *NodeView) Going() int64 { return n.Working() - n.Checks }

// Stays reports whether all items inside a node are held after an error, but for those that
// people are checked with.
func (n *NodeView) Stays() bool { return n.Faults > 0 && n.Going() == 0 }

// Blocked says why a step does not go on, and will not by itself; "": it goes on, or has
// nothing to do, or the run is not running.
func (v *View) Blocked(node int) string {
	n := &v.Nodes[node]
	switch {
	case v.State != store.RunRunning || n.Step == nil || n.State == store.NodeDone:
	case n.State == store.NodeFailed:
		return "the step has failed: " + n.Error + "; once that has changed, try the step again"
	case n.WaitsForMoney() && n.InHand+n.Offered == 0:
		return n.Error
	case n.wait.Kind == ForMore && n.InHand+n.Offered == 0:
		return n.wait.Why
	case n.Waiting+n.Inside-n.Checks == 0:
	case n.Service != nil && n.Service.Wrong != "":
		return n.Service.Wrong
	case n.Stops != engine.Stops{}:
		return n.Stops.String()
	case n.Crowd.TooSmall():
		return "it cannot finish: " + n.Crowd.String()
	case n.Stays() && n.Waiting == 0:
		return format.Count(int(n.Faults), "item") + ", all that is left here, held after an error"
	case n.Reason == crowd.BatchPaused || n.Reason == crowd.BudgetSpent || n.Reason == crowd.NoTraining && n.InHand == 0:
		return n.Reason.Text()
	case n.Reason == crowd.GateClosed && n.InHand == 0:
		return "the pool's gate is closed: " + n.Reason.Text()
	case n.Ahead.Nobody && n.InHand == 0:
		return clause(n.Ahead.Why)
	}
	return ""
}

// HadEnough says what a crowd step had enough of, so that what comes to it is skipped; "":
// it asks people, or was ended.
func (n *NodeView) HadEnough() string {
	if n.Batch == nil {
		return ""
	}
	return n.Batch.Spec.HadEnough(&n.Batch.Progress)
}

// HasEnough reports whether a crowd step has enough while people still hold tasks of it: it hands
// nothing out, and ends when they have finished. Should they give back what it was to pay for, it may go on.
func (n *NodeView) HasEnough() bool { return n.Reason == crowd.EnoughLabels }

// asksNobody reports whether no task of a step is handed out any more.
func (n *NodeView) asksNobody() bool { return n.Batch != nil && n.Batch.Progress.State.Ended() }

// rest is how long what is at a node is on its way from there: what is left of a step that asks
// nobody any more goes no further.
func (n *NodeView) rest() time.Duration {
	if n.asksNobody() {
		return 0
	}
	return n.tail
}

// clause is a sentence as it stands after a colon.
func clause(s string) string {
	if s == "" {
		return ""
	}
	return strings.TrimSuffix(strings.ToLower(s[:1])+s[1:], ".")
}

// Lacking reports whether nobody of the step's pool holds the qualifications that it asks
// for.
func (n *NodeView) Lacking() bool { return n.Crowd.People == 0 && len(n.Crowd.Lacks) > 0 }

// CheckPeople checks that for each crowd step of a run that has something to do somebody of its
// pool holds the qualifications that it asks for; else the error is of code Conflict.
func (o *Orchestrator) CheckPeople(ctx context.Context, id crowd.RunID) error {
	r, err := o.snapshot(ctx, 0, id)
	if err != nil {
		return err
	}
	v := r.bareView()
	if err := r.viewCrowds(ctx, v); err != nil {
		return err
	}
	var lacking []string
	for i := range v.Nodes {
		if n := &v.Nodes[i]; n.Lacking() {
			lacking = append(lacking, n.Name+": "+n.Crowd.String())
		}
	}
	if len(lacking) == 0 {
		return nil
	}
	return &crowd.Error{Code: crowd.Conflict, Field: FieldSmallCrowd, Message: strings.Join(lacking, "; ")}
}

// People says of each crowd step of a workflow, of which a run is not made yet, whether nobody
// of its pool holds the qualifications that it asks for (lacking), as CheckPeople does of a run, and
// whether fewer people may do it than a task needs answers from (few).
func (o *Orchestrator) People(ctx context.Context, n NewRun, w *workflow.Workflow) (lacking, few []string, err error) {
	var settled map[int]bool
	if n.Parent != 0 {
		x, err := o.goOn(ctx, &store.Run{Tenant: n.Tenant, Text: n.Text, Parent: n.Parent, From: n.From}, w, newNodes(w))
		if err != nil {
			return nil, nil, err
		}
		settled = x.settled()
	}
	for i := range w.Steps {
		step := w.Steps[i].Crowd()
		if step == nil || settled[w.Steps[i].Node] {
			continue
		}
		pool, err := o.cfg.Crowd.Pool(ctx, n.Tenant, step.Pool)
		if err != nil {
			return nil, nil, err
		}
		able, err := o.cfg.Crowd.Able(ctx, pool, n.Tenant, []*workflow.Crowd{step})
		if err != nil {
			return nil, nil, err
		}
		n := NodeView{Node: store.Node{Name: w.Steps[i].Name}, Crowd: able[0]}
		if n.Lacking() {
			lacking = append(lacking, n.Name+": "+n.Crowd.String())
		} else if note := n.fewNote(); note != "" {
			few = append(few, note)
		}
	}
	return lacking, few, nil
}

// fewNote says that fewer people may do a step than a task of it needs answers from; "": that is
// not so, or nobody holds what it asks for.
func (n *NodeView) fewNote() string {
	if !n.Crowd.TooSmall() || n.Lacking() {
		return ""
	}
	return n.Name + ": " + n.Crowd.String() + "; it cannot finish before more come"
}

// FieldSmallCrowd is the field of an error that is not made if a small crowd is allowed.
const FieldSmallCrowd = "allow_small_crowd"

// Outlook is when what is in a run is done, by the forecasts of its batches. What comes
// after a batch takes as long as its steps have, without a queue.
type Outlook struct {
	Median    time.Time // zero: not known, or after Horizon
	Low, High time.Time // of ten ends, eight are from Low to High; zero: not known (bounded), or after Horizon
	Horizon   time.Time // nothing was looked at beyond; zero: no forecast is in it
	At        time.Time // when the oldest of the forecasts in it was made
	Since     int       // answers that came after the forecasts were made
	Then      []string  // crowd steps to which more tasks are to come: for them it is taken that nothing queues
	Why       string    // why it is not known; "" if it is, or nothing is on its way
}

// None reports whether nothing is on its way.
func (o *Outlook) None() bool { return o.Why == "" && o.Median.IsZero() && o.Horizon.IsZero() }

// Words says when a run is done, and on what that rests, for people at now: clock writes a time.
// open are the inputs that take rows: a run is not done before they are sealed. Both are ""
// if there is nothing to say.
func (o *Outlook) Words(now time.Time, clock func(time.Time) string, open []string) (done, by string) {
	switch {
	case len(open) > 0:
		done = "once the input " + open[0] + " is sealed"
		if len(open) > 1 {
			done = "once these inputs are sealed: " + strings.Join(open, ", ")
		}
		switch there, rests := o.Words(now, clock, nil); {
		case o.Why != "":
			by = "what is there: " + there + ": " + rests
		case !o.Horizon.IsZero(): // else what waits for the rest of the rows would seem done
			by = "what is there: " + there + "; " + rests
		}
		return done, by
	case o.None():
		return "", ""
	case o.Why != "":
		return "not known yet", o.Why
	}
	done = "about " + clock(o.Median)
	if o.Median.IsZero() {
		done = "probably after " + clock(o.Horizon)
	}
	switch {
	case !o.Low.IsZero() && o.High.IsZero():
		by = "80 %: " + clock(o.Low) + " to after " + clock(o.Horizon)
	case !o.Low.IsZero() && clock(o.Low) != clock(o.High):
		by = "80 %: " + clock(o.Low) + " to " + clock(o.High)
	case len(o.Then) > 0:
		by = "if the further tasks that come to " + strings.Join(o.Then, ", ") + " do not have to queue"
	case !o.bounded():
		by = "if nothing else has to queue"
	}
	return done, strings.TrimPrefix(by+o.age(now), "; ")
}

// bounded reports whether there is a band, which may lie after the horizon.
func (o *Outlook) bounded() bool { return !o.Low.IsZero() || o.Median.IsZero() }

// age says how old the forecasts are; "" if that is not known.
func (o *Outlook) age(now time.Time) string {
	if o.At.IsZero() {
		return ""
	}
	said := "; estimated " + format.Duration(max(now.Sub(o.At), 0)) + " ago"
	if o.Since > 0 {
		said += ", " + format.Grouped(int64(o.Since), "answer") + " came since"
	}
	return said
}

// standstill says which step keeps items from their end if nothing is done about it, and
// why; "": none. Steps that have nothing but held items keep no others from it.
func (v *View) standstill(held bool) string {
	if v.wait.Why != "" {
		return v.wait.Why
	}
	for i := range v.Nodes {
		n := &v.Nodes[i]
		why := v.Blocked(i)
		switch {
		case why != "" || v.State != store.RunRunning || n.State == store.NodeDone:
		case n.WaitsForMoney(): // for the rest of its tasks
			why = n.Error
		case n.wait.Kind == ForMore || n.wait.Kind == ForStore:
			why = n.wait.Why
		}
		if why != "" && (held || n.State == store.NodeFailed || n.Waiting+n.Going() > 0) {
			return n.Name + ": " + why
		}
		if n.Crowd.TooSmall() { // also before items come
			return n.Name + ": it cannot finish: " + n.Crowd.String()
		}
	}
	return ""
}

// outlook returns when what is in the run is done. It is long as one walk through the steps finds all
// three ends, the horizon and what comes then.
func (v *View) outlook(now time.Time) (o Outlook) {
	v.done = make([]time.Time, len(v.Nodes))
	switch v.State {
	case store.RunRunning:
	case store.RunPaused:
		return Outlook{Why: "the run is paused"}
	default:
		return o
	}
	if why := v.standstill(true); why != "" {
		return Outlook{Why: why}
	}
	first := len(v.Flow.Inputs)
	comes := v.comes()
	ends := [3]time.Time{}
	beyond := [3]bool{}
	var unbounded time.Time // the latest end of a step of which only its usual time is known
	for i := range v.Flow.Steps {
		n := &v.Nodes[first+i]
		if n.State == store.NodeDone {
			continue
		}
		if n.wait.Kind == ForTurn { // others take as long as they like
			return Outlook{Why: n.Name + ": " + n.wait.Why}
		}
		if n.isCrowd() && (comes[first+i] || n.Waiting > 0) && !n.closed {
			o.Then = append(o.Then, n.Name)
		}
		begins := now
		for _, from := range n.Step.From {
			if at := v.done[from.Node]; !at.IsZero() {
				v.done[first+i] = instant.Later(v.done[first+i], at.Add(n.adds()))
				if from.Edge == workflow.Batch {
					begins = instant.Later(begins, at)
				}
			}
		}
		if n.Waiting+n.Going() == 0 || comes[first+i] && n.waitsForItems() { // the end of these is that of those before
			continue
		}
		done := v.stepDone(n, now, begins)
		if done.Why != "" {
			return Outlook{Why: n.Name + ": " + clause(done.Why)}
		}
		v.done[first+i] = instant.Later(v.done[first+i], done.last())
		for k, t := range []time.Time{done.Low, done.Median, done.High} {
			if t.IsZero() {
				beyond[k] = true
			} else {
				ends[k] = instant.Later(ends[k], t.Add(n.rest()))
			}
		}
		if done.Horizon.IsZero() {
			unbounded = instant.Later(unbounded, done.Median.Add(n.rest()))
		}
		o.Horizon = nextOf(o.Horizon, done.Horizon)
		if !done.At.IsZero() {
			o.At = nextOf(o.At, done.At)
			o.Since += done.Since
		}
	}
	for k, at := range []*time.Time{&o.Low, &o.Median, &o.High} {
		if !beyond[k] {
			*at = ends[k]
		}
	}
	// What has to queue for people may take long, and a service how long it likes.
	if len(o.Then) > 0 || !o.Median.After(unbounded) && !o.Median.IsZero() {
		o.Low, o.High = time.Time{}, time.Time{}
	}
	if o.None() && len(v.OpenInputs()) == 0 { // which say for themselves what is waited for
		o.Why = "no item is at a step yet"
	}
	return o
}

// last is when something is done, or after when it is; zero: not known.
func (f *Forecast) last() time.Time {
	if f.Median.IsZero() {
		return f.Horizon
	}
	return f.Median
}

// waitsForItems reports whether a crowd step has nothing to do but with what is still to come
// from the steps before it: all that is there waits for the rest of its source, or for other
// branches.
func (n *NodeView) waitsForItems() bool {
	if !n.isCrowd() || n.Batch == nil {
		return n.isCrowd()
	}
	p := &n.Batch.Progress
	return p.Open && p.Tasks == n.Batch.Spec.Tasks && p.Labelled == p.Wanted()
}

// comes reports, by node, whether items may come to it that are at nodes before it.
func (v *View) comes() []bool {
	to := make([]bool, len(v.Nodes))
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if n.Step == nil || n.closed {
			continue
		}
		for _, from := range n.Step.From {
			x := &v.Nodes[from.Node]
			to[i] = to[i] || to[from.Node] || v.OpenInput(from.Node) || x.Waiting+x.Working() > 0
		}
	}
	return to
}

// stepDone is when what is at a step is done there: not before now, also by a forecast
// that is some seconds old. begins is when all is there of sources of which it takes nothing
// before: a step without people, of which there is no forecast, does not end before that.
func (v *View) stepDone(n *NodeView, now, begins time.Time) Forecast {
	expect := n.adds()
	switch {
	case n.isCrowd() && n.Batch == nil:
		return Forecast{Why: "its tasks are not handed out yet"}
	case n.asksNobody(): // what is there goes on at once
		return Forecast{Low: now, Median: now, High: now}
	case n.isCrowd() && n.Ahead == Forecast{}:
		return Forecast{Why: "the first forecast of its batch takes some seconds"}
	case n.isCrowd():
		f := n.Ahead
		for _, t := range []*time.Time{&f.Low, &f.Median, &f.High} {
			if !t.IsZero() {
				*t = instant.Later(*t, now)
			}
		}
		return f
	case n.Step.HTTP() != nil && n.unsure(expect, now) != "":
		return Forecast{Why: n.unsure(expect, now)}
	case n.Step.HTTP() != nil:
		end := n.called(expect, begins)
		return Forecast{Low: end, Median: end, High: end}
	}
	end := begins.Add(expect)
	return Forecast{Low: end, Median: end, High: end}
}

// called is when the service of a step has been called for all items that are there, each
// call taking as long as is expected: so many at a time, and begun no faster, as the
// service allows, and after the calls that others have in its line.
func (n *NodeView) called(expect time.Duration, now time.Time) time.Time {
	calls, underWay, at, gap, opens := n.Waiting+n.Working(), int64(0), int64(n.Step.HTTP().Concurrency), time.Duration(0), now
	if s := n.Service; s != nil {
		underWay, at = int64(s.All.UnderWay), int64(s.Concurrency)
		calls = max(calls, underWay+int64(s.All.Waiting)+n.Waiting)
		gap, opens = s.Rate.Gap(), instant.Later(now, s.Opens)
	}
	if at == 0 {
		at = workflow.DefaultConcurrency // of a service that is not declared any more
	}
	end := instant.Later(now.Add(times(expect, (calls+at-1)/at)), n.tries.latest.Add(expect))
	if next := calls - underWay; next > 0 { // are to begin
		end = instant.Later(end, opens.Add(max(times(expect, (next+at-1)/at), times(gap, next-1)+expect)))
	}
	return end
}

// times is n times as long, or as long as can be.
func times(d time.Duration, n int64) time.Duration {
	if n > 0 && d > math.MaxInt64/2/time.Duration(n) {
		return math.MaxInt64 / 2
	}
	return d * time.Duration(n)
}
