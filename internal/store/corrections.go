package store

import (
	"context"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// Correction is what somebody says that the label of a task is, whatever was answered, or that
// no correction of it holds any longer. The last one of a task holds.
type Correction struct {
	Task      crowd.TaskID
	N         uint32 // among those of the task, from 1
	At        time.Time
	By        crowd.WorkerID
	ByName    string // "": nobody knows them any more
	Value     string // the label; "" if Withdrawn
	Withdrawn bool
	Note      string // "": there is none, or it has been deleted
	// Review is the task of a batch of reviews that it is from; 0: it is from staff.
	Review crowd.TaskID
}

// MaxCorrections is how many corrections of a task are kept at most.
const MaxCorrections = 100

// Corrections keeps what people say that labels are.
type Corrections interface {
	// ListCorrections returns the corrections of a task, the latest first.
	ListCorrections(ctx context.Context, tenant crowd.TenantID, id crowd.TaskID) ([]Correction, error)
	// PutCorrection keeps a correction of a task of the tenant's, and returns it with its number. The same
	// one of the same person as holds already, or a withdrawal where none holds, is not kept
	// again: what there is is returned, with number 0 where there is none. A task that is not
	// there, or was taken out, is NotFound.
	PutCorrection(ctx context.Context, tenant crowd.TenantID, c Correction) (Correction, error)
}
