package lists_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/throng-dev/throng/internal/kit/lists"
)

func TestMapKeepsTheOrder(t *testing.T) {
	t.Parallel()
	if got := lists.Map([]int{3, 1, 2}, strconv.Itoa); !slices.Equal(got, []string{"3", "1", "2"}) {
		t.Errorf("got %v", got)
	}
	if got := lists.Map(nil, strconv.Itoa); got == nil || len(got) != 0 {
		t.Errorf("of nothing it made %#v: want an empty list, so that JSON has []", got)
	}
}

func TestIndicesBeginAt0(t *testing.T) {
	t.Parallel()
	if got := lists.Indices(3); !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("got %v", got)
	}
	if got := lists.Indices(0); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}
