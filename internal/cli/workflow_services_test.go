package cli

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// TestWorkflowServices asks a service while it is served.
func TestWorkflowServices(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	read, write := io.Pipe()
	var stderr strings.Builder
	code := make(chan int, 1)
	go func() {
		code <- Main(ctx, []string{"workflow", "services", "--listen", "127.0.0.1:0"}, strings.NewReader(""), write, &stderr, "v0")
		write.Close()
	}()
	line, err := bufio.NewReader(read).ReadString('\n')
	url := regexp.MustCompile(`http://127\.0\.0\.1:\d+`).FindString(line)
	if err != nil || url == "" {
		t.Fatalf("%q: %v", line, err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/register", strings.NewReader(`{"claim":"n1"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", "k")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	said, err := io.ReadAll(answer.Body)
	answer.Body.Close()
	if err != nil || answer.StatusCode != http.StatusOK || !strings.Contains(string(said), "F-n1") {
		t.Errorf("%d %s %v", answer.StatusCode, said, err)
	}
	cancel()
	if got := <-code; got != 0 || stderr.String() != "" {
		t.Errorf("it ended with %d: %s", got, stderr.String())
	}
}
