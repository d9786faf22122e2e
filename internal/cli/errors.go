package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
	"github.com/throng-dev/throng/internal/wire"
)

// Exit codes.
const (
	exitFailed = 1
	exitInput  = 2
)

// failed is the code of what crowd has no code for: a check found something.
const failed crowd.Code = "failed"

// inFile says which file the lines of an error belong to.
type inFile struct {
	name string
	err  error
}

func (e *inFile) Error() string { return e.name + ": " + e.err.Error() }
func (e *inFile) Unwrap() error { return e.err }

// ofFile says which file an error is about; nil stays nil.
func ofFile(name string, err error) error {
	if err == nil {
		return nil
	}
	return &inFile{name, err}
}

// noted is an error with what else the user should know, such as what has become
// of their draft.
type noted struct {
	err  error
	note string
}

func (e *noted) Error() string { return fmt.Sprintf("%s (%s)", message(e.err), e.note) }
func (e *noted) Unwrap() error { return e.err }

// withNote is a text in place of an error's own, with the error's note.
func withNote(err error, text string) string {
	if also := (*noted)(nil); errors.As(err, &also) {
		return text + " (" + also.note + ")"
	}
	return text
}

// badUsage is a command line that cannot be understood.
type badUsage struct {
	err  error
	help string // the command whose help would help
}

func (e *badUsage) Error() string { return e.err.Error() }
func (e *badUsage) Unwrap() error { return e.err }

func usage(err error, args []string) error {
	bad := &badUsage{err: err, help: "throng"}
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context != nil {
		if selected := parse.Context.Selected(); selected != nil {
			bad.help = selected.FullPath()
			bad.err = cmp.Or(belowZero(selected, args, err), withSign(err), err)
		}
	}
	return bad
}

// negative is how a number below 0 begins. No flag does.
var negative = regexp.MustCompile(`^-\.?[0-9]`)

// belowZero is the error of such a number in the place of an amount or another number, which
// kong takes for a flag; nil if err is another.
func belowZero(command *kong.Node, args []string, err error) error {
	at := slices.IndexFunc(args, negative.MatchString)
	next := slices.IndexFunc(command.Positional, func(p *kong.Value) bool { return !p.Active })
	if at < 0 || next < 0 || !strings.HasPrefix(err.Error(), "unknown flag "+args[at][:2]) {
		return nil
	}
	switch p := command.Positional[next]; p.Target.Interface().(type) {
	case amount, int64, uint32:
		return wrong(p.Name, "must be more than 0, not %s", args[at])
	}
	return nil
}

// signed is kong's error of a flag whose value begins with a sign and a digit: the name, and
// the value.
var signed = regexp.MustCompile(`^--(\S+): expected .* but got "(-\.?[0-9][^"]*)" \(`)

// withSign is the error of such a value, which kong takes for a flag; nil if err is another.
func withSign(err error) error {
	m := signed.FindStringSubmatch(err.Error())
	if m == nil {
		return nil
	}
	return fmt.Errorf("--%s: a value that begins with - is written with =, as in --%s=%s", m[1], m[1], m[2])
}

// told is an error that has been printed where it belongs.
type told struct{ err error }

func (e *told) Error() string { return e.err.Error() }
func (e *told) Unwrap() error { return e.err }

// tellAs prints what a check has found wrong as JSON on standard output.
func tellAs(c *Context, v any, err error) error {
	if err := writeJSON(c.Stdout, v); err != nil {
		return err
	}
	return &told{err}
}

// wrong is an error about a flag or an argument.
func wrong(field, format string, args ...any) error { return crowd.Fieldf(field, format, args...) }

func exitCode(err error) int {
	switch codeOf(err) {
	case crowd.Invalid, crowd.TooLarge, crowd.BudgetTooSmall:
		return exitInput
	}
	return exitFailed
}

func codeOf(err error) crowd.Code {
	var bad *badUsage
	if errors.As(err, &bad) {
		return crowd.Invalid
	}
	var path *os.PathError
	if code := crowd.CodeOf(err); code != crowd.Internal {
		return code
	} else if errors.As(err, &path) && (errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission)) {
		return crowd.Invalid
	}
	return failed
}

// problem is the JSON form of an error.
type problem struct {
	Code    crowd.Code     `json:"code"`
	Message string         `json:"message"`
	Errors  []problemEntry `json:"errors,omitempty"`
}

