package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/wire"
)

// TestOutsideIsNotOnDuty: who finds no place in a full pool is said to be outside, and not on
// duty, as in the pool's counts.
func TestOutsideIsNotOnDuty(t *testing.T) {
	t.Parallel()
	since := time.Unix(1_800_000_000, 0)
	var status, list strings.Builder
	showDuty(&status, wire.Duty{PoolName: "main", On: true, Since: since, Waiting: true, Outside: 1, Gate: "The pool is full."})
	people(&list, []wire.PoolPerson{{Worker: 1, Name: "ann", On: true, Since: since, IdleSince: since, Waiting: true, Outside: 1}, {Worker: 2, Name: "bob", On: true, Since: since, IdleSince: since, Waiting: true}})
	outside := wire.Duty{PoolName: "main", On: true, Since: since, Waiting: true, Outside: 1, Rate: 50_000, Gate: "The pool is full.", Lent: &wire.Loan{Home: 2, HomeName: "night", Since: since}}
	for earned, want := range map[crowd.Money]string{0: "", 60_000: "earned so far by waiting inside: 0.06\n"} {
		var out strings.Builder
		outside.Earned = earned
		if showDuty(&out, outside); strings.Contains(out.String(), "pays") || !strings.HasSuffix(out.String(), "you go off duty\n"+want) {
			t.Errorf("of who has earned %s: %q", earned, &out)
		}
	}
	if want := "outside in main since " + stamp(since) + "\nThe pool is full.\n"; status.String() != want {
		t.Errorf("the status is %q, want %q", &status, want)
	}
	for _, row := range []struct{ name, duty, state string }{{"ann", "outside", "waits, number 1"}, {"bob", "on", "waits"}} {
		_, after, _ := strings.Cut(list.String(), row.name)
		after, _, _ = strings.Cut(after, "\n")
		if fields := strings.Fields(after); len(fields) == 0 || fields[0] != row.duty || !strings.HasSuffix(after, row.state) {
			t.Errorf("the row of %s goes on with %q, want %s ... %s", row.name, after, row.duty, row.state)
		}
	}
}

// TestStatusOfWhoIsLent: it says whose they are, since when, and what waiting pays.
func TestStatusOfWhoIsLent(t *testing.T) {
	t.Parallel()
	since := time.Unix(1_800_000_000, 0)
	d := wire.Duty{PoolName: "night", On: true, Since: since, Lent: &wire.Loan{Home: 1, HomeName: "main", Since: since}}
	begin := "on duty in night since " + stamp(since) + "\nlent by main since " + stamp(since) + "; you return when it has work for you, or you go off duty\n"
	for rate, want := range map[crowd.Money]string{0: "waiting pays nothing here\n", 50_000: "waiting pays 0.05 a minute; earned so far: 0.00\n"} {
		var out strings.Builder
		d.Rate = rate
		if showDuty(&out, d); out.String() != begin+want {
			t.Errorf("at %s a minute: %q, want %q", rate, &out, begin+want)
		}
	}
}
