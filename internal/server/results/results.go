// Package results has what came of a batch: each task with its answers, its label and how
// sure that is, by which filters, pages and downloads go.
//
// To combine the answers of a batch may take seconds. That is done by turns of its own, as
// few as leave the workers' requests a processor, once for all who ask, only while somebody
// waits for it, and again when answers have changed.
package results

import (
	"context"
	"encoding/json"
	"runtime"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/limits"
	"github.com/throng-dev/throng/internal/server/live"
	"github.com/throng-dev/throng/internal/server/pseudonym"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/label"
)

// Results is what came of the batches.
type Results struct {
	store store.Store
	clock live.Clock
	scans *limits.Slots
	names *pseudonym.Names
	live  *live.Pools

	runsChanged func() // see Config.RunsChanged

	datas *cache[crowd.BatchID, *data]
	fits  *cache[fitKey, *fit]

	deciding sync.Mutex // see HoldLabels

	mu     sync.Mutex
	states map[crowd.BatchID]uint64 // of the batches that were looked at, how often they have changed
	places map[crowd.BatchID]*places
	// reviewed has, for batches of reviews, whose labels they review, if somebody has looked at that batch.
	reviewed map[crowd.BatchID]crowd.BatchID
	pinned   []*fit // of lists of which somebody may ask for the next page
}

// Config is what the results stand on.
type Config struct {
	Store store.Store
	Clock live.Clock
	// Downloads bounds reads of whole batches.
	Downloads *limits.Slots
	// Names says how workers are called.
	Names *pseudonym.Names
	// Live are the pools, which are told of corrections.
	Live *live.Pools
	// RunsChanged is told that a label that a run may have used was corrected.
	RunsChanged func()
}

// The bounds of what is kept in memory.
const (
	dataKept   = 192 << 20
	fitsKept   = 192 << 20
	keptFor    = 10 * time.Minute // at most: what people wrote may have been erased since
	slowToMake = 250 * time.Millisecond
)

// New makes the use case.
func New(cfg Config) *Results {
	s := &Results{store: cfg.Store, clock: cfg.Clock, scans: cfg.Downloads, names: cfg.Names, live: cfg.Live, runsChanged: cfg.RunsChanged, states: make(map[crowd.BatchID]uint64), places: make(map[crowd.BatchID]*places), reviewed: make(map[crowd.BatchID]crowd.BatchID)}
	most := runtime.GOMAXPROCS(0) / 2
	s.datas = &cache[crowd.BatchID, *data]{turns: newTurns(most), size: (*data).size, most: dataKept, life: keptFor, slow: slowToMake, state: s.state, of: func(d *data) uint64 { return d.state }}
	s.fits = &cache[fitKey, *fit]{turns: newTurns(most), size: (*fit).size, most: fitsKept, life: keptFor, slow: slowToMake,
		state: func(k fitKey) uint64 { return s.state(k.batch) }, of: func(f *fit) uint64 { return f.data.state }}
	return s
}

// state is another number after each change of what came of a batch.
func (s *Results) state(id crowd.BatchID) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, known := s.states[id]
	if !known {
		n = 1
		s.states[id] = n
	}
	return n
}

// Changed is told what has changed of a pool. A pool's loop calls it.
func (s *Results) Changed(c *engine.Changes) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.states) == 0 {
		return
	}
	for i := range c.Answers {
		s.changed(c.Answers[i].Assignment.Batch())
	}
	for i := range c.Revised {
		s.changed(c.Revised[i].Assignment.Batch())
	}
	for i := range c.Labels {
		s.changed(c.Labels[i].Task.Batch())
	}
	for i := range c.Removals {
		s.changed(c.Removals[i].Task.Batch())
	}
	for i := range c.Revisions {
		s.changed(c.Revisions[i].Batch)
	}
	for i := range c.Progress {
		s.changed(c.Progress[i].Batch)
	}
}

// changed counts a change, if anybody has looked: one of a review is one of what it reviews, too. The
// caller holds the lock.
func (s *Results) changed(id crowd.BatchID) {
	for _, id := range [...]crowd.BatchID{id, s.reviewed[id]} {
		if _, known := s.states[id]; known {
			s.states[id]++
		}
	}
}

// watchReviews has what changes of the reviews of a batch count as a change of it.
func (s *Results) watchReviews(b *store.Batch) {
	if b.ReviewedIn == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reviewed[b.ReviewedIn] = b.Spec.ID
}

// ErrBatch is the error of a batch that is not there, or not for who asks.
var ErrBatch = &crowd.Error{Code: crowd.NotFound, Field: "batch", Message: "no such batch"}

// find returns a batch that p may see.
func (s *Results) find(ctx context.Context, p *access.Principal, o access.Operation, id crowd.BatchID) (store.Batch, error) {
	if err := p.May(o); err != nil {
		return store.Batch{}, err
	}
	b, err := s.store.Batch(ctx, 0, id)
	switch {
	case crowd.CodeOf(err) == crowd.NotFound:
		err = ErrBatch
	case err == nil:
		err = p.MayOn(o, b.Spec.Tenant, ErrBatch, access.ShowBatches...)
	}
	if err != nil {
		return store.Batch{}, err
	}
	return b, nil
}

