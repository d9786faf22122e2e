package engine

import "testing"

// An emptied list keeps its memory, and at most a few of its elements in it.
func TestAnEmptiedListKeepsFew(t *testing.T) {
	t.Parallel()
	for n := range 100 {
		list := make([]*task, n, 128)
		for i := range list {
			list[i] = new(task)
		}
		left := emptied(list)
		if len(left) != 0 || cap(left) != cap(list) {
			t.Fatalf("of %d: %d are left, room for %d", n, len(left), cap(left))
		}
		kept := 0
		for _, x := range left[:cap(left)] {
			if x != nil {
				kept++
			}
		}
		if kept > 8 {
			t.Errorf("of %d elements %d are kept", n, kept)
		}
	}
}
