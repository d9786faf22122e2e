package app_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
)

// TestARunIsShownOnAFullDisk: as it stands, while no answer can be kept.
func TestARunIsShownOnAFullDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	var rows strings.Builder
	rows.WriteString("id,thing\n")
	for i := range 300 {
		fmt.Fprintf(&rows, "%d,thing\n", i+1)
	}
	id := w.begin(oneStep, "things", rows.String())
	w.until(func() bool {
		b := must(w.Runs.Get(w.ctx, w.admin, id))(t).Nodes[1].Batch
		return b != nil && b.Progress.Tasks == 300
	})
	w.close()
	file, err := os.Stat(w.path)
	ok(t, err)
	w.options.MaxPages = file.Size()/4096 + 8
	w.open()
	var told acknowledged
	for i, err := range w.everybody(&told, always) {
		if crowd.CodeOf(err) != crowd.StorageFull {
			t.Fatalf("worker %d ended with %v", i, err)
		}
	}
	v, err := w.Runs.Get(w.ctx, w.admin, id)
	if err != nil || v.Nodes[1].Batch == nil {
		t.Errorf("the run is not shown: %v", err)
	}
	_, err = w.Work.Next(w.ctx, w.workers[0], 0)
	refused(t, err, crowd.StorageFull)
}
