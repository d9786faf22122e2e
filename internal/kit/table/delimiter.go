package table

import (
	"bytes"
	"io"
	"strings"

	"github.com/throng-dev/throng/crowd"
)

// Delimiter is what stands between the cells of a row of CSV. The zero value asks a Reader
// to find it out.
type Delimiter byte

// The delimiters, those that are likelier first.
const (
	Comma     Delimiter = ','
	Tab       Delimiter = '\t'
	Semicolon Delimiter = ';'
	Pipe      Delimiter = '|'
)

var delimiters = []Delimiter{Comma, Tab, Semicolon, Pipe}

// everyDelimiter is all of them, as text.
const everyDelimiter = ",\t;|"

// ParseDelimiter reads a delimiter as a user gives it: the sign, its name, or "" or auto to
// have it found out.
func ParseDelimiter(text string) (Delimiter, error) {
	switch strings.ToLower(text) {
	case "", "auto":
		return 0, nil
	case ",", "comma":
		return Comma, nil
	case "\t", `\t`, "tab":
		return Tab, nil
	case ";", "semicolon":
		return Semicolon, nil
	case "|", "pipe":
		return Pipe, nil
	}
	return 0, crowd.Fieldf("delimiter", "%q is not a delimiter: use , or ; or tab or |, or auto to have it found out", clip(text))
}

// String returns the sign, "tab", or "" where there is none.
func (d Delimiter) String() string {
	switch d {
	case 0:
		return ""
	case Tab:
		return "tab"
	}
	return string(rune(d))
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Delimiter) UnmarshalText(text []byte) (err error) {
	*d, err = ParseDelimiter(string(text))
	return err
}

// fits checks that a file of the format has delimiters, if one was named.
func (d Delimiter) fits(f Format) error {
	if d != 0 && (f == JSONL || f == Parquet) {
		return crowd.Fieldf("delimiter", "goes with CSV: a file of the format %s has none", f)
	}
	return nil
}

// DelimiterOf finds out what stands between the cells of a table from how it begins: the
// header and the rows after it, of which the last is left out as it may have been cut,
// unless that is the whole table. Signs within quoted cells do not count.
//
// It is the delimiter by which the header has two names or more, and most rows have as many
// cells as the header; if there are several, that by which more rows have, then that which
// makes more columns. If there is none, the header decides, and a file in which nothing
// stands between the cells is read as having one column.
func DelimiterOf(head []byte, whole bool) Delimiter {
	if len(head) > peeked {
		head, whole = head[:peeked], false
	}
	head = bytes.TrimPrefix(head, []byte(byteOrderMark))
	var best split
	var header [len(everyDelimiter)]int
	for i, d := range delimiters {
		s := splitBy(d, head, whole)
		if header[i] = s.columns; s.columns > 1 && 2*s.fit >= s.rows && s.better(best) {
			best = s
		}
	}
	switch {
	case best.by != 0:
		return best.by
	case header[0] < 2 && header[1] > 1: // a tab does not stand in a text by chance
		return Tab
	}
	return Comma
}

// split is how the beginning of a table falls into cells.
type split struct {
	by        Delimiter
	columns   int // cells of the header
	rows, fit int // whole rows after it, and those of them with as many cells
}

// better reports whether s is likelier than x. Of two that are alike the first one stays.
func (s split) better(x split) bool {
	if x.by == 0 {
		return true
	}
	share, other := s.fit*max(x.rows, 1), x.fit*max(s.rows, 1)
	if s.rows == 0 || x.rows == 0 { // nothing speaks against either
		share, other = 0, 0
	}
	return share > other || share == other && s.columns > x.columns
}

func splitBy(d Delimiter, head []byte, whole bool) (out split) {
	t := &Reader{buf: bytes.Clone(head), srcErr: io.EOF, opts: Options{Format: CSV, Delimiter: d}.withDefaults()}
	out.by = d
	for {
		begin, err := t.nextRow()
		if err != nil {
			return out
		}
		firstEnd := t.off
		cells, wrong, _ := t.splitRecord(begin, 1) // the source cannot fail
		cut := t.off == len(t.buf) && !whole
		switch {
		case out.columns == 0 && wrong != nil:
			return out
		case out.columns == 0:
			out.columns = cells
		case cut:
			return out
		default:
			if out.rows++; wrong == nil && cells == out.columns {
				out.fit++
			}
		}
		if wrong != nil { // the row is its first line alone
			t.off, t.unclosed = firstEnd, false
		}
	}
}
