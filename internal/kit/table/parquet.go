package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/throng-dev/throng/crowd"
)

// Rows is a table that is read row by row: a Reader, or a Parquet file.
type Rows interface {
	// Columns returns the names of the columns, in order. They are not empty
	// and all different. The caller must not change the slice.
	Columns() []string
	// Format returns the format that is being read, never Auto.
	Format() Format
	// Delimiter returns what stands between cells, or 0 where nothing does.
	Delimiter() Delimiter
	// Read returns the next row and where it is: see Reader.Read. In a Parquet
	// file that is the number of the row, from 1.
	Read() (row []string, line int, err error)
}

// Open begins to read a table; closed must be called in the end, unless there is an error.
type Open func() (rows Rows, closed func(), err error)

// Opened returns what opens a table that is open already.
func Opened(rows Rows) Open { return func() (Rows, func(), error) { return rows, func() {}, nil } }

// OpenFile begins to read a table of any format from a file of size bytes. It
// knows Parquet by its first bytes, or by opts.Format; everything else it
// reads as NewReader does, once from the beginning to the end.
//
// Parquet cannot be read from a stream: what its bytes mean stands at its end.
// An upload is put into a file first.
//
// Of a Parquet file, one page of each column is in memory, at most maxHeld
// bytes; a row is held to MaxRowBytes (of its text) and MaxColumns. Cells are
// as JSON Lines has them: numbers in their shortest form, decimals exactly,
// true and false, dates and times as in ISO 8601 (with Z where the file says
// that they are UTC), null as an empty cell, and lists, maps and groups as JSON
// text. What is broken below a row (a page, the footer) is a final error that
// names the row and the column.
func OpenFile(r io.ReaderAt, size int64, opts Options) (Rows, error) {
	head := make([]byte, min(size, int64(len(parquetMagic))))
	if _, err := r.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read table: %w", err)
	}
	if opts.Format != Parquet && (opts.Format != Auto || string(head) != parquetMagic) {
		return NewReader(io.NewSectionReader(r, 0, size), opts)
	}
	if string(head) != parquetMagic {
		return nil, crowd.Errorf(crowd.Invalid, "this is not a Parquet file: it does not begin with %s", parquetMagic)
	}
	if err := opts.Delimiter.fits(Parquet); err != nil {
		return nil, err
	}
	t := &parquetReader{file: r, size: size, opts: opts.withDefaults()}
	if err := recovered(t.open); err != nil {
		return nil, err
	}
	return t, nil
}

const (
	parquetMagic = "PAR1"
	maxFooter    = 16 << 20

	// What a file's rows may have as text, in bytes: a dictionary writes the same long
	// value again and again in a few bits each.
	anyFile    = 64 << 20 // whatever the file's size
	timesFile  = 50       // and so many times its size
	bytesOfRow = 32       // that a row counts for by itself, and each cell for one
)

// parquetReader reads the rows of a Parquet file. The library decodes the
// values, from pages that a feeder has checked.
type parquetReader struct {
	file    io.ReaderAt
	size    int64
	opts    Options
	meta    *format.FileMetaData
	columns []string
	roots   []*parquet.Column // one for each column
	leaves  []*leaf           // in the order of the file
	first   []int             // number of the first leaf of each column
	group   int               // number of the row group after the current one
	left    int64             // rows that are left of the current one
	row     int               // rows read
	held    int64             // bytes of the pages in memory, or about so
	given   int64             // bytes of the rows so far
	err     error             // sticky
}

// broken is an error about the file as a whole.
func broken(where, what string, args ...any) error {
	e := crowd.Errorf(crowd.Invalid, "the Parquet file is broken or not whole: "+what, args...)
	e.Field = clip(where)
	return e
}

// recovered runs f and turns a panic of the library, which some broken files
// cause, into an error.
func recovered(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = broken("", "%s", clip(fmt.Sprint(r)))
		}
	}()
	return f()
}

// open reads the footer and begins before the first row group.
func (t *parquetReader) open() error {
	if err := t.readFooter(); err != nil {
		return err
	}
	if t.meta.EncryptionAlgorithm.Value != nil {
		return crowd.Errorf(crowd.Invalid, "the Parquet file is encrypted: write it without")
	}
	codecs := make([][]format.CompressionCodec, len(t.meta.RowGroups))
	for i := range t.meta.RowGroups {
		g := &t.meta.RowGroups[i]
		if g.NumRows < 0 {
			return broken("", "row group %d has %d rows", i+1, g.NumRows)
		}
		for c := range g.Columns {
			codecs[i] = append(codecs[i], g.Columns[c].MetaData.Codec)
		}
	}
	file, err := t.openPlain()
	if err != nil {
		return broken("", "%s", clip(err.Error()))
	}
	if err := t.takeColumns(file); err != nil {
		return err
	}
	for i := range t.meta.RowGroups {
		if n := len(t.meta.RowGroups[i].Columns); n != len(t.leaves) {
			return broken("", "row group %d has %d columns, the file has %d", i+1, n, len(t.leaves))
		}
	}
	groups := file.RowGroups()
	for c, l := range t.leaves {
		for i, g := range groups {
			chunk, ok := g.ColumnChunks()[c].(*parquet.FileColumnChunk)
			if !ok {
				return broken(l.name, "row group %d cannot be read", i+1)
			}
			l.chunks = append(l.chunks, chunk)
			l.codecs = append(l.codecs, codecs[i][c])
		}
	}
	return nil
}

