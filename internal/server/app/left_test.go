package app_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/work"
)

// TestWhoHasLeftIsNotBroughtBack: a program that goes on to ask does not bring its worker back who
// has gone off duty meanwhile, whether the pool records who is on duty or not; a program that
// begins does, and so do they themselves.
func TestWhoHasLeftIsNotBroughtBack(t *testing.T) {
	t.Parallel()
	for name, gated := range map[string]bool{"open": false, "gated": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 2)
			w.launch(9)
			if gated {
				w.gated(1, 2)
			}
			ann, bob := w.workers[0], w.workers[1]
			goesOn := func(p *access.Principal, want crowd.Code) {
				t.Helper()
				task, err := w.Work.NextUnlessLeft(w.ctx, p, 0)
				if crowd.CodeOf(err) != want || (task == nil) != (want != "") {
					t.Fatalf("they get %v, %v", task, err)
				}
				if on := w.duty(p).On; on != (want == "") {
					t.Fatalf("then they are on duty: %t", on)
				}
			}
			leave := func(p *access.Principal) { t.Helper(); must(w.Duty.End(w.ctx, p))(t) }
			goesOn(bob, "") // who was never here has not left

			held := must(w.Work.Next(w.ctx, ann, 0))(t)
			leave(ann)
			if w.duty(ann).Leaves == "" {
				t.Fatal("who holds a task does not finish it")
			}
			goesOn(ann, "") // the one that they hold
			_, next, err := w.Work.Submit(w.ctx, ann, held.Assignment, json.RawMessage(`"yes"`), true, 0)
			if err != nil || next != nil {
				t.Fatalf("the next task is %v, %v", next, err)
			}
			goesOn(ann, crowd.OffDuty)
			// The answer once more, after the reply was lost.
			if _, next, err = w.Work.Submit(w.ctx, ann, held.Assignment, json.RawMessage(`"yes"`), true, 0); err != nil || next != nil {
				t.Errorf("to a repeated answer comes %v, %v", next, err)
			}
			goesOn(ann, crowd.OffDuty)
			must(w.Duty.Start(w.ctx, ann))(t)
			goesOn(ann, "")
			held = must(w.Work.Next(w.ctx, ann, 0))(t)
			leave(ann)
			ok(t, w.Work.Return(w.ctx, ann, held.Assignment))
			goesOn(ann, crowd.OffDuty)
			if gated { // else it is not known after a restart
				w.reopen()
				goesOn(ann, crowd.OffDuty)
			}
			leave(ann) // once more
			goesOn(ann, crowd.OffDuty)
			if must(w.Work.Next(w.ctx, ann, 0))(t) == nil {
				t.Error("who asks anew gets nothing")
			}
			goesOn(ann, "")
		})
	}
}

// TestWhoLeavesWhileTheyWait: their request ends at once, and the next one of the same program does
// not bring them back.
func TestWhoLeavesWhileTheyWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	ann := w.workers[0]
	waited := make(chan *work.HeldTask)
	go func() {
		defer close(waited)
		if task, err := w.Work.Next(w.ctx, ann, time.Minute); task != nil || err != nil {
			t.Errorf("they get %v, %v", task, err)
		}
	}()
	w.until(func() bool { return w.duty(ann).Waiting })
	must(w.Duty.End(w.ctx, ann))(t)
	<-waited
	if _, err := w.Work.NextUnlessLeft(w.ctx, ann, 0); crowd.CodeOf(err) != crowd.OffDuty {
		t.Errorf("then: %v", err)
	}
}
