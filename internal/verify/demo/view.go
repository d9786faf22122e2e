package demo

import (
	"fmt"
	"io"
	"strings"
	"time"
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
func (v *screen) show(rows []string, line string) {
	if !v.live {
		if time.Since(v.last) >= plainEvery {
			v.last = time.Now()
			_, _ = fmt.Fprintln(v.to, line)
		}
		return
	}
	var out strings.Builder
	if v.lines > 0 {
		_, _ = fmt.Fprintf(&out, "\x1b[%dA", v.lines)
	}
	for _, row := range rows {
		_, _ = fmt.Fprintf(&out, "\x1b[2K%s\n", row)
	}
	v.lines = len(rows)
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

// number writes what may not be known.
func number[T any](x *T, format, unknown string) string {
	if x == nil {
		return unknown
	}
	return fmt.Sprintf(format, *x)
}
