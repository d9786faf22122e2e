package demo

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/throng-dev/throng/internal/wire"
)

// view shows how the batches stand while people work.
type view struct {
	screen io.Writer
	live   bool // a terminal: each picture is drawn over the one before
	lines  int  // of the picture before
	last   time.Time
}

// plainEvery is how often a line is written where nothing can be drawn over.
const plainEvery = 5 * time.Second

const barWidth = 24

func newView(screen io.Writer, live bool) *view { return &view{screen: screen, live: live} }

func (v *view) show(s *scene, list []wire.Batch) {
	if !v.live {
		if time.Since(v.last) >= plainEvery {
			v.last = time.Now()
			v.line(s, list)
		}
		return
	}
	var out strings.Builder
	if v.lines > 0 {
		_, _ = fmt.Fprintf(&out, "\x1b[%dA", v.lines)
	}
	row := func(format string, args ...any) { _, _ = fmt.Fprintf(&out, "\x1b[2K"+format+"\n", args...) }
	row("%5.1f s  %d workers  %s", time.Since(s.begun).Seconds(), len(s.people), s.server.URL)
	for i, b := range list {
		done := 0
		if b.Planned > 0 {
			done = min(barWidth, barWidth*b.Completed/b.Planned)
		}
		row("%-4s %-22.22s %s%s %5d/%-5d %3d in hand  %-7s", b.ID, s.batches[i].name, strings.Repeat("█", done), strings.Repeat("·", barWidth-done),
			b.Completed, b.Planned, b.Running, b.State)
	}
	v.lines = len(list) + 1
	_, _ = io.WriteString(v.screen, out.String()) // progress that cannot be shown is no reason to stop
}

// line says it in one line.
func (v *view) line(s *scene, list []wire.Batch) {
	parts := make([]string, len(list))
	for i, b := range list {
		parts[i] = fmt.Sprintf("%s %d/%d", b.ID, b.Completed, b.Planned)
	}
	_, _ = fmt.Fprintf(v.screen, "%.0f s: %s\n", time.Since(s.begun).Seconds(), strings.Join(parts, ", "))
}

// end leaves room after the last picture.
func (v *view) end() {
	if v.live {
		_, _ = fmt.Fprintln(v.screen)
	}
}
