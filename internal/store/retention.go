package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// Retained names what tenants keep for as long as they wish.
type Retained string

// What tenants keep so.
const (
	RetainedAnswers Retained = "answers"
	RetainedFiles   Retained = "files"
	RetainedLogs    Retained = "logs"
)

// RetainedInfo says what is deleted once its time is over.
type RetainedInfo struct {
	Kind  Retained
	Since string // from when on its days count
	Goes  string
	Stays string
}

// retained is all that tenants keep so. docs/people-data.md has the same table.
var retained = []RetainedInfo{
	{RetainedAnswers, "the end of the batch, or of its run", "what workers answered, what they said is wrong with tasks, the replies, the comments with which labels were sent back, and what was said about held pay", "who answered what task when and what they were paid, whether it counted; the labels that tasks were given as answers came in; all counts"},
	{RetainedFiles, "the end of the batch, or of its run", "cells and known answers of the tasks that were uploaded; rows of runs, inputs and results; errors of items that a run held", "names of columns, templates and workflows; which tasks and items there were, and what became of them; labels of batches, those of runs among them"},
	{RetainedLogs, "the entry", "the address in the tenant's entries of the audit log, and what was before and after", "who did what to what thing when; the chain, which verifies"},
}

// AllRetained lists what tenants keep for as long as they wish.
func AllRetained() []RetainedInfo { return slices.Clone(retained) }

// ParseRetained returns what has a name.
func ParseRetained(field, name string) (Retained, error) {
	var names []string
	for _, r := range retained {
		if string(r.Kind) == name {
			return r.Kind, nil
		}
		names = append(names, string(r.Kind))
	}
	return "", crowd.Fieldf(field, "%q is none of %s", name, strings.Join(names, ", "))
}

// Expiring is a batch or a run that has ended, of which something is kept.
type Expiring struct {
	Kind     Retained
	Batch    crowd.BatchID // 0: it is a run
	Run      crowd.RunID
	Name     string
	EndedAt  time.Time
	NeededBy crowd.RunID // a run that has not ended, and takes over its rows; 0: none
}

// Deletion is that the time of something is over.
type Deletion struct {
	Kind   Retained
	Tenant crowd.TenantID
	Batch  crowd.BatchID // 0: all of Run, or of RetainedLogs
	Run    crowd.RunID
	At     time.Time
	Before time.Time // of RetainedLogs, entries of before this
}

// RetentionDeleted is the operation of entries of the audit log that tell of deletions.
const RetentionDeleted = "Retention.Delete"

// Retention keeps for how long tenants keep what, and deletes what has been kept for as
// long. Answers are deleted, files and entries of logs are emptied: numbers, ledger, labels
// and counts stay.
type Retention interface {
	// SetRetention sets for how many days a tenant keeps something (0: for ever); nil: as
	// long as the operator says.
	SetRetention(ctx context.Context, tenant crowd.TenantID, days map[Retained]*int) error
	// RetentionSet returns what tenants have set.
	RetentionSet(ctx context.Context) (map[crowd.TenantID]map[Retained]int, error)
	// Expiring lists a tenant's batches that are of no run, and its runs, that ended up to a
	// time, and of which something of a kind is kept, those that ended first at the front.
	// Those that are needed come after all others, which a limit cuts off last.
	Expiring(ctx context.Context, tenant crowd.TenantID, kind Retained, until time.Time, limit int) ([]Expiring, error)
	// BeginDeletion keeps that something is deleted: from then on it is not shown any more.
	// What has not ended, is needed, or has been begun, is a Conflict, and so are logs of
	// which there is nothing to delete.
	BeginDeletion(ctx context.Context, d Deletion) error
	// DeleteSome goes on with the deletion that was begun first, by at most as many rows,
	// and reports whether there are more.
	DeleteSome(ctx context.Context, now time.Time, limit int) (more bool, err error)
	// Unscrubbed returns when the first rows were deleted, or the first erasure in the state
	// ErasureRows was asked for, that are still in the files of the database, until Scrub; zero:
	// there are none. If secrets were sealed anew and what they
	// were before is in the files, that is a moment of long ago.
	Unscrubbed(ctx context.Context) (time.Time, error)
}
