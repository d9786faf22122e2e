package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
)

// Output is how a command prints what it has to say.
type Output struct {
	JSON bool `name:"json" help:"Print JSON, for programs; errors too."`
}

// print writes v as JSON, or lets human write it.
func (o Output) print(c *Context, v any, human func(w io.Writer)) error {
	if o.JSON {
		return writeJSON(c.Stdout, v)
	}
	w := &sticky{w: c.Stdout}
	human(w)
	return w.err
}

// line writes v as one line of JSON.
func line(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// sticky keeps the first error of a writer, so that printing need not look.
type sticky struct {
	w   io.Writer
	err error
}

func (s *sticky) Write(p []byte) (int, error) {
	if s.err == nil {
		_, s.err = s.w.Write(p)
	}
	return len(p), nil
}

func say(w io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) }

// columns writes rows in aligned columns; the first row is the header.
func columns(w io.Writer, rows [][]string) {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, row := range rows {
		for i, text := range row {
			row[i] = clean(strings.ReplaceAll(text, "\t", " "))
		}
		say(t, "%s\n", strings.TrimRight(strings.Join(row, "\t"), "\t"))
	}
	_ = t.Flush() // into memory or a sticky writer
}

// cell writes a value for people; "" for a time or a figure that is not there.
func cell(v any) string {
	switch v := v.(type) {
	case time.Time:
		return stamp(v)
	case float64:
		return figure(v)
	case *float64:
		if v == nil {
			return ""
		}
		return figure(*v)
	}
	return fmt.Sprint(v)
}

// cells are the values of a row.
func cells(values ...any) []string { return lists.Map(values, cell) }

// writeTable writes a list in aligned columns under a header, whose names are
// divided by |; row returns the cells of one.
func writeTable[T any](w io.Writer, list []T, header string, row func(T) []any) {
	rows := [][]string{strings.Split(header, "|")}
	for _, x := range list {
		rows = append(rows, cells(row(x)...))
	}
	columns(w, rows)
}

// printTable prints a list that the server has answered as a table, or returns why
// it has not.
func printTable[T any](r *remote, list []T, err error, header string, row func(T) []any) error {
	return r.print(list, err, func(w io.Writer) { writeTable(w, list, header, row) })
}

// pairs writes names and values, one a line; empty values are left out.
func pairs(w io.Writer, list ...any) {
	var rows [][]string
	for row := range slices.Chunk(cells(list...), 2) {
		if row[1] != "" {
			rows = append(rows, row)
		}
	}
	columns(w, rows)
}

// pageSize is how much of a list is asked for at a time.
const pageSize = 1000

// clean makes a text harmless on a terminal: what others wrote must not move
// the cursor or hide what stands before it. Line ends stay.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t', r == ' ', r == '\u00a0', r == '\u202f': // the last two stand in numbers
			return r
		case !unicode.IsPrint(r) && !unicode.Is(unicode.M, r):
			return '\uFFFD'
		}
		return r
	}, strings.ReplaceAll(s, "\r\n", "\n"))
}

// joined is a list in a sentence; name says how one of it is called.
func joined[T any](list []T, name func(T) string) string {
	names := lists.Map(list, name)
	return strings.Join(names, ", ")
}

// when is the text where something is so, else nothing.
func when(is bool, text string) string {
	if is {
		return text
	}
	return ""
}

// stamp writes a time for people, in their own zone; "" for none.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04:05 MST")
}

// figure writes a figure with six digits, and more where it is so large.
func figure(f float64) string {
	if large := math.Abs(f); large >= 999_999.5 && large < 1e15 {
		return fixed(0, f)
	}
	return strconv.FormatFloat(f, 'g', 6, 64)
}

// fixed writes a figure with so many decimals.
func fixed(decimals int, f float64) string { return strconv.FormatFloat(f, 'f', decimals, 64) }

// onTerminal reports whether somebody looks at, or types into, a stream.
func onTerminal(stream any) bool {
	f, ok := isFile(stream)
	return ok && term.IsTerminal(int(f.Fd()))
}

