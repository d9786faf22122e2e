package sqlstore_test

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/throng-dev/throng/internal/store/sqlstore"
)

// TestEveryTableIsLookedAt: of every table and view of the schema it is said what it keeps
// about people, so that a new one is neither left out of what is handed out nor of an
// erasure.
func TestEveryTableIsLookedAt(t *testing.T) {
	t.Parallel()
	schema, err := os.ReadFile("../sqlite/testdata/schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	var there []string
	for _, found := range regexp.MustCompile(`(?m)^CREATE (?:TABLE|VIEW) (\w+)`).FindAllStringSubmatch(string(schema), -1) {
		there = append(there, found[1])
	}
	listed := slices.DeleteFunc(sqlstore.PersonalTables(), func(name string) bool { return name == "goose_db_version" })
	slices.Sort(there)
	slices.Sort(listed)
	if !slices.Equal(there, listed) || len(there) < 40 {
		t.Errorf("the schema has %q, and personal %q", there, listed)
	}
}
