package lists_test

import (
	"errors"
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

func TestMapReadEndsWithTheFirstError(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is gone")
	read := func(yield func(int, error) bool) {
		_ = yield(3, nil) && yield(1, nil) && yield(0, broken) && yield(2, nil)
	}
	var got []string
	var end error
	for text, err := range lists.MapRead(read, strconv.Itoa) {
		got, end = append(got, text), err
	}
	if !slices.Equal(got, []string{"3", "1", ""}) || end != broken {
		t.Errorf("got %q, %v", got, end)
	}
	for text := range lists.MapRead(read, strconv.Itoa) {
		if text != "3" {
			t.Errorf("after the reader has stopped, %q comes", text)
		}
		break
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

func TestFilterKeepsTheOrder(t *testing.T) {
	t.Parallel()
	odd := func(n int) bool { return n%2 == 1 }
	if got := lists.Filter([]int{3, 2, 1, 4}, odd); !slices.Equal(got, []int{3, 1}) {
		t.Errorf("got %v", got)
	}
	if got := lists.Filter([]int{2}, odd); got != nil {
		t.Errorf("of nothing it made %#v", got)
	}
	if got := lists.Count([]int{3, 2, 1, 4, 5}, odd); got != 3 {
		t.Errorf("counted %d", got)
	}
}

func TestSumAddsInOrder(t *testing.T) {
	t.Parallel()
	same := func(x float64) float64 { return x }
	if got := lists.Sum([]float64{1, 1e100, -1e100}, same); got != 0 {
		t.Errorf("got %g", got)
	}
	if got := lists.Sum([]float64{1e100, -1e100, 1}, same); got != 1 {
		t.Errorf("got %g", got)
	}
	if got := lists.Sum([]string{"a", "bc"}, func(s string) int { return len(s) }); got != 3 {
		t.Errorf("got %d", got)
	}
}
