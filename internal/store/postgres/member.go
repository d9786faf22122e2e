package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// Several nodes may share a database. Each has a row with its name, where the others reach
// it, and a time until which nobody else takes the name, renewed like the lease. One of them
// has the lease of the database, and so everything that is kept; the others stand by.
//
// The row is no part of the schema: nodes of two versions read it while one of them brings
// the schema up to date.
const (
	createNodes = `create table if not exists nodes (
		name           text primary key,
		holder         text not null,
		address        text not null,
		certificate    text not null,
		version        text not null,
		problem        text not null,
		started_at     timestamp with time zone not null,
		expires_at     timestamp with time zone not null
	)`
	dropNodes  = `delete from nodes where expires_at < clock_timestamp() - interval '1 day'`
	enterNode  = `insert into nodes (name, holder, address, certificate, version, problem, started_at, expires_at) values ($1, $2, $3, $4, $5, '', clock_timestamp(), clock_timestamp() + $6 * interval '1 microsecond') on conflict (name) do update set holder = excluded.holder, address = excluded.address, certificate = excluded.certificate, version = excluded.version, problem = '', started_at = excluded.started_at, expires_at = excluded.expires_at where nodes.expires_at <= clock_timestamp()`
	holderOf   = `select holder from nodes where name = $1`
	renewNode  = `update nodes set problem = $3, expires_at = clock_timestamp() + $4 * interval '1 microsecond' where name = $1 and holder = $2`
	nodeFields = `n.name, n.holder, n.address, n.certificate, n.version, n.problem, n.started_at, n.expires_at > clock_timestamp(), l.holder = n.holder and l.expires_at > clock_timestamp()`
	listNodes  = `select ` + nodeFields + ` from nodes n join leases l on l.name = 'server' order by n.name`
	ownerNode  = `select ` + nodeFields + ` from leases l join nodes n on n.holder = l.holder where l.name = 'server'`
	// endOf ends the connections of a server whose lease has run out: one that stands still has
	// transactions that wait for each other, and who takes the lease would wait for them all.
	endOf  = `select count(pg_terminate_backend(a.pid)) from leases l join pg_stat_activity a on a.datname = current_database() and a.application_name like 'throng %' and right(a.application_name, 6) = right(l.holder, 6) where l.name = 'server' and l.holder = $1 and l.expires_at <= clock_timestamp()`
	isHeld = `select holder, expires_at > clock_timestamp() from leases where name = 'server'`
)

// Node is one of those that share a database.
type Node struct {
	Name        string
	Address     string // host:port, where other nodes reach it
	Certificate string // SHA-256 of that which it shows them, in hexadecimal digits
	Version     string // of the program

	Problem   string // why it could not take the database; "": it could
	StartedAt time.Time
	Alive     bool // it has shown that it goes on, within the last 3 seconds
	Owner     bool // it has the database
	holder    string
}

// memberConns bounds the connections of a node apart from those of the store that it opens.
const memberConns = 4

// checkEvery is how often a node that stands by looks whether it could take the database.
const checkEvery = 10 * time.Second

// Member is this process's place among the nodes of a database. Its methods are safe for
// concurrent use, but for Take and Leave.
type Member struct {
	address string
	own     Node
	options Options
	db      *sql.DB
	end     context.CancelFunc
	ended   sync.WaitGroup
	gone    chan struct{}

	mu      sync.Mutex
	problem string
	checked time.Time
}

// Join enters a node among those of the database at an address. It fails if one that goes
// on has the name: one that was killed is waited for, as long as its row holds. It fails,
// too, if this program could not go on with the database.
func Join(ctx context.Context, address string, own Node, o Options) (_ *Member, err error) {
	config, err := parse(address)
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", Shown(address), err)
	}
	own.holder = fmt.Sprintf("node %s, %s", own.Name, holderName())
	o.name = fmt.Sprintf(" %.40s %s", own.Name, own.holder[len(own.holder)-6:]) // see endOf
	config.RuntimeParams["application_name"] += o.name
	m := &Member{address: address, own: own, options: o, db: connections(config, memberConns), gone: make(chan struct{})}
	if err = m.enter(ctx); err != nil {
		return nil, fmt.Errorf("open database %s: %w", Shown(address), errors.Join(err, m.db.Close()))
	}
	run, end := context.WithCancel(context.WithoutCancel(ctx))
	m.end = end
	m.ended.Go(func() { m.renew(run) })
	return m, nil
}

func (m *Member) enter(ctx context.Context) error {
	if err := fit(ctx, m.db, true); err != nil {
		return err
	}
	if err := m.usable(ctx); err != nil {
		return err
	}
	if err := makeLeases(ctx, m.db); err != nil {
		return err
	}
	if _, err := m.db.ExecContext(ctx, createNodes); err != nil && !is(uniqueViolation, duplicateTable)(err) { // two made it at once
		return err
	}
	if _, err := m.db.ExecContext(ctx, dropNodes); err != nil {
		return err
	}
	until := time.Now().Add(takeFor)
	for {
		n, err := changed(m.db.ExecContext(ctx, enterNode, m.own.Name, m.own.holder, m.own.Address, m.own.Certificate, m.own.Version, leaseFor.Microseconds()))
		if err != nil || n > 0 {
			return err
		}
		if time.Now().After(until) {
			var holder string
			if err := m.db.QueryRowContext(ctx, holderOf, m.own.Name).Scan(&holder); err != nil {
				return err
			}
			return crowd.Fieldf("node", "another node that goes on is called %q: %s", m.own.Name, holder)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lookEvery):
		}
	}
}

