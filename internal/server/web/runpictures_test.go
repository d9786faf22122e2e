package web

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/kit/chart"
	"github.com/throng-dev/throng/internal/orchestrator"
)

// TestAgesThatHardlyDiffer: the picture of the ages of items that end within milliseconds of
// each other, soon after they began or days later, has densities that can be read.
func TestAgesThatHardlyDiffer(t *testing.T) {
	t.Parallel()
	number := regexp.MustCompile(`>([0-9][0-9,.]*)<`)
	begun := time.Date(2026, 1, 1, 8, 0, 0, 0, time.UTC)
	for _, after := range []time.Duration{0, 72 * time.Hour} {
		var h runPast
		for i := range 40 {
			h.items = append(h.items, orchestrator.EndedItem{Born: begun, At: begun.Add(after + time.Duration(i)*50*time.Nanosecond)})
		}
		svg, err := h.ages(chart.Size{Width: 560, Height: 320}).SVG()
		if err != nil {
			t.Fatal(err)
		}
		found := number.FindAllStringSubmatch(string(svg), -1)
		if len(found) == 0 {
			t.Fatalf("after %s: there are no numbers", after)
		}
		for _, m := range found {
			if f, err := strconv.ParseFloat(strings.ReplaceAll(m[1], ",", ""), 64); err != nil || f > 1000 { // milliseconds
				t.Errorf("after %s: %s stands at an axis", after, m[1])
			}
		}
	}
}
