package cli

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/workflow"
)

// TestDefaultsAreAsTheTextsSay: help, documents, schemas and forms have the defaults
// as written words, which nothing else binds to what a batch is given.
func TestDefaultsAreAsTheTextsSay(t *testing.T) {
	t.Parallel()
	lease, taskTime := strings.TrimSuffix(engine.DefaultLease.String(), "0s"), engine.DefaultTaskTime.String() // 30m, 30s
	api := "../server/api/testdata/openapi.json"
	for path, want := range map[string][]string{
		"../../docs/cli.md": {
			"How long a worker may hold a task; default " + lease + ".", "Your estimate for one answer; default " + taskTime + ".",
			fmt.Sprintf("task_time_seconds  of sjf; default %g", engine.DefaultTaskTime.Seconds()), fmt.Sprintf("above 0; default %d\n", engine.DefaultPriority),
		},
		"../../docs/workflows.md": {
			"| `lease` | `" + lease + "` |", "| `task_time` | `" + taskTime + "` |", fmt.Sprintf("| `priority` | %d |", engine.DefaultPriority),
		},
		api: {
			fmt.Sprintf("may hold a task; default %g\"", engine.DefaultLease.Seconds()), fmt.Sprintf("for one answer; default %g\"", engine.DefaultTaskTime.Seconds()),
			fmt.Sprintf("; default %d\"", engine.DefaultPriority),
		},
		"": {
			"may hold a task. Default: " + lease + ".", "for one answer. Default: " + taskTime + ".", fmt.Sprintf("against other jobs. Default: %d.", engine.DefaultPriority),
		},
	} {
		text := string(workflow.Schema())
		if path != "" {
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			text = string(raw)
		}
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%q does not say %q", path, w)
			}
		}
	}
}
