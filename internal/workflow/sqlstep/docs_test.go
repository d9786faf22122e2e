package sqlstep_test

import (
	"context"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/workflow/sqlstep"
)

// TestPage runs each example of the page for users, and sees that what it says
// about row by row is so.
func TestPage(t *testing.T) {
	text, err := os.ReadFile("../../../docs/sql-steps.md")
	if err != nil {
		t.Fatal(err)
	}
	inputs := []sqlstep.Table{
		table("photos", "id:number url title size:number", "1|http://x/1|a red bike|1000", "2|http://x/2|a blue car|2000000", "3|http://x/3|a blue car|10"),
		table("votes", "id:number label confidence:number sure:bool", "1|bike|0.9|true", "1|bike|0.7|true", "2|car|0.5|true", "3|car|0.5|false"),
		table("shop_a", "id:number title", "1|Canon EOS 5D", "2|Nikon D850", "3|Leica"),
		table("shop_b", "id:number title", "7|canon eos 5d body", "8|Fuji", "9|D850 (Nikon)"),
		table("links", "a:number b:number", "1|2", "2|3", "7|8"),
	}
	want := []string{
		"bike|2|0.8 car|1|0.5",
		"1|0.9611111111111111|0.8",
		"1|http://x/1|0.9 3|http://x/3|0.5",
		"a blue car|2 a red bike|1",
		"1|http://x/1|bike 1|http://x/1|bike 1|http://x/1|car 1|http://x/1|car 2|http://x/2|bike 2|http://x/2|bike 2|http://x/2|car 2|http://x/2|car 3|http://x/3|bike 3|http://x/3|bike 3|http://x/3|car 3|http://x/3|car",
		"1|7|0.75 2|9|1",
		"1|1 2|1 3|1 7|7 8|7",
	}
	queries := regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(queries) != len(want) {
		t.Fatalf("the page has %d queries, the test %d", len(queries), len(want))
	}
	for i, q := range queries {
		query := q[1]
		got, err := collect(query, sqlstep.Limits{}, inputs...)
		if err != nil {
			t.Errorf("%s: %v", query, err)
			continue
		}
		if strings.Join(got, " ") != want[i] {
			t.Errorf("%s\ngave %q\nwant %q", query, strings.Join(got, " "), want[i])
		}
		first, _, _ := strings.Cut(query, "\n")
		for said, is := range map[string]bool{"-- row by row: ": true, "-- needs all rows: ": false} {
			if names, ok := strings.CutPrefix(first, said); ok {
				shape, err := sqlstep.Check(context.Background(), query, inputs, strings.Fields(names))
				if err != nil || shape.RowByRow != is {
					t.Errorf("%s\ngave %+v, %v", query, shape, err)
				}
			}
		}
	}
}
