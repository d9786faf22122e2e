package auth

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// leftover counts the memory that computations have left since it was collected last. A server
// lets its heap grow to several times what is live before it collects, which is little where a
// cycle allocates, and hundreds of megabytes where each guess at a password leaves 19.
type leftover struct{ bytes atomic.Int64 }

// least is how much is left before it is collected, in bytes. It is half of what is live where
// that is more, as each collection goes over all of that.
const least = 48 << 20

// add counts what a computation has left, and collects when it is enough. Who signs in waits for
// that, and nobody else. After the last of them, it is given back to the system.
func (l *leftover) add(bytes int64, last bool) {
	if l.bytes.Add(bytes) < max(least, live()/2) || l.bytes.Swap(0) == 0 { // another one collects
		return
	}
	if last {
		debug.FreeOSMemory()
	} else {
		runtime.GC()
	}
}

// live is how much of the heap was live when it was collected last, in bytes.
func live() int64 {
	sample := [1]metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample[:])
	return int64(sample[0].Value.Uint64())
}
