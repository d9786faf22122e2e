package demo_test

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/kit/sharedtest"
	"github.com/throng-dev/throng/internal/verify/demo"
	"github.com/throng-dev/throng/internal/verify/process/processtest"
	"github.com/throng-dev/throng/label"
)

func TestMain(m *testing.M) { processtest.Main(m) }

// run runs a demo and returns its report.
func run(t *testing.T, o demo.Options) *demo.BatchesReport {
	t.Helper()
	var report *demo.BatchesReport
	o.Screen = t.Output()
	o.Report = func(r demo.Report) error {
		report = r.(*demo.BatchesReport)
		r.WriteTable(t.Output())
		return nil
	}
	if err := demo.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if report.Err() != nil || report.Lost != 0 || report.Duplicates != 0 || report.Stored != report.Acknowledged {
		t.Errorf("acknowledged %d, stored %d, duplicates %d, lost %d", report.Acknowledged, report.Stored, report.Duplicates, report.Lost)
	}
	return report
}

func TestMade(t *testing.T) {
	t.Parallel()
	const long = 8 * time.Second
	start := time.Now()
	r := run(t, demo.Options{For: long, Seed: 1, Workers: 36})
	if took := time.Since(start); took > 3*long {
		t.Errorf("a demo of %s took %s", long, took)
	}
	tenants := make(map[string]bool)
	share, counted, learnt := 0.0, 0, 0
	for _, b := range r.Batches {
		tenants[b.Tenant] = true
		share += b.Share
		counted += b.Annotations
		if b.Tasks == 0 || b.Labels == 0 || b.Annotations == 0 || b.CostMicros == 0 || b.Accuracy == nil {
			t.Errorf("%s has nothing to show: %+v", b.ID, b)
			continue
		}
		if b.DawidSkene != nil { // of numbers and texts it is not
			learnt++
		}
		if *b.Accuracy < 0.7 {
			t.Errorf("%s: accuracy %.3f: the crowd, or its known answers, are wrong", b.ID, *b.Accuracy)
		}
	}
	if learnt < 2 {
		t.Errorf("%d batches have an accuracy by Dawid and Skene", learnt)
	}

	if len(tenants) != 2 || len(r.Batches) < 5 || math.Abs(share-1) > 1e-9 || counted > r.Stored {
		t.Errorf("%d tenants, %d batches, shares sum to %g, %d of %d answers count", len(tenants), len(r.Batches), share, counted, r.Stored)
	}
	if r.Resent == 0 || r.Skipped == 0 || r.Returned == 0 {
		t.Errorf("nobody did anything unusual: %+v", r)
	}
}

// TestTooShort ends what the time does not suffice for.
func TestTooShort(t *testing.T) {
	t.Parallel()
	r := run(t, demo.Options{For: time.Second, Seed: 2, Workers: 5})
	for _, b := range r.Batches {
		if !b.State.Ended() {
			t.Errorf("%s was left %s", b.ID, b.State)
		}
	}
}

// TestReplay replays a small file with unlike numbers of answers, names that
// are none here, and a repeated answer.
func TestReplay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("labels.csv", "task,worker,label\nt1,ann,cat\nt1,Bob Smith,cat\nt1,admin,dog\nt2,ann,dog\nt2,ann,cat\nt3,admin,cat\nt3,ann,dog\n")
	write("truth.csv", "task,label\nt1,cat\nt2,dog\nt3,cat\n")
	r := run(t, demo.Options{Replay: dir})
	b := r.Batches[0]
	if r.Stored != 6 || b.Annotations != 6 || b.Tasks != 3 || b.Labels != 3 || b.CompletedAt == nil || b.Accuracy == nil {
		t.Fatalf("%+v", r)
	}
	if want := (1 + 1 + 0.5) / 3; math.Abs(*b.Accuracy-want) > 1e-9 { // t3 is tied
		t.Errorf("accuracy %g, want %g", *b.Accuracy, want)
	}
}

// TestReplayOfRealPeople replays a published data set and compares the
// accuracies with those that package label computes from the file itself.
func TestReplayOfRealPeople(t *testing.T) {
	dir := sharedtest.Dir(t, "labels", "product")
	r := run(t, demo.Options{Replay: dir})
	b := r.Batches[0]
	const answers = 24_945 // README.md of the data set
	if r.Acknowledged != answers || b.Annotations != answers || r.Stored != answers || b.Labels != b.Tasks {
		t.Errorf("want %d answers, each once: %+v", answers, r)
	}
	majority, dawidSkene := offline(t, dir, label.Majority{}), offline(t, dir, label.DefaultDawidSkene())
	if math.Abs(*b.Accuracy-majority) > 1e-9 || math.Abs(*b.DawidSkene-dawidSkene) > 1e-9 {
		t.Errorf("accuracies %g and %g; offline %g and %g", *b.Accuracy, *b.DawidSkene, majority, dawidSkene)
	}
	if got, want := fmt.Sprintf("%.3f %.3f", *b.Accuracy, *b.DawidSkene), "0.897 0.938"; got != want {
		t.Errorf("accuracies %s, published %s", got, want)
	}
}

// offline is the accuracy of a method on the files themselves.
func offline(t *testing.T, dir string, m label.Method) float64 {
	t.Helper()
	var data label.Builder
	for _, row := range rows(t, filepath.Join(dir, "labels.csv")) {
		data.Add(label.Answer{Task: row[0], Worker: row[1], Label: row[2]})
	}
	gold := make(map[string]string)
	for _, row := range rows(t, filepath.Join(dir, "truth.csv")) {
		gold[row[0]] = row[1]
		data.Class(row[1])
	}
	d := data.Build()
	result, err := m.Fit(d, nil)
	if err != nil {
		t.Fatal(err)
	}
	truth, err := d.Truth(gold)
	if err != nil {
		t.Fatal(err)
	}
	share, n := result.Accuracy(truth)
	if n == 0 {
		t.Fatal("no truth")
	}
	return share
}

func rows(t *testing.T, path string) [][]string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	list, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	if err != nil || len(list) < 2 {
		t.Fatalf("%s: %d rows, %v", path, len(list), err)
	}
	return list[1:]
}

func TestBadReplay(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ labels, want string }{
		"no file":         {"", "labels.csv"},
		"another header":  {"a,b,c\n1,2,3\n", "task: there is no column task; the columns are a, b, c"},
		"no rows":         {"task,worker,label\n", "no rows"},
		"an empty cell":   {"task,worker,label\nt1,,yes\n", "line 2"},
		"a row too short": {"task,worker,label\nt1,ann\n", "line 2: the row has 2 cells, the header has 3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if test.labels != "" {
				if err := os.WriteFile(filepath.Join(dir, "labels.csv"), []byte(test.labels), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			err := demo.Run(t.Context(), demo.Options{Screen: t.Output(), Replay: dir, Report: func(demo.Report) error { return nil }})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
}
