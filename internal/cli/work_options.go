package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-dev/throng/internal/task"
)

// byNumber reports whether the options can be picked by their numbers: not where
// the value of one is the number of another, as with 0 and 1.
func byNumber(options []task.ViewOption) bool {
	for i, o := range options {
		if n, err := strconv.Atoi(o.Value); err == nil && n != i+1 && n >= 1 && n <= len(options) {
			return false
		}
	}
	return true
}

// option finds an option by its number, its value, or its label.
func option(control *task.Control, text string) (string, error) {
	list := control.Options
	if n, err := strconv.Atoi(text); err == nil && byNumber(list) && n >= 1 && n <= len(list) {
		return list[n-1].Value, nil
	}
	i := slices.IndexFunc(list, func(o task.ViewOption) bool { return o.Value == text })
	if i < 0 {
		i = slices.IndexFunc(list, func(o task.ViewOption) bool {
			return strings.EqualFold(o.Value, text) || strings.EqualFold(o.Label, text)
		})
	}
	if i >= 0 {
		return list[i].Value, nil
	}
	return "", fmt.Errorf("%q is none of the %d options", text, len(list))
}
