package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/task"
)

// fastJSON is huma's JSON format, but for replies that know a faster way to
// write themselves.
var fastJSON = huma.Format{
	Marshal: func(w io.Writer, v any) error {
		fast, ok := v.(interface{ appendJSON([]byte) []byte })
		if !ok {
			return huma.DefaultJSONFormat.Marshal(w, v)
		}
		_, err := w.Write(append(fast.appendJSON(make([]byte, 0, 1024)), '\n'))
		return err
	},
	Unmarshal: func(data []byte, v any) error {
		d := json.NewDecoder(bytes.NewReader(data))
		if _, lean := v.(*submitIn); lean {
			d.DisallowUnknownFields() // nobody else looks
		}
		err := d.Decode(v)
		if err == nil && d.More() {
			err = errors.New("text follows the JSON value")
		}
		return inUsersWords(err)
	},
}

// inUsersWords says what is wrong with a body without words of Go.
func inUsersWords(err error) error {
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &kind) && kind.Field != "":
		field := kind.Field
		if outer, inner, _ := strings.Cut(field, "."); outer != "" && outer[0] <= 'Z' && inner != "" {
			field = inner // the outer one is a Go type: no name in our JSON begins with a capital
		}
		return fmt.Errorf("%s: a %s does not fit here", field, kind.Value)
	case errors.As(err, &kind):
		return fmt.Errorf("a JSON object is wanted, not a %s", kind.Value)
	}
	if name, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
		return fmt.Errorf("%s: unexpected property", strings.Trim(name, `"`))
	}
	return err
}

// submitIn is the body of an answer.
type submitIn struct {
	Answer json.RawMessage `json:"answer" doc:"an object with the fields of view.controls; for a single control its value will do"`
	Next   bool            `json:"next,omitempty" doc:"also get the next task"`
}

// submitBody is the reply to an answer.
type submitBody struct {
	Outcome engine.Outcome `json:"outcome"`
	Work    *workOut       `json:"work,omitempty" doc:"the next task, if asked for and there is one"`
}

type submitOut struct{ Body submitBody }

// appendJSON appends what encoding/json gives: the reply to an answer is the
// one that is sent more often than all others together.
func (b submitBody) appendJSON(out []byte) []byte {
	out = append(out, `{"outcome":{"counted":`...)
	out = strconv.AppendBool(out, b.Outcome.Counted)
	out = append(out, `,"late":`...)
	out = strconv.AppendBool(out, b.Outcome.Late)
	out = append(out, `,"duplicate":`...)
	out = strconv.AppendBool(out, b.Outcome.Duplicate)
	out = append(out, `,"paid_micros":`...)
	out = strconv.AppendInt(out, int64(b.Outcome.Paid), 10)
	out = append(out, '}')
	if b.Work != nil {
		out = b.Work.appendJSON(append(out, `,"work":`...))
	}
	return append(out, '}')
}

func (w *workOut) appendJSON(out []byte) []byte {
	out = task.AppendString(append(out, `{"assignment":`...), w.Assignment.String())
	out = task.AppendString(append(out, `,"task":`...), w.Task.String())
	out = task.AppendString(append(out, `,"batch":`...), w.Batch.String())
	out = task.AppendString(append(out, `,"name":`...), w.Name)
	out = w.ExpiresAt.AppendFormat(append(out, `,"expires_at":"`...), time.RFC3339Nano)
	out = strconv.AppendInt(append(out, `","lease_seconds":`...), w.LeaseSeconds, 10)
	out = strconv.AppendInt(append(out, `,"reward_micros":`...), int64(w.RewardMicros), 10)
	out = w.Values.appendJSON(append(out, `,"values":`...))
	out = w.View.AppendJSON(append(out, `,"view":`...))
	if w.HTML != "" {
		out = task.AppendString(append(out, `,"html":`...), w.HTML)
	}
	return append(out, '}')
}

// values is a task's data as a JSON object, in order of the columns.
type values task.Values

func (v values) appendJSON(out []byte) []byte {
	out = append(out, '{')
	for i, column := range v.Columns {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(task.AppendString(out, column), ':')
		out = task.AppendString(out, v.Cells[i])
	}
	return append(out, '}')
}

// MarshalJSON implements json.Marshaler.
func (v values) MarshalJSON() ([]byte, error) { return v.appendJSON(nil), nil }

// Schema implements huma.SchemaProvider.
func (values) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: &huma.Schema{Type: huma.TypeString}}
}
