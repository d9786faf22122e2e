package storetest

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/store/sqlite"
)

// BenchmarkUsage compares what a monitor asks for, the usage of all tenants at once, with
// asking for each.
func BenchmarkUsage(b *testing.B) {
	ctx, now := b.Context(), time.Unix(1e9, 0)
	s := kept(sqlite.Open(ctx, filepath.Join(b.TempDir(), "throng.db"), sqlite.Options{}))(b)
	defer s.Close()
	var tenants []crowd.TenantID
	for i := range 1000 {
		id := kept(s.CreateTenant(ctx, store.Tenant{Name: fmt.Sprint("t", i), Weight: 1}, 0))(b)
		tenants = append(tenants, id)
		for j := range 5 {
			u := store.User{Name: fmt.Sprintf("u%d-%d", i, j), Tenants: []crowd.TenantID{id}, CreatedAt: now}
			u.ID = kept(s.CreateUser(ctx, u))(b)
			kept(s.CreateToken(ctx, store.Token{Hash: u.Name, Kind: store.APIToken, User: u.ID, CreatedAt: now}))(b)
		}
	}
	b.Run("all at once", func(b *testing.B) {
		for b.Loop() {
			kept(s.UsageOfAll(ctx, now))(b)
		}
	})
	b.Run("one by one", func(b *testing.B) {
		for b.Loop() {
			for _, id := range tenants {
				kept(s.Usage(ctx, id, now))(b)
			}
		}
	})
}

// kept returns what a store returns, or ends the benchmark.
func kept[T any](x T, err error) func(b *testing.B) T {
	return func(b *testing.B) T {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
		return x
	}
}
