package server_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/server"
	"github.com/throng-dev/throng/internal/store/postgres/pgtest"
	"github.com/throng-dev/throng/internal/wire"
)

// startNode starts a node with the keys that lie in a folder.
func startNode(t *testing.T, address, name, data string, more ...func(*server.Config)) *server.Server {
	t.Helper()
	cfg := server.Config{Data: data, Database: address, Node: server.Node{Name: name}, Listen: "127.0.0.1:0", MetricsListen: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler), Version: "test"}
	for _, f := range more {
		f(&cfg)
	}
	s, err := server.Start(context.WithoutCancel(t.Context()), cfg)
	check(t, err)
	return s
}

// adminOf sets the first admin's password on the node that has the database.
func adminOf(t *testing.T, s *server.Server) *client.Client {
	t.Helper()
	link, err := s.Bootstrap(t.Context())
	check(t, err)
	c := &client.Client{URL: s.URL}
	token, err := c.Setup(t.Context(), link, "a password of a few words")
	check(t, err)
	return c.As(token)
}

// until asks every few milliseconds until what is awaited is so, and returns how long that took.
func until(t *testing.T, what string, so func() bool) time.Duration {
	t.Helper()
	began := time.Now()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		if time.Since(began) > 30*time.Second {
			t.Fatalf("%s: not within 30 s", what)
		}
		<-tick.C
	}
	return time.Since(began)
}

func states(t *testing.T, c *client.Client) string {
	t.Helper()
	var list []wire.Node
	again(t, func() (err error) {
		list, err = c.Nodes(t.Context())
		return err
	})
	var b strings.Builder
	for _, n := range list {
		_, _ = fmt.Fprintf(&b, "%s:%t:%t ", n.Name, n.Alive, n.Owner)
	}
	return strings.TrimSpace(b.String())
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	reply, err := http.Get(url)
	check(t, err)
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	check(t, err)
	return reply.StatusCode, string(body)
}

// again repeats what is answered that it can be tried again: a busy machine may renew a lease
// too late, and then another node has the database.
func again(t *testing.T, do func() error) {
	t.Helper()
	var err error
	until(t, "it is done", func() bool {
		err = do()
		return crowd.CodeOf(err) != crowd.Unavailable
	})
	check(t, err)
}

// hasDatabase reports whether a node says that it has the database.
func hasDatabase(t *testing.T, s *server.Server) bool {
	t.Helper()
	_, text := get(t, s.MetricsURL)
	return strings.Contains(text, "\nthrong_node_owner 1\n") // not the help
}

// TestNodesShareADatabase: any node takes any request, one of them has the database, and
// another one takes it when that one stops.
func TestNodesShareADatabase(t *testing.T) {
	t.Parallel()
	address, data := pgtest.New(t), t.TempDir()
	a := startNode(t, address, "a", data)
	admin := adminOf(t, a)
	b := startNode(t, address, "b", data)
	of := map[*server.Server]*client.Client{a: admin, b: (&client.Client{URL: b.URL}).As(admin.Token)}
	for s, c := range of {
		name := map[*server.Server]string{a: "ants", b: "bees"}[s]
		again(t, func() error {
			_, err := c.CreateTenant(t.Context(), wire.NewTenant{Name: name})
			return err
		})
		until(t, "one node has the database, and the other one goes on", func() bool {
			list := states(t, c)
			return list == "a:true:true b:true:false" || list == "a:true:false b:true:true"
		})
		until(t, "it is ready", func() bool {
			code, _ := get(t, s.URL+"/readyz")
			return code == http.StatusOK
		})
	}
	owner, other := a, b
	until(t, "each tells its metrics", func() bool {
		if owner, other = a, b; hasDatabase(t, b) {
			owner, other = b, a
		}
		_, of := get(t, owner.MetricsURL)
		_, by := get(t, other.MetricsURL)
		return strings.Contains(of, "throng_pool_") && strings.Contains(of, "throng_node_taken_total 1") && strings.Contains(by, "\nthrong_node_owner 0\n") && strings.Contains(by, "throng_ready 1")
	})
	if _, text := get(t, b.MetricsURL); !strings.Contains(text, `throng_node_forwarded_total{result="answered"} `) {
		t.Errorf("the second node has sent nothing on:\n%s", text)
	}
	check(t, owner.Close())
	until(t, "the other node serves", func() bool {
		_, err := of[other].Tenants(t.Context())
		return err == nil
	})
	if got := states(t, of[other]); got != "a:false:false b:true:true" && got != "a:true:true b:false:false" {
		t.Errorf("the nodes are %s", got)
	}
	if list, err := of[other].Tenants(t.Context()); err != nil || len(list) != 2 {
		t.Errorf("there are %v, %v", list, err)
	}
	check(t, other.Close())
}

