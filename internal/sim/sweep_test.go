package sim

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
)

// cores lets a test have several goroutines at once, whatever the machine. Such
// a test runs alone.
func cores(t *testing.T, n int) {
	t.Helper()
	before := runtime.GOMAXPROCS(n)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

func TestSweepKeepsTheOrder(t *testing.T) {
	cores(t, 4)
	const n = 200
	var told []int
	inside := int32(0)
	// The first ends last: it waits for one that is begun later.
	second := make(chan struct{})
	got, err := Sweep(t.Context(), n, func(i int) (int, error) {
		switch i {
		case 0:
			<-second
		case 1:
			close(second)
		}
		return i * i, nil
	}, func(ended int) {
		if atomic.AddInt32(&inside, 1) != 1 {
			t.Error("two at a time tell how many have ended")
		}
		told = append(told, ended)
		atomic.AddInt32(&inside, -1)
	})
	if err != nil || len(got) != n {
		t.Fatalf("%d results, %v", len(got), err)
	}
	for i, v := range got {
		if v != i*i {
			t.Errorf("result %d is %d", i, v)
		}
	}
	if len(told) != n || !slices.IsSorted(told) || told[0] != 1 || told[n-1] != n {
		t.Errorf("told %v", told)
	}
}

func TestSweepOfNothing(t *testing.T) {
	t.Parallel()
	got, err := Sweep(t.Context(), 0, func(int) (int, error) { return 0, errors.New("called") }, nil)
	if err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
}

// TestSweepTellsTheFirstErrorInOrder: of two that fail, whichever fails first;
// nothing is begun after that, and what runs is waited for.
func TestSweepTellsTheFirstErrorInOrder(t *testing.T) {
	cores(t, 3)
	var begun, over atomic.Int32
	second := make(chan struct{})
	told := 0
	const n = 1 << 20 // more than the third can do before the others have failed
	_, err := Sweep(t.Context(), n, func(i int) (struct{}, error) {
		begun.Add(1)
		defer over.Add(1)
		switch i {
		case 4:
			<-second // 5 is over before
			return struct{}{}, fmt.Errorf("%d fails", i)
		case 5:
			close(second)
			return struct{}{}, fmt.Errorf("%d fails", i)
		}
		return struct{}{}, nil
	}, func(int) { told++ })
	if err == nil || err.Error() != "4 fails" {
		t.Errorf("the error is %v", err)
	}
	if all := begun.Load(); all != over.Load() || all == n || told != int(all)-2 {
		t.Errorf("%d were begun, %d ended, %d were told", all, over.Load(), told)
	}
}

func TestSweepStopsWithItsContext(t *testing.T) {
	cores(t, 2)
	ctx, stop := context.WithCancelCause(context.Background())
	reason := errors.New("enough")
	// The other goroutine may run on for as long as this one is kept from
	// stopping; once the context has ended, each can be in one thing at most.
	var begun, after atomic.Int32
	got, err := Sweep(ctx, 1<<30, func(i int) (struct{}, error) {
		begun.Add(1)
		if ctx.Err() != nil {
			after.Add(1)
		}
		if i == 10 {
			stop(reason)
		}
		return struct{}{}, nil
	}, nil)
	if !errors.Is(err, reason) || got != nil {
		t.Errorf("%d results, %v", len(got), err)
	}
	if begun.Load() < 11 || after.Load() > 1 {
		t.Errorf("%d were begun, %d after the end", begun.Load(), after.Load())
	}
	if _, err := Sweep(ctx, 3, func(int) (int, error) { t.Error("begun"); return 0, nil }, nil); !errors.Is(err, reason) {
		t.Errorf("the error is %v", err)
	}
}

// TestSweepGoesOnWhileItIsTold: whoever is told of an end holds up nobody.
func TestSweepGoesOnWhileItIsTold(t *testing.T) {
	cores(t, 2)
	later := make(chan struct{})
	var told []int
	_, err := Sweep(t.Context(), 6, func(i int) (int, error) {
		if i == 4 {
			close(later)
		}
		return i, nil
	}, func(ended int) {
		if ended == 1 {
			<-later
		}
		told = append(told, ended)
	})
	if err != nil || !slices.Equal(told, []int{1, 2, 3, 4, 5, 6}) {
		t.Errorf("told %v, %v", told, err)
	}
}
