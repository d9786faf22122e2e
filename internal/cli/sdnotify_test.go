package cli

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestTheServiceManagerHears that a server is ready, and that it stops.
func TestTheServiceManagerHears(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "throng") // short: the name of a socket has at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	address := filepath.Join(dir, "notify")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: address, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	var logs bytes.Buffer
	serve := exec.Command("throng", "serve", "--data", filepath.Join(dir, "data"), "--listen", "127.0.0.1:0")
	serve.Env, serve.Stderr = append(os.Environ(), "NOTIFY_SOCKET="+address, "THRONG_DATABASE="), &logs
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	hears := func(want string) {
		t.Helper()
		_ = socket.SetReadDeadline(time.Now().Add(30 * time.Second))
		text := make([]byte, 100)
		n, err := socket.Read(text)
		if err != nil || string(text[:n]) != want {
			_ = serve.Process.Kill()
			t.Fatalf("it hears %q, %v; want %q\n%s", text[:n], err, want, logs.String())
		}
	}
	hears("READY=1")
	if err := serve.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	hears("STOPPING=1")
	if err := serve.Wait(); err != nil {
		t.Errorf("%v\n%s", err, logs.String())
	}
}
