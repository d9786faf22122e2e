package table

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
)

// The limits that Options replace when they are zero.
const (
	DefaultMaxRowBytes = 1 << 20
	DefaultMaxColumns  = 1000
)

// Options say how a table is read. The zero value reads any format within the
// default limits.
type Options struct {
	Format      Format    // Auto: from the content
	Delimiter   Delimiter // of CSV; 0: from the content, but for TSV, which has tabs
	MaxRowBytes int       // bytes of one row as it stands in the file; 0 means DefaultMaxRowBytes
	MaxColumns  int       // 0 means DefaultMaxColumns
	First       []string  // of JSON Lines: the keys of the file's first object, if the text is a later piece of it
}

// withDefaults returns the options with the limits that they leave out.
func (o Options) withDefaults() Options {
	if o.MaxRowBytes <= 0 {
		o.MaxRowBytes = DefaultMaxRowBytes
	}
	if o.MaxColumns <= 0 {
		o.MaxColumns = DefaultMaxColumns
	}
	return o
}

// Reader reads one table, row by row. It holds at most about twice
// MaxRowBytes. It is not safe for concurrent use.
//
// CSV and TSV follow RFC 4180: a quote opens a quoted cell only as the first
// character of the cell, a quote in it is doubled, and it may hold line ends,
// which are kept as they are. Lines end with LF or CRLF. Empty lines are
// skipped. Cells are not trimmed; the names in the header are.
//
// JSON Lines: the columns are the keys of the first object, in its order.
// Every later object has the same keys, in any order, also in a later piece of
// the file (Options.First). A string becomes its
// value, null an empty cell, a number or a boolean the text that stands in the
// file, and an array or object its JSON text without white space.
//
// After a bad row, reading goes on where the next row begins. That is clear
// but for a wrong quote, since a quoted cell may span lines. The rule: the bad
// row is its first line alone, and reading goes on with the line after that.
// So a quote that is never closed costs one row rather than the rest of the
// file. When the bad row did span lines, the others are read as rows of their
// own; nearly always they have a wrong number of cells and are reported too.
type Reader struct {
	src     *bufio.Reader
	opts    Options
	columns []string
	index   map[string]int // column name to number, for JSON Lines

	// buf[off:] are whole lines that were read ahead and not yet consumed.
	// Lines longer than MaxRowBytes are cut, but never to less than
	// MaxRowBytes+1 bytes, so that they stay too long.
	buf     []byte
	off     int
	line    int   // lines consumed
	srcErr  error // sticky: why src gives no more lines
	lastErr error // sticky: the final error of Read

	cells []byte // the cells of the current row, one after the other
	ends  []int  // where each ends

	unclosed bool // a row's quotes went on to the end of the source
	first    []string
	ahead    bool // first holds the row that was read with the JSON Lines columns
	start    int  // its line
}

// byteOrderMark is what some programs write before text.
const byteOrderMark = "\uFEFF"

// peeked is how much of a file is looked at to find out what it is.
const peeked = 4096

