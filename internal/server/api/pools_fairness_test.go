package api_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/wire"
)

// TestFairnessOverHTTP: an administrator sees how people are spread and the queue with
// its reasons, a requester what is theirs and the place of their batch, a worker nothing.
func TestFairnessOverHTTP(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.close()
		ok(t, w.app.Control.Step(w.ctx))
		launch := func(c *client.Client, name string) crowd.BatchID {
			d := definition()
			d.Name, d.LeaseSeconds = name, 600
			id := must(c.CreateBatch(w.ctx, d))(t).ID
			must(c.Upload(w.ctx, id, strings.NewReader("thing\ncat\ndog\ncow\n"), "", false))(t)
			return must(c.Launch(w.ctx, id, false))(t).ID
		}
		first, other := launch(w.ann, "things"), launch(w.bob, "others")
		w.next(w.workers[0])
		for range 8 {
			<-time.After(10 * time.Second)
			ok(t, w.app.Control.Step(w.ctx))
		}
		q := must(w.admin.PoolQueue(w.ctx, 1, 10))(t)
		if q.Placed != 2 || q.All != 2 || len(q.Batches) != 2 || q.Batches[0].Batch != other || q.Batches[0].Place != 1 || q.Batches[0].TenantName != "bees" || q.Batches[0].Name != "others" || !strings.Contains(q.Batches[0].Why, "least tenant share first") || len(q.Batches[0].Decides) != 3 || q.Batches[0].Decides[0].Figures[0].Name != "tenant_running" {
			t.Errorf("the queue is %+v", q)
		}
		if q := must(w.admin.PoolQueue(w.ctx, 1, 1))(t); len(q.Batches) != 1 || q.All != 2 {
			t.Errorf("one of the queue is %+v", q)
		}
		f := must(w.admin.PoolFairness(w.ctx, 1, time.Hour, 10))(t)
		if f.Now == nil || *f.Now.Jain != 0.5 || f.Now.JInf != nil || *f.Now.Among != 0.5 || *f.Mean.Jain != 0.5 || *f.Had.Jain != 0.5 || f.Had.JInf != nil || *f.HadEver.Jain != 0.5 || f.Since.IsZero() {
			t.Errorf("the indexes are %+v", f)
		}
		if f.Verdict != "uneven" || f.Least == nil || f.Least.Name != "bees" || f.Had.LeftOut != 0 {
			t.Errorf("the verdict is %q, least %+v, %d left out", f.Verdict, f.Least, f.Had.LeftOut)
		}
		if len(f.Tenants) != 2 || f.Tenants[0].Name != "ants" || f.Tenants[0].Share != 1 || f.Tenants[0].DueShare > 0.51 || *f.Tenants[0].WorkedSeconds < 79 || len(f.Batches) != 2 || f.Batches[0].Batch != first || len(f.Points) != 2 {
			t.Errorf("tenants %+v, batches %+v, %d points", f.Tenants, f.Batches, len(f.Points))
		}
		own := must(w.bob.PoolFairness(w.ctx, 1, time.Hour, 10))(t)
		if own.Now != nil || own.Mean != nil || own.Had != nil || own.HadEver != nil || own.Verdict != "" || own.Least != nil || len(own.Tenants) != 1 || own.Tenants[0].Tenant != w.b || own.Tenants[0].Share != 0 || own.Tenants[0].WorkedSeconds != nil || own.Batches[0].DueSeconds != nil || len(own.Batches) != 1 || own.Batches[0].Batch != other {
			t.Errorf("bob sees %+v", own)
		}
		for _, p := range own.Points {
			if p.Jain != nil || p.JInf != nil || p.Among != nil || len(p.Tenants) != 1 || len(p.Batches) != 1 || p.Tenants[0].WorkedSeconds != nil {
				t.Errorf("bob sees the point %+v", p)
			}
		}
		for who, want := range map[*client.Client]wire.QueuePlace{w.ann: {Place: 2, Of: 2}, w.bob: {Place: 1, Of: 2}} {
			id := map[*client.Client]crowd.BatchID{w.ann: first, w.bob: other}[who]
			if b := must(who.Batch(w.ctx, id))(t); b.Queue == nil || *b.Queue != want {
				t.Errorf("%s has the place %+v, want %+v", id, b.Queue, want)
			}
		}
		must(w.bob.Move(w.ctx, other, "pause"))(t)
		if b := must(w.bob.Batch(w.ctx, other))(t); b.Queue != nil {
			t.Errorf("a paused batch has the place %+v", b.Queue)
		}
		q = must(w.admin.PoolQueue(w.ctx, 1, 10))(t)
		if last := q.Batches[1]; last.Place != 0 || *last.Reason != crowd.BatchPaused || last.Why != crowd.BatchPaused.Text() || q.Placed != 1 {
			t.Errorf("the queue ends with %+v", last)
		}
		for _, c := range []*client.Client{w.ann, w.workers[0]} {
			_, err := c.PoolQueue(w.ctx, 1, 10)
			refused(t, err, crowd.Forbidden)
		}
		_, err := w.workers[0].PoolFairness(w.ctx, 1, time.Hour, 10)
		refused(t, err, crowd.Forbidden)
		_, err = w.bob.PoolFairness(w.ctx, 9, time.Hour, 10)
		refused(t, err, crowd.NotFound)
		for _, query := range []string{"fairness?since_seconds=0", "fairness?since_seconds=86401", "fairness?since_seconds=NaN", "fairness?since_seconds=-nan", "fairness?since_seconds=Inf", "samples?since_seconds=nan", "fairness?limit=0", "queue?limit=1001", "queue?limit=x"} {
			if a := w.send(w.admin, http.MethodGet, "/v1/pools/p1/"+query, ""); a.StatusCode != http.StatusUnprocessableEntity {
				t.Errorf("%s: status %d", query, a.StatusCode)
			}
		}
		if a := w.send(w.nobody, http.MethodGet, "/v1/pools/p1/fairness", ""); a.StatusCode != http.StatusUnauthorized {
			t.Errorf("without a token: status %d", a.StatusCode)
		}
	})
}
