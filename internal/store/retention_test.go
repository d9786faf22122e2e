package store_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/store"
)

// TestTheTableOfRetention: docs/people-data.md has the table as it is.
func TestTheTableOfRetention(t *testing.T) {
	t.Parallel()
	var want strings.Builder
	want.WriteString("<!-- retention -->\n| kind | days count from | what is deleted | what stays |\n| --- | --- | --- | --- |\n")
	for _, r := range store.AllRetained() {
		fmt.Fprintf(&want, "| `%s` | %s | %s | %s |\n", r.Kind, r.Since, r.Goes, r.Stays)
	}
	want.WriteString("<!-- end -->")
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "people-data.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(page, []byte(want.String())) {
		t.Errorf("docs/people-data.md does not have the table\n%s", want.String())
	}
}
