package app_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/store/postgres"
	"github.com/throng-dev/throng/internal/store/postgres/pgtest"
	"github.com/throng-dev/throng/internal/store/sqlite"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Tests{M: m}.Run()) }

// mover is a store whose rows can be moved.
type mover interface {
	MoveTo(ctx context.Context, to store.Store, told func(int64)) (map[string]int64, error)
}

// TestMoveToPostgreSQLAndBack: whatever a server keeps is the same in the file that comes
// back, and what was moved half is not there at all.
func TestMoveToPostgreSQLAndBack(t *testing.T) {
	t.Parallel()
	ctx, st, dir, address := t.Context(), newStage(t), t.TempDir(), pgtest.New(t)
	first, last := filepath.Join(dir, "first.db"), filepath.Join(dir, "last.db")
	ok(t, os.WriteFile(first, st.file, 0o600))
	from := must(sqlite.Open(ctx, first, sqlite.Options{}))(t)
	between := must(postgres.Open(ctx, address, postgres.Options{}))(t)

	half, stop := context.WithCancel(ctx)
	stop()
	if _, err := from.(mover).MoveTo(half, between, nil); err == nil {
		t.Error("a move that was interrupted succeeds")
	}
	counts := must(from.(mover).MoveTo(ctx, between, nil))(t)
	filled := 0
	for _, n := range counts {
		if n > 0 {
			filled++
		}
	}
	if filled < 35 {
		t.Errorf("only %d tables had rows: %v", filled, counts)
	}
	ok(t, between.CheckLedger(ctx))
	ok(t, between.CheckUsage(ctx))
	must(between.CheckAudit(ctx))(t)
	if _, err := from.(mover).MoveTo(ctx, between, nil); crowd.CodeOf(err) != crowd.Conflict || !strings.Contains(err.Error(), "there is something in the database") {
		t.Errorf("over what is there: %v", err)
	}

	to := must(sqlite.Open(ctx, last, sqlite.Options{}))(t)
	if back := must(between.(mover).MoveTo(ctx, to, nil))(t); fmt.Sprint(back) != fmt.Sprint(counts) {
		t.Errorf("%v came back of %v", back, counts)
	}
	for _, s := range []store.Store{from, between, to} {
		ok(t, s.Close())
	}
	was, is := rowsOf(t, first), rowsOf(t, last)
	if len(was) < 150 || len(was) != len(is) {
		t.Fatalf("%d rows came of %d", len(is), len(was))
	}
	for i := range was {
		if was[i] != is[i] {
			t.Errorf("was %s\nis  %s", was[i], is[i])
		}
	}
}

// rowsOf are all rows of a file.
func rowsOf(t *testing.T, path string) (all []string) {
	t.Helper()
	db := must(sql.Open("sqlite", "file:"+path))(t)
	defer db.Close()
	tables := must(db.Query(`select name from sqlite_master where type = 'table' and name not in ('goose_db_version', 'sqlite_sequence') order by name`))(t)
	var names []string
	for tables.Next() {
		var name string
		ok(t, tables.Scan(&name))
		names = append(names, name)
	}
	ok(t, tables.Close())
	for _, name := range names {
		rows := must(db.Query("select * from " + name))(t)
		n := len(must(rows.Columns())(t))
		cells, into := make([]any, n), make([]any, n)
		for i := range cells {
			into[i] = &cells[i]
		}
		for rows.Next() {
			ok(t, rows.Scan(into...))
			all = append(all, fmt.Sprintf("%s %#v", name, cells))
		}
		ok(t, rows.Close())
	}
	slices.Sort(all)
	return all
}
