package api_test

import (
	"testing"

	"github.com/throng-dev/throng/crowd"
)

// TestRetentionIsSeenAndSet: by the tenant's requester, who sees before what would go.
func TestRetentionIsSeenAndSet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one, many := 1, 40_000
	kept := func(kind string) int {
		for _, r := range must(w.ann.Retention(w.ctx, w.a))(t).Rules {
			if r.Kind == kind {
				return r.Days
			}
		}
		t.Fatalf("there is no %s", kind)
		return 0
	}
	p := must(w.ann.RetentionPreview(w.ctx, w.a, map[string]*int{"answers": &one, "files": nil}))(t)
	if p.Rules[0].Days != 1 || p.Rules[1].Days != 0 || kept("answers") != 0 {
		t.Errorf("the preview is %+v", p)
	}
	must(w.ann.SetRetention(w.ctx, w.a, map[string]*int{"answers": &one, "logs": &one}))(t)
	if kept("answers") != 1 || kept("files") != 0 || kept("logs") != 1 {
		t.Error("it is not set")
	}
	must(w.ann.SetRetention(w.ctx, w.a, map[string]*int{"answers": nil}))(t)
	if kept("answers") != 0 || kept("logs") != 1 {
		t.Error("it is not as the operator says again")
	}
	for _, days := range []map[string]*int{{"answers": &many}, {"money": &one}} {
		_, err := w.ann.SetRetention(w.ctx, w.a, days)
		refused(t, err, crowd.Invalid)
		_, err = w.ann.RetentionPreview(w.ctx, w.a, days)
		refused(t, err, crowd.Invalid)
	}
	_, err := w.bob.SetRetention(w.ctx, w.a, map[string]*int{"answers": &one})
	refused(t, err, crowd.NotFound)
	if kept("answers") != 0 {
		t.Error("what is refused changes something")
	}
}
