package table_test

import (
	"testing"

	"github.com/throng-dev/throng/internal/kit/table"
)

// What a spreadsheet would run gets an apostrophe, also of full width and after white space.
func TestGuardedCells(t *testing.T) {
	t.Parallel()
	for cell, want := range map[string]bool{
		"=1+1": true, "+a": true, "-a": true, "@a": true, "\tx": true, "\rx": true,
		"＝1+1": true, "＋1": true, "－1": true, "＠a": true, "\n=1": true, " =1": true, "\u00a0=1": true, "\n ＝1": true,
		"": false, " ": false, "\n": false, "-2": false, " -2": false, "+1e3": false, "a=1": false, "1=1": false, "é": false, "\xff": false,
	} {
		got := write(t, []string{"a"}, [][]string{{cell}}, table.WriterOptions{GuardFormulas: true, QuoteAll: true})
		if has := got[len("\"a\"\n")+1] == '\''; has != want {
			t.Errorf("%q is written as %q", cell, got)
		}
	}
}
