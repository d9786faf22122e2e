package runs

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestALongTurnEndsWhenOthersWait: what one tenant's long queries let others wait is
// bounded, and without others they have their time.
func TestALongTurnEndsWhenOthersWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns(2, func(string) int { return 1 })
		began := time.Now()
		quiet := func(string) { t.Error("it waits") }
		first, firstDone := turns.take(t.Context(), "a", 24*time.Hour, quiet)
		waitOf := func(holder string, most time.Duration) (why string, waited time.Duration) {
			from := time.Now()
			_, done := turns.take(t.Context(), holder, most, func(s string) { why = s })
			waited = time.Since(from)
			done()
			return why, waited
		}
		// The query of another tenant, in the second place.
		if why, waited := waitOf("b", 30*time.Second); why != "" || waited != 0 {
			t.Errorf("a short one waits for %v: %s", waited, why)
		}
		// One of the same tenant changes nothing.
		own := make(chan struct{})
		go func() {
			defer close(own)
			_, done := turns.take(t.Context(), "a", time.Hour, func(why string) {
				if why != "others of this tenant are running" {
					t.Error(why)
				}
			})
			done()
		}()
		<-time.After(9 * time.Minute)
		go func() {
			<-first.Done()
			firstDone()
		}()
		why, waited := waitOf("b", 31*time.Second)
		if waited != time.Minute || !strings.Contains(why, "after 10 minutes") {
			t.Errorf("waited for %v: %s", waited, why)
		}
		if cause := context.Cause(first); !errors.Is(cause, errTurnOver) || time.Since(began) != longTurn {
			t.Errorf("ended after %v: %v", time.Since(began), cause)
		}
		<-own
		// Alone it goes on, until one of another tenant comes.
		second, secondDone := turns.take(t.Context(), "a", 24*time.Hour, quiet)
		<-time.After(5 * time.Hour)
		if second.Err() != nil {
			t.Error("ended without others")
		}
		go func() {
			<-second.Done()
			secondDone()
		}()
		if _, waited := waitOf("b", time.Hour); waited != 0 {
			t.Errorf("waited for %v for one that had its time", waited)
		}
	})
}
