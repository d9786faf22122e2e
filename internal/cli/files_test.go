package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/wire"

	"github.com/throng-dev/throng/internal/task"
)

// TestADamagedLogin: every command that would use it names its file in an error.
func TestADamagedLogin(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	name, err := loginFile()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"batch", "list"}, {"logout"}, {"pool", "show", "main"}} {
		var out, errs bytes.Buffer
		code := Main(context.Background(), append(args, "--server", "http://127.0.0.1:1"), strings.NewReader(""), &out, &errs, "test")
		if code != 1 || !strings.Contains(errs.String(), name) || !strings.Contains(errs.String(), "damaged") {
			t.Errorf("%q: exit code %d, %s", args, code, errs.String())
		}
	}
}

// TestIterations: the report has their number for methods that iterate only.
func TestIterations(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "majority", 1: "majority (1 iteration)", 7: "majority (7 iterations)"} {
		var out bytes.Buffer
		labelReport{Method: "majority", Asked: "majority", Iterations: n}.show(&out)
		found := false
		for line := range strings.Lines(out.String()) {
			what, text, _ := strings.Cut(strings.TrimSpace(line), "  ")
			found = found || what == "method" && strings.TrimSpace(text) == want
		}
		if !found {
			t.Errorf("after %d iterations it says\n%s", n, &out)
		}
	}
}

// TestAnswersThatBeginWithASlash are typed with two, so that they are no command;
// other slashes stay.
func TestAnswersThatBeginWithASlash(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{"//etc/hosts": `"/etc/hosts"`, "///": `"//"`, "http://example.org//x": `"http://example.org//x"`, "plain": `"plain"`} {
		in := make(chan string, 1)
		in <- typed
		w := &working{remote: &remote{c: &Context{Stdin: strings.NewReader("")}}, ctx: t.Context(), in: in, over: t.Context(), out: io.Discard, held: &wire.Work{View: task.View{Controls: []task.Control{{Name: "label", Type: task.ControlText}}}}}
		got, err := w.ask()
		if err != nil || string(got) != `{"label":`+want+`}` {
			t.Errorf("%q becomes %s, %v; want %s", typed, got, err, want)
		}
	}
}
