package dafs

import (
	"math"
	"testing"

	"github.com/throng-dev/throng/internal/repro/experiment"
)

// Of a mean of Table 3 whose scenarios are not those of comp.csv nothing but ours has an interval,
// so that DAFS's 0.943 differs from a policy that completes everything, although a completion is 1
// at most.
func TestTable3HasOnlyIntervalsOfItsOwnSample(t *testing.T) {
	t.Parallel()
	for policy, known := range map[string]bool{"EDF": true, "FS": true, "SDAFS": false, "DAFS": false} {
		for i, m := range main4 {
			f := inTable3(policy, i)
			if f.Value != table3[policy].main[i] || f.Unit != tableUnit {
				t.Errorf("%s, %s: %+v", policy, m.name, f)
			}
			switch {
			case tableKinds[i] == experiment.Median && math.Abs(f.Own-boxes[policy].figures[m.place].figure(table3[policy].scenarios).Own) > 1e-12,
				tableKinds[i] == experiment.Mean && (f.Own > 0) != known:
				t.Errorf("%s, %s: ± %g", policy, m.name, f.Own)
			}
			// If it is known, the sample is the published one's: all digits agree with that of the program.
			if file := fileOf("comp.csv", policy); tableKinds[i] == experiment.Mean && known && math.Abs(file.figures[m.place].mean-f.Value) > 0.01 {
				t.Errorf("%s, %s: %g, and %g in comp.csv", policy, m.name, f.Value, file.figures[m.place].mean)
			}
		}
	}
	everything := experiment.NewRow("DAFS", meanBest.name, "ratio", experiment.Estimate{Value: 0.9994, Low: 0.9992, High: 0.9996}).Repeated(experiment.Mean, 49)
	if r := everything.Against(inTable3("DAFS", 2), sourceTable3, "why"); r.Verdict != experiment.Differs {
		t.Errorf("0.9994 against 0.943: %s", r.Verdict)
	}
}
