package cli

import "github.com/throng-dev/throng/internal/kit/table"

// Twice says what becomes of rows of a file that are the same.
type Twice struct {
	Duplicates string `enum:"keep,drop,refuse," default:"" placeholder:"WHAT" help:"Of rows that are the same: keep all of them (the default), drop all but the first, or refuse them as wrong."`
	Key        string `placeholder:"COLUMN" help:"The column that tells which rows are the same; default: all of its columns."`
}

func (x *Twice) rule() table.Duplicates {
	return table.Duplicates{Do: table.OnDuplicate(x.Duplicates), Key: x.Key}
}
