package access

import (
	"maps"
	"slices"
	"testing"
)

// TestUnloggedAreChanges: what the audit log does not tell of is an operation that changes
// something, and there are others.
func TestUnloggedAreChanges(t *testing.T) {
	t.Parallel()
	left, logged := maps.Clone(unlogged), 0
	for _, o := range Operations() {
		if o.Changes {
			delete(left, o.Name)
		}
		if o.Logged() {
			logged++
		}
	}
	if len(left) > 0 || logged < 60 {
		t.Errorf("no operations, or they change nothing: %q; %d are told of", slices.Sorted(maps.Keys(left)), logged)
	}
}
