package sharedtest

import (
	"os"
	"os/exec"
	"testing"
)

// Chromium returns the path of the browser. Where none is installed the test is
// left out, saying so; with THRONG_REQUIRE_BROWSER=1, as in CI, it fails.
func Chromium(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("THRONG_REQUIRE_BROWSER") == "1" {
		t.Fatal("no Chromium is installed, and THRONG_REQUIRE_BROWSER=1")
	}
	t.Skipf("left out: %s needs Chromium, which is not installed", t.Name())
	return ""
}
