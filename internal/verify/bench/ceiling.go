package bench

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"
)

// Ceiling is the bare server that a Throng server is measured against: net/http
// and encoding/json, tokens looked up by hash, tasks in memory, and one
// goroutine that commits what came in together. A cycle is what the least
// honest platform needs: one transaction's share of "insert the answer", "the
// assignment is done" and "insert the next assignment", on the same driver of SQLite or
// PostgreSQL with the same durability. It has no roles, batches, policies, money,
// redundancy, leases or checks: the difference is what those cost.
type Ceiling struct {
	Data    string // folder of its database
	Address string // of a PostgreSQL database, in place of one in Data
	Tasks   int    // in memory
	Workers int    // tokens: see CeilingToken
}

// CeilingToken is the token of the i-th worker, from 0.
func CeilingToken(i int) string { return fmt.Sprintf("ceiling-%d", i) }

// Run serves until ctx is done. It prints "listening on URL".
func (c Ceiling) Run(ctx context.Context, stdout io.Writer) (err error) {
	s, err := newCeilingServer(c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.db.Close()) }()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/work/next", s.handle(s.next))
	mux.HandleFunc("POST /v1/work/{assignment}/submit", s.handle(s.submit))
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	failed := make(chan error, 2)
	go func() { failed <- srv.Serve(listener) }()
	go func() { failed <- s.commitAll(ctx) }()
	if _, err := fmt.Fprintf(stdout, "listening on http://%s\n", listener.Addr()); err != nil {
		return err
	}
	select {
	case err = <-failed:
	case <-ctx.Done():
	}
	_ = srv.Close()
	return err
}

type ceilingTask struct{ id, text string }

type ceilingServer struct {
	db      *sql.DB
	lite    bool // it is SQLite
	commits chan *ceilingCycle
	tokens  map[[sha256.Size]byte]int64
	tasks   []ceilingTask

	mu    sync.Mutex
	last  int64           // assignment
	holds map[int64]int64 // worker to assignment
}

// ceilingCycle is what one cycle writes.
type ceilingCycle struct {
	worker, done, doneTask int64
	answer                 string
	next, nextTask         int64
	at                     int64
	err                    error
	durable                chan struct{}
}

func newCeilingServer(c Ceiling) (*ceilingServer, error) {
	db, err := c.open()
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	for _, text := range []string{
		"create table " + ceilingAnswers + " (id bigint primary key, task bigint not null, worker bigint not null, at bigint not null, body text not null)",
		"create table " + ceilingAssignments + " (id bigint primary key, task bigint not null, worker bigint not null, state text not null, at bigint not null, ended bigint not null default 0)",
	} {
		if _, err := db.Exec(text); err != nil {
			return nil, errors.Join(fmt.Errorf("make the ceiling's tables: %w", err), db.Close())
		}
	}
	s := &ceilingServer{db: db, lite: c.Address == "", commits: make(chan *ceilingCycle, 4096), tokens: make(map[[sha256.Size]byte]int64), holds: make(map[int64]int64)}
	for i := range c.Workers {
		s.tokens[sha256.Sum256([]byte(CeilingToken(i)))] = int64(i + 1)
	}
	for i := range c.Tasks {
		id, text := taskText(i)
		s.tasks = append(s.tasks, ceilingTask{id, text})
	}
	return s, nil
}

// The ceiling's tables: on PostgreSQL they are in one database with those of Throng.
const (
	ceilingAnswers     = "ceiling_answers"
	ceilingAssignments = "ceiling_assignments"
)

// open opens the database, as durable as that of a Throng server.
func (c Ceiling) open() (*sql.DB, error) {
	if c.Address != "" {
		return sql.Open("pgx", c.Address)
	}
	return sql.Open("sqlite", (&url.URL{Scheme: "file", Path: filepath.Join(c.Data, "ceiling.db"), RawQuery: url.Values{
		"_pragma": {"journal_mode(wal)", "synchronous(full)", "cache_size(-65536)", "wal_autocheckpoint(4000)"}, "_txlock": {"immediate"},
	}.Encode()}).String())
}

