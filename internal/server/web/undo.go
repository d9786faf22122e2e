package web

import (
	"encoding/json"
	"net/url"
	"strconv"

	"github.com/throng-dev/throng/crowd"
)

// undo takes back an answer that does not count yet, and shows its task with it.
func (rq *request) undo() error {
	id, err := held(rq.r)
	if err != nil {
		return err
	}
	work, answer, err := rq.App.Work.Undo(rq.ctx(), rq.p, id)
	switch {
	case isGone(err):
		return rq.seeOther("/work", "stands")
	case crowd.CodeOf(err) == crowd.OffDuty:
		return rq.seeOther("/work", "")
	case err != nil:
		return err
	}
	return rq.showWork(work, page{Notice: "You have taken your answer back. Answer again, and that counts."}, formOf(answer), nil)
}

// formOf is what a form of a task has when an answer was given with it: answerOf makes the
// answer of it again.
func formOf(answer json.RawMessage) url.Values {
	var fields map[string]any
	if json.Unmarshal(answer, &fields) != nil {
		return nil // none, or one of a requester's HTML, whose frame fills itself
	}
	values := make(url.Values)
	for name, v := range fields {
		switch v := v.(type) {
		case string:
			values.Set("s."+name, v)
		case bool:
			values.Set("s."+name, strconv.FormatBool(v))
		case float64:
			values.Set("s."+name, strconv.FormatFloat(v, 'f', -1, 64))
		case []any:
			for _, x := range v {
				if text, ok := x.(string); ok {
					values.Add("l."+name, text)
				}
			}
		}
	}
	return values
}
