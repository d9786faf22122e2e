package arch

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	fuzzRow    = regexp.MustCompile("`((?:internal/)?[a-z/]+)` ((?:`Fuzz[A-Za-z]+`(?:, )?)+)")
	fuzzTarget = regexp.MustCompile("Fuzz[A-Za-z]+")
)

// TestTheTableOfParsers: docs/security.md names each fuzz target, and no other.
func TestTheTableOfParsers(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := make(map[string]bool)
	for _, row := range fuzzRow.FindAllStringSubmatch(string(page), -1) {
		for _, target := range fuzzTarget.FindAllString(row[2], -1) {
			named[row[1]+" "+target] = true
		}
	}
	if len(named) < 30 {
		t.Fatalf("only %d targets are found in the table", len(named))
	}
	for _, f := range load(t) {
		for _, d := range f.syntax.Decls {
			fn, is := d.(*ast.FuncDecl)
			if !is || !f.test || fn.Recv != nil || !strings.HasPrefix(fn.Name.Name, "Fuzz") {
				continue
			}
			name := f.pkg + " " + fn.Name.Name
			if !named[name] {
				t.Errorf("docs/security.md does not name %s", name)
			}
			delete(named, name)
		}
	}
	for name := range named {
		t.Errorf("docs/security.md names %s, which is not there", name)
	}
}
