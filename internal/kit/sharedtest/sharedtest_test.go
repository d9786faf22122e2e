package sharedtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ended is a testing.TB that notes how Dir ended the test.
type ended struct {
	testing.TB
	how string
}

func (e *ended) Skipf(format string, args ...any)  { e.end("skip: " + fmt.Sprintf(format, args...)) }
func (e *ended) Fatalf(format string, args ...any) { e.end("fail: " + fmt.Sprintf(format, args...)) }

func (e *ended) end(how string) {
	e.how = how
	panic(e)
}

// dir runs Dir and returns its path and how it ended the test, if it did.
func dir(t *testing.T, parts ...string) (path, how string) {
	e := &ended{TB: t}
	defer func() {
		if r := recover(); r != nil && r != any(e) {
			panic(r)
		}
		how = e.how
	}()
	return Dir(e, parts...), ""
}

func TestDir(t *testing.T) {
	shared := t.TempDir()
	if err := os.MkdirAll(filepath.Join(shared, "data", "labels", "dog"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("THRONG_SHARED", shared)
	t.Setenv("THRONG_REQUIRE_SHARED", "")

	path, how := dir(t, "labels", "dog")
	if want := filepath.Join(shared, "data", "labels", "dog"); path != want || how != "" {
		t.Errorf("data that is there: got %q, ended by %q; want %q", path, how, want)
	}
	if _, how := dir(t, "labels", "cat"); !strings.HasPrefix(how, "skip: left out: TestDir") || !strings.Contains(how, "cat") {
		t.Errorf("missing data in a plain clone: ended by %q, want a skip that names it", how)
	}
	t.Setenv("THRONG_REQUIRE_SHARED", "1")
	if _, how := dir(t, "labels", "cat"); !strings.HasPrefix(how, "fail: ") || !strings.Contains(how, "cat") {
		t.Errorf("missing data where it is required: ended by %q, want a failure that names it", how)
	}
}

func TestRepository(t *testing.T) {
	root := repository(t)
	if _, err := os.Stat(filepath.Join(root, "internal", "kit", "sharedtest", "sharedtest.go")); err != nil {
		t.Errorf("repository is %s: %v", root, err)
	}
}
