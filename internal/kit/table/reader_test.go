package table_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/table"
)

// outline reads a whole table and tells it as text: one line for the columns,
// one for each row or bad row, one for the end unless it is io.EOF.
func outline(t testing.TB, r io.Reader, opts table.Options) string {
	t.Helper()
	var out strings.Builder
	rd, err := table.NewReader(r, opts)
	if err != nil {
		return fmt.Sprintf("fatal %s: %v\n", crowd.CodeOf(err), err)
	}
	fmt.Fprintf(&out, "%s %q\n", rd.Format(), rd.Columns())
	last := 0
	for {
		row, line, err := rd.Read()
		switch {
		case errors.Is(err, io.EOF):
			if _, _, again := rd.Read(); again != io.EOF {
				t.Errorf("Read after the end: %v, want io.EOF", again)
			}
			return out.String()
		case table.BadRow(err):
			var e *crowd.Error
			if !errors.As(err, &e) || e.Row != line || row != nil {
				t.Errorf("bad row: Row and line differ or a row came along: %v, %d, %q", err, line, row)
			}
			fmt.Fprintf(&out, "%s: %v\n", e.Code, err)
		case err != nil:
			fmt.Fprintf(&out, "final %s: %v\n", crowd.CodeOf(err), err)
			return out.String()
		default:
			fmt.Fprintf(&out, "%d %q\n", line, row)
			if len(row) != len(rd.Columns()) {
				t.Errorf("line %d: %d cells for %d columns", line, len(row), len(rd.Columns()))
			}
		}
		if line <= last {
			t.Errorf("line %d comes after line %d", line, last)
		}
		last = line
	}
}

