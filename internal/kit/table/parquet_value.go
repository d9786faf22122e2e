package table

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/throng-dev/throng/internal/kit/lists"
)

// scalar is a value as text.
type scalar struct {
	text   string
	quoted bool   // in JSON, it is a string
	wrong  string // why there is no text
}

func literal(text string) scalar { return scalar{text: text} }

func quotedText(text string) scalar { return scalar{text: text, quoted: true} }

// scalarOf returns the text of a value that is not null.
func scalarOf(c *parquet.Column, v parquet.Value) scalar {
	typ := c.Type()
	if lt := typ.LogicalType(); lt != nil {
		switch l := lt.Value.(type) {
		case *format.DecimalType:
			return decimal(v, int(l.Scale))
		case *format.DateType:
			return quotedText(time.Unix(int64(v.Int32())*24*60*60, 0).UTC().Format(time.DateOnly))
		case *format.TimeType:
			n := v.Int64()
			if v.Kind() == parquet.Int32 {
				n = int64(v.Int32())
			}
			return quotedText(inUnit(n, l.Unit).Format("15:04:05.999999999") + zone(l.IsAdjustedToUTC))
		case *format.TimestampType:
			return quotedText(inUnit(v.Int64(), l.Unit).Format("2006-01-02T15:04:05.999999999") + zone(l.IsAdjustedToUTC))
		case *format.IntType:
			return integer(v, l.IsSigned)
		case *format.UUIDType:
			return uuid(v.ByteArray())
		case *format.JsonType:
			raw := v.ByteArray()
			if !json.Valid(raw) {
				return scalar{wrong: "is not JSON"}
			}
			text, wrong := valueText(bytes.TrimSpace(raw))
			return scalar{text: text, wrong: wrong}
		}
	}
	if ct := typ.ConvertedType(); ct != nil && *ct == deprecated.Interval && v.Kind() == parquet.FixedLenByteArray {
		return interval(v.ByteArray())
	}
	switch v.Kind() {
	case parquet.Boolean:
		return literal(strconv.FormatBool(v.Boolean()))
	case parquet.Int32, parquet.Int64:
		return integer(v, true)
	case parquet.Int96:
		return int96(v.Int96())
	case parquet.Float:
		return float(float64(v.Float()), 32)
	case parquet.Double:
		return float(v.Double(), 64)
	}
	return quotedText(string(v.ByteArray()))
}

func integer(v parquet.Value, signed bool) scalar {
	switch {
	case v.Kind() == parquet.Int32 && signed:
		return literal(strconv.FormatInt(int64(v.Int32()), 10))
	case v.Kind() == parquet.Int32:
		return literal(strconv.FormatUint(uint64(v.Uint32()), 10))
	case signed:
		return literal(strconv.FormatInt(v.Int64(), 10))
	}
	return literal(strconv.FormatUint(v.Uint64(), 10))
}

// float returns the shortest text that stands for the same number. JSON has no
// infinity: there it is a string.
func float(f float64, size int) scalar {
	const small, large = 1e-6, 1e21 // as JSON encoders write them
	switch a := math.Abs(f); {
	case math.IsNaN(f):
		return quotedText("NaN")
	case math.IsInf(f, 1):
		return quotedText("Infinity")
	case math.IsInf(f, -1):
		return quotedText("-Infinity")
	case a != 0 && (a < small || a >= large):
		return literal(strconv.FormatFloat(f, 'e', -1, size))
	}
	return literal(strconv.FormatFloat(f, 'f', -1, size))
}

// decimal returns an unscaled integer, shifted by scale digits.
func decimal(v parquet.Value, scale int) scalar {
	const most = 1000
	if scale < 0 || scale > most {
		return scalar{wrong: fmt.Sprintf("is a decimal number of scale %d", scale)}
	}
	n := new(big.Int)
	switch v.Kind() {
	case parquet.Int32:
		n.SetInt64(int64(v.Int32()))
	case parquet.Int64:
		n.SetInt64(v.Int64())
	default: // two's complement, big endian
		b := v.ByteArray()
		if len(b) > most {
			return scalar{wrong: "is a decimal number of too many digits"}
		}
		n.SetBytes(b)
		if len(b) > 0 && b[0]&0x80 != 0 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
		}
	}
	digits, sign := new(big.Int).Abs(n).String(), ""
	if n.Sign() < 0 {
		sign = "-"
	}
	if scale == 0 {
		return literal(sign + digits)
	}
	if len(digits) <= scale {
		digits = strings.Repeat("0", scale-len(digits)+1) + digits
	}
	cut := len(digits) - scale
	return literal(sign + digits[:cut] + "." + digits[cut:])
}

