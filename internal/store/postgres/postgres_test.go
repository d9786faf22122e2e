package postgres_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/keyring"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/store/postgres"
	"github.com/throng-dev/throng/internal/store/postgres/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Tests{M: m}.Run()) }

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, address string) *postgres.Store {
	t.Helper()
	return must(postgres.Open(t.Context(), address, postgres.Options{}))(t).(*postgres.Store)
}

func sqlOf(t testing.TB, address, text string) {
	t.Helper()
	db := must(sql.Open("pgx", address))(t)
	defer db.Close()
	must(db.ExecContext(t.Context(), text))(t)
}

// nameOf is the name of the database at an address.
func nameOf(address string) string {
	return address[strings.LastIndex(address[:strings.Index(address, "?")], "/")+1 : strings.Index(address, "?")]
}

// TestOneServerAtATime: a database that a server has open is refused to another one, and is
// free again when it is closed.
func TestOneServerAtATime(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t)
	first := open(t, address)
	if s, err := postgres.Open(t.Context(), address, postgres.Options{}); err == nil {
		_ = s.Close()
		t.Fatal("a second server opened it")
	} else if !strings.Contains(err.Error(), "another server has it open: ") || !strings.Contains(err.Error(), fmt.Sprint("process ", os.Getpid())) {
		t.Errorf("the second server is told %q", err)
	}
	must(first.CreateTenant(t.Context(), store.Tenant{Name: "north", Weight: 1}, 0))(t) // all that while it goes on
	ok(t, first.Close())
	began := time.Now()
	second := open(t, address)
	if waited := time.Since(began); waited > 2*time.Second {
		t.Errorf("a database that was closed is free after %s", waited)
	}
	if list := must(second.ListTenants(t.Context()))(t); len(list) != 1 || list[0].Name != "north" {
		t.Errorf("there are %+v", list)
	}
	ok(t, second.Close())
}

// TestWhoLostItsLeaseKeepsNothing: a server that stood still while another one took the
// database keeps nothing more, whatever it believes; and what it had begun is waited for.
func TestWhoLostItsLeaseKeepsNothing(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t)
	first := open(t, address)
	kept := must(first.CreateTenant(t.Context(), store.Tenant{Name: "before", Weight: 1}, 0))(t)

	db := must(sql.Open("pgx", address))(t)
	defer db.Close()
	begun := must(db.BeginTx(t.Context(), nil))(t) // as a transaction of the first one that has passed its check
	must(begun.ExecContext(t.Context(), "select epoch from leases for key share"))(t)
	sqlOf(t, address, "update leases set expires_at = clock_timestamp() - interval '1 second'")
	opened := make(chan *postgres.Store)
	go func() {
		s, err := postgres.Open(context.WithoutCancel(t.Context()), address, postgres.Options{})
		if err != nil {
			t.Error(err)
			opened <- nil
			return
		}
		opened <- s.(*postgres.Store)
	}()
	for waits := 0; waits == 0; { // until the second one waits for the lock
		ok(t, db.QueryRowContext(t.Context(), "select count(*) from pg_locks where not granted and database = (select oid from pg_database where datname = current_database()) or not granted and locktype = 'transactionid'").Scan(&waits))
		sqlOf(t, address, "update leases set expires_at = least(expires_at, clock_timestamp() - interval '1 second') where epoch = 1")
	}
	select {
	case <-opened:
		t.Fatal("it was taken while a transaction of its server was under way")
	default:
	}
	ok(t, begun.Commit())
	second := <-opened
	if second == nil {
		return
	}
	defer second.Close()
	if _, err := first.CreateTenant(t.Context(), store.Tenant{Name: "after", Weight: 1}, 0); crowd.CodeOf(err) != crowd.Unavailable || !strings.Contains(err.Error(), "another server has taken over") {
		t.Errorf("who lost the database is told %v", err)
	}
	<-first.Lost()
	if list := must(second.ListTenants(t.Context()))(t); len(list) != 1 || list[0].ID != kept {
		t.Errorf("there are %+v", list)
	}
	if err := first.Close(); err != nil {
		t.Errorf("closing what was lost: %v", err)
	}
	must(second.CreateTenant(t.Context(), store.Tenant{Name: "now", Weight: 1}, 0))(t) // closing did not end the other's lease
}