// readFooter reads the metadata at the end of the file.
func (t *parquetReader) readFooter() error {
	const tail = 8
	if t.size < int64(len(parquetMagic)+tail) {
		return broken("", "it breaks off after %d bytes", t.size)
	}
	end := make([]byte, tail)
	if _, err := t.file.ReadAt(end, t.size-tail); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read table: %w", err)
	}
	if string(end[4:]) != parquetMagic {
		return broken("", "it does not end with %s, so its end is missing", parquetMagic)
	}
	n := int64(binary.LittleEndian.Uint32(end))
	if n > t.size-int64(len(parquetMagic)+tail) {
		return broken("", "its footer of %d bytes does not fit into it", n)
	}
	if n > maxFooter {
		return crowd.Errorf(crowd.TooLarge, "the footer of the Parquet file has %d bytes, at most %s are allowed: write larger row groups", n, bytesText(maxFooter))
	}
	footer := make([]byte, n)
	if _, err := t.file.ReadAt(footer, t.size-tail-n); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read table: %w", err)
	}
	t.meta = new(format.FileMetaData)
	if _, err := decodeThrift(footer, t.meta); err != nil {
		return broken("", "its footer: %s", clip(err.Error()))
	}
	return nil
}

// openPlain opens the metadata with the library, changed so that its chunks have
// pages that are not compressed, and no indexes.
func (t *parquetReader) openPlain() (*parquet.File, error) {
	meta := *t.meta
	meta.ColumnOrders = nil
	meta.KeyValueMetadata = nil
	meta.RowGroups = make(thrift.Slice[format.RowGroup], len(t.meta.RowGroups))
	for i, g := range t.meta.RowGroups {
		plain := format.RowGroup{NumRows: g.NumRows, Columns: make(thrift.Slice[format.ColumnChunk], len(g.Columns))}
		for c := range g.Columns {
			if g.Columns[c].CryptoMetadata.Value != nil || g.Columns[c].FilePath != "" {
				return nil, errors.New("a column is encrypted or in another file")
			}
			m := &g.Columns[c].MetaData
			plain.Columns[c].MetaData = format.ColumnMetaData{
				Type: m.Type, Encoding: m.Encoding, PathInSchema: m.PathInSchema, NumValues: m.NumValues,
				Codec: format.Uncompressed, TotalCompressedSize: feedSize, TotalUncompressedSize: feedSize, DataPageOffset: feedBase,
			}
		}
		meta.RowGroups[i] = plain
	}
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), &meta)
	if err != nil {
		return nil, err
	}
	text := append([]byte(parquetMagic), footer...)
	text = binary.LittleEndian.AppendUint32(text, uint32(len(footer)))
	text = append(text, parquetMagic...)
	return parquet.OpenFile(bytes.NewReader(text), int64(len(text)), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
}

// takeColumns checks the columns and their names.
func (t *parquetReader) takeColumns(file *parquet.File) error {
	t.roots = file.Root().Columns()
	if len(t.roots) == 0 {
		return broken("", "it has no columns")
	}
	var names []string
	for _, c := range t.roots {
		names = append(names, c.Name())
		t.first = append(t.first, len(t.leaves))
		t.addLeaves(c, c.Name())
	}
	if n := max(len(names), len(t.leaves)); n > t.opts.MaxColumns {
		return crowd.Errorf(crowd.TooLarge, "the file has %d columns, %d are allowed", n, t.opts.MaxColumns)
	}
	if _, err := columnIndex(names, ""); err != nil {
		return err
	}
	t.columns = names
	return nil
}

func (t *parquetReader) addLeaves(c *parquet.Column, name string) {
	if c.Leaf() {
		t.leaves = append(t.leaves, &leaf{column: c, name: name, reader: t})
	}
	for _, child := range c.Columns() {
		t.addLeaves(child, name)
	}
}

func (t *parquetReader) Columns() []string { return t.columns }

func (t *parquetReader) Format() Format { return Parquet }

// Delimiter implements Rows.
func (t *parquetReader) Delimiter() Delimiter { return 0 }

func (t *parquetReader) Read() (row []string, line int, err error) {
	if t.err != nil {
		return nil, t.row, t.err
	}
	err = recovered(func() error {
		row, err = t.next()
		return err
	})
	switch {
	case err == nil:
		return row, t.row, nil
	case !BadRow(err):
		t.err = err
		var e *crowd.Error
		if errors.As(err, &e) && t.row > 0 {
			e.Message = fmt.Sprintf("row %d: %s", t.row, e.Message)
		}
	}
	return nil, t.row, err
}

