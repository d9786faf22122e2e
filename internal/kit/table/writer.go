package table

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
)

// WriterOptions say how a table is written. The zero value writes plain
// RFC 4180 with LF line ends.
type WriterOptions struct {
	Format   Format // Auto means CSV
	QuoteAll bool   // CSV, TSV: quote every cell, as MTurk's and Turkle's results files do
	CRLF     bool   // CSV, TSV: end lines with CRLF, as they do
	BOM      bool   // CSV, TSV: begin with a byte order mark, so that Excel sees UTF-8

	// GuardFormulas puts an apostrophe before a cell of CSV or TSV that a
	// spreadsheet would run as a formula: one that begins with = + - @ (also of
	// full width, or after white space), tab or CR and is not a number. It is
	// off by default because it changes the data; files for people who open
	// them in Excel should have it on.
	GuardFormulas bool

	// JSONColumns are the columns whose cells are JSON text already. JSON
	// Lines holds them as they are (an empty cell as null); CSV and TSV as text.
	JSONColumns []string

	// Types are the types of columns in a Parquet file, by their names; those
	// that are not here are text. A number reads back as its shortest form
	// (1.50 as 1.5). The other formats write cells as they are.
	Types map[string]ColumnType
}

// Writer writes a table row by row. What it writes, a Reader reads back equal,
// but for GuardFormulas, bytes that are not UTF-8 (written as U+FFFD, so that
// an export never fails half-way), NUL, which a Reader refuses, and white space
// around the names of columns, which a Reader of CSV removes.
// It is not safe for concurrent use.
type Writer struct {
	out     *bufio.Writer
	opts    WriterOptions
	columns int
	comma   byte
	eol     string
	headed  bool     // CSV, TSV: the header is written
	keys    [][]byte // JSON Lines: what stands before each value
	isJSON  []bool
	row     bytes.Buffer // JSON Lines: the row so far
	text    bytes.Buffer
	enc     *json.Encoder // writes to text
	file    *parquetWriter
}

// NewWriter begins a table with these columns, which must be named, all
// different, and at least one; for CSV and TSV it writes the header.
func NewWriter(w io.Writer, columns []string, opts WriterOptions) (*Writer, error) {
	if opts.Format == Auto {
		opts.Format = CSV
	}
	t := &Writer{out: bufio.NewWriterSize(w, 32<<10), opts: opts, columns: len(columns), comma: ',', eol: "\n"}
	t.enc = json.NewEncoder(&t.text)
	t.enc.SetEscapeHTML(false)
	if len(columns) == 0 {
		return nil, crowd.Errorf(crowd.Invalid, "a table needs at least one column")
	}
	raw := map[string]bool{}
	for _, name := range opts.JSONColumns {
		raw[name] = true
	}
	seen := make(map[string]bool, len(columns))
	for i, name := range columns {
		if strings.TrimSpace(name) == "" || seen[name] {
			return nil, crowd.Fieldf(cellName(nil, i), "%q is empty or names two columns", name)
		}
		seen[name] = true
		begin := byte(',')
		if i == 0 {
			begin = '{'
		}
		t.keys = append(t.keys, append(append([]byte{begin}, t.quoteJSON(name)...), ':'))
		t.isJSON = append(t.isJSON, raw[name])
	}
	switch opts.Format {
	case JSONL:
		return t, nil
	case Parquet:
		var err error
		t.file, err = newParquetWriter(t.out, columns, opts.Types)
		return t, err
	}
	if opts.Format == TSV {
		t.comma = '\t'
	}
	if opts.CRLF {
		t.eol = "\r\n"
	}
	if opts.BOM {
		t.out.WriteString("\uFEFF") // a bufio.Writer keeps its error for Flush
	}
	return t, t.Write(columns)
}

