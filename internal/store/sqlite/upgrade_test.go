package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/pressly/goose/v3"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/pool"
	"github.com/throng-dev/throng/sched"
)

// version makes a database as a server left it that knew only the first n
// migrations, with the rows of those of testdata/version1.sql to version<n>.sql that
// are there.
func version(t *testing.T, n int) (path string) {
	t.Helper()
	dir := t.TempDir()
	files, err := filepath.Glob(filepath.Join("..", "sqlstore", "migrations", "*.sql"))
	if err != nil || len(files) <= n {
		t.Fatalf("the migrations are %v, %v", files, err)
	}
	var rows strings.Builder
	for i, file := range files[:n] {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(file)), []byte(rewrite(string(text))), 0o600); err != nil {
			t.Fatal(err)
		}
		if text, err = os.ReadFile(filepath.Join("testdata", fmt.Sprintf("version%d.sql", i+1))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		rows.Write(text)
	}
	path = filepath.Join(t.TempDir(), "throng.db")
	db, err := sql.Open("sqlite", writeDSN(path, Options{}))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	p, err := goose.NewProvider(goose.DialectSQLite3, db, os.DirFS(dir), goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		t.Fatal(err)
	}
	if done, err := p.Up(t.Context()); err != nil || len(done) != n {
		t.Fatalf("%d migrations were done: %v", len(done), err)
	}
	if _, err := db.ExecContext(t.Context(), rows.String()); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// before is version for the migrations before the one whose number is given.
func before(t *testing.T, number string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "sqlstore", "migrations", "*.sql"))
	if err != nil {
		t.Fatal(err)
	}
	return version(t, slices.IndexFunc(files, func(f string) bool { return strings.HasPrefix(filepath.Base(f), number) }))
}

