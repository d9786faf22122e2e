package sqlstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

const selectFaults = `select node, item, n, held_at, tries, error from run_faults where run = $1 `

func scanFault(r row, f *store.Fault) error {
	return r.Scan(&f.Node, &f.Item, &f.N, instant{&f.At}, &f.Tries, &f.Error)
}

// Faults implements store.Flows.
func (s *Store) Faults(ctx context.Context, id crowd.RunID, of int, after int64, limit int) (_ []store.Fault, err error) {
	defer s.explain("read faults", &err)
	if of >= 0 {
		if _, err := node(ctx, s.read, id, of); err != nil {
			return nil, err
		}
		return list(ctx, s.read, scanFault, selectFaults+`and node = $2 and item > $3 order by item limit $4`, id, of, after, limit)
	}
	if _, err := s.Run(ctx, 0, id); err != nil {
		return nil, err
	}
	all, err := list(ctx, s.read, scanFault, selectFaults+`and item > $2 order by item, node limit $3`, id, after, limit)
	if err != nil || len(all) < limit || limit < 1 {
		return all, err
	}
	last := all[len(all)-1] // the next page begins after its item
	rest, err := list(ctx, s.read, scanFault, selectFaults+`and item = $2 and node > $3 order by node`, id, last.Item, last.Node)
	return append(all, rest...), err
}

// Staying implements store.Flows.
func (s *Store) Staying(ctx context.Context, batch crowd.BatchID, after uint32, limit int) (_ []store.Task, err error) {
	defer s.explain("read tasks that have not gone on", &err)
	p, ok, err := placeOf(ctx, s.read, batch)
	if err == nil && !ok {
		err = noBatch(batch)
	}
	if err != nil {
		return nil, err
	}
	_, last := span(batch)
	return list(ctx, s.read, func(r row, t *store.Task) error {
		return r.Scan(&t.ID, &t.Gold, &t.Explain, &t.Item, instant{&t.Born}, &t.Class)
	}, `select t.id, t.gold, t.explain, t.item, t.born_at, t.class from tasks t where t.id > $1 and t.id <= $2
		and (t.item > 0 and t.gold <> '' or not exists (select 1 from labels l where l.task = t.id))
		and not exists (select 1 from run_rows r where r.log = $3 and r.item = t.item)
		order by t.id limit $4`, batch.Task(after), last, p.log, limit)
}

// place is whose a batch is, and the node whose job it is. No run: it is of none.
type place struct {
	run    crowd.RunID
	node   int
	log    int64
	tenant crowd.TenantID

	reviews crowd.BatchID // whose labels it reviews; 0: it does not
}

// placeOf reads a batch's place, or false if there is no such batch.
func placeOf(ctx context.Context, q querier, id crowd.BatchID) (place, bool, error) {
	return one(ctx, q, func(r row, p *place) error { return r.Scan(&p.run, &p.node, &p.log, &p.tenant, &p.reviews) }, selectPlace, id)
}

const selectPlace = `select b.run, b.node, coalesce(n.log, 0), b.tenant, b.review_of from batches b left join run_nodes n on n.run = b.run and n.node = b.node where b.id = $1`

// placesKnown remembers the places of batches, which never change, so that commits
// need not ask.
type placesKnown struct {
	mu sync.Mutex
	of map[crowd.BatchID]place
}

const mostPlaces = 4096

func (k *placesKnown) get(id crowd.BatchID) (place, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	p, ok := k.of[id]
	return p, ok
}

func (k *placesKnown) put(id crowd.BatchID, p place) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of == nil || len(k.of) >= mostPlaces {
		k.of = make(map[crowd.BatchID]place)
	}
	k.of[id] = p
}

// place returns the place of a batch. A batch that is not there has none.
func (w *writer) place(id crowd.BatchID) (place, error) {
	if p, ok := w.store.places.get(id); ok {
		return p, nil
	}
	p, ok, err := placeOf(w.ctx, w.tx, id)
	if err == nil && ok {
		w.store.places.put(id, p)
	}
	return p, err
}

// labelRow appends a label to a log under the id $1, unless its task has no
// item, or the item has a row there.
const labelRow = `insert into run_rows (id, log, item, origin, born_at, class, made_at, state, body, people)
	select $1, $2, t.item, 0, t.born_at, t.class, $3, 'ok', $4, $6 from tasks t where t.id = $5 and t.item > 0
	on conflict (log, item) do nothing`

// handOver appends labels to the logs of the nodes that wait for them.
func (w *writer) handOver(list []handed) error {
	slices.SortStableFunc(list, func(x, y handed) int {
		return cmp.Or(cmp.Compare(x.to.run, y.to.run), cmp.Compare(x.to.node, y.to.node))
	})
	for len(list) > 0 {
		to, n := list[0].to, 1
		for n < len(list) && list[n].to == to {
			n++
		}
		if err := w.handTo(to, list[:n]); err != nil {
			return fmt.Errorf("hand over to node %d of %s: %w", to.node, to.run, err)
		}
		list = list[n:]
	}
	return nil
}

// handed is a label, and where it goes.
type handed struct {
	to    place
	label *engine.Label
}

func (w *writer) handTo(to place, list []handed) error {
	n, err := lockedNode(w.ctx, w.tx, to.run, to.node, w.store.dialect.RowLock)
	if err != nil {
		return err
	}
	stmt, err := w.tx.stmt(w.ctx, labelRow)
	if err != nil {
		return err
	}
	had := n.Last
	for _, h := range list {
		cells, err := encode(store.LabelCells(h.label), false)
		if err != nil {
			return err
		}
		if n.Last >= crowd.MaxInBatch {
			return errFullLog
		}
		people, err := encode(h.label.By, len(h.label.By) == 0)
		if err != nil {
			return err
		}
		made, err := w.rows(stmt, n.row(n.Last+1), n.log, micros(h.label.At), cells, int64(h.label.Task), people)
		if err != nil {
			return err
		}
		n.Last += made
		w.grown(to.tenant, made*int64(len(cells)))
	}
	_, err = w.tx.exec(w.ctx, countRows, to.run, to.node, n.Last, n.OK+n.Last-had)
	return err
}

const countRows = `update run_nodes set last = $3, ok = $4 where run = $1 and node = $2`

var errFullLog = errors.New("its log is full")
