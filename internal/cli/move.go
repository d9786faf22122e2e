package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/server"
	"github.com/throng-dev/throng/internal/store"
)

// Move is "throng move".
type Move struct {
	From string `required:"" placeholder:"DB" help:"Where everything is: sqlite:FOLDER, the data folder of a server that is stopped, or postgres://user@host/name." env:"THRONG_MOVE_FROM" secret:""`
	To   string `required:"" placeholder:"DB" help:"A database of one of these kinds, in which there is nothing yet." env:"THRONG_MOVE_TO" secret:""`
	Output
}

// movedTo is what move prints.
type movedTo struct {
	From     string           `json:"from"`
	To       string           `json:"to"`
	Rows     int64            `json:"rows"`
	Tables   map[string]int64 `json:"tables"`
	Problems []string         `json:"problems"` // what the copy's own checks found, as they would have found it before
}

// Run moves.
func (x *Move) Run(c *Context) error {
	from, err := server.ParsePlace("from", x.From)
	if err != nil {
		return err
	}
	to, err := server.ParsePlace("to", x.To)
	if err != nil {
		return err
	}
	ctx, stop := c.untilSignal()
	defer stop()
	d := &diagnosis{Problems: []string{}}
	tables, err := from.Move(ctx, to, func(rows int64) { say(c.Stderr, "%s\n", format.Count(int(rows), "row")) }, func(st store.Store) error {
		checkBooks(ctx, st, d)
		return nil
	})
	if tables == nil {
		return fmt.Errorf("nothing was moved: %w", err)
	}
	if err != nil {
		return err
	}
	m := movedTo{From: from.String(), To: to.String(), Tables: tables, Problems: d.Problems}
	for _, n := range tables {
		m.Rows += n
	}
	return x.print(c, m, func(w io.Writer) {
		var rows [][]string
		for _, name := range slices.Sorted(maps.Keys(tables)) {
			if tables[name] > 0 {
				rows = append(rows, cells("    "+name, tables[name]))
			}
		}
		columns(w, rows)
		say(w, "%s of %s are in %s, each read again and compared\n", format.Count(int(m.Rows), "row"), clean(m.From), clean(m.To))
		for _, p := range m.Problems {
			say(w, "BAD %s\n", clean(p))
		}
		say(w, "%s is as it was: start no server on it any more\n", clean(m.From))
	})
}
