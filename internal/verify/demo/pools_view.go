package demo

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// poolsView shows how the pools stand while people work.
type poolsView struct {
	screen io.Writer
	live   bool // a terminal: each picture is drawn over the one before
	lines  int  // of the picture before
	last   time.Time
}

func (v *poolsView) show(s *poolScene) {
	if !v.live {
		if time.Since(v.last) >= plainEvery {
			v.last = time.Now()
			v.line(s)
		}
		return
	}
	var out strings.Builder
	if v.lines > 0 {
		_, _ = fmt.Fprintf(&out, "\x1b[%dA", v.lines)
	}
	row := func(format string, args ...any) { _, _ = fmt.Fprintf(&out, "\x1b[2K"+format+"\n", args...) }
	row("%5.1f s  %d people  %s", time.Since(s.begun).Seconds(), len(s.people), s.server.URL)
	row("%-10s %5s %5s %5s %5s %6s %8s  ", "pool", "size", "c*", "queue", "idle", "coming", "cost/h")
	for _, p := range s.pools {
		m := p.seen.now.Metrics
		if m == nil {
			row("%-10s %5s", p.name, "-")
			continue
		}
		row("%-10s %5d %5s %5d %5d %6d %8.2f  %s%s", p.name, m.Workers, whole(m.CStar), m.Queue, m.Idle, m.Coming, m.CostPerHour,
			strings.Repeat("█", min(m.Busy, barWidth)), strings.Repeat("·", max(0, min(m.Workers, barWidth)-m.Busy)))
	}
	v.lines = len(s.pools) + 2
	_, _ = io.WriteString(v.screen, out.String()) // progress that cannot be shown is no reason to stop
}

// line says it in one line.
func (v *poolsView) line(s *poolScene) {
	parts := make([]string, len(s.pools))
	for i, p := range s.pools {
		if m := p.seen.now.Metrics; m != nil {
			parts[i] = fmt.Sprintf("%s %d of c* %s, queue %d, %d idle, %d coming, %.2f/h", p.name, m.Workers, whole(m.CStar), m.Queue, m.Idle, m.Coming, m.CostPerHour)
		} else {
			parts[i] = p.name + " not read yet"
		}
	}
	_, _ = fmt.Fprintf(v.screen, "%.0f s: %s\n", time.Since(s.begun).Seconds(), strings.Join(parts, "; "))
}

// end leaves room after the last picture.
func (v *poolsView) end() {
	if v.live {
		_, _ = fmt.Fprintln(v.screen)
	}
}

func whole(n *int) string {
	if n == nil {
		return "?"
	}
	return fmt.Sprint(*n)
}
