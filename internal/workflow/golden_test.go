package workflow_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/workflow"
)

var update = flag.Bool("update", false, "write what is seen into testdata/bad")

// now is the time at which files are checked in tests.
var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func lines(problems []workflow.Problem) string {
	var b strings.Builder
	for _, p := range problems {
		fmt.Fprintf(&b, "%d:%d: %s\n", p.Line, p.Column, p.Message)
	}
	return b.String()
}

// TestBadFiles compares all that is said of each bad file with what is kept
// next to it.
func TestBadFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d bad files (%v)", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			w, problems := workflow.Parse(text, now, sqlEngine{})
			if w != nil || len(problems) == 0 {
				t.Fatalf("it was taken")
			}
			got, kept := lines(problems), strings.TrimSuffix(file, ".yaml")+".want"
			if *update {
				if err := os.WriteFile(kept, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(kept)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}

const ask = "    crowd: {template: {kind: choose_one, question: \"?\", options: [yes, no]}, reward: 0.05}\n"

// tester is a test or a property.
type tester interface {
	Helper()
	Fatalf(string, ...any)
}

// good parses a file that must be good.
func good(t tester, text string) *workflow.Workflow {
	t.Helper()
	w, problems := workflow.Parse([]byte(text), time.Time{}, sqlEngine{})
	if problems != nil {
		t.Fatalf("problems of a good file:\n%s\n%s", lines(problems), text)
	}
	return w
}

// expected lists how long one item is expected to take at each step.
func expected(w *workflow.Workflow) []time.Duration {
	var list []time.Duration
	for i := range w.Steps {
		list = append(list, w.Steps[i].Expect)
	}
	return list
}
