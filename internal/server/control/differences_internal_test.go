package control

import (
	"slices"
	"testing"

	"github.com/throng-dev/throng/internal/store"
)

// TestPoolDifferences: a pool that nobody gave an elasticity has the static one, as everywhere.
func TestPoolDifferences(t *testing.T) {
	with := func(elasticity string) (p store.Pool) {
		p.Control.Elasticity = elasticity
		return p
	}
	for _, x := range []struct {
		before, now string
		want        []string
	}{
		{"", "ct-p", []string{"control elasticity: ct-p, before static"}},
		{"ct-p", "", []string{"control elasticity: static, before ct-p"}},
		{"", "static", nil},
		{"ct-t", "ct-p", []string{"control elasticity: ct-p, before ct-t"}},
	} {
		if got := poolDifferences(with(x.before), with(x.now)); !slices.Equal(got, x.want) {
			t.Errorf("from %q to %q: %q, want %q", x.before, x.now, got, x.want)
		}
	}
}
