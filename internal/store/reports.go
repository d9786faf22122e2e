package store

import (
	"context"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// Report is what a worker said is wrong with a task.
type Report struct {
	Assignment crowd.AssignmentID
	Task       crowd.TaskID
	Worker     crowd.WorkerID
	WorkerName string
	BatchName  string
	At         time.Time
	Text       string // "": it has been deleted
	Reply      Reply  // of the task
}

// Reply is what a requester answers to all reports of a task.
type Reply struct {
	Task crowd.TaskID
	At   time.Time      // zero: there is none
	Text string         // "": there is none, or it has been deleted
	By   crowd.WorkerID // PutReply keeps it; 0: nobody knows
}

// Reports keeps replies to what workers said is wrong with tasks. What they said comes by
// Commit.
type Reports interface {
	// ListReports returns up to limit reports of a batch with ids of assignments above
	// after, in their order.
	ListReports(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID, after crowd.AssignmentID, limit int) ([]Report, error)
	// WorkerReports returns the latest reports of a worker, the latest first.
	WorkerReports(ctx context.Context, worker crowd.WorkerID, limit int) ([]Report, error)
	// PutReply keeps the reply to the reports of a task, in place of an earlier one. A task
	// of which there is no report with a text is NotFound.
	PutReply(ctx context.Context, tenant crowd.TenantID, r Reply) error
}
