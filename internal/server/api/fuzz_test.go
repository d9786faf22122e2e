package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// FuzzBodies: whatever is sent as the body of a request, the server answers with JSON
// that says what is wrong with it, or does what it says.
func FuzzBodies(f *testing.F) {
	for _, s := range []string{
		batchBody, "", "null", "[]", `{"name": "a", "name": "b"}`, `{"name":"\ud800","tenant":"n1"}`, strings.Repeat(`{"template":`, 200), `{"reward_micros": 1e999}`,
		`{"name":"x","template":{"kind":"choose_one","question":"${","options":["a","a"]},"reward_micros":1}`, "\xff\xfe", `{"deadline":"9999999-01-01T00:00:00Z"}`,
	} {
		f.Add(s)
	}
	w := newWorld(f)
	ops := []struct{ method, path string }{{"POST", "/v1/batches"}, {"POST", "/v1/runs"}, {"POST", "/v1/invitations"}, {"POST", "/v1/tests"}}
	f.Fuzz(func(t *testing.T, body string) {
		for _, o := range ops {
			r := httptest.NewRequestWithContext(t.Context(), o.method, o.path, strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Authorization", "Bearer "+w.ann.Token)
			a := httptest.NewRecorder()
			w.server.Handler.ServeHTTP(a, r)
			if a.Code >= http.StatusInternalServerError || !json.Valid(a.Body.Bytes()) {
				t.Errorf("%s %s: status %d: %.300s", o.method, o.path, a.Code, a.Body)
			}
		}
	})
}
