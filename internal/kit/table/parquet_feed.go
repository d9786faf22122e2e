package table

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"

	"github.com/throng-dev/throng/crowd"
)

const (
	// maxPage is how many bytes a page may have, packed or unpacked.
	maxPage = 64 << 20
	// maxPageValues is how many values it may have.
	maxPageValues = 16 << 20
	// maxHeld is how many bytes the pages of a row group that are in memory at
	// a time may have, about.
	maxHeld = 256 << 20
	// maxPageHeader is how long the header of a page may be: it can hold the least
	// and the largest value.
	maxPageHeader = 4 << 20
	// usualPageHeader is how long nearly all are.
	usualPageHeader = 64 << 10

	feedBase = 4
	feedSize = 1 << 40
)

// feeder gives the library the pages of one column of one row group, unpacked
// and checked. A file says itself how much memory its pages take, in sizes,
// counts and lengths of runs, and the library trusts it: so each is checked
// first.
type feeder struct {
	t      *parquetReader
	column *parquet.Column
	codec  format.CompressionCodec
	src    *io.SectionReader
	at     int64 // of the next page in src
	values int64 // that have not been fed
	out    []byte
	pos    int64 // of out, as the library sees it
	dict   int64 // bytes held by the dictionary
	page   int64 // and by the page
	err    error // what is wrong with the file
}

func newFeeder(t *parquetReader, column *parquet.Column, m *format.ColumnMetaData, codec format.CompressionCodec) *feeder {
	f := &feeder{t: t, column: column, codec: codec, values: m.NumValues, pos: feedBase}
	begin := m.DataPageOffset
	if d := m.DictionaryPageOffset; d > 0 && d < begin {
		begin = d
	}
	if begin < int64(len(parquetMagic)) || m.TotalCompressedSize < 0 || m.TotalCompressedSize > t.size-begin || m.NumValues < 0 {
		f.fail("the column is not within the file")
	}
	f.src = io.NewSectionReader(t.file, begin, max(m.TotalCompressedSize, 0))
	return f
}

// held is how many bytes its pages have in memory; 0 of nil.
func (f *feeder) held() int64 {
	if f == nil {
		return 0
	}
	return f.dict + f.page
}

func (f *feeder) fail(what string, args ...any) {
	if f.err == nil {
		f.err = broken(f.column.Path()[0], what, args...)
	}
}

// ReadAt serves the library, which reads from the beginning to the end.
func (f *feeder) ReadAt(p []byte, off int64) (int, error) {
	if off != f.pos {
		f.fail("a dictionary is missing")
	}
	for len(f.out) == 0 && f.err == nil {
		if f.values <= 0 {
			return 0, io.EOF
		}
		if err := f.next(); err != nil {
			var e *crowd.Error
			if errors.As(err, &e) {
				f.err = err
			} else {
				f.fail("%v", err)
			}
		}
	}
	if f.err != nil {
		return 0, f.err
	}
	n := copy(p, f.out)
	f.out, f.pos = f.out[n:], f.pos+int64(n)
	return n, nil
}

// next puts the next page into out.
func (f *feeder) next() error {
	h, err := f.header(usualPageHeader)
	if err != nil {
		h, err = f.header(maxPageHeader)
	}
	if err != nil {
		return err
	}
	packed, size := int64(h.CompressedPageSize), int64(h.UncompressedPageSize)
	switch {
	case packed < 0 || size < 0 || packed > f.src.Size()-f.at:
		return errors.New("a page is not within its column")
	case packed > maxPage || size > maxPage:
		return tooMuch(f.column, "a page has %d bytes, at most %s are allowed", max(packed, size), bytesText(maxPage))
	}
	data := make([]byte, packed)
	if _, err := f.src.ReadAt(data, f.at); err != nil && !errors.Is(err, io.EOF) {
		return crowd.Errorf(crowd.Internal, "read table: %v", err)
	}
	f.at += packed
	if h.CRC != 0 && crc32.ChecksumIEEE(data) != uint32(h.CRC) {
		return errors.New("the checksum of a page is wrong")
	}
	if h.Type == format.IndexPage {
		return nil
	}
	return f.feed(h, data)
}

// header reads the header of the next page, of at most so many bytes.
func (f *feeder) header(most int64) (*format.PageHeader, error) {
	head := make([]byte, min(most, f.src.Size()-f.at))
	if len(head) == 0 {
		return nil, errors.New("pages are missing")
	}
	if _, err := f.src.ReadAt(head, f.at); err != nil && !errors.Is(err, io.EOF) {
		return nil, crowd.Errorf(crowd.Internal, "read table: %v", err)
	}
	h := new(format.PageHeader)
	n, err := decodeThrift(head, h)
	if err != nil {
		return nil, fmt.Errorf("the header of a page: %s", clip(err.Error()))
	}
	f.at += int64(n)
	return h, nil
}

func tooMuch(c *parquet.Column, what string, args ...any) error {
	e := crowd.Errorf(crowd.TooLarge, what, args...)
	e.Field = clip(c.Path()[0])
	return e
}

