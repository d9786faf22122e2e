package server_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/server"
)

// TestMetricsOnAnotherAddress: there they need no token, and there is nothing else.
func TestMetricsOnAnotherAddress(t *testing.T) {
	t.Parallel()
	cfg := server.Config{Data: t.TempDir(), Listen: "127.0.0.1:0", MetricsListen: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler), Version: "test"}
	s, err := server.Start(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]int{s.MetricsURL: 200, s.URL + "/metrics": 401, strings.TrimSuffix(s.MetricsURL, "metrics") + "v1/me": 404} {
		resp, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if told := strings.Contains(string(body), "throng_pool_workers"); resp.StatusCode != want || told != (want == 200) {
			t.Errorf("%s: status %d, want %d; told: %t", url, resp.StatusCode, want, told)
		}
	}
	cfg.Data, cfg.MetricsListen = t.TempDir(), strings.TrimSuffix(strings.TrimPrefix(s.MetricsURL, "http://"), "/metrics")
	if _, err := server.Start(context.Background(), cfg); err == nil || !strings.Contains(err.Error(), "listen for metrics") {
		t.Errorf("on an address that is taken: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if resp, err := http.Get(s.MetricsURL); err == nil {
		_ = resp.Body.Close()
		t.Error("it goes on after the end")
	}
}
