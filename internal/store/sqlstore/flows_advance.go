package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// Advance implements store.Flows. Where there are several writers, they come
// to the run first, then to its nodes in order, then to the batch.
func (s *Store) Advance(ctx context.Context, a *store.Advance) (crowd.BatchID, error) {
	var made crowd.BatchID
	err := s.change(ctx, "advance run", func(ctx context.Context, tx transaction) error {
		m := advancer{ctx: ctx, tx: tx, store: s, move: a, nodes: make(map[int]*kept)}
		for _, step := range [...]func() error{m.run, m.touch, m.rows, m.faults, m.create, m.tasks, m.feed, m.keep} {
			if err := step(); err != nil {
				return err
			}
		}
		made = m.made
		return nil
	})
	if err != nil {
		return 0, err
	}
	return made, nil
}

// advancer writes one move of a run.
type advancer struct {
	ctx   context.Context
	tx    transaction
	store *Store
	move  *store.Advance

	tenant crowd.TenantID
	items  int64         // the last item's number before the move
	nodes  map[int]*kept // that it changes
	made   crowd.BatchID
}

// run reads the run, and writes what is new of it.
func (m *advancer) run() error {
	id := m.move.Run
	type head struct {
		tenant crowd.TenantID
		items  int64
	}
	h, err := first(m.ctx, m.tx, noRun(id), func(r row, h *head) error { return r.Scan(&h.tenant, &h.items) },
		`select tenant, items from runs where id = $1`+m.store.dialect.RowLock, id)
	m.tenant, m.items = h.tenant, h.items
	if r := m.move.State; err == nil && r != nil {
		now := *r
		now.ID = id
		_, err = keepRun.exec(m.ctx, m.tx, &now)
	}
	return err
}

// touch reads the nodes that the move changes, and overwrites what is not the
// store's to know of them.
func (m *advancer) touch() error {
	a := m.move
	for i := range a.Nodes {
		m.nodes[a.Nodes[i].Node] = nil
	}
	for i := range a.Rows {
		m.nodes[a.Rows[i].Node] = nil
	}
	for _, list := range [...][]store.Fault{a.Hold, a.Release} {
		for i := range list {
			m.nodes[list[i].Node] = nil
		}
	}
	if a.Create != nil {
		m.nodes[a.Create.Node] = nil
	}
	for _, i := range slices.Sorted(maps.Keys(m.nodes)) {
		n, err := lockedNode(m.ctx, m.tx, a.Run, i, m.store.dialect.RowLock)
		if err != nil {
			return err
		}
		m.nodes[i] = &n
	}
	for i := range a.Nodes {
		n, is := a.Nodes[i], m.nodes[a.Nodes[i].Node]
		n.Run, n.Last, n.OK, n.Skipped, n.Failed, n.Faults = a.Run, is.Last, is.OK, is.Skipped, is.Failed, is.Faults
		is.Node = n
	}
	return nil
}

// rows appends to the logs.
func (m *advancer) rows() error {
	if len(m.move.Rows) == 0 {
		return nil
	}
	items := m.items
	into := appender{ctx: m.ctx, tx: m.tx}
	for i := range m.move.Rows {
		r := &m.move.Rows[i]
		item := r.Item
		switch {
		case item < 0 || item > m.items || r.Origin < 0 || r.Origin > m.items:
			return fmt.Errorf("a row of item %d, made from %d, but %s has %d items", item, r.Origin, m.move.Run, m.items)
		case item == 0:
			items++
			item = items
		}
		if err := into.add(m.nodes[r.Node], r, item); err != nil {
			return m.store.twice(err, m.move.Run)
		}
	}
	if err := into.flush(); err != nil {
		return m.store.twice(err, m.move.Run)
	}
	if err := charge(m.ctx, m.tx, m.tenant, store.StoredBytes, into.bytes); err != nil {
		return err
	}
	if items == m.items {
		return nil
	}
	_, err := m.tx.exec(m.ctx, `update runs set items = $2 where id = $1`, m.move.Run, items)
	return err
}

