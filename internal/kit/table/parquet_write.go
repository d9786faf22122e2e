package table

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding"

	"github.com/throng-dev/throng/crowd"
)

const (
	// groupBytes and groupRows are when a row group is full.
	groupBytes = 16 << 20
	groupRows  = 100_000
)

// ColumnType is the type that a column has in a Parquet file.
type ColumnType string

// The types. In a column of numbers or booleans, an empty cell is null.
const (
	TextColumn   ColumnType = ""
	NumberColumn ColumnType = "number" // DOUBLE
	BoolColumn   ColumnType = "bool"
)

// parquetWriter writes the rows of a Parquet file, a row group at a time.
type parquetWriter struct {
	//lint:ignore SA1019 the generic one wants a Go type, and the columns are known at run time only
	out    *parquet.Writer
	types  []ColumnType
	rows   int // of the current row group
	bytes  int
	closed bool
}

func newParquetWriter(w io.Writer, columns []string, types map[string]ColumnType) (*parquetWriter, error) {
	t := &parquetWriter{}
	root := ordered{Group: parquet.Group{}}
	for i, name := range columns {
		typ := types[name]
		var node parquet.Node
		switch typ {
		case TextColumn:
			node = parquet.Encoded(parquet.Leaf(textType{parquet.String().Type()}), &parquet.Plain)
		case NumberColumn:
			node = parquet.Optional(parquet.Encoded(parquet.Leaf(parquet.DoubleType), &parquet.Plain))
		case BoolColumn:
			node = parquet.Optional(parquet.Encoded(parquet.Leaf(parquet.BooleanType), &parquet.Plain))
		default:
			return nil, crowd.Fieldf(cellName(columns, i), "%q is not a type of a column: use number or bool", typ)
		}
		root.Group[name] = node
		root.fields = append(root.fields, namedNode{node, name})
		t.types = append(t.types, typ)
	}
	t.out = parquet.NewWriter(w, parquet.NewSchema("table", root), parquet.Compression(&parquet.Snappy), parquet.CreatedBy("throng", "", ""))
	return t, nil
}

// write adds a row. A row that is refused leaves nothing behind.
func (t *parquetWriter) write(cells []string) error {
	if t.closed {
		return errors.New("the file is closed")
	}
	row := make(parquet.Row, len(cells))
	for i, cell := range cells {
		v, err := t.value(i, cell)
		if err != nil {
			return err
		}
		row[i] = v
		t.bytes += len(cell)
	}
	if _, err := t.out.WriteRows([]parquet.Row{row}); err != nil {
		return err
	}
	if t.rows++; t.rows >= groupRows || t.bytes >= groupBytes {
		t.rows, t.bytes = 0, 0
		return t.out.Flush()
	}
	return nil
}

func (t *parquetWriter) value(i int, cell string) (parquet.Value, error) {
	switch typ := t.types[i]; {
	case typ == TextColumn:
		return parquet.ByteArrayValue([]byte(strings.ToValidUTF8(cell, "\uFFFD"))).Level(0, 0, i), nil
	case cell == "":
		return parquet.NullValue().Level(0, 0, i), nil
	case typ == BoolColumn:
		if cell != "true" && cell != "false" {
			return parquet.Value{}, fmt.Errorf("column %d is neither true nor false but %q", i+1, clip(cell))
		}
		return parquet.BooleanValue(cell == "true").Level(0, 1, i), nil
	}
	f, err := strconv.ParseFloat(cell, 64)
	if err != nil || math.IsInf(f, 0) || !json.Valid([]byte(cell)) {
		return parquet.Value{}, fmt.Errorf("column %d is not a number but %q", i+1, clip(cell))
	}
	if n, whole := new(big.Int).SetString(cell, 10); whole {
		if back, _ := big.NewFloat(f).Int(nil); back.Cmp(n) != 0 {
			return parquet.Value{}, fmt.Errorf("column %d is %s, which has too many digits for a number: make it a column of text", i+1, clip(cell))
		}
	}
	return parquet.DoubleValue(f).Level(0, 1, i), nil
}

func (t *parquetWriter) close() error {
	if t.closed {
		return nil
	}
	t.closed = true
	return t.out.Close()
}

// boundBytes is how much of the least and the greatest text of a page is kept: they stand
// in its header and, in memory up to the end of the file, in the footer.
const boundBytes = 64

// textType is the type of texts, with buffers and pages whose bounds are cut short.
type textType struct{ parquet.Type }

func (t textType) NewColumnBuffer(column, values int) parquet.ColumnBuffer {
	return textBuffer{t.Type.NewColumnBuffer(column, values)}
}

type textBuffer struct{ parquet.ColumnBuffer }

func (b textBuffer) Page() parquet.Page { return textPage{b.ColumnBuffer.Page()} }

type textPage struct{ parquet.Page }

func (p textPage) Bounds() (least, most parquet.Value, ok bool) {
	begin := func(text []byte) string { return strings.ToValidUTF8(string(text[:boundBytes]), "") }
	least, most, ok = p.Page.Bounds()
	if text := least.ByteArray(); len(text) > boundBytes {
		least = parquet.ByteArrayValue([]byte(begin(text)))
	}
	if text := most.ByteArray(); len(text) > boundBytes {
		most = parquet.ByteArrayValue([]byte(above(begin(text))))
	}
	return least, most, ok
}

// above returns a text that comes after all those that begin with this one.
func above(begin string) string {
	for begin != "" {
		r, n := utf8.DecodeLastRuneInString(begin)
		begin = begin[:len(begin)-n]
		if r++; r == 0xD800 {
			r = 0xE000 // what lies between is no text
		}
		if r <= utf8.MaxRune {
			return begin + string(r)
		}
	}
	return "\xFF" // no byte of UTF-8 is greater
}

// ordered is a group whose fields are in the order of the columns, not in that
// of their names.
type ordered struct {
	parquet.Group
	fields []parquet.Field
}

func (o ordered) Fields() []parquet.Field { return o.fields }

func (o ordered) Encoding() encoding.Encoding { return nil }

func (o ordered) Compression() compress.Codec { return nil }

type namedNode struct {
	parquet.Node
	name string
}

func (n namedNode) Name() string { return n.name }

func (n namedNode) Value(base reflect.Value) reflect.Value {
	return base.MapIndex(reflect.ValueOf(n.name))
}
