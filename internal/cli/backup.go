package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/store/sqlite"
)

// dataFolder is a server's data folder.
type dataFolder struct {
	configFlag
	Data string `type:"path" default:"throng-data" env:"THRONG_DATA" help:"The data folder."`
}

func (x *dataFolder) database() string { return filepath.Join(x.Data, server.DatabaseFile) }

// Backup is "throng backup".
type Backup struct {
	File string `arg:"" type:"path" help:"The file to write; it must not be there."`
	dataFolder
	Output
}

// backedUp is what backup prints.
type backedUp struct {
	File     string   `json:"file"`
	Bytes    int64    `json:"bytes"`
	Problems []string `json:"problems"` // what the database has that was copied
}

// Run makes a backup.
func (x *Backup) Run(c *Context) error {
	if _, err := os.Stat(x.database()); err != nil {
		return wrong("data", "%s is not a data folder: there is no %s in it", x.Data, server.DatabaseFile)
	}
	ctx, stop := c.untilSignal()
	defer stop()
	size, err := sqlite.Backup(ctx, x.database(), x.File)
	if err != nil {
		return err
	}
	b := backedUp{File: x.File, Bytes: size, Problems: []string{}}
	checks, keys, err := checkCopy(ctx, x.File)
	if err != nil {
		return err
	}
	if err := sqlite.LogMissing(x.database()); err != nil {
		b.Problems = append(b.Problems, "log: "+message(err))
	}
	for _, k := range checks {
		b.Problems = append(b.Problems, k.Name+": "+k.Detail)
	}
	err = x.print(c, b, func(w io.Writer) {
		say(w, "%s of %s are in %s, checked\n", humanize.IBytes(uint64(size)), clean(x.database()), clean(x.File))
		if _, err := os.Stat(filepath.Join(x.Data, server.KeyFile)); err == nil {
			say(w, "its secrets need the keys in %s: keep a copy of that file, too, but elsewhere\n", clean(filepath.Join(x.Data, server.KeyFile)))
		} else if len(keys) > 0 {
			say(w, "its secrets need what the server is given with --key-file (%s): keep a copy of that, too, but elsewhere\n", strings.Join(keys, ", "))
		}
	})
	if err == nil && len(b.Problems) > 0 {
		err = crowd.Errorf(failed, "the backup is as the database is, and that is not in order: %s", b.Problems[0])
	}
	return err
}

// checkCopy returns what is wrong in a database that nobody has open, and the ids of the keys with
// which its secrets are sealed. One of an older version is brought up to date by a server, and
// checked only then.
func checkCopy(ctx context.Context, path string) (bad []check, keys []string, err error) {
	st, err := sqlite.OpenReadOnly(ctx, path)
	if errors.Is(err, store.ErrOldSchema) {
		return nil, nil, nil
	} else if err != nil {
		return nil, nil, err
	}
	counts, err := sealedWithIn(ctx, st)
	if err != nil {
		return nil, nil, errors.Join(err, st.Close())
	}
	delete(counts, "") // what lies in the clear
	d := &diagnosis{}
	checkBooks(ctx, st, d)
	for _, k := range d.Checks {
		if !k.OK {
			bad = append(bad, k)
		}
	}
	return bad, slices.Sorted(maps.Keys(counts)), st.Close()
}

// Restore is "throng restore".
type Restore struct {
	File string `arg:"" type:"path" help:"The backup."`
	dataFolder
	Replace bool `help:"If a database is there, keep it under another name and restore in its place."`
	Output
}

// Run restores a backup.
func (x *Restore) Run(c *Context) error {
	ctx, stop := c.untilSignal()
	defer stop()
	if err := os.MkdirAll(x.Data, 0o700); err != nil {
		return err
	}
	lacks := sqlite.LogMissing(x.File)
	kept, err := sqlite.Restore(ctx, x.File, x.database(), x.Replace)
	if err != nil {
		return fmt.Errorf("nothing was restored: %w", err)
	}
	if lacks != nil {
		say(c.Stderr, "throng: %s\n", clean(message(lacks)))
	}
	return x.print(c, struct {
		Database string `json:"database"`
		Kept     string `json:"kept,omitempty"`
	}{x.database(), kept}, func(w io.Writer) {
		say(w, "%s is in %s\n", clean(x.File), clean(x.database()))
		if kept != "" {
			say(w, "the database that was there is kept as %s\n", clean(kept))
		}
		if _, err := os.Stat(filepath.Join(x.Data, server.KeyFile)); err != nil {
			say(w, "there is no %s in %s: before the server starts, put it there, or give the keys to it (throng serve --key-file)\n", server.KeyFile, clean(x.Data))
		}
		say(w, "to check it: throng doctor --data %s\n", clean(x.Data))
	})
}
