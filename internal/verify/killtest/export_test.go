package killtest

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
)

// Tampered runs the test, does something to copies of the database, and compares
// each with what the clients know.
func Tampered(ctx context.Context, o Options, dir string, with []func(path string) error) (reports []*Report, err error) {
	o.instead = func(j *journal, path string) error {
		whole, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for i, f := range with {
			file := filepath.Join(dir, strconv.Itoa(i)+".db")
			if err := os.WriteFile(file, whole, 0o600); err != nil {
				return err
			}
			if err := f(file); err != nil {
				return err
			}
			report := &Report{}
			if err := j.compare(ctx, file, report); err != nil {
				return err
			}
			reports = append(reports, report)
		}
		return nil
	}
	_, err = Run(ctx, o)
	return reports, err
}
