package label

import (
	"math"
	"testing"
)

// The figures are those of Toloka's crowd-kit on the same files, with ties shared here;
// incremental EM is the mean of five random orders in the experiment, one order here.
func TestOtherMethodsOnPublicData(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct{ wawa, oneCoin, incremental float64 }{
		"bluebird": {.759, .583, .896},
		"dog":      {.829, .830, .837},
		"music":    {.797, .793, .751},
		"product":  {.897, .908, .935},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := readPool(t, name)
			wawa, _ := fit(t, Wawa{}, p.Dataset, nil).Accuracy(p.truth)
			coin, _ := fit(t, DefaultOneCoin(), p.Dataset, nil).Accuracy(p.truth)
			inc, _ := fit(t, DefaultIncremental(), p.Dataset, nil).Accuracy(p.truth)
			t.Logf("wawa %.4f (%.3f), onecoin %.4f (%.3f), incremental %.4f (%.3f)", wawa, want.wawa, coin, want.oneCoin, inc, want.incremental)
			if math.Abs(wawa-want.wawa) > .005 || inc < want.incremental-.02 {
				t.Errorf("wawa %.4f, want %.3f; incremental %.4f, want about %.3f", wawa, want.wawa, inc, want.incremental)
			}
		})
	}
}
