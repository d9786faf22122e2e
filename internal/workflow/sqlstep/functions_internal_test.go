package sqlstep

import (
	"slices"
	"testing"
)

// TestListedFunctionsExist sees that the list has no function that the engine has not.
func TestListedFunctionsExist(t *testing.T) {
	e, err := open(nil, Limits{}.orDefault())
	if err != nil {
		t.Fatal(err)
	}
	defer e.close()
	var names []string
	for name := range functions {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if m := e.message("select " + quote(name) + "(1, 2, 3, 4, 5, 6, 7, 8) as x"); m == "no such function: "+name {
			t.Error(m)
		}
	}
	if m := e.message(`select nosuch(1) as x`); m != "no such function: nosuch" {
		t.Errorf("an unknown function: %q", m)
	}
	for name := range aggregates {
		if !functions[name] {
			t.Errorf("the aggregate %s is not listed", name)
		}
	}
}