// show says who is behind some rows, as the viewer sees them.
func (v viewer) show(ctx context.Context, rows []Row) error {
	for i := range rows {
		for j := range rows[i].Answers {
			rows[i].Answers[j] = Answered(v.workers, v.weights, rows[i].Answers[j].Annotation)
		}
		if err := v.showReview(ctx, &rows[i]); err != nil {
			return err
		}
	}
	return nil
}

// workers returns the workers of some answers by their ids.
func (s *Results) workers(ctx context.Context, d *data) (map[string]Worker, error) {
	members := make(map[string]Worker, len(d.workers))
	for text := range d.workers {
		id, err := crowd.ParseWorkerID(text)
		if err != nil {
			return nil, err
		}
		u, err := s.store.User(ctx, id)
		if err != nil {
			return nil, err
		}
		members[text] = Worker{ID: id, Name: u.Name, BlockedBy: u.BlockedBy}
	}
	return members, nil
}

// Answer is an assignment as somebody may see it.
type Answer struct {
	store.Annotation // Worker and WorkerName are left out

	By     pseudonym.Worker
	Weight label.Weight // that it has in labels that are made from now on, if it counts
	// Training is whether its task teaches; told in files of answers only.
	Training bool
}

// Answered is an assignment as a reader sees it, of a batch where some people's answers have these weights.
func Answered(seen pseudonym.Reader, weights Weights, a store.Annotation) Answer {
	by, weight := seen.Show(a.Worker, a.WorkerName), weights.Of(a.Worker)
	a.Worker, a.WorkerName = 0, ""
	return Answer{Annotation: a, By: by, Weight: weight}
}

// LessWeight reports whether a rule has lowered the weight of it.
func (a *Answer) LessWeight() bool { return a.Weight < label.Full }

// Weights is what the answers to a batch count of those whose answers count less by what its rules did.
type Weights map[crowd.WorkerID]label.Weight

// Of returns what somebody's answers count.
func (w Weights) Of(worker crowd.WorkerID) label.Weight {
	if x, less := w[worker]; less {
		return x
	}
	return label.Full
}

// Weights reads what answers to a batch count.
func (s *Results) Weights(ctx context.Context, b *store.Batch) (Weights, error) {
	if !b.Spec.LowersWeights() {
		return nil, nil
	}
	return s.store.Weights(ctx, b.Spec.Tenant, b.Spec.ID)
}

// Took is how long it took; 0: that is not known.
func (a *Answer) Took() time.Duration {
	if a.EndedAt.IsZero() {
		return 0
	}
	return a.EndedAt.Sub(a.AssignedAt)
}

// FieldLabel is the label of a field of the answers.
type FieldLabel struct {
	Name  string
	Label *engine.Label // nil: nobody answered it
	// Distribution has what the label may be, with the probability of each or its share of
	// the votes, those of most first; only of a single task.
	Distribution []Chance
}

// Chance is a label with its probability.
type Chance struct {
	Value string
	Share float64
}

// Row is a task with what came of it.
type Row struct {
	Task   crowd.TaskID
	Values []string
	Gold   string
	Lesson bool // it teaches: no figure counts the answers
	// Corrected is what somebody says that the label is; nil: nobody has corrected it. The labels
	// are of it then.
	Corrected *store.Correction
	// Review is the review of the label; nil: there is none.
	Review     *store.Review // By is left out
	ReviewedBy pseudonym.Worker
	SentBack   []SentBack    // labels of it, the first ones first
	Label      *engine.Label // nil: none yet, or each field has its own
	Fields     []FieldLabel
	Answers    []Answer // that count; of a single task all assignments
	Differ     bool     // the answers are not all equal
	Wrong      bool     // the label is not the known answer, before learning from that
}

// Sure is how sure the label is, or the least sure of the fields; nil: there is none.
func (r *Row) Sure() *float64 {
	var least *float64
	for _, l := range append([]FieldLabel{{Label: r.Label}}, r.Fields...) {
		if l.Label != nil && (r.Label == nil || l.Label == r.Label) && (least == nil || l.Label.Confidence < *least) {
			least = &l.Label.Confidence
		}
	}
	return least
}

// Counts is how many tasks are such.
type Counts struct{ All, Differ, Tie, Wrong, Undecided, Unanswered, Corrected, Reviewed, Waiting int }

// KindOf returns what is known of a batch's kind of question.
func KindOf(b *store.Batch) (*task.Descriptor, error) {
	t, err := task.Parse(b.Template)
	return t.Kind.Describe(), err
}

// Values returns the values of an answer's fields.
func Values(a *Answer) map[string]json.RawMessage { return task.Fields(a.Body) }
