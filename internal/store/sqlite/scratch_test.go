package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/throng-dev/throng/internal/store"
)

// TestScratch: only a scratch database does not wait for the disk.
func TestScratch(t *testing.T) {
	t.Parallel()
	for scratch, want := range map[bool]int{false: 2, true: 0} { // FULL, OFF
		s := mustOpen(t, filepath.Join(t.TempDir(), "x.db"), Options{Scratch: scratch})
		var got int
		if err := s.write.QueryRowContext(t.Context(), "pragma synchronous").Scan(&got); err != nil || got != want {
			t.Errorf("scratch %t: synchronous is %d, want %d (%v)", scratch, got, want, err)
		}
		if _, err := s.CreateTenant(t.Context(), store.Tenant{Name: "x", Weight: 1}, 0); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
