package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// commands returns every command that can be run, such as "batch create".
func commands(t *testing.T) []*kong.Node {
	t.Helper()
	parser, err := newParser(&Root{}, &Context{Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}})
	if err != nil {
		t.Fatal(err)
	}
	leaves := parser.Model.Leaves(true) // but hidden ones
	if len(leaves) < 30 {
		t.Fatalf("only %d commands found", len(leaves))
	}
	return leaves
}

func TestEveryCommandHasAScript(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "*", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	var all strings.Builder
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(data)
	}
	for _, leaf := range commands(t) {
		name := leaf.FullPath()
		plain := strings.Contains(all.String(), "exec "+name+" ") || strings.Contains(all.String(), "exec "+name+"\n")
		if name == "throng serve" {
			plain = strings.Contains(all.String(), "startserver")
		}
		if !plain {
			t.Errorf("no script runs %q", name)
		}
	}
}

// TestANumberBelow0IsNoFlag, wherever a command takes an amount or another number.
func TestANumberBelow0IsNoFlag(t *testing.T) {
	t.Parallel()
	tried := 0
	for _, leaf := range commands(t) {
		args := strings.Fields(leaf.FullPath())[1:]
		for _, p := range leaf.Positional {
			_, money := p.Target.Interface().(amount)
			_, text := p.Target.Addr().Interface().(encoding.TextUnmarshaler)
			if money || !text && (p.Target.CanInt() || p.Target.CanUint() || p.Target.CanFloat()) {
				tried++
				for _, below := range []string{"-1", "-12.50", "-.5"} {
					var stderr bytes.Buffer
					code := Main(t.Context(), append(slices.Clone(args), below, "--json"), strings.NewReader(""), io.Discard, &stderr, "test")
					if want := p.Name + ": must be more than 0, not " + below; code != exitInput || !strings.Contains(stderr.String(), want) {
						t.Errorf("%s %s exits with %d and says %s", leaf.FullPath(), below, code, stderr.String())
					}
				}
			}
			args = append(args, cmp.Or(regexp.MustCompile(`such as (\w+)\.|$`).FindStringSubmatch(p.Help)[1], "x"))
		}
	}
	if tried < 5 {
		t.Errorf("only %d commands were tried", tried)
	}
}

func TestEveryCommandHasJSON(t *testing.T) {
	t.Parallel()
	for _, leaf := range commands(t) {
		found := false
		for _, f := range leaf.Flags {
			found = found || f.Name == "json"
		}
		if !found {
			t.Errorf("%q has no --json", leaf.FullPath())
		}
	}
}

// withoutExample are the commands whose help has no example yet.
var withoutExample = []string{"bench sched", "bench live", "bench scale", "bench signin", "bench kill"}

func TestEveryCommandHasHelp(t *testing.T) {
	t.Parallel()
	for _, leaf := range commands(t) {
		t.Run(leaf.Path(), func(t *testing.T) {
			t.Parallel()
			var out, stderr bytes.Buffer
			args := append(strings.Fields(leaf.FullPath())[1:], "--help")
			if code := Main(context.Background(), args, strings.NewReader(""), &out, &stderr, "v0"); code != 0 || stderr.Len() > 0 {
				t.Fatalf("code %d, stderr %q", code, stderr.String())
			}
			usage, _, _ := strings.Cut(out.String(), "\n")
			if want := "Usage: " + leaf.FullPath(); !strings.HasPrefix(usage, want) {
				t.Errorf("the usage line is %q, want it to begin %q", usage, want)
			}
			for _, want := range []string{"Example", "  " + leaf.FullPath(), leaf.Help} {
				if want == "Example" && slices.Contains(withoutExample, leaf.Path()) {
					continue
				}
				if !strings.Contains(strings.Join(strings.Fields(out.String()), " "), strings.Join(strings.Fields(want), " ")) {
					t.Errorf("the help lacks %q:\n%s", want, out.String())
				}
			}
			if !strings.HasSuffix(leaf.Help, ".") {
				t.Errorf("the short help is no sentence: %q", leaf.Help)
			}
		})
	}
}

// TestEveryHelpTextHasACommand finds texts whose command has another name by now.
func TestEveryHelpTextHasACommand(t *testing.T) {
	t.Parallel()
	texts, err := readHelp()
	if err != nil {
		t.Fatal(err)
	}
	for _, leaf := range commands(t) {
		for n := leaf; n != nil; n = n.Parent {
			delete(texts, n.FullPath())
		}
	}
	for command := range texts {
		t.Errorf("%q has a help, and is no command", command)
	}
}
