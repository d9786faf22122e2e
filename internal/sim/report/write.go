package report

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/sim"
)

// mark is how a folder is known to be a report: in the first line of its page.
const mark = `<meta name="generator" content="throng sim run">`

// ours are the names of a report's files.
var ours = regexp.MustCompile(`^(report\.html|report\.json|summary\.csv|runs\.csv|batches\.csv|alpha\.csv|series\.csv|actions\.csv|charts(/[a-z]+\.(svg|png))?)$`)

// CheckDir says whether a report may be written to a folder: one that does not
// exist, is empty, or holds a report and nothing else, which would be replaced.
func CheckDir(dir string) error {
	list, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return canMake(dir)
	case err != nil:
		if info, other := os.Stat(dir); other == nil && !info.IsDir() {
			return crowd.Fieldf("out", "%s is a file, not a folder", dir)
		}
		if cannot := canMake(dir); cannot != nil {
			return cannot
		}
		return crowd.Fieldf("out", "%s cannot be read: %s", dir, cause(err))
	case len(list) == 0:
		return canMake(dir)
	}
	page, err := os.Open(filepath.Join(dir, "report.html"))
	if errors.Is(err, fs.ErrNotExist) {
		return crowd.Fieldf("out", "%s is not empty and is no report: name a new folder", dir)
	}
	if err != nil {
		return err
	}
	defer func() { _ = page.Close() }() // only read
	begin := make([]byte, 512)
	n, err := io.ReadFull(page, begin)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && err != io.EOF {
		return err
	}
	if !bytes.Contains(begin[:n], []byte(mark)) && !bytes.Contains(begin[:n], []byte(poolsMark)) {
		return crowd.Fieldf("out", "%s is not empty, and its report.html is none of ours: name a new folder", dir)
	}
	if err := canMake(dir); err != nil {
		return err
	}
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if !ours.MatchString(filepath.ToSlash(name)) {
			return crowd.Fieldf("out", "%s holds %s beside a report; it would be lost: move it, or name a new folder", dir, name)
		}
		return nil
	})
}

// canMake says whether a folder can be made beside another, before hours are
// spent on what should go there.
func canMake(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if to, err := filepath.EvalSymlinks(dir); err == nil {
		dir = to
	}
	return canWrite(filepath.Dir(dir), filepath.Base(dir))
}

// CheckFill says whether files can be written into a folder that is there, or
// that can be made, before anything is spent on what should go there. What is in
// it does not matter.
func CheckFill(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	return canWrite(dir, filepath.Base(dir))
}

// canWrite says whether something can be made in a folder, or in the nearest one
// above it that is there. name is of what is to be made.
func canWrite(parent, name string) error {
	for ; ; parent = filepath.Dir(parent) {
		info, err := os.Stat(parent)
		switch {
		case (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)) && parent != filepath.Dir(parent):
			continue // it will be made, or what is above it is the thing to tell
		case err == nil && !info.IsDir():
			return crowd.Fieldf("out", "%s is a file, not a folder", parent)
		case err != nil:
			return crowd.Fieldf("out", "%v", err)
		}
		try, err := os.MkdirTemp(parent, "."+name+".")
		if err != nil {
			return crowd.Fieldf("out", "nothing can be written into %s: %s", parent, cause(err))
		}
		return os.Remove(try)
	}
}

// cause is the last part of a file's error: the name is said already.
func cause(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

// Write writes the report into a folder, whole or not at all: it is made beside
// the folder and put in its place at the end. If ctx ends while the pictures are
// drawn, which is nearly all of the time, it returns its error and nothing is
// left.
func (r *Report) Write(ctx context.Context, dir string) error {
	return r.write(ctx, dir, picture.figure)
}

// write writes it with pictures that are drawn by draw.
func (r *Report) write(ctx context.Context, dir string, draw func(picture) (figure, error)) error {
	return place(dir, func(made string) error { return r.fill(ctx, made, draw) })
}

// place lets a folder be filled, and puts it in its place when it is complete.
func place(dir string, fill func(made string) error) (err error) {
	if err := CheckDir(dir); err != nil {
		return err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	if to, err := filepath.EvalSymlinks(dir); err == nil {
		dir = to
	}
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	made, err := os.MkdirTemp(parent, "."+filepath.Base(dir)+".")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(made) // the first error is the one to tell
		}
	}()
	if err := fill(made); err != nil {
		return err
	}
	if err := replace(dir, made); err != nil {
		return err
	}
	sweepUp(dir, time.Now().Add(-stale))
	return nil
}

