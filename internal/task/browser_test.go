package task_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/throng-dev/throng/internal/kit/sharedtest"
	"github.com/throng-dev/throng/internal/task"
)

// parent is the site's page: it shows each task in a frame, writes down what it
// is told until the task's script is done and its height is known, and posts it
// all to the server. When a page is laid out is the browser's affair, so heights
// are not written down: a page that never tells one ends the test.
const parent = `<!DOCTYPE html><script>
let log = [], frame, at = -1, tall, over;
function next() {
  tall = over = false;
  if (frame) frame.remove();
  if (++at === %d) { fetch("/done", {method: "POST", body: JSON.stringify(log)}); return; }
  log.push([]);
  frame = document.createElement("iframe");
  frame.sandbox = %q;
  frame.src = "/frame/" + at;
  document.body.append(frame);
}
addEventListener("message", e => {
  if (!frame || e.source !== frame.contentWindow) return;
  if (e.data.throng === "done") over = true;
  else if (e.data.throng === "height") tall ||= e.data.height > 50;
  else log[at].push(e.origin + " " + JSON.stringify(e.data));
  if (tall && over) next();
});
addEventListener("load", next);
</script><body>`

// TestBridgeInBrowser runs the bridge in Chromium, under the sandbox and the
// policy, if Chromium is installed.
func TestBridgeInBrowser(t *testing.T) {
	t.Parallel()
	chromium := sharedtest.Chromium(t)
	answer := func(fields string) string { return `null {"throng":"answer","fields":` + fields + `}` }
	draft := func(fields string) string { return `null {"throng":"draft","fields":` + fields + `}` }
	const later = `<script>addEventListener("load", () => setTimeout(() => {
		try { %s } finally { setTimeout(() => parent.postMessage({throng: "done"}, "*")) }
	}));</script>`
	key := func(k, init string) string {
		return `document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "` + k + `", bubbles: true, cancelable: true` + init + `}));`
	}
	tall := `<p style="height:100px">`
	radios := `<input type=radio name=label value=cat><input type=radio name=label value=dog>`
	cases := map[string]struct {
		html    string
		script  string
		preview bool
		want    []string
	}{
		"a click on Submit, repeated names": {
			html: `<input name=a value="${x}"><input type=checkbox name=c value=1 checked><input type=checkbox name=c value=2 checked><input name=__proto__ value=p>`, script: `submitButton.click()`,
			want: []string{answer(`{"a":"</script>\"","c":["1","2"],"__proto__":"p"}`)},
		},
		"a named button": {html: `<button name=label value=no>n</button><button name=label value=yes id=y>y</button>`, script: `y.click()`, want: []string{answer(`{"label":"yes"}`)}},
		"submit by script to another host": {
			html:   `<form action="https://www.mturk.com/mturk/externalSubmit" method=post><input name=a value=1></form>`,
			script: `document.forms[0].submit()`, want: []string{answer(`{"a":"1"}`)},
		},
		"the page's own check stops it": {html: `<input name=a>`, script: `mturk_form.onsubmit = () => false; submitButton.click()`, want: []string{}},
		"a required field stops it":     {html: `<input name=a required>`, script: `submitButton.click()`, want: []string{}},
		"digit and Enter":               {html: radios, script: key("2", "") + key("Enter", ""), want: []string{draft(`{"label":["dog"]}`), answer(`{"label":"dog"}`)}},
		"a draft": {
			html:   `<input name=a id=a><input name=__proto__ value=p><input type=hidden name=h value=1><input type=password name=p value=2><input name=workerId value=3>`,
			script: `a.value = "x"; a.dispatchEvent(new Event("input", {bubbles: true}))`,
			want:   []string{draft(`{"a":["x"],"__proto__":["p"]}`)},
		},
		"a preview has no draft":    {html: `<input name=a id=a>`, preview: true, script: `a.dispatchEvent(new Event("input", {bubbles: true}))`, want: []string{}},
		"Enter with nothing chosen": {html: radios, script: key("Enter", ""), want: []string{}},
		"two groups have no digits": {html: radios + `<input type=radio name=b value=1>`, script: key("1", "") + key("Enter", ", ctrlKey: true"), want: []string{answer(`{}`)}},
		"a preview sends nothing":   {html: `<input name=a><button id=b>x</button>`, script: `b.click()`, preview: true, want: []string{`null {"throng":"preview"}`}},
		"what MTurk's script offers": {
			html: `<input name=a id=a><input type=hidden name=assignmentId id=assignmentId>`, script: `a.value = [turkGetParam("hitId"), turkGetParam("x", "y"), turkGetSubmitToHost(), assignmentId.value].join(); mturk_form.requestSubmit()`,
			want: []string{answer(`{"a":"t1.1,y,https://throng.example,a1.2"}`)},
		},
		"the origin is opaque": {
			html: `<input name=a id=a>`, script: `try { a.value = parent.document.title + "seen" } catch (e) { a.value = e.name } try { a.value += localStorage.length } catch (e) { a.value += e.name } submitButton.click()`,
			want: []string{answer(`{"a":"SecurityErrorSecurityError"}`)},
		},
	}
	var names, docs []string
	for name, tc := range cases {
		f := frame
		f.Preview = tc.preview
		names = append(names, name)
		docs = append(docs, page(t, tall+tc.html+strings.Replace(later, "%s", tc.script, 1), f, "x", `</script>"`))
	}
	done := make(chan [][]string, 1)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /frame/{n}", func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(r.PathValue("n"))
		if err != nil || n >= len(docs) {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Security-Policy", task.CSP)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, docs[n])
	})
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, parent, len(docs), task.Sandbox)
	})
	mux.HandleFunc("POST /done", func(_ http.ResponseWriter, r *http.Request) {
		var log [][]string
		if err := json.NewDecoder(r.Body).Decode(&log); err != nil {
			t.Error(err)
		}
		done <- log
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	profile, err := os.MkdirTemp("", "throng-chromium") // not t.TempDir: dying helper processes may still write to it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(profile) })
	browser := exec.CommandContext(ctx, chromium, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", "--user-data-dir="+profile, server.URL+"/")
	browser.WaitDelay = 5 * time.Second
	if err := browser.Start(); err != nil {
		t.Fatal(err)
	}
	var log [][]string
	select {
	case log = <-done:
	case <-ctx.Done():
	}
	cancel()
	_ = browser.Wait() // it was killed
	if len(log) != len(names) || len(names) == 0 {
		t.Fatalf("%d of %d tasks were done", len(log), len(names))
	}
	for i, name := range names {
		if diff := cmp.Diff(cases[name].want, log[i]); diff != "" {
			t.Errorf("%s: what the parent was told (-want +got):\n%s", name, diff)
		}
	}
}
