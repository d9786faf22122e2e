package limits_test

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/server/limits"
)

// TestAQuotaTakesAllOrNothing: portions are taken together or not at all, come back with
// time or when they are given back, and a key that is forgotten has all of its limit.
func TestAQuotaTakesAllOrNothing(t *testing.T) {
	var q limits.Quota[string]
	now := time.Unix(1_800_000_000, 0)
	portion := func(key string, n, burst int) limits.Portion[string] {
		return limits.Portion[string]{Key: key, N: n, Limit: limits.Limit{Burst: burst, Every: time.Second}}
	}
	take := func(what string, wait time.Duration, portions ...limits.Portion[string]) {
		t.Helper()
		taken, enough := q.Take(now, portions...)
		if taken != (wait == 0) || wait != 0 && !enough.Equal(now.Add(wait)) {
			t.Errorf("%s: taken %t, enough at %s (now %s), want to wait %s", what, taken, enough, now, wait)
		}
	}
	take("the whole burst", 0, portion("a", 3, 3))
	take("one more", time.Second, portion("a", 1, 3))
	take("one of another, and one of a that is not there", time.Second, portion("b", 1, 1), portion("a", 1, 3))
	take("the other was not taken", 0, portion("b", 1, 1))
	take("both", 2*time.Second, portion("b", 1, 1), portion("a", 2, 3))
	now = now.Add(time.Second)
	take("one is back", 0, portion("a", 1, 3))
	take("and no more", time.Second, portion("a", 1, 3))
	q.GiveBack(portion("a", 1, 3), portion("nobody's", 1, 3))
	take("it is given back", 0, portion("a", 1, 3))
	take("the whole burst is not", 3*time.Second, portion("a", 3, 3))
	q.Forget("a")
	take("it is forgotten", 0, portion("a", 3, 3))
}

// TestWhatIsLeftOfAQuota is looked at without taking any.
func TestWhatIsLeftOfAQuota(t *testing.T) {
	var q limits.Quota[string]
	now := time.Unix(1_800_000_000, 0)
	one := limits.Portion[string]{Key: "a", N: 1, Limit: limits.Limit{Burst: 2, Every: time.Second}}
	for taken := range 3 {
		left, enough := q.Left(now, one)
		if left != (taken < 2) || !left && !enough.Equal(now.Add(time.Second)) {
			t.Errorf("with %d of 2 taken: left %t, from %s on (now %s)", taken, left, enough, now)
		}
		q.Take(now, one)
	}
	now = now.Add(time.Second)
	if left, _ := q.Left(now, one); !left {
		t.Error("what has come back is not left")
	}
}
