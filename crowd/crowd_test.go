package crowd_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
)

func TestIDsReadBackFromTheirText(t *testing.T) {
	type ids struct {
		Tenant     crowd.TenantID
		Pool       crowd.PoolID
		Worker     crowd.WorkerID
		Batch      crowd.BatchID
		Task       crowd.TaskID
		Assignment crowd.AssignmentID
	}
	in := ids{3, 1, 42, crowd.MaxBatchID, crowd.BatchID(17).Task(5), crowd.BatchID(crowd.MaxBatchID).Assignment(crowd.MaxInBatch)}
	data, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"Tenant":"n3","Pool":"p1","Worker":"u42","Batch":"b2147483647","Task":"t17.5","Assignment":"a2147483647.4294967295"}`
	if string(data) != want {
		t.Errorf("JSON %s, want %s", data, want)
	}
	var out ids
	if err := json.Unmarshal(data, &out); err != nil || out != in {
		t.Errorf("read back %+v, %v; want %+v", out, err, in)
	}
}

func TestPackedIDsComeApart(t *testing.T) {
	for _, b := range []crowd.BatchID{1, 17, crowd.MaxBatchID} {
		for _, n := range []uint32{1, 5, crowd.MaxInBatch} {
			if task := b.Task(n); task.Batch() != b || task.N() != n || task <= 0 {
				t.Errorf("%s: batch %s, number %d", task, task.Batch(), task.N())
			}
			if a := b.Assignment(n); a.Batch() != b || a.N() != n || a <= 0 {
				t.Errorf("%s: batch %s, number %d", a, a.Batch(), a.N())
			}
		}
	}
}

func TestWrongIDsAreNotFound(t *testing.T) {
	parse := map[string]func(string) error{
		"tenant":     func(s string) error { _, err := crowd.ParseTenantID(s); return err },
		"pool":       func(s string) error { _, err := crowd.ParsePoolID(s); return err },
		"worker":     func(s string) error { _, err := crowd.ParseWorkerID(s); return err },
		"batch":      func(s string) error { _, err := crowd.ParseBatchID(s); return err },
		"task":       func(s string) error { _, err := crowd.ParseTaskID(s); return err },
		"assignment": func(s string) error { _, err := crowd.ParseAssignmentID(s); return err },
	}
	for noun, f := range parse {
		looked := 0
		for _, s := range []string{"", "x1", "17", "n", "n0", "n-1", "n+1", "n01", "n1.5", "b2147483648", "b99999999999999999999", "t17", "t17.", "t.5", "t0.5",
			"t17.0", "t17.05", "t17.4294967296", "a2147483648.1", "a1.1.1", " b1", "b1 "} {
			looked++
			var e *crowd.Error
			if err := f(s); !errors.As(err, &e) || e.Code != crowd.NotFound || e.Field != noun {
				t.Errorf("%q as the id of a %s: %v", s, noun, err)
			}
		}
		if looked == 0 {
			t.Errorf("no %s id was looked at", noun)
		}
	}
}

func FuzzIDs(f *testing.F) {
	for _, s := range []string{"n3", "p1", "u42", "b17", "t17.5", "a17.9"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if id, err := crowd.ParseBatchID(s); err == nil && (id.String() != s || id < 1) {
			t.Errorf("batch %q reads as %s", s, id)
		}
		if id, err := crowd.ParseTaskID(s); err == nil && (id.String() != s || id.Batch().Task(id.N()) != id) {
			t.Errorf("task %q reads as %s", s, id)
		}
		if id, err := crowd.ParseTenantID(s); err == nil && id.String() != s {
			t.Errorf("tenant %q reads as %s", s, id)
		}
	})
}

func TestMoneyIsWrittenAsADecimal(t *testing.T) {
	for m, want := range map[crowd.Money]string{
		0: "0.00", 50_000: "0.05", 1: "0.000001", crowd.Unit: "1.00", 12_345_600: "12.3456", -50_000: "-0.05", math.MinInt64: "-9223372036854.775808",
	} {
		if got := m.String(); got != want {
			t.Errorf("%d micro-units are written %q, want %q", int64(m), got, want)
		}
	}
}

func TestMoneyIsReadExactly(t *testing.T) {
	for s, want := range map[string]crowd.Money{"0": 0, "0.05": 50_000, "12": 12 * crowd.Unit, "0.000001": 1, " 3.5 ": 3_500_000, "1000000": crowd.MaxMoney} {
		if got, err := crowd.ParseMoney(s); err != nil || got != want {
			t.Errorf("ParseMoney(%q) = %d, %v; want %d", s, got, err, want)
		}
	}
	for _, s := range []string{"", ".", ".5", "5.", "-1", "+1", "1e3", "0.0000001", "1000000.000001", "9999999999", "$5", "1,000", "0x1", "١"} {
		if got, err := crowd.ParseMoney(s); crowd.CodeOf(err) != crowd.Invalid {
			t.Errorf("ParseMoney(%q) = %d, %v; want an error", s, got, err)
		}
	}
}

func FuzzMoney(f *testing.F) {
	f.Add("0.05")
	f.Add("1000000")
	f.Fuzz(func(t *testing.T, s string) {
		m, err := crowd.ParseMoney(s)
		if err != nil {
			return
		}
		again, err := crowd.ParseMoney(m.String())
		if err != nil || again != m || m < 0 || m > crowd.MaxMoney {
			t.Errorf("%q is %d, written %s, read back %d, %v", s, m, m, again, err)
		}
	})
}

func TestMoneyTimesSaysWhenItDoesNotFit(t *testing.T) {
	for _, c := range []struct {
		m    crowd.Money
		n    int64
		want crowd.Money
		ok   bool
	}{
		{50_000, 3, 150_000, true}, {0, math.MaxInt64, 0, true}, {math.MaxInt64, 0, 0, true}, {math.MaxInt64, 1, math.MaxInt64, true},
		{math.MaxInt64, 2, 0, false}, {math.MinInt64, -1, 0, false}, {-5, 3, -15, true}, {crowd.MaxMoney, 1e9, 0, false},
	} {
		if got, ok := c.m.Times(c.n); ok != c.ok || (ok && got != c.want) {
			t.Errorf("%d × %d = %d, %t; want %d, %t", int64(c.m), c.n, int64(got), ok, int64(c.want), c.ok)
		}
	}
}

func TestMoneyPlusStopsAtTheRange(t *testing.T) {
	for _, c := range []struct{ m, n, want crowd.Money }{
		{50_000, 3, 50_003}, {crowd.MaxMoney, crowd.MaxMoney, 2 * crowd.MaxMoney}, {math.MaxInt64, -1, math.MaxInt64 - 1}, {math.MinInt64, 1, math.MinInt64 + 1},
		{math.MaxInt64, 1, math.MaxInt64}, {1, math.MaxInt64, math.MaxInt64}, {math.MaxInt64, math.MaxInt64, math.MaxInt64},
		{math.MinInt64, -1, math.MinInt64}, {-1, math.MinInt64, math.MinInt64}, {math.MinInt64, math.MaxInt64, -1},
	} {
		if got := c.m.Plus(c.n); got != c.want {
			t.Errorf("%d + %d = %d, want %d", int64(c.m), int64(c.n), int64(got), int64(c.want))
		}
	}
}

func TestBatchMoves(t *testing.T) {
	const none = ""
	want := map[crowd.BatchState]string{
		crowd.BatchDraft:     "running cancelled",
		crowd.BatchRunning:   "paused done ended cancelled",
		crowd.BatchOnHold:    "running done ended cancelled",
		crowd.BatchDone:      none,
		crowd.BatchStopped:   none,
		crowd.BatchCancelled: none,
	}
	moves := 0
	for _, from := range crowd.BatchStates() {
		var to []string
		for _, s := range crowd.BatchStates() {
			if from.May(s) {
				to = append(to, string(s))
				moves++
			}
		}
		if got := strings.Join(to, " "); got != want[from] {
			t.Errorf("%s may become %q, want %q", from, got, want[from])
		}
		if from.Ended() != (want[from] == none) || from.Open() != (from == crowd.BatchRunning || from == crowd.BatchOnHold) {
			t.Errorf("%s: ended %t, open %t", from, from.Ended(), from.Open())
		}
	}
	if moves == 0 || len(want) != len(crowd.BatchStates()) {
		t.Error("not every state was looked at")
	}
}

func TestAssignmentMoves(t *testing.T) {
	want := map[crowd.AssignmentState]string{
		crowd.Assigned:    "provisional submitted returned skipped reported expired withdrawn",
		crowd.Provisional: "assigned submitted",
		crowd.Submitted:   "",
		crowd.Returned:    "",
		crowd.Skipped:     "",
		crowd.Reported:    "",
		crowd.Expired:     "submitted",
		crowd.Withdrawn:   "submitted",
	}
	for _, from := range crowd.AssignmentStates() {
		var to []string
		for _, s := range crowd.AssignmentStates() {
			if from.May(s) {
				to = append(to, string(s))
			}
		}
		if got := strings.Join(to, " "); got != want[from] {
			t.Errorf("%s may become %q, want %q", from, got, want[from])
		}
		if from.Answered() != (from == crowd.Submitted) {
			t.Errorf("%s: answered %t", from, from.Answered())
		}
	}
	if len(want) != len(crowd.AssignmentStates()) {
		t.Error("not every state was looked at")
	}
}

func TestReasonsAreAClosedSet(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range crowd.Reasons() {
		if r.String() == "" || r.Text() == "" || r.OfWorkers() == "" || seen[r.String()] || r == crowd.Eligible {
			t.Errorf("reason %d: %q, %q", r, r, r.Text())
		}
		seen[r.String()] = true
		data, err := json.Marshal(r)
		var back crowd.Reason
		if err != nil || json.Unmarshal(data, &back) != nil || back != r {
			t.Errorf("%s is written %s and read back as %s", r, data, back)
		}
	}
	if len(seen) < 10 {
		t.Errorf("only %d reasons", len(seen))
	}
	var r crowd.Reason
	if crowd.CodeOf(r.UnmarshalText([]byte("because"))) != crowd.Invalid || crowd.Reason(200).String() != "unknown_reason" {
		t.Error("an unknown reason passes")
	}
}

func TestErrorsSayWhereAndKeepTheirCause(t *testing.T) {
	cause := errors.New("disk 7")
	for _, c := range []struct {
		err  *crowd.Error
		want string
	}{
		{crowd.Fieldf("reward", "%d is no price", 0), "reward: 0 is no price"},
		{&crowd.Error{Code: crowd.Invalid, Row: 7, Field: "age", Message: "is no number"}, "line 7, age: is no number"},
		{&crowd.Error{Code: crowd.Invalid, Row: 7, Message: "is ragged"}, "line 7: is ragged"},
		{&crowd.Error{Code: crowd.Unavailable, Message: "try again", Cause: cause}, "try again"},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	wrapped := fmt.Errorf("launch: %w", &crowd.Error{Code: crowd.Conflict, Cause: cause})
	if crowd.CodeOf(wrapped) != crowd.Conflict || !errors.Is(wrapped, cause) {
		t.Error("the code or the cause is lost")
	}
	if crowd.CodeOf(nil) != "" || crowd.CodeOf(cause) != crowd.Internal {
		t.Error("an error without a code is not internal")
	}
	codes := map[crowd.Code]bool{}
	for _, c := range crowd.Codes() {
		codes[c] = true
	}
	if len(codes) != len(crowd.Codes()) || !codes[crowd.Internal] {
		t.Error("codes are doubled or missing")
	}
}

// TestReasonsOfWorkers: of workers a reason is said that is about them.
func TestReasonsOfWorkers(t *testing.T) {
	t.Parallel()
	for r, want := range map[crowd.Reason]string{
		crowd.NoWorkerReady:   "at work on a task",
		crowd.Eligible:        "here, and would get a task of it if they asked for work now",
		crowd.WorkerSuspended: crowd.WorkerSuspended.Text(),
	} {
		if got := r.OfWorkers(); got != want {
			t.Errorf("of workers: %q, want %q", got, want)
		}
	}
}