// commitAll makes durable what comes in: all that waits, in one transaction.
func (s *ceilingServer) commitAll(ctx context.Context) error {
	c, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	begin := "begin"
	if s.lite {
		begin = "begin immediate"
	}
	var stmts ceilingStatements
	for text, stmt := range map[string]**sql.Stmt{
		begin:    &stmts.begin,
		"commit": &stmts.commit,
		"insert into " + ceilingAnswers + " (id, task, worker, at, body) values ($1, $2, $3, $4, $5)":                &stmts.answer,
		"update " + ceilingAssignments + " set state = 'submitted', ended = $2 where id = $1 and state = 'assigned'": &stmts.submit,
		"insert into " + ceilingAssignments + " (id, task, worker, state, at) values ($1, $2, $3, 'assigned', $4)":   &stmts.assign,
	} {
		if *stmt, err = c.PrepareContext(ctx, text); err != nil {
			return err
		}
	}
	var group []*ceilingCycle
	for {
		select {
		case g := <-s.commits:
			group = append(group[:0], g)
		case <-ctx.Done():
			return nil
		}
		for len(s.commits) > 0 { // nobody else receives
			group = append(group, <-s.commits)
		}
		err := stmts.write(group)
		for _, g := range group {
			g.err = err
			close(g.durable)
		}
		if err != nil {
			return err
		}
	}
}

type ceilingStatements struct{ begin, commit, answer, submit, assign *sql.Stmt }

// write writes cycles in one transaction.
func (s *ceilingStatements) write(group []*ceilingCycle) error {
	_, err := s.begin.Exec()
	for _, g := range group {
		if err == nil && g.done != 0 {
			if _, err = s.answer.Exec(g.done, g.doneTask, g.worker, g.at, g.answer); err == nil {
				_, err = s.submit.Exec(g.done, g.at)
			}
		}
		if err == nil && g.next != 0 {
			_, err = s.assign.Exec(g.next, g.nextTask, g.worker, g.at)
		}
	}
	if err == nil {
		_, err = s.commit.Exec()
	}
	return err
}

// handle handles requests of workers, whose tokens it knows, with what they then
// hold.
func (s *ceilingServer) handle(f func(worker int64, r *http.Request) (held int64, err error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		worker, ok := s.tokens[sha256.Sum256([]byte(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")))]
		if !ok {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		held, err := f(worker, r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
			return
		}
		s.reply(w, held)
	}
}

func (s *ceilingServer) next(worker int64, _ *http.Request) (int64, error) {
	s.mu.Lock()
	held := s.holds[worker]
	s.mu.Unlock()
	if held != 0 {
		return held, nil
	}
	return s.cycle(worker, 0, "", true)
}

func (s *ceilingServer) submit(worker int64, r *http.Request) (int64, error) {
	var in struct {
		Answer json.RawMessage `json:"answer"`
		Next   bool            `json:"next"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		return 0, err
	}
	_, number, _ := strings.Cut(r.PathValue("assignment"), ".")
	done, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return 0, err
	}
	return s.cycle(worker, done, string(in.Answer), in.Next)
}

// cycle takes an answer, unless done is 0, and with next hands the next task
// out; it returns when both are durable.
func (s *ceilingServer) cycle(worker, done int64, answer string, next bool) (int64, error) {
	g := &ceilingCycle{worker: worker, done: done, answer: answer, at: time.Now().UnixMicro(), durable: make(chan struct{})}
	s.mu.Lock()
	if s.holds[worker] != done {
		s.mu.Unlock()
		return 0, fmt.Errorf("a1.%d is not an assignment of yours", done)
	}
	if next {
		s.last++
		g.next = s.last
	}
	s.holds[worker] = g.next
	g.doneTask, g.nextTask = s.taskOf(done), s.taskOf(g.next)
	s.mu.Unlock()
	s.commits <- g
	<-g.durable
	return g.next, g.err
}

// taskOf is the number of the task of an assignment: each is given three times.
func (s *ceilingServer) taskOf(assignment int64) int64 {
	return assignment / copies % int64(len(s.tasks))
}

func (s *ceilingServer) reply(w http.ResponseWriter, assignment int64) {
	t := s.tasks[s.taskOf(assignment)]
	type work struct {
		Assignment   string            `json:"assignment"`
		Task         string            `json:"task"`
		Batch        string            `json:"batch"`
		RewardMicros int64             `json:"reward_micros"`
		Values       map[string]string `json:"values"`
	}
	var out struct {
		Outcome struct {
			Counted    bool  `json:"counted"`
			PaidMicros int64 `json:"paid_micros"`
		} `json:"outcome"`
		Work *work `json:"work"`
	}
	out.Outcome.Counted = true
	if assignment != 0 {
		out.Work = &work{fmt.Sprintf("a1.%d", assignment), fmt.Sprintf("t1.%d", s.taskOf(assignment)), "b1", rewardMicros, map[string]string{"id": t.id, "text": t.text}}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(out)
}
