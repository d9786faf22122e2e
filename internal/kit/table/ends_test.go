package table_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throng-dev/throng/internal/kit/table"
)

// pieces cuts a text where its rows end; the last piece is what is not whole.
func pieces(text string, opts table.Options) (list []string) {
	last := 0
	for end := range table.Ends([]byte(text), opts) {
		list = append(list, text[last:end])
		last = end
	}
	return append(list, text[last:])
}

func TestEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		opts table.Options
		text []string // as it is cut
	}{
		"lines":                            {table.Options{Format: table.CSV}, []string{"a,b\n", "1,2\r\n", "3,"}},
		"a line that has not ended":        {table.Options{Format: table.CSV}, []string{"a,b"}},
		"quotes over lines":                {table.Options{Format: table.CSV}, []string{"a,b\n", "1,\"x\n\"\"\ny\"\n", "2,\"x\ny\""}},
		"a quote that is not closed yet":   {table.Options{Format: table.CSV}, []string{"a,b\n", "1,\"x\n2,y\n"}},
		"a wrong quote is of its line":     {table.Options{Format: table.CSV}, []string{"a,b\n", "5\" pipe,x\n", "foo,y\n", "bar,z\n", ""}},
		"a wrong quote after quotes":       {table.Options{Format: table.CSV}, []string{"a,b\n", "1,\"x\n", "y\"z\n", "2,z\n", ""}},
		"empty lines go before a row":      {table.Options{Format: table.CSV}, []string{"\uFEFF\r\n\na,b\n", "\n1,2\n", "\n\n"}},
		"a byte order mark before a quote": {table.Options{Format: table.CSV}, []string{"\uFEFF\"a\nb\",c\n", "1,2\n", ""}},
		"tabs, and quotes as in CSV":       {table.Options{Format: table.TSV}, []string{"a\tb\n", "1\t\"x\ny\"\n", "5\" pipe\tx\n", "2\t\"z\n"}},
		"quotes of objects":                {table.Options{Format: table.JSONL}, []string{"{\"a\": \"\n", " \n{\"a\": 1}\n", " \r\n{"}},
		"a row that is too long":           {table.Options{Format: table.CSV, MaxRowBytes: 10}, []string{"a,b\n", "1,234567890", ""}},
		"quotes that are too long":         {table.Options{Format: table.CSV, MaxRowBytes: 10}, []string{"a,b\n", "1,\"2\n", "34\n", "5678\n", "9"}},
		"an object that is too long":       {table.Options{Format: table.JSONL, MaxRowBytes: 10}, []string{"{\"a\": \"bcdef", ""}},
	} {
		if diff := cmp.Diff(c.text, pieces(strings.Join(c.text, ""), c.opts)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}

// The rows of any text are those that a Reader finds, wherever the text breaks off, and
// what is written later takes none of them back.
func TestEndsAreThoseOfTheReader(t *testing.T) {
	t.Parallel()
	const letters = "\"\"\",,\t\n\n\n\r12{}: "
	heads := map[table.Format]string{table.CSV: "a,b\n", table.TSV: "a\tb\n", table.JSONL: "{\"1\": 2}\n"}
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 3_000 {
		opts := table.Options{Format: []table.Format{table.CSV, table.TSV, table.JSONL}[n%3]}
		head := heads[opts.Format]
		var text []byte
		for range random.IntN(20) {
			text = append(text, letters[random.IntN(len(letters))])
		}
		text = append(text, '\n')
		cut := pieces(string(text), opts)
		whole, rest := cut[:len(cut)-1], cut[len(cut)-1]
		want := rowsOf(t, head+string(text), opts)
		if strings.Contains(rest, "\"") { // which may be closed yet
			want = want[:min(len(whole), len(want))]
		}
		var got []string
		for _, piece := range whole {
			got = append(got, rowsOf(t, head+piece, opts)...)
		}
		if !slices.Equal(got, want) || len(got) != len(whole) {
			t.Fatalf("%s %q, cut as %q, has the rows %q, its pieces have %q", opts.Format, text, cut, want, got)
		}
		for k := range text {
			early := pieces(string(text[:k]), opts)
			if early = early[:len(early)-1]; len(early) > len(whole) || !slices.Equal(early, whole[:len(early)]) {
				t.Fatalf("%s %q: cut as %q, and up to byte %d as %q", opts.Format, text, cut, k, early)
			}
		}
	}
}

// rowsOf tells the rows after the first line of a table: their cells, or that they are bad.
func rowsOf(t *testing.T, text string, opts table.Options) (list []string) {
	t.Helper()
	rows, err := table.NewReader(strings.NewReader(text), opts)
	if err != nil {
		t.Fatal(err)
	}
	for {
		row, line, err := rows.Read()
		switch {
		case errors.Is(err, io.EOF):
			return list
		case line == 1: // of JSON Lines
		case err != nil:
			list = append(list, "bad")
		default:
			list = append(list, fmt.Sprintf("%q", row))
		}
	}
}
