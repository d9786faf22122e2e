package instant_test

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/kit/instant"
)

// TestEqualInstants: of equal instants the first is returned, with its location.
func TestEqualInstants(t *testing.T) {
	at := time.Unix(1_000, 0)
	a, b, after := at.UTC(), at.In(time.FixedZone("", 3600)), at.Add(1)
	for _, x := range []struct{ a, b, later, earlier time.Time }{
		{a, after, after, a}, {after, a, after, a}, {a, b, a, a}, {b, a, b, b}, {time.Time{}, a, a, time.Time{}},
	} {
		if later, earlier := instant.Later(x.a, x.b), instant.Earlier(x.a, x.b); later != x.later || earlier != x.earlier {
			t.Errorf("%s and %s: later %s, earlier %s", x.a, x.b, later, earlier)
		}
	}
}
