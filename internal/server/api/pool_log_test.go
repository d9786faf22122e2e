package api_test

import "testing"

// TestAdviceOnly: what a pool would do is logged, and not done.
func TestAdviceOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.set(`{"retainer": {"called": true}, "control": {"min": 1, "advise": true}}`)
	w.step()
	list := must(w.admin.PoolActions(w.ctx, main, 0, 1))(t)
	if len(list) != 1 || list[0].Kind != "recruit" || !list[0].Advice || list[0].N != 1 {
		t.Errorf("the log: %+v", list)
	}
	if calls := must(w.admin.PoolCalls(w.ctx, main))(t); len(calls) != 0 {
		t.Errorf("people are called: %+v", calls)
	}
	if p := must(w.admin.Pools(w.ctx))(t)[0]; !p.Advises || p.Coming != 0 || !p.Called {
		t.Errorf("the pool: %+v", p)
	}
	w.set(`{"control": {"advise": false}}`)
	w.step()
	if calls := must(w.admin.PoolCalls(w.ctx, main))(t); len(calls) != 1 {
		t.Errorf("calls: %+v", calls)
	}
}
