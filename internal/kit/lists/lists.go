// Package lists makes lists of others, and counts and sums them, where package slices has
// nothing for it.
package lists

import "iter"

// Map returns what of makes of each element, in order. It is never nil.
func Map[A, B any](list []A, of func(A) B) []B {
	out := make([]B, len(list))
	for i, x := range list {
		out[i] = of(x)
	}
	return out
}

// MapRead yields what of makes of each element that is read, in order. It ends with the
// first error.
func MapRead[A, B any](read iter.Seq2[A, error], of func(A) B) iter.Seq2[B, error] {
	return func(yield func(B, error) bool) {
		for x, err := range read {
			if err != nil {
				yield(*new(B), err)
				return
			}
			if !yield(of(x), nil) {
				return
			}
		}
	}
}

// Indices returns the integers from 0 to n-1.
func Indices(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// Filter returns the elements that keep holds for, in order; nil if there are none.
func Filter[T any](list []T, keep func(T) bool) []T {
	var out []T
	for _, x := range list {
		if keep(x) {
			out = append(out, x)
		}
	}
	return out
}

// Count returns how many elements it holds for.
func Count[T any](list []T, holds func(T) bool) int {
	n := 0
	for _, x := range list {
		if holds(x) {
			n++
		}
	}
	return n
}

// Sum adds up what of makes of each element, in order.
func Sum[T any, N ~int | ~int64 | ~float64](list []T, of func(T) N) N {
	var sum N
	for _, x := range list {
		sum += of(x)
	}
	return sum
}