// next reads one row.
func (t *parquetReader) next() ([]string, error) {
	for t.left == 0 {
		if t.group == len(t.meta.RowGroups) {
			return nil, io.EOF
		}
		t.left = t.meta.RowGroups[t.group].NumRows
		for c, l := range t.leaves {
			l.begin(t.group, &t.meta.RowGroups[t.group].Columns[c].MetaData)
		}
		t.group++
	}
	t.left--
	t.row++
	for _, l := range t.leaves {
		if err := l.next(); err != nil {
			return nil, err
		}
	}
	row := make([]string, len(t.columns))
	size := 0
	for i, c := range t.roots {
		text, what := t.cell(c, i)
		if what != "" {
			return nil, bad(t.row, t.columns[i], "the value %s", what)
		}
		if size += len(text); size > t.opts.MaxRowBytes {
			return nil, t.opts.tooLong(t.row, 1)
		}
		row[i] = text
	}
	if t.given += int64(bytesOfRow + len(row) + size); t.given > anyFile+timesFile*t.size {
		return nil, crowd.Errorf(crowd.TooLarge, "the rows of the Parquet file have more than %d MiB as text, of %d bytes in the file: the bound is %d MiB and %d times the file's size; write it as CSV",
			(anyFile+timesFile*t.size)>>20, t.size, anyFile>>20, timesFile)
	}
	return row, nil
}

// cell returns the text of column i in the current row.
func (t *parquetReader) cell(c *parquet.Column, i int) (text, wrong string) {
	if c.Leaf() && !c.Repeated() {
		v := t.leaves[t.first[i]].record[0]
		if v.IsNull() {
			return "", ""
		}
		s := scalarOf(c, v)
		if s.wrong == "" && s.quoted {
			s.wrong = checkText([]byte(s.text))
		}
		return s.text, s.wrong
	}
	n := c.Columns()
	values := make([][]parquet.Value, 0, len(n))
	end := len(t.leaves)
	if i+1 < len(t.first) {
		end = t.first[i+1]
	}
	for _, l := range t.leaves[t.first[i]:end] {
		values = append(values, l.record)
	}
	b := builder{limit: t.opts.MaxRowBytes}
	b.node(c, values)
	if b.wrong == "" && b.out.String() == "null" {
		return "", ""
	}
	return b.out.String(), b.wrong
}

// leaf is a column of values, read through the row groups.
type leaf struct {
	column *parquet.Column
	name   string // of the top-level column
	reader *parquetReader
	chunks []*parquet.FileColumnChunk
	codecs []format.CompressionCodec

	feed   *feeder
	pages  *parquet.FilePages
	values parquet.ValueReader // nil: the next page is to be read
	buf    [64]parquet.Value
	at, n  int
	record []parquet.Value // the values of the current row
}

func (l *leaf) begin(group int, m *format.ColumnMetaData) {
	l.reader.held -= l.feed.held()
	l.feed = newFeeder(l.reader, l.column, m, l.codecs[group])
	l.pages = l.chunks[group].PagesFrom(l.feed)
	l.values, l.at, l.n = nil, 0, 0
}

// next gathers the values of the next row: one, and those that follow with a
// repetition level above 0.
func (l *leaf) next() error {
	l.record = l.record[:0]
	for {
		if l.at == l.n {
			switch err := l.fill(); {
			case errors.Is(err, io.EOF) && len(l.record) > 0:
				return nil
			case errors.Is(err, io.EOF):
				return broken(l.name, "the column has fewer values than its row group has rows")
			case err != nil:
				return err
			}
		}
		v := l.buf[l.at]
		if v.RepetitionLevel() == 0 && len(l.record) > 0 {
			return nil
		}
		if v.RepetitionLevel() > 0 && len(l.record) == 0 {
			return broken(l.name, "a row begins in the middle of a list")
		}
		if len(l.record) > l.reader.opts.MaxRowBytes {
			return broken(l.name, "a list has more than %d items", l.reader.opts.MaxRowBytes)
		}
		l.record = append(l.record, v)
		l.at++
		if l.column.MaxRepetitionLevel() == 0 {
			return nil
		}
	}
}

// fill reads further values, of the next page at the end of one.
func (l *leaf) fill() error {
	for {
		if l.values == nil {
			if l.column.MaxRepetitionLevel() > 0 {
				for i, v := range l.record { // of a row that goes on in the next page, but not in the memory of this one
					l.record[i] = v.Clone()
				}
			}
			page, err := l.pages.ReadPage()
			if l.feed.err != nil {
				err = l.feed.err
			}
			var e *crowd.Error
			switch {
			case errors.Is(err, io.EOF), errors.As(err, &e):
				return err
			case err != nil:
				return broken(l.name, "%s", clip(err.Error()))
			}
			l.values = page.Values()
		}
		n, err := l.values.ReadValues(l.buf[:])
		l.at, l.n = 0, n
		if err != nil {
			l.values = nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return broken(l.name, "%s", clip(err.Error()))
		}
		if n > 0 {
			return nil
		}
	}
}
