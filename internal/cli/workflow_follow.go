package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/wire"
)

// followedFile is a file whose rows are read as they are written to its end. A row counts as
// written when its line has ended.
type followedFile struct {
	file   *os.File
	opts   table.Options // the delimiter is found out with the header
	first  []string      // the columns of JSON Lines: the keys of the file's first object; nil: not read yet
	header []byte        // up to the end of the row with the columns; of JSON Lines there is none
	rest   []byte        // what was read, and not consumed
	lines  int           // consumed, without those of the header
	at     int64         // bytes that were read
	told   string        // what was last said to be missing
	last   []byte        // the last bytes that were read, which stand before at
}

// errRewritten is the error of a file in which others stand for rows that were read.
var errRewritten = crowd.Errorf(crowd.Invalid, "it was written anew: rows are read from a file that only grows; begin again to add the rows of the new one")

// lastSize is of how many bytes it is looked whether they still stand where they were read.
const lastSize = 4096

// unchanged checks that the file still has what was read of it.
func (g *followedFile) unchanged() error {
	info, err := g.file.Stat()
	switch {
	case err != nil:
		return err
	case info.Size() < g.at:
		return crowd.Errorf(crowd.Invalid, "it has become shorter: rows are read from a file that only grows")
	}
	now := make([]byte, len(g.last))
	switch n, err := g.file.ReadAt(now, g.at-int64(len(now))); {
	case n < len(now) && errors.Is(err, io.EOF), n == len(now) && !bytes.Equal(now, g.last):
		return errRewritten
	case n < len(now):
		return err
	}
	return nil
}

// replaced says what has become of the file's name, if it is another file's now, or
// nobody's, as when a log is rotated; "": it is still that of the file.
func (g *followedFile) replaced() (what string, err error) {
	named, err := os.Stat(g.file.Name())
	if errors.Is(err, fs.ErrNotExist) {
		return "it was removed or renamed: nothing has its name now", nil
	}
	if err != nil {
		return "", err
	}
	opened, err := g.file.Stat()
	if err != nil || os.SameFile(named, opened) {
		return "", err
	}
	return "another file has its name now", nil
}

// errReplaced is the error of a file after which another one, or none, has its name.
func (g *followedFile) errReplaced(what string) error {
	if line, _ := g.missing(); line > 0 {
		what += fmt.Sprintf(", and its line %d, which has not ended, was not added", line)
	}
	return crowd.Errorf(crowd.Invalid, "%s; to add rows of a file that takes its place, follow that", what)
}

// pieceSize is how much is read at a time. A row is shorter.
const pieceSize = table.DefaultMaxRowBytes + 1

// next returns whole rows that were written since, and how many lines stand before them,
// less the header that is repeated in front of them; nil: there are none yet.
func (g *followedFile) next() (text []byte, lines int, err error) {
	piece := make([]byte, pieceSize)
	n, err := io.ReadFull(g.file, piece)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, 0, err
	}
	if err := g.unchanged(); err != nil { // once it is read: what was written anew before that is seen
		return nil, 0, err
	}
	g.at += int64(n)
	g.rest = append(g.rest, piece[:n]...)
	g.last = append(g.last, piece[max(n-lastSize, 0):n]...)
	g.last = bytes.Clone(g.last[max(len(g.last)-lastSize, 0):])
	if g.header == nil && g.opts.Format != table.JSONL {
		opts := g.opts
		if opts.Delimiter == 0 && opts.Format != table.TSV {
			opts.Delimiter = table.DelimiterOf(g.rest, false)
		}
		for end := range table.Ends(g.rest, opts) {
			g.header, g.opts = g.take(end), opts
			break
		}
		if g.header == nil {
			return nil, 0, nil
		}
		if _, err := table.NewReader(bytes.NewReader(g.header), g.opts); err != nil {
			return nil, 0, err
		}
	}
	end := 0
	for end = range table.Ends(g.rest, g.opts) {
	}
	if end == 0 {
		return nil, 0, nil
	}
	lines = g.lines
	rows := g.take(end)
	g.lines += bytes.Count(rows, []byte("\n"))
	return append(bytes.Clone(g.header), rows...), lines, nil
}

// take consumes n bytes.
func (g *followedFile) take(n int) []byte {
	text := g.rest[:n:n]
	g.rest = bytes.Clone(g.rest[n:])
	return text
}

// missing names the line of a row that was read in part, and what it waits for; 0: there
// is none.
func (g *followedFile) missing() (line int, what string) {
	space := "\r\n"
	if g.opts.Format == table.JSONL {
		space = " \t\r\n"
	}
	row := bytes.TrimLeft(g.rest, space)
	if len(row) == 0 {
		return 0, ""
	}
	line = 1 + bytes.Count(g.header, []byte("\n")) + g.lines + bytes.Count(g.rest[:len(g.rest)-len(row)], []byte("\n"))
	if bytes.Contains(row, []byte("\n")) {
		return line, "a quote of this row is not closed: it is added, and what follows, once it is"
	}
	return line, "this line has not ended: its row is added once it has"
}

// headless reports whether nothing is written of what names the columns.
func (g *followedFile) headless() bool { return g.header == nil && g.opts.Format != table.JSONL }

// followable checks that the rows of a file can be read as they are written.
func followable(name string, form table.Format) error {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return wrong("follow", "%s is no file that grows", name)
	case form == table.Auto || form == table.Parquet:
		return wrong("format", "say of %s csv, tsv or jsonl: only those are read as they are written", name)
	}
	return nil
}