// inUnit returns the time n units after 1970 in UTC.
func inUnit(n int64, unit format.TimeUnit) time.Time {
	switch unit.Value.(type) {
	case *format.MilliSeconds:
		return time.UnixMilli(n).UTC()
	case *format.MicroSeconds:
		return time.UnixMicro(n).UTC()
	}
	return time.Unix(0, n).UTC()
}

func zone(utc bool) string {
	if utc {
		return "Z"
	}
	return ""
}

// int96 is a time as old writers have it: nanoseconds of a day, and the day's
// Julian number.
func int96(i deprecated.Int96) scalar {
	const epoch = 2440588 // the Julian number of 1970-01-01
	nanos := int64(uint64(i[0]) | uint64(i[1])<<32)
	day := int64(int32(i[2])) - epoch
	return quotedText(time.Unix(day*24*60*60, 0).Add(time.Duration(nanos)).UTC().Format("2006-01-02T15:04:05.999999999Z"))
}

func uuid(b []byte) scalar {
	if len(b) != 16 {
		return scalar{wrong: "is not a UUID of 16 bytes"}
	}
	return quotedText(fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]))
}

// interval is months, days and milliseconds, as an ISO 8601 duration.
func interval(b []byte) scalar {
	if len(b) != 12 {
		return scalar{wrong: "is not an interval of 12 bytes"}
	}
	ms := binary.LittleEndian.Uint32(b[8:])
	return quotedText(fmt.Sprintf("P%dM%dDT%sS", binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]),
		strconv.FormatFloat(float64(ms)/1000, 'f', -1, 64)))
}

// builder writes lists, maps and groups as JSON. The values of a row come as
// one slice for each leaf below a node; where a list or null begins is in
// their levels (Melnik et al., Dremel, VLDB 2010, section 4).
type builder struct {
	out   strings.Builder
	limit int
	wrong string
}

func (b *builder) fail(what string) {
	if b.wrong == "" {
		b.wrong = what
	}
}

// node writes a node with its repetition: the list of its values if it is
// repeated.
func (b *builder) node(c *parquet.Column, values [][]parquet.Value) {
	if !c.Repeated() {
		b.one(c, values)
		return
	}
	b.list(c, values, func(item [][]parquet.Value) { b.one(c, item) })
}

// list writes the items of a repeated node.
func (b *builder) list(c *parquet.Column, values [][]parquet.Value, item func([][]parquet.Value)) {
	b.out.WriteByte('[')
	for i, v := range b.items(c, values) {
		if i > 0 {
			b.out.WriteByte(',')
		}
		if item(v); b.wrong != "" {
			return
		}
	}
	b.out.WriteByte(']')
}

// items cuts the values below a repeated node into those of its items.
func (b *builder) items(c *parquet.Column, values [][]parquet.Value) [][][]parquet.Value {
	if !b.have(values) || values[0][0].DefinitionLevel() < c.MaxDefinitionLevel() {
		return nil
	}
	var items [][][]parquet.Value
	for leaf, list := range values {
		n := 0
		for begin := 0; begin < len(list); n++ {
			end := begin + 1
			for end < len(list) && list[end].RepetitionLevel() > c.MaxRepetitionLevel() {
				end++
			}
			if leaf == 0 {
				items = append(items, make([][]parquet.Value, len(values)))
			}
			if n >= len(items) {
				b.fail("holds lists of different lengths where they should be equal")
				return nil
			}
			items[n][leaf] = list[begin:end]
			begin = end
		}
		if n != len(items) {
			b.fail("holds lists of different lengths where they should be equal")
			return nil
		}
	}
	return items
}