// TestWritersDoNotMeet: many write at once, over a restart of the database, and what was
// acknowledged is there, once.
func TestWritersDoNotMeet(t *testing.T) {
	address := pgtest.New(t)
	s := open(t, address)
	defer s.Close()
	var mu sync.Mutex
	kept := make(map[string]bool)
	var all sync.WaitGroup
	for w := range 8 {
		all.Go(func() {
			for i := range 60 {
				name := fmt.Sprintf("t%d.%d", w, i)
				if _, err := s.CreateTenant(t.Context(), store.Tenant{Name: name, Weight: 1}, 0); err == nil {
					mu.Lock()
					kept[name] = true
					mu.Unlock()
				}
				if w == 0 && i == 20 {
					pgtest.Restart(t)
				}
			}
		})
	}
	all.Wait()
	there := make(map[string]int)
	for _, x := range must(s.ListTenants(t.Context()))(t) {
		there[x.Name]++
	}
	for name := range kept {
		if there[name] != 1 {
			t.Errorf("%s was acknowledged, and is there %d times", name, there[name])
		}
	}
	if len(kept) < 30 {
		t.Errorf("only %d were kept", len(kept))
	}
}

// TestRefused has the databases that cannot be used, and what is said of each.
func TestRefused(t *testing.T) {
	t.Parallel()
	fresh := pgtest.New(t)
	replica := pgtest.New(t)
	sqlOf(t, fresh, "alter database "+nameOf(replica)+" set default_transaction_read_only = on")
	newer := pgtest.New(t)
	ok(t, open(t, newer).Close())
	sqlOf(t, newer, "insert into goose_db_version (version_id, is_applied) values (99999, true)")
	latin := pgtest.New(t)
	for _, text := range []string{"drop database %s", "create database %s encoding 'LATIN1' template template0 locale 'C'"} {
		sqlOf(t, fresh, fmt.Sprintf(text, nameOf(latin)))
	}
	for _, c := range []struct{ address, says string }{
		{"postgres://me:geheim@[::1", "the address is not like postgres://"},
		{"postgres://me:geheim@127.0.0.1:1/x", "connect"},
		{"postgres://127.0.0.1:1/x?password=geheim", "connect"},
		{replica, "takes no writes"},
		{newer, "knows only up to"},
		{latin, "encoding 'UTF8'"},
	} {
		s, err := postgres.Open(t.Context(), c.address, postgres.Options{})
		if err == nil {
			_ = s.Close()
			t.Errorf("%s was opened", c.address)
			continue
		}
		if !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: %v, want %q and no password", c.address, err, c.says)
		}
	}
}

// TestReadOnly: a database can be looked at while a server has it, and not changed.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t)
	if _, err := postgres.OpenReadOnly(t.Context(), address); err == nil || !strings.Contains(err.Error(), "nothing of Throng in it") {
		t.Errorf("an empty database: %v", err)
	}
	s := open(t, address)
	defer s.Close()
	must(s.CreateTenant(t.Context(), store.Tenant{Name: "north", Weight: 1}, 0))(t)
	look := must(postgres.OpenReadOnly(t.Context(), address))(t)
	defer look.Close()
	if list := must(look.ListTenants(t.Context()))(t); len(list) != 1 {
		t.Errorf("there are %+v", list)
	}
	if _, err := look.CreateTenant(t.Context(), store.Tenant{Name: "south", Weight: 1}, 0); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("a change gives %v", err)
	}
}

