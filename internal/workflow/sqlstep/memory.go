package sqlstep

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
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

// memory is what one connection holds, in bytes.
type memory struct {
	thread *libc.TLS
	used   atomic.Int64
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
	p := (*(*func(*libc.TLS, int32) uintptr)(unsafe.Pointer(&struct{ uintptr }{allocator.FxMalloc})))(thread, n)
	if m := memoryOf(thread); m != nil {
		m.used.Add(sizeOf(thread, p))
	}
	return p
}

func countedFree(thread *libc.TLS, p uintptr) {
	if m := memoryOf(thread); m != nil {
		m.used.Add(-sizeOf(thread, p))
	}
	(*(*func(*libc.TLS, uintptr))(unsafe.Pointer(&struct{ uintptr }{allocator.FxFree})))(thread, p)
}

func countedRealloc(thread *libc.TLS, p uintptr, n int32) uintptr {
	m := memoryOf(thread)
	var before int64
	if m != nil {
		before = sizeOf(thread, p)
	}
	q := (*(*func(*libc.TLS, uintptr, int32) uintptr)(unsafe.Pointer(&struct{ uintptr }{allocator.FxRealloc})))(thread, p, n)
	if m != nil && q != 0 {
		m.used.Add(sizeOf(thread, q) - before)
	}
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
