package demo

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/throng-dev/throng/internal/wire"
)

// screen shows progress: a picture that is drawn over the one before on a terminal,
// else a line now and then.
type screen struct {
	to    io.Writer
	live  bool // a terminal
	lines int  // of the picture before
	last  time.Time
}

// plainEvery is how often a line is written where nothing can be drawn over.
const plainEvery = 5 * time.Second

const barWidth = 24

// show shows rows on a terminal, else a line. What cannot be shown stops nothing.
func (v *screen) show(rows func() []string, line func() string) {
	if !v.live {
		if time.Since(v.last) >= plainEvery {
			v.last = time.Now()
			_, _ = fmt.Fprintln(v.to, line())
		}
		return
	}
	var out strings.Builder
	if v.lines > 0 {
		_, _ = fmt.Fprintf(&out, "\x1b[%dA", v.lines)
	}
	list := rows()
	for _, row := range list {
		_, _ = fmt.Fprintf(&out, "\x1b[2K%s\n", row)
	}
	v.lines = len(list)
	_, _ = io.WriteString(v.to, out.String())
}

// end leaves an empty line after the last picture.
func (v *screen) end() {
	if v.live {
		_, _ = fmt.Fprintln(v.to)
	}
}

// bar draws full of width parts, at most barWidth.
func bar(full, width int) string {
	width = min(width, barWidth)
	full = min(full, width)
	return strings.Repeat("█", full) + strings.Repeat("·", width-full)
}

// show shows how the batches are while people work.
func (s *scene) show(v *screen, list []wire.Batch) {
	seconds := time.Since(s.begun).Seconds()
	v.show(func() []string {
		rows := []string{fmt.Sprintf("%5.1f s  %d workers  %s", seconds, len(s.people), s.URL)}
		for i, b := range list {
			done := 0
			if b.Planned > 0 {
				done = barWidth * b.Completed / b.Planned
			}
			rows = append(rows, fmt.Sprintf("%-4s %-22.22s %s %5d/%-5d %3d in hand  %-7s", b.ID, s.batches[i].name, bar(done, barWidth),
				b.Completed, b.Planned, b.Running, b.State))
		}
		return rows
	}, func() string {
		parts := make([]string, len(list))
		for i, b := range list {
			parts[i] = fmt.Sprintf("%s %d/%d", b.ID, b.Completed, b.Planned)
		}
		return fmt.Sprintf("%.0f s: %s", seconds, strings.Join(parts, ", "))
	})
}

// show shows how the pools are while people work.
func (s *poolScene) show(v *screen) {
	seconds := time.Since(s.begun).Seconds()
	v.show(func() []string {
		rows := []string{
			fmt.Sprintf("%5.1f s  %d people  %s", seconds, len(s.people), s.URL),
			fmt.Sprintf("%-10s %5s %5s %5s %5s %6s %8s  ", "pool", "size", "c*", "queue", "idle", "coming", "cost/h"),
		}
		for _, p := range s.pools {
			m := p.seen.now.Metrics
			if m == nil {
				rows = append(rows, fmt.Sprintf("%-10s %5s", p.name, "-"))
				continue
			}
			rows = append(rows, fmt.Sprintf("%-10s %5d %5s %5d %5d %6d %8.2f  %s", p.name, m.Workers, cStar(m.CStar), m.Queue, m.Idle, m.Coming, m.CostPerHour, bar(m.Busy, max(m.Busy, m.Workers))))
		}
		return rows
	}, func() string {
		parts := make([]string, len(s.pools))
		for i, p := range s.pools {
			parts[i] = p.name + " not read yet"
			if m := p.seen.now.Metrics; m != nil {
				parts[i] = fmt.Sprintf("%s %d of c* %s, queue %d, %d idle, %d coming, %.2f/h", p.name, m.Workers, cStar(m.CStar), m.Queue, m.Idle, m.Coming, m.CostPerHour)
			}
		}
		return fmt.Sprintf("%.0f s: %s", seconds, strings.Join(parts, "; "))
	})
}

// cStar writes the best size of a pool, which may not be known.
func cStar(n *int) string {
	if n == nil {
		return "?"
	}
	return fmt.Sprint(*n)
}