// NewReader reads the beginning of a table up to its column names. An error
// from it is about the file as a whole (empty, not text, no usable header) and
// nothing can be read.
func NewReader(r io.Reader, opts Options) (*Reader, error) {
	t := &Reader{src: bufio.NewReaderSize(r, 64<<10), opts: opts.withDefaults()}
	head, err := t.src.Peek(peeked)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read table: %w", err)
	}
	whole := err != nil
	if what := foreign(string(head)); what != "" {
		return nil, crowd.Errorf(crowd.Invalid, "%s", what)
	}
	if bytes.HasPrefix(head, []byte(byteOrderMark)) {
		head = head[len(byteOrderMark):]
		if _, err := t.src.Discard(len(byteOrderMark)); err != nil {
			return nil, fmt.Errorf("read table: %w", err)
		}
	}
	if t.opts.Format == Parquet {
		return nil, crowd.Errorf(crowd.Invalid, "this is not a Parquet file: it does not begin with %s", parquetMagic)
	}
	if t.opts.Format == Auto && t.opts.Delimiter == 0 {
		t.opts.Format = sniff(head)
	}
	if err := t.opts.Delimiter.fits(t.opts.Format); err != nil {
		return nil, err
	}
	if t.opts.Format != JSONL {
		t.opts.delimit(head, whole)
	}
	if t.opts.Format == JSONL {
		err = t.readObjectHeader()
	} else {
		err = t.readHeader()
	}
	if errors.Is(err, io.EOF) {
		return nil, crowd.Errorf(crowd.Invalid, "the file is empty: its first line should name the columns")
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Columns returns the names of the columns, in order. They are not empty and
// all different. The caller must not change the slice.
func (t *Reader) Columns() []string { return t.columns }

// Format returns the format that is being read, never Auto. CSV with tabs is TSV.
func (t *Reader) Format() Format { return t.opts.Format }

// Delimiter returns what stands between cells; 0: it is JSON Lines.
func (t *Reader) Delimiter() Delimiter { return t.opts.Delimiter }

// delimit finds out what stands between the cells of a table that begins with head, if that
// was not said, and names the format by it.
func (o *Options) delimit(head []byte, whole bool) {
	switch {
	case o.Delimiter != 0:
	case o.Format == TSV:
		o.Delimiter = Tab
	default:
		o.Delimiter = DelimiterOf(head, whole)
	}
	if o.Format = CSV; o.Delimiter == Tab {
		o.Format = TSV
	}
}

// Read returns the next row, one cell for each column, and the line of the
// file (from 1) on which it begins. The row is the caller's to keep.
//
// A bad row gives an error for which BadRow is true, and the next call goes on
// with the next row. Any other error is final and is returned again by every
// later call: io.EOF after the last row, or the failure of the source.
// Line numbers grow strictly over good and bad rows together.
func (t *Reader) Read() (row []string, line int, err error) {
	if t.ahead {
		row, t.first, t.ahead = t.first, nil, false
		return row, t.start, nil
	}
	if t.lastErr != nil {
		return nil, t.line, t.lastErr
	}
	if t.opts.Format == JSONL {
		row, line, err = t.readObject()
	} else {
		row, line, err = t.readRecord()
	}
	if err != nil && !BadRow(err) {
		t.lastErr = err
	}
	return row, line, err
}

// BadRow reports whether err, from Read, is about one row only, so that
// reading can go on. Such an error is a *crowd.Error with Row set, and with
// Field set to the column when one cell is at fault.
func BadRow(err error) bool {
	var e *crowd.Error
	return errors.As(err, &e) && e.Row > 0
}

func bad(line int, field, format string, args ...any) *crowd.Error {
	return &crowd.Error{Code: crowd.Invalid, Row: line, Field: field, Message: fmt.Sprintf(format, args...)}
}

func bytesText(n int) string { return format.Bytes(int64(n)) }

func (o *Options) tooLong(line, lines int) *crowd.Error {
	e := bad(line, "", "the row is longer than %s", bytesText(o.MaxRowBytes))
	if lines > 1 {
		e.Message += ": is a quote not closed?"
	}
	e.Code = crowd.TooLarge
	return e
}

// nextLine consumes one line and returns where it ends in buf. The line
// begins at the old value of off. Its line end is part of it.
func (t *Reader) nextLine() error {
	if t.off == len(t.buf) {
		if err := t.fetchLine(); err != nil {
			return err
		}
	}
	if i := bytes.IndexByte(t.buf[t.off:], '\n'); i >= 0 {
		t.off += i + 1
	} else {
		t.off = len(t.buf)
	}
	t.line++
	return nil
}

// fetchLine appends one line of the source to buf.
func (t *Reader) fetchLine() error {
	if t.srcErr != nil {
		return t.srcErr
	}
	begin := len(t.buf)
	for {
		part, err := t.src.ReadSlice('\n')
		ended := err == nil
		if room := begin + t.opts.MaxRowBytes + 1 - len(t.buf); len(part) > room {
			t.buf = append(t.buf, part[:room]...)
			if ended {
				t.buf = append(t.buf, '\n')
			}
		} else {
			t.buf = append(t.buf, part...)
		}
		switch {
		case ended:
			return nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			t.srcErr = io.EOF
			if len(t.buf) == begin {
				return io.EOF
			}
			return nil
		default:
			t.srcErr = fmt.Errorf("read table after line %d: %w", t.line, err)
			return t.srcErr
		}
	}
}

// compact makes room in buf before a row is begun; no offset is live then.
func (t *Reader) compact() {
	switch {
	case t.off == len(t.buf):
		t.buf, t.off = t.buf[:0], 0
	case t.off > len(t.buf)/2:
		t.buf, t.off = t.buf[:copy(t.buf, t.buf[t.off:])], 0
	}
}

// nextRow begins a row: it consumes lines up to one that is not empty, and
// returns where that begins in buf.
func (t *Reader) nextRow() (begin int, err error) {
	for {
		t.compact()
		begin = t.off
		if err := t.nextLine(); err != nil {
			return 0, err
		}
		if t.contentEnd(t.off) > begin {
			return begin, nil
		}
	}
}

// contentEnd returns where the line that ends at end stops without its line
// end. A lone CR counts as one only at the very end of the file.
func (t *Reader) contentEnd(end int) int {
	b := t.buf[:end]
	switch {
	case bytes.HasSuffix(b, []byte("\r\n")):
		return end - 2
	case bytes.HasSuffix(b, []byte("\n")), bytes.HasSuffix(b, []byte("\r")):
		return end - 1
	}
	return end
}

func (t *Reader) readHeader() error {
	names, line, err := t.readRecord()
	var e *crowd.Error
	if errors.As(err, &e) {
		e.Message = "the row of column names cannot be read: " + e.Message
		return e
	}
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.Contains(strings.ReplaceAll(name, "\r\n", ""), "\r") {
			return bad(line, "", "the lines end with CR alone: save the file with LF or CRLF line ends")
		}
	}
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
	}
	return t.setColumns(names, line)
}

