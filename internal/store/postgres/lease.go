package postgres

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// A server has a database for as long as it has its lease: a row with the server's name,
// a number that grows with each server, the epoch, and a time until which nobody else takes
// it. Every transaction that writes locks the row's key, if the epoch is still its own, so
// that whoever takes the lease waits for the transactions of the server before it, and
// those that come later find another epoch. Only the database's clock counts.
//
// The same statement locks a second row, so that the server's transactions that write come
// one after the other, as on SQLite: they lock rows in many orders, and would wait for each
// other in circles.
const (
	leaseFor   = 3 * time.Second
	renewEvery = time.Second
	takeFor    = leaseFor + 2*renewEvery // longer than a lease that nobody renews
	lookEvery  = 200 * time.Millisecond
	sureFor    = leaseFor - 500*time.Millisecond // from before a renewal: nobody else has taken it
)

const (
	createLeases = `create table if not exists leases (
		name       text primary key,
		holder     text not null,
		epoch      bigint not null,
		expires_at timestamp with time zone not null
	)`
	insertLease = `insert into leases (name, holder, epoch, expires_at) values ('server', '', 0, clock_timestamp()), ('writer', '', 0, clock_timestamp()) on conflict (name) do nothing`
	readLease   = `select holder, epoch, expires_at > clock_timestamp() from leases where name = 'server' for update`
	takeLease   = `update leases set holder = $1, epoch = $2, expires_at = clock_timestamp() + $3 * interval '1 microsecond' where name = 'server'`
	giveLease   = `update leases set holder = '', expires_at = clock_timestamp() where name = 'server' and epoch = $1`
	renewLease  = `update leases set expires_at = clock_timestamp() + $2 * interval '1 microsecond' where name = 'server' and epoch = $1`
	ofLease     = ` from leases w join leases l on l.name = 'server' and l.epoch = $1 where w.name = 'writer' for no key update of w for key share of l`
	holdLease   = `select l.epoch, ''` + ofLease
	// holdAsNode has PostgreSQL end a transaction whose server stands still in its midst for
	// the length of a lease: who takes the lease would wait for it until it goes on.
	holdAsNode = `select l.epoch, set_config('idle_in_transaction_session_timeout', '3000', true)` + ofLease
)

// lease is what a server has of its database.
type lease struct {
	db    *sql.DB
	epoch int64
	hold  string // the statement with which a transaction begins
	end   context.CancelFunc
	ended sync.WaitGroup
	lost  chan struct{}
	once  sync.Once

	renewed atomic.Pointer[time.Time] // before it was taken or renewed last
}

// sure reports whether nobody else can have taken the lease yet, by a clock that goes on
// and by that of the wall: one of them may stand still while the machine does, or be set.
func (l *lease) sure() bool {
	at := l.renewed.Load()
	now := time.Now()
	return now.Sub(*at) < sureFor && now.Round(0).Sub(at.Round(0)) < sureFor
}

// take takes the lease when that of the server before has ended, if the database is usable:
// otherwise that server can have it back.
func take(ctx context.Context, db *sql.DB, usable func() error) (*lease, error) {
	if err := makeLeases(ctx, db); err != nil {
		return nil, err
	}
	l := newLease(db, holdLease)
	name := holderName()
	until := time.Now().Add(takeFor)
	for {
		holder, err := l.try(ctx, name, usable)
		if err != nil {
			return nil, err
		}
		if holder == "" {
			break
		}
		if time.Now().After(until) {
			return nil, fmt.Errorf("another server has it open: %s", holder)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(lookEvery):
		}
	}
	l.keep(ctx)
	return l, nil
}

// makeLeases makes the table of leases.
func makeLeases(ctx context.Context, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, createLeases); err != nil && !is(uniqueViolation, duplicateTable)(err) { // two made it at once
		return err
	}
	_, err := db.ExecContext(ctx, insertLease)
	return err
}

// holderName names this process, and nothing else in it or elsewhere.
func holderName() string {
	host, _ := os.Hostname() // it is for people to read
	return fmt.Sprintf("%s, process %d, %s", host, os.Getpid(), rand.Text()[:6])
}

func newLease(db *sql.DB, hold string) *lease {
	return &lease{db: db, hold: hold, lost: make(chan struct{})}
}

// keep renews a lease that was taken, until resign.
func (l *lease) keep(ctx context.Context) {
	run, end := context.WithCancel(context.WithoutCancel(ctx))
	l.end = end
	l.ended.Go(func() { l.renew(run) })
}

// try takes the lease unless somebody has it, whose name it returns.
func (l *lease) try(ctx context.Context, name string, usable func() error) (holder string, err error) {
	tx, err := l.db.BeginTx(ctx, nil)
	if err != nil {
		return "", err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	var held bool
	if err := tx.QueryRowContext(ctx, readLease).Scan(&holder, &l.epoch, &held); err != nil {
		return "", err
	}
	if held {
		return holder, nil
	}
	if err := usable(); err != nil {
		return "", err
	}
	l.epoch++
	at := time.Now()
	l.renewed.Store(&at)
	if _, err := tx.ExecContext(ctx, takeLease, name, l.epoch, leaseFor.Microseconds()); err != nil {
		return "", err
	}
	return "", tx.Commit()
}

// renew renews the lease until ctx ends or somebody else has it. When the database cannot
// be reached it goes on trying: the lease may have run out, and is still this server's if
// nobody has taken it.
func (l *lease) renew(ctx context.Context) {
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		at := time.Now()
		within, cancel := context.WithTimeout(ctx, leaseFor)
		result, err := l.db.ExecContext(within, renewLease, l.epoch, leaseFor.Microseconds())
		cancel()
		if err != nil {
			continue
		}
		if n, err := result.RowsAffected(); err == nil && n == 0 {
			l.lose()
			return
		}
		l.renewed.Store(&at)
	}
}

func (l *lease) lose() { l.once.Do(func() { close(l.lost) }) }

var errLost = &crowd.Error{Code: crowd.Unavailable, Message: "another server has taken over this one's database"}

// guard has a transaction fail if another server has the lease, and has others wait for its
// end before they take it.
func (l *lease) guard(ctx context.Context, tx *sql.Tx) error {
	var epoch int64
	var limit string
	err := tx.QueryRowContext(ctx, l.hold, l.epoch).Scan(&epoch, &limit)
	if errors.Is(err, sql.ErrNoRows) {
		l.lose()
		return errLost
	}
	return err
}

// resign has the lease end now. Nobody holds it then: who takes it need not end the
// connections of a server that is closing.
func (l *lease) resign() error {
	if l == nil {
		return nil
	}
	l.end()
	l.ended.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), leaseFor)
	defer cancel()
	_, err := l.db.ExecContext(ctx, giveLease, l.epoch)
	return err
}
