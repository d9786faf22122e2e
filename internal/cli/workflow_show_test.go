package cli

import (
	"regexp"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/wire"
)

// TestWayOut: what is held can be given up, a step that has failed cannot.
func TestWayOut(t *testing.T) {
	t.Parallel()
	failed, held := wire.RunNode{Name: "score", State: "failed", Waiting: 3}, wire.RunNode{State: "running", Inside: 2, Held: 2}
	for want, nodes := range map[string][]wire.RunNode{
		"retry (throng workflow retry r3) or cancel (throng workflow cancel r3; then throng workflow run FILE --from-run r3 --from score goes on with what is done)": {{State: "done"}, failed},
		"retry (throng workflow retry r3) or skip (throng workflow skip r3)":                                                                                         {failed, held},
	} {
		if got := wayOut(&wire.Run{RunHead: wire.RunHead{ID: 3}, Nodes: nodes}); got != want {
			t.Errorf("%+v: %q, want %q", nodes, got, want)
		}
	}
}

// TestForeseenOfAClass: what nothing is on its way for costs nothing, also where of others
// only is known what they cost at least.
func TestForeseenOfAClass(t *testing.T) {
	t.Parallel()
	none, some := crowd.Money(0), 15*crowd.Unit
	r := wire.Run{RunHead: wire.RunHead{ID: 2, State: "running"}, PredictedMicros: &some, PredictedAtLeast: true,
		Classes: []wire.RunClass{{Class: "premium", PredictedMicros: &none}, {Class: "regular", Going: 1, PredictedMicros: &some}, {Class: "gold", Going: 1}}}
	var b strings.Builder
	showRun(&b, &r)
	for _, want := range []string{`premium +0 +0 +0\.00 +0 +0\.00`, `regular +0 +0 +0\.00 +1 +at least 15\.00`, `gold +0 +0 +0\.00 +1 +not known`} {
		if !regexp.MustCompile(`(?m)^` + want + `$`).MatchString(b.String()) {
			t.Errorf("no line %q in %s", want, &b)
		}
	}
}

// TestWhyAnEndIsNotKnown: of a run that does not go on, the line done has the reason that the
// run's page has, also while an input is open.
func TestWhyAnEndIsNotKnown(t *testing.T) {
	t.Parallel()
	why := wire.RunOutlook{Why: "review: it cannot finish: 1 may do it"}
	lacks := wire.RunNode{Name: "review", State: "running", Waiting: 1, Blocked: "it cannot finish: 1 may do it", Short: "1 may do it"}
	for want, nodes := range map[string][]wire.RunNode{
		"not known yet (" + why.Why + ")": {lacks},
		"once the input complaints is sealed (what is there: not known yet: " + why.Why + ")": {{Name: "complaints", State: "running", Open: true}, lacks},
	} {
		for _, stuck := range []bool{false, true} {
			r := wire.Run{RunHead: wire.RunHead{ID: 3, State: "running"}, Stuck: stuck, Outlook: &why, Nodes: nodes}
			var b strings.Builder
			showRun(&b, &r)
			if !regexp.MustCompile(`(?m)^done +` + regexp.QuoteMeta(want) + `$`).MatchString(b.String()) {
				t.Errorf("no line done of %q in %s", want, &b)
			}
		}
	}
}

// TestAStepThatHasEnough: its state and a line below the table say so while people still work on it.
func TestAStepThatHasEnough(t *testing.T) {
	t.Parallel()
	r := wire.Run{RunHead: wire.RunHead{ID: 3, State: "running"}, Nodes: []wire.RunNode{{Name: "kind", Kind: "crowd", State: "running", HasEnough: true, Inside: 6}}}
	var b strings.Builder
	showRun(&b, &r)
	for _, want := range []string{"kind +crowd +has enough .*", "kind: it has enough labels, and ends when those at work have finished"} {
		if !regexp.MustCompile(`(?m)^` + want + `$`).MatchString(b.String()) {
			t.Errorf("no line %q in %s", want, &b)
		}
	}
}
