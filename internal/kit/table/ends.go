package table

import (
	"bytes"
	"io"
	"iter"
)

// Ends gives where each row ends, the header included, of text to which more may be
// written: the rows are those that a Reader would find, good and bad ones. The text begins
// where a row does, or is a table from its beginning. opts names the format, and the
// delimiter of CSV, which is the comma otherwise.
//
// The last row is left out while what is written next could change it: its line has not
// ended, or is within quotes. If it is too long already, it ends with the text, so that a
// Reader can say so.
func Ends(text []byte, opts Options) iter.Seq[int] {
	return func(yield func(int) bool) {
		t := &Reader{buf: text, srcErr: io.EOF, opts: opts.withDefaults()}
		if t.opts.Format != JSONL {
			t.opts.delimit(nil, true)
		}
		if bytes.HasPrefix(text, []byte(byteOrderMark)) {
			t.off = len(byteOrderMark)
		}
		for {
			begin := t.off
			if t.nextLine() != nil {
				return
			}
			firstEnd := t.off
			switch {
			case t.contentEnd(firstEnd) == begin:
				continue
			case t.opts.Format != JSONL:
				_, wrong, _ := t.splitRecord(begin, t.line) // the source cannot fail
				if t.unclosed {
					return
				}
				if wrong != nil {
					t.off = firstEnd
				}
			case len(bytes.Trim(text[begin:firstEnd], jsonSpace)) == 0:
				continue
			}
			if text[t.off-1] != '\n' && t.off-begin <= t.opts.MaxRowBytes || !yield(t.off) {
				return
			}
		}
	}
}