// TestWhatIsSentOnStreams: events come through a node that stands by as they happen, and an
// upload that is larger than what is kept in memory; the client's address is told.
func TestWhatIsSentOnStreams(t *testing.T) {
	t.Parallel()
	address, data := pgtest.New(t), t.TempDir()
	a := startNode(t, address, "a", data)
	defer func() { check(t, a.Close()) }()
	admin := adminOf(t, a)
	b := startNode(t, address, "b", data, func(cfg *server.Config) { cfg.TrustProxy = true })
	defer func() { check(t, b.Close()) }()
	through := (&client.Client{URL: b.URL}).As(admin.Token)
	var tenant wire.Tenant
	again(t, func() (err error) {
		tenant, err = through.CreateTenant(t.Context(), wire.NewTenant{Name: "ants"})
		return err
	})
	run, err := through.MakeRun(t.Context(), wire.NewRun{Tenant: tenant.ID, Workflow: "workflow: W\ninputs: {things: {columns: [name]}}\nsteps:\n  same:\n    from: things\n    sql: select name from things\n"})
	check(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	ask, err := http.NewRequestWithContext(ctx, http.MethodGet, b.URL+"/v1/runs/"+run.ID.String()+"/events", nil)
	check(t, err)
	ask.Header.Set("Authorization", "Bearer "+admin.Token)
	reply, err := http.DefaultClient.Do(ask)
	check(t, err)
	defer reply.Body.Close()
	if line, err := bufio.NewReader(reply.Body).ReadString('\n'); err != nil || reply.StatusCode != http.StatusOK || !strings.HasPrefix(line, "event:") && !strings.HasPrefix(line, "data:") && !strings.HasPrefix(line, "id:") {
		t.Errorf("the first line of events is %q: %s, %v", line, reply.Status, err)
	}

	var file bytes.Buffer
	file.WriteString("name\n")
	for i := range 200_000 {
		_, _ = fmt.Fprintf(&file, "thing number %d\n", i)
	}
	if loaded, err := through.LoadRun(t.Context(), run.ID, "things", &file, "csv"); err != nil || loaded.Rows != 200_000 {
		t.Errorf("loaded: %+v, %v", loaded, err)
	}

	ask, err = http.NewRequestWithContext(t.Context(), http.MethodPost, b.URL+"/v1/tenants", strings.NewReader(`{"name":"bees"}`))
	check(t, err)
	ask.Header.Set("Authorization", "Bearer "+admin.Token)
	ask.Header.Set("Content-Type", "application/json")
	ask.Header.Set("X-Forwarded-For", "198.51.100.9, 203.0.113.7")
	ask.Header.Set("Throng-Node-From", "192.0.2.1") // which no client may say
	made, err := http.DefaultClient.Do(ask)
	check(t, err)
	check(t, made.Body.Close())
	var from string
	db, err := sql.Open("pgx", address)
	check(t, err)
	defer db.Close()
	check(t, db.QueryRowContext(t.Context(), "select address from audit where operation = 'Tenants.Create' order by number desc limit 1").Scan(&from))
	if from != "203.0.113.7" {
		t.Errorf("the client's address is kept as %q", from)
	}
}

// TestOnlyNodesSendRequestsOn: who shows another certificate than that of a node is not heard
// where nodes listen for each other.
func TestOnlyNodesSendRequestsOn(t *testing.T) {
	t.Parallel()
	a := startNode(t, pgtest.New(t), "a", t.TempDir())
	defer func() { check(t, a.Close()) }()
	list, err := adminOf(t, a).Nodes(t.Context())
	check(t, err)
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	certificate(t, cert, key, 1, "stranger.example.org")
	stranger, err := tls.LoadX509KeyPair(cert, key)
	check(t, err)
	for name, cfg := range map[string]*tls.Config{
		"none":    {InsecureSkipVerify: true},
		"another": {InsecureSkipVerify: true, Certificates: []tls.Certificate{stranger}},
	} {
		c := http.Client{Transport: &http.Transport{TLSClientConfig: cfg}}
		reply, err := c.Get("https://" + list[0].Address + "/healthz")
		if err == nil {
			_ = reply.Body.Close()
			t.Errorf("with %s certificate, the answer is %s", name, reply.Status)
		}
	}
}

// TestWhoStoodStillGivesUp: a node whose lease another one took serves nothing of its own any
// more, sends requests on, and takes the database again when it is free.
func TestWhoStoodStillGivesUp(t *testing.T) {
	t.Parallel()
	address, data := pgtest.New(t), t.TempDir()
	a := startNode(t, address, "a", data)
	defer func() { check(t, a.Close()) }()
	admin := adminOf(t, a)
	db, err := sql.Open("pgx", address)
	check(t, err)
	defer db.Close()
	// As if a had stood still for so long that another server took the database.
	_, err = db.ExecContext(t.Context(), "update leases set holder = 'another', epoch = epoch + 1, expires_at = clock_timestamp() + interval '1 hour' where name = 'server'")
	check(t, err)
	if _, err := admin.CreateTenant(t.Context(), wire.NewTenant{Name: "late"}); err == nil {
		t.Error("it kept a tenant without the lease")
	}
	until(t, "it stands by", func() bool {
		code, text := get(t, a.URL+"/readyz")
		return code == http.StatusServiceUnavailable && strings.Contains(text, "node: a server that is no node has the database")
	})
	reply, err := http.Get(a.URL + "/v1/tenants")
	check(t, err)
	_ = reply.Body.Close()
	if reply.StatusCode != http.StatusServiceUnavailable || reply.Header.Get("Retry-After") != "1" || reply.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("while nobody can be asked: %s, %v", reply.Status, reply.Header)
	}
	_, err = db.ExecContext(t.Context(), "update leases set expires_at = clock_timestamp() where name = 'server'")
	check(t, err)
	until(t, "it has the database again", func() bool {
		_, err := admin.Tenants(t.Context())
		return err == nil
	})
	if list, err := admin.Tenants(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("there are %v, %v", list, err)
	}
}