// TestScrub: what was deleted is in no file of the database's own any more.
//
// It does not run next to other tests, whose transactions a scrub would wait for.
func TestScrub(t *testing.T) {
	address := pgtest.New(t)
	s := open(t, address)
	defer s.Close()
	ok(t, s.PutTenantSecret(t.Context(), must(s.CreateTenant(t.Context(), store.Tenant{Name: "north", Weight: 1}, 0))(t), store.TenantSecret{Name: "KEY", Value: "zzz-to-be-gone-zzz"}))
	if !pgtest.Holds(t, address, "zzz-to-be-gone-zzz") {
		t.Fatal("the files are not searched")
	}
	ok(t, s.DeleteTenantSecret(t.Context(), 1, "KEY"))
	other := must(sql.Open("pgx", pgtest.New(t)))(t)
	defer other.Close()
	writes := must(other.BeginTx(t.Context(), nil))(t) // in another database, from before the next row is deleted
	must(writes.ExecContext(t.Context(), "create table x (n int)"))(t)
	ok(t, s.PutTenantSecret(t.Context(), 1, store.TenantSecret{Name: "KEY", Value: "zzz-to-be-gone-zzz"}))
	ok(t, s.DeleteTenantSecret(t.Context(), 1, "KEY"))
	if err := s.Scrub(t.Context(), time.Now()); err == nil || !strings.Contains(err.Error(), "may see what was deleted") {
		t.Errorf("beside a transaction from before: %v", err)
	}
	ok(t, writes.Rollback())
	ok(t, s.Scrub(t.Context(), time.Now()))
	if pgtest.Holds(t, address, "zzz-to-be-gone-zzz") {
		t.Error("it is still in a file of the database")
	}
}

// TestStatisticsAreScrubbed: what was deleted is not in the planner's statistics either, in the
// eyes of the owner of the database, who is no superuser: of a table that has rows yet, of one
// that has none, of one that a view reads, and of an index of an expression.
func TestStatisticsAreScrubbed(t *testing.T) {
	super := pgtest.New(t)
	address := owned(t, super)
	s := open(t, address)
	defer s.Close()
	db := must(sql.Open("pgx", address))(t)
	defer db.Close()
	var view string
	ok(t, db.QueryRowContext(t.Context(), "select pg_get_viewdef('annotations'::regclass)").Scan(&view))
	tenant := must(s.CreateTenant(t.Context(), store.Tenant{Name: "north", Weight: 1}, 0))(t)
	for i := range 20 {
		ok(t, s.PutTenantSecret(t.Context(), tenant, store.TenantSecret{Name: fmt.Sprint("ZZZ_KEY_", i), Value: "v"}))
		must(s.CreateUser(t.Context(), store.User{Name: fmt.Sprint("zzz-name-", i), Email: fmt.Sprintf("ZZZ-mail-%d@example.org", i)}))(t)
		sqlOf(t, address, fmt.Sprintf(`insert into answers (id, answered_at, late, counted, paid, prev_answer, answer_key, body) values (%d, 1, false, true, 0, 0, 'zzz-key-%[1]d', 'zzz-body-%[1]d')`, i))
	}
	sqlOf(t, address, "analyze")
	held := func() (list []string) {
		t.Helper()
		rows := must(db.QueryContext(t.Context(), "select distinct tablename || '.' || attname from pg_stats where schemaname = 'public' and lower(concat(most_common_vals::text, histogram_bounds::text)) like '%zzz%' order by 1"))(t)
		defer rows.Close()
		for rows.Next() {
			var x string
			ok(t, rows.Scan(&x))
			list = append(list, x)
		}
		ok(t, rows.Err())
		return list
	}
	want := "answers.answer_key answers.body tenant_secrets.name users.email users.name users.name_key users_by_email.lower"
	if got := strings.Join(held(), " "); got != want {
		t.Fatalf("before, the statistics of %q hold it, want of %q", got, want)
	}
	sqlOf(t, address, "delete from answers; delete from tenant_secrets; update users set name = 'x' || id, name_key = 'x' || id, email = ''")
	ok(t, s.Scrub(t.Context(), time.Now()))
	if got := held(); len(got) > 0 {
		t.Errorf("the statistics of %q hold it", got)
	}
	if pgtest.Holds(t, super, "zzz-") || pgtest.Holds(t, super, "ZZZ_KEY") {
		t.Error("it is still in a file of the database")
	}
	var after string
	ok(t, db.QueryRowContext(t.Context(), "select pg_get_viewdef('annotations'::regclass)").Scan(&after))
	if after != view {
		t.Errorf("the view of annotations is\n%s\nand was\n%s", after, view)
	}
}

