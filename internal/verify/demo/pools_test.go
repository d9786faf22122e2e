package demo_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/cli"
	"github.com/throng-dev/throng/internal/verify/demo"
)

// inspect is "throng doctor".
func inspect(ctx context.Context, data string) (int, error) {
	var out bytes.Buffer
	err := (&cli.Doctor{Data: data, Output: cli.Output{JSON: true}}).Run(&cli.Context{Ctx: ctx, Stdout: &out, Stderr: &out})
	var found struct{ Checks []json.RawMessage }
	if wrong := json.Unmarshal(out.Bytes(), &found); wrong != nil {
		return 0, fmt.Errorf("%w: %s", wrong, out.Bytes())
	}
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out.Bytes())
	}
	return len(found.Checks), err
}

func TestPools(t *testing.T) {
	t.Parallel()
	var r *demo.PoolsReport
	o := demo.Options{Pools: true, For: 10 * time.Second, Seed: 1, Screen: t.Output(), People: 30, Inspect: inspect, Report: func(got demo.Report) error {
		r = got.(*demo.PoolsReport)
		r.WriteTable(t.Output())
		return nil
	}}
	if err := demo.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	const checks = 7
	if r.Err() != nil || len(r.Checks) != checks {
		t.Errorf("want %d checks that hold: %+v", checks, r.Checks)
	}
	if len(r.Pools) != 3 || len(r.Tenants) != 2 || r.Crowd.People != o.People {
		t.Fatalf("%+v", r)
	}
	came, gone, answers := 0, 0, 0
	var paid crowd.Money
	for _, p := range r.Pools {
		came += p.Joined
		gone += p.Released + p.MovedOut
		answers += p.Answers + p.Learnt
		paid += p.WaitingMicros
		if p.Joined == 0 || p.Answers == 0 || p.Looks < 3 || p.Size == 0 || p.Off == nil || len(p.Why) == 0 || p.Actions["recruit"] == 0 {
			t.Errorf("%s has nothing to show: %+v", p.Name, p)
		}
	}
	if came == 0 || paid == 0 || // who goes, and when, hangs on how busy the machine is
		r.Crowd.Asked < came {
		t.Errorf("%d came, %d were let go or moved, %s was paid for waiting; the crowd: %+v", came, gone, paid, r.Crowd)
	}
	share := 0.0
	for _, x := range r.Tenants {
		share += x.Share
		answers -= x.Answers
		if x.Answers == 0 || x.SpentMicros == 0 {
			t.Errorf("%+v", x)
		}
	}
	if answers != 0 || share < 0.999 || share > 1.001 {
		t.Errorf("tenants and pools differ by %d answers, the shares sum to %g", answers, share)
	}
}

// TestPoolsRefused asks for scenes that show nothing.
func TestPoolsRefused(t *testing.T) {
	t.Parallel()
	for _, o := range []demo.Options{
		{Pools: true, For: time.Second, People: 30},
		{Pools: true, For: time.Minute, People: 5},
		{Pools: true, For: time.Minute, People: 1e6},
	} {
		if err := demo.Run(t.Context(), o); crowd.CodeOf(err) != crowd.Invalid {
			t.Errorf("%s with %d people: %v", o.For, o.People, err)
		}
	}
}

// TestPoolsReport fails if a check does, or has looked at nothing.
func TestPoolsReport(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		checks []demo.Check
		ok     bool
	}{
		"none":     {nil, false},
		"good":     {[]demo.Check{{What: "a", Looked: 1}}, true},
		"one of 2": {[]demo.Check{{What: "a", Looked: 1}, {What: "b", Looked: 3, Wrong: "something"}}, false},
	} {
		r := &demo.PoolsReport{Checks: test.checks}
		var text strings.Builder
		r.WriteTable(&text)
		if (r.Err() == nil) != test.ok || strings.Contains(text.String(), "BAD") == (test.ok || test.checks == nil) {
			t.Errorf("%s: %v\n%s", name, r.Err(), &text)
		}
	}
}
