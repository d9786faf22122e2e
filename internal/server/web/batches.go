package web

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/httpkit"
	"github.com/throng-dev/throng/internal/store"
)

// batchesShown is the number of batches on a page of the list.
const batchesShown = 50

// batches lists the batches of a tenant, or of all for an admin.
func (rq *request) batches() error {
	tenant, tenants := rq.chosenTenant(access.BatchesList)
	before := idIn(rq, "before", crowd.ParseBatchID)
	list, err := rq.App.Batches.List(rq.ctx(), rq.p, tenant, before, batchesShown)
	rq.check(err)
	data := map[string]any{"Tenants": tenants, "Tenant": tenant, "Batches": list, "Names": tenantNames(tenants), "All": rq.p.MayFor(access.BatchesList, 0) == nil, "First": before == 0}
	if tenant != 0 {
		data["Balance"] = rq.balance(tenant)
	}
	if len(list) == batchesShown {
		data["Before"] = list[len(list)-1].Spec.ID
	}
	return rq.render("batches", page{Title: "Batches", Section: "batches", Data: data})
}

func (rq *request) newBatch() error {
	tenants := rq.tenantsFor(access.BatchesCreate)
	return rq.render("new", page{Title: "New batch", Section: "batches", Script: "template.js", Data: map[string]any{
		"Tenants": menu(tenants, tenantChoice), "Tenant": rq.r.URL.Query().Get("tenant"), "Template": newTemplateForm("new", rq.form, firstTemplate),
	}})
}

// firstTemplate is what the form of a new template has.
var firstTemplate = url.Values{"kind": {"choose_one"}, "options": {"yes | Yes\nno | No\n"}}

// The limits of the fields that come before the file.
const (
	maxField  = 2 << 20
	maxFields = 3 << 20
)

var (
	errNoForm   = crowd.Errorf(crowd.Invalid, "the form could not be read")
	errTooMuch  = crowd.Errorf(crowd.TooLarge, "the form has more text than is allowed")
	errFileless = &crowd.Error{Code: crowd.Invalid, Field: "file", Message: "choose a file"}
)

// readFields reads the fields of a multipart form up to its file, which is left
// to be read as it comes. file is nil if none was chosen.
func readFields(r *http.Request) (f *fields, file *multipart.Part, err error) {
	f = &fields{values: make(url.Values)}
	r.PostForm = f.values
	parts, err := r.MultipartReader()
	if err != nil {
		return f, nil, &crowd.Error{Code: crowd.Invalid, Message: errNoForm.Message, Cause: err}
	}
	for total := 0; ; {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return f, nil, nil
		}
		if err != nil {
			return f, nil, bodyError(err)
		}
		if part.FormName() == "file" {
			if part.FileName() == "" {
				continue // no file was chosen
			}
			return f, part, nil
		}
		text, err := io.ReadAll(io.LimitReader(part, maxField+1))
		if err != nil {
			return f, nil, bodyError(err)
		}
		if total += len(text); len(text) > maxField || total > maxFields {
			return f, nil, errTooMuch
		}
		f.values.Add(part.FormName(), string(text))
	}
}

// bodyError tells a body that is too large or broken from other errors.
func bodyError(err error) error {
	var big *http.MaxBytesError
	if errors.As(err, &big) || errors.As(err, new(*crowd.Error)) { // it was not sent in time
		return err
	}
	return &crowd.Error{Code: crowd.Invalid, Message: errNoForm.Message, Cause: err}
}

// maxDrain is how much of a refused file is read all the same, so that the
// browser gets to see the answer.
const maxDrain = 64 << 20

func drain(r *http.Request) { _, _ = io.CopyN(io.Discard, r.Body, maxDrain) }

// createBatch makes a draft and reads its file as it comes.
func (rq *request) createBatch() error {
	httpkit.Receiving(rq.w, rq.r)
	defer drain(rq.r)
	f, file, err := readFields(rq.r)
	if err != nil {
		return err
	}
	b, err := rq.draft(f.values)
	if err != nil {
		return err
	}
	if file == nil {
		return rq.seeOther("/batches/"+b.Spec.ID.String(), "saved")
	}
	return rq.receive(b.Spec.ID, file)
}

func (rq *request) draft(values url.Values) (store.Batch, error) {
	tenant, err := crowd.ParseTenantID(values.Get("tenant"))
	if err != nil {
		return store.Batch{}, crowd.Fieldf("tenant", "choose one")
	}
	raw, err := templateOf(values)
	if err != nil {
		return store.Batch{}, err
	}
	return rq.App.Batches.Create(rq.ctx(), rq.p, batches.NewBatch{
		Tenant: tenant, Name: strings.TrimSpace(values.Get("name")), Template: raw, Reward: batches.FirstReward,
	})
}

// upload takes another file for a draft.
func (rq *request) upload(id crowd.BatchID) error {
	httpkit.Receiving(rq.w, rq.r)
	defer drain(rq.r)
	_, file, err := readFields(rq.r)
	if err == nil && file == nil {
		err = errFileless
	}
	if err != nil {
		return err
	}
	return rq.receive(id, file)
}

// receive reads the file of a draft. What is wrong with it is shown on the
// draft's page, row by row.
func (rq *request) receive(id crowd.BatchID, file *multipart.Part) error {
	how, err := rq.sent().reading(file.FileName())
	if err != nil {
		return err
	}
	report, err := rq.App.Batches.Upload(rq.ctx(), rq.p, id, file, batches.Upload{Format: how.Format, Delimiter: how.Delimiter, SkipBad: rq.r.PostForm.Get("skip_bad") != "", Duplicates: rq.sent().duplicates()})
	f := refused("upload", rq.r.PostForm, err)
	switch {
	case f != nil:
		f.Errs = slices.DeleteFunc(f.Errs, func(e *crowd.Error) bool { return e.Row > 0 }) // they stand in a table of their own
		if len(f.Errs) == 0 && report.Bad > 0 {
			f.Errs = []*crowd.Error{crowd.Errorf(crowd.Invalid, "%s of the file cannot be used, so nothing was kept", plural(report.Bad, "row"))}
		}
	case err != nil:
		return err
	case report.Bad == 0:
		return rq.seeOther("/batches/"+id.String(), "uploaded"+readAs(report.Dropped, report.Delimiter))
	}
	rq.form, rq.made = f, &report
	return rq.batch(id)
}
