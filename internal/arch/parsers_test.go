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
	// A row of the packages without a target, and a package in it.
	reasonRow    = regexp.MustCompile("(?m)^\\| ((?:`internal/[a-z/]+`(?:, )?)+) \\| [^|`]{20,} \\|$")
	namedPackage = regexp.MustCompile("`(internal/[a-z/]+)`")
)

// TestWhoSpeaksHTTPHasAFuzzTarget, or the page says why not.
func TestWhoSpeaksHTTPHasAFuzzTarget(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	reason, speaks, fuzzed := make(map[string]bool), make(map[string]bool), make(map[string]bool)
	for _, row := range reasonRow.FindAllStringSubmatch(string(page), -1) {
		for _, p := range namedPackage.FindAllStringSubmatch(row[1], -1) {
			reason[p[1]] = true
		}
	}
	for _, f := range load(t) {
		if !strings.HasPrefix(f.pkg, "internal/server") {
			continue
		}
		for _, i := range f.syntax.Imports {
			speaks[f.pkg] = speaks[f.pkg] || !f.test && i.Path.Value == `"net/http"`
		}
		for _, d := range f.syntax.Decls {
			fn, is := d.(*ast.FuncDecl)
			fuzzed[f.pkg] = fuzzed[f.pkg] || is && f.test && strings.HasPrefix(fn.Name.Name, "Fuzz")
		}
	}
	n := 0
	for pkg, does := range speaks {
		if !does {
			continue
		}
		if n++; fuzzed[pkg] == reason[pkg] {
			t.Errorf("%s: has a target: %t; docs/security.md says why it has none: %t", pkg, fuzzed[pkg], reason[pkg])
		}
		delete(reason, pkg)
	}
	if n < 8 {
		t.Errorf("only %d packages speak HTTP", n)
	}
	for pkg := range reason {
		t.Errorf("docs/security.md says why %s has no target, which speaks no HTTP", pkg)
	}
}

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