// twice turns the error about a second row of an item into a Conflict.
func (s *Store) twice(err error, id crowd.RunID) error {
	return s.taken(err, "rows", "an item of %s has a row in that log already", id)
}

// faults keeps what is held, after what is released.
func (m *advancer) faults() error {
	for i := range m.move.Release {
		f := &m.move.Release[i]
		gone, err := m.tx.exec(m.ctx, `delete from run_faults where run = $1 and item = $2 and node = $3`, m.move.Run, f.Item, f.Node)
		if err != nil {
			return err
		}
		m.nodes[f.Node].Faults -= gone
	}
	for i := range m.move.Hold {
		f := &m.move.Hold[i]
		if f.Item < 1 || f.Item > m.items {
			return fmt.Errorf("a fault with item %d, but %s has %d items", f.Item, m.move.Run, m.items)
		}
		args := []any{m.move.Run, f.Item, f.Node, f.N, micros(f.At), f.Tries, f.Error}
		again, err := m.tx.exec(m.ctx, `update run_faults set n = $4, held_at = $5, tries = $6, error = $7 where run = $1 and item = $2 and node = $3`, args...)
		if err != nil {
			return err
		}
		if again > 0 {
			continue
		}
		if _, err := m.tx.exec(m.ctx, `insert into run_faults (run, item, node, n, held_at, tries, error) values ($1, $2, $3, $4, $5, $6, $7)`, args...); err != nil {
			return err
		}
		m.nodes[f.Node].Faults++
	}
	return nil
}

// create makes the node's batch.
func (m *advancer) create() error {
	if m.move.Create == nil {
		return nil
	}
	b := *m.move.Create
	if b.Spec.Tenant != m.tenant {
		return fmt.Errorf("a batch of %s for %s, which is %s's", b.Spec.Tenant, m.move.Run, m.tenant)
	}
	b.Run = m.move.Run
	n := m.nodes[b.Node]
	if n.Batch != 0 {
		old, err := lockHead(m.ctx, m.tx, m.store.dialect.RowLock, n.Batch)
		if err != nil {
			return err
		}
		if !old.state.Ended() {
			return crowd.Errorf(crowd.Conflict, "%s of %s has the batch %s already, which is %s", n.Name, b.Run, n.Batch, old.state)
		}
	}
	id, err := m.store.createBatch(m.ctx, m.tx, &b)
	m.made, n.Batch = id, id
	return err
}

// tasks adds to a batch of the run.
func (m *advancer) tasks() error {
	if len(m.move.Tasks) == 0 {
		return nil
	}
	id := cmp.Or(m.move.Batch, m.made)
	h, err := lockHead(m.ctx, m.tx, m.store.dialect.RowLock, id)
	switch {
	case err != nil:
		return err
	case h.run != m.move.Run:
		return crowd.Errorf(crowd.NotFound, "%s has no batch %s", m.move.Run, id)
	case h.state.Ended():
		return crowd.Errorf(crowd.Conflict, "%s is %s: it gets no more tasks", id, h.state)
	}
	for i := range m.move.Tasks {
		if n := m.move.Tasks[i].Item; n < 0 || n > m.items {
			return fmt.Errorf("a task of item %d, but %s has %d items", n, m.move.Run, m.items)
		}
	}
	return m.store.addTasks(m.ctx, m.tx, id, h, m.move.Tasks)
}

// feed writes how far a feed has come.
func (m *advancer) feed() error {
	f := m.move.Feed
	if f == nil {
		return nil
	}
	_, err := m.tx.exec(m.ctx, `insert into run_feeds (run, node, name, rows) values ($1, $2, $3, $4)
		on conflict (run, node, name) do update set rows = excluded.rows`, m.move.Run, f.Node, f.Name, f.Rows)
	return err
}

// keep writes the nodes.
func (m *advancer) keep() error {
	for _, i := range slices.Sorted(maps.Keys(m.nodes)) {
		if _, err := keepNode.exec(m.ctx, m.tx, m.nodes[i]); err != nil {
			return err
		}
	}
	return nil
}
