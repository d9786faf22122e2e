package table

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
)

// OnDuplicate is what becomes of a row that was there before.
type OnDuplicate string

// What becomes of a row that was there before.
const (
	Keep   OnDuplicate = "keep"   // it is a row like any other
	Drop   OnDuplicate = "drop"   // the first one stays
	Refuse OnDuplicate = "refuse" // it is a bad row
)

// MaxCompared is how many rows are compared with each other at most: a digest of each is
// in memory.
const MaxCompared = 1_000_000

// Duplicates says which rows are the same, and what becomes of them. The zero value keeps
// every row.
type Duplicates struct {
	Do  OnDuplicate // "": Keep
	Key string      // the column whose cells tell rows apart; "": all columns do
}

// Check says what is wrong with d.
func (d Duplicates) Check() error {
	switch d.Do {
	case Drop, Refuse:
		return nil
	case "", Keep:
		if d.Key != "" {
			return crowd.Fieldf("key", "tells which rows are the same: say what becomes of them, too (duplicates: drop or refuse)")
		}
		return nil
	}
	return crowd.Fieldf("duplicates", "%q is nothing that becomes of rows that are there twice: use keep, drop or refuse", d.Do)
}

// Kept reports whether every row is kept.
func (d Duplicates) Kept() bool { return d.Do != Drop && d.Do != Refuse }

// Duplicate is the cause of the error about a row that was there before.
type Duplicate struct {
	Of  int64  // where it was: a line or, of a log or a Parquet file, the number of a row
	In  string // a log in which that is; "": the same file
	Key string // the column that tells rows apart, or ""
}

// Error implements error.
func (d *Duplicate) Error() string {
	where := fmt.Sprintf("line %d", d.Of)
	if d.In != "" {
		where = fmt.Sprintf("row %d of %s", d.Of, d.In)
	}
	if d.Key != "" {
		return "is what " + where + " has, too"
	}
	return "the row is the same as " + where
}

// At is the error about a duplicate on a line.
func (d *Duplicate) At(line int) *crowd.Error {
	return &crowd.Error{Code: crowd.Invalid, Field: d.Key, Row: line, Message: d.Error(), Cause: d}
}

// Compared is the rows that have been seen, by digests of what tells them apart.
type Compared struct {
	key  string
	cell int // -1: the whole row
	rows map[[16]byte]int64
}

// Compare returns what compares rows with these columns.
func (d Duplicates) Compare(columns []string) (*Compared, error) {
	c := &Compared{key: d.Key, cell: -1, rows: make(map[[16]byte]int64)}
	if d.Key != "" {
		if c.cell = slices.Index(columns, d.Key); c.cell < 0 {
			return nil, crowd.Fieldf("key", "there is no column %q; there are: %s", d.Key, strings.Join(columns, ", "))
		}
	}
	return c, nil
}

// Before returns the duplicate that a row is, or nil, if it was not seen yet.
func (c *Compared) Before(cells []string) *Duplicate {
	if first, seen := c.rows[c.digest(cells)]; seen {
		return &Duplicate{Of: first, Key: c.key}
	}
	return nil
}

// Add keeps that a row was seen, and where.
func (c *Compared) Add(cells []string, at int64) error {
	if len(c.rows) == MaxCompared {
		return crowd.Errorf(crowd.TooLarge, "at most %s can be compared with each other: keep those that are there twice, or send fewer", format.Count(MaxCompared, "row"))
	}
	c.rows[c.digest(cells)] = at
	return nil
}

func (c *Compared) digest(cells []string) (d [16]byte) {
	if c.cell >= 0 {
		cells = cells[c.cell : c.cell+1]
	}
	var text []byte
	for _, cell := range cells {
		text = binary.AppendUvarint(text, uint64(len(cell)))
		text = append(text, cell...)
	}
	sum := sha256.Sum256(text)
	copy(d[:], sum[:])
	return d
}

// Distinct is a table of which rows that were there before are dropped, or are bad rows.
type Distinct struct {
	Rows
	Dropped int64 // so far

	do       OnDuplicate
	compared *Compared // nil: all are kept
}

// Of returns rows as d has them.
func (d Duplicates) Of(rows Rows) (*Distinct, error) {
	out := &Distinct{Rows: rows, do: d.Do}
	err := d.Check()
	if err == nil && !d.Kept() {
		out.compared, err = d.Compare(rows.Columns())
	}
	return out, err
}

// Read returns the next row that is not dropped. A row that is refused is an error with
// its line, and the cause *Duplicate.
func (d *Distinct) Read() (row []string, line int, err error) {
	for {
		row, line, err = d.Rows.Read()
		if err != nil || d.compared == nil {
			return row, line, err
		}
		twice := d.compared.Before(row)
		switch {
		case twice == nil:
			return row, line, d.compared.Add(row, int64(line))
		case d.do == Refuse:
			return nil, line, twice.At(line)
		}
		d.Dropped++
	}
}

// Opening has what open opens without rows that were there before, as d says. The table
// is a *Distinct then.
func (d Duplicates) Opening(open Open) Open {
	return func() (Rows, func(), error) {
		rows, closed, err := open()
		if err != nil {
			return nil, nil, err
		}
		distinct, err := d.Of(rows)
		if err != nil {
			closed()
			return nil, nil, err
		}
		return distinct, closed, nil
	}
}
