package sla_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/sla"
)

// The worlds of the property tests are small: their unit of time is one
// nanosecond, so that every instant of a run can be looked at.

var epoch = time.Date(2011, 12, 12, 0, 0, 0, 0, time.UTC)

func at(n int64) time.Time { return epoch.Add(time.Duration(n)) }

// penalties draws valid penalties whose kinks lie within the first hundred
// nanoseconds or so; now and then none.
func penalties(t *rapid.T, kinds ...sla.Kind) *sla.Penalty {
	p := &sla.Penalty{
		Kind:  rapid.SampledFrom(kinds).Draw(t, "kind"),
		After: time.Duration(rapid.Int64Range(0, 60).Draw(t, "after")),
		Cost:  crowd.Money(rapid.Int64Range(1, 40).Draw(t, "cost")),
	}
	if p.Kind != sla.Constant {
		p.Every = time.Duration(rapid.Int64Range(1, 12).Draw(t, "every"))
	}
	if rapid.Bool().Draw(t, "capped") {
		p.AtMost = crowd.Money(rapid.Int64Range(1, 300).Draw(t, "at most"))
	}
	if err := p.Validate(); err != nil {
		t.Fatalf("drew %s, which is not valid: %v", p, err)
	}
	return p
}

// requests draws a request of a process that began within the first hundred
// nanoseconds.
func requests(t *rapid.T, id int64, kinds ...sla.Kind) sla.Request {
	r := sla.Request{
		ID:      id,
		Since:   at(rapid.Int64Range(0, 50).Draw(t, "since")),
		Start:   at(rapid.Int64Range(-50, 50).Draw(t, "start")),
		Tail:    time.Duration(rapid.Int64Range(0, 40).Draw(t, "tail")),
		Penalty: penalties(t, kinds...),
	}
	if rapid.Bool().Draw(t, "bounded") {
		r.Bound = at(rapid.Int64Range(0, 200).Draw(t, "bound"))
	}
	return r
}

// looked fails the test at its end unless it looked at least so often.
func looked(t *testing.T, n *int, least int) {
	t.Helper()
	if testing.Short() {
		least /= 5 // so many fewer worlds are drawn
	}
	t.Cleanup(func() {
		if *n < least && !t.Failed() {
			t.Errorf("looked %d times only, want at least %d", *n, least)
		}
	})
}
