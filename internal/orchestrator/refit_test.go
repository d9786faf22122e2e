package orchestrator_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/store"
)

// TestCellsThatDoNotFitAreNotTakenOver: a run does not go on with rows whose cells are no
// values of what their columns are now, as it would not with such rows of a file. What is
// refused is not made.
func TestCellsThatDoNotFitAreNotTakenOver(t *testing.T) {
	const before = `workflow: w
inputs: {items: {columns: [{id: text}, {size: text}]}}
steps:
  copied:
    from: items
    sql: select id || '' as id, size || '' as size from items
  long: {from: copied, sql: select id from copied}
`
	var ten []string // of eleven that do not fit
	for i := range 10 {
		ten = append(ten, fmt.Sprintf(`item %d of items in r1: size must be a number`, i+1))
	}
	declared := strings.NewReplacer("size: text", "size: number")
	query := strings.NewReplacer("  long:", "    columns: {size: number}\n  long:")
	for name, x := range map[string]struct {
		text, rows, from string
		wrong            []string
	}{
		"all fit":            {declared.Replace(before), "a,1\nb,-0.5\nc,\n", "", nil},
		"one does not":       {declared.Replace(before), "a,1\nb,two\n", "", []string{`parent: item 2 of items in r1: size must be a number, as 12 or -0.5, not "two"; declare size as text again, or make a run that does not go on from r1, with a file that fits`}},
		"from a later step":  {declared.Replace(before), "a,1\nb,two\n", "long", []string{`parent: item 2 of items in r1: size must`}},
		"two do not":         {strings.ReplaceAll(before, "size: text", "size: bool"), "a,yes\nb,two\nc,3\n", "", []string{`item 2 of items in r1: size must be true or false (or yes, no, 1, 0), not "two"`, `item 3 of items in r1: size must be`}},
		"ten are named":      {declared.Replace(before), strings.Repeat("a,two\n", 11), "", ten},
		"of a step":          {query.Replace(before), "a,1\nb,two\n", "long", []string{`parent: item 4 of copied in r1: size must be a number, as 12 or -0.5, not "two"; start from copied, or from a step before it`}},
		"a step done again":  {query.Replace(before), "a,1\nb,2\n", "copied", nil},
		"the types are kept": {strings.ReplaceAll(before, "long", "longer"), "a,1\nb,two\n", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			first := w.start(before, "id,size\n"+x.rows)
			w.play()
			w.wantState(first, store.RunDone)
			n := orchestrator.NewRun{Tenant: w.tenant, Text: x.text, Parent: first, From: x.from}
			if x.wrong != nil {
				_, err := w.o.Create(w.ctx, n)
				list := crowd.ErrorsOf(err)
				if len(list) != len(x.wrong) {
					t.Fatalf("the errors are %v, want %q", err, x.wrong)
				}
				for i, words := range x.wrong {
					wantCode(t, list[i], crowd.Invalid, words)
				}
				if all, err := w.store.ListRuns(w.ctx, w.tenant, 0, 9); err != nil || len(all) != 1 {
					t.Errorf("there are %d runs (%v), want the first alone", len(all), err)
				}
				return
			}
			second := w.load(n, nil)
			must(t, w.o.Start(w.ctx, second))
			w.play()
			w.wantState(second, store.RunDone)
		})
	}
}
