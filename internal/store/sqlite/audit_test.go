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
		"insert into audit select 7, at, tenant, actor, token, operation, kind, object, address, before, after, salt, hash, hash, address_salt, '', '' from audit where number = 6": "entry 7",
		"update audit set address_digest = hash, address = '', address_salt = '' where number = 4":                                                                                  "entry 4",
		"update audit set change_digest = hash, before = '', after = '', salt = '' where number = 4":                                                                                "entry 4",
	}
	for _, column := range strings.Fields("at tenant actor token") {
		cases["update audit set "+column+" = "+column+" + 1 where number = 4"] = "entry 4"
	}
	for _, column := range strings.Fields("operation kind object address before after salt previous hash address_salt address_digest change_digest") {
		cases["update audit set "+column+" = "+column+" || ' ' where number = 4"] = "entry 4"
	}
	for change, want := range cases {
		t.Run(change, func(t *testing.T) {
			t.Parallel()
			st := changedByHand(t, func(store.Store) {}, change)
			if _, err := st.CheckAudit(t.Context()); crowd.CodeOf(err) != crowd.Conflict || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want a word of %s", err, want)
			}
		})
	}
}

// changedByHand returns a store with six entries of the audit log, to which something was
// done, and then something past the program.
func changedByHand(t *testing.T, do func(store.Store), change string) store.Store {
	t.Helper()
	path := filepath.Join(t.TempDir(), "throng.db")
	st, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		x := store.Tenant{Name: string(rune('a' + i)), Weight: 1}
		a := &store.Act{After: x, AuditEntry: store.AuditEntry{At: time.Unix(int64(1000+i), 0), Actor: 1, Address: "192.0.2.1", Operation: "Tenants.Create", Kind: "tenant"}}
		if _, err := st.CreateTenant(store.WithActs(t.Context(), a), x, 0); err != nil {
			t.Fatal(err)
		}
	}
	do(st)
	if _, err := st.CheckAudit(t.Context()); err != nil {
		t.Fatal(err)
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
	t.Cleanup(func() { _ = st.Close() })
	return st
}

// TestAuditDroppedByHand: after the program has dropped entries, more that go by hand are
// missed, and so is what says where the log begins.
func TestAuditDroppedByHand(t *testing.T) {
	t.Parallel()
	drop := func(st store.Store) {
		if d, err := st.DropAudit(t.Context(), store.AuditDropping{Before: time.Unix(1003, 0), Setting: "24h", Limit: 9, At: time.Unix(2000, 0)}); err != nil || d.First != 4 {
			t.Fatal(d, err)
		}
	}
	for change, want := range map[string]string{
		"delete from audit where number < 5":                "the first entry is 5, and not 4",
		"update audit set previous = hash where number = 4": "entry 4",
		"delete from audit where number = 7":                "the first entry is 4, and not 1",
		`update audit set after = replace(after, '4', '5')`: "entry 7",
		"update audit set after = '{}' where number = 7":    "entry 7",
		"update audit set operation = 'x' where number = 7": "entry 7",
		"delete from audit; update counters set last = 0":   "",
		"insert into audit select 3, at, tenant, actor, token, operation, kind, object, address, before, after, salt, previous, hash, address_salt, '', '' from audit where number = 4": "entry 3",
	} {
		t.Run(change, func(t *testing.T) {
			t.Parallel()
			_, err := changedByHand(t, drop, change).CheckAudit(t.Context())
			if want == "" { // all of it, which shows next to a hash that was noted elsewhere
				if err != nil {
					t.Error(err)
				}
			} else if crowd.CodeOf(err) != crowd.Conflict || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want a word of %s", err, want)
			}
		})
	}
}

// TestAuditErasedByHand: what stands where details were erased would be verified by nothing.
func TestAuditErasedByHand(t *testing.T) {
	t.Parallel()
	erase := func(st store.Store) { eraseOne(t, st, "c", 6) }
	for _, change := range []string{"address = '192.0.2.9'", "address_salt = 'x'", "before = '{}'", "after = '{}'", "salt = 'x'", "address_digest = ''", "change_digest = hash"} {
		t.Run(change, func(t *testing.T) {
			t.Parallel()
			_, err := changedByHand(t, erase, "update audit set "+change+" where number = 3").CheckAudit(t.Context())
			if crowd.CodeOf(err) != crowd.Conflict || !strings.Contains(err.Error(), "entry 3") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// eraseOne erases the first person, whose name is given, and looks at how many entries of the
// audit log lose details.
func eraseOne(t *testing.T, st store.Store, name string, entries int64) {
	t.Helper()
	id, err := st.CreateUser(t.Context(), store.User{Name: name})
	if err == nil {
		_, err = st.BeginErasure(t.Context(), store.Erasure{Person: id, AskedBy: id})
	}
	if err == nil {
		err = st.Erase(t.Context(), id, time.Unix(3000, 0))
	}
	if err != nil {
		t.Fatal(err)
	}
	if head, err := st.CheckAudit(t.Context()); err != nil || id != 1 || head.Erased != entries {
		t.Fatalf("%s is erased, %v, %v", id, head, err)
	}
}

// TestAuditOfBefore: entries as they were written when their details had one part verify,
// are found if they are changed, and lose all details together.
func TestAuditOfBefore(t *testing.T) {
	t.Parallel()
	const was = `delete from audit; update counters set last = 2 where name = 'audit';
		insert into audit (number, at, tenant, actor, token, operation, kind, object, address, before, after, salt, previous, hash) values
		(1, 1795000000000000, 1, 1, 2, 'Tenants.Deposit', 'tenant', 'n1', '192.0.2.1', '', '{"amount":"5.000000"}', 'S1', '', 'a93ebee88d6c5cca181a9f28e8cf76f918e7e163895ed3a654f2b177cfee2066'),
		(2, 1795000001000000, 0, 3, 0, 'Accounts.SignIn', 'user', 'u3', '192.0.2.2', '', '', 'S2', 'a93ebee88d6c5cca181a9f28e8cf76f918e7e163895ed3a654f2b177cfee2066', '5abccd8f5c2b981d0d73e4334ae0362e7ff6f7c61853cf07a13f7b05bbcd2e34')`
	st := changedByHand(t, func(store.Store) {}, was)
	a := &store.Act{AuditEntry: store.AuditEntry{At: time.Unix(1795000002, 0), Operation: "Tenants.Create", Kind: "tenant"}}
	if _, err := st.CreateTenant(store.WithActs(t.Context(), a), store.Tenant{Name: "next", Weight: 1}, 0); err != nil {
		t.Fatal(err)
	}
	if head, err := st.CheckAudit(t.Context()); err != nil || head.Last != 3 {
		t.Fatal(head, err)
	}
	eraseOne(t, st, "nobody", 1)
	head, err := st.CheckAudit(t.Context())
	list, listErr := st.AuditEntries(t.Context(), store.AuditFilter{Before: 2, Limit: 1})
	if err != nil || listErr != nil || head.Erased != 1 || list[0].Address != "" || list[0].After != nil || !list[0].Erased() {
		t.Error(head, err, list, listErr)
	}
	for _, column := range strings.Fields("address before after salt address_salt address_digest change_digest") {
		if _, err := changedByHand(t, func(store.Store) {}, was+"; update audit set "+column+" = "+column+" || ' ' where number = 1").CheckAudit(t.Context()); crowd.CodeOf(err) != crowd.Conflict {
			t.Errorf("%s was changed: %v", column, err)
		}
	}
}
