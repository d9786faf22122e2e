package sqlstore_test

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/throng-dev/throng/internal/store/sqlstore"
)

// TestEveryTableIsMoved: each table once, and after those that it refers to.
func TestEveryTableIsMoved(t *testing.T) {
	t.Parallel()
	schema, err := os.ReadFile("../sqlite/testdata/schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	order, there, references := sqlstore.Tables(), []string(nil), 0
	for _, found := range regexp.MustCompile(`(?ms)^CREATE TABLE (\w+) (.*?)\);$`).FindAllStringSubmatch(string(schema), -1) {
		there = append(there, found[1])
		for _, ref := range regexp.MustCompile(`references (\w+)`).FindAllStringSubmatch(found[2], -1) {
			references++
			if slices.Index(order, ref[1]) >= slices.Index(order, found[1]) {
				t.Errorf("%s is moved before %s, which it refers to", found[1], ref[1])
			}
		}
	}
	slices.Sort(there)
	slices.Sort(order)
	if !slices.Equal(there, order) || len(there) < 40 || references < 40 {
		t.Errorf("the schema has %q with %d references, and moved are %q", there, references, order)
	}
}
