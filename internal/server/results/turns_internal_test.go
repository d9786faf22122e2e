package results

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/throng-dev/throng/crowd"
)

// TestOneTenantLeavesTurnsToOthers: of what takes long a tenant has half at a time, whatever it asks for, and who
// goes leaves no turn taken.
func TestOneTenantLeavesTurnsToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns(1)
		var began []crowd.TenantID
		begin := func(ctx context.Context, tenant crowd.TenantID) {
			go func() {
				if turns.take(ctx, tenant) == nil {
					began = append(began, tenant)
				}
			}()
			synctest.Wait()
		}
		want := func(list ...crowd.TenantID) {
			t.Helper()
			if len(began) != len(list) || began[len(list)-1] != list[len(list)-1] {
				t.Fatalf("turns of %v, want %v", began, list)
			}
		}
		gone, cancel := context.WithCancel(t.Context())
		begin(t.Context(), 1)
		begin(t.Context(), 1) // waits for the first
		begin(gone, 1)
		want(1)
		begin(t.Context(), 2)
		want(1, 2)
		begin(t.Context(), 3) // all turns are taken
		want(1, 2)
		cancel()
		synctest.Wait()
		turns.giveBack(1)
		synctest.Wait()
		want(1, 2, 1)
		turns.giveBack(1)
		synctest.Wait()
		want(1, 2, 1, 3)
		turns.giveBack(2)
		turns.giveBack(3)
		if turns.all != 0 || len(turns.of)+len(turns.waiting) != 0 {
			t.Errorf("left: %+v", turns)
		}
	})
}
