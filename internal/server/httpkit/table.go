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

// OpenTable begins to read a table as it comes; closed must be called in the end.
// Parquet, which is read from its end, lies in a temporary file meanwhile, of at
// most so many bytes.
func OpenTable(r io.Reader, opts table.Options, most int64) (rows table.Rows, closed func(), err error) {
	head := bufio.NewReader(r)
	if start, _ := head.Peek(len(parquetStart)); string(start) == parquetStart { // whatever it is called; an error comes again
		opts.Format = table.Parquet
	}
	if opts.Format != table.Parquet {
		rows, err = table.NewReader(head, opts)
		return rows, func() {}, err
	}
	f, err := os.CreateTemp("", "throng-*.parquet")
	if err != nil {
		return nil, nil, err
	}
	closed = func() { _, _ = f.Close(), os.Remove(f.Name()) } // errors do no harm: it is scratch
	size, err := io.Copy(f, io.LimitReader(head, most+1))
	switch {
	case err != nil:
		err = fmt.Errorf("read table: %w", err)
	case size > most:
		err = crowd.Errorf(crowd.TooLarge, "a Parquet file may have %d bytes: send it in parts, or as CSV", most)
	default:
		rows, err = table.OpenFile(f, size, opts)
	}
	if err != nil {
		closed()
		return nil, nil, err
	}
	return rows, closed, nil
}