func changed(r sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// usable is the function of that name, for this node.
func (m *Member) usable(ctx context.Context) error { return usable(ctx, m.db, m.options.Keys) }

// renew renews the node's row until ctx ends or another process has the name.
func (m *Member) renew(ctx context.Context) {
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		within, cancel := context.WithTimeout(ctx, leaseFor)
		n, err := changed(m.db.ExecContext(within, renewNode, m.own.Name, m.own.holder, m.Problem(), leaseFor.Microseconds()))
		cancel()
		if err == nil && n == 0 {
			close(m.gone)
			return
		}
	}
}

// Gone is closed when another process has the node's name.
func (m *Member) Gone() <-chan struct{} { return m.gone }

// Problem is why the node could not take the database when it looked last, or "".
func (m *Member) Problem() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.problem
}

// check looks now and then whether the node could take the database.
func (m *Member) check(ctx context.Context) {
	m.mu.Lock()
	due := time.Since(m.checked) >= checkEvery
	m.mu.Unlock()
	if due {
		m.note(m.usable(ctx))
	}
}

// lately reports whether the last check was not long ago, and found no problem.
func (m *Member) lately() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.problem == "" && time.Since(m.checked) < 2*checkEvery
}

func (m *Member) note(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.checked, m.problem = time.Now(), ""
	if err != nil {
		m.problem = err.Error()
	}
}

// Take takes the database if no server has it. Else it returns the node that has: the zero
// Node if that is a server which is none.
func (m *Member) Take(ctx context.Context) (*Store, Node, error) {
	within, cancel := context.WithTimeout(ctx, leaseFor)
	defer cancel()
	var holder string
	var held bool
	err := m.db.QueryRowContext(within, isHeld).Scan(&holder, &held)
	if err != nil {
		return nil, Node{}, err
	}
	if held { // most times: nothing was locked, which the owner's transactions would wait for
		m.check(within)
		owner, err := m.node(within)
		return nil, owner, err
	}
	if holder != "" && holder != m.own.holder {
		_, _ = m.db.ExecContext(within, endOf, holder) // where it may not, it waits for them
	}
	l := newLease(m.db, holdAsNode)
	other, err := l.try(within, m.own.holder, func() error {
		if m.lately() { // what has changed since is found when the database is opened
			return nil
		}
		err := m.usable(within)
		m.note(err)
		return err
	})
	if err != nil {
		return nil, Node{}, err
	}
	if other != "" { // it was renewed late, or somebody was faster
		owner, err := m.node(within)
		return nil, owner, err
	}
	l.keep(ctx)
	s, err := open(ctx, m.address, m.options, func(context.Context, *sql.DB, func() error) (*lease, error) { return l, nil })
	if err != nil {
		_ = l.resign() // once more does no harm; the first error is the one to tell
		return nil, Node{}, fmt.Errorf("open database %s: %w", Shown(m.address), err)
	}
	return s, m.own, nil
}

func (m *Member) node(ctx context.Context) (n Node, err error) {
	err = n.scan(m.db.QueryRowContext(ctx, ownerNode))
	if errors.Is(err, sql.ErrNoRows) {
		return Node{}, nil
	}
	return n, err
}

func (n *Node) scan(r interface{ Scan(...any) error }) error {
	return r.Scan(&n.Name, &n.holder, &n.Address, &n.Certificate, &n.Version, &n.Problem, &n.StartedAt, &n.Alive, &n.Owner)
}

// Nodes returns all nodes that went on within the last day, in order of their names.
func (m *Member) Nodes(ctx context.Context) ([]Node, error) { return nodes(ctx, m.db) }

func nodes(ctx context.Context, db *sql.DB) (list []Node, err error) {
	rows, err := db.QueryContext(ctx, listNodes)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var n Node
		if err := n.scan(rows); err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	return list, rows.Err()
}

// Leave gives the name back. The store that Take gave is closed before.
func (m *Member) Leave() error {
	m.end()
	m.ended.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), leaseFor)
	defer cancel()
	_, err := m.db.ExecContext(ctx, renewNode, m.own.Name, m.own.holder, "", 0)
	return errors.Join(err, m.db.Close())
}

// ReadNodes returns the nodes of the database at an address; none if no node ever joined.
func ReadNodes(ctx context.Context, address string) ([]Node, error) {
	config, err := parse(address)
	if err != nil {
		return nil, err
	}
	config.RuntimeParams["default_transaction_read_only"] = "on"
	db := connections(config, 1)
	defer db.Close()
	var there bool
	if err := db.QueryRowContext(ctx, `select to_regclass('nodes') is not null`).Scan(&there); err != nil || !there {
		return nil, err
	}
	return nodes(ctx, db)
}