// TestOldDatabase opens a database of before there were calls, and goes on with
// it.
func TestOldDatabase(t *testing.T) {
	ctx := t.Context()
	path := version(t, 1)
	if _, err := OpenReadOnly(ctx, path); err == nil || !strings.Contains(err.Error(), "schema version 1, not ") {
		t.Errorf("to look at it gives %v", err)
	}
	s := mustOpen(t, path, Options{})
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	same := func(what string, got, want any) {
		t.Helper()
		rules := cmp.Comparer(func(x, y label.Rule) bool { return x == y })
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), rules); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", what, diff)
		}
	}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	pools, err := s.ListPools(ctx)
	check(err)
	crew := store.Pool{ID: 1, Name: "crowd", Policy: "wfs", CreatedAt: start, Grants: []store.PoolGrant{{Invite: true}}} // as open to all tenants as it was
	night := store.Pool{ID: 2, Name: "night", Policy: "wfs", CreatedAt: start, Grants: []store.PoolGrant{{}}}            // requesters go on inviting to the first one only
	same("pools", pools, []store.Pool{crew, night})
	users, err := s.PoolUsers(ctx, 1)
	check(err)
	same("users", users, []store.User{
		{ID: 1, Name: "Ada", FullName: "Ada L", Email: "ada@example.org", EmailVerified: true, PasswordHash: "$argon2$", Admin: true, Pool: 1, CreatedAt: start,
			Tenants: []crowd.TenantID{1, 2}, Qualifications: map[string]int{"birds": 90}},
		{ID: 2, Name: "bob", Pool: 1, CreatedAt: start, BlockedBy: []crowd.TenantID{2}},
		{ID: 3, Name: "cid", Pool: 1, Suspended: true, CreatedAt: start},
	})
	check(s.CheckUsage(ctx))
	check(s.CheckLedger(ctx))
	snap, err := s.Snapshot(ctx, 1)
	check(err)
	same("what the snapshot says of duty", []any{snap.Retainer, snap.Funds, snap.Duties}, []any{engine.Retainer{}, crowd.Money(0), []engine.Duty(nil)})
	same("tenants, none with a weight that a pool refuses", snap.Tenants, []engine.Tenant{{ID: 1, Weight: 2, MaxPriority: engine.MaxPriority}, {ID: 2, Weight: engine.MinPriority, Stopped: true, MaxPriority: engine.MaxPriority}})
	if len(snap.Batches) != 1 || len(snap.Batches[0].Assignments) != 2 || snap.Batches[0].Spec.Training {
		t.Fatalf("the snapshot has the batches %+v", snap.Batches)
	}

	now := start.Add(10 * time.Minute)
	e, err := engine.Restore(now, engine.Config{Pool: 1, Policy: sched.MustParse("wfs")}, snap)
	check(err)
	crew.Retainer = engine.Retainer{Called: true, Rate: 60_000}
	crew.Control, crew.Calling = pool.Settings{Min: 1}, store.Calling{Ask: 2}
	check(s.UpdatePool(ctx, crew))
	check(e.SetRetainer(now, crew.Retainer))
	check(e.Fund(now, engine.Account{Kind: engine.Outside}, crowd.Unit))
	if _, err := e.Submit(now, 2, crowd.BatchID(1).Assignment(2), "{}", "cat"); err != nil {
		t.Fatal(err)
	}
	check(e.StartDuty(now, 1))
	check(e.StartDuty(now, 2))
	if _, ready, err := e.Ready(now, 1); err != nil || ready {
		t.Fatalf("a requester of the batch's tenant gets the next task: %t, %v", ready, err)
	}
	if _, ready, err := e.Ready(now, 2); err != nil || !ready {
		t.Fatalf("the next task: %t, %v", ready, err)
	}
	check(e.Check())
	var changes engine.Changes
	e.Take(&changes)
	check(s.Commit(ctx, &changes))
	call, err := s.CreateCall(ctx, store.Call{Pool: 1, At: now, State: store.CallOpen})
	check(err)
	check(s.PutNotices(ctx, []store.Notice{{Call: call, Worker: 3, State: store.NoticeAsked, AskedAt: now}}, []store.Message{{Worker: 3, Call: call, State: store.MessageQueued}}))
	if _, err := s.PutSubscription(ctx, store.Subscription{Worker: 3, Endpoint: "e"}); err != nil {
		t.Fatal(err)
	}
	check(s.AddActions(ctx, []store.Action{{Pool: 1, Kind: store.ActionRecruit}}))
	check(s.AddSamples(ctx, []store.Sample{{Pool: 1, At: now}}))
	check(s.PutStates(ctx, []store.PoolState{{Pool: 1, At: now}}))
	id, err := s.CreateUser(ctx, store.User{Name: "dora", Pool: 1, Away: true})
	check(err)
	same("the next user", id, crowd.WorkerID(4))

	check(s.Close())
	s = mustOpen(t, path, Options{}) // again: it is migrated once
	defer s.Close()
	if snap, err = s.Snapshot(ctx, 1); err != nil {
		t.Fatal(err)
	}
	same("retainer", snap.Retainer, crew.Retainer)
	same("funds", snap.Funds, crowd.Unit)
	same("duties", snap.Duties, []engine.Duty{{Pool: 1, Worker: 1, On: true, At: now, Since: now}, {Pool: 1, Worker: 2, On: true, At: now, Since: now}})
	again, err := engine.Restore(now, engine.Config{Pool: 1, Policy: sched.MustParse("wfs")}, snap)
	check(err)
	check(again.Check())
	same("who holds what", again.Holding(0), e.Holding(0))
	check(s.CheckLedger(ctx))
}

