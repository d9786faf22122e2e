package cli

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/kit/table"
)

// zeros has no end, and counts what is read of it; at that many bytes it calls then.
type zeros struct {
	read, at int64
	then     func()
}

func (z *zeros) Read(p []byte) (int, error) {
	clear(p)
	if z.read += int64(len(p)); z.then != nil && z.read >= z.at {
		z.then()
	}
	return len(p), nil
}

// TestAnInputWithoutEnd: a device is read no further than an upload would be, and not after
// a signal.
func TestAnInputWithoutEnd(t *testing.T) {
	read := func(ctx context.Context, from io.Reader, left int64) error {
		rows, err := openRows(&endless{ctx: ctx, from: from, left: left}, -1, table.Options{})
		for err == nil {
			_, _, err = rows.Read()
		}
		return err
	}
	z := &zeros{}
	if err := read(t.Context(), z, 32<<20); err == nil || !strings.Contains(err.Error(), "is more than 4 GiB") || z.read > 32<<20 {
		t.Errorf("after %d bytes: %v", z.read, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	z = &zeros{at: 8 << 20, then: cancel}
	if err := read(ctx, z, maxInput); !errors.Is(err, errInterrupted) || z.read > 9<<20 {
		t.Errorf("after the signal at %d bytes: %v", z.read, err)
	}
}
