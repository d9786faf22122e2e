package table

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/throng-dev/throng/crowd"
)

// The checks below walk over encoded data without decoding it, so that no data is
// decoded that takes much more memory than its size allows.

var errShort = errors.New("it breaks off")

const (
	maxThriftDepth   = 32
	maxThriftStructs = 1 << 18 // structs in lists, each of which takes some hundred bytes
)

// decodeThrift decodes a struct from the beginning of data and returns how long
// it is. What is decoded may share the memory of data.
func decodeThrift(data []byte, v any) (int, error) {
	r := &thriftReader{BytesReader: new(thrift.CompactProtocol).NewReaderFromBytes(data), size: len(data), open: []int32{1}}
	err := thrift.NewDecoder(r).Decode(v)
	return r.BytesRead(), cmp.Or(r.wrong, err)
}

// thriftReader refuses what takes much more memory to decode than it has bytes.
// The library makes a list as long as the data says, and goes as deep.
type thriftReader struct {
	thrift.BytesReader
	size    int
	structs int     // in lists so far
	open    []int32 // how many structs must end at each depth
	wrong   error   // what it refused
}

func (r *thriftReader) refuse(what string, args ...any) error {
	r.wrong = fmt.Errorf(what, args...)
	return r.wrong
}

func (r *thriftReader) ReadField() (thrift.Field, error) {
	f, err := r.BytesReader.ReadField()
	switch {
	case err == nil && f.Type == thrift.STRUCT:
		err = r.enter(1)
	case err == nil && f.Type == thrift.STOP:
		last := len(r.open) - 1
		if r.open[last]--; r.open[last] == 0 && last > 0 {
			r.open = r.open[:last]
		}
	}
	return f, err
}

func (r *thriftReader) enter(structs int32) error {
	if r.open = append(r.open, structs); len(r.open) > maxThriftDepth {
		return r.refuse("it is nested too deeply")
	}
	return nil
}

func (r *thriftReader) ReadList() (thrift.List, error) {
	l, err := r.BytesReader.ReadList()
	switch {
	case err != nil:
		return l, err
	case int(l.Size) > r.size-r.BytesRead(): // each item takes a byte at least
		return l, r.refuse("%w", errShort)
	case l.Type == thrift.LIST || l.Type == thrift.SET || l.Type == thrift.MAP:
		return l, r.refuse("it has a list of lists")
	case l.Type != thrift.STRUCT || l.Size == 0:
		return l, nil
	}
	if r.structs += int(l.Size); r.structs > maxThriftStructs {
		return l, r.refuse("it has more than %d parts: write larger row groups", maxThriftStructs)
	}
	return l, r.enter(l.Size)
}

func (r *thriftReader) ReadSet() (thrift.Set, error) {
	l, err := r.ReadList()
	return thrift.Set(l), err
}

// ReadMap refuses maps, of which Parquet has none.
func (r *thriftReader) ReadMap() (thrift.Map, error) { return thrift.Map{}, r.refuse("it has a map") }

// Discard passes over n bytes, which the library does for texts that it does not know.
func (r *thriftReader) Discard(n int) (int, error) {
	return r.BytesReader.(interface{ Discard(int) (int, error) }).Discard(n)
}

// checkV1 checks a page of version 1, unpacked.
func checkV1(c *parquet.Column, data []byte, v *format.DataPageHeader) error {
	full := 0 // values that are not null
	for _, level := range []struct {
		most     int
		encoding format.Encoding
	}{{c.MaxRepetitionLevel(), v.RepetitionLevelEncoding}, {c.MaxDefinitionLevel(), v.DefinitionLevelEncoding}} {
		if level.most == 0 {
			continue
		}
		if level.encoding != format.RLE {
			return fmt.Errorf("the levels of a page are encoded as %s", level.encoding)
		}
		if len(data) < 4 {
			return errShort
		}
		n := binary.LittleEndian.Uint32(data)
		if uint64(n) > uint64(len(data)-4) {
			return errShort
		}
		runs := data[4 : 4+n]
		if err := checkRuns(runs, bits.Len(uint(level.most)), int(v.NumValues)); err != nil {
			return err
		}
		full = countLevel(runs, level.most, int(v.NumValues))
		data = data[4+n:]
	}
	if c.MaxDefinitionLevel() == 0 {
		full = int(v.NumValues)
	}
	return checkValues(c, data, v.Encoding, full)
}

// checkV2 checks a page of version 2, unpacked.
func checkV2(c *parquet.Column, data []byte, v *format.DataPageHeaderV2) error {
	rep, def := data[:v.RepetitionLevelsByteLength], data[v.RepetitionLevelsByteLength:][:v.DefinitionLevelsByteLength]
	if (c.MaxRepetitionLevel() > 0 && len(rep) == 0 && v.NumValues > 0) || (c.MaxDefinitionLevel() > 0 && len(def) == 0 && v.NumValues > 0) {
		return errors.New("a page has no levels")
	}
	if err := checkRuns(rep, bits.Len(uint(c.MaxRepetitionLevel())), int(v.NumValues)); err != nil {
		return err
	}
	if err := checkRuns(def, bits.Len(uint(c.MaxDefinitionLevel())), int(v.NumValues)); err != nil {
		return err
	}
	full := int(v.NumValues - v.NumNulls)
	if most := c.MaxDefinitionLevel(); most > 0 && countLevel(def, most, int(v.NumValues)) != full || most == 0 && v.NumNulls > 0 {
		return errors.New("a page has another number of nulls than it says")
	}
	return checkValues(c, data[len(rep)+len(def):], v.Encoding, full)
}

