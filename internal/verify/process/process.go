// Package process runs a Throng server as a child process, as an operator
// would: for the demo, the benchmarks and the kill test, which must see a real
// server from outside and be able to take it away. It knows nothing of what a
// server does beyond the lines that "throng serve" prints.
package process

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/throng-dev/throng/internal/client"
)

// Config is how to start a server.
type Config struct {
	Data   string   // folder of the database
	Listen string   // "": a free port on the loopback interface
	Args   []string // in place of "serve" and its flags, for other servers
}

// How long a server may take until it prints where it listens, until it prints a
// new installation's one-time link after that, and to end after SIGTERM.
const (
	startTimeout = 2 * time.Minute
	setupTimeout = 5 * time.Second
	stopTimeout  = 30 * time.Second
)

// Server is a running child process.
type Server struct {
	URL string // http://host:port

	cmd   *exec.Cmd
	log   *tail
	setup chan string   // the secret of the first admin's one-time link
	done  chan struct{} // closed when the process has ended
	err   error         // how it ended; to be read after done
}

// Start starts this program again as a server, and returns when it prints where
// it listens.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args := cfg.Args
	if args == nil {
		listen := cfg.Listen
		if listen == "" {
			listen = "127.0.0.1:0"
		}
		args = []string{"serve", "--data", cfg.Data, "--listen", listen}
	}
	s := &Server{cmd: exec.Command(exe, args...), log: &tail{}, setup: make(chan string, 1), done: make(chan struct{})}
	s.cmd.Stderr = s.log
	setApart(s.cmd)
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	listens := make(chan string, 1)
	go func() {
		s.read(out, listens)
		s.err = s.cmd.Wait() // closes the pipe: only now
		close(s.done)
	}()
	select {
	case s.URL = <-listens:
		return s, nil
	case <-s.done:
		return nil, fmt.Errorf("the server ended before it listened: %w\n%s", s.err, s.log)
	case <-time.After(startTimeout):
		err = fmt.Errorf("the server did not listen within %s", startTimeout)
	case <-ctx.Done():
		err = ctx.Err()
	}
	s.Kill()
	return nil, err
}

// read reads what the server prints, to the end.
func (s *Server) read(out io.Reader, listens chan<- string) {
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if address, ok := strings.CutPrefix(lines.Text(), "listening on "); ok {
			offer(listens, strings.TrimSpace(address))
		} else if _, secret, ok := strings.Cut(lines.Text(), "/setup?token="); ok {
			offer(s.setup, strings.TrimSpace(secret))
		}
	}
}

func offer(to chan<- string, text string) {
	select {
	case to <- text:
	default: // said twice
	}
}

// FirstAdmin uses up the one-time link of a new installation: it sets the
// password of the user admin and returns a client that acts as that user.
func (s *Server) FirstAdmin(ctx context.Context, password string) (*client.Client, error) {
	select {
	case secret := <-s.setup:
		c := &client.Client{URL: s.URL, HTTP: HTTP(8)}
		token, err := c.Setup(ctx, secret, password)
		return c.As(token), err
	case <-time.After(setupTimeout):
		return nil, errors.New("the server has an admin already: take a new folder")
	case <-s.done:
		return nil, fmt.Errorf("the server has ended: %w\n%s", s.err, s.log)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// HTTP returns an HTTP client that keeps so many connections to one server.
func HTTP(connections int) *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConns: connections, MaxIdleConnsPerHost: connections, DisableCompression: true}}
}

// NewPassword returns a password that nobody can guess.
func NewPassword() string { return rand.Text()[:16] }

// Done is closed when the process has ended, by itself or by Stop or Kill.
func (s *Server) Done() <-chan struct{} { return s.done }

// Log returns the end of what the server has logged.
func (s *Server) Log() string { return s.log.String() }

// Kill ends the process as a power failure would (SIGKILL), and returns when it
// is gone.
func (s *Server) Kill() {
	_ = s.cmd.Process.Kill() // fails only if it is gone already
	<-s.done
}

// Stop ends the server as an operator would (SIGTERM), and returns when it is
// gone.
func (s *Server) Stop() error {
	select {
	case <-s.done:
		return fmt.Errorf("the server had ended by itself: %w\n%s", s.err, s.log)
	default:
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-s.done:
	case <-time.After(stopTimeout):
		s.Kill()
		return fmt.Errorf("the server did not end within %s of SIGTERM and was killed\n%s", stopTimeout, s.log)
	}
	if s.err != nil {
		return fmt.Errorf("the server ended badly: %w\n%s", s.err, s.log)
	}
	return nil
}

// tailBytes is how much of the log is kept for error messages.
const tailBytes = 8 << 10

// tail keeps the end of a log.
type tail struct {
	mu   sync.Mutex
	last []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, p...)
	if len(t.last) > 2*tailBytes {
		t.last = append(t.last[:0], t.last[len(t.last)-tailBytes:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.last))
}
