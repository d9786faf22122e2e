package sharedtest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// DocTable holds the table of a page of the folder docs to the one that the code makes: the
// lines between the line <!-- table --> and the next <!-- end -->. With update it writes
// them; else the test fails where they differ.
func DocTable(t testing.TB, page, want string, update bool) {
	t.Helper()
	holdTable(t, filepath.Join(repository(t), "docs", page), want, update)
}

func holdTable(t testing.TB, file, want string, update bool) {
	t.Helper()
	const begin, end = "<!-- table -->\n", "<!-- end -->"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := bytes.Cut(page, []byte(begin))
	old, after, ends := bytes.Cut(rest, []byte(end))
	name := filepath.Base(file)
	switch {
	case !begins || !ends:
		t.Fatalf("docs/%s has no table", name)
	case string(old) == want:
	case !update:
		t.Fatalf("the table of docs/%s is not that of the code: go test -run %s -update writes it", name, t.Name())
	default:
		if err := os.WriteFile(file, bytes.Join([][]byte{before, []byte(begin), []byte(want), []byte(end), after}, nil), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
