package sharedtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDocTable: what differs fails, and is written where that is wanted, without a change
// of what is around it.
func TestDocTable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page.md")
	hold := func(want string, update bool) (how string) {
		e := &ended{TB: t}
		defer func() {
			if r := recover(); r != nil && r != any(e) {
				panic(r)
			}
			how = e.how
		}()
		holdTable(e, file, want, update)
		return ""
	}
	for _, x := range []struct {
		page, want string
		update     bool
		how, then  string
	}{
		{"a\n<!-- table -->\n| x |\n<!-- end -->\nb\n", "| x |\n", false, "", "a\n<!-- table -->\n| x |\n<!-- end -->\nb\n"},
		{"a\n<!-- table -->\n| x |\n<!-- end -->\nb\n", "| y |\n", false, "fail: the table of docs/page.md is not that of the code", "a\n<!-- table -->\n| x |\n<!-- end -->\nb\n"},
		{"a\n<!-- table -->\n| x |\n<!-- end -->\nb\n", "| y |\n", true, "", "a\n<!-- table -->\n| y |\n<!-- end -->\nb\n"},
		{"a\n<!-- table -->\n| x |\n", "| x |\n", true, "fail: docs/page.md has no table", "a\n<!-- table -->\n| x |\n"},
	} {
		if err := os.WriteFile(file, []byte(x.page), 0o600); err != nil {
			t.Fatal(err)
		}
		how := hold(x.want, x.update)
		got, err := os.ReadFile(file)
		if err != nil || !strings.HasPrefix(how, x.how) || (how == "") != (x.how == "") || string(got) != x.then {
			t.Errorf("%q for %q, update %t: %q, and then %q, %v", x.page, x.want, x.update, how, got, err)
		}
	}
}
