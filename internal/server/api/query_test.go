package api_test

import (
	"net/http"
	"regexp"
	"testing"

	"github.com/throng-dev/throng/internal/client"
)

// TestAParameterIsGivenOnce: of every operation, a parameter of the query that is given twice is
// refused by its name, whatever the rest of the request is: only one of its values would count.
func TestAParameterIsGivenOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	placeholder := regexp.MustCompile(`\{[^}]*\}`)
	tried := 0
	for _, o := range w.operations() {
		for _, p := range o.Parameters {
			if p.In != "query" {
				continue
			}
			address := placeholder.ReplaceAllString(o.path, "1") + "?" + p.Name + "=1&" + p.Name + "=1"
			var got answer
			for _, c := range []*client.Client{w.admin, w.ann, w.workers[0]} { // one of them may use it
				if got = w.send(c, o.method, address, ""); got.StatusCode != http.StatusForbidden {
					break
				}
			}
			if refused := got.problem(t); refused.Status != http.StatusUnprocessableEntity || len(refused.Errors) != 1 || refused.Errors[0].Field != p.Name {
				t.Errorf("%s %s: %+v", o.method, address, refused)
			}
			tried++
		}
	}
	if tried < 50 {
		t.Errorf("only %d parameters were tried", tried)
	}
}

// TestAParameterThatDoesNotExist: every operation refuses it by its name and says which there
// are, whatever the rest of the request is. Ignored, a slip in duplicates=drop has rows added
// twice.
func TestAParameterThatDoesNotExist(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	placeholder := regexp.MustCompile(`\{[^}]*\}`)
	for _, o := range w.operations() {
		address, known := placeholder.ReplaceAllString(o.path, "1")+"?afterr=9", ": it has none"
		for _, p := range o.Parameters {
			if p.In == "query" {
				if known == ": it has none" {
					known = ": known are " + p.Name
				} else {
					known += ", " + p.Name
				}
			}
		}
		var got answer
		for _, c := range []*client.Client{w.admin, w.ann, w.workers[0]} { // one of them may use it
			if got = w.send(c, o.method, address, ""); got.StatusCode != http.StatusForbidden {
				break
			}
		}
		want := `there is no parameter "afterr" of the query here` + known
		if refused := got.problem(t); refused.Status != http.StatusUnprocessableEntity || len(refused.Errors) != 1 || refused.Errors[0].Field != "afterr" || refused.Errors[0].Message != want {
			t.Errorf("%s %s: %+v, want %s", o.method, address, refused, want)
		}
	}
}

// TestTasksAreTakenOutTogether: also is one list. Given twice, its second list would be left in.
func TestTasksAreTakenOutTogether(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.launch("thing\n1\n2\n3\n4\n")
	address := "/v1/batches/" + id.String() + "/tasks/1?also="
	if p := w.send(w.ann, http.MethodDelete, address+"2&also=3", "").problem(t); p.Status != http.StatusUnprocessableEntity || p.Errors[0].Message != "it is given 2 times: give it once, with commas between its values" {
		t.Errorf("two lists: %+v", p)
	}
	if b := must(w.ann.Batch(w.ctx, id))(t); b.Removed != 0 {
		t.Errorf("after a refusal, %d tasks are taken out", b.Removed)
	}
	if got := w.send(w.ann, http.MethodDelete, address+"2,3", ""); got.StatusCode != http.StatusOK {
		t.Errorf("one list: %d, %s", got.StatusCode, got.body)
	}
	if b := must(w.ann.Batch(w.ctx, id))(t); b.Removed != 3 {
		t.Errorf("%d tasks are taken out, want 3", b.Removed)
	}
}
