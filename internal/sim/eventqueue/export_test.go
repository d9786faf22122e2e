package eventqueue

// Kept counts what is still in the memory of the heap, of what keep says.
func Kept[T any](a *Agenda[T], keep func(T) bool) int {
	n := 0
	for _, e := range a.heap[:cap(a.heap)] {
		if keep(e.what) {
			n++
		}
	}
	return n
}
