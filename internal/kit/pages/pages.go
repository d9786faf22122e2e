// Package pages reads lists that are handed out a page at a time.
package pages

import "iter"

// All yields a whole list. read returns the next limit of it after the one with an
// id, or fewer at its end; the first page is that after the zero id. An error ends the
// list.
func All[T, ID any](limit int, read func(after ID, limit int) ([]T, error), id func(*T) ID) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var after ID
		for {
			list, err := read(after, limit)
			if err != nil {
				yield(*new(T), err)
				return
			}
			for i := range list {
				if !yield(list[i], nil) {
					return
				}
			}
			if len(list) < limit {
				return
			}
			after = id(&list[len(list)-1])
		}
	}
}

// List returns a whole list.
func List[T, ID any](limit int, read func(after ID, limit int) ([]T, error), id func(*T) ID) (list []T, err error) {
	for x, err := range All(limit, read, id) {
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	return list, nil
}
