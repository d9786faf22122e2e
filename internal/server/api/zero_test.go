package api_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/throng-dev/throng/internal/client"
)

// TestZeroIsNoDefault: what has a default when it is left out, and cannot be 0, is refused as 0, with
// what it can be.
func TestZeroIsNoDefault(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	running := w.launch("thing\ncat\n").String()
	batch := string(must(json.Marshal(definition()))(t))
	const token, test = `{"name": "x"}`, `{"name": "x", "template": {"kind": "choose_one", "question": "Q", "options": ["a", "b"]}, "questions": "_gold\na\n", "pass_mark": 50}`
	for _, x := range []struct {
		who          *client.Client
		path, body   string
		field, wants string
	}{
		{w.ann, "POST /v1/batches", batch, "priority", "1e-06"},
		{w.ann, "POST /v1/batches", batch, "budget_micros", "1"},
		{w.ann, "POST /v1/batches", batch, "lease_seconds", "1"},
		{w.ann, "POST /v1/batches", batch, "task_time_seconds", "0"},
		{w.ann, "PATCH /v1/batches/" + running, "{}", "priority", "from 0.000001 to 1000000"},
		{w.ann, "POST /v1/tokens", token, "life_seconds", "1"},
		{w.ann, "POST /v1/invitations", `{"addresses": ["a@example.org"], "pool": "p1"}`, "life_seconds", "1"},
		{w.ann, "POST /v1/tests", test, "tries", "1"},
		{w.ann, "POST /v1/tests", test, "draw", "1"},
	} {
		var body map[string]any
		ok(t, json.Unmarshal([]byte(x.body), &body))
		body[x.field] = 0
		method, path, _ := bytes.Cut([]byte(x.path), []byte(" "))
		a := w.send(x.who, string(method), string(path), string(must(json.Marshal(body))(t)), "Content-Type", "application/json")
		if a.StatusCode != http.StatusUnprocessableEntity || !bytes.Contains(a.body, []byte(`"field":"`+x.field+`"`)) || !bytes.Contains(a.body, []byte(x.wants)) {
			t.Errorf("%s with %s 0: %s %s", x.path, x.field, a.Status, a.body)
		}
	}
}
