package orchestrator

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/throng-dev/throng/internal/kit/jsonschema"
	"github.com/throng-dev/throng/internal/kit/pages"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow"
	"github.com/throng-dev/throng/internal/workflow/httpstep"
)

// maxCalls is how many items of a step have been taken and not answered, at most.
const maxCalls = 150_000

// httpRunner calls a service for each item. The calls wait in the service's proxy.
type httpRunner struct {
	stepBase
	service *workflow.HTTP
	proxy   *proxy          // nil: not joined
	calls   map[int64]*call // by item: taken, and not answered in the log
	ended   []outcome       // not kept yet
	failing failing
	unsent  bool                     // the last call that was to be made could not be
	earlier map[contentHash][]string // answers of the run that this one does anew; nil: not read yet
	stale   bool                     // calls may not be what is kept: at first, after a pause and after a failure of the store
}

// call is an item on its way through a service.
type call struct {
	id       int64 // in the proxy's queue
	runner   *httpRunner
	item     int64
	origin   int64 // the item that it was made from, or 0
	born     time.Time
	class    int
	since    time.Time // when it came to the step
	attempts int       // made so far
	started  time.Time // when the attempt began that is under way; zero: none is
	again    time.Time // when the next try is planned; zero: none is
	dropped  bool      // the run was paused or has ended: the reply is not wanted
}

// outcome is how a call ended.
type outcome struct {
	call  *call
	cells []string
	err   string
	took  time.Duration
}

func newHTTPRunner(b stepBase) stepRunner {
	return &httpRunner{stepBase: b, service: b.node.step.HTTP(), calls: make(map[int64]*call), stale: true}
}

func (s *httpRunner) waitsFor() string { return "for the service, or for its next try" }

func (s *httpRunner) advance(ctx context.Context) (more bool, err error) {
	r, n := s.run, s.node
	if s.stale {
		s.release()
		s.proxy = r.o.services.join(s)
		n.expect = s.proxy.response()
		if err := s.restoreCalls(ctx); err != nil {
			return false, err
		}
		s.stale = false
	}
	defer func() { s.stale = s.stale || err != nil }()
	if len(s.ended) > 0 {
		if err := s.saveOutcomes(ctx); err != nil {
			return false, err
		}
	}
	t := intake{}
	if len(s.calls) < maxCalls {
		if t, err = r.takeArrivals(ctx, n); err != nil {
			return false, err
		}
	}
	if t.moved {
		c := r.newChange()
		items, err := s.reuseAnswers(ctx, n.filter(t.list, c), c)
		if err != nil {
			return false, err
		}
		n.setCursors(&t)
		if err := r.commit(ctx, c, n); err != nil {
			return false, err
		}
		s.addCalls(items, c.at)
	}
	if !t.more && len(s.calls) == 0 && r.exhausted(n) {
		return false, r.finishStep(ctx, n)
	}
	return t.more, nil
}

// restoreCalls finds the items that were taken and not answered, after a restart
// or a pause.
func (s *httpRunner) restoreCalls(ctx context.Context) error {
	r, n := s.run, s.node
	st, held := r.o.cfg.Store, make(map[int64]bool)
	faults := pages.All(chunkRows, func(after int64, limit int) ([]store.Fault, error) {
		return st.Faults(ctx, r.kept.ID, n.Node.Node, after, limit)
	}, func(f *store.Fault) int64 { return f.Item })
	for f, err := range faults {
		if err != nil {
			return err
		}
		held[f.Item] = true
	}
	for _, i := range n.joined {
		taken := pages.All(chunkRows, func(after int64, limit int) ([]store.Row, error) {
			return st.Pending(ctx, store.LogPart{Run: r.kept.ID, Node: n.step.From[i].Node, After: after, Last: n.Cursors[i]}, n.Node.Node, limit)
		}, func(row *store.Row) int64 { return row.N })
		for row, err := range taken {
			if err != nil {
				return err
			}
			if held[row.Item] || s.calls[row.Item] != nil {
				continue
			}
			a, ok, err := r.findArrival(ctx, n, row.Item)
			if err != nil {
				return err
			}
			if ok && a.state == store.RowOK {
				s.addCalls([]arrival{a}, row.At)
			}
		}
	}
	return nil
}

// addCalls puts the calls of items into the proxy's queue.
func (s *httpRunner) addCalls(items []arrival, since time.Time) {
	for _, a := range items {
		x := &call{runner: s, item: a.item, origin: a.origin, born: a.born, class: a.class, since: since}
		s.calls[a.item] = x
		s.run.o.services.add(x)
	}
}

