package postgres_test

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/store/postgres"
	"github.com/throng-dev/throng/internal/store/postgres/pgtest"
)

func join(t testing.TB, address, name string) *postgres.Member {
	t.Helper()
	return must(postgres.Join(t.Context(), address, postgres.Node{Name: name, Address: name + ":1", Certificate: "sum of " + name, Version: "test"}, postgres.Options{}))(t)
}

// TestOneOfManyHasTheDatabase: of members that try at once, one gets the database, and the
// others are told who has it.
func TestOneOfManyHasTheDatabase(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t)
	const many = 4
	members, stores := make([]*postgres.Member, many), make([]*postgres.Store, many)
	var all sync.WaitGroup
	for i := range members {
		members[i] = join(t, address, string(rune('a'+i)))
		defer func() { ok(t, members[i].Leave()) }()
	}
	for i, m := range members {
		all.Go(func() {
			s, _, err := m.Take(t.Context())
			if err != nil {
				t.Error(err)
			}
			stores[i] = s
		})
	}
	all.Wait()
	owner := ""
	for i, s := range stores {
		if s != nil {
			owner += string(rune('a' + i))
			defer func() { ok(t, s.Close()) }()
			must(s.CreateTenant(t.Context(), store.Tenant{Name: "north", Weight: 1}, 0))(t)
			if !s.Sure() {
				t.Error("who has just taken it is not sure")
			}
		}
	}
	if len(owner) != 1 {
		t.Fatalf("%q have it", owner)
	}
	for i, m := range members {
		if stores[i] != nil {
			continue
		}
		s, has, err := m.Take(t.Context())
		if err != nil || s != nil || has.Name != owner || has.Address != owner+":1" || has.Certificate != "sum of "+owner || !has.Alive || !has.Owner {
			t.Errorf("%d is told %+v, %v", i, has, err)
		}
	}
	for _, list := range [][]postgres.Node{must(members[0].Nodes(t.Context()))(t), must(postgres.ReadNodes(t.Context(), address))(t)} {
		for i, n := range list {
			if len(list) != many || n.Name != string(rune('a'+i)) || !n.Alive || n.Owner != (n.Name == owner) || n.Problem != "" || time.Since(n.StartedAt) > time.Hour {
				t.Errorf("the nodes are %+v", list)
			}
		}
	}
}

// TestAMemberTakesOver: what a member had is another's when its lease has ended, and what it
// tries to keep later is refused.
func TestAMemberTakesOver(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t)
	a, b := join(t, address, "a"), join(t, address, "b")
	defer func() { ok(t, a.Leave()) }()
	defer func() { ok(t, b.Leave()) }()
	first, _, err := a.Take(t.Context())
	ok(t, err)
	var second store.Store
	for second == nil { // the first may renew its lease in between
		sqlOf(t, address, "update leases set expires_at = clock_timestamp() - interval '1 second'")
		kept, has, err := b.Take(t.Context())
		if err != nil || kept != nil && has.Name != "b" {
			t.Fatalf("%v, %+v, %v", kept, has, err)
		}
		if kept != nil {
			second = kept
		}
	}
	late := func() error {
		_, err := first.CreateTenant(t.Context(), store.Tenant{Name: "late", Weight: 1}, 0)
		return err
	}
	if late() == nil { // its connection may have been ended by then
		t.Error("who lost it writes")
	}
	<-first.Lost()
	if err := late(); crowd.CodeOf(err) != crowd.Unavailable {
		t.Errorf("who lost it is told %v", err)
	}
	ok(t, first.Close())
	must(second.CreateTenant(t.Context(), store.Tenant{Name: "now", Weight: 1}, 0))(t)
	ok(t, second.Close())
	again, _, err := a.Take(t.Context())
	if err != nil || again == nil {
		t.Fatalf("after it was given back: %v, %v", again, err)
	}
	if list := must(again.ListTenants(t.Context()))(t); len(list) != 1 || list[0].Name != "now" {
		t.Errorf("there are %+v", list)
	}
	ok(t, again.Close())
}

