package sqlstep

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// SQLite counts its memory for the whole process only. To know that of each query,
// the functions with which it allocates are wrapped: they are told the thread of the
// connection that they work for, as the driver calls it, and each connection has its
// own. What the connections of others allocate goes through uncounted.
//
// Beyond the bound of its query a connection gets no memory. So SQLite ends the query
// with SQLITE_NOMEM wherever it is, also in the middle of one call of a function, which
// an interrupt does not reach. Not everywhere: its aggregates that make a text, such as
// json_group_array, remember that they got none, go on over all rows, and say so in the
// end. So what was refused is noted for the watch, which ends the query.

// memory is what one connection holds, in bytes.
type memory struct {
	thread *libc.TLS
	used   atomic.Int64
	bound  atomic.Int64 // of used
	short  atomic.Bool  // something was refused since the query began
}

// unbounded is the bound while no query runs.
const unbounded = math.MaxInt64

// admits reports whether so many bytes more may be allocated; m may be nil.
func (m *memory) admits(n int64) bool {
	if m == nil || n <= 0 || m.used.Load()+n <= m.bound.Load() {
		return true
	}
	m.short.Store(true)
	return false
}

// counted are the connections whose memory is counted. Each allocation of the process
// looks into it, so that is done without a lock.
var counted struct {
	sync.Mutex // of changes
	list       atomic.Pointer[map[*libc.TLS]*memory]
}

// allocator is what SQLite would allocate with.
var (
	allocator    lib.Tsqlite3_mem_methods
	errAllocator = wrapAllocator() // before anything is opened: later SQLite refuses it
)

func wrapAllocator() error {
	counted.list.Store(&map[*libc.TLS]*memory{})
	thread := libc.NewTLS()
	defer thread.Close()
	methods := libc.Xcalloc(thread, 1, libc.Tsize_t(unsafe.Sizeof(allocator)))
	args := libc.Xmalloc(thread, libc.Tsize_t(unsafe.Sizeof(methods)))
	defer libc.Xfree(thread, methods) // SQLite copies it
	defer libc.Xfree(thread, args)
	if code := lib.Xsqlite3_config(thread, lib.SQLITE_CONFIG_GETMALLOC, libc.VaList(args, methods)); code != lib.SQLITE_OK {
		return fmt.Errorf("count memory: code %d of SQLite", code)
	}
	own := *(**lib.Tsqlite3_mem_methods)(unsafe.Pointer(&methods))
	allocator = *own
	malloc, free, realloc := countedMalloc, countedFree, countedRealloc
	own.FxMalloc = *(*uintptr)(unsafe.Pointer(&malloc))
	own.FxFree = *(*uintptr)(unsafe.Pointer(&free))
	own.FxRealloc = *(*uintptr)(unsafe.Pointer(&realloc))
	if code := lib.Xsqlite3_config(thread, lib.SQLITE_CONFIG_MALLOC, libc.VaList(args, methods)); code != lib.SQLITE_OK {
		return fmt.Errorf("count memory: code %d of SQLite", code)
	}
	return nil
}

// memoryOf returns the memory of a thread; nil if it is not counted.
func memoryOf(thread *libc.TLS) *memory { return (*counted.list.Load())[thread] }

func countedMalloc(thread *libc.TLS, n int32) uintptr {
	m := memoryOf(thread)
	if !m.admits(int64(n)) {
		return 0
	}
	p := (*(*func(*libc.TLS, int32) uintptr)(unsafe.Pointer(&struct{ uintptr }{allocator.FxMalloc})))(thread, n)
	if m != nil {
		m.used.Add(sizeOf(thread, p))
	}
	return p
}

func countedFree(thread *libc.TLS, p uintptr) {
	n := sizeOf(thread, p)
	if m := memoryOf(thread); m != nil {
		m.used.Add(-n)
	}
	giveBack(p, n)
	(*(*func(*libc.TLS, uintptr))(unsafe.Pointer(&struct{ uintptr }{allocator.FxFree})))(thread, p)
}

func countedRealloc(thread *libc.TLS, p uintptr, n int32) uintptr {
	m, before := memoryOf(thread), sizeOf(thread, p)
	if !m.admits(int64(n) - before) {
		return 0
	}
	if before >= largeBlock && int64(n) > before {
		return moved(thread, p, n)
	}
	q := (*(*func(*libc.TLS, uintptr, int32) uintptr)(unsafe.Pointer(&struct{ uintptr }{allocator.FxRealloc})))(thread, p, n)
	if m != nil && q != 0 {
		m.used.Add(sizeOf(thread, q) - before)
	}
	return q
}

// largeBlock is from how many bytes on the pages of a block are given back to the
// machine when it is freed. The allocator keeps a free block of each size for later,
// with its pages.
const largeBlock = 4 << 20

// giveBack hands the pages of a block that is to be freed to the machine, if it is
// large. The first and the last one may hold something else.
func giveBack(p uintptr, n int64) {
	if n < largeBlock {
		return
	}
	page := uintptr(os.Getpagesize())
	from, to := (p+page-1)/page*page, (p+uintptr(n))/page*page
	discard(unsafe.Slice(*(**byte)(unsafe.Pointer(&from)), to-from))
}

// moved is a large block with more room: the allocator would free the old one itself.
func moved(thread *libc.TLS, p uintptr, n int32) uintptr {
	q := (*(*func(*libc.TLS, int32) uintptr)(unsafe.Pointer(&struct{ uintptr }{allocator.FxMalloc})))(thread, n)
	if q == 0 {
		return 0
	}
	if m := memoryOf(thread); m != nil {
		m.used.Add(sizeOf(thread, q))
	}
	libc.Xmemcpy(thread, q, p, libc.Tsize_t(sizeOf(thread, p)))
	countedFree(thread, p)
	return q
}

func sizeOf(thread *libc.TLS, p uintptr) int64 {
	if p == 0 {
		return 0
	}
	return int64((*(*func(*libc.TLS, uintptr) int32)(unsafe.Pointer(&struct{ uintptr }{allocator.FxSize})))(thread, p))
}

// count begins to count the memory of a connection.
func count(c driver.Conn) (*memory, error) {
	if errAllocator != nil {
		return nil, errAllocator
	}
	thread := reflect.Indirect(reflect.ValueOf(c)).FieldByName("tls")
	if !thread.IsValid() || thread.Type() != reflect.TypeFor[*libc.TLS]() {
		return nil, errors.New("count memory: a connection of the driver has no thread")
	}
	m := &memory{thread: (*libc.TLS)(thread.UnsafePointer())}
	m.bound.Store(unbounded)
	change(func(list map[*libc.TLS]*memory) { list[m.thread] = m })
	return m, nil
}

// forget ends the counting.
func (m *memory) forget() {
	change(func(list map[*libc.TLS]*memory) { delete(list, m.thread) })
}

func change(f func(map[*libc.TLS]*memory)) {
	counted.Lock()
	defer counted.Unlock()
	list := maps.Clone(*counted.list.Load())
	f(list)
	counted.list.Store(&list)
}

// reserve is how many times as much as it fills SQLite may have allocated: a
// temporary table and a sort grow to twice their size when they are full. What is not
// filled takes no memory of the machine.
const reserve = 2