func (t *Reader) setColumns(names []string, line int) error {
	if len(names) > t.opts.MaxColumns {
		e := bad(line, "", "the header names %d columns, %d are allowed", len(names), t.opts.MaxColumns)
		e.Code = crowd.TooLarge
		return e
	}
	if len(names) == 0 {
		return bad(line, "", "the object is empty: its keys should name the columns")
	}
	var wrong *crowd.Error
	if t.index, wrong = columnIndex(names, ": the first line should name every column"); wrong != nil {
		wrong.Row = line
		return wrong
	}
	t.columns = names
	return nil
}

// MaxColumnName is how many bytes the name of a column may have.
const MaxColumnName = 256

// columnIndex checks the names of columns, and returns the number of each. advice
// is what to do about a column without a name.
func columnIndex(names []string, advice string) (map[string]int, *crowd.Error) {
	index := make(map[string]int, len(names))
	for i, name := range names {
		what := checkText([]byte(name))
		j, twice := index[name]
		switch {
		case strings.TrimSpace(name) == "":
			return index, crowd.Fieldf(cellName(nil, i), "the column has no name%s", advice)
		case what != "":
			return index, crowd.Fieldf(cellName(nil, i), "the column's name %s", what)
		case len(name) > MaxColumnName:
			return index, crowd.Fieldf(clip(name), "the column's name has %d bytes, at most %d are allowed", len(name), MaxColumnName)
		case twice:
			return index, crowd.Fieldf(name, "columns %d and %d have the same name", j+1, i+1)
		}
		index[name] = i
	}
	return index, nil
}

// cellName returns the name of column i (from 0), or its number (from 1).
func cellName(columns []string, i int) string {
	if i < len(columns) {
		return columns[i]
	}
	return "column " + strconv.Itoa(i+1)
}

// checkText says what is wrong with a cell as text, or "".
func checkText(cell []byte) string {
	switch {
	case !utf8.Valid(cell):
		return "is not UTF-8 text: save the file as UTF-8"
	case bytes.IndexByte(cell, 0) >= 0:
		return "holds a NUL character: remove it"
	}
	return ""
}

// takeRow makes a row of the cells that were gathered.
func (t *Reader) takeRow() []string {
	text := string(t.cells)
	row := make([]string, len(t.ends))
	begin := 0
	for i, end := range t.ends {
		row[i] = text[begin:end]
		begin = end
	}
	return row
}
