package table_test

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/table"
)

// What a footer says of its own size is not believed: lists that are longer than
// the footer, and structs in structs, of which a reader must not go as deep.
func TestParquetFooterBombs(t *testing.T) {
	t.Parallel()
	footer := func(text string) []byte {
		return append(binary.LittleEndian.AppendUint32([]byte("PAR1"+text), uint32(len(text))), "PAR1"...)
	}
	const field2, unknown = "\x29", "\x9c" // the list of the schema; a struct that is no field of a footer
	for name, c := range map[string]struct{ footer, want string }{
		"a list of 2^31 - 1 structs":     {field2 + "\xfc\xff\xff\xff\xff\x07\x00", "it breaks off"},
		"a list of a million structs":    {field2 + "\xfc\x80\x80\x40" + strings.Repeat("\x00", 1<<20) + "\x00", "it has more than 262144 parts: write larger row groups"},
		"ten million structs in structs": {unknown + strings.Repeat("\x1c", 10<<20), "it is nested too deeply"},
		"ten million lists in lists":     {"\x99" + strings.Repeat("\x19", 10<<20), "it has a list of lists"},
		"a map":                          {"\x9b\xff\xff\xff\xff\x07\x55", "it has a map"},
		"a text that is not known":       {"\x98\x03abc\x00", "missing required field: 1"},
	} {
		file := footer(c.footer)
		if got := parquetOutline(t, file, table.Options{}); !strings.HasPrefix(got, "fatal invalid: the Parquet file is broken or not whole: ") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %.300s", name, got)
		}
	}
}

// TestParquetDictionaryBomb: a file cannot become much more text than it has bytes, and
// one with long values in the statistics of its pages is read.
func TestParquetDictionaryBomb(t *testing.T) {
	type row struct {
		Text string `parquet:"text,dict"`
	}
	rows := make([]row, 60_000)
	for i := range rows {
		rows[i].Text = strings.Repeat("x", 15_000)
	}
	file := parquetFile(t, rows)
	got, err := table.OpenFile(bytes.NewReader(file), int64(len(file)), table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	given := 0
	for err == nil {
		var cells []string
		if cells, _, err = got.Read(); err == nil {
			given += len(cells[0])
		}
	}
	if crowd.CodeOf(err) != crowd.TooLarge || !strings.Contains(err.Error(), "64 MiB and 50 times the file's size") || given > 64<<20+50*len(file) {
		t.Errorf("%d bytes gave %d: %v", len(file), given, err)
	}
	type plain struct {
		Text string `parquet:"text"`
	}
	long := []plain{{strings.Repeat("a", 40_000)}, {strings.Repeat("b", 40_000)}}
	file = parquetFile(t, long, parquet.DataPageStatistics(true))
	if got, err = table.OpenFile(bytes.NewReader(file), int64(len(file)), table.Options{}); err != nil {
		t.Fatal(err)
	}
	for i := range long {
		if cells, _, err := got.Read(); err != nil || cells[0] != long[i].Text {
			t.Errorf("row %d: %v", i+1, err)
		}
	}
}