// follow adds the rows of the file as they are written, until ctx is done or, if f watches,
// the input takes no more. A server that cannot be reached is tried again. It is long as each look goes
// on from what the one before has found: rows, the end of the file, another file, or a sealed input.
func (f *feeder) follow(ctx context.Context, often span) error {
	if err := followable(f.file, f.opts.Format); err != nil {
		return err
	}
	file, err := os.Open(f.file)
	if err != nil {
		return err
	}
	defer file.Close()
	f.outage.reached = true // it has shown the run
	f.piecewise = true
	g := &followedFile{file: file, opts: f.opts}
	quiet, over := 0, false // looks without a row; whether the input takes no more
	gone := ""              // what has become of the name of the file
	err = every(ctx, often, func() (done bool, err error) {
		for {
			text, lines, err := g.next()
			switch {
			case err != nil:
				return false, ofFile(f.file, err)
			case text != nil:
				if err := f.piece(ctx, g, text, lines, often); err != nil {
					return false, err
				}
				quiet = 0
				continue
			case f.sent < f.known:
				return false, ofFile(f.file, crowd.Errorf(crowd.Invalid, "it has become shorter: %s of it were added before, and it has %s; rows are read from a file that only grows",
					format.Count(int(f.known), "row"), format.Count(int(f.sent), "row")))
			case over:
				return true, f.left(g)
			}
			if gone != "" {
				return false, ofFile(f.file, g.errReplaced(gone))
			}
			if gone, err = g.replaced(); err != nil {
				return false, ofFile(f.file, err)
			}
			if gone != "" { // what was written before that is read first
				continue
			}
			if quiet++; quiet < quietLooks(often) {
				return false, nil
			}
			quiet = 0
			line, what := g.missing()
			if line == 0 && g.headless() {
				line, what = 1, "the header, which names the columns, is not written yet: rows are added once it is"
			}
			if line > 0 {
				if text := fmt.Sprintf("%s:%d: %s", f.file, line, what); text != g.told {
					g.told = text
					say(f.c.Stderr, "throng: %s\n", clean(text))
				}
			}
			if !f.watches {
				return false, nil
			}
			// What was written before the input was found sealed is still sent: the server
			// says of it that it comes too late.
			if over, err = f.over(ctx); !over || err != nil {
				return false, err
			}
		}
	})
	if err != nil && ctx.Err() != nil {
		return nil // which is how it ends
	}
	return err
}

// quietLooks is after how many looks without a row it is said what the file waits for, and
// the server is asked: every 10 s, or every tenth look if they are closer together.
func quietLooks(often span) int {
	const span, looks = 10 * time.Second, 10
	return int(max(1, min(looks, span/max(often.Duration, leastEvery))))
}

// over asks the server whether the input takes no more rows. That is an error if the run
// was cancelled.
func (f *feeder) over(ctx context.Context) (bool, error) {
	run, err := f.to.Run(ctx, f.run)
	switch {
	case f.outage.again(err):
		return false, nil
	case err != nil:
		return false, err
	case run.State == "cancelled":
		return false, noMoreRows(&run)
	}
	return !slices.Contains(openNames(&run), f.input), nil
}

// noMoreRows is the error of rows for a run that has ended.
func noMoreRows(run *wire.Run) error {
	return crowd.Errorf(crowd.Conflict, "%s is %s: it takes no more rows", run.ID, run.State)
}

// left says that the input is sealed. It is an error if the file has a row that was not
// added.
func (f *feeder) left(g *followedFile) error {
	if line, _ := g.missing(); line > 0 {
		return crowd.Errorf(crowd.Conflict, "%s:%d: the input %s of %s is sealed, and this row, which has not ended, was not added", f.file, line, f.input, f.run)
	}
	say(f.c.Stderr, "throng: the input %s of %s is sealed: %s is not followed any more\n", clean(f.input), f.run, clean(f.file))
	return nil
}

// piece adds whole rows of the file.
func (f *feeder) piece(ctx context.Context, g *followedFile, text []byte, lines int, often span) error {
	if f.feed == "" {
		f.feed = feedOf(f.file, g.header, text)
	}
	looked := false
	return every(ctx, often, func() (done bool, err error) {
		if f.sent == 0 && !looked {
			err = f.lookUp(ctx)
		}
		if err == nil {
			looked = true
			opts := g.opts
			opts.First = g.first
			var rows *table.Reader
			if rows, err = table.NewReader(bytes.NewReader(text), opts); err != nil {
				for _, e := range crowd.ErrorsOf(err) {
					if e.Row > 0 {
						e.Row += lines
					}
				}
				return false, ofFile(f.file, err)
			}
			if opts.Format == table.JSONL {
				g.first = rows.Columns()
			}
			before := f.sent
			if err = f.read(ctx, rows, lines, maxFollowed); err != nil {
				f.sent = before // the server passes over those that it has
				for _, e := range crowd.ErrorsOf(err) {
					if e.Row == 0 && e.Field != "" && g.opts.Format == table.JSONL { // its columns are the keys of the first of these rows
						e.Row = lines + 1
					}
				}
			}
		}
		if f.outage.again(err) {
			return false, nil
		}
		return err == nil, err
	})
}

// maxFollowed is how many rows of a file that grows are added together.
const maxFollowed = 1000

// feedOf names a file by its place and how it begins, so that another file in its place is
// another feed.
func feedOf(name string, header, text []byte) string {
	place, err := filepath.Abs(name)
	if err != nil {
		place = name // which is as good on this machine
	}
	first, _, _ := bytes.Cut(text[len(header):], []byte("\n"))
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s%s", place, header, first))
	base := filepath.Base(name)
	base = strings.ToValidUTF8(base[:min(len(base), 100)], "") // which may end within a character
	return fmt.Sprintf("%s-%x", base, sum[:8])
}
