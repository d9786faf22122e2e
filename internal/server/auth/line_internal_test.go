package auth

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/throng-dev/throng/crowd"
)

// queue has people come to a full line one after the other, and returns what becomes of
// each: "in" in the order of their turns, or an error.
type queue struct {
	line  line
	turns []string
	gone  map[string]error
}

func (q *queue) comes(ctx context.Context, name string, known bool) {
	go func() {
		if err := q.line.enter(ctx, known); err != nil {
			q.gone[name] = err
			return
		}
		q.turns = append(q.turns, name)
	}()
	synctest.Wait()
}

func (q *queue) leaves(n int) {
	for range n {
		q.line.leave()
		synctest.Wait()
	}
}

func (q *queue) want(t *testing.T, turns ...string) {
	t.Helper()
	if len(q.turns) != len(turns) {
		t.Fatalf("turns %v, want %v", q.turns, turns)
	}
	for i, name := range turns {
		if q.turns[i] != name {
			t.Fatalf("turns %v, want %v", q.turns, turns)
		}
	}
}

// Who is known goes first, and then the last to come.
func TestTheLastToComeGoesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, ctx := &queue{line: line{most: 1}, gone: map[string]error{}}, t.Context()
		for _, name := range []string{"first", "a", "b", "c"} {
			q.comes(ctx, name, false)
		}
		q.comes(ctx, "K", true)
		q.comes(ctx, "d", false)
		q.comes(ctx, "L", true)
		q.leaves(6)
		q.want(t, "first", "L", "K", "d", "c", "b", "a")
		q.leaves(1)
		if q.line.inside != 0 || len(q.gone) != 0 {
			t.Errorf("%d are in, %v were refused", q.line.inside, q.gone)
		}
	})
}

// A full line refuses who has waited longest, and nobody who is known while others wait.
func TestAFullLineRefusesTheOldest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, ctx := &queue{line: line{most: 1}, gone: map[string]error{}}, t.Context()
		q.comes(ctx, "in", false)
		name := func(i int) string { return string(rune('A' + i)) }
		for i := range maxWaiting {
			q.comes(ctx, name(i), false)
		}
		q.comes(ctx, "new", false)
		if len(q.gone) != 1 || crowd.CodeOf(q.gone["A"]) != crowd.TooMany {
			t.Fatalf("refused: %v", q.gone)
		}
		for i := range maxWaiting {
			q.comes(ctx, "known "+name(i), true)
		}
		if len(q.gone) != 1+maxWaiting || q.gone["new"] == nil {
			t.Fatalf("refused: %v", q.gone)
		}
		q.comes(ctx, "stranger", false)
		if q.gone["stranger"] == nil || q.gone["known A"] != nil {
			t.Fatalf("a stranger takes the place of somebody known: %v", q.gone)
		}
		q.comes(ctx, "known last", true)
		if q.gone["stranger"] == nil || q.gone["known A"] == nil || len(q.gone) != 3+maxWaiting {
			t.Fatalf("refused: %v", q.gone)
		}
		q.leaves(1)
		q.want(t, "in", "known last")
		q.leaves(maxWaiting)
		if q.line.inside != 0 || len(q.line.known)+len(q.line.others) != 0 || len(q.turns) != 1+maxWaiting {
			t.Errorf("%d are in, %d have been", q.line.inside, len(q.turns))
		}
	})
}

// Who goes leaves no place taken.
func TestWhoGoesLeavesTheLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &queue{line: line{most: 1}, gone: map[string]error{}}
		q.comes(t.Context(), "in", false)
		ctx, cancel := context.WithCancel(t.Context())
		q.comes(ctx, "goes", false)
		q.comes(t.Context(), "stays", false)
		cancel()
		synctest.Wait()
		if q.gone["goes"] == nil || len(q.line.others) != 1 {
			t.Fatalf("refused: %v, %d wait", q.gone, len(q.line.others))
		}
		q.leaves(1)
		q.want(t, "in", "stays")
		q.comes(ctx, "gone before", false)
		q.leaves(1)
		if q.gone["gone before"] == nil || q.line.inside != 0 {
			t.Errorf("%v; %d are in", q.gone, q.line.inside)
		}
	})
}
