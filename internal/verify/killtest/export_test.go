package killtest

import (
	"context"
	"os"
	"path/filepath"
	"strconv"

	"github.com/throng-dev/throng/internal/server"
)

// Tampered runs the test, does something to copies of the database, and compares
// each with what the clients know.
func Tampered(ctx context.Context, o Options, dir string, with []func(path string) error) (reports []*Report, err error) {
	t, err := newTest(o)
	if err != nil {
		return nil, err
	}
	if err := t.run(ctx); err != nil {
		return nil, err
	}
	whole, err := os.ReadFile(t.place().File())
	if err != nil {
		return nil, err
	}
	for i, f := range with {
		copied := server.Place{Data: filepath.Join(dir, strconv.Itoa(i))}
		file := copied.File()
		if err := os.Mkdir(copied.Data, 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(file, whole, 0o600); err != nil {
			return nil, err
		}
		if err := f(file); err != nil {
			return nil, err
		}
		report := &Report{}
		if err := t.compare(ctx, copied, report); err != nil {
			return nil, err
		}
		reports = append(reports, report)
	}
	return reports, nil
}
