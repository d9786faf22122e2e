package sqlstore

import (
	"context"
	"strings"
)

// The row of Probe, which no other transaction sees. It is as long as a page of SQLite,
// so that a database that may not grow has no room for it.
var (
	probeName = "probe of the store"
	probeText = strings.Repeat("probe...", 512)
)

// Probe implements store.Health.
func (s *Store) Probe(ctx context.Context) error {
	return s.change(ctx, "probe the store", func(ctx context.Context, tx transaction) error {
		if _, err := tx.exec(ctx, `insert into secrets (name, secret, sealed_with) values ($1, $2, '')`, probeName, probeText); err != nil {
			return err
		}
		_, err := tx.exec(ctx, `delete from secrets where name = $1`, probeName)
		return err
	})
}
