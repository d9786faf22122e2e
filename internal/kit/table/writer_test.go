package table_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/throng-dev/throng/internal/kit/table"
)

func write(t testing.TB, columns []string, rows [][]string, opts table.WriterOptions) string {
	t.Helper()
	var out strings.Builder
	w, err := table.NewWriter(&out, columns, opts)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if err := w.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestWriter(t *testing.T) {
	t.Parallel()
	columns := []string{"id", "text"}
	rows := [][]string{{"1", `say "hi", ok`}, {"-2", "=1+1"}, {"", " a\nb"}}
	cases := map[string]struct {
		opts table.WriterOptions
		want string
	}{
		"plain":           {table.WriterOptions{}, "id,text\n1,\"say \"\"hi\"\", ok\"\n-2,=1+1\n,\" a\nb\"\n"},
		"MTurk":           {table.WriterOptions{QuoteAll: true, CRLF: true}, "\"id\",\"text\"\r\n\"1\",\"say \"\"hi\"\", ok\"\r\n\"-2\",\"=1+1\"\r\n\"\",\" a\nb\"\r\n"},
		"TSV with a mark": {table.WriterOptions{Format: table.TSV, BOM: true}, "\uFEFFid\ttext\n1\t\"say \"\"hi\"\", ok\"\n-2\t=1+1\n\t\" a\nb\"\n"},
		"guarded":         {table.WriterOptions{GuardFormulas: true}, "id,text\n1,\"say \"\"hi\"\", ok\"\n-2,'=1+1\n,\" a\nb\"\n"},
		"objects":         {table.WriterOptions{Format: table.JSONL, JSONColumns: []string{"id"}}, `{"id":1,"text":"say \"hi\", ok"}` + "\n" + `{"id":-2,"text":"=1+1"}` + "\n" + `{"id":null,"text":" a\nb"}` + "\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, write(t, columns, rows, tc.opts)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if got, want := write(t, []string{"a"}, [][]string{{""}, {"<\xff>"}}, table.WriterOptions{}), "a\n\"\"\n<\uFFFD>\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWriterRefuses(t *testing.T) {
	t.Parallel()
	for want, columns := range map[string][]string{
		"a table needs at least one column":             nil,
		`column 2: "" is empty or names two columns`:    {"a", ""},
		`column 3: "a" is empty or names two columns`:   {"a", "b", "a"},
		`column 1: " \t" is empty or names two columns`: {" \t"},
	} {
		if _, err := table.NewWriter(io.Discard, columns, table.WriterOptions{}); err == nil || err.Error() != want {
			t.Errorf("NewWriter(%q): %v, want %s", columns, err, want)
		}
	}
	var out strings.Builder
	w, err := table.NewWriter(&out, []string{"a", "b"}, table.WriterOptions{Format: table.JSONL, JSONColumns: []string{"b"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write([]string{"1"}); err == nil || err.Error() != "write table: the row has 1 cell, the header has 2" {
		t.Errorf("short row: %v", err)
	}
	if err := w.Write([]string{"1", "{"}); err == nil || err.Error() != "write table: column 2 is not JSON: unexpected end of JSON input" {
		t.Errorf("bad JSON: %v", err)
	}
	if err := w.Flush(); err != nil || out.String() != "" {
		t.Errorf("a refused row left %q behind (%v)", out.String(), err)
	}
	full := errors.New("disk full")
	w, err = table.NewWriter(failing{full}, []string{"a"}, table.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); !errors.Is(err, full) {
		t.Errorf("Flush: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// FuzzRoundTrip checks that what is written reads back equal, in every format.
func FuzzRoundTrip(f *testing.F) {
	f.Add(byte(0), "a", "b", "x", "y", "", "")
	f.Add(byte(1), "a,\"", "\uFEFF", " x ", "\"", "\r", "\n\r\n")
	f.Add(byte(2), "{", "[", "\t", "a\tb", "\u2028<>&", "{\"a\":1}")
	f.Add(byte(3), "=1", "@", "'", "\uFEFF", "\\", "\\u0000")
	f.Fuzz(func(t *testing.T, which byte, c0, c1, a0, a1, b0, b1 string) {
		all := []string{c0, c1, a0, a1, b0, b1}
		for i, s := range all {
			if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
				return
			}
			if i < 2 {
				all[i] = strings.TrimSpace(s)
				if strings.Contains(strings.ReplaceAll(s, "\r\n", ""), "\r") {
					return // looks like a file with CR line ends
				}
			}
		}
		if all[0] == "" || all[1] == "" || all[0] == all[1] {
			return
		}
		opts := table.WriterOptions{
			Format: []table.Format{table.CSV, table.TSV, table.JSONL}[which%3], QuoteAll: which&4 > 0, CRLF: which&8 > 0, BOM: which&16 > 0,
		}
		for _, width := range []int{1, 2} {
			rows := [][]string{all[2 : 2+width], all[4 : 4+width]}
			text := write(t, all[:width], rows, opts)
			rd, err := table.NewReader(strings.NewReader(text), table.Options{Format: opts.Format})
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			if diff := cmp.Diff(all[:width], rd.Columns()); diff != "" {
				t.Errorf("columns (-want +got):\n%s", diff)
			}
			for _, want := range rows {
				row, _, err := rd.Read()
				if err != nil {
					t.Fatalf("%q: %v", text, err)
				}
				if diff := cmp.Diff(want, row); diff != "" {
					t.Errorf("row (-want +got):\n%s", diff)
				}
			}
			if _, _, err := rd.Read(); err != io.EOF {
				t.Errorf("%q: after the last row: %v", text, err)
			}
		}
	})
}
