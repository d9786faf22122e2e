package table_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/table"
)

// parquetFile writes rows by the library, so that what is read was not written
// by us.
func parquetFile[T any](t testing.TB, rows []T, opts ...parquet.WriterOption) []byte {
	t.Helper()
	var out bytes.Buffer
	w := parquet.NewGenericWriter[T](&out, opts...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// parquetOutline reads a file as outline does.
func parquetOutline(t testing.TB, file []byte, opts table.Options) string {
	t.Helper()
	var out strings.Builder
	rows, err := table.OpenFile(bytes.NewReader(file), int64(len(file)), opts)
	if err != nil {
		return fmt.Sprintf("fatal %s: %v\n", crowd.CodeOf(err), err)
	}
	fmt.Fprintf(&out, "%s %q\n", rows.Format(), rows.Columns())
	for n := 0; ; n++ {
		row, line, err := rows.Read()
		switch {
		case errors.Is(err, io.EOF):
			if _, _, again := rows.Read(); again != io.EOF {
				t.Errorf("Read after the end: %v, want io.EOF", again)
			}
			return out.String()
		case table.BadRow(err):
			var e *crowd.Error
			if !errors.As(err, &e) || e.Row != line || row != nil || line != n+1 {
				t.Errorf("bad row %d: %v, %d, %q", n, err, line, row)
			}
			fmt.Fprintf(&out, "%s: %v\n", e.Code, err)
		case err != nil:
			if _, _, again := rows.Read(); again != err {
				t.Errorf("Read after a final error: %v, then %v", err, again)
			}
			fmt.Fprintf(&out, "final %s: %v\n", crowd.CodeOf(err), err)
			return out.String()
		default:
			if line != n+1 || len(row) != len(rows.Columns()) {
				t.Errorf("row %d: it has number %d and %d cells", n+1, line, len(row))
			}
			fmt.Fprintf(&out, "%d %q\n", line, row)
		}
	}
}

type scalars struct {
	Text  string           `parquet:"text"`
	Null  *string          `parquet:"null,optional"`
	Int   int64            `parquet:"int"`
	Small int8             `parquet:"small"`
	Big   uint64           `parquet:"big"`
	F64   float64          `parquet:"f64"`
	F32   float32          `parquet:"f32"`
	Yes   bool             `parquet:"yes"`
	Date  int32            `parquet:"date,date"`
	Micro time.Time        `parquet:"micro,timestamp(microsecond)"`
	Milli int64            `parquet:"milli,timestamp(millisecond:local)"`
	Clock int32            `parquet:"clock,time(millisecond)"`
	Dec   int64            `parquet:"dec,decimal(2:18)"`
	Wide  [16]byte         `parquet:"wide,decimal(3:38)"`
	ID    [16]byte         `parquet:"id,uuid"`
	JSON  string           `parquet:"json,json"`
	Old   deprecated.Int96 `parquet:"old"`
	Dict  string           `parquet:"dict,dict"`
	Delta int64            `parquet:"delta,delta"`
	Enum  string           `parquet:"enum,enum"`
}

func TestParquetScalars(t *testing.T) {
	t.Parallel()
	text := "ö"
	minus := [16]byte{}
	for i := range minus {
		minus[i] = 0xff
	}
	minus[15] = 0xfe // -2
	rows := []scalars{
		{
			Text: "a\nb", Null: &text, Int: -1 << 62, Small: -7, Big: math.MaxUint64, F64: 0.1, F32: 0.1, Yes: true, Date: -1,
			Micro: time.Date(2026, 2, 3, 4, 5, 6, 7000, time.UTC), Milli: 1500, Clock: 3_600_001, Dec: -12345, Wide: minus,
			ID: [16]byte{0x12, 0x34, 15: 0xff}, JSON: `{"a": [1, 2]}`, Old: deprecated.Int96{1_000_000_000, 0, 2440589}, Dict: "x", Delta: 5, Enum: "E",
		},
		{F64: 1e300, F32: 3, JSON: `null`, Dec: 5, Old: deprecated.Int96{0, 0, 2440588}, Dict: "y", Delta: -5},
		{F64: math.NaN(), F32: float32(math.Inf(-1)), JSON: `"s"`, Old: deprecated.Int96{0, 0, 2440588}, Dict: "x"},
	}
	want := `parquet ["text" "null" "int" "small" "big" "f64" "f32" "yes" "date" "micro" "milli" "clock" "dec" "wide" "id" "json" "old" "dict" "delta" "enum"]
1 ["a\nb" "ö" "-4611686018427387904" "-7" "18446744073709551615" "0.1" "0.1" "true" "1969-12-31" "2026-02-03T04:05:06.000007Z" "1970-01-01T00:00:01.5" "01:00:00.001Z" "-123.45" "-0.002" "12340000-0000-0000-0000-0000000000ff" "{\"a\":[1,2]}" "1970-01-02T00:00:01Z" "x" "5" "E"]
2 ["" "" "0" "0" "0" "1e+300" "3" "false" "1970-01-01" "0001-01-01T00:00:00Z" "1970-01-01T00:00:00" "00:00:00Z" "0.05" "0.000" "00000000-0000-0000-0000-000000000000" "" "1970-01-01T00:00:00Z" "y" "-5" ""]
3 ["" "" "0" "0" "0" "NaN" "-Infinity" "false" "1970-01-01" "0001-01-01T00:00:00Z" "1970-01-01T00:00:00" "00:00:00Z" "0.00" "0.000" "00000000-0000-0000-0000-000000000000" "s" "1970-01-01T00:00:00Z" "x" "0" ""]
`
	for name, opts := range map[string][]parquet.WriterOption{
		"plain, version 2":  nil,
		"plain, version 1":  {parquet.DataPageVersion(1)},
		"snappy":            {parquet.Compression(&parquet.Snappy)},
		"snappy, version 1": {parquet.Compression(&parquet.Snappy), parquet.DataPageVersion(1)},
		"zstd":              {parquet.Compression(&parquet.Zstd)},
		"gzip":              {parquet.Compression(&parquet.Gzip)},
		"lz4":               {parquet.Compression(&parquet.Lz4Raw), parquet.DataPageVersion(1)},
		"a group each":      {parquet.MaxRowsPerRowGroup(1)},
	} {
		if diff := cmp.Diff(want, parquetOutline(t, parquetFile(t, rows, opts...), table.Options{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	got := parquetOutline(t, parquetFile(t, rows, parquet.Compression(&parquet.Brotli)), table.Options{})
	if !strings.Contains(got, "packed with BROTLI, which is not read: write it with SNAPPY") {
		t.Errorf("brotli: %s", got)
	}
	type prefixed struct {
		A string `parquet:"a,delta"`
	}
	got = parquetOutline(t, parquetFile(t, []prefixed{{"a"}}), table.Options{})
	if !strings.Contains(got, "a: row 1: the values are encoded as DELTA_BYTE_ARRAY, which is not read") {
		t.Errorf("DELTA_BYTE_ARRAY: %s", got)
	}
}

type inner struct {
	X int32    `parquet:"x"`
	Y *float64 `parquet:"y,optional"`
}

type letters struct {
	S []string `parquet:"s,list"`
}

type nested struct {
	ID     int32            `parquet:"id"`
	Plain  []string         `parquet:"plain"`
	List   []int64          `parquet:"list,list"`
	Lists  []letters        `parquet:"lists,list"`
	Group  inner            `parquet:"group"`
	Maybe  *inner           `parquet:"maybe,optional"`
	Groups []inner          `parquet:"groups"`
	Map    map[string]int32 `parquet:"map"`
	Ints   map[int32]string `parquet:"ints"`
}

func TestParquetNested(t *testing.T) {
	t.Parallel()
	y := 1.5
	rows := []nested{
		{
			ID: 1, Plain: []string{"a\"", "<b>"}, List: []int64{1, 2, 3}, Lists: []letters{{[]string{"a"}}, {}, {[]string{"b", "c"}}}, Group: inner{1, &y}, Maybe: &inner{2, nil},
			Groups: []inner{{3, nil}, {4, &y}}, Map: map[string]int32{"k": 1}, Ints: map[int32]string{7: "seven"},
		},
		{ID: 2},
		{ID: 3, List: []int64{4}, Groups: []inner{{5, &y}}},
	}
	want := `parquet ["id" "plain" "list" "lists" "group" "maybe" "groups" "map" "ints"]
1 ["1" "[\"a\\\"\",\"<b>\"]" "[1,2,3]" "[{\"s\":[\"a\"]},{\"s\":[]},{\"s\":[\"b\",\"c\"]}]" "{\"x\":1,\"y\":1.5}" "{\"x\":2,\"y\":null}" "[{\"x\":3,\"y\":null},{\"x\":4,\"y\":1.5}]" "{\"k\":1}" "[{\"key\":7,\"value\":\"seven\"}]"]
2 ["2" "[]" "[]" "[]" "{\"x\":0,\"y\":null}" "" "[]" "{}" "[]"]
3 ["3" "[]" "[4]" "[]" "{\"x\":0,\"y\":null}" "" "[{\"x\":5,\"y\":1.5}]" "{}" "[]"]
`
	for name, opts := range map[string][]parquet.WriterOption{
		"version 2": nil, "version 1, zstd": {parquet.DataPageVersion(1), parquet.Compression(&parquet.Zstd)}, "small pages": {parquet.PageBufferSize(1)},
	} {
		if diff := cmp.Diff(want, parquetOutline(t, parquetFile(t, rows, opts...), table.Options{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

type pair struct {
	A string `parquet:"a"`
	B []byte `parquet:"b"`
}

func TestParquetBadRows(t *testing.T) {
	t.Parallel()
	file := parquetFile(t, []pair{{"ok", []byte("1")}, {"\xff", nil}, {"x", []byte("\x00")}, {strings.Repeat("x", 30), nil}, {"last", []byte("2")}})
	want := `parquet ["a" "b"]
1 ["ok" "1"]
invalid: line 2, a: the value is not UTF-8 text: save the file as UTF-8
invalid: line 3, b: the value holds a NUL character: remove it
too_large: line 4: the row is longer than 20 bytes
5 ["last" "2"]
`
	if diff := cmp.Diff(want, parquetOutline(t, file, table.Options{MaxRowBytes: 20})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := parquetOutline(t, file, table.Options{MaxColumns: 1}); got != "fatal too_large: the file has 2 columns, 1 are allowed\n" {
		t.Errorf("too many columns: %s", got)
	}
	long := parquetFile(t, []nested{{List: make([]int64, 100)}})
	if got := parquetOutline(t, long, table.Options{MaxRowBytes: 50}); !strings.Contains(got, "50") || strings.Contains(got, "\n1 ") {
		t.Errorf("a long list: %s", got)
	}
}

func TestParquetBroken(t *testing.T) {
	t.Parallel()
	file := parquetFile(t, []pair{{"one", []byte("1")}, {"two", []byte("2")}})
	for name, tc := range map[string]struct {
		file []byte
		opts table.Options
		want string
	}{
		"nothing":       {nil, table.Options{Format: table.Parquet}, "fatal invalid: this is not a Parquet file: it does not begin with PAR1\n"},
		"CSV as it":     {[]byte("a,b\n"), table.Options{Format: table.Parquet}, "fatal invalid: this is not a Parquet file: it does not begin with PAR1\n"},
		"only magic":    {file[:4], table.Options{}, "fatal invalid: the Parquet file is broken or not whole: it breaks off after 4 bytes\n"},
		"cut":           {file[:len(file)-20], table.Options{}, "fatal invalid: the Parquet file is broken or not whole: it does not end with PAR1, so its end is missing\n"},
		"large footer":  {append(bytes.Clone(file[:len(file)-8]), "\xff\xff\xff\x0fPAR1"...), table.Options{}, "fatal invalid: the Parquet file is broken or not whole: its footer of 268435455 bytes does not fit into it\n"},
		"short footer":  {append(bytes.Clone(file[:len(file)-8]), "\x05\x00\x00\x00PAR1"...), table.Options{}, "fatal invalid: the Parquet file is broken or not whole: its footer: "},
		"not as TSV":    {file, table.Options{Format: table.TSV}, "fatal invalid: this is a Parquet file: CSV, TSV or JSON Lines is wanted here\n"},
		"a broken page": {append([]byte("PAR1\xff\xff\xff\xff\xff\xff"), file[10:]...), table.Options{}, "parquet [\"a\" \"b\"]\nfinal invalid: a: row 1: the Parquet file is broken or not whole: the header of a page: "},
	} {
		if got := parquetOutline(t, tc.file, tc.opts); !strings.HasPrefix(got, tc.want) {
			t.Errorf("%s: got %s, want %s", name, got, tc.want)
		}
	}
	if _, err := table.NewReader(bytes.NewReader(file), table.Options{}); err == nil || err.Error() != "this is a Parquet file: CSV, TSV or JSON Lines is wanted here" {
		t.Errorf("a stream: %v", err)
	}
	if _, err := table.NewReader(strings.NewReader("a\n"), table.Options{Format: table.Parquet}); err == nil || err.Error() != "this is not a Parquet file: it does not begin with PAR1" {
		t.Errorf("a stream that is said to be Parquet: %v", err)
	}
	failing := errors.New("disk gone")
	if _, err := table.OpenFile(brokenDisk{failing}, 100, table.Options{}); !errors.Is(err, failing) {
		t.Errorf("a failing disk: %v", err)
	}
}

type brokenDisk struct{ err error }

func (b brokenDisk) ReadAt([]byte, int64) (int, error) { return 0, b.err }

// Each byte of a small file, changed: an error or other values, but no panic,
// no endless loop, and no allocation out of proportion. Not parallel: it
// counts the bytes that are allocated.
func TestParquetEachByteChanged(t *testing.T) {
	y := 1.5
	rows := []nested{{ID: 1, List: []int64{1, 2}, Lists: []letters{{[]string{"a"}}, {[]string{"b"}}}, Groups: []inner{{3, &y}}, Map: map[string]int32{"k": 1}}, {ID: 2}}
	for name, file := range map[string][]byte{
		"plain":        parquetFile(t, []pair{{"one", []byte("1")}, {"two", []byte("2")}}),
		"lz4":          parquetFile(t, []pair{{strings.Repeat("one", 50), []byte("1")}, {"two", []byte("2")}}, parquet.Compression(&parquet.Lz4Raw), parquet.DataPageVersion(1)),
		"nested, zstd": parquetFile(t, rows, parquet.Compression(&parquet.Zstd)),
		"scalars":      parquetFile(t, []scalars{{Dict: "a", JSON: "1", Old: deprecated.Int96{0, 0, 2440588}}}, parquet.Compression(&parquet.Snappy)),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		failed, tried := 0, 0
		for i := range file {
			for _, to := range []byte{0xff, file[i] + 1} {
				changed := bytes.Clone(file)
				changed[i] = to
				tried++
				if got := parquetOutline(t, changed, table.Options{Format: table.Parquet, MaxRowBytes: 4096}); strings.Contains(got, "final") || strings.Contains(got, "fatal") {
					failed++
				}
			}
		}
		runtime.ReadMemStats(&after)
		if each := (after.TotalAlloc - before.TotalAlloc) / uint64(tried); failed < tried/20 || each > 4<<20 {
			t.Errorf("%s: of %d changed files %d failed, %d bytes were allocated for each", name, tried, failed, each)
		}
	}
}

// FuzzParquet changes small files at some places.
func FuzzParquet(f *testing.F) {
	y := 1.5
	files := [][]byte{
		parquetFile(f, []pair{{"one", []byte("1")}, {"two", []byte("2")}}),
		parquetFile(f, []pair{{strings.Repeat("one", 50), []byte("1")}}, parquet.Compression(&parquet.Lz4Raw)),
		parquetFile(f, []nested{{ID: 1, List: []int64{1, 2}, Groups: []inner{{3, &y}}}, {ID: 2}}, parquet.DataPageVersion(1)),
		parquetFile(f, []scalars{{Dict: "a", JSON: "1", Old: deprecated.Int96{0, 0, 2440588}}}, parquet.Compression(&parquet.Zstd)),
	}
	f.Add(byte(0), uint16(20), byte(1), uint16(30), byte(255), uint16(0))
	f.Add(byte(1), uint16(40), byte(0), uint16(300), byte(12), uint16(0))
	f.Add(byte(2), uint16(400), byte(9), uint16(900), byte(3), uint16(0))
	f.Add(byte(3), uint16(4), byte(9), uint16(1200), byte(3), uint16(100))
	f.Fuzz(func(t *testing.T, which byte, at1 uint16, to1 byte, at2 uint16, to2 byte, cut uint16) {
		file := bytes.Clone(files[int(which)%len(files)])
		file[int(at1)%len(file)] ^= to1
		file[len(file)-1-int(at2)%len(file)] ^= to2
		file = file[:len(file)-int(cut)%len(file)]
		parquetOutline(t, file, table.Options{Format: table.Parquet, MaxRowBytes: 4096})
	})
}

func TestParquetRoundTrip(t *testing.T) {
	t.Parallel()
	columns := []string{"z", "n", "a", "b"}
	var rows [][]string
	for i := range 1000 {
		rows = append(rows, []string{fmt.Sprint(" text ", i, "\r\n,\"\uFEFF"), fmt.Sprint(float64(i) / 8), "", []string{"true", "false", ""}[i%3]})
	}
	types := map[string]table.ColumnType{"n": table.NumberColumn, "b": table.BoolColumn}
	file := write(t, columns, rows, table.WriterOptions{Format: table.Parquet, Types: types})
	got, err := table.OpenFile(strings.NewReader(file), int64(len(file)), table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(columns, got.Columns()); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
	for i, want := range rows {
		row, line, err := got.Read()
		if err != nil || line != i+1 {
			t.Fatalf("row %d: line %d, %v", i+1, line, err)
		}
		if diff := cmp.Diff(want, row); diff != "" {
			t.Fatalf("row %d (-want +got):\n%s", i+1, diff)
		}
	}
	if _, _, err := got.Read(); err != io.EOF {
		t.Errorf("after the last row: %v", err)
	}
	// The library reads it, too, and finds the types.
	f, err := parquet.OpenFile(strings.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	if schema := f.Schema().String(); !strings.Contains(schema, "optional double n") || !strings.Contains(schema, "required binary z (STRING)") || !strings.Contains(schema, "optional boolean b") {
		t.Errorf("schema %s", schema)
	}
	if empty := write(t, columns, nil, table.WriterOptions{Format: table.Parquet}); parquetOutline(t, []byte(empty), table.Options{}) != "parquet [\"z\" \"n\" \"a\" \"b\"]\n" {
		t.Errorf("an empty table: %s", parquetOutline(t, []byte(empty), table.Options{}))
	}
}

func TestParquetWriterRefuses(t *testing.T) {
	t.Parallel()
	if _, err := table.NewWriter(io.Discard, []string{"a"}, table.WriterOptions{Format: table.Parquet, Types: map[string]table.ColumnType{"a": "date"}}); err == nil || err.Error() != `a: "date" is not a type of a column: use number or bool` {
		t.Errorf("an unknown type: %v", err)
	}
	var out bytes.Buffer
	w, err := table.NewWriter(&out, []string{"n", "b"}, table.WriterOptions{Format: table.Parquet, Types: map[string]table.ColumnType{"n": table.NumberColumn, "b": table.BoolColumn}})
	if err != nil {
		t.Fatal(err)
	}
	for want, row := range map[string][]string{
		`write table: column 1 is not a number but "x"`:                                                               {"x", ""},
		`write table: column 1 is not a number but "0x10"`:                                                            {"0x10", ""},
		`write table: column 1 is not a number but "NaN"`:                                                             {"NaN", ""},
		`write table: column 1 is 9007199254740993, which has too many digits for a number: make it a column of text`: {"9007199254740993", ""},
		`write table: column 2 is neither true nor false but "yes"`:                                                   {"1", "yes"},
		`write table: the row has 1 cell, the header has 2`:                                                           {"1"},
	} {
		if err := w.Write(row); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", row, err, want)
		}
	}
	if err := w.Write([]string{"9007199254740992", "true"}); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := w.Flush(); err != nil {
			t.Error(err)
		}
	}
	if err := w.Write([]string{"1", "true"}); err == nil || err.Error() != "write table: the file is closed" {
		t.Errorf("after Flush: %v", err)
	}
	if got, want := parquetOutline(t, out.Bytes(), table.Options{}), "parquet [\"n\" \"b\"]\n1 [\"9007199254740992\" \"true\"]\n"; got != want {
		t.Errorf("the refused rows left %s", got)
	}
	full := errors.New("disk full")
	w, err = table.NewWriter(failing{full}, []string{"a"}, table.WriterOptions{Format: table.Parquet})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); !errors.Is(err, full) {
		t.Errorf("Flush: %v", err)
	}
}

// FuzzParquetRoundTrip checks that what is written reads back equal.
func FuzzParquetRoundTrip(f *testing.F) {
	f.Add("a", "b", "x", "", "\r\n")
	f.Add("é", "PAR1", "\uFEFF", "\"", "[1]")
	f.Fuzz(func(t *testing.T, c0, c1, a, b, c string) {
		for _, s := range []string{c0, c1, a, b, c} {
			if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
				return
			}
		}
		if strings.TrimSpace(c0) == "" || strings.TrimSpace(c1) == "" || c0 == c1 || max(len(c0), len(c1)) > table.MaxColumnName {
			return
		}
		file := write(t, []string{c0, c1}, [][]string{{a, b}, {b, c}}, table.WriterOptions{Format: table.Parquet})
		want := fmt.Sprintf("parquet %q\n1 %q\n2 %q\n", []string{c0, c1}, []string{a, b}, []string{b, c})
		if got := parquetOutline(t, []byte(file), table.Options{}); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

// A file of any length takes the same memory. Not parallel: it looks at the
// heap of the whole process.
func TestParquetIsBounded(t *testing.T) {
	const rows = 300_000
	var file bytes.Buffer
	w, err := table.NewWriter(&file, []string{"id", "text"}, table.WriterOptions{Format: table.Parquet})
	if err != nil {
		t.Fatal(err)
	}
	var base, at runtime.MemStats
	most := uint64(0)
	look := func() {
		runtime.GC()
		runtime.ReadMemStats(&at)
		most = max(most, at.HeapAlloc)
	}
	for i := range rows {
		if err := w.Write([]string{fmt.Sprint(i), strings.Repeat("text ", 10) + fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&base)
	r, err := table.OpenFile(bytes.NewReader(file.Bytes()), int64(file.Len()), table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for ; ; n++ {
		row, _, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || row[0] != fmt.Sprint(n) {
			t.Fatalf("row %d: %q, %v", n, row, err)
		}
		if n%30_000 == 0 {
			look()
		}
	}
	if used := most - min(most, base.HeapAlloc); n != rows || used > 12<<20 {
		t.Errorf("%d rows of %d, %d bytes above what was there", n, rows, used)
	}
}

func BenchmarkParquetRead(b *testing.B) {
	var file bytes.Buffer
	const rows = 100_000
	w, err := table.NewWriter(&file, []string{"id", "text"}, table.WriterOptions{Format: table.Parquet})
	if err != nil {
		b.Fatal(err)
	}
	for i := range rows {
		if err := w.Write([]string{fmt.Sprint(i), strings.Repeat("text ", 10)}); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		r, err := table.OpenFile(bytes.NewReader(file.Bytes()), int64(file.Len()), table.Options{})
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for ; err == nil; n++ {
			_, _, err = r.Read()
		}
		if err != io.EOF || n != rows+1 {
			b.Fatalf("%d rows, %v", n-1, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
}