type problemEntry struct {
	Field   string `json:"field,omitempty"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
}

// tell prints an error for people or, as JSON, for programs.
func tell(w io.Writer, err error, asJSON bool) {
	var already *told
	if errors.As(err, &already) {
		return
	}
	if !asJSON {
		tellPeople(&sticky{w: w}, err)
		return
	}
	p := problem{Code: codeOf(err), Message: message(err)}
	for _, e := range entries(err) {
		p.Errors = append(p.Errors, problemEntry{Field: e.Field, Line: e.Row, Message: e.Message})
	}
	for _, e := range placed(err) {
		p.Errors = append(p.Errors, problemEntry{File: e.File, Line: e.Line, Column: e.Column, Message: e.Message})
	}
	_ = writeJSON(w, p)
}

func tellPeople(w io.Writer, err error) {
	if list := placed(err); len(list) > 0 {
		for _, e := range list {
			say(w, "%s\n", clean(e.Error()))
		}
		say(w, "throng: %s: %s\n", clean(list[0].File), format.Count(len(list), "error"))
		return
	}
	name, of := "", ""
	var file *inFile
	if errors.As(err, &file) {
		name, of = file.name, file.name+": "
	}
	rows, list := 0, entries(err)
	for _, e := range list {
		switch {
		case e.Row > 0 && name != "":
			if rows++; rows <= maxRowLines {
				say(w, "%s\n", rowLine(name, e))
			}
		case len(list) > 1:
			say(w, "throng: %s\n", clean(of+byFlag(e.Error())))
		}
	}
	moreRows(w, name, rows)
	switch {
	case rows > 0:
		say(w, "throng: %s: %s\n", name, withNote(err, format.Count(rows, "bad row")))
	case len(list) > 1 && withNote(err, "") != "":
		say(w, "throng:%s\n", withNote(err, ""))
	case len(list) <= 1:
		say(w, "throng: %s\n", clean(byFlag(message(err))))
	}
	var how *badUsage
	if errors.As(err, &how) {
		say(w, "see: %s --help\n", how.help)
	}
}

// placed are the mistakes in a scenario, a workflow or another file of YAML.
func placed(err error) (list yamlfile.Problems) {
	_ = errors.As(err, &list)
	return list
}

// byFlag names a field as the flag is called: people give no micro-units.
func byFlag(text string) string {
	return strings.Replace(strings.Replace(text, "_micros: ", ": ", 1), "_seconds: ", ": ", 1)
}

// rowLine is FILE:LINE: column: what is wrong, as compilers write it.
func rowLine(file string, e *crowd.Error) string {
	return clean(fmt.Sprintf("%s:%d: %s%s", file, e.Row, when(e.Field != "", e.Field+": "), e.Message))
}

// maxRowLines is how many bad rows of a file people are told one by one; --json has all.
const maxRowLines = 20

// moreRows says how many more bad rows there are than were told, if any.
func moreRows(w io.Writer, file string, n int) {
	if n > maxRowLines {
		say(w, "%s: and %d more\n", clean(file), n-maxRowLines)
	}
}

// tellRows tells of rows of a file that the server could not read.
func (c *Context) tellRows(file string, problems []wire.FieldNote) {
	defer moreRows(c.Stderr, file, len(problems))
	for _, p := range problems[:min(len(problems), maxRowLines)] {
		say(c.Stderr, "%s\n", rowLine(file, &crowd.Error{Field: p.Field, Row: p.Line, Message: p.Message}))
	}
}

// tellFile tells how a file was read, where that is not plain, and of its rows that were
// there before.
func (c *Context) tellFile(file, delimiter string, n int64) {
	if delimiter != "" && delimiter != table.Comma.String() {
		say(c.Stderr, "throng: %s: read with the delimiter %s\n", clean(file), delimiter)
	}
	if n > 0 {
		say(c.Stderr, "throng: %s: %s dropped, as they were there before\n", clean(file), format.Count(int(n), "row"))
	}
}

// message is the error in one line. The cause of an Unavailable is part of it:
// it is about the user's own network.
func message(err error) string {
	var known *crowd.Error
	if list := placed(err); len(list) > 0 {
		return andMore(list[0].Error(), len(list))
	}
	if list := entries(err); len(list) > 1 {
		return andMore(list[0].Error(), len(list))
	}
	if errors.As(err, &known) && known.Code == crowd.Unavailable && known.Cause != nil {
		if errors.Is(known.Cause, context.Canceled) {
			return "interrupted"
		}
		return fmt.Sprintf("%s: %v", known, known.Cause)
	}
	return err.Error()
}

// andMore is the first of some errors, and how many there are.
func andMore(first string, n int) string {
	if n == 1 {
		return first
	}
	return fmt.Sprintf("%s (and %d more)", first, n-1)
}

// entries are the single things that are wrong, where that is known.
func entries(err error) []*crowd.Error {
	list := crowd.ErrorsOf(err)
	if len(list) == 1 && list[0].Field == "" && list[0].Row == 0 {
		return nil
	}
	return list
}

// writeJSON writes a value with indentation.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
