package table_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/table"
)

// distinct reads a CSV file as d says: its rows and its errors, each with its line.
func distinct(t *testing.T, d table.Duplicates, file string) (out []string, dropped int64) {
	t.Helper()
	rows, err := table.NewReader(strings.NewReader(file), table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := d.Of(rows)
	if err != nil {
		t.Fatal(err)
	}
	for {
		cells, line, err := r.Read()
		if errors.Is(err, io.EOF) {
			return out, r.Dropped
		}
		if err != nil {
			out = append(out, err.Error())
			continue
		}
		out = append(out, fmt.Sprintf("%d %s", line, strings.Join(cells, "|")))
	}
}

func TestRowsThatAreThereTwice(t *testing.T) {
	t.Parallel()
	const file = "id,name\n1,a\n2,b\n1,a\n1,c\n\"\n,x\n,y\n2,b\n"
	for d, want := range map[table.Duplicates][]string{
		{}:               {"2 1|a", "3 2|b", "4 1|a", "5 1|c", "BAD", "7 |x", "8 |y", "9 2|b"},
		{Do: table.Keep}: {"2 1|a", "3 2|b", "4 1|a", "5 1|c", "BAD", "7 |x", "8 |y", "9 2|b"},
		{Do: table.Drop}: {"2 1|a", "3 2|b", "5 1|c", "BAD", "7 |x", "8 |y", "-2"},
		{Do: table.Refuse}: {
			"2 1|a", "3 2|b", "line 4: the row is the same as line 2", "5 1|c", "BAD", "7 |x", "8 |y", "line 9: the row is the same as line 3",
		},
		{Do: table.Drop, Key: "id"}: {"2 1|a", "3 2|b", "BAD", "7 |x", "-4"},
		{Do: table.Refuse, Key: "id"}: {
			"2 1|a", "3 2|b", "line 4, id: is what line 2 has, too", "line 5, id: is what line 2 has, too", "BAD", "7 |x", "line 8, id: is what line 7 has, too", "line 9, id: is what line 3 has, too",
		},
		{Do: table.Drop, Key: "name"}: {"2 1|a", "3 2|b", "5 1|c", "BAD", "7 |x", "8 |y", "-2"},
	} {
		got, dropped := distinct(t, d, file)
		for i := range got {
			if strings.Contains(got[i], "quote") {
				got[i] = "BAD"
			}
		}
		if dropped > 0 {
			got = append(got, fmt.Sprint(-dropped))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%+v:\n%q, want\n%q", d, got, want)
		}
	}
	// What stands in which cell counts.
	if got, dropped := distinct(t, table.Duplicates{Do: table.Drop}, "a,b\nx,\n,x\n\"x,\",\nxy,z\nx,yz\n"); dropped != 0 {
		t.Errorf("rows that differ are dropped: %q", got)
	}
}

// TestDistinctRowsOfRandomFiles compares it with a map of whole rows.
func TestDistinctRowsOfRandomFiles(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var file strings.Builder
		file.WriteString("id,name\n")
		seen, byID, whole, firsts := map[string]bool{}, map[string]bool{}, 0, 0
		for range random.IntN(60) {
			id, row := fmt.Sprint(random.IntN(9)), ""
			row = id + "," + strings.Repeat("x", random.IntN(3))
			file.WriteString(row + "\n")
			if !seen[row] {
				whole++
			}
			if !byID[id] {
				firsts++
			}
			seen[row], byID[id] = true, true
		}
		if got, _ := distinct(t, table.Duplicates{Do: table.Drop}, file.String()); len(got) != whole {
			t.Fatalf("%d rows in place of %d of\n%s", len(got), whole, file.String())
		}
		if got, _ := distinct(t, table.Duplicates{Do: table.Drop, Key: "id"}, file.String()); len(got) != firsts {
			t.Fatalf("%d rows in place of %d by id of\n%s", len(got), firsts, file.String())
		}
	}
}

func TestWhatIsWrongWithDuplicates(t *testing.T) {
	t.Parallel()
	for d, field := range map[table.Duplicates]string{
		{Do: "once"}: "duplicates", {Do: "Drop"}: "duplicates", {Key: "id"}: "key", {Do: table.Keep, Key: "id"}: "key", {Do: table.Drop, Key: "ID"}: "key",
	} {
		rows, err := table.NewReader(strings.NewReader("id\n1\n"), table.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var wrong *crowd.Error
		if _, err := d.Of(rows); !errors.As(err, &wrong) || wrong.Code != crowd.Invalid || wrong.Field != field {
			t.Errorf("%+v: %v", d, err)
		}
	}
}

// TestSoManyRowsAreCompared, and no more: what is kept of them is in memory.
func TestSoManyRowsAreCompared(t *testing.T) {
	t.Parallel()
	c, err := (table.Duplicates{Do: table.Drop}).Compare([]string{"n"})
	if err != nil {
		t.Fatal(err)
	}
	for n := range table.MaxCompared {
		if err := c.Add([]string{fmt.Sprint(n)}, int64(n)); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Add([]string{"one more"}, 0); crowd.CodeOf(err) != crowd.TooLarge {
		t.Errorf("one more: %v", err)
	}
}