// TestDatabaseBeforeWorkflows opens a database of before there were runs, and
// goes on with its batches and with a run.
func TestDatabaseBeforeWorkflows(t *testing.T) {
	ctx := t.Context()
	path := version(t, 2)
	s := mustOpen(t, path, Options{})
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	same := func(what string, got, want any) {
		t.Helper()
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", what, diff)
		}
	}
	known := func(id crowd.BatchID) []uint32 {
		t.Helper()
		b, err := s.Batch(ctx, 1, id)
		check(err)
		if b.Run != 0 || b.Spec.Open || b.Spec.SLA != nil || b.Progress.Open {
			t.Errorf("%s is kept as %+v", id, b)
		}
		return []uint32{b.Spec.Tasks, b.Progress.Tasks}
	}
	same("tasks of a running batch", known(1), []uint32{3, 3})
	same("of a draft", known(2), []uint32{0, 0})
	same("of one that has ended", known(3), []uint32{2, 2})
	same("of one that was never launched", known(4), []uint32{1, 0})
	task, err := s.Task(ctx, crowd.BatchID(1).Task(2))
	check(err)
	same("task", task, store.Task{ID: crowd.BatchID(1).Task(2), Values: []string{"b"}})
	snap, err := s.Snapshot(ctx, 1)
	check(err)
	now := time.Date(2026, 1, 1, 0, 10, 0, 0, time.UTC)
	e, err := engine.Restore(now, engine.Config{Pool: 1, Policy: sched.MustParse("wfs")}, snap)
	check(err)
	if _, err := e.Submit(now, 2, crowd.BatchID(1).Assignment(2), "{}", "cat"); err != nil {
		t.Fatal(err)
	}
	var changes engine.Changes
	e.Take(&changes)
	check(s.Commit(ctx, &changes))
	same("tasks of the running batch", known(1), []uint32{3, 3})
	runs, err := s.OpenRuns(ctx)
	check(err)
	same("runs", runs, []store.Run(nil))
	id, err := s.CreateRun(ctx, store.Run{Tenant: 1, State: store.RunRunning}, []store.Node{{Node: 0, Name: "ask"}})
	check(err)
	same("the first run", id, crowd.RunID(1))
	_, err = s.Advance(ctx, &store.Advance{Run: id, Rows: []store.Row{{State: store.RowOK, Cells: []string{"a"}}}})
	check(err)
	check(s.PutTenantSecret(ctx, 1, store.TenantSecret{Name: "key", Value: "value"}))
	check(s.Close())
	s = mustOpen(t, path, Options{}) // again: it is migrated once
	defer s.Close()
	rows, err := s.Rows(ctx, id, 0, 0, 10, nil)
	check(err)
	same("rows", rows, []store.JoinedRow{{Row: store.Row{N: 1, Item: 1, State: store.RowOK, Cells: []string{"a"}}}})
	same("tasks of the running batch", known(1), []uint32{3, 3})
	check(s.CheckLedger(ctx))
}

// TestDatabaseBeforeWhoAnswered opens a database with runs of which it was not kept who
// answered: that is known by the answers, also of rows that were taken over, but not of
// labels that were, as nobody knows whose task they are of.
func TestDatabaseBeforeWhoAnswered(t *testing.T) {
	ctx := t.Context()
	s := mustOpen(t, version(t, 16), Options{})
	defer s.Close()
	for run, want := range map[crowd.RunID][]store.Row{
		1: {{Item: 1, By: []crowd.WorkerID{1, 3}}, {Item: 2, By: []crowd.WorkerID{2}}},
		2: {{Item: 1, By: []crowd.WorkerID{1, 3}}, {Item: 2, By: []crowd.WorkerID{2}}},
		3: {{Item: 1}, {Item: 2, By: []crowd.WorkerID{2}}},
		4: nil,
	} {
		var got []store.Row
		for row, err := range s.Answered(ctx, run, 1) {
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(row.By)
			got = append(got, row)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", run, diff)
		}
	}
	for id, tells := range map[crowd.BatchID]bool{1: false, 5: true, 6: true} {
		b, err := s.Batch(ctx, 1, id)
		if err != nil || b.Spec.TellsWho != tells {
			t.Errorf("%s tells who answered: %t, %v", id, b.Spec.TellsWho, err)
		}
	}
}

