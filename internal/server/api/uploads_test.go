package api_test

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/wire"
)

// TestUploadsHoldLittle: an upload of long rows keeps them as they come, a tenant has so
// many uploads at a time, and one of which nothing comes is cut off.
func TestUploadsHoldLittle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		type upload struct {
			to   *io.PipeWriter
			done chan error
		}
		begin := func() (crowd.BatchID, upload) {
			b := must(w.ann.CreateBatch(w.ctx, definition()))(t).ID
			from, to := io.Pipe()
			u := upload{to, make(chan error, 1)}
			go func() {
				_, err := w.ann.Upload(w.ctx, b, from, "csv", false)
				_ = from.CloseWithError(io.ErrClosedPipe)
				u.done <- err
			}()
			return b, u
		}
		row := strings.Repeat("x", 1_000_000) + "\n"
		first, long := begin()
		must(io.WriteString(long.to, "thing\n"+strings.Repeat(row, 12)))(t)
		synctest.Wait()
		if kept := must(w.ann.Batch(w.ctx, first))(t).Tasks; kept < 5 {
			t.Errorf("of 12 rows with 1 MB each %d are kept", kept)
		}
		list := []upload{long}
		for range 3 {
			_, u := begin()
			must(io.WriteString(u.to, "thing\n"))(t)
			list = append(list, u)
		}
		synctest.Wait()
		more := must(w.ann.CreateBatch(w.ctx, definition()))(t).ID
		_, err := w.ann.Upload(w.ctx, more, strings.NewReader("thing\na\n"), "csv", false)
		refused(t, err, crowd.TooMany)
		theirs := must(w.bob.CreateBatch(w.ctx, definition()))(t).ID
		must(w.bob.Upload(w.ctx, theirs, strings.NewReader("thing\na\n"), "csv", false))(t)

		<-time.After(time.Minute)
		for _, u := range list {
			err := <-u.done
			refused(t, err, crowd.Invalid)
			if err != nil && !strings.Contains(err.Error(), "cut off") {
				t.Errorf("the upload ends with %v", err)
			}
		}
		must(w.ann.Upload(w.ctx, more, strings.NewReader("thing\na\n"), "csv", false))(t)
		if kept := must(w.ann.Batch(w.ctx, first))(t).Tasks; kept != 0 {
			t.Errorf("of the upload that was cut off %d tasks are left", kept)
		}
	})
}

// TestAnInputOfWhichNothingComes is cut off.
func TestAnInputOfWhichNothingComes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		made := must(w.ann.MakeRun(w.ctx, wire.NewRun{Workflow: "workflow: w\ninputs: {items: {}}\nsteps:\n  one: {from: items, sql: select id from items}\n"}))(t)
		from, to := io.Pipe()
		go func() { _, _ = io.WriteString(to, "id\n1\n") }()
		_, err := w.ann.LoadRun(w.ctx, made.ID, "items", from, "csv")
		refused(t, err, crowd.Invalid)
		_ = to.Close()
	})
}