func TestReader(t *testing.T) {
	t.Parallel()
	small := table.Options{MaxRowBytes: 20, MaxColumns: 3}
	cases := map[string]struct {
		in   string
		opts table.Options
		want string
	}{
		"plain": {in: "id,text\n1,one\n2,two\n", want: `csv ["id" "text"]
2 ["1" "one"]
3 ["2" "two"]
`},
		"no line end at the end of the file, CRLF, byte order mark, padded names": {in: "\uFEFFid , text\r\n1, one\r\n2,two", want: `csv ["id" "text"]
2 ["1" " one"]
3 ["2" "two"]
`},
		"a header alone": {in: "id,text", want: "csv [\"id\" \"text\"]\n"},
		"empty lines are skipped but counted": {in: "\n\nid\n\n1\r\n\r\n\"\"\n", want: `csv ["id"]
5 ["1"]
7 [""]
`},
		"quotes, commas and line ends in cells": {in: "a,b\n\"x, \"\"y\"\"\",\"line\r\nline\n\"\nz,\"\"\n", want: `csv ["a" "b"]
2 ["x, \"y\"" "line\r\nline\n"]
5 ["z" ""]
`},
		"empty cells at the end": {in: "a,b,c\n,,\n1,,\n", want: `csv ["a" "b" "c"]
2 ["" "" ""]
3 ["1" "" ""]
`},
		"ragged rows": {in: "a,b\n1\n1,2,3\n1,2\n", want: `csv ["a" "b"]
invalid: line 2: the row has 1 cell, the header has 2
invalid: line 3: the row has 3 cells, the header has 2
4 ["1" "2"]
`},
		"bad UTF-8 names the column, also when halves would join": {in: "a,b\nx,\xff\n\xc3,\xa9\nx,\"\n\xff\"\n1,2\n", want: `csv ["a" "b"]
invalid: line 2, b: the cell is not UTF-8 text: save the file as UTF-8
invalid: line 3, a: the cell is not UTF-8 text: save the file as UTF-8
invalid: line 4, b: the cell is not UTF-8 text: save the file as UTF-8
6 ["1" "2"]
`},
		"NUL": {in: "a\nx\x00\ny\n", want: `csv ["a"]
invalid: line 2, a: the cell holds a NUL character: remove it
3 ["y"]
`},
		"a bare quote": {in: "a,b\n1,say \"hi\"\n2,ok\n", want: `csv ["a" "b"]
invalid: line 2, b: a quote stands in a cell that is not quoted: quote the whole cell and write the quote twice
3 ["2" "ok"]
`},
		"text after the closing quote": {in: "a,b\n\"x\"y,1\n2,ok\n", want: `csv ["a" "b"]
invalid: line 2, a: text follows the closing quote: a quote within a quoted cell is written twice
3 ["2" "ok"]
`},
		"a quote that is never closed costs its first line only": {in: "a,b\n1,\"x\n2,ok\n3,ok\n", want: `csv ["a" "b"]
invalid: line 2, b: the quoted cell is not closed
3 ["2" "ok"]
4 ["3" "ok"]
`},
		"a quote that is closed by the next row's opening quote": {in: "a,b\n1,\"x\n2,\"ok\"\n3,\"ok\"\n", want: `csv ["a" "b"]
invalid: line 2, b: text follows the closing quote: a quote within a quoted cell is written twice
3 ["2" "ok"]
4 ["3" "ok"]
`},
		"the rest of a bad row that spans lines is reported by itself": {in: "a,b\n1,\"one\ntwo\" oops\n2,ok\n", want: `csv ["a" "b"]
invalid: line 2, b: text follows the closing quote: a quote within a quoted cell is written twice
invalid: line 3, a: a quote stands in a cell that is not quoted: quote the whole cell and write the quote twice
4 ["2" "ok"]
`},
		"rows that are too long": {in: "a,b\n1," + strings.Repeat("x", 30) + "\n2,ok\n3,\"\n4,6789012345678901\n5,ok\n6," + strings.Repeat("x", 100_000), opts: small, want: `csv ["a" "b"]
too_large: line 2: the row is longer than 20 bytes
3 ["2" "ok"]
too_large: line 4: the row is longer than 20 bytes: is a quote not closed?
5 ["4" "6789012345678901"]
6 ["5" "ok"]
too_large: line 7: the row is longer than 20 bytes
`},
		"far too many cells are counted, not kept": {in: "a,b\n" + strings.Repeat(",", 15) + "\n1,2\n", opts: small, want: `csv ["a" "b"]
invalid: line 2: the row has 16 cells, the header has 2
3 ["1" "2"]
`},
		"tabs": {in: "a\tb\n1,5\t\"x\ty\"\n", want: `tsv ["a" "b"]
2 ["1,5" "x\ty"]
`},
		"tabs by option": {in: "a\n1\n", opts: table.Options{Format: table.TSV}, want: `tsv ["a"]
2 ["1"]
`},

		"empty file":            {in: "", want: "fatal invalid: the file is empty: its first line should name the columns\n"},
		"only empty lines":      {in: "\n\r\n\n", want: "fatal invalid: the file is empty: its first line should name the columns\n"},
		"only a mark":           {in: "\uFEFF", want: "fatal invalid: the file is empty: its first line should name the columns\n"},
		"two columns of a name": {in: "a,b, a\n", want: "fatal invalid: line 1, a: columns 1 and 3 have the same name\n"},
		"a name beyond measure": {in: "a," + strings.Repeat("b", 256) + "," + strings.Repeat("c", 257) + "\n", want: "fatal invalid: line 1, " + strings.Repeat("c", 100) + "…: the column's name has 257 bytes, at most 256 are allowed\n"},
		"a column without name": {in: "\na,,b\n", want: "fatal invalid: line 2, column 2: the column has no name: the first line should name every column\n"},
		"too many columns":      {in: "a,b,c,d\n", opts: small, want: "fatal too_large: line 1: the row of column names cannot be read: it has 4 columns, 3 are allowed\n"},
		"too long a header":     {in: strings.Repeat("a", 21), opts: small, want: "fatal too_large: line 1: the row of column names cannot be read: the row is longer than 20 bytes\n"},
		"bad UTF-8 in header":   {in: "a,\xff\n", want: "fatal invalid: line 1, column 2: the row of column names cannot be read: the cell is not UTF-8 text: save the file as UTF-8\n"},
		"bad quote in header":   {in: "a,b\"\n1,2\n", want: "fatal invalid: line 1, column 2: the row of column names cannot be read: a quote stands in a cell that is not quoted: quote the whole cell and write the quote twice\n"},
		"CR line ends":          {in: "a,b\r1,2\r", want: "fatal invalid: line 1: the lines end with CR alone: save the file with LF or CRLF line ends\n"},
		"UTF-16":                {in: "\xff\xfea\x00", want: "fatal invalid: this is UTF-16 text: save the file as UTF-8\n"},
		"Excel":                 {in: "PK\x03\x04rest", want: "fatal invalid: this is an Excel workbook or a ZIP archive: save the sheet as CSV (UTF-8)\n"},

		"objects": {in: `{"id": 1, "text": "caf\u00e9 \"x\"", "f": -1.50e3, "ok": true, "none": null, "deep": { "a" : [1, "} ]"] }, "é": []}
 {"text":"b","id":"2","f":0,"ok":false,"none":"","deep":"x","é":{}}

`, want: `jsonl ["id" "text" "f" "ok" "none" "deep" "é"]
1 ["1" "café \"x\"" "-1.50e3" "true" "" "{\"a\":[1,\"} ]\"]}" "[]"]
2 ["2" "b" "0" "false" "" "x" "{}"]
`},
		"bad objects": {in: `{"a":1,"b":2}
{"a":1}
{"a":1,"b":2,"c":3}
{"a":1,"b":2,"a":3}
{"a":1,"b"}
{"a":1,
"b":2}
[1]
7
{"a":"` + "\xff" + `","b":2}
{"a":{"x":"` + "\xff" + `"},"b":2}
{"a":"\u0000","b":2}
{"a":"x","b":2} {}
{"a":"\ud800","b":2}
{"a":{"x":"\ude00\ud83d"},"b":2}
{"b":"last","a":"\ud83d\ude00"}`, want: `jsonl ["a" "b"]
1 ["1" "2"]
invalid: line 2, b: the key is missing: write null for an empty cell
invalid: line 3, c: the first object has no such key
invalid: line 4, a: the key stands twice in the object
invalid: line 5: the JSON is broken at byte 11: invalid character '}' after object key
invalid: line 6: the JSON breaks off: an object must stand on one line, whole
invalid: line 7: the JSON is broken at byte 4: invalid character ':' after top-level value
invalid: line 8: the line is a JSON array: write one object a line, without brackets or commas around them
invalid: line 9: the line is not a JSON object: it should look like {"name": "value"}
invalid: line 10, a: the value is not UTF-8 text: save the file as UTF-8
invalid: line 11, a: the value is not UTF-8 text: save the file as UTF-8
invalid: line 12, a: the value holds a NUL character: remove it
invalid: line 13: the JSON is broken at byte 17: invalid character '{' after top-level value
invalid: line 14, a: the value holds \ud800, half a character: write both halves or remove it
invalid: line 15, a: the value holds \ude00, half a character: write both halves or remove it
16 ["😀" "last"]
`},
		"objects too long or too wide": {in: "{\"a\":1}\n{\"a\":\"" + strings.Repeat("x", 30) + "\"}\n{\"a\":2}\n", opts: small, want: `jsonl ["a"]
1 ["1"]
too_large: line 2: the row is longer than 20 bytes
3 ["2"]
`},
		"first object too wide": {in: `{"a":1,"b":2,"c":3,"d":4}`, opts: table.Options{MaxColumns: 3}, want: "fatal too_large: line 1: the columns are the keys of the first object, which cannot be read: the object has more than 3 keys\n"},
		"a later piece": {in: "{\"a\":1,\"c\":2}\n{\"b\":3,\"a\":1}\n{}\n", opts: table.Options{Format: table.JSONL, First: []string{"a", "b"}}, want: `jsonl ["a" "b"]
invalid: line 1, c: the first object has no such key
2 ["1" "3"]
invalid: line 3, a: the key is missing: write null for an empty cell
`},
		"a later piece, empty":     {in: "", opts: table.Options{Format: table.JSONL, First: []string{"a"}}, want: "jsonl [\"a\"]\n"},
		"first object empty":       {in: "{}\n", want: "fatal invalid: line 1: the columns are the keys of the first object, which cannot be read: the object is empty: its keys should name the columns\n"},
		"first object, empty key":  {in: `{"a":1,"":2}`, want: "fatal invalid: line 1, column 2: the column has no name: the first line should name every column\n"},
		"first object, key twice":  {in: `{"a":1,"a":2}`, want: "fatal invalid: line 1, a: columns 1 and 2 have the same name\n"},
		"first object, bad key":    {in: "{\"a\":1,\"\xff\":2}", want: "fatal invalid: line 1, column 2: the columns are the keys of the first object, which cannot be read: the key is not UTF-8 text: save the file as UTF-8\n"},
		"an array of objects":      {in: `[{"a":1}]`, want: "fatal invalid: line 1: the columns are the keys of the first object, which cannot be read: the line is a JSON array: write one object a line, without brackets or commas around them\n"},
		"JSON over several lines":  {in: "{\n  \"a\": 1\n}\n", want: "fatal invalid: line 1: the columns are the keys of the first object, which cannot be read: the JSON breaks off: an object must stand on one line, whole\n"},
		"blank lines before JSONL": {in: " \n\n{\"a\":1}\n", want: "jsonl [\"a\"]\n3 [\"1\"]\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, outline(t, strings.NewReader(tc.in), tc.opts)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got := outline(t, iotest.OneByteReader(strings.NewReader(tc.in)), tc.opts); got != tc.want {
				t.Errorf("byte by byte it reads differently:\n%s", got)
			}
		})
	}
}

func TestReaderSourceFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken pipe")
	for _, in := range []string{"", "a,b", "a,b\n1,2\n3", "a,b\n1,\"2\n", "{\"a\":1}\n{"} {
		src := io.MultiReader(strings.NewReader(in), iotest.ErrReader(broken))
		rd, err := table.NewReader(src, table.Options{})
		for n := 0; err == nil; n++ {
			if _, _, err = rd.Read(); n > 10 {
				t.Fatalf("%q: no end", in)
			}
		}
		if !errors.Is(err, broken) || table.BadRow(err) {
			t.Errorf("%q: got %v, want the failure of the source, final", in, err)
		}
		if rd != nil {
			if _, _, again := rd.Read(); !errors.Is(again, broken) {
				t.Errorf("%q: a later Read gives %v", in, again)
			}
		}
	}
}

// An endless row must not be held in memory, nor must an unclosed quote make
// the reader go over the file again for each line. Not parallel: it counts the
// bytes that are allocated.
func TestReaderIsBounded(t *testing.T) {
	const n = 4 << 20
	for name, tc := range map[string]struct {
		in   io.Reader
		rows int
		most uint64 // bytes allocated; 0: not looked at, as good rows need some
	}{
		"one endless line":                  {io.MultiReader(strings.NewReader("a\n\""), io.LimitReader(repeat("x"), 16*n)), 1, 8 << 20},
		"an unclosed quote and short lines": {io.MultiReader(strings.NewReader("a\n\""), io.LimitReader(repeat("xxxxxxx\n"), n)), n / 8, 0},
		"every line opens a quote":          {io.MultiReader(strings.NewReader("a,b\n"), io.LimitReader(repeat("x,\"xxx\n"), n)), n/7 + 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			rd, err := table.NewReader(tc.in, table.Options{})
			if err != nil {
				t.Fatal(err)
			}
			rows := 0
			for ; ; rows++ {
				_, _, err := rd.Read()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil && !table.BadRow(err) {
					t.Fatal(err)
				}
			}
			runtime.ReadMemStats(&after)
			if rows != tc.rows {
				t.Errorf("%d rows, good and bad, want %d", rows, tc.rows)
			}
			if used := after.TotalAlloc - before.TotalAlloc; tc.most > 0 && used > tc.most {
				t.Errorf("%d bytes were allocated, at most %d are wanted", used, tc.most)
			}
		})
	}
}

