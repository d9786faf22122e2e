package examples

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// ask sends one request to the services.
func ask(s *Services, path, key, body string, change ...func(*http.Request)) (status int, answer string) {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	for _, f := range change {
		f(r)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Code, strings.TrimSpace(w.Body.String())
}

func TestServicesAnswer(t *testing.T) {
	for name, x := range map[string]struct {
		path, body string
		status     int
		answer     string // a part of it
	}{
		"a claim is registered":            {"/register", `{"claim":"n7"}`, 200, `"file":"F-n7"`},
		"no claim":                         {"/register", `{}`, 422, "claim is missing"},
		"storms cost most of what is told": {"/estimate", `{"file":"F-n7","cause":"storm","declared":1000}`, 200, `{"estimate":900}`},
		"thefts less":                      {"/estimate", `{"file":"F-n7","cause":"theft","declared":1001}`, 200, `{"estimate":751}`},
		"an estimate without a file":       {"/estimate", `{"cause":"storm","declared":1000}`, 422, "file is missing"},
		"an unknown cause":                 {"/estimate", `{"file":"F-n7","cause":"war","declared":1000}`, 422, `war`},
		"nothing declared":                 {"/estimate", `{"file":"F-n7","cause":"storm","declared":null}`, 422, "declared"},
		"less than nothing":                {"/estimate", `{"file":"F-n7","cause":"storm","declared":-1}`, 422, "declared"},
		"papers are asked for":             {"/info", `{"file":"F-n7","missing":"photos"}`, 200, "photos of F-n7"},
		"papers, but which":                {"/info", `{"file":"F-n7"}`, 422, "needed"},
		"a letter":                         {"/notify", `{"file":"F-n7","customer":"Ada"}`, 200, "Dear Ada"},
		"a letter to nobody":               {"/notify", `{"file":"F-n7"}`, 422, "needed"},
		"what is no JSON":                  {"/register", `claim`, 400, "JSON"},
		"what is too long":                 {"/register", `{"claim":"` + strings.Repeat("x", maxRequest) + `"}`, 413, "too large"},
		"a service that there is not":      {"/pay", `{}`, 404, ""},
	} {
		t.Run(name, func(t *testing.T) {
			status, answer := ask(NewServices(ServiceOptions{}), x.path, "k", x.body)
			if status != x.status || !strings.Contains(answer, x.answer) {
				t.Errorf("%d %s, want %d with %s", status, answer, x.status, x.answer)
			}
		})
	}
}

func TestServicesRefuse(t *testing.T) {
	s := NewServices(ServiceOptions{})
	if status, said := ask(s, "/register", "", `{"claim":"n1"}`); status != 400 || !strings.Contains(said, "Idempotency-Key") {
		t.Errorf("without a key: %d %s", status, said)
	}
	if status, _ := ask(s, "/register", "k", `{"claim":"n1"}`, func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }); status != 415 {
		t.Errorf("as text: %d", status)
	}
	if status, _ := ask(s, "/register", "k", "", func(r *http.Request) { r.Method = http.MethodGet }); status != 405 {
		t.Errorf("GET: %d", status)
	}
	if s.Made() != 0 {
		t.Errorf("%d answers were made", s.Made())
	}
}

// TestServicesKnowTheirKeys: under a key there is one answer.
func TestServicesKnowTheirKeys(t *testing.T) {
	s := NewServices(ServiceOptions{})
	_, first := ask(s, "/register", "k", `{"claim":"n1"}`)
	if status, again := ask(s, "/register", "k", `{"claim":"n1"}`); status != 200 || again != first || s.Made() != 1 {
		t.Errorf("%d %s after %s, made %d times", status, again, first, s.Made())
	}
	if status, said := ask(s, "/register", "k", `{"claim":"n2"}`); status != 422 || s.Made() != 1 {
		t.Errorf("another claim under the key: %d %s", status, said)
	}
	if status, _ := ask(s, "/register", "k2", `{"claim":"n1"}`); status != 200 || s.Made() != 2 {
		t.Errorf("another key: %d, made %d", status, s.Made())
	}
	if status, _ := ask(s, "/notify", "k", `{"file":"F-n1","customer":"Ada"}`); status != 200 {
		t.Errorf("another service under the key: %d", status)
	}
}

func TestServicesFail(t *testing.T) {
	s := NewServices(ServiceOptions{Failing: 0.3})
	failed := 0
	const n = 1000
	for i := range n {
		key := fmt.Sprint("key ", i)
		try := func(no string) func(*http.Request) {
			return func(r *http.Request) { r.Header.Set("Throng-Try", no) }
		}
		claim := fmt.Sprintf(`{"claim":"n%d"}`, i)
		if status, _ := ask(s, "/register", key, claim, try("1")); status == 503 {
			failed++
		}
		if status, said := ask(s, "/register", key, claim, try("2")); status != 200 {
			t.Fatalf("the second try: %d %s", status, said)
		}
	}
	if failed < 250 || failed > 350 || s.Refused() != int64(failed) || s.Made() != n {
		t.Errorf("%d of %d failed, %d counted, %d made", failed, n, s.Refused(), s.Made())
	}
}

func TestServicesAreSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewServices(ServiceOptions{Slow: 2 * time.Second})
		began := time.Now()
		if status, _ := ask(s, "/register", "k", `{"claim":"n1"}`); status != 200 || time.Since(began) != 2*time.Second {
			t.Errorf("%d after %s", status, time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began = time.Now()
		ask(s, "/register", "k2", `{"claim":"n1"}`, func(r *http.Request) { *r = *r.WithContext(ctx) })
		if time.Since(began) != time.Second || s.Made() != 1 {
			t.Errorf("whoever had gone was waited for: %s, %d made", time.Since(began), s.Made())
		}
	})
}