// feed checks a page, unpacks it, and writes it to out with a header that
// says so.
func (f *feeder) feed(h *format.PageHeader, data []byte) error {
	var plain []byte
	var err error
	var values int
	size := int(h.UncompressedPageSize)
	switch {
	case h.Type == format.DictionaryPage && h.DictionaryPageHeader.Valid:
		values = int(h.DictionaryPageHeader.V.NumValues)
		if plain, err = unpack(f.codec, data, size); err == nil {
			err = checkPlain(f.column, plain, values)
		}
	case h.Type == format.DataPage && h.DataPageHeader.Valid:
		v := &h.DataPageHeader.V
		v.Statistics = format.Statistics{}
		values = int(v.NumValues)
		if plain, err = unpack(f.codec, data, size); err == nil {
			err = checkV1(f.column, plain, v)
		}
	case h.Type == format.DataPageV2 && h.DataPageHeaderV2.Valid:
		v := &h.DataPageHeaderV2.V
		v.Statistics = format.Statistics{}
		values = int(v.NumValues)
		plain, err = f.unpackV2(data, size, v)
		v.IsCompressed = thrift.New(false)
	default:
		return errors.New("a page is of no known type")
	}
	switch {
	case err != nil:
		return err
	case values < 0 || (h.Type != format.DictionaryPage && int64(values) > f.values):
		return errors.New("a page has more values than its column")
	case values > maxPageValues:
		return tooMuch(f.column, "a page has %d values, %d are allowed", values, maxPageValues)
	}
	const perValue = 16 // levels, offsets, indexes
	need := int64(len(data)+2*len(plain)) + perValue*int64(values)
	f.t.held -= f.held()
	if h.Type == format.DictionaryPage {
		f.dict = need
	} else {
		f.page = need
		f.values -= int64(values)
	}
	if f.t.held += f.held(); f.t.held > maxHeld {
		return tooMuch(f.column, "the pages of the columns have more than %d MiB at a time: write smaller pages", maxHeld>>20)
	}
	h.CRC, h.CompressedPageSize, h.UncompressedPageSize = 0, int32(len(plain)), int32(len(plain))
	head, err := thrift.Marshal(new(thrift.CompactProtocol), h)
	if err != nil {
		return err
	}
	f.out = append(head, plain...)
	return nil
}

// unpackV2 unpacks a page of version 2, whose levels are never packed.
func (f *feeder) unpackV2(data []byte, size int, v *format.DataPageHeaderV2) ([]byte, error) {
	levels := int64(v.RepetitionLevelsByteLength) + int64(v.DefinitionLevelsByteLength)
	if v.RepetitionLevelsByteLength < 0 || v.DefinitionLevelsByteLength < 0 || levels > int64(len(data)) || levels > int64(size) || v.NumNulls < 0 || v.NumNulls > v.NumValues {
		return nil, errors.New("the levels of a page are not within it")
	}
	body := data[levels:]
	if !v.IsCompressed.Valid || v.IsCompressed.V {
		var err error
		if body, err = unpack(f.codec, body, size-int(levels)); err != nil {
			return nil, err
		}
	}
	plain := append(bytes.Clone(data[:levels]), body...)
	return plain, checkV2(f.column, plain, v)
}

// unpack unpacks data, which must give size bytes.
func unpack(codec format.CompressionCodec, data []byte, size int) ([]byte, error) {
	var out []byte
	var err error
	switch codec {
	case format.Uncompressed:
		out = data
	case format.Gzip:
		out, err = gunzip(data, size)
	case format.Snappy, format.Zstd, format.Lz4Raw:
		if size == 0 && len(data) == 0 {
			return data, nil
		}
		out, err = unpackBlock(codec, data, size)
	default:
		return nil, crowd.Errorf(crowd.Invalid, "the Parquet file is packed with %s, which is not read: write it with SNAPPY, ZSTD, GZIP, LZ4_RAW or none", codec)
	}
	if err != nil {
		return nil, fmt.Errorf("a page cannot be unpacked: %s", clip(err.Error()))
	}
	if len(out) != size {
		return nil, fmt.Errorf("a page unpacks to %d bytes, not to %d", len(out), size)
	}
	return out, nil
}

func gunzip(data []byte, size int) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(z, int64(size)+1))
}

// zstdDecoder unpacks into the memory that it is given, and no further. Windows of
// 256 MiB and more are refused.
var zstdDecoder, errZstd = zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxWindow(256<<20-1))

// unpackBlock unpacks data into at most size bytes.
func unpackBlock(codec format.CompressionCodec, data []byte, size int) ([]byte, error) {
	switch codec {
	case format.Zstd:
		if errZstd != nil {
			return nil, errZstd
		}
		return zstdDecoder.DecodeAll(data, make([]byte, 0, size))
	case format.Lz4Raw:
		out := make([]byte, size)
		n, err := lz4.UncompressBlock(data, out)
		return out[:max(n, 0)], err
	}
	if n, k := binary.Uvarint(data); k <= 0 || n != uint64(size) {
		return nil, errors.New("its packed data is broken")
	}
	return parquet.LookupCompressionCodec(codec).Decode(make([]byte, 0, size), data)
}