type repeat string

func (r repeat) Read(p []byte) (int, error) {
	n := 0
	for n+len(r) <= len(p) {
		n += copy(p[n:], r)
	}
	if n == 0 {
		n = copy(p, r)
	}
	return n, nil
}

func TestFormats(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]table.Format{
		"a.csv": table.CSV, "A.CSV": table.CSV, "x/y.tsv": table.TSV, "a.tab": table.TSV,
		"a.jsonl": table.JSONL, "a.ndjson": table.JSONL, "a.Parquet": table.Parquet, "a.json": table.Auto, "a": table.Auto, "": table.Auto,
	} {
		if got := table.FormatOf(name); got != want {
			t.Errorf("FormatOf(%q) = %q, want %q", name, got, want)
		}
	}
	for name, want := range map[string]table.Format{"CSV": table.CSV, "tsv": table.TSV, "ndjson": table.JSONL, "parquet": table.Parquet, "auto": table.Auto, "": table.Auto} {
		if got, err := table.ParseFormat(name); got != want || err != nil {
			t.Errorf("ParseFormat(%q) = %q, %v, want %q", name, got, err, want)
		}
	}
	for name, want := range map[string]string{
		"a.csv": "csv", "a.parquet": "parquet", "labels": "", "labels.txt": "",
		"a.xlsx": "a.xlsx: no file of the kind .xlsx", "x/A.JSON": "x/A.JSON: no file of the kind .json", "a.csv.gz": "a.csv.gz: no file of the kind .gz",
	} {
		got, err := table.FormatToWrite(name)
		said := string(got)
		if err != nil {
			said, _, _ = strings.Cut(err.Error(), " is written")
		}
		if said != want {
			t.Errorf("FormatToWrite(%q) = %q, %v, want %q", name, got, err, want)
		}
	}
	if _, err := table.ParseFormat("xls"); err == nil || err.Error() != `format: "xls" is not a format: use csv, tsv, jsonl or parquet` {
		t.Errorf("ParseFormat(xls): %v", err)
	}
}

