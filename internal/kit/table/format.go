package table

import (
	"path"
	"strings"

	"github.com/throng-dev/throng/crowd"
)

// Format is the form of a table in a file.
type Format string

// The formats. Auto asks a Reader to look at the beginning of the file; a
// Writer takes it as CSV.
const (
	Auto  Format = ""
	CSV   Format = "csv"   // RFC 4180 with a header row; a Reader takes other delimiters, too
	TSV   Format = "tsv"   // the same with a tab in place of the comma, quotes included
	JSONL Format = "jsonl" // one JSON object a line

	// Parquet is read by OpenFile: it is a file, not a stream.
	Parquet Format = "parquet"
)

// ParseFormat reads a format's name as a user gives it, "" being Auto.
func ParseFormat(name string) (Format, error) {
	switch f := Format(strings.ToLower(name)); f {
	case Auto, CSV, TSV, JSONL, Parquet:
		return f, nil
	case "auto":
		return Auto, nil
	case "ndjson":
		return JSONL, nil
	}
	return Auto, crowd.Fieldf("format", "%q is not a format: use csv, tsv, jsonl or parquet", name)
}

// FormatOf tells the format from a file's name, or Auto when the name does not
// say (".txt", ".json", none).
func FormatOf(filename string) Format {
	switch strings.ToLower(path.Ext(filename)) {
	case ".csv":
		return CSV
	case ".tsv", ".tab":
		return TSV
	case ".jsonl", ".ndjson":
		return JSONL
	case ".parquet":
		return Parquet
	}
	return Auto
}

// FormatToWrite tells the format of a file to be written from its name. A name
// that says another kind of file is an error: what opens it would not find that.
func FormatToWrite(filename string) (Format, error) {
	switch ext := strings.ToLower(path.Ext(filename)); ext {
	case ".xlsx", ".xls", ".ods", ".numbers", ".json", ".gz", ".zip", ".arrow", ".feather", ".avro":
		return Auto, crowd.Errorf(crowd.Invalid, "%s: no file of the kind %s is written: name it .csv (which spreadsheets open), .tsv, .jsonl or .parquet", filename, ext)
	}
	return FormatOf(filename), nil
}

// Extension returns the file name extension of the format, with its dot.
func (f Format) Extension() string {
	if f == Auto {
		return ".csv"
	}
	return "." + string(f)
}

// ContentType returns the media type of the format.
func (f Format) ContentType() string {
	switch f {
	case TSV:
		return "text/tab-separated-values; charset=utf-8"
	case JSONL:
		return "application/jsonl; charset=utf-8"
	case Parquet:
		return "application/vnd.apache.parquet"
	default:
		return "text/csv; charset=utf-8"
	}
}

// FormatOfType tells the format from a media type, or Auto where that does not
// say: programs send all kinds of files as text/csv.
func FormatOfType(mediaType string) Format {
	kind, _, _ := strings.Cut(mediaType, ";")
	switch strings.ToLower(strings.TrimSpace(kind)) {
	case "text/tab-separated-values":
		return TSV
	case "application/jsonl", "application/x-ndjson", "application/x-jsonlines":
		return JSONL
	}
	return Auto
}

// sniff tells the format from the first bytes of a file (after a byte order
// mark): an opening brace or bracket is JSON; everything else is CSV, of which the
// delimiter is to be found out.
func sniff(head []byte) Format {
	text := strings.TrimLeft(string(head), " \t\r\n")
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[{") || strings.HasPrefix(text, "[\n") {
		return JSONL
	}
	return CSV
}

// foreign recognises files that are not UTF-8 text at all by their first
// bytes, and says what they are and what would be right.
func foreign(head string) string {
	switch {
	case strings.HasPrefix(head, "PK\x03\x04"):
		return "this is an Excel workbook or a ZIP archive: save the sheet as CSV (UTF-8)"
	case strings.HasPrefix(head, "\xd0\xcf\x11\xe0"):
		return "this is an old Excel workbook: save the sheet as CSV (UTF-8)"
	case strings.HasPrefix(head, "\x1f\x8b"):
		return "this is a gzip archive: unpack it first"
	case strings.HasPrefix(head, parquetMagic):
		return "this is a Parquet file: CSV, TSV or JSON Lines is wanted here"
	case strings.HasPrefix(head, "\xff\xfe"), strings.HasPrefix(head, "\xfe\xff"):
		return "this is UTF-16 text: save the file as UTF-8"
	}
	return ""
}