// TestDatabaseBeforeWhoVouches: addresses that providers have given count as theirs alone, and
// those that were entered here, or verified by mail, as the server's.
func TestDatabaseBeforeWhoVouches(t *testing.T) {
	ctx := t.Context()
	path := before(t, "00054")
	db, err := sql.Open("sqlite", writeDSN(path, Options{}))
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"local", "linked", "came", "added", "renamed", "silent"} {
		if _, err := db.ExecContext(ctx, `insert into users (id, name, name_key, full_name, email, email_verified, password_hash, admin, pool, suspended, created_at, qualifications)
			values ($1, $2, $2, '', $2 || '@Example.org', $2 <> 'silent', '', false, 0, false, $3, '')`, i+11, name, 100*(i+1)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.ExecContext(ctx, `insert into identities (issuer, subject, user_id, created_at) values
			('https://corp.example', 'linked', 12, 999), ('https://corp.example', 'came', 13, 300), ('https://other.example', 'came', 13, 400), ('https://corp.example', 'silent', 16, 600);
		insert into provisioned_users (id, provider, user_id, external_id, user_name, name_key, profile, created_at, changed_at, deleted_at) values
			(1, 'corp', 14, '', 'added', 'added', '{"emails":[{"value":"added@example.org","primary":true}]}', 400, 400, 0),
			(2, 'corp', 15, '', 'renamed', 'renamed', '{"emails":[{"value":"was-renamed@example.org"}]}', 400, 400, 0)`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, path, Options{})
	defer s.Close()
	for name, want := range map[string]string{"local": "", "linked": "", "came": "https://corp.example", "added": "corp", "renamed": "", "silent": ""} {
		if u, err := s.UserByName(ctx, name); err != nil || u.EmailBy != want {
			t.Errorf("the address of %s is by the word of %q, not %q: %v", name, u.EmailBy, want, err)
		}
	}
}

// TestDatabaseBeforeLeaversEnded: what those who are suspended had made for others has ended, with what was made
// with it, and nothing else.
func TestDatabaseBeforeLeaversEnded(t *testing.T) {
	ctx := t.Context()
	path := before(t, "00069")
	db, err := sql.Open("sqlite", writeDSN(path, Options{}))
	if err != nil {
		t.Fatal(err)
	}
	for id, suspended := range map[int]bool{11: false, 12: true, 13: false} {
		if _, err := db.ExecContext(ctx, `insert into users (id, name, name_key, full_name, email, email_verified, password_hash, admin, pool, suspended, created_at, qualifications)
			values ($1, 'u' || $1, 'u' || $1, '', '', false, '', false, 0, $2, 100, '')`, id, suspended); err != nil {
			t.Fatal(err)
		}
	}
	for _, x := range []struct {
		id             int
		kind           string
		of, by, madeBy int
	}{
		{101, "api", 11, 12, 0}, {102, "setup", 13, 12, 0}, {103, "api", 13, 0, 101}, {104, "api", 12, 11, 0}, {105, "api", 11, 0, 104}, // 12's, and what was made with it
		{106, "api", 11, 13, 0}, {107, "session", 11, 12, 0}, {108, "provider", 12, 12, 0}, {109, "api", 13, 0, 106},
	} {
		if _, err := db.ExecContext(ctx, `insert into tokens (id, hash, kind, user_id, tenant, roles, name, created_at, expires_at, made_by, made_with)
			values ($1, 'h' || $1, $2, $3, 0, '', '', 100, 0, $4, $5)`, x.id, x.kind, x.of, x.by, x.madeBy); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, path, Options{})
	defer s.Close()
	for id, stays := range map[int]bool{101: false, 102: false, 103: false, 104: true, 105: false, 106: true, 107: true, 108: true, 109: true} {
		if _, err := s.TokenByHash(ctx, fmt.Sprint("h", id)); (err == nil) != stays {
			t.Errorf("token %d: %v", id, err)
		}
	}
}
