package examples

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/workflow/diagram"
)

// TestData holds the data files to what is made from the seed.
func TestData(t *testing.T) {
	made := make(map[string]bool)
	for _, f := range Files(Seed) {
		path := filepath.Join(folder, filepath.FromSlash(f.Path))
		made[filepath.Clean(path)] = true
		if *update {
			if err := os.WriteFile(path, []byte(f.Text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if read(t, path) != f.Text {
			t.Errorf("%s is not what is made: go test ./internal/verify/examples -update", f.Path)
		}
	}
	there, err := filepath.Glob(filepath.Join(folder, "*", "data", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range there {
		if !made[filepath.Clean(path)] {
			t.Errorf("%s is made by nothing", path)
		}
	}
	if len(there) != len(made) || len(made) != 5 {
		t.Errorf("%d data files, %d are made", len(there), len(made))
	}
}

// TestSeeds: another seed is other data, the same seed the same.
func TestSeeds(t *testing.T) {
	one, same, other := Files(Seed), Files(Seed), Files(Seed+1)
	for i := range one {
		if one[i] != same[i] {
			t.Errorf("%s differs from itself", one[i].Path)
		}
		if one[i].Text == other[i].Text || one[i].Path != other[i].Path {
			t.Errorf("%s does not depend on the seed", one[i].Path)
		}
	}
}

// TestWorkflowsAreGood: no problem is told, also when the data are known.
func TestWorkflowsAreGood(t *testing.T) {
	there, err := filepath.Glob(filepath.Join(folder, "*", "workflow.yaml"))
	if err != nil || len(there) != len(list) {
		t.Fatalf("%d workflows, %d are run: %v", len(there), len(list), err)
	}
	for _, e := range list {
		files := make(map[string][]string)
		for name, file := range e.inputs {
			files[name] = strings.Split(strings.SplitN(read(t, folder, e.name, "data", file), "\n", 2)[0], ",")
		}
		flow, problems, _ := orchestrator.Parse(t.Context(), read(t, folder, e.name, "workflow.yaml"), files, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
		for _, p := range problems {
			t.Errorf("%s:%d:%d: %s", e.name, p.Line, p.Column, p.Message)
		}
		if flow == nil {
			continue
		}
		picture := filepath.Join(pictures, "workflow-"+e.name+".svg")
		drawn := diagram.Draw(flow, diagram.Options{})
		if *update {
			if err := os.WriteFile(picture, drawn, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if read(t, picture) != string(drawn) {
			t.Errorf("%s is not what is drawn: go test ./internal/verify/examples -update", picture)
		}
		if !strings.Contains(read(t, "../../../docs/workflow-examples.md"), "pictures/"+filepath.Base(picture)) {
			t.Errorf("docs/workflow-examples.md does not show %s", picture)
		}
	}
}

var (
	inputFlag = regexp.MustCompile(`--input (\w+)=(\S+)`)
	fileArg   = regexp.MustCompile(`throng workflow (?:run|check|graph) (\S+)`)
)

// TestCommands: the files that commands name are there, and are the right ones.
func TestCommands(t *testing.T) {
	pages := []string{"../../../docs/workflow-examples.md"}
	for _, e := range list {
		page := filepath.Join(folder, e.name, "README.md")
		pages = append(pages, page)
		for _, kind := range []string{"--simulate-workers", "--tenant"} {
			if !slices.ContainsFunc(commands(read(t, page)), func(c string) bool {
				return strings.Contains(c, "throng workflow run workflows/"+e.name+"/workflow.yaml") && strings.Contains(c, kind)
			}) {
				t.Errorf("%s has no run with %s", page, kind)
			}
		}
	}
	runs := 0
	for _, page := range pages {
		for _, c := range commands(read(t, page)) {
			for _, m := range fileArg.FindAllStringSubmatch(c, -1) {
				if _, err := os.Stat(filepath.Join("../../..", m[1])); err != nil {
					t.Errorf("%s: %v", page, err)
				}
			}
			if !strings.Contains(c, "throng workflow run") {
				continue
			}
			runs++
			e := find(filepath.Base(filepath.Dir(fileArg.FindStringSubmatch(c)[1])))
			given := make(map[string]bool)
			for _, m := range inputFlag.FindAllStringSubmatch(c, -1) {
				given[m[1]] = true
				if want := "workflows/" + e.name + "/data/" + e.inputs[m[1]]; m[2] != want {
					t.Errorf("%s: the input %s is %s, want %s", page, m[1], m[2], want)
				}
			}
			if len(given) != len(e.inputs) {
				t.Errorf("%s: %s gives %d inputs of %d", page, c, len(given), len(e.inputs))
			}
		}
	}
	if runs < 2*len(list) {
		t.Errorf("only %d commands were looked at", runs)
	}
}

// commands are the lines of a page's sh blocks, continued lines as one.
func commands(page string) (out []string) {
	for i, block := range strings.Split(page, "```") {
		if body, ok := strings.CutPrefix(block, "sh\n"); ok && i%2 == 1 {
			out = append(out, strings.Split(strings.ReplaceAll(body, "\\\n", " "), "\n")...)
		}
	}
	return out
}
