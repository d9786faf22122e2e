package batches

import (
	"context"
	"fmt"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/store"
)

// MaxComment is how many bytes the comment has at most with which an answer is sent back.
const MaxComment = store.MaxComment

var errNoTask = crowd.Fieldf("task", "tasks are numbered from 1")

// SentBack says which answer is sent back, and how.
type SentBack struct {
	Task      uint32 // its number
	Worker    string // who gave the answer, as pseudonym.Reader.Find takes them
	Comment   string // which whoever gets the task from then on is told, in place of what they were told before
	AddBudget bool   // what the budget lacks for asking again is reserved from the tenant's account
}

// WouldSendBack returns what SendBack would come to.
func (s *Batches) WouldSendBack(ctx context.Context, p *access.Principal, id crowd.BatchID, task uint32, worker string) (Disregarded, error) {
	if task == 0 {
		return Disregarded{}, errNoTask
	}
	return s.wouldDisregard(ctx, p, access.BatchesWouldSendBack, id, disregardOrder{worker: worker, task: task})
}

// SendBack disregards one answer, and asks the task again, with a comment: see Disregard. An answer that was
// disregarded before is refused, as the comment would not be told. Nobody sends an answer back to a task that they answered themselves.
func (s *Batches) SendBack(ctx context.Context, p *access.Principal, id crowd.BatchID, x SentBack) (Disregarded, error) {
	if err := p.May(access.BatchesSendBack); err != nil {
		return Disregarded{}, err
	}
	comment := strings.TrimSpace(x.Comment)
	switch {
	case x.Task == 0:
		return Disregarded{}, errNoTask
	case comment == "":
		return Disregarded{}, crowd.Fieldf("comment", "is missing: say what whoever gets the task next has to look at")
	}
	if err := format.ValidText("comment", comment, MaxComment); err != nil {
		return Disregarded{}, err
	}
	d, err := s.disregard(ctx, p, access.BatchesSendBack, id, disregardOrder{worker: x.Worker, task: x.Task, note: comment, addBudget: x.AddBudget})
	if err == nil && d.Answers == 0 {
		err = crowd.Errorf(crowd.Conflict, "the answer counts no more already, and whoever gets task %d is told what they were told: your comment is not kept", x.Task)
	}
	return d, err
}

// findAnswer has only the answer looked at that the worker gave to the task of the order.
func (d *disregarding) findAnswer(ctx context.Context) error {
	none := &crowd.Error{Code: crowd.NotFound, Field: "task", Message: fmt.Sprintf("%s has given task %d no answer that counts", d.by.Pseudonym, d.order.task)}
	if d.order.task > crowd.MaxInBatch {
		return none
	}
	given, err := d.results.Given(ctx, &d.batch, d.batch.Spec.ID.Task(d.order.task))
	if err != nil {
		return err
	}
	for _, a := range given {
		if a.Worker == d.p.User.ID && a.State.Answered() {
			return crowd.Errorf(crowd.Forbidden, "you answered task %d yourself: somebody else has to send answers to it back", d.order.task)
		}
		if a.Worker == d.worker && (a.Counted || !a.DisregardedAt.IsZero()) {
			d.after, d.last = a.Assignment.N()-1, a.Assignment.N()
		}
	}
	if d.last == 0 {
		return none
	}
	return nil
}