// owned is the address of a database, which has another owner from now on, who is no superuser.
func owned(t *testing.T, address string) string {
	t.Helper()
	sqlOf(t, address, "do $$ begin create role owner_of_one login; exception when duplicate_object then null; end $$")
	sqlOf(t, address, "alter database "+nameOf(address)+" owner to owner_of_one")
	sqlOf(t, address, "alter schema public owner to owner_of_one")
	return strings.Replace(address, "user=throng", "user=owner_of_one", 1)
}

// TestScrubBesideADump: who reads a table for long makes a scrub fail, and nobody wait.
func TestScrubBesideADump(t *testing.T) {
	address := pgtest.New(t)
	s := open(t, address)
	defer s.Close()
	db := must(sql.Open("pgx", address))(t)
	defer db.Close()
	dump := must(db.BeginTx(t.Context(), nil))(t)
	must(dump.ExecContext(t.Context(), "lock table tenants, leases in access share mode"))(t) // as pg_dump does
	err := s.Scrub(t.Context(), time.Now())
	if err == nil || !strings.Contains(err.Error(), "is being read, by a dump perhaps") {
		t.Errorf("a scrub beside it: %v", err)
	}
	must(s.CreateTenant(t.Context(), store.Tenant{Name: "north", Weight: 1}, 0))(t) // while the dump goes on
	ok(t, dump.Rollback())
	ok(t, s.Scrub(t.Context(), time.Now()))
}

// TestWhoCannotGoOnTakesNothing: a server without the keys leaves the database to the one
// that has them, even when that one's lease has run out.
func TestWhoCannotGoOnTakesNothing(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t)
	ring := func() *keyring.Ring { return must(keyring.Parse([]byte(keyring.New())))(t) }
	s := must(postgres.Open(t.Context(), address, postgres.Options{Keys: ring()}))(t)
	defer s.Close()
	tenant := must(s.CreateTenant(t.Context(), store.Tenant{Name: "north", Weight: 1}, 0))(t)
	ok(t, s.PutTenantSecret(t.Context(), tenant, store.TenantSecret{Name: "KEY", Value: "v"}))
	for told := false; !told; { // the holder may renew its lease in between
		sqlOf(t, address, "update leases set expires_at = clock_timestamp() - interval '1 second'")
		other, err := postgres.Open(t.Context(), address, postgres.Options{Keys: ring()})
		if err == nil {
			_ = other.Close()
			t.Fatal("it is opened without the key of its secrets")
		}
		if told = !strings.Contains(err.Error(), "another server has it open"); told && !strings.Contains(err.Error(), "give that key, too") {
			t.Errorf("who has not the key is told %v", err)
		}
	}
	must(s.CreateTenant(t.Context(), store.Tenant{Name: "south", Weight: 1}, 0))(t)
}

// TestTextsThatCannotBeKept are refused, by what they have.
func TestTextsThatCannotBeKept(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.New(t))
	defer s.Close()
	for _, name := range []string{"a\x00b", "a\xffb"} {
		if _, err := s.Service(t.Context(), name); crowd.CodeOf(err) != crowd.Invalid || !strings.Contains(err.Error(), "U+0000") {
			t.Errorf("%q: %v", name, err)
		}
	}
}
