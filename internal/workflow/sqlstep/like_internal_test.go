package sqlstep

import (
	"database/sql"
	"errors"
	"strings"
	"testing"

	"modernc.org/sqlite"
	"pgregory.net/rapid"
)

// plainSQLite is a database with SQLite's own functions.
func plainSQLite(t *testing.T) *sql.DB {
	t.Helper()
	c, err := sqlite.NewConnector(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(c)
	t.Cleanup(func() { db.Close() })
	return db
}

// TestOwnFunctionsAreSQLites compares those that stand for SQLite's with them.
func TestOwnFunctionsAreSQLites(t *testing.T) {
	db := plainSQLite(t)
	matches := 0
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.StringMatching(`[aAbBé%_\\]{0,8}`)
		s, q := texts.Draw(t, "s"), texts.Draw(t, "q")
		p := rapid.OneOf(rapid.StringMatching(`[aé%_\\]{0,5}`), texts, rapid.Just("%"+s), rapid.Just(s+"_%")).Draw(t, "p")
		var plain, escaped bool
		var in int64
		var replaced, both, left, right string
		if err := db.QueryRow(`select ?1 like ?2, ?1 like ?2 escape '\', instr(?1, ?2), replace(?1, ?2, ?3), trim(?1, ?2), ltrim(?1, ?2), rtrim(?1, ?2)`, s, p, q).
			Scan(&plain, &escaped, &in, &replaced, &both, &left, &right); err != nil {
			t.Fatal(err)
		}
		if plain {
			matches++
		}
		if got, err := like(p, s, noEscape); err != nil || got != plain {
			t.Fatalf("%q like %q: %v, %v; SQLite %v", s, p, got, err, plain)
		}
		if got, err := like(p, s, '\\'); err != nil || got != escaped {
			t.Fatalf("%q like %q escape: %v, %v; SQLite %v", s, p, got, err, escaped)
		}
		if got := instr(s, p); got != in {
			t.Fatalf("instr(%q, %q): %v; SQLite %v", s, p, got, in)
		}
		if got, err := replace(s, p, q); err != nil || got != replaced {
			t.Fatalf("replace(%q, %q, %q): %v; SQLite %v", s, p, q, got, replaced)
		}
		for i, c := range []struct{ got, want string }{{strings.TrimFunc(s, oneOf(p)), both}, {strings.TrimLeftFunc(s, oneOf(p)), left}, {strings.TrimRightFunc(s, oneOf(p)), right}} {
			if c.got != c.want {
				t.Fatalf("trim %d of (%q, %q): %q; SQLite %q", i, s, p, c.got, c.want)
			}
		}
	})
	if matches < 2 {
		t.Errorf("only %d texts were as their pattern", matches)
	}
	if _, err := like("%"+strings.Repeat("_", 100)+"x%", strings.Repeat("a", 1<<20), noEscape); !errors.Is(err, errLongPattern) {
		t.Errorf("a long pattern on a long text: %v", err)
	}
}

// TestOtherDatabasesAreNotTouched sees that our functions are our engines' only.
func TestOtherDatabasesAreNotTouched(t *testing.T) {
	e, err := open(nil, Limits{}.orDefault())
	if err != nil {
		t.Fatal(err)
	}
	defer e.close()
	db := plainSQLite(t)
	for _, name := range []string{"jaro_winkler", "tokens", sinkName} {
		if _, err := db.Exec("select " + name + "('a', 'b')"); err == nil || !strings.Contains(err.Error(), "no such function") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := db.Exec("create table t(x); insert into t select random()"); err != nil {
		t.Error(err)
	}
}
