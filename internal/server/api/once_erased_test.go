package api_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/repeats"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/wire"
)

// held holds the making of a batch with a name until it may go on.
type held struct {
	store.Store
	name          string
	reached, goOn chan struct{}
}

func (h *held) CreateBatch(ctx context.Context, b store.Batch) (crowd.BatchID, error) {
	id, err := h.Store.CreateBatch(ctx, b)
	if b.Name == h.name {
		close(h.reached)
		select {
		case <-h.goOn:
		case <-ctx.Done():
		}
	}
	return id, err
}

// TestNoAnswerNamesWhoWasErasedMeanwhile: an answer that is made of what somebody was called is
// not kept once they are erased, also when its request began before that and ends after it. One
// that comes later is kept.
func TestNoAnswerNamesWhoWasErasedMeanwhile(t *testing.T) {
	t.Parallel()
	h := &held{name: "Tasks of zoltan", reached: make(chan struct{}), goOn: make(chan struct{})}
	w := newWorld(t, func(s *setup) { s.wrap = func(st store.Store) store.Store { h.Store = st; return h } })
	zoltan := must(w.person(wire.NewUser{Name: "zoltan"}).Me(w.ctx))(t).ID
	batch := func(name, key string) answer {
		return w.send(w.ann, http.MethodPost, "/v1/batches", `{"name": "`+name+`", "template": `+yesOrNo+`, "reward_micros": 1}`, repeats.Header, key)
	}
	done := make(chan answer, 1)
	go func() { done <- batch(h.name, "one") }()
	select {
	case <-h.reached:
	case a := <-done:
		t.Fatalf("the batch is not made: %s", a.shown())
	}
	ok(t, w.admin.Erase(w.ctx, zoltan, wire.ErasePerson{Confirm: "zoltan"}))
	close(h.goOn)
	if a := <-done; a.StatusCode != http.StatusCreated || !strings.Contains(string(a.body), "zoltan") {
		t.Fatalf("the batch: %s", a.shown())
	}
	kept := func(key string) store.Request {
		return must(w.store.Request(w.ctx, store.RequestKey{Person: must(w.ann.Me(w.ctx))(t).ID, Key: key}))(t)
	}
	if r := kept("one"); r.Body != "" || r.Withheld != store.Erased || r.Status != http.StatusCreated {
		t.Errorf("kept is %+v", r)
	}
	if p := batch(h.name, "one").problem(t); p.Status != http.StatusConflict || !strings.Contains(p.Detail, "erased") {
		t.Errorf("again: %+v", p)
	}
	if a := batch("others", "two"); a.StatusCode != http.StatusCreated || kept("two").Body != string(a.body) || a.body == nil {
		t.Errorf("a later one is %s, kept %+v", a.shown(), kept("two"))
	}
}
