package arch

import (
	"go/ast"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// longFiles lists the files that may be longer than the limit: so many lines, and
// why. The list may only shrink: a limit follows its file down, and mostLong the list.
var longFiles = map[string]struct {
	lines int
	why   string
}{
	"internal/engine/duty_books_test.go":           {517, "records kept outside of the engine, which its figures are compared with"},
	"internal/engine/execution_plan_drive_test.go": {553, "the execution plan of Cymphony, event by event"},
	"internal/kit/chart/chart_test.go":             {613, "every kind of picture"},
	"internal/repro/dafs/authors/authors_test.go":  {764, "cases of one subject that share a world"},
	"internal/server/api/duty_test.go":             {611, "cases of one subject that share a world"},
	"internal/server/app/invite_test.go":           {551, "cases of one subject that share a world"},
	"internal/server/app/live_test.go":             {573, "cases of one subject that share a world"},
	"internal/server/app/outbox_test.go":           {622, "cases of one subject that share a world"},
	"internal/server/app/qualify_test.go":          {537, "cases of one subject that share a world"},
	"internal/server/app/work_test.go":             {685, "cases of one subject that share a world"},
	"internal/server/web/runs_test.go":             {559, "cases of one subject that share a world"},
	"internal/sim/forecast/speeds_test.go":         {554, "cases of one subject that share a world"},
	"internal/sim/pools/world_test.go":             {754, "one world with all that happens in it"},
	"internal/sim/scenario/parse_test.go":          {730, "a table of every error"},
	"pool/balance_test.go":                         {537, "cases of one subject that share a world"},
	"pool/control_test.go":                         {516, "cases of one subject that share a world"},
	"pool/laws_test.go":                            {681, "the published laws of control, one by one"},
}

// mostLong is how many files may be longer than the limit.
const mostLong = 17

func TestFilesHaveOneSubject(t *testing.T) {
	if len(longFiles) != mostLong {
		t.Errorf("%d files are listed as long, %d may be: split the new one, or lower the number", len(longFiles), mostLong)
	}
	const limit, slack = 500, 20
	long := map[string]bool{}
	looked := 0
	for _, f := range load(t) {
		data, err := os.ReadFile(filepath.Join("../..", f.path))
		if err != nil {
			t.Fatal(err)
		}
		looked++
		n, most := strings.Count(string(data), "\n"), limit
		if x, ok := longFiles[f.path]; ok {
			most, long[f.path] = x.lines, n > limit
			if n > limit && n+slack < most {
				t.Errorf("%s has %d lines: lower its limit, %d", f.path, n, most)
			}
		}
		if n > most {
			t.Errorf("%s has %d lines, more than %d: would a reader find one subject in it?", f.path, n, most)
		}
	}
	for path := range longFiles {
		if !long[path] {
			t.Errorf("%s is not longer than %d lines any more: take it off the list", path, limit)
		}
	}
	if looked == 0 {
		t.Error("no file was looked at")
	}
}

// TestNobodySleeps: tests wait for what they wait for, or hand the time in.
func TestNobodySleeps(t *testing.T) {
	looked := 0
	for _, f := range load(t) {
		looked++
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Sleep" {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "time" {
					t.Errorf("%s sleeps", f.path)
				}
			}
			return true
		})
	}
	if looked == 0 {
		t.Error("no file was looked at")
	}
}

// TestCommentsNameWhatTheyAreOf: the first word of a doc comment that looks like an
// identifier is that of its declaration; one that was renamed took its comment along.
func TestCommentsNameWhatTheyAreOf(t *testing.T) {
	looked := 0
	for _, f := range load(t) {
		for _, d := range f.syntax.Decls {
			doc, names := declared(d)
			if doc == nil || len(names) == 0 {
				continue
			}
			looked++
			first, _, _ := strings.Cut(strings.TrimSpace(doc.Text()), " ")
			first = strings.TrimRight(first, ",:;.")
			if !slices.Contains(names, first) && looksLikeName(first) {
				t.Errorf("%s: the comment of %s begins with %s", f.path, names[0], first)
			}
		}
	}
	if looked == 0 {
		t.Error("no comment was looked at")
	}
}

// declared returns the comment of a declaration and what it names; nothing for a group.
func declared(d ast.Decl) (doc *ast.CommentGroup, names []string) {
	switch x := d.(type) {
	case *ast.FuncDecl:
		return x.Doc, []string{x.Name.Name}
	case *ast.GenDecl:
		if len(x.Specs) != 1 || x.Lparen.IsValid() {
			return nil, nil
		}
		switch s := x.Specs[0].(type) {
		case *ast.TypeSpec:
			names = append(names, s.Name.Name)
		case *ast.ValueSpec:
			for _, n := range s.Names {
				names = append(names, n.Name)
			}
		}
		return x.Doc, names
	}
	return nil, nil
}

// looksLikeName reports whether a word is written as Go writes names of two words:
// with a capital after a small letter.
func looksLikeName(word string) bool {
	for i := 1; i < len(word); i++ {
		if 'A' <= word[i] && word[i] <= 'Z' && 'a' <= word[i-1] && word[i-1] <= 'z' {
			return !strings.ContainsAny(word, ".:(/-")
		}
	}
	return false
}
