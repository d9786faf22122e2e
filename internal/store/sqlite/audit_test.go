package sqlite_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/store/sqlite"
)

// TestAuditChangedByHand: whatever is changed of the audit log past the program is found,
// by the number of the first entry that does not fit.
func TestAuditChangedByHand(t *testing.T) {
	t.Parallel()
	swap := `update audit set number = 1000 + number where number in (3, 4);
		update audit set number = case number when 1003 then 4 else 3 end where number > 1000`
	cases := map[string]string{
		swap:                                                "entry 3",
		"delete from audit where number = 3":                "entry 2 is followed by entry 4",
		"delete from audit where number = 1":                "first entry is 2",
		"delete from audit where number < 5":                "first entry is 5",
		"delete from audit where number = 6":                "last entry is 5, but 6",
		"delete from audit":                                 "last entry is 0, but 6",
		"update audit set previous = hash where number = 4": "entry 4",
		"insert into audit select 7, at, tenant, actor, token, operation, kind, object, address, before, after, salt, hash, hash from audit where number = 6": "entry 7",
	}
	for _, column := range strings.Fields("at tenant actor token") {
		cases["update audit set "+column+" = "+column+" + 1 where number = 4"] = "entry 4"
	}
	for _, column := range strings.Fields("operation kind object address before after salt previous hash") {
		cases["update audit set "+column+" = "+column+" || ' ' where number = 4"] = "entry 4"
	}
	for change, want := range cases {
		t.Run(change, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "throng.db")
			st, err := sqlite.Open(t.Context(), path, sqlite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for i := range 6 {
				x := store.Tenant{Name: string(rune('a' + i)), Weight: 1}
				a := &store.Act{After: x, AuditEntry: store.AuditEntry{At: time.Unix(int64(1000+i), 0), Operation: "Tenants.Create", Kind: "tenant"}}
				if _, err := st.CreateTenant(store.WithActs(t.Context(), a), x, 0); err != nil {
					t.Fatal(err)
				}
			}
			if head, err := st.CheckAudit(t.Context()); err != nil || head.Last != 6 {
				t.Fatal(head, err)
			}
			if err := st.Close(); err != nil {
				t.Fatal(err)
			}
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			if _, err := db.ExecContext(t.Context(), change); err != nil {
				t.Fatal(err)
			}
			if st, err = sqlite.Open(t.Context(), path, sqlite.Options{}); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = st.Close() }()
			if _, err = st.CheckAudit(t.Context()); crowd.CodeOf(err) != crowd.Conflict || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want a word of %s", err, want)
			}
		})
	}
}
