package bench_test

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/verify/bench"
	"github.com/throng-dev/throng/internal/verify/process/processtest"
)

func TestMain(m *testing.M) { processtest.Main(m) }

// duration is how long the live benchmark takes in tests: THRONG_BENCH_FOR, or
// just long enough to see that it works. With THRONG_TEST_CPUPROFILE=PATH the
// servers leave CPU profiles behind.
func duration(t *testing.T) time.Duration {
	text := os.Getenv("THRONG_BENCH_FOR")
	if text == "" {
		return 1500 * time.Millisecond
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("THRONG_BENCH_FOR: %v", err)
	}
	return d
}

func TestLive(t *testing.T) {
	d := duration(t)
	for _, apart := range []bool{false, true} {
		rows, err := bench.Live(t.Context(), bench.LiveOptions{Workers: []int{4, 16}, For: d, Tasks: 20_000, Apart: apart, Log: t.Output()})
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) != 2 {
			t.Fatalf("%d rows for 2 numbers of workers", len(rows))
		}
		for _, r := range rows {
			t.Logf("apart %t: %+v", apart, r)
			if r.CyclesPerS <= 0 || r.CeilingPerS <= 0 || r.P50MS <= 0 || r.P99MS < r.P50MS || r.Ratio != r.CyclesPerS/r.CeilingPerS {
				t.Errorf("this is no measurement: %+v", r)
			}
		}
	}
}

func TestScale(t *testing.T) {
	r, err := bench.Scale(t.Context(), bench.ScaleOptions{Tasks: 5000, Workers: 8, Work: 200 * time.Millisecond, Log: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", r)
	if r.ImportS <= 0 || r.RestartS <= 0 || r.RSS <= 0 || r.EmptyRSS <= 0 || r.Cycles == 0 || r.ImportPeak == 0 {
		t.Errorf("this is no measurement: %+v", r)
	}
}

func TestFlow(t *testing.T) {
	o := bench.FlowOptions{Items: 2000, Rows: 3000, Answers: 300, Log: t.Output()}
	r, err := bench.Flow(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", r)
	if len(r.Passes) != 3 || len(r.Events) != 7 || len(r.Rows) != 4 || len(r.Live) != 2 {
		t.Fatalf("%d passes, %d events, %d sizes, %d live rows", len(r.Passes), len(r.Events), len(r.Rows), len(r.Live))
	}
	for _, e := range slices.Concat(r.Passes, r.Events) {
		if e.Name == "" || e.Micros <= 0 || e.Worst < e.Micros || e.N < 1 {
			t.Errorf("this is no measurement: %+v", e)
		}
	}
	for i, x := range r.Rows {
		if x.Rows != []int{300, 3000}[i%2] || x.LoadS <= 0 || x.RunS <= 0 || x.PerS <= 0 || x.LoadPeak == 0 || x.RunPeak == 0 || (x.Growth == 0) != (i%2 == 0) {
			t.Errorf("this is no measurement: %+v", x)
		}
	}
	if last := len(r.Events) - 1; r.Passes[0].Bar != 50_000 || r.Events[0].Bar != 10 || r.Events[last].Bar != 0 {
		t.Errorf("the bars are others than DESIGN.md's: %+v, %+v", r.Passes, r.Events)
	}
	if h := r.HandOver; h.Plain <= 0 || h.Next <= 0 || h.Ratio != h.Next/h.Plain {
		t.Errorf("this is no measurement: %+v", h)
	}
	for _, x := range r.Live {
		if x.Answers != o.Answers || x.PerS <= 0 || x.P50MS <= 0 || x.P99MS < x.P50MS {
			t.Errorf("this is no measurement: %+v", x)
		}
	}
	for _, bad := range []bench.FlowOptions{{Items: 1, Rows: 3000, Answers: 300}, {Items: 2000, Rows: 1, Answers: 300}, {Items: 2000, Rows: 3000, Answers: 1}} {
		if _, err := bench.Flow(t.Context(), bad); crowd.CodeOf(err) != crowd.Invalid {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}
