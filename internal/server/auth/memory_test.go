package auth_test

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"

	"github.com/throng-dev/throng/internal/server/auth"
)

// resident returns how much memory the system has given this process, in bytes.
func resident(t *testing.T) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil && runtime.GOOS == "linux" {
		t.Fatal(err)
	}
	if err != nil {
		t.Skip("this system does not tell how much memory a process has")
	}
	var all, pages int64
	if _, err := fmt.Fscan(bytes.NewReader(text), &all, &pages); err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

// TestGuessesTakeBoundedMemory of the system, of which the live heap shows nothing: in a server
// with something in its heap, which is collected as rarely as there, many checks of passwords, at
// once or one by one, take what two of them need and what is left before it is collected; most of
// it is given back after the last one.
func TestGuessesTakeBoundedMemory(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as cli does
	const most, guesses = 2, 32
	heap := make([]byte, 40<<20)
	for i := range heap {
		heap[i] = byte(i)
	}
	p := auth.NewPasswords(most, auth.DefaultCost)
	for _, senders := range []int{8, 1} {
		debug.FreeOSMemory()
		before, peak := resident(t), int64(0)
		var mu sync.Mutex
		var all sync.WaitGroup
		for range senders {
			all.Go(func() {
				for range guesses / senders {
					if ok, err := p.Check(t.Context(), "", "guess", false); ok || err != nil {
						t.Error(ok, err)
					}
					mu.Lock()
					peak = max(peak, resident(t))
					mu.Unlock()
				}
			})
		}
		all.Wait()
		t.Logf("by %d senders: %d MB at most, %d MB then", senders, (peak-before)>>20, (resident(t)-before)>>20)
		if grown := peak - before; grown > 130<<20 {
			t.Errorf("%d guesses by %d senders take %d MB", guesses, senders, grown>>20)
		}
	}
	runtime.KeepAlive(heap)
}
