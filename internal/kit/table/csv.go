package table

import (
	"bytes"
	"errors"
	"io"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
)

// readRecord reads one row of CSV or TSV, the header included: while the
// columns are not known, any number of cells will do.
func (t *Reader) readRecord() ([]string, int, error) {
	begin, err := t.nextRow()
	if err != nil {
		return nil, t.line, err
	}
	line, firstEnd := t.line, t.off
	found, wrong, err := t.splitRecord(begin, line)
	if err != nil {
		return nil, line, err
	}
	if wrong != nil { // the row is its first line alone
		t.off, t.line = firstEnd, line
		return nil, line, wrong
	}
	switch want := len(t.columns); {
	case want > 0 && found != want:
		return nil, line, bad(line, "", "the row has %s, the header has %d", format.Count(found, "cell"), want)
	case want == 0 && found > len(t.ends):
		e := bad(line, "", "it has %s, %d are allowed", format.Count(found, "column"), t.opts.MaxColumns)
		e.Code = crowd.TooLarge
		return nil, line, e
	}
	if checkText(t.buf[begin:t.off]) != "" {
		from := 0
		for i, end := range t.ends {
			if what := checkText(t.cells[from:end]); what != "" {
				return nil, line, bad(line, cellName(t.columns, i), "the cell %s", what)
			}
			from = end
		}
	}
	return t.takeRow(), line, nil
}

// splitRecord gathers the cells of the row that begins at begin, whose first
// line has been consumed, and consumes the further lines that the row spans.
// It returns the number of cells, of which those beyond the columns are only
// counted. wrong is an error about this row; err is one of the source.
func (t *Reader) splitRecord(begin, line int) (found int, wrong *crowd.Error, err error) {
	comma := byte(t.opts.Delimiter)
	keep := t.opts.MaxColumns
	if len(t.columns) > 0 {
		keep = len(t.columns)
	}
	t.cells, t.ends = t.cells[:0], t.ends[:0]
	end := t.contentEnd(t.off)
	if t.off-begin > t.opts.MaxRowBytes {
		return 0, t.opts.tooLong(line, 1), nil
	}
	for pos := begin; ; pos++ { // each turn takes one cell; pos then is on the comma after it
		if pos < end && t.buf[pos] == '"' {
			if pos, wrong, err = t.quotedCell(pos+1, begin, quoted{line, found}); wrong != nil || err != nil {
				return 0, wrong, err
			}
			if end = t.contentEnd(t.off); pos < end && t.buf[pos] != comma {
				return 0, bad(line, cellName(t.columns, found), "text follows the closing quote: a quote within a quoted cell is written twice"), nil
			}
		} else {
			cell := t.buf[pos:end]
			if i := bytes.IndexByte(cell, comma); i >= 0 {
				cell = cell[:i]
			}
			if bytes.IndexByte(cell, '"') >= 0 {
				return 0, bad(line, cellName(t.columns, found), "a quote stands in a cell that is not quoted: quote the whole cell and write the quote twice"), nil
			}
			t.cells = append(t.cells, cell...)
			pos += len(cell)
		}
		if found < keep {
			t.ends = append(t.ends, len(t.cells))
		} else if found > 0 { // too many cells: only their number matters now
			t.cells = t.cells[:t.ends[len(t.ends)-1]]
		}
		found++
		if pos >= end {
			return found, nil, nil
		}
	}
}

// quoted is a quoted cell's place, for errors: the line of its row, and its column.
type quoted struct{ line, column int }

// quotedCell gathers the cell whose text begins at pos, in the row that begins at
// begin, and returns where its closing quote ends.
func (t *Reader) quotedCell(pos, begin int, at quoted) (end int, wrong *crowd.Error, err error) {
	for {
		i := bytes.IndexByte(t.buf[pos:t.off], '"')
		if i < 0 { // the cell goes on in the next line
			t.cells = append(t.cells, t.buf[pos:t.off]...)
			pos = t.off
			switch err := t.nextLine(); {
			case errors.Is(err, io.EOF):
				t.unclosed = true
				return 0, bad(at.line, cellName(t.columns, at.column), "the quoted cell is not closed"), nil
			case err != nil:
				return 0, nil, err
			case t.off-begin > t.opts.MaxRowBytes:
				return 0, t.opts.tooLong(at.line, 2), nil
			}
			continue
		}
		t.cells = append(t.cells, t.buf[pos:pos+i]...)
		if pos += i + 1; pos == t.off || t.buf[pos] != '"' {
			return pos, nil, nil
		}
		t.cells = append(t.cells, '"')
		pos++
	}
}