// countLevel counts how many of n levels, checked before, have the value most.
func countLevel(data []byte, most, n int) int {
	width := bits.Len(uint(most))
	found := 0
	for n > 0 && len(data) > 0 {
		head, k := binary.Uvarint(data)
		data = data[k:]
		count := int(head >> 1)
		if head&1 == 0 {
			if int(data[0]) == most {
				found += min(count, n)
			}
			n, data = n-count, data[1:]
			continue
		}
		for i := 0; i < count*8 && i < n; i++ {
			level := 0
			for bit := range width {
				at := i*width + bit
				level |= int(data[at/8]>>(at%8)&1) << bit
			}
			if level == most {
				found++
			}
		}
		n, data = n-count*8, data[count*width:]
	}
	return found
}

// checkValues checks the values of a page, of which there are n.
func checkValues(c *parquet.Column, data []byte, encoding format.Encoding, n int) error {
	switch encoding {
	case format.Plain:
		if c.Type().Kind() == parquet.ByteArray {
			return checkByteArrays(data, n)
		}
		return nil // the library compares the size
	//lint:ignore SA1019 old files have it
	case format.PlainDictionary, format.RLEDictionary:
		if len(data) == 0 {
			return nil
		}
		const widest = 32
		if data[0] > widest {
			return errors.New("the values of a page are broken")
		}
		return checkRuns(data[1:], int(data[0]), n)
	case format.RLE:
		if len(data) < 4 || uint64(binary.LittleEndian.Uint32(data)) > uint64(len(data)-4) {
			return errShort
		}
		return checkRuns(data[4:4+binary.LittleEndian.Uint32(data)], 1, n)
	case format.DeltaBinaryPacked, format.DeltaLengthByteArray:
		return checkDelta(data, n)
	case format.ByteStreamSplit:
		return nil
	}
	return crowd.Fieldf(clip(c.Path()[0]), "the values are encoded as %s, which is not read: write them as PLAIN or with a dictionary", encoding)
}

// checkPlain checks the values of a dictionary.
func checkPlain(c *parquet.Column, data []byte, n int) error {
	const least = 4 // bytes of a value, of the types that have dictionaries; the length of a text counts
	size := least
	if c.Type().Kind() == parquet.FixedLenByteArray {
		size = c.Type().Length()
	}
	if n < 0 || size < 1 || n > len(data)/size {
		if c.Type().Kind() == parquet.Boolean {
			return errors.New("a boolean column has a dictionary")
		}
		return errors.New("a dictionary has fewer values than it says")
	}
	if c.Type().Kind() == parquet.ByteArray {
		return checkByteArrays(data, n)
	}
	return nil
}

// checkByteArrays checks that data holds n texts.
func checkByteArrays(data []byte, n int) error {
	for ; n > 0; n-- {
		if len(data) < 4 {
			return errShort
		}
		size := binary.LittleEndian.Uint32(data)
		if uint64(size) > uint64(len(data)-4) {
			return errShort
		}
		data = data[4+size:]
	}
	if len(data) > 0 {
		return errors.New("a page has more values than it says")
	}
	return nil
}

// checkRuns walks over runs of numbers of width bits (RLE, bit-packed), which
// should be n, filled up to whole groups of 8.
func checkRuns(data []byte, width, n int) error {
	const fill = 512 // some writers fill up to larger groups
	total := uint64(0)
	for len(data) > 0 && total < uint64(n)+fill {
		head, k := binary.Uvarint(data)
		if k <= 0 {
			return errors.New("the runs of a page are broken")
		}
		data = data[k:]
		count, size := head>>1, uint64(width+7)/8
		if head&1 == 1 {
			if count > uint64(len(data)) {
				if width > 0 || count > maxPageValues {
					return errShort
				}
			}
			size = count * uint64(width)
			count *= 8
		}
		if size > uint64(len(data)) {
			return errShort
		}
		data = data[size:]
		if total += count; count > maxPageValues || total > uint64(n)+fill {
			return errors.New("a page has more values than it says")
		}
	}
	return nil
}

// checkDelta checks the beginning of numbers in DELTA_BINARY_PACKED.
func checkDelta(data []byte, n int) error {
	const largest = 1 << 16
	if n == 0 && len(data) == 0 {
		return nil
	}
	var head [3]uint64 // size of a block, its parts, number of values
	for i := range head {
		v, k := binary.Uvarint(data)
		if k <= 0 {
			return errShort
		}
		head[i], data = v, data[k:]
	}
	if head[0] == 0 || head[0] > largest || head[1] == 0 || head[1] > head[0] || head[2] != uint64(n) {
		return errors.New("the values of a page are broken")
	}
	return nil
}