// saveOutcomes keeps how calls ended.
func (s *httpRunner) saveOutcomes(ctx context.Context) error {
	r, n := s.run, s.node
	c := r.newChange()
	for _, o := range s.ended {
		x := arrival{item: o.call.item, origin: o.call.origin, born: o.call.born, class: o.call.class}
		if o.err != "" {
			c.reject(n, &x, o.call.attempts, o.err)
			continue
		}
		n.Served++
		n.Busy += o.took
		c.add(n, &x, store.RowOK, o.cells)
	}
	if err := r.commit(ctx, c, n); err != nil {
		return err
	}
	for _, o := range s.ended {
		delete(s.calls, o.call.item)
	}
	s.ended = nil
	n.expect = s.proxy.response()
	return nil
}

// retryHeld calls the service again for the held items. If the calls are stale, the
// next pass finds them.
func (s *httpRunner) retryHeld(ctx context.Context) (items int, err error) {
	r, n := s.run, s.node
	err = r.eachHeldChunk(ctx, n, func(list []arrival, faults []store.Fault) error {
		items += len(faults)
		c := r.newChange()
		c.Release = faults
		items := n.filter(list, c)
		if err := r.commit(ctx, c); err != nil {
			s.stale = true // it may have been kept
			return err
		}
		if !s.stale {
			s.addCalls(items, c.at)
		}
		return nil
	})
	return items, err
}

// release takes the step's calls out of the proxy's queue.
func (s *httpRunner) release() {
	for item, x := range s.calls {
		x.dropped = true
		x.line().drop(x)
		delete(s.calls, item)
	}
	s.ended, s.stale = nil, true
	if s.proxy != nil {
		delete(s.proxy.users, s)
	}
}

// noteSent notes why a call of the step could not be made, or that one was.
func (s *httpRunner) noteSent(err error) {
	key := s.run.key(s.node)
	switch {
	case err != nil:
		s.unsent = true
		s.run.o.setWait(key, waitAfter(err))
	case s.unsent:
		s.unsent = false
		s.run.o.setWait(key, Wait{})
	}
}

// request makes the call of an item.
func (s *httpRunner) request(ctx context.Context, item int64) (httpstep.Call, error) {
	r, n := s.run, s.node
	a, ok, err := r.findArrival(ctx, n, item)
	if err != nil {
		return httpstep.Call{}, err
	}
	if !ok || a.state != store.RowOK {
		return httpstep.Call{}, errNotArrived(item, n)
	}
	out := httpstep.Call{Key: fmt.Sprintf("%s-%s-%d", r.kept.ID, n.Name, item)}
	for i, col := range n.inputs {
		if s.sends(col.Name) {
			out.Fields = append(out.Fields, httpstep.Field{Name: col.Name, Value: a.cells[i], Kind: jsonschema.Kind(col.Type)})
		}
	}
	return out, nil
}

// sends reports whether the service is sent a column.
func (s *httpRunner) sends(column string) bool {
	return s.service.Send == nil && !workflow.Hides(s.service.Hidden, column) || slices.Contains(s.service.Send, column)
}

// reuseAnswers adds to a change, in a run that does another one anew, the rows of items of which the service
// was sent the same in that one, and returns the other items: it may answer otherwise now,
// and people would be asked anew although nothing was corrected.
func (s *httpRunner) reuseAnswers(ctx context.Context, items []arrival, c *change) ([]arrival, error) {
	if s.run.kept.RedoLabels == 0 || len(items) == 0 {
		return items, nil
	}
	if s.earlier == nil {
		if err := s.readAnswers(ctx); err != nil {
			s.earlier = nil
			return nil, err
		}
	}
	return slices.DeleteFunc(items, func(a arrival) bool {
		cells, ok := s.earlier[s.hashSent(s.node, a.cells)]
		if ok {
			c.add(s.node, &a, store.RowOK, cells)
		}
		return ok
	}), nil
}

// readAnswers reads what the service answered in the run's parent.
func (s *httpRunner) readAnswers(ctx context.Context) error {
	r := s.run
	before, err := r.o.snapshot(ctx, r.kept.Tenant, r.kept.Parent)
	if err != nil {
		return err
	}
	s.earlier = make(map[contentHash][]string)
	if !before.kept.FilesDeletedAt.IsZero() {
		return nil
	}
	for i, n := range before.nodes {
		if n.Name != s.node.Name || n.step == nil {
			continue
		}
		log := store.Log{Store: r.o.cfg.Store, Run: r.kept.Parent, Node: i, With: without(n.joinedNodes, i)}
		for row, err := range log.After(ctx, 0) {
			if err != nil {
				return err
			}
			if row.State == store.RowOK {
				s.earlier[s.hashSent(n, cellsOf(n.inputs, &row))] = row.Cells
			}
		}
	}
	return nil
}

// hashSent stands for what the service is sent of the inputs of a node.
func (s *httpRunner) hashSent(n *node, inputs []string) contentHash {
	var sent []string
	for i, col := range n.inputs {
		if s.sends(col.Name) {
			sent = append(sent, inputs[i])
		}
	}
	return hashCells(sent)
}
