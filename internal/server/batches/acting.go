package batches

import (
	"context"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/store"
)

// told is what the audit log says of a batch before and after a command.
type told struct {
	State  crowd.BatchState
	Tasks  int
	Budget crowd.Money // reserved and spent
	RunningSettings
}

// acting is for a change of a batch.
func (s *Batches) acting(ctx context.Context, p *access.Principal, o access.Operation, b *store.Batch) (context.Context, *store.Act) {
	return p.Acting(ctx, o, store.AuditEntry{At: s.clock.Time(), Tenant: b.Spec.Tenant, Kind: "batch", Object: b.Spec.ID.String()})
}

// tell runs a command, and tells what it has made of the batch. Of settings, the command
// itself tells what it sets.
func (v *BatchView) tell(act *store.Act, e *engine.Engine, command func() error) error {
	v.read(e)
	before := v.told()
	if err := command(); err != nil {
		return err
	}
	after := before
	if now, known := e.Status(v.Spec.ID); known {
		after.State, after.Tasks, after.Budget = now.Progress.State, now.Progress.Wanted(), now.Progress.Escrow+now.Progress.Spent
	} else {
		after.State = "over"
	}
	if set, is := act.After.(RunningSettings); is {
		after.RunningSettings = set
	}
	v.Added = after.Budget - before.Budget
	act.Before, act.After = before, after
	return nil
}

func (v *BatchView) told() told {
	x := &v.Progress
	return told{x.State, x.Wanted(), x.Escrow + x.Spent, v.RunningSettings()}
}

// stepDraft is the error of what is not for people to do with the batch of a step that
// has not begun.
func stepDraft(b *store.Batch) error {
	return crowd.Errorf(crowd.Conflict, "%s is of a step of %s, which launches it: throng workflow show %s", b.Spec.ID, b.Run, b.Run)
}

// notOpen is the error of what only a batch that has been launched, and has not
// ended, can do.
func notOpen(b store.Batch) error {
	switch {
	case b.Progress.State != crowd.BatchDraft:
	case b.Run != 0:
		return stepDraft(&b)
	case b.Spec.ReviewOf != 0:
		return reviewsDrafted(&b)
	default:
		return crowd.Errorf(crowd.Conflict, "%s is a draft: launch it first", b.Spec.ID)
	}
	return crowd.Errorf(crowd.Conflict, "%s is %s", b.Spec.ID, b.Progress.State)
}