// TestWhatIsGivenBackIsTakenInPeace: the connections of a member that has closed its store
// last until it leaves, whoever takes the database meanwhile.
func TestWhatIsGivenBackIsTakenInPeace(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t)
	a, b := join(t, address, "a"), join(t, address, "b")
	first, _, err := a.Take(t.Context())
	ok(t, err)
	ok(t, first.Close())
	db := must(sql.Open("pgx", address))(t)
	defer db.Close()
	connections := func() []string {
		var pids string
		ok(t, db.QueryRowContext(t.Context(), "select coalesce(string_agg(pid::text, ' ' order by pid), '') from pg_stat_activity where datname = current_database() and application_name like 'throng a %' and backend_type = 'client backend'").Scan(&pids))
		return strings.Fields(pids)
	}
	before := connections()
	second, _, err := b.Take(t.Context())
	if err != nil || second == nil {
		t.Fatalf("%v, %v", second, err)
	}
	now := connections()
	if !slices.ContainsFunc(before, func(pid string) bool { return slices.Contains(now, pid) }) { // those of the store go
		t.Errorf("it had the connections %q, and has %q", before, now)
	}
	ok(t, a.Leave())
	ok(t, second.Close())
	ok(t, b.Leave())
}

// TestNamesakes: a name is one process's, until that leaves or shows no more that it goes on.
func TestNamesakes(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t)
	a := join(t, address, "a")
	if _, err := postgres.Join(t.Context(), address, postgres.Node{Name: "a"}, postgres.Options{}); err == nil || !strings.Contains(err.Error(), `another node that goes on is called "a"`) {
		t.Errorf("a second one is told %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	expire := make(chan struct{})
	go func() { // as if it had stood still: it renews the row only now and then
		defer close(expire)
		for ctx.Err() == nil {
			sqlOf(t, address, "update nodes set expires_at = clock_timestamp() - interval '1 second' where certificate = 'sum of a'")
		}
	}()
	b := must(postgres.Join(t.Context(), address, postgres.Node{Name: "a", Certificate: "sum of b"}, postgres.Options{}))(t)
	cancel()
	<-expire
	<-a.Gone()
	ok(t, a.Leave())
	if list := must(b.Nodes(t.Context()))(t); len(list) != 1 || !list[0].Alive || list[0].Certificate != "sum of b" {
		t.Errorf("the nodes are %+v", list)
	}
	ok(t, b.Leave())
	ok(t, join(t, address, "a").Leave()) // at once
}

// TestWhoCannotReachTheDatabaseIsNotSure: a server whose lease was not renewed for almost its
// length does not trust what it knows.
func TestWhoCannotReachTheDatabaseIsNotSure(t *testing.T) {
	address := pgtest.New(t)
	m := join(t, address, "a")
	s, _, err := m.Take(t.Context())
	ok(t, err)
	db := must(sql.Open("pgx", address))(t)
	defer db.Close()
	stands := must(db.BeginTx(t.Context(), nil))(t) // what a renewal waits for
	must(stands.ExecContext(t.Context(), "select 1 from leases where name = 'server' for update"))(t)
	becomes := func(sure bool) {
		look := time.NewTicker(10 * time.Millisecond)
		defer look.Stop()
		for late := time.After(20 * time.Second); s.Sure() != sure; {
			select {
			case <-look.C:
			case <-late:
				t.Fatalf("it is not %t that it is sure", sure)
			}
		}
	}
	becomes(false)
	ok(t, stands.Commit())
	becomes(true)
	ok(t, s.Close())
	ok(t, m.Leave())
}

// TestWhoStandsStillIsNotWaitedFor: transactions of a server whose lease has run out do not
// keep another one from taking it, however long they go on.
func TestWhoStandsStillIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t)
	a, b := join(t, address, "a"), join(t, address, "b")
	first, _, err := a.Take(t.Context())
	ok(t, err)
	db := must(sql.Open("pgx", address))(t)
	defer db.Close()
	var name string // by which PostgreSQL knows a
	ok(t, db.QueryRowContext(t.Context(), "select application_name from pg_stat_activity where datname = current_database() and application_name like 'throng a %' limit 1").Scan(&name))
	as := must(sql.Open("pgx", address+"&application_name="+strings.ReplaceAll(name, " ", "%20")))(t)
	defer as.Close()
	stands := must(as.BeginTx(t.Context(), nil))(t)
	must(stands.ExecContext(t.Context(), "select epoch from leases for key share"))(t)
	var second *postgres.Store
	for late := time.Now().Add(20 * time.Second); second == nil; { // a renews it still
		sqlOf(t, address, "update leases set expires_at = clock_timestamp() - interval '1 second' where epoch = 1")
		if second, _, err = b.Take(t.Context()); time.Now().After(late) {
			t.Fatalf("it is not taken: %v", err)
		}
	}
	if err := stands.Commit(); err == nil {
		t.Error("the transaction of who had it went on")
	}
	must(second.CreateTenant(t.Context(), store.Tenant{Name: "now", Weight: 1}, 0))(t)
	<-first.Lost()
	ok(t, first.Close())
	ok(t, second.Close())
	ok(t, a.Leave())
	ok(t, b.Leave())
}
