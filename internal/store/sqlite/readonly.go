package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pressly/goose/v3"

	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/store/sqlstore"
)

// OpenReadOnly opens a database to look at it, also one that a server has open,
// whose commits do not wait for it. Every change of it fails. A database of
// another version of the program is refused.
func OpenReadOnly(ctx context.Context, path string) (store.Store, error) {
	s, err := openReadOnly(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("open database %s to read: %w", path, err)
	}
	return s, nil
}

func openReadOnly(ctx context.Context, path string) (store.Store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", readDSN(path))
	if err != nil {
		return nil, err
	}
	db.SetMaxIdleConns(idleScans)
	if err := sqlstore.Migrated(ctx, db, goose.DialectSQLite3, rewrite); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return sqlstore.New(sqlstore.Pools{Write: db, Read: db, Scan: db}, sqlstore.Dialect{
		Unique: isCode(), Missing: isCode(), Full: isFull(filepath.Dir(path)),
	}, nil), nil
}
