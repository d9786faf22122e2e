package store

import (
	"context"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/label"
)

// QualityAction is what a quality rule of a batch did to somebody.
type QualityAction struct {
	engine.Action
	WorkerName   string // "": nobody knows them any more
	BatchName    string
	UndoneByName string    // "": it was not undone
	SeenAt       time.Time // by the worker; zero: they have not said so
}

// QualityActions keeps what quality rules did. What they do, and that it is undone, comes by Commit.
type QualityActions interface {
	// ListQualityActions returns up to limit actions in a batch with numbers above after, in
	// their order.
	ListQualityActions(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID, after uint32, limit int) ([]QualityAction, error)
	// WorkerActions returns the latest actions in a batch on a worker, up to limit, in their order.
	WorkerActions(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID, worker crowd.WorkerID, limit int) ([]QualityAction, error)
	// Weights returns what the answers to a batch count of those whose answers count less by what rules did and
	// was not undone.
	Weights(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID) (map[crowd.WorkerID]label.Weight, error)
	// UnseenActions returns the oldest actions on a worker that they have not seen, of those that people are told
	// (neither training nor what answers weigh), and that were not undone, in running batches.
	UnseenActions(ctx context.Context, worker crowd.WorkerID, limit int) ([]QualityAction, error)
	// SeeAction keeps when a worker saw an action on them; the first time stays. One that is
	// not on them is NotFound.
	SeeAction(ctx context.Context, worker crowd.WorkerID, id crowd.BatchID, n uint32, at time.Time) error
}
