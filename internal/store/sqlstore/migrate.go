package sqlstore

import (
	"bytes"
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/pressly/goose/v3"

	"github.com/throng-dev/throng/internal/store"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate brings the schema up to date. It refuses a database that a newer
// program has made. rewrite fits the shared text of a migration to the
// database, where the two cannot agree on it.
func Migrate(ctx context.Context, db *sql.DB, dialect goose.Dialect, rewrite func(string) string) error {
	p, have, want, err := versions(ctx, db, dialect, rewrite)
	if err != nil {
		return err
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate the schema from version %d to %d: %w", have, want, err)
	}
	return nil
}

// Migrated checks that the schema is up to date, and changes nothing.
func Migrated(ctx context.Context, db *sql.DB, dialect goose.Dialect, rewrite func(string) string) error {
	_, have, want, err := versions(ctx, db, dialect, rewrite)
	if err == nil && have != want {
		err = fmt.Errorf("the database has schema version %d, not %d: start this version of throng serve on it once: %w", have, want, store.ErrOldSchema)
	}
	return err
}

// versions returns the schema's version, and the one that this program knows.
func versions(ctx context.Context, db *sql.DB, dialect goose.Dialect, rewrite func(string) string) (p *goose.Provider, have, want int64, err error) {
	dir, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, 0, 0, err
	}
	p, err = goose.NewProvider(dialect, db, rewritten{dir, rewrite}, goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return nil, 0, 0, fmt.Errorf("read migrations: %w", err)
	}
	have, want, err = p.GetVersions(ctx)
	if err != nil {
		return nil, 0, 0, fmt.Errorf("read the schema's version: %w", err)
	}
	if have > want {
		return nil, 0, 0, fmt.Errorf("the database has schema version %d, but this program knows only up to %d: it was used with a newer version of Throng, use that one", have, want)
	}
	return p, have, want, nil
}

// rewritten is a file system whose SQL files are rewritten when they are read.
type rewritten struct {
	fs.FS
	rewrite func(string) string
}

// Open implements fs.FS.
func (r rewritten) Open(name string) (fs.File, error) {
	f, err := r.FS.Open(name)
	if err != nil || path.Ext(name) != ".sql" {
		return f, err
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return textFile{Reader: strings.NewReader(r.rewrite(string(bytes.TrimSpace(text)))), info: info}, nil
}

type textFile struct {
	*strings.Reader
	info fs.FileInfo
}

func (f textFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f textFile) Close() error               { return nil }
