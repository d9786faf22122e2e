package api_test

import (
	"net/http"
	"reflect"
	"testing"
)

// TestTheReplyToAnEditIsTheBatchAsEdited: whoever changes a running batch is told what it is
// since, for each setting, and what they read afterwards is the same.
func TestTheReplyToAnEditIsTheBatchAsEdited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := "/v1/batches/" + w.launch("thing\na dog\na cat\na cow\n").String()
	read := func() map[string]any { return into[map[string]any](t, w.send(w.ann, http.MethodGet, path, "")) }
	for _, x := range []struct{ field, edit string }{
		{"reward_micros", `{"reward_micros": 4000}`},
		{"redundancy", `{"redundancy": {"count": 2}, "add_budget": true}`},
		{"redundancy", `{"redundancy": {"agree": 2, "of": 2}}`},
		{"production", `{"production": true}`},
		{"enough", `{"enough": {"labels": 2}}`},
		{"enough", `{"enough": {"share": 0.5}}`},
		{"priority", `{"priority": 7}`},
		{"deadline", `{"deadline": "2999-01-01T00:00:00Z"}`},
		{"deadline", `{"clear_deadline": true}`},
		{"stopped", `{"stopped": true}`},
	} {
		before := read()
		reply := into[map[string]any](t, w.send(w.ann, http.MethodPatch, path, x.edit))
		after := read()
		if reflect.DeepEqual(before[x.field], after[x.field]) {
			t.Errorf("%s changes nothing: %v", x.edit, after[x.field])
		}
		for _, field := range []string{"reward_micros", "redundancy", "production", "enough", "priority", "deadline", "stopped", "budget_micros", "spent_micros"} {
			if !reflect.DeepEqual(reply[field], after[field]) {
				t.Errorf("%s: the reply has %s %v, the batch then %v", x.edit, field, reply[field], after[field])
			}
		}
	}
}
