package web

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/url"
	"slices"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/server/httpkit"
)

// inputField is what the files of a run's inputs are called in the form: this and
// the name of the input.
const inputField = "input."

// loadedFile is what became of a file.
type loadedFile struct {
	Input, Filename string
	orchestrator.LoadResult
}

// More is how many bad rows are not told one by one.
func (l *loadedFile) More() int64 { return l.Bad - int64(len(l.Some)) }

// loadRun reads the files of a run's inputs as they come, and starts the run if
// that was the button and no row was bad.
func (rq *request) loadRun(id crowd.RunID) error {
	httpkit.Receiving(rq.w, rq.r)
	defer drain(rq.r)
	files, start, err := rq.readInputs(id)
	if err == nil && len(files) == 0 && !start {
		err = errFileless
	}
	var wrong orchestrator.Problems
	if errors.As(err, &wrong) {
		rq.made = loading{Files: files, Wrong: wrong}
		return rq.run(id)
	}
	if f := refused("load", nil, err); f != nil {
		rq.form, rq.made = f, loading{Files: files}
		return rq.run(id)
	}
	read := readAs(lists.Sum(files, func(f loadedFile) int64 { return f.Dropped }), lists.Map(files, func(f loadedFile) table.Delimiter { return f.Delimiter })...)
	switch {
	case err != nil:
		return err
	case slices.ContainsFunc(files, func(f loadedFile) bool { return f.Bad > 0 }):
		rq.made = loading{Files: files}
		return rq.run(id)
	case start:
		return rq.startRun(id, false, read)
	}
	return rq.seeOther("/runs/"+id.String(), "loaded"+read)
}

// readInputs reads the form of the inputs. What was read before something went
// wrong is returned, too.
func (rq *request) readInputs(id crowd.RunID) (files []loadedFile, start bool, err error) {
	sent := &fields{values: make(url.Values)}
	err = rq.eachInput(sent, func(input, name string, file table.Open) error {
		loaded, err := rq.App.Runs.Load(rq.ctx(), rq.p, id, input, sent.duplicates().Opening(file))
		if err == nil {
			files = append(files, loadedFile{input, name, loaded})
		}
		return err
	})
	return files, sent.text("then") == "start" && err == nil, err
}

// addRows adds the rows of files to open inputs, each file whole or not at all. What is sent
// twice, as by a double click, is added once: the page has a name for what is sent from it.
func (rq *request) addRows(id crowd.RunID) error {
	httpkit.Receiving(rq.w, rq.r)
	defer drain(rq.r)
	files, twice, did := 0, int64(0), "rowsadded"
	var by []table.Delimiter
	sent := &fields{values: make(url.Values)}
	err := rq.eachInput(sent, func(input, name string, file table.Open) error {
		files++
		rows := orchestrator.NewRows{Input: input, File: file, Duplicates: sent.duplicates()}
		if feed := sent.text("feed"); feed != "" {
			rows.Feed = fmt.Sprintf("page-%s-%x", feed, sha256.Sum256([]byte(name)))
		}
		added, err := rq.App.Runs.AddRows(rq.ctx(), rq.p, id, rows)
		by = append(by, added.Delimiter)
		if twice += added.Dropped; added.Known > 0 {
			did = "rowsknown"
		}
		return err
	})
	if err == nil && files == 0 {
		err = errFileless
	}
	if f := refused("rows", nil, err); f != nil {
		rq.form = f
		return rq.run(id)
	}
	return rq.done(err, "/runs/"+id.String(), did+readAs(twice, by...))
}

// addPart adds a field of a form in parts that is no file.
func (f *fields) addPart(part *multipart.Part) error {
	text, err := io.ReadAll(io.LimitReader(part, maxPartText))
	if err != nil {
		return bodyError(err)
	}
	f.values.Add(part.FormName(), string(text))
	return nil
}

// maxPartText is how much of such a field is read: it is a name, or a choice.
const maxPartText = 1000

// eachInput reads a form: it calls file with each file that it has for an input, and adds
// every other field to sent.
func (rq *request) eachInput(sent *fields, file func(input, name string, open table.Open) error) error {
	parts, err := rq.r.MultipartReader()
	if err != nil {
		return &crowd.Error{Code: crowd.Invalid, Message: errNoForm.Message, Cause: err}
	}
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return bodyError(err)
		}
		input, is := strings.CutPrefix(part.FormName(), inputField)
		if !is || part.FileName() == "" {
			err = sent.addPart(part)
		} else if err = rq.readInput(sent, part, input, file); err != nil {
			err = inputError(input, err)
		}
		if err != nil {
			return err
		}
	}
}

// readInput calls file with the file of an input.
func (rq *request) readInput(sent *fields, part *multipart.Part, input string, file func(input, name string, open table.Open) error) error {
	how, err := sent.reading(part.FileName())
	if err != nil {
		return err
	}
	return file(input, part.FileName(), rq.Scratch.Table(partReader{part}, how))
}

// inputError says of which input's file an error is.
func inputError(input string, err error) error {
	var e *crowd.Error
	var wrong orchestrator.Problems // they name it themselves
	if !errors.As(err, &wrong) && errors.As(err, &e) && e.Field == "" {
		x := *e
		x.Field = input
		return &x
	}
	return err
}

// partReader tells what is wrong with a form while its file is read.
type partReader struct{ io.Reader }

func (x partReader) Read(p []byte) (int, error) {
	n, err := x.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = bodyError(err)
	}
	return n, err
}

// startRun begins a run; files that do not fit its workflow, and qualifications that nobody
// holds, are told on its page.
func (rq *request) startRun(id crowd.RunID, smallCrowd bool, read string) error {
	_, err := rq.App.Runs.Start(rq.ctx(), rq.p, id, smallCrowd)
	var wrong orchestrator.Problems
	if errors.As(err, &wrong) {
		rq.made = loading{Wrong: wrong}
		return rq.run(id)
	}
	var e *crowd.Error
	if errors.As(err, &e) && e.Field == orchestrator.FieldSmallCrowd {
		return rq.run(id)
	}
	return rq.done(err, "/runs/"+id.String(), "started"+read)
}
