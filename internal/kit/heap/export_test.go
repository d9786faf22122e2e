package heap

// Kept counts the events in the memory of the queue for which keep returns true,
// popped ones included.
func Kept[T any](q *Queue[T], keep func(T) bool) int {
	n := 0
	for _, e := range q.heap[:cap(q.heap)] {
		if keep(e.event) {
			n++
		}
	}
	return n
}