// stale is the age at which what lies beside a report is taken for the rest of
// a write that was killed: none takes so long.
const stale = time.Hour

// sweepUp removes what killed writes of the same report have left beside it:
// folders of the names that write gives, with nothing in them but files of a
// report, all older than a moment. What cannot be removed is left; the report
// is written, and that is what was asked for.
func sweepUp(dir string, before time.Time) {
	parent, prefix := filepath.Dir(dir), "."+filepath.Base(dir)+"."
	list, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, entry := range list {
		rest, ok := strings.CutPrefix(entry.Name(), prefix)
		number := strings.TrimSuffix(rest, ".old")
		if !ok || number == "" || strings.Trim(number, "0123456789") != "" || !entry.IsDir() {
			continue
		}
		path := filepath.Join(parent, entry.Name())
		if onlyOurs(path, before) {
			_ = os.RemoveAll(path)
		}
	}
}

// onlyOurs says whether a folder holds nothing but files of a report, all of
// them older than a moment.
func onlyOurs(dir string, before time.Time) bool {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err == nil && (info.ModTime().After(before) || name != "." && !ours.MatchString(filepath.ToSlash(name))) {
			err = errNotOurs
		}
		return err
	}) == nil
}

var errNotOurs = errors.New("not ours, or in use")

// replace puts one folder in the place of another.
func replace(dir, by string) error {
	if err := os.Chmod(by, 0o755); err != nil {
		return err
	}
	old := by + ".old"
	switch err := os.Rename(dir, old); {
	case errors.Is(err, fs.ErrNotExist):
		return os.Rename(by, dir)
	case err != nil:
		return err
	}
	if err := os.Rename(by, dir); err != nil {
		return errors.Join(err, os.Rename(old, dir))
	}
	return os.RemoveAll(old)
}

// fill writes the files.
func (r *Report) fill(ctx context.Context, dir string, draw func(picture) (figure, error)) error {
	figures, err := drawInto(ctx, dir, r.pictures(), draw)
	if err != nil {
		return err
	}
	files := map[string]func(io.Writer) error{
		"report.html": func(w io.Writer) error { return r.page(w, figures) },
		"report.json": func(w io.Writer) error {
			e := json.NewEncoder(w)
			e.SetEscapeHTML(false)
			e.SetIndent("", "  ")
			return e.Encode(r)
		},
		"summary.csv": r.summary,
		"runs.csv":    r.perRun,
		"batches.csv": r.batches,
	}
	if r.Alphas != nil {
		files["alpha.csv"] = r.strictness
	}
	return saveAll(dir, files)
}

// drawInto draws pictures into the folder charts of another.
func drawInto(ctx context.Context, dir string, pictures []picture, draw func(picture) (figure, error)) ([]figure, error) {
	if err := os.Mkdir(filepath.Join(dir, "charts"), 0o755); err != nil {
		return nil, err
	}
	figures, err := sim.Sweep(ctx, len(pictures), func(i int) (figure, error) { return draw(pictures[i]) }, nil)
	if err != nil {
		return nil, fmt.Errorf("draw: %w", err)
	}
	for _, f := range figures {
		if err := os.WriteFile(filepath.Join(dir, "charts", f.name+".svg"), f.alone, 0o644); err != nil {
			return nil, err
		}
	}
	return figures, nil
}

func saveAll(dir string, files map[string]func(io.Writer) error) error {
	for name, write := range files {
		if err := save(filepath.Join(dir, name), write); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}

func save(name string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	return os.WriteFile(name, b.Bytes(), 0o644)
}

// figure is a picture, drawn.
type figure struct {
	picture
	inline []byte // SVG without its title
	alone  []byte // SVG
}

func (p picture) figure() (figure, error) {
	f := figure{picture: p}
	var err error
	if f.inline, err = p.bare().SVG(); err != nil {
		return f, err
	}
	f.alone, err = p.titled().SVG()
	return f, err
}

// element is the SVG element without what may stand before it in a file.
func (f *figure) element() string {
	text := string(f.inline)
	if i := strings.Index(text, "<svg"); i > 0 {
		text = text[i:]
	}
	return text
}
