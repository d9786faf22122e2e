package table_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/table"
)

// person is what the layout of these tests reads.
type person struct {
	Name string
	Age  float64
}

func people() table.Layout[person] {
	return table.Layout[person]{
		Default: person{Age: 18},
		Columns: []table.Column[person]{
			{Name: "name", Required: true, Filled: true, Unique: true, Read: table.Text(func(p *person) *string { return &p.Name })},
			{Name: "age", Names: []string{"age", "years"}, Read: table.Number(0, 150, func(p *person) *float64 { return &p.Age })},
		},
		Check: func(p *person) error {
			if p.Name == "nobody" {
				return crowd.Fieldf("name", "nobody is nobody")
			}
			return nil
		},
	}
}

func readPeople(l table.Layout[person], text string) (string, error) {
	rows, err := table.NewReader(strings.NewReader(text), table.Options{Format: table.CSV})
	if err != nil {
		return "", err
	}
	var out strings.Builder
	err = l.Each(rows, func(r *table.Record[person]) error {
		if r.Value.Name == "last" {
			return io.ErrUnexpectedEOF
		}
		fmt.Fprintf(&out, "%d %s %g %q\n", r.Line, r.Value.Name, r.Value.Age, r.Cells)
		return nil
	})
	return out.String(), err
}

func TestLayout(t *testing.T) {
	t.Parallel()
	closed, exact, skip := people(), people(), people()
	closed.Closed, exact.Exact = true, true
	var skipped []string
	skip.Skip = func(wrong crowd.Errors) { skipped = append(skipped, wrong.Error()) }
	bad := "years,name\nx,\n200,a\n-1,b\n1,ok\n2,ok\n,nobody\n3\n"
	wrong := `line 2, name: is empty
line 2, years: "x" is not a number
line 3, years: "200" is too much (at most 150)
line 4, years: "-1" is less than 0
line 6, name: "ok" stands in line 5 already
line 7, name: nobody is nobody
line 8: the row has 1 cell, the header has 2`
	for name, c := range map[string]struct {
		layout    table.Layout[person]
		text      string
		want, err string
	}{
		"another order, other columns": {people(), "x,age,name\n1, 5 , ann \n2,,bob\n", "2 ann 5 [\"1\" \" 5 \" \" ann \"]\n3 bob 18 [\"2\" \"\" \"bob\"]\n", ""},
		"white space is kept":          {exact, "name\n ann \n", "2  ann  18 [\" ann \"]\n", ""},
		"a column is missing":          {people(), "who,age\n", "", "name: there is no column name; the columns are who, age"},
		"a column too many":            {closed, "name,x,y\n", "", "line 1, x: is not known (known: name, age, years)\nline 1, y: is not known (known: name, age, years)"},
		"all that is wrong":            {people(), bad, "5 ok 1 [\"1\" \"ok\"]\n", wrong},
		"rows are left out":            {skip, bad, "5 ok 1 [\"1\" \"ok\"]\n", ""},
		"at most a hundred":            {people(), "name,age\n" + strings.Repeat("a\n", 200), "", strings.TrimSuffix(manyShort(), "\n")},
		"another error ends it":        {people(), "name\na\nlast\n\"b\n", "2 a 18 [\"a\"]\n", "unexpected EOF"},
	} {
		got, err := readPeople(c.layout, c.text)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if diff := cmp.Diff(c.want+c.err, got+text); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if diff := cmp.Diff(wrong, strings.Join(skipped, "\n")); diff != "" {
		t.Errorf("what was left out (-want +got):\n%s", diff)
	}
}

func manyShort() string {
	var out strings.Builder
	for line := range table.MaxErrors {
		fmt.Fprintf(&out, "line %d: the row has 1 cell, the header has 2\n", line+2)
	}
	return out.String()
}

// A table whose end is broken is an error, and no endless loop.
func TestLayoutOfABrokenFile(t *testing.T) {
	t.Parallel()
	file := parquetFile(t, []pair{{"one", []byte("1")}, {"two", []byte("2")}})
	file = append([]byte("PAR1\xff\xff\xff\xff\xff\xff"), file[10:]...)
	rows, err := table.OpenFile(strings.NewReader(string(file)), int64(len(file)), table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	layout := table.Layout[person]{Columns: []table.Column[person]{{Name: "a"}}}
	err = layout.Each(rows, func(*table.Record[person]) error { return nil })
	if list := (crowd.Errors)(nil); err == nil || errors.As(err, &list) || !strings.Contains(err.Error(), "broken or not whole") {
		t.Errorf("got %v", err)
	}
}
