package workflow_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/workflow"
)

var blockForm = regexp.MustCompile("(?ms)^```(yaml|yaml bad|text)\n(.*?)^```$")

// TestDocument parses each file in the document: the good ones are taken, and of
// the bad ones is said what the block after them has.
func TestDocument(t *testing.T) {
	text, err := os.ReadFile("../../docs/workflows.md")
	if err != nil {
		t.Fatal(err)
	}
	var said string
	goods, bads := 0, 0
	for _, block := range blockForm.FindAllStringSubmatch(string(text), -1) {
		w, problems := workflow.Parse([]byte(block[2]), now, sqlEngine{})
		switch block[1] {
		case "yaml":
			if goods++; w == nil {
				t.Errorf("%s\n%s", lines(problems), block[2])
			}
		case "yaml bad":
			said = lines(problems)
		case "text":
			if bads++; said != block[2] {
				t.Errorf("got\n%swant\n%s", said, block[2])
			}
		}
	}
	if goods < 2 || bads < 2 {
		t.Errorf("%d good and %d bad files were looked at", goods, bads)
	}
}

// TestDocumentHasAllFields looks for each field of the language, but for those of
// templates, which have a document of their own.
func TestDocumentHasAllFields(t *testing.T) {
	text, err := os.ReadFile("../../docs/workflows.md")
	if err != nil {
		t.Fatal(err)
	}
	var tree map[string]any
	if err := json.Unmarshal(workflow.Schema(), &tree); err != nil {
		t.Fatal(err)
	}
	fields := 0
	mappings(tree, nil, func(at way, names []string) {
		if slices.Contains(at, "template") {
			return
		}
		for _, name := range names {
			fields++
			if !strings.Contains(string(text), "`"+name+"`") && !strings.Contains(string(text), "{"+name+": ") && !strings.Contains(string(text), ", "+name+": ") {
				t.Errorf("docs/workflows.md does not tell of %s at %v", name, at)
			}
		}
	})
	if fields < 50 {
		t.Errorf("only %d fields", fields)
	}
}
