package web

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/kit/table"
)

// Bad rows are told, the rest goes on; Parquet is read; what is no table is not.
func TestInputFiles(t *testing.T) {
	t.Parallel()
	c, _, flow := flowCompany(t, 0)
	path := c.req.sendRun("", flow, "make").want(200).URL.Path
	c.req.sendInputs(path, "start").want(http.StatusUnprocessableEntity, "no rows yet")
	c.req.sendInputs(path, "load").want(http.StatusUnprocessableEntity, "choose a file")
	c.req.sendInputs(path, "start", "cats", "cats.csv", petFile).want(http.StatusUnprocessableEntity, "no input")
	c.req.sendInputs(path, "start", "pets", "pets.csv", "").want(http.StatusUnprocessableEntity)
	c.req.sendInputs(path, "start", "pets", "pets.parquet", petFile).want(http.StatusUnprocessableEntity, "not a Parquet file")
	c.req.sendInputs(path, "start", "pets", "pets.xlsx", "PK\x03\x04 and so on").want(http.StatusUnprocessableEntity, "Excel")
	p := c.req.sendInputs(path, "start", "pets", "pets.csv", "name\nRex\nTom,cat,9\n<b>Uno</b>\n").want(200, "3 rows read from pets.csv, 1 of them cannot be used", "Line 3", "3 rows, 1 of them bad", "The run has not started", "If you start it, they count as failed items")
	// Other files instead: the same run, made again.
	c.req.sendInputs(path, "load", "pets", "better.csv", petFile).want(http.StatusConflict, "cancel r1 and make the run again")
	p.want(200, "Give it other files")
	p = c.req.post(path+"/do", url.Values{"do": {"again"}}).want(200, "made again", "Pets", "loading", "Its columns: name").without("has not started").at("/runs/r2")
	c.req.get(path).want(200, "cancelled")
	c.req.post(path+"/do", url.Values{"do": {"again"}}).want(http.StatusConflict, "only a run that has not started")
	path = p.URL.Path
	c.req.sendInputs(path, "start", "pets", "pets.csv", "name\nRex\nTom,cat,9\n<b>Uno</b>\n").want(200)
	c.req.get(path).want(200, "The run has not started").form(path+"/do").send().want(200, "Started.", "running")
	c.req.becomes(path, "pets input ● done 3 2 0 1")
	c.req.get(path+"/steps/pets").want(200, "<b>Uno</b>", "failed").without("<b>Uno</b>")
	c.req.get(path+"/items/2").want(200, "failed")

	var file bytes.Buffer
	w, err := table.NewWriter(&file, []string{"name", "age"}, table.WriterOptions{Format: table.Parquet})
	for _, name := range []string{"Rex", "Tom"} {
		if err == nil {
			err = w.Write([]string{name, "1"})
		}
	}
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	path = c.req.sendRun("", flow, "make").want(200).URL.Path
	c.req.sendInputs(path, "load", "pets", "pets.bin", file.String()).want(200, "The files are in", "2 rows").form(path+"/do").send().want(200, "Started.")
	c.req.get(path+"/steps/pets").want(200, "Rex", "Tom", "age")

	// A file without a declared column is refused, and the run waits for the right one.
	path = c.req.sendRun("", flow, "make").want(200).URL.Path
	c.req.sendInputs(path, "start", "pets", "pets.csv", "animal\nRex\n").want(http.StatusUnprocessableEntity, `The file for pets has no column "name": known are animal`, "Line 4", "was not taken", "loading").without("1 row read")
	c.req.sendInputs(path, "start", "pets", "pets.csv", petFile).want(200, "Started.")

	// A file that does not fit a query, neither: here the workflow is the draft of another.
	open := "workflow: Open\ninputs: {rows: {}}\nsteps:\n  big:\n    from: rows\n    sql: select size from rows\n"
	path = c.req.sendRun("", open, "make").want(200, "Any columns").URL.Path
	p = c.req.sendInputs(path, "start", "rows", "rows.jsonl", `{"name":"Rex"}`+"\n").want(http.StatusUnprocessableEntity, "does not fit the workflow", "Line 6", "loading")
	like := "/runs/new?like=" + strings.TrimPrefix(path, "/runs/")
	if !links(p)[like] {
		t.Errorf("no link to %s", like)
	}
	made := c.req.get(like).want(200, "New run").form("/runs").set("text", strings.Replace(open, "select size", "select name", 1)).press("then", "make").send().want(200)
	c.req.sendInputs(made.URL.Path, "start", "rows", "rows.jsonl", `{"name":"Rex"}`+"\n").want(200, "Started.")
	c.req.becomes(made.URL.Path, "Go on from this run")
	c.req.get(made.URL.Path+"/steps/big").want(200, "Rex")
}

