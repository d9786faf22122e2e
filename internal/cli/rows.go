package cli

import "github.com/throng-dev/throng/internal/kit/table"

// RowsOfFile says how the rows of a file are read, and what becomes of those that are the
// same.
type RowsOfFile struct {
	Delimiter  table.Delimiter `placeholder:"SIGN" help:"What stands between the cells of CSV: \",\", \";\", \"|\" or tab; default: found out."`
	Duplicates string          `enum:"keep,drop,refuse," default:"" placeholder:"WHAT" help:"Of rows that are the same: keep all of them (the default), drop all but the first, or refuse them as wrong."`
	Key        string          `placeholder:"COLUMN" help:"The column that tells which rows are the same; default: all of its columns."`
}

// given names the first of these flags that was given; "": none was.
func (x *RowsOfFile) given() string {
	switch {
	case x.Delimiter != 0:
		return "delimiter"
	case x.Duplicates != "":
		return "duplicates"
	case x.Key != "":
		return "key"
	}
	return ""
}

func (x *RowsOfFile) rule() table.Duplicates {
	return table.Duplicates{Do: table.OnDuplicate(x.Duplicates), Key: x.Key}
}
