package report

import (
	"os"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/sim"
)

func TestDocsSayWhatTheMetricsMean(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/simulation.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range sim.AllMetrics {
		if !strings.Contains(string(text), "| `"+m.Name+"` | ") || !strings.Contains(string(text), " | "+m.Words+" |\n") {
			t.Errorf("docs/simulation.md does not say that %s is: %s", m.Name, m.Words)
		}
	}
}

func TestMainMetricsExist(t *testing.T) {
	t.Parallel()
	for _, name := range mainMetrics {
		if _, known := sim.FindMetric(name); !known {
			t.Errorf("there is no metric %s", name)
		}
	}
}
