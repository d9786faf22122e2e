package api_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/wire"
)

// answerOf reads what a path answers to a client.
func (w *world) answerOf(c *client.Client, path string) (status int, header http.Header, body string) {
	w.t.Helper()
	req := must(http.NewRequestWithContext(w.ctx, http.MethodGet, c.URL+path, nil))(w.t)
	req.Header.Set("Authorization", "Bearer "+c.Token)
	resp := must(c.HTTP.Do(req))(w.t)
	defer resp.Body.Close()
	return resp.StatusCode, resp.Header, string(must(io.ReadAll(resp.Body))(w.t))
}

// TestTaskResults: what the list has on its pages is what is downloaded, and another
// tenant's batch is answered as one that does not exist.
func TestTaskResults(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.launch("thing\na dog\n=1+1\na stone\n")
	at := "/v1/batches/" + id.String() + "/results"
	var listed []string
	for cursor := ""; ; {
		status, _, body := w.answerOf(w.ann, at+"?limit=2&filter="+url.QueryEscape("answers:0")+"&cursor="+cursor)
		var page wire.Results
		if err := json.Unmarshal([]byte(body), &page); err != nil || status != http.StatusOK || *page.Matching != 3 || page.Counts.Unanswered != 3 {
			t.Fatal(status, err, body)
		}
		for _, x := range page.Tasks {
			listed = append(listed, x.Task.String()+","+x.Input["thing"])
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	_, header, file := w.answerOf(w.ann, at+"/download?format=csv&spreadsheet=true&filter="+url.QueryEscape("answers:0"))
	for i, line := range strings.Split(strings.TrimSpace(file), "\n")[1:] {
		task, thing, _ := strings.Cut(listed[i], ",")
		if thing == "=1+1" {
			thing = "'" + thing
		}
		if cells := strings.Split(line, ","); cells[0] != task || cells[len(cells)-2] != thing {
			t.Errorf("line %q, listed %q", line, listed[i])
		}
	}
	if name := header.Get("Content-Disposition"); !strings.Contains(name, id.String()+"_") || !strings.Contains(name, "_tasks_answers-0_") {
		t.Errorf("the file is called %s", name)
	}
	var rows bytes.Buffer
	ok(t, w.ann.Results(w.ctx, id, &rows, client.TableForm{Format: "jsonl"}, client.ResultsQuery{Rows: "answers"}))
	if rows.Len() != 0 {
		t.Errorf("there are answers: %s", rows.String())
	}
	for _, path := range []string{"", "/download"} {
		for _, query := range []string{"", "?filter=agree:no"} {
			_, _, theirs := w.answerOf(w.bob, at+path+query)
			status, _, none := w.answerOf(w.bob, "/v1/batches/b999/results"+path+query)
			if theirs = strings.ReplaceAll(theirs, id.String(), "b999"); status != http.StatusNotFound || theirs != none {
				t.Errorf("another's batch answers %s, one that is not there %s", theirs, none)
			}
		}
		if status, _, body := w.answerOf(w.ann, at+path+"?filter=agre:no"); status != http.StatusUnprocessableEntity && status != http.StatusBadRequest || !strings.Contains(body, "did you mean") {
			t.Errorf("%d %s", status, body)
		}
	}
	refused(t, w.ann.Results(w.ctx, id, io.Discard, client.TableForm{}, client.ResultsQuery{Rows: "tasks", Method: "median"}), crowd.Invalid)
}
