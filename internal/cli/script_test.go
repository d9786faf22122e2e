package cli

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/throng-dev/throng/internal/kit/sharedtest"
	"github.com/throng-dev/throng/internal/store/postgres/pgtest"
)

// TestMain makes the test binary the command, so that scripts can run it.
func TestMain(m *testing.M) {
	testscript.Main(pgtest.Tests{M: m}, map[string]func(){
		"throng": func() {
			os.Exit(Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr, "v0.0.0-test"))
		},
	})
}

const scriptDir = "testdata/script"

func TestScripts(t *testing.T) {
	t.Parallel()
	runScripts(t, scriptDir, func() string { return "" })
}

// TestScriptsOnPostgreSQL runs those whose database is there.
func TestScriptsOnPostgreSQL(t *testing.T) {
	t.Parallel()
	runScripts(t, "testdata/postgres", func() string { return pgtest.New(t) })
}

// runScripts runs the scripts of a folder, each with the address of a database, or "".
func runScripts(t *testing.T, dir string, database func() string) {
	t.Helper()
	testscript.Run(t, testscript.Params{
		Dir: dir,
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("XDG_CONFIG_HOME", filepath.Join(e.WorkDir, "config"))
			e.Setenv("TZ", "UTC")
			e.Setenv("THRONG_DATABASE", database())
			e.Values[serverKey{}] = &testServer{}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"startserver": startServer,
			"stopserver":  stopServer,
			"grab":        grab,
			"done":        done,
			"request":     request,
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// TestScriptsOnSharedData runs the scripts that need the reference data.
func TestScriptsOnSharedData(t *testing.T) {
	t.Parallel()
	product := sharedtest.Dir(t, "labels", "product")
	testscript.Run(t, testscript.Params{
		Dir: "testdata/shared",
		Setup: func(e *testscript.Env) error {
			e.Setenv("PRODUCT", product)
			return nil
		},
		RequireExplicitExec: true,
	})
}

// testServer is the server of a script.
type testServer struct {
	cmd  *exec.Cmd
	logs bytes.Buffer
}

type serverKey struct{}

// startServer runs "throng serve" on the script's folder data and returns when
// it listens. It sets THRONG_SERVER and, while nobody has a password, SETUP.
func startServer(ts *testscript.TestScript, _ bool, args []string) {
	s := ts.Value(serverKey{}).(*testServer)
	again := s.cmd != nil
	s.cmd = exec.Command("throng", append([]string{"serve", "--data", ts.MkAbs("data"), "--listen", "127.0.0.1:0"}, args...)...)
	s.cmd.Env = append(os.Environ(), "THRONG_DATABASE="+ts.Getenv("THRONG_DATABASE"))
	s.cmd.Stderr = &s.logs
	out, err := s.cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(s.cmd.Start())
	ts.Defer(func() { s.stop(ts) })
	said := bufio.NewReader(out)
	url := s.said(ts, said, "listening on ")
	ts.Setenv("THRONG_SERVER", url)
	if !again {
		_, link, _ := strings.Cut(s.said(ts, said, "first run: "), " at ")
		ts.Setenv("SETUP", link)
	}
	go func() { _, _ = io.Copy(io.Discard, said) }()
}

// said returns what stands behind a prefix on the next line of the server.
func (s *testServer) said(ts *testscript.TestScript, r *bufio.Reader, prefix string) string {
	text, err := r.ReadString('\n')
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), prefix)
	if err != nil || !ok {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		ts.Fatalf("the server said %q, not %q (%v)\n%s", text, prefix, err, s.logs.String())
	}
	return rest
}

func stopServer(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Value(serverKey{}).(*testServer).stop(ts)
}

func (s *testServer) stop(ts *testscript.TestScript) {
	if s.cmd.ProcessState != nil {
		return
	}
	ts.Check(s.cmd.Process.Signal(syscall.SIGINT))
	if err := s.cmd.Wait(); err != nil {
		ts.Fatalf("the server ended with %v\n%s", err, s.logs.String())
	}
}

// done RUN waits until a run of a workflow is done: its last steps are made
// next to the command that brought them about.
func done(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: done RUN")
	}
	for limit := time.Now().Add(30 * time.Second); ; {
		ts.Check(ts.Exec("throng", "workflow", "show", args[0], "--json"))
		if regexp.MustCompile(`"state": *"done"`).MatchString(ts.ReadFile("stdout")) {
			return
		}
		if time.Now().After(limit) {
			ts.Fatalf("%s is not done: %s", args[0], ts.ReadFile("stdout"))
		}
	}
}

// request METHOD PATH TOKEN [FILE] sends a request to the server, as a provider of accounts
// does, and writes the status and the body of the answer.
func request(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 3 || len(args) > 4 {
		ts.Fatalf("usage: request METHOD PATH TOKEN [FILE]")
	}
	body := ""
	if len(args) == 4 {
		body = os.Expand(ts.ReadFile(args[3]), ts.Getenv)
	}
	r, err := http.NewRequest(args[0], ts.Getenv("THRONG_SERVER")+args[1], strings.NewReader(body))
	ts.Check(err)
	r.Header.Set("Authorization", "Bearer "+args[2])
	r.Header.Set("Content-Type", "application/scim+json")
	answer, err := http.DefaultClient.Do(r)
	ts.Check(err)
	defer answer.Body.Close()
	_, _ = fmt.Fprintln(ts.Stdout(), answer.Status)
	_, err = io.Copy(ts.Stdout(), answer.Body)
	ts.Check(err)
}

// grab NAME REGEXP sets a variable to what the group matches in the standard
// output of the command before.
func grab(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: grab NAME REGEXP")
	}
	m := regexp.MustCompile(args[1]).FindStringSubmatch(ts.ReadFile("stdout"))
	if len(m) != 2 {
		ts.Fatalf("no match for %s in the output", args[1])
	}
	ts.Setenv(args[0], m[1])
}