// bar returns a progress bar on the terminal, or one that shows nothing where
// there is no terminal. most < 0: not known.
func (c *Context) bar(most int64, what string, bytes bool) *progressbar.ProgressBar {
	options := []progressbar.Option{
		progressbar.OptionSetWriter(c.Stderr), progressbar.OptionSetDescription(what), progressbar.OptionSetWidth(30),
		progressbar.OptionThrottle(100 * time.Millisecond), progressbar.OptionClearOnFinish(), progressbar.OptionShowCount(),
		progressbar.OptionSetVisibility(onTerminal(c.Stderr)),
	}
	if bytes {
		options = append(options, progressbar.OptionShowBytes(true))
	}
	return progressbar.NewOptions64(most, options...)
}

// gauge is a line at the bottom of the terminal that shows how far something is. It
// is drawn at each change, which may be far from the next one, and unlike a bar it may
// be full for now, or get shorter.
type gauge struct {
	w    io.Writer // the terminal
	mu   sync.Mutex
	line string // as it is drawn; "" where it is not; guarded by mu
}

const gaugeWidth = 20

// draw shows how much of all is done.
func (g *gauge) draw(what string, done, all int) {
	part := float64(min(done, all)) / float64(max(all, 1))
	full := int(part * gaugeWidth)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.erase()
	g.line = fmt.Sprintf("%s %3d%% |%s%s| (%d/%d)", format.Clip(clean(what), 40), int(100*part),
		strings.Repeat("█", full), strings.Repeat(" ", gaugeWidth-full), done, all)
	say(g.w, "%s", g.line)
}

// tell writes a line to the terminal, above the gauge.
func (g *gauge) tell(text string, args ...any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	line := g.line
	g.erase()
	say(g.w, text, args...)
	g.line = line
	say(g.w, "%s", line)
}

// clear takes the gauge away.
func (g *gauge) clear() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.erase()
}

// erase is clear; g.mu is held.
func (g *gauge) erase() {
	if g.line != "" {
		say(g.w, "\r\x1b[K")
	}
	g.line = ""
}

// leastEvery keeps a watcher from burdening the server.
const leastEvery = 100 * time.Millisecond

// every calls do now, and then as often as a span says, until it reports that it is
// done or ctx is.
func every(ctx context.Context, d span, do func() (done bool, err error)) error {
	tick := time.NewTicker(max(d.Duration, leastEvery))
	defer tick.Stop()
	for {
		if done, err := do(); done || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// progress returns the functions of a progress bar whose length is not known
// before: show may be called from many goroutines, finish is called at the end.
func (c *Context) progress(what string) (show func(done, total int), finish func()) {
	bar := c.bar(-1, what, false)
	var most atomic.Int64
	show = func(done, total int) {
		if most.Swap(int64(total)) != int64(total) {
			bar.ChangeMax(total)
		}
		_ = bar.Set(done) // a bar that cannot be drawn stops nothing
	}
	return show, func() { _ = bar.Finish() }
}

// open opens a file to read, "-" being standard input, and returns its size, or
// -1 where that is not known.
func (c *Context) open(name string) (io.ReadCloser, int64, error) {
	if name == "-" {
		return io.NopCloser(c.Stdin), -1, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = wrong("file", "%s is a folder", name)
	}
	if err != nil {
		_ = f.Close() // the first error is the one to tell
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return f, -1, nil
	}
	return f, info.Size(), nil
}

// read reads a file, and no more of it than a byte over most.
func (c *Context) read(name string, most int) ([]byte, error) {
	f, _, err := c.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, int64(most)+1))
}

// toFile reports whether a flag names a file, and not standard output.
func toFile(name string) bool { return name != "" && name != "-" }

// saveTo saves a file, and says so if it is not standard output.
func (o Output) saveTo(c *Context, name string, write func(io.Writer) error) error {
	if err := c.save(name, write); err != nil || !toFile(name) {
		return err
	}
	return o.print(c, map[string]string{"file": name}, func(w io.Writer) { say(w, "written to %s\n", clean(name)) })
}

// save writes a file whole or not at all; "-" and "" are standard output.
func (c *Context) save(name string, write func(io.Writer) error) error {
	if !toFile(name) {
		return write(c.Stdout)
	}
	return replaceFile(name, 0o644, write)
}

// replaceFile writes a file whole or not at all.
func replaceFile(name string, mode os.FileMode, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_, _ = f.Close(), os.Remove(f.Name()) // the first error is the one to tell
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	if err := f.Chmod(mode); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
