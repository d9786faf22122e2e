package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplitPolicies(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"fs":                              {"fs"},
		"fs,dafs":                         {"fs", "dafs"},
		"wcfs(fs,k=3),dafs":               {"wcfs(fs,k=3)", "dafs"},
		"fs, wcfs(tenant-fair(wfs), k=3)": {"fs", "wcfs(tenant-fair(wfs), k=3)"},
		"market(size=1,price=2),beta-fair(beta=-1,x=dafs,f=log1p),fs": {"market(size=1,price=2)", "beta-fair(beta=-1,x=dafs,f=log1p)", "fs"},
		"fs,":       {"fs", ""},
		",fs":       {"", "fs"},
		"fs,,edf":   {"fs", "", "edf"},
		"wcfs(fs,k": {"wcfs(fs,k"},
		"fs),edf":   {"fs)", "edf"},
		"":          {""},
	} {
		if diff := cmp.Diff(want, splitPolicies(text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

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
