package orchestrator_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/store"
)

// TestTheCallerOfParseHasGone: that is an error, and nothing wrong with the workflow, for which
// a run would be given up.
func TestTheCallerOfParseHasGone(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, problems, err := orchestrator.Parse(gone, everyKind, map[string][]string{"items": {"id", "word"}}, time.Time{}); len(problems) > 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("the problems are %v, and the error is %v", problems, err)
	}
	w := newWorld(t)
	id := w.load(orchestrator.NewRun{Text: everyKind}, map[string]string{"items": "id,word\n1,a\n"})
	queries := 0
	ctx := &watched{Context: w.ctx, query: func() error {
		if queries++; queries > 1 {
			return context.Canceled
		}
		return nil
	}}
	if err := w.o.Start(ctx, id); !errors.Is(err, context.Canceled) || queries < 2 {
		t.Errorf("the start of a run whose caller went at query %d fails with %v", queries, err)
	}
	w.wantState(id, store.RunLoading)
	must(t, w.o.Start(w.ctx, id))
}

// watched is a context that is asked by each query that is checked whether it is done. One
// goroutine checks queries; others ask, too, as those that wait for rows.
type watched struct {
	context.Context
	query func() error
	done  atomic.Pointer[error]
}

func (w *watched) Err() error {
	var callers [8]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers[:])])
	for {
		frame, more := frames.Next()
		if strings.HasSuffix(frame.Function, "sqlstep.Check") && w.done.Load() == nil {
			if err := w.query(); err != nil {
				w.done.Store(&err)
			}
		}
		if !more {
			break
		}
	}
	if done := w.done.Load(); done != nil {
		return *done
	}
	return w.Context.Err()
}

// TestAStartReadsItsFileUnlocked: while the queries of a run that starts are checked, the
// orchestrator is not locked; and if an input comes meanwhile, the file is read again.
func TestAStartReadsItsFileUnlocked(t *testing.T) {
	w := newWorld(t)
	text := strings.Replace(everyKind, "word]}}", "word], open: true}}", 1)
	made, err := w.o.Create(w.ctx, orchestrator.NewRun{Tenant: w.tenant, Text: text})
	must(t, err)
	id, queries := made.Run.ID, 0
	ctx := &watched{Context: w.ctx, query: func() error {
		if queries++; w.o.Locked() {
			t.Error("the orchestrator is locked while a query is checked")
		} else if queries == 1 {
			_, err := w.o.Load(w.ctx, id, "items", csv(t, "id,word,more\n1,a,x\n"))
			must(t, err)
		}
		return nil
	}}
	must(t, w.o.Start(ctx, id))
	if queries < 2 {
		t.Fatalf("%d queries were checked", queries)
	}
	if n := w.node(id, "items"); n.Last != 1 || len(n.Columns) != 3 {
		t.Errorf("the input has %d rows with the columns %v", n.Last, n.Columns)
	}
	must(t, w.o.SealInputs(w.ctx, id, "items"))
	w.play()
	w.wantState(id, store.RunDone)
}
