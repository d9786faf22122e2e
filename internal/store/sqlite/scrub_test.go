package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/store/sqlstore"
)

// newScrubbed is a store with some MiB in it, which were all in the file, and none in the log.
func newScrubbed(t *testing.T, o Options) *bench {
	t.Helper()
	s := &bench{Store: mustOpen(t, filepath.Join(t.TempDir(), "throng.db"), o)}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	s.setUp(t, 30_000)
	if err := s.cutLog(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// download begins to read all labels, and returns how to go on and how to stop.
func (s *bench) download(t *testing.T) (next func() (store.LabelledTask, error, bool), stop func()) {
	t.Helper()
	next, stop = iter.Pull2(s.Labels(t.Context(), 1, s.batch))
	if _, err, there := next(); err != nil || !there {
		t.Fatalf("nothing is read: %v", err)
	}
	return next, stop
}

// vacuums is how often the database was written anew.
func (s *bench) vacuums(t *testing.T) (n int64) {
	t.Helper()
	if err := s.read.QueryRowContext(t.Context(), "pragma schema_version").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// mostWait is far more than anybody waits who writes, and far less than what is waited for.
const mostWait = 5 * time.Second

// writeWhile keeps something n times, and until done is closed.
func (s *bench) writeWhile(t *testing.T, name string, n int, done <-chan error) error {
	t.Helper()
	for i := 0; ; i++ {
		if i >= n {
			select {
			case err := <-done:
				return err
			default:
				if done == nil {
					return nil
				}
			}
		}
		began := time.Now()
		if _, err := s.CreatePool(t.Context(), store.Pool{Name: fmt.Sprint(name, i), Policy: "fifo"}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > mostWait {
			t.Fatalf("to keep something took %s", took)
		}
	}
}

// TestAScrubWaitsForADownload: while a download goes on, nobody who writes or reads waits for a
// scrub, which writes nothing before it can end.
func TestAScrubWaitsForADownload(t *testing.T) {
	t.Parallel()
	s := newScrubbed(t, Options{ReadsEnd: time.Hour})
	before := s.vacuums(t)
	_, stop := s.download(t)
	scrubbed := make(chan error, 1)
	go func() { scrubbed <- s.Scrub(t.Context(), time.Now()) }()
	if err := s.writeWhile(t, "while", 100, nil); err != nil {
		t.Fatal(err)
	}
	_, stopOther := s.download(t) // nor does who begins to read
	stopOther()
	select {
	case err := <-scrubbed:
		t.Fatalf("it ended while somebody read: %v", err)
	default:
	}
	if n := s.vacuums(t) - before; n != 0 {
		t.Errorf("written anew %d times while somebody read", n)
	}
	stop()
	if err := <-scrubbed; err != nil {
		t.Fatal(err)
	}
	if n := s.vacuums(t) - before; n != 1 {
		t.Errorf("written anew %d times", n)
	}
}

// TestAScrubCutsOffDownloads: one download after another does not keep a scrub from its end.
func TestAScrubCutsOffDownloads(t *testing.T) {
	t.Parallel()
	s := newScrubbed(t, Options{ReadsEnd: 200 * time.Millisecond})
	next, stop := s.download(t)
	defer stop()
	begun := make(chan struct{})
	scrubbed := make(chan error, 1)
	go func() {
		<-begun
		scrubbed <- s.Scrub(t.Context(), time.Now())
	}()
	cut := 0
	for list := 0; ; list++ { // each begins before the last one ends
		nextOther, stopOther := s.download(t)
		if list == 0 {
			close(begun)
		}
		err := goOn(next)
		if err != nil {
			cut++
			if crowd.CodeOf(err) != crowd.Unavailable {
				t.Fatalf("the download ends with %v", err)
			}
		}
		stop()
		next, stop = nextOther, stopOther
		select {
		case err := <-scrubbed:
			if err != nil {
				t.Fatal(err)
			}
			if list == 0 || cut == 0 {
				t.Errorf("%d of %d downloads were cut off", cut, list)
			}
			if err := s.writeWhile(t, "after", 1, nil); err != nil {
				t.Fatal(err)
			}
			_, stopLast := s.download(t)
			stopLast()
			return
		default:
		}
	}
}

// goOn reads some more of a download, as slowly as a client may.
func goOn(next func() (store.LabelledTask, error, bool)) error {
	for range 100 {
		if _, err, there := next(); err != nil || !there {
			return err
		}
	}
	return nil
}

// foreign is a read by another process.
func (s *bench) foreign(t *testing.T) (end func()) {
	t.Helper()
	db, err := sql.Open("sqlite", readDSN(s.path()))
	if err != nil {
		t.Fatal(err)
	}
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := tx.QueryRow("select count(*) from tasks").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := errors.Join(tx.Rollback(), db.Close()); err != nil {
			t.Error(err)
		}
	}
}

// TestAScrubBesideAnotherProcess: who reads the file from elsewhere, as a backup does, makes a
// scrub fail before it has written anything, and nobody wait.
func TestAScrubBesideAnotherProcess(t *testing.T) {
	t.Parallel()
	s := newScrubbed(t, Options{LogWait: time.Second})
	before := s.vacuums(t)
	end := s.foreign(t)
	scrubbed := make(chan error, 1)
	go func() { scrubbed <- s.Scrub(t.Context(), time.Now()) }()
	if err := s.writeWhile(t, "while", 10, scrubbed); !errors.Is(err, errReaders) {
		t.Errorf("it ends with %v", err)
	}
	if n := s.vacuums(t) - before; n != 0 {
		t.Errorf("written anew %d times while somebody read", n)
	}
	end()
	if err := s.Scrub(t.Context(), time.Now()); err != nil || s.vacuums(t) != before+1 {
		t.Errorf("afterwards it was written anew %d times: %v", s.vacuums(t)-before, err)
	}
}

// TestAScrubThatOnlyLacksItsEnd: where the file was written anew, and the log could not be cut,
// the next try only cuts the log, unless something else was deleted since.
func TestAScrubThatOnlyLacksItsEnd(t *testing.T) {
	t.Parallel()
	s := newScrubbed(t, Options{LogWait: 300 * time.Millisecond})
	before := s.vacuums(t)
	for i, x := range []struct {
		deleted string
		vacuums int64
	}{{"x", 0}, {"x and y", 1}, {"", 1}} {
		s.vacuumed = "x" // and somebody came to read before the log was cut
		add(t, s.Store, i, 1)
		end := s.foreign(t)
		if err := s.scrub(t.Context(), x.deleted); !errors.Is(err, errReaders) {
			t.Errorf("%q: it ends with %v", x.deleted, err)
		}
		end()
		if err := s.scrub(t.Context(), x.deleted); err != nil || s.vacuumed != "" {
			t.Errorf("%q: it ends with %v, and has still %q in its log", x.deleted, err, s.vacuumed)
		}
		if n := s.vacuums(t) - before; n != x.vacuums {
			t.Errorf("%q: written anew %d times, want %d", x.deleted, n, x.vacuums)
		}
		before += x.vacuums
	}
}

// TestAScrubEndsWhatWasDeletedBefore: of whom the rows go while the files are written anew, the
// files may have them still.
func TestAScrubEndsWhatWasDeletedBefore(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, filepath.Join(t.TempDir(), "throng.db"), Options{})
	defer s.Close()
	erase := func(name string) crowd.WorkerID {
		id, err := s.CreateUser(t.Context(), store.User{Name: name, CreatedAt: time.Now()})
		if err == nil {
			_, err = s.BeginErasure(t.Context(), store.Erasure{Person: id, AskedAt: time.Now()})
		}
		if err = errors.Join(err, s.Erase(t.Context(), id, time.Now())); err != nil {
			t.Error(err)
		}
		return id
	}
	erase("first")
	var second crowd.WorkerID
	meanwhile := sqlstore.New(sqlstore.Pools{Write: s.write, Read: s.read, Scan: s.scan}, sqlstore.Dialect{
		Scrub: func(context.Context, string) error {
			second = erase("second")
			return nil
		},
	}, nil)
	if err := meanwhile.Scrub(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
	list, err := s.Erasures(t.Context())
	if err != nil || len(list) != 1 || list[0].Person != second || list[0].State != store.ErasureRows {
		t.Errorf("not done are %+v (%v), want %s alone", list, err, second)
	}
}
