package httpkit

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/disk"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/table"
)

// parquetStart is how a Parquet file begins.
const parquetStart = "PAR1"

// Scratch is where files lie while they are read. The zero value is ready.
type Scratch struct {
	Dir  string // "": where the system has temporary files
	Most int64  // bytes of a file; 0: 1 GiB

	used atomic.Int64 // bytes of all files
}

// Table returns what begins to read a table as it comes. Parquet, which is read from its
// end, lies in a file meanwhile.
func (s *Scratch) Table(r io.Reader, opts table.Options) table.Open {
	return func() (rows table.Rows, closed func(), err error) {
		head := bufio.NewReader(r)
		if start, _ := head.Peek(len(parquetStart)); string(start) == parquetStart { // whatever it is called; an error comes again
			opts.Format = table.Parquet
		}
		if opts.Format != table.Parquet {
			rows, err = table.NewReader(head, opts)
			return rows, func() {}, err
		}
		f, err := os.CreateTemp(s.Dir, "throng-*.parquet")
		if err != nil {
			return nil, nil, err
		}
		kept := scratchFile{of: s, file: f}
		closed = func() {
			_, _ = f.Close(), os.Remove(f.Name()) // errors do no harm: it is scratch
			s.used.Add(-kept.size)
		}
		if _, err = io.Copy(&kept, head); err != nil {
			err = fmt.Errorf("read table: %w", err)
		} else {
			rows, err = table.OpenFile(f, kept.size, opts)
		}
		if err != nil {
			closed()
			return nil, nil, err
		}
		return rows, closed, nil
	}
}

// scratchFile is a file that is being written.
type scratchFile struct {
	of   *Scratch
	file *os.File
	size int64
}

// Write implements io.Writer. All files together leave half of the room to others, such
// as the store, and each leaves as much as it has to the files that come after it.
func (f *scratchFile) Write(p []byte) (int, error) {
	f.size += int64(len(p))
	most, used := cmp.Or(f.of.Most, 1<<30), f.of.used.Add(int64(len(p)))
	room := 4 * most
	if free, known := disk.Free(f.file.Name()); known {
		room = min(room, (used+int64(free))/2)
	}
	switch {
	case f.size > most:
		return 0, crowd.Errorf(crowd.TooLarge, "a Parquet file has at most %s: send it as CSV", format.Bytes(most))
	case f.size > room-used:
		return 0, crowd.Errorf(crowd.StorageFull, "there is no room for so large a Parquet file: try again later, or send it as CSV")
	}
	return f.file.Write(p)
}
