package engine

// log keeps the assignments of a batch's open tasks by their numbers, which
// count up from 1 as they are handed out. It begins with the oldest assignment
// of an open task; older ones need not be read to restore the batch. A place
// costs 8 bytes, also where a later task has gone before the oldest one.
type log struct {
	first  uint32        // number of list[0]
	list   []*assignment // nil: its task is no longer open
	buffer []*assignment // the memory of list (see push)
	few    [4]*assignment
}

// begin lets the log begin in the memory that it has within itself.
func (l *log) begin() { l.first, l.list, l.buffer = 1, l.few[:0], l.few[:0] }

// next is the number that the next assignment gets.
func (l *log) next() uint32 { return l.first + uint32(len(l.list)) }

// add appends the next assignment.
func (l *log) add(a *assignment) { l.list, l.buffer = push(l.list, l.buffer, a) }

// pass lets the numbers up to n pass: their tasks are gone.
func (l *log) pass(n uint32) {
	if len(l.list) == 0 {
		l.first = max(l.first, n)
	}
	for l.next() < n {
		l.add(nil)
	}
}

// reach makes room for the numbers from n on, which were dropped before.
func (l *log) reach(n uint32) {
	if n < l.first {
		l.list = append(make([]*assignment, l.first-n), l.list...)
		l.first, l.buffer = n, l.list[:0]
	}
}

// get returns assignment n, or nil if its task is not open.
func (l *log) get(n uint32) *assignment {
	if n < l.first || n >= l.next() {
		return nil
	}
	return l.list[n-l.first]
}

// drop forgets assignment n.
func (l *log) drop(n uint32) {
	l.list[n-l.first] = nil
	l.trim()
}

func (l *log) trim() {
	for len(l.list) > 0 && l.list[0] == nil {
		l.list = l.list[1:]
		l.first++
	}
}
