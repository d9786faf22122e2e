package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestInterruptedSoak(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(context.Background())
	stop()
	var out, stderr bytes.Buffer
	code := Main(ctx, []string{"sim", "soak", "--rounds", "1000000000"}, strings.NewReader(""), &out, &stderr, "v0")
	if code != exitFailed || out.Len() > 0 || stderr.String() != "throng: interrupted; no world that was looked at broke\n" {
		t.Errorf("code %d, output %q, stderr %q", code, out.String(), stderr.String())
	}
}

func TestInterruptedSimulationWritesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ctx, stop := context.WithCancel(context.Background())
	stop()
	var out, stderr bytes.Buffer
	code := Main(ctx, []string{"sim", "run", "../../scenarios/fifo-starvation.yaml", "--out", filepath.Join(dir, "report")}, strings.NewReader(""), &out, &stderr, "v0")
	if code != exitFailed || out.Len() > 0 || stderr.String() != "throng: interrupted; nothing was written\n" {
		t.Errorf("code %d, output %q, stderr %q", code, out.String(), stderr.String())
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
		t.Errorf("written: %v, %v", list, err)
	}
}

func TestInterruptedExperimentWritesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ctx, stop := context.WithCancel(context.Background())
	stop()
	var out, stderr bytes.Buffer
	code := Main(ctx, []string{"paper", "run", "fig12", "--reps", "3", "--out", filepath.Join(dir, "report")}, strings.NewReader(""), &out, &stderr, "v0")
	if code != exitFailed || out.Len() > 0 || stderr.String() != "throng: interrupted; nothing was written\n" {
		t.Errorf("code %d, output %q, stderr %q", code, out.String(), stderr.String())
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
		t.Errorf("written: %v, %v", list, err)
	}
}
