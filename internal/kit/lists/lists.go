// Package lists makes lists of others, where package slices has nothing for it.
package lists

// Map returns what of makes of each element, in order. It is never nil.
func Map[A, B any](list []A, of func(A) B) []B {
	out := make([]B, len(list))
	for i, x := range list {
		out[i] = of(x)
	}
	return out
}

// Indices returns the integers from 0 to n-1.
func Indices(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
