package table_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/throng-dev/throng/internal/kit/table"
)

// What stands between cells is found out from the header and the rows, quotes respected.
func TestDelimiters(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 5000)
	for name, tc := range map[string]struct {
		in   string
		opts table.Options
		want string // the delimiter, and the columns
	}{
		"semicolons, with known answers":         {"photo;_gold\na.jpg;cat\n", table.Options{}, "; photo|_gold"},
		"also where the file is called CSV":      {"photo;_gold\na.jpg;cat\n", table.Options{Format: table.CSV}, "; photo|_gold"},
		"decimal commas in the rows":             {"name;price\nA;1,5\nB;2,5\n", table.Options{}, "; name|price"},
		"bars":                                   {"a|b|c\n1|2|3\n", table.Options{}, "| a|b|c"},
		"tabs, though the names have commas":     {"a, b\tc\n1\t2\n3,5\t4\n", table.Options{}, "tab a, b|c"},
		"semicolons in cells of commas":          {"id,tags\n1,a;b\n2,c;d\n", table.Options{}, ", id|tags"},
		"a comma in a name, semicolons in all":   {"size, in cm;name\n12;Tom\n9;Kim\n", table.Options{}, "; size, in cm|name"},
		"a quoted name has the other":            {"\"a;b\",c\n1,2\n", table.Options{}, ", a;b|c"},
		"only a quoted name has any":             {"\"a;b\"\n1;2\n", table.Options{}, ", a;b"},
		"quoted names throughout":                {"\"a, b\";\"c\"\n\"1, 2\";\"x\"\"y\"\n", table.Options{}, "; a, b|c"},
		"a cell over lines":                      {"a;b\n\"x,\ny,\n\";1\n", table.Options{}, "; a|b"},
		"a header alone":                         {"photo;_gold", table.Options{}, "; photo|_gold"},
		"one column, whose name has a semicolon": {"text; in German\nHallo\nGuten Tag\n", table.Options{}, ", text; in German"},
		"one column, whose texts have commas":    {"text\nOh, well\nYes, no\n", table.Options{}, ", text"},
		"a bad row among good ones":              {"a;b\n1;2\n3\n4;5\n", table.Options{}, "; a|b"},
		"only bad rows":                          {"a,b\n1\n2\n", table.Options{}, ", a|b"},
		"only bad rows, tabs":                    {"a\tb\n1\n", table.Options{}, "tab a|b"},
		"both in the header, one in the rows":    {"a,b;c\n1;2\n3;4\n", table.Options{}, "; a,b|c"},
		"both in the header and in no row":       {"a,b;c,d\n", table.Options{}, ", a|b;c|d"},
		"a row longer than what is looked at":    {"a;b\n" + long + ";2\n1,2;3\n", table.Options{}, "; a|b"},
		"a byte order mark, then quotes":         {"\uFEFF\"a;b\";c\n1;2\n", table.Options{}, "; a;b|c"},
		"CRLF":                                   {"a;b\r\n1;2\r\n", table.Options{}, "; a|b"},
		"said":                                   {"a,b;c\n1,2;3\n", table.Options{Delimiter: table.Semicolon}, "; a,b|c"},
		"said, of a file that is called TSV":     {"a;b\n1;2\n", table.Options{Format: table.TSV, Delimiter: table.Semicolon}, "; a|b"},
		"said, and it looks like JSON":           {"{a;b\n1;2\n", table.Options{Delimiter: table.Semicolon}, "; {a|b"},
		"called TSV":                             {"a;b\n1;2\n", table.Options{Format: table.TSV}, "tab a;b"},
		"objects have none":                      {"{\"a;b\": 1}\n", table.Options{}, " a;b"},
		"said of objects":                        {"{\"a\": 1}\n", table.Options{Format: table.JSONL, Delimiter: table.Pipe}, "delimiter: goes with CSV: a file of the format jsonl has none"},
		"said of Parquet":                        {"PAR1", table.Options{Format: table.Parquet, Delimiter: table.Pipe}, "this is a Parquet file: CSV, TSV or JSON Lines is wanted here"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			rd, err := table.NewReader(strings.NewReader(tc.in), tc.opts)
			if err != nil {
				got = err.Error()
			} else {
				got = rd.Delimiter().String() + " " + strings.Join(rd.Columns(), "|")
				if d := rd.Delimiter(); (d == table.Tab) != (rd.Format() == table.TSV) {
					t.Errorf("the delimiter is %s and the format %s", d, rd.Format())
				}
			}
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestParseDelimiter(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "", "auto": "", ",": ",", "Comma": ",", ";": ";", "semicolon": ";", "\t": "tab", `\t`: "tab", "tab": "tab", "|": "|", "pipe": "|"} {
		var d table.Delimiter
		if err := d.UnmarshalText([]byte(text)); err != nil || d.String() != want {
			t.Errorf("%q is %q, %v; want %q", text, d, err, want)
		}
	}
	if _, err := table.ParseDelimiter(":"); err == nil || !strings.Contains(err.Error(), `":" is not a delimiter: use`) {
		t.Errorf("a colon: %v", err)
	}
}

// A table with two columns or more is read as it was written, whatever stands between its
// cells and in them, if its names are quoted where they hold a delimiter.
func TestDelimitersAreFound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		by := rapid.SampledFrom([]table.Delimiter{table.Comma, table.Tab, table.Semicolon, table.Pipe}).Draw(t, "by")
		quoted := func(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
		columns := rapid.IntRange(2, 5).Draw(t, "columns")
		var lines []string
		for range rapid.IntRange(1, 6).Draw(t, "lines") {
			var cells []string
			for range columns {
				text := rapid.StringMatching(`[a-c,;|\t"\n ]{0,6}`).Draw(t, "cell")
				if len(lines) == 0 { // the header
					text = "n" + text + string(rune('0'+len(cells)))
				}
				cells = append(cells, quoted(text))
			}
			lines = append(lines, strings.Join(cells, string(rune(by))))
		}
		rd, err := table.NewReader(strings.NewReader(strings.Join(lines, "\n")), table.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if rd.Delimiter() != by || len(rd.Columns()) != columns {
			t.Errorf("read with %q into %q, written with %q", rd.Delimiter(), rd.Columns(), by)
		}
	})
}