// Write adds a row, which has one cell for each column.
func (t *Writer) Write(row []string) error {
	if len(row) != t.columns {
		return fmt.Errorf("write table: the row has %s, the header has %d", format.Count(len(row), "cell"), t.columns)
	}
	var err error
	switch t.opts.Format {
	case JSONL:
		err = t.writeObject(row)
	case Parquet:
		err = t.file.write(row)
	default:
		err = t.writeRecord(row)
	}
	if err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}

// Flush passes on what is still held back. It must be called at the end; in
// Parquet it ends the file, and no row can follow.
func (t *Writer) Flush() error {
	if t.file != nil {
		if err := t.file.close(); err != nil {
			return fmt.Errorf("write table: %w", err)
		}
	}
	if err := t.out.Flush(); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}

func (t *Writer) writeRecord(row []string) error {
	for i, cell := range row {
		if i > 0 {
			t.out.WriteByte(t.comma)
		}
		cell = strings.ToValidUTF8(cell, "\uFFFD")
		if t.opts.GuardFormulas && isFormula(cell) {
			cell = "'" + cell
		}
		if !t.opts.QuoteAll && !t.needsQuotes(cell, len(row) == 1) {
			t.out.WriteString(cell)
			continue
		}
		t.out.WriteByte('"')
		for {
			before, after, found := strings.Cut(cell, `"`)
			t.out.WriteString(before)
			if !found {
				break
			}
			t.out.WriteString(`""`)
			cell = after
		}
		t.out.WriteByte('"')
	}
	t.headed = true
	_, err := t.out.WriteString(t.eol)
	return err
}

// needsQuotes is generous: quotes never hurt. A cell that stands alone and is
// empty needs them, for an empty line is no row; a byte order mark, since at
// the start of the file it would be taken for one; white space at an end,
// since other programs trim it; any delimiter in the header, since readers guess by it.
func (t *Writer) needsQuotes(cell string, alone bool) bool {
	if cell == "" {
		return alone
	}
	return strings.ContainsAny(cell, "\"\r\n\uFEFF") || strings.IndexByte(cell, t.comma) >= 0 ||
		!t.headed && strings.ContainsAny(cell, everyDelimiter) ||
		cell[0] == ' ' || cell[len(cell)-1] == ' '
}

func isFormula(cell string) bool {
	text := strings.TrimSpace(cell)
	first, _ := utf8.DecodeRuneInString(text)
	if !strings.ContainsRune("=+-@＝＋－＠", first) && !strings.HasPrefix(cell, "\t") && !strings.HasPrefix(cell, "\r") {
		return false
	}
	_, err := strconv.ParseFloat(text, 64)
	return err != nil
}

func (t *Writer) writeObject(row []string) error {
	t.row.Reset()
	for i, cell := range row {
		t.row.Write(t.keys[i])
		switch {
		case !t.isJSON[i]:
			t.row.Write(t.quoteJSON(cell))
		case cell == "":
			t.row.WriteString("null")
		default:
			t.text.Reset()
			if err := json.Compact(&t.text, []byte(strings.ToValidUTF8(cell, "\uFFFD"))); err != nil {
				return fmt.Errorf("column %d is not JSON: %w", i+1, err)
			}
			t.row.Write(t.text.Bytes())
		}
	}
	t.row.WriteString("}\n")
	_, err := t.out.Write(t.row.Bytes())
	return err
}

// quoteJSON returns s as a JSON string, valid until the next call.
func (t *Writer) quoteJSON(s string) []byte {
	t.text.Reset()
	if err := t.enc.Encode(s); err != nil {
		panic("table: a string cannot be encoded: " + err.Error())
	}
	return bytes.TrimSuffix(t.text.Bytes(), []byte("\n"))
}

// WriteRows writes a whole table.
func WriteRows(w io.Writer, columns []string, opts WriterOptions, rows iter.Seq2[[]string, error]) error {
	out, err := NewWriter(w, columns, opts)
	if err != nil {
		return err
	}
	for row, err := range rows {
		if err != nil {
			return err
		}
		if err := out.Write(row); err != nil {
			return err
		}
	}
	return out.Flush()
}
