package table_test

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/throng-dev/throng/internal/kit/table"
)

// longCells yields rows of a number and a long text that a codec makes no shorter.
func longCells(rows, size int) func(i int) []string {
	text := make([]byte, size+rows)
	x := uint32(1)
	for i := range text {
		x = x*1664525 + 1013904223
		text[i] = ' ' + byte(x>>24)%90
	}
	return func(i int) []string { return []string{fmt.Sprint(i), string(text[i : i+size])} }
}

// TestParquetLongCells: a file of long cells is about its content, takes the memory of a
// row group while it is written, and reads back equal. Not parallel: it looks at the heap
// of the whole process.
func TestParquetLongCells(t *testing.T) {
	const rows, size = 120, 900_000
	cells := longCells(rows, size)
	var file bytes.Buffer
	file.Grow(5 * rows * size) // what the test keeps is no growth
	var base, at runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&base)
	w, err := table.NewWriter(&file, []string{"id", "text"}, table.WriterOptions{Format: table.Parquet})
	if err != nil {
		t.Fatal(err)
	}
	most := uint64(0)
	for i := range rows {
		if err := w.Write(cells(i)); err != nil {
			t.Fatal(err)
		}
		if i%10 == 9 {
			runtime.GC()
			runtime.ReadMemStats(&at)
			most = max(most, at.HeapAlloc-min(at.HeapAlloc, base.HeapAlloc))
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if most > 48<<20 {
		t.Errorf("%d MB are held while %d MB are written", most>>20, rows*size>>20)
	}
	if n := file.Len(); n > rows*size*101/100 {
		t.Errorf("%d bytes of text make a file of %d", rows*size, n)
	}
	r, err := table.OpenFile(bytes.NewReader(file.Bytes()), int64(file.Len()), table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		row, _, err := r.Read()
		if want := cells(i); err != nil || row[0] != want[0] || row[1] != want[1] {
			t.Fatalf("row %d: %.100q, %v", i, row, err)
		}
	}
	if _, _, err := r.Read(); err != io.EOF {
		t.Errorf("after the last row: %v", err)
	}
}

// TestParquetBounds: what a file says of the least and greatest text of a part is short,
// text, and true.
func TestParquetBounds(t *testing.T) {
	t.Parallel()
	last := string(rune(0x10ffff))
	for _, c := range []struct{ least, most, from, to string }{
		{"", "z", "", "z"},
		{"abc", strings.Repeat("z", 64), "abc", strings.Repeat("z", 64)},
		{strings.Repeat("a", 65), strings.Repeat("z", 65), strings.Repeat("a", 64), strings.Repeat("z", 63) + "{"},
		{strings.Repeat("a", 63) + "öb", strings.Repeat("z", 63) + "öb", strings.Repeat("a", 63), strings.Repeat("z", 62) + "{"},
		{"a", "\x7f" + strings.Repeat(last, 30), "a", "\u0080"},
		{"a", "\uD7FF" + strings.Repeat(last, 30), "a", "\ue000"},
		{"a", strings.Repeat(last, 30), "a", "\xff"},
	} {
		file := write(t, []string{"text"}, [][]string{{c.most}, {c.least}}, table.WriterOptions{Format: table.Parquet})
		f, err := parquet.OpenFile(strings.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		s := f.Metadata().RowGroups[0].Columns[0].MetaData.Statistics
		if string(s.MinValue) != c.from || string(s.MaxValue) != c.to {
			t.Errorf("of %.80q to %.80q: %q to %q, want %q to %q", c.least, c.most, s.MinValue, s.MaxValue, c.from, c.to)
		}
		index := f.ColumnIndexes()[0]
		if from, to := string(index.MinValues[0]), string(index.MaxValues[0]); from > c.least || to < c.most || len(from)+len(to) > 140 {
			t.Errorf("of %.80q to %.80q, the index has %q to %q", c.least, c.most, from, to)
		}
	}
}

// BenchmarkParquetWrite writes long cells.
func BenchmarkParquetWrite(b *testing.B) {
	const rows, size = 100, 900_000
	cells := longCells(rows, size)
	b.SetBytes(rows * size)
	b.ReportAllocs()
	for b.Loop() {
		w, err := table.NewWriter(io.Discard, []string{"id", "text"}, table.WriterOptions{Format: table.Parquet})
		if err != nil {
			b.Fatal(err)
		}
		for i := range rows {
			if err := w.Write(cells(i)); err != nil {
				b.Fatal(err)
			}
		}
		if err := w.Flush(); err != nil {
			b.Fatal(err)
		}
	}
}
