package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/wire"
)

// TestFairnessInWords: the verdict, and how many tenants are too small for a figure.
func TestFairnessInWords(t *testing.T) {
	t.Parallel()
	index := 0.9
	f := wire.PoolFairness{Policy: "fifo", Since: time.Unix(0, 0), Now: &wire.FairnessIndex{}, Mean: &wire.FairnessIndex{},
		Had: &wire.HadIndex{Jain: &index, LeftOut: 1}, HadEver: &wire.HadIndex{Jain: &index}, Verdict: "uneven",
		Least: &wire.TenantPortion{Name: "bees", Portion: wire.Portion{Share: 0.1, DueShare: 0.3}}}
	shows := func(want string) {
		t.Helper()
		var b strings.Builder
		if showFairness(&b, &f); !strings.Contains(b.String(), want) {
			t.Errorf("it says %s, want %q", &b, want)
		}
	}
	f.From, f.At = f.Since.Add(time.Hour), f.Since.Add(2*time.Hour)
	shows(stamp(f.From) + " to " + stamp(f.At))
	f.From = f.Since.Add(-time.Hour)
	shows(stamp(f.Since) + " to " + stamp(f.At))
	shows("without 1 tenant due less than 1 %")
	shows("bees had the least of what it was due: 10 %, where 30 % were due")
	none, part, one := 0.0, 0.25, 1.0
	shows("J∞, batches")
	f.Now.Served, f.Mean.Served, f.Mean.JInf = &none, &part, &index
	shows("now −∞, mean 0.9, some batch had nobody 75 % of the time, which is not in the mean")
	f.Now.Served, f.Now.JInf, f.Mean.Served = &one, &index, &one
	shows("now 0.9, mean 0.9\n")
	f.Verdict, f.Least = "even", nil
	shows("every tenant had what it was due, or nearly so")
	all := f
	f.Now, f.Mean, f.Had, f.HadEver = nil, nil, nil, nil // a requester's
	shows("\n\nno task of yours was worked on or waited in this time\n")
	f = all
	f.Verdict = "nobody-worked"
	shows("nobody has worked on tasks in this time")
}
