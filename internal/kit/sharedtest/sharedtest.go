// Package sharedtest finds what tests need from outside the repository: the
// reference data that they compare with (the folder shared/data next to it), and
// a browser. Where something is not there such tests are skipped, and say so;
// where it is required, as in CI, that is a failure, so that no check can
// quietly stop being made. It also holds tables of the documentation to those that the
// code makes.
package sharedtest

import (
	"os"
	"path/filepath"
	"testing"
)

// Dir returns the path of shared/data/<parts>, a file or a folder. Where it
// does not exist, it ends the test: by a skip that names what was left out, or
// by a failure if THRONG_REQUIRE_SHARED is 1. THRONG_SHARED, if set, is used in
// place of the folder shared next to the repository.
func Dir(t testing.TB, parts ...string) string {
	t.Helper()
	shared := os.Getenv("THRONG_SHARED")
	if shared == "" {
		shared = filepath.Join(repository(t), "..", "shared")
	}
	path := filepath.Join(append([]string{shared, "data"}, parts...)...)
	_, err := os.Stat(path)
	switch {
	case err == nil:
		return path
	case os.Getenv("THRONG_REQUIRE_SHARED") == "1":
		t.Fatalf("reference data is missing: %v (and THRONG_REQUIRE_SHARED=1)", err)
	default:
		t.Skipf("left out: %s needs reference data that a plain clone does not have: %v", t.Name(), err)
	}
	return ""
}

// repository returns the folder of go.mod, at or above the working directory.
func repository(t testing.TB) string {
	t.Helper()
	start, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatalf("no go.mod at or above %s", start)
		}
	}
}