// have reports whether every leaf has a value, as it must.
func (b *builder) have(values [][]parquet.Value) bool {
	for _, list := range values {
		if len(list) == 0 {
			b.fail("is not whole")
		}
	}
	return len(values) > 0 && b.wrong == ""
}

// one writes one value of a node.
func (b *builder) one(c *parquet.Column, values [][]parquet.Value) {
	if b.out.Len() > b.limit {
		b.fail("is longer than " + bytesText(b.limit))
	}
	if b.wrong != "" {
		return
	}
	if len(values) == 0 { // a group without columns
		b.out.WriteString("{}")
		return
	}
	if !b.have(values) {
		return
	}
	if values[0][0].DefinitionLevel() < c.MaxDefinitionLevel() {
		b.out.WriteString("null")
		return
	}
	if c.Leaf() {
		b.leaf(c, values[0])
		return
	}
	children := c.Columns()
	if lt := c.Type().LogicalType(); lt != nil && len(children) == 1 && children[0].Repeated() {
		switch lt.Value.(type) {
		case *format.ListType:
			b.list(children[0], values, func(item [][]parquet.Value) { b.element(c, children[0], item) })
			return
		case *format.MapType:
			if isMap(children[0]) {
				b.object(children[0], values)
			} else { // a list of keys with their values
				b.node(children[0], values)
			}
			return
		}
	}
	b.out.WriteByte('{')
	for i, child := range children {
		if i > 0 {
			b.out.WriteByte(',')
		}
		b.string(child.Name())
		b.out.WriteByte(':')
		n := leavesOf(child)
		b.node(child, values[:n])
		values = values[n:]
	}
	b.out.WriteByte('}')
}

// element writes an item of a list: what is repeated is the item itself, or a
// group around it (LogicalTypes.md of Parquet, backward compatibility of LIST).
func (b *builder) element(list, repeated *parquet.Column, item [][]parquet.Value) {
	if children := repeated.Columns(); len(children) == 1 && !children[0].Repeated() && repeated.Name() != "array" && repeated.Name() != list.Name()+"_tuple" {
		b.node(children[0], item)
		return
	}
	b.one(repeated, item)
}

// isMap reports whether a group holds the key and the value of a map, of which
// the key is text.
func isMap(c *parquet.Column) bool {
	pair := c.Columns()
	return len(pair) == 2 && pair[0].Leaf() && pair[0].Required() && pair[0].Type().Kind() == parquet.ByteArray
}

// object writes a map as an object.
func (b *builder) object(c *parquet.Column, values [][]parquet.Value) {
	pair := c.Columns()
	b.out.WriteByte('{')
	for i, item := range b.items(c, values) {
		if i > 0 {
			b.out.WriteByte(',')
		}
		key := scalarOf(pair[0], item[0][0])
		if key.wrong == "" {
			key.wrong = checkText([]byte(key.text))
		}
		if key.wrong != "" {
			b.fail("has a key that " + key.wrong)
			return
		}
		b.string(key.text)
		b.out.WriteByte(':')
		if b.node(pair[1], item[1:]); b.wrong != "" {
			return
		}
	}
	b.out.WriteByte('}')
}

func (b *builder) leaf(c *parquet.Column, values []parquet.Value) {
	if len(values) != 1 {
		b.fail("is not whole")
		return
	}
	s := scalarOf(c, values[0])
	switch {
	case s.wrong != "":
		b.fail(s.wrong)
	case !s.quoted && s.text == "": // null in a column of JSON
		b.out.WriteString("null")
	case s.quoted:
		if what := checkText([]byte(s.text)); what != "" {
			b.fail(what)
			return
		}
		b.string(s.text)
	default:
		b.out.WriteString(s.text)
	}
}

func (b *builder) string(s string) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		b.fail("cannot be written as JSON")
		return
	}
	b.out.Write(bytes.TrimSuffix(out.Bytes(), []byte("\n")))
}

func leavesOf(c *parquet.Column) int {
	if c.Leaf() {
		return 1
	}
	return lists.Sum(c.Columns(), leavesOf)
}
