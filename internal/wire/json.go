package wire

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"

	"github.com/throng-dev/throng/internal/task"
)

// AppendJSON appends what encoding/json gives, faster: the reply to an answer is
// sent more often than all others together.
func (s Submitted) AppendJSON(out []byte) []byte {
	out = append(out, `{"outcome":{"counted":`...)
	out = strconv.AppendBool(out, s.Outcome.Counted)
	out = append(out, `,"late":`...)
	out = strconv.AppendBool(out, s.Outcome.Late)
	out = append(out, `,"duplicate":`...)
	out = strconv.AppendBool(out, s.Outcome.Duplicate)
	if s.Outcome.BatchEnded {
		out = append(out, `,"batch_ended":true`...)
	}
	out = append(out, `,"paid_micros":`...)
	out = strconv.AppendInt(out, int64(s.Outcome.PaidMicros), 10)
	if held := s.Outcome.HeldMicros; held != 0 {
		out = strconv.AppendInt(append(out, `,"held_micros":`...), int64(held), 10)
	}
	if at := s.Outcome.CountsAt; !at.IsZero() {
		out = append(at.AppendFormat(append(out, `,"counts_at":"`...), time.RFC3339Nano), '"')
	}
	if f := s.Outcome.Feedback; f != nil {
		out = strconv.AppendBool(append(out, `,"feedback":{"right":`...), f.Right)
		out = task.AppendString(append(out, `,"answer":`...), f.Answer)
		out = append(task.AppendString(append(out, `,"explanation":`...), f.Explanation), '}')
	}
	out = append(out, '}')
	if s.Work != nil {
		out = s.Work.appendJSON(append(out, `,"work":`...))
	}
	return append(out, '}')
}

func (w *Work) appendJSON(out []byte) []byte {
	out = task.AppendString(append(out, `{"assignment":`...), w.Assignment.String())
	out = task.AppendString(append(out, `,"task":`...), w.Task.String())
	out = task.AppendString(append(out, `,"batch":`...), w.Batch.String())
	out = task.AppendString(append(out, `,"name":`...), w.Name)
	out = w.ExpiresAt.AppendFormat(append(out, `,"expires_at":"`...), time.RFC3339Nano)
	out = strconv.AppendInt(append(out, `","lease_seconds":`...), w.LeaseSeconds, 10)
	out = strconv.AppendInt(append(out, `,"reward_micros":`...), int64(w.RewardMicros), 10)
	out = w.Values.appendJSON(append(out, `,"values":`...))
	out = w.View.AppendJSON(append(out, `,"view":`...))
	if w.Training {
		out = append(out, `,"training":true`...)
	}
	if w.IsReview {
		out = append(out, `,"is_review":true`...)
	}
	if w.Review != nil {
		text, _ := json.Marshal(w.Review) // of texts and numbers there is no error
		out = append(append(out, `,"review":`...), text...)
	}
	if w.Reply != "" {
		out = task.AppendString(append(out, `,"reply":`...), w.Reply)
	}
	if w.ByReviewer {
		out = append(out, `,"reply_by_reviewer":true`...)
	}
	if w.HTML != "" {
		out = task.AppendString(append(out, `,"html":`...), w.HTML)
	}
	return append(out, '}')
}

// Values is a task's data as a JSON object, in order of the columns.
type Values struct{ task.Values }

func (v Values) appendJSON(out []byte) []byte {
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
func (v Values) MarshalJSON() ([]byte, error) { return v.appendJSON(nil), nil }

// UnmarshalJSON implements json.Unmarshaler.
func (v *Values) UnmarshalJSON(data []byte) error {
	var cells map[string]string // checks the whole object
	if err := json.Unmarshal(data, &cells); err != nil {
		return err
	}
	v.Columns, v.Cells = nil, nil
	d := json.NewDecoder(bytes.NewReader(data))
	for {
		token, err := d.Token()
		if err != nil { // the end: the object was checked
			return nil
		}
		if column, ok := token.(string); ok {
			if _, err := d.Token(); err != nil {
				return err
			}
			v.Columns, v.Cells = append(v.Columns, column), append(v.Cells, cells[column])
		}
	}
}
