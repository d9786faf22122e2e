package heap

// A Spot is an entry that a walk may visit next, and where it lies.
type Spot struct {
	Entry
	Heap int32 // a number by which the walk's owner finds the heap
	Pos  int32 // its position there
}

// A Front is the entries that a walk over some heaps in order may visit next,
// itself a binary heap: the first is at position 0. A walk begins with the root of
// each heap; its k-th step costs O(log k), and leaves the heaps as they are.
type Front []Spot

// Push adds a spot.
func (f *Front) Push(s Spot) {
	*f = append(*f, s)
	front, i := *f, len(*f)-1
	for i > 0 {
		parent := (i - 1) / 2
		if !s.Before(&front[parent].Entry) {
			break
		}
		front[i] = front[parent]
		i = parent
	}
	front[i] = s
}

// Advance replaces the first spot, which lies in h, by its children there.
func (f *Front) Advance(h Heap) {
	at := (*f)[0]
	first := arity*int(at.Pos) + 1
	if first >= len(h) {
		f.Pop()
		return
	}
	for c := first; c < min(first+arity, len(h)); c++ {
		s := Spot{h[c], at.Heap, int32(c)}
		if c == first {
			f.sink(s)
		} else {
			f.Push(s)
		}
	}
}

// Pop takes the first spot out.
func (f *Front) Pop() {
	last := len(*f) - 1
	s := (*f)[last]
	*f = (*f)[:last]
	if last > 0 {
		f.sink(s)
	}
}

// sink puts s in the place of the first.
func (f Front) sink(s Spot) {
	i := 0
	for {
		c := 2*i + 1
		if c >= len(f) {
			break
		}
		if c+1 < len(f) {
			c += int(f[c+1].less(&f[c].Entry))
		}
		if !f[c].Before(&s.Entry) {
			break
		}
		f[i] = f[c]
		i = c
	}
	f[i] = s
}
