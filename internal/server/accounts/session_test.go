package accounts

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/server/access"
)

// TestWhatWasReadBeforeAChangeIsNotKept: a principal that was read from the store while
// something about people changed may be as it was before.
func TestWhatWasReadBeforeAChangeIsNotKept(t *testing.T) {
	t.Parallel()
	var c sessionCache
	now := time.Unix(1000, 0)
	x := cachedPrincipal{principal: new(access.Principal), until: now.Add(mayPass)}
	for _, changed := range []bool{false, true, false} {
		_, clears := c.get("hash", now)
		if changed {
			c.clear()
		}
		c.put("hash", x, clears)
		if kept, _ := c.get("hash", now); (kept.principal == nil) != changed {
			t.Errorf("changed meanwhile (%t), %v is kept", changed, kept.principal)
		}
	}
	if late, _ := c.get("hash", x.until); late.principal != nil {
		t.Error("it is kept for longer than it may be")
	}
}
