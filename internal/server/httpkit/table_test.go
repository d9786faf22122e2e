package httpkit

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/table"
)

// A Parquet file lies on the disk only while it is read, be it good or broken, and all
// files together have a bound.
func TestScratch(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	w, err := table.NewWriter(&file, []string{"name"}, table.WriterOptions{Format: table.Parquet})
	if err := errors.Join(err, w.Write([]string{"Rex"}), w.Flush()); err != nil {
		t.Fatal(err)
	}
	s := &Scratch{Dir: t.TempDir(), Most: int64(file.Len())}
	files := func(want int) {
		t.Helper()
		if list, err := os.ReadDir(s.Dir); err != nil || len(list) != want {
			t.Errorf("%d files, want %d, %v", len(list), want, err)
		}
	}
	open := func(file io.Reader) (table.Rows, func(), error) { return s.Table(file, table.Options{})() }
	opened := func() func() {
		t.Helper()
		rows, closed, err := open(bytes.NewReader(file.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if row, _, err := rows.Read(); err != nil || row[0] != "Rex" {
			t.Errorf("the row is %q, %v", row, err)
		}
		return closed
	}
	refused := func(file io.Reader, want crowd.Code) {
		t.Helper()
		if _, _, err := open(file); crowd.CodeOf(err) != want {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
	refused(strings.NewReader("PAR1 and nothing of use"), crowd.Invalid)
	refused(io.MultiReader(bytes.NewReader(file.Bytes()), strings.NewReader("x")), crowd.TooLarge)
	small := &Scratch{Dir: s.Dir, Most: 1 << 10}
	if _, _, err := small.Table(strings.NewReader("PAR1"+strings.Repeat("x", 1<<10)), table.Options{})(); err == nil || !strings.HasSuffix(err.Error(), "a Parquet file has at most 1 KiB: send it as CSV") {
		t.Errorf("too large a file: %v", err)
	}
	files(0)
	first, second, third := opened(), opened(), opened()
	files(3)
	refused(bytes.NewReader(file.Bytes()), crowd.StorageFull) // there is room for it, but then none for others
	if _, closed, err := open(strings.NewReader("name\nRex\n")); err != nil {
		t.Errorf("a file that needs no room: %v", err)
	} else {
		closed()
	}
	first()
	opened()()
	second()
	third()
	files(0)
	if left := s.used.Load(); left != 0 {
		t.Errorf("%d bytes are counted when there is no file", left)
	}
}
