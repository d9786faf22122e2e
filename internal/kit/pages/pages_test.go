package pages_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/throng-dev/throng/internal/kit/pages"
)

// TestAll reads lists that end within a page, with a page, and in an error, and leaves
// one early.
func TestAll(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, test := range map[string]struct {
		have      []int
		fails     int // no page after this id can be read
		stop      int // the reader leaves after this one
		want      []int
		wantReads []int // the ids after which was read
	}{
		"empty":          {fails: -1, wantReads: []int{0}},
		"ends in a page": {have: []int{1, 2, 3, 5, 8}, fails: -1, want: []int{1, 2, 3, 5, 8}, wantReads: []int{0, 3}},
		"ends with one":  {have: []int{1, 2, 3}, fails: -1, want: []int{1, 2, 3}, wantReads: []int{0, 3}},
		"left":           {have: []int{1, 2, 3, 5, 8}, fails: -1, stop: 3, want: []int{1, 2, 3}, wantReads: []int{0}},
		"fails":          {have: []int{1, 2, 3, 5, 8}, fails: 3, want: []int{1, 2, 3}, wantReads: []int{0, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got, reads []int
			var failed error
			for x, err := range pages.All(3, func(after, limit int) ([]int, error) {
				if reads = append(reads, after); after == test.fails {
					return nil, broken
				}
				from, _ := slices.BinarySearch(test.have, after+1)
				return test.have[from:min(from+limit, len(test.have))], nil
			}, func(x *int) int { return *x }) {
				if failed = err; err == nil {
					got = append(got, x)
				}
				if x == test.stop && test.stop > 0 {
					break
				}
			}
			if !slices.Equal(got, test.want) || !slices.Equal(reads, test.wantReads) || (failed != nil) != (test.fails > 0) {
				t.Errorf("got %v and %v, having read after %v", got, failed, reads)
			}
		})
	}
}
