package cli

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/task"
)

var update = flag.Bool("update", false, "write docs/cli.md again")

// TestReference holds docs/cli.md to the commands' own help.
func TestReference(t *testing.T) {
	t.Parallel()
	const page = "../../docs/cli.md"
	want := reference(t)
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what the commands say: go test ./internal/cli -run TestReference -update", page)
	}
}

// reference is the page of all commands: a list of them, and then the help of each.
func reference(t *testing.T) string {
	t.Helper()
	var list, sections strings.Builder
	group := ""
	for _, leaf := range commands(t) {
		name := strings.TrimPrefix(leaf.FullPath(), "throng ")
		first, _, _ := strings.Cut(name, " ")
		if first != group {
			group = first
			fmt.Fprintf(&sections, "## %s\n\n", group)
		}
		var out, stderr bytes.Buffer
		if code := Main(context.Background(), append(strings.Fields(name), "--help"), strings.NewReader(""), &out, &stderr, "v0"); code != 0 {
			t.Fatalf("%s --help: code %d, %s", name, code, stderr.String())
		}
		anchor := strings.ReplaceAll("throng "+name, " ", "-")
		fmt.Fprintf(&list, "| [`throng %s`](#%s) | %s |\n", name, anchor, strings.ReplaceAll(leaf.Help, "|", `\|`))
		fmt.Fprintf(&sections, "### throng %s\n\n```text\n%s\n```\n\n", name, strings.TrimSpace(out.String()))
	}
	return "# Commands\n\nEvery command, as its `--help` says. This page is made from the commands: `go test ./internal/cli -run TestReference -update`.\n\n" +
		"| command | what it does |\n| --- | --- |\n" + list.String() + "\n" + strings.TrimRight(sections.String(), "\n") + "\n"
}

// TestThePageOfTemplatesNamesEachKind holds the table of docs/templates.md, which is
// written by hand, to the kinds that there are.
func TestThePageOfTemplatesNamesEachKind(t *testing.T) {
	page, err := os.ReadFile("../../docs/templates.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range task.Kinds() {
		if row := fmt.Sprintf("\n| `%s` | `", kind); !strings.Contains(string(page), row) {
			t.Errorf("the table of kinds has no row for %s", kind)
		}
	}
}
