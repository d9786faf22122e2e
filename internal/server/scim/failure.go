package scim

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/httpkit"
)

// failure is an error in the words of SCIM.
type failure struct {
	status int
	kind   string // scimType
	detail string
}

// Error implements error.
func (f *failure) Error() string { return f.detail }

// invalid is the error about a request that is wrong.
func invalid(kind, format string, args ...any) *failure {
	return &failure{http.StatusBadRequest, kind, fmt.Sprintf(format, args...)}
}

// show is a value as its sender wrote it.
func show(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return "a value"
	}
	return string(raw)
}

// failureOf puts an error into the words of SCIM.
func failureOf(err error) *failure {
	var known *failure
	if errors.As(err, &known) {
		return known
	}
	public := httpkit.Public(err)
	f := &failure{status: httpkit.Status(public.Code), detail: public.Error()}
	switch {
	case public.Code == crowd.Invalid, public.Code == crowd.NotFound && public.Field == "members":
		f.status, f.kind = http.StatusBadRequest, "invalidValue"
	case public.Code == crowd.Conflict && public.Field != "":
		f.kind = "uniqueness"
	}
	return f
}

// body is what is answered.
func (f *failure) body() document {
	doc := document{"schemas": []string{messages + "Error"}, "status": strconv.Itoa(f.status), "detail": f.detail}
	if f.kind != "" {
		doc["scimType"] = f.kind
	}
	return doc
}
