package httpkit

import (
	"bufio"
	"fmt"
	"io"
	"os"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/table"
)

// parquetStart is how a Parquet file begins.
const parquetStart = "PAR1"

// Scratch is where a file lies while it is read.
type Scratch struct {
	Dir  string // "": where the system has temporary files
	Most int64  // bytes of a file
}

// OpenTable begins to read a table as it comes; closed must be called in the end.
// Parquet, which is read from its end, lies in a temporary file meanwhile, as Scratch
// says.
func OpenTable(r io.Reader, opts table.Options, scratch Scratch) (rows table.Rows, closed func(), err error) {
	head := bufio.NewReader(r)
	if start, _ := head.Peek(len(parquetStart)); string(start) == parquetStart { // whatever it is called; an error comes again
		opts.Format = table.Parquet
	}
	if opts.Format != table.Parquet {
		rows, err = table.NewReader(head, opts)
		return rows, func() {}, err
	}
	f, err := os.CreateTemp(scratch.Dir, "throng-*.parquet")
	if err != nil {
		return nil, nil, err
	}
	closed = func() { _, _ = f.Close(), os.Remove(f.Name()) } // errors do no harm: it is scratch
	size, err := io.Copy(f, io.LimitReader(head, scratch.Most+1))
	switch {
	case err != nil:
		err = fmt.Errorf("read table: %w", err)
	case size > scratch.Most:
		err = crowd.Errorf(crowd.TooLarge, "a Parquet file may have %d bytes: send it in parts, or as CSV", scratch.Most)
	default:
		rows, err = table.OpenFile(f, size, opts)
	}
	if err != nil {
		closed()
		return nil, nil, err
	}
	return rows, closed, nil
}