// TestOpenInputsOnThePage: a run with an open input needs no file to start; its page adds
// rows, whole files or nothing, and seals it.
func TestOpenInputsOnThePage(t *testing.T) {
	t.Parallel()
	c, _, _ := flowCompany(t, 0)
	const flow = "workflow: Cats\ninputs: {things: {columns: [{n: number}], open: true}, more: {columns: [id]}}\nsteps: {names: {from: [things, more], sql: select count(*) as many from things}}\n"
	path := c.req.sendRun("", flow, "make").want(200, "The input is open", "so a file is not needed now").URL.Path
	c.req.sendInputs(path, "start", "more", "more.csv", "id\n1\n").want(200, "Started.", "Open inputs", "Seal things").without("Seal more")
	c.req.becomes(path, "things input ▷ open 0 0 0 0")
	c.req.get(path).want(200, "once the input things is sealed")
	c.req.sendFiles(path+"/rows", "").want(http.StatusUnprocessableEntity, "choose a file")
	c.req.sendFiles(path+"/rows", "", "things", "t.csv", "n\n1\nx\n").want(http.StatusUnprocessableEntity, "Line 3")
	c.req.sendFiles(path+"/rows", "", "more", "t.csv", "id\n1\n").want(http.StatusConflict, "more is not open")
	c.req.sendFiles(path+"/rows", "", "things", "t.csv", "n\n1\n2\n").want(200, "The rows are added.")
	c.req.becomes(path, "things input ▷ open 2 2 0 0")
	c.req.get(path+"/confirm?do=seal&step=things").want(200, "Seal this input?").form(path+"/do").send().want(200, "Sealed")
	c.req.becomes(path, "things input ● done 2 2 0 0")
	c.req.get(path).want(200).without("Open inputs", "once the input")
	c.req.sendFiles(path+"/rows", "", "things", "t.csv", "n\n1\n").want(http.StatusConflict)
}

// TestRowsSentTwiceAreAddedOnce by a double click, and as often as somebody means it; an input
// may be opened where the run is made.
func TestRowsSentTwiceAreAddedOnce(t *testing.T) {
	t.Parallel()
	c, _, _ := flowCompany(t, 0)
	const flow = "workflow: Cats\ninputs: {things: {columns: [{n: number}]}, more: {columns: [id]}}\nsteps: {names: {from: [things, more], sql: select count(*) as many from things}}\n"
	make := c.req.get("/runs/new").form("/runs").set("text", flow)
	make.set("open", "things, mroe").press("then", "make").send().want(http.StatusUnprocessableEntity, "has no input", "mroe", "did you mean", "more")
	path := make.set("open", "things, more").press("then", "make").send().want(200).URL.Path
	c.req.sendInputs(path, "start").want(200, "Started.", "Seal things", "Seal more")
	p := c.req.get(path)
	p.form(path+"/rows").sendFile("t.csv", "n\n1\n2\n").want(200, "The rows are added.")
	p.form(path+"/rows").sendFile("t.csv", "n\n1\n2\n").want(200, "had been added before")
	c.req.becomes(path, "things input ▷ open 2 2 0 0")
	p.form(path+"/rows").sendFile("other.csv", "n\n3\n").want(200, "The rows are added.")
	c.req.get(path).form(path+"/rows").sendFile("t.csv", "n\n1\n2\n").want(200, "The rows are added.")
	c.req.becomes(path, "things input ▷ open 5 5 0 0")
}

// sendInputs sends files of inputs to a run, by pairs input, file name, content.
func (b *browser) sendInputs(path, then string, files ...string) *pageOf {
	b.t.Helper()
	return b.sendFiles(path+"/inputs", then, files...)
}

// sendFiles is sendInputs to another address.
func (b *browser) sendFiles(path, then string, files ...string) *pageOf {
	b.t.Helper()
	var body bytes.Buffer
	m := multipart.NewWriter(&body)
	for i := 0; i < len(files); i += 3 {
		part, err := m.CreateFormFile(inputField+files[i], files[i+1])
		if err != nil {
			b.t.Fatal(err)
		}
		_, _ = io.WriteString(part, files[i+2])
	}
	_ = m.WriteField("then", then)
	_ = m.Close()
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.site.URL+path, &body)
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Content-Type", m.FormDataContentType())
	return b.do(req)
}
