package bench_test

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/store/postgres/pgtest"
	"github.com/throng-dev/throng/internal/verify/bench"
	"github.com/throng-dev/throng/internal/verify/process/processtest"
)

func TestMain(m *testing.M) { processtest.Main(pgtest.Tests{M: m}) }

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

// TestLiveOfNodes: on PostgreSQL, with clients at one node, spread over two, and while others wait
// in vain.
func TestLiveOfNodes(t *testing.T) {
	o := bench.LiveOptions{Workers: []int{8}, For: duration(t), Tasks: 20_000, Idle: 12, Nodes: 2, Log: t.Output()}
	if _, err := bench.Live(t.Context(), o); err == nil {
		t.Error("two nodes share a file")
	}
	o.Database = pgtest.New(t)
	rows, err := bench.Live(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	r := rows[0]
	t.Logf("%+v %+v %+v", r, r.IdleFigures, r.NodeFigures)
	if r.CyclesPerS <= 0 || r.CeilingPerS <= 0 || r.Idle != 12 || r.IdlePerS <= 0 || r.IdleCost != 1-r.IdlePerS/r.CyclesPerS {
		t.Errorf("this is no measurement: %+v", r)
	}
	if r.NodesPerS <= 0 || r.NodesRatio != r.NodesPerS/r.CyclesPerS || len(r.Nodes) != 2 || !r.Nodes[0].Owner || r.Nodes[1].Owner {
		t.Fatalf("this is no measurement of nodes: %+v", r.NodeFigures)
	}
	for _, n := range r.Nodes {
		if n.Cycles == 0 || n.CPUMicros <= 0 {
			t.Errorf("nothing went through %s: %+v", n.Name, n)
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

// What strangers send is answered, and whoever has the password gets in meanwhile.
func TestSignIn(t *testing.T) {
	r, err := bench.SignIn(t.Context(), bench.SignInOptions{Hostile: 110, Rate: 10, For: duration(t), Log: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", r)
	answered := 0
	for _, n := range r.Answers {
		answered += n
	}
	for _, want := range []string{"POST /signin", "POST /setup", "POST /factor", "GET /signin/{provider}/back", "POST /v1/session", "POST /v1/invitation/join"} {
		if !slices.Contains(r.Routes, want) {
			t.Errorf("%s was not tried, but %q", want, r.Routes)
		}
	}
	if answered != 110 || len(r.Answers) < 3 || r.PeakGrowth < 0 || r.Guesses < 10 || r.Looked == 0 || r.SignIns < 2 || r.P50 <= 0 || r.Max < r.P95 || r.AloneP50 <= 0 {
		t.Errorf("this is no measurement: %+v", r)
	}
}
