package work

import (
	"context"
	"slices"
	"sync"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/server/input"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/task"
)

// definition is the part of a batch that does not change once it is launched.
type definition struct {
	store.Batch
	template *task.Compiled
	hidden   []string // of its columns, those that no worker is shown
}

// shown are the values of a task that a worker is shown.
func (d *definition) shown(cells []string) task.Values {
	v := task.Values{Columns: d.Columns, Cells: cells}
	if len(d.hidden) == 0 {
		return v
	}
	v = task.Values{}
	for i, column := range d.Columns {
		if i < len(cells) && !slices.Contains(d.hidden, column) {
			v.Columns, v.Cells = append(v.Columns, column), append(v.Cells, cells[i])
		}
	}
	return v
}

// definitionCache keeps the definitions of launched batches.
type definitionCache struct {
	store interface {
		Batch(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID) (store.Batch, error)
		Run(ctx context.Context, tenant crowd.TenantID, id crowd.RunID) (store.Run, error)
	}
	mu   sync.RWMutex
	list map[crowd.BatchID]*definition
}

// maxDefinitions bounds the cache: when it is full, it is emptied.
const maxDefinitions = 10_000

// get returns the definition of a batch.
func (c *definitionCache) get(ctx context.Context, id crowd.BatchID) (*definition, error) {
	c.mu.RLock()
	d := c.list[id]
	c.mu.RUnlock()
	if d != nil {
		return d, nil
	}
	b, err := c.store.Batch(ctx, 0, id)
	if err != nil {
		return nil, err
	}
	t, err := input.Compile(b.Template)
	if err != nil {
		return nil, err
	}
	hidden, err := orchestrator.HiddenColumns(ctx, c.store, &b)
	if err != nil {
		return nil, err
	}
	d = &definition{b, t, hidden}
	if b.Progress.State == crowd.BatchDraft {
		return d, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.list == nil || len(c.list) >= maxDefinitions {
		c.list = make(map[crowd.BatchID]*definition)
	}
	c.list[id] = d
	return d, nil
}

// taskCache keeps the data of tasks, so that showing one does not read the store
// each time. Tasks are handed out nearly in their order, and each to several
// people, so it fetches a few neighbours at once and mostly has what is wanted.
// The data of launched tasks never change, but for the reply to reports: see forget.
type taskCache struct {
	store interface {
		Tasks(ctx context.Context, first crowd.TaskID, n int) ([]store.Task, error)
	}
	mu      sync.Mutex
	bundles map[crowd.TaskID]*bundle // by their first task
	bytes   int
}

// bundle is neighbouring tasks, fetched by whoever comes first.
type bundle struct {
	once  sync.Once
	tasks []store.Task
	full  bool // of text: tasks behind it are read one by one
	err   error
}

// The sizes of the cache. When it is full, it is emptied.
const (
	bundleSize    = 32
	maxCacheBytes = 32 << 20
	rowOverhead   = 64 // bytes that a row takes in addition to its text
)

// task returns the data of one task of a launched batch.
func (c *taskCache) task(ctx context.Context, id crowd.TaskID) (store.Task, error) {
	t, outdated, err := c.lookup(ctx, id)
	if outdated { // since the bundle was fetched, its batch has got more tasks
		t, _, err = c.lookup(ctx, id)
	}
	return t, err
}

// lookup gets a task from its bundle. outdated reports that the bundle did not have it
// and was not full; it has been dropped then.
func (c *taskCache) lookup(ctx context.Context, id crowd.TaskID) (t store.Task, outdated bool, err error) {
	first := firstOf(id)
	c.mu.Lock()
	b := c.bundles[first]
	if b == nil {
		b = &bundle{}
		if c.bundles == nil {
			c.bundles = make(map[crowd.TaskID]*bundle)
		}
		c.bundles[first] = b
	}
	c.mu.Unlock()
	b.once.Do(func() {
		// Others wait for this, so it does not end with one request.
		b.tasks, b.err = c.store.Tasks(context.WithoutCancel(ctx), first, bundleSize)
		c.keep(first, b)
	})
	i := int(id.N() - first.N())
	switch {
	case b.err != nil:
		return t, false, b.err
	case i >= len(b.tasks) && b.full:
		list, err := c.store.Tasks(ctx, id, 1)
		if err == nil && (len(list) == 0 || list[0].ID != id) {
			err = crowd.Errorf(crowd.NotFound, "there is no task %s", id)
		}
		if err != nil {
			return t, false, err
		}
		return list[0], false, nil
	case i >= len(b.tasks) || b.tasks[i].ID != id:
		c.mu.Lock()
		defer c.mu.Unlock()
		if outdated = len(b.tasks) < bundleSize; outdated && c.bundles[first] == b {
			delete(c.bundles, first)
		}
		return t, outdated, crowd.Errorf(crowd.NotFound, "there is no task %s", id)
	}
	return b.tasks[i], false, nil
}

// forget has a task read again, whose reply has changed. It comes after the change: a
// bundle is in the cache before it is read, so one that was read too early goes, too.
func (c *taskCache) forget(id crowd.TaskID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.bundles, firstOf(id))
}

// clear has every task read again.
func (c *taskCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.bundles)
	c.bytes = 0
}

// firstOf returns the first task of the bundle of a task.
func firstOf(id crowd.TaskID) crowd.TaskID {
	return id.Batch().Task((id.N()-1)/bundleSize*bundleSize + 1)
}

// keep counts a fetched bundle's bytes, and empties the cache when it is full.
// A failed fetch is not kept.
func (c *taskCache) keep(first crowd.TaskID, b *bundle) {
	size, text := 0, 0
	for _, t := range b.tasks {
		text += store.TextBytes(t.Values)
		size += rowOverhead + len(t.Reply)
		for _, cell := range t.Values {
			size += rowOverhead/4 + len(cell)
		}
	}
	b.full = text >= store.PageBytes
	c.mu.Lock()
	defer c.mu.Unlock()
	if b.err != nil {
		delete(c.bundles, first)
		return
	}
	if c.bytes += size; c.bytes > maxCacheBytes {
		clear(c.bundles)
		c.bytes = 0
	}
}