// FuzzReader looks for panics, endless loops, rows that break the promises of
// Read, and rows that encoding/csv reads otherwise.
func FuzzReader(f *testing.F) {
	for _, s := range []string{
		"a,b\n1,2\n", "a,b\n1,\"2\n3,4\n", "a\n\"x\"y\n", "a\tb\n\xff\t1\n", "\uFEFFa\n\"\"\n", "a,b\r\n\"\r\n\",\r", "a;b,c\n1;2\n", "a|\"b;\"\n",
		`{"a":1,"b":[{}]}` + "\n" + `{"b":"\u00e9","a":null}`, `{"a":"\"}"}` + "\n{", "{}", "[{}]",
	} {
		for i := byte(0); i < 20; i++ {
			f.Add(i, []byte(s))
		}
	}
	formats := []table.Format{table.Auto, table.CSV, table.TSV, table.JSONL}
	f.Fuzz(func(t *testing.T, which byte, data []byte) {
		delimiters := []table.Delimiter{0, table.Comma, table.Semicolon, table.Tab, table.Pipe}
		opts := table.Options{Format: formats[int(which)%len(formats)], Delimiter: delimiters[int(which>>2)%len(delimiters)], MaxRowBytes: 200, MaxColumns: 10}
		outline(t, bytes.NewReader(data), opts) // checks width and line numbers
		rd, err := table.NewReader(bytes.NewReader(data), opts)
		if err != nil {
			return
		}
		var rows [][]string
		clean := true
		for {
			row, _, err := rd.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if clean = clean && err == nil; err == nil {
				rows = append(rows, row)
			}
			for _, cell := range row {
				if !utf8.ValidString(cell) || strings.ContainsRune(cell, 0) {
					t.Errorf("cell %q", cell)
				}
			}
		}
		if rd.Format() == table.JSONL || bytes.ContainsAny(data, "\r\x00") || len(data) > 200 {
			return
		}
		std := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\uFEFF"))))
		std.Comma = rune(rd.Delimiter())
		all, err := std.ReadAll()
		if ok := err == nil && utf8.Valid(data); ok != clean {
			t.Fatalf("encoding/csv says %v, we read it clean: %v", err, clean)
		}
		if clean && !slices.EqualFunc(all[1:], rows, slices.Equal) {
			t.Errorf("rows %q, encoding/csv has %q", rows, all[1:])
		}
	})
}