// TestNodesThatAreRefused: what is wrong with a node is told when it starts.
func TestNodesThatAreRefused(t *testing.T) {
	t.Parallel()
	address, data := pgtest.New(t), t.TempDir()
	a := startNode(t, address, "a", data)
	defer func() { check(t, a.Close()) }()
	adminOf(t, a)
	newer := pgtest.New(t)
	check(t, startNode(t, newer, "a", data).Close())
	db, err := sql.Open("pgx", newer)
	check(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), "insert into goose_db_version (version_id, is_applied) values (99999, true)")
	check(t, err)
	for want, change := range map[string]func(*server.Config){
		`another node that goes on is called "a"`: func(*server.Config) {},
		"give that key, too":                      func(c *server.Config) { c.Node.Name, c.Data = "b", t.TempDir() },
		"it was used with a newer version":        func(c *server.Config) { c.Node.Name, c.Database = "b", newer },
		"nodes share a PostgreSQL database":       func(c *server.Config) { c.Node.Name, c.Database = "b", "" },
		"is no name of a node":                    func(c *server.Config) { c.Node.Name = "a/b" },
		"say the name of the node":                func(c *server.Config) { c.Node = server.Node{Listen: "127.0.0.1:0"} },
		"say by which host others reach this":     func(c *server.Config) { c.Node.Name, c.Listen = "b", ":0" },
	} {
		cfg := server.Config{Data: data, Database: address, Node: server.Node{Name: "a"}, Listen: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler), Version: "test"}
		change(&cfg)
		s, err := server.Start(t.Context(), cfg)
		if err == nil {
			_ = s.Close()
			t.Errorf("started: want %q", want)
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
